"""The traces of ../shared: exact counts, the ledger, and all stored tables of golden/exact/*/summary.json."""
import json
import math
import urllib.parse
from daemon import SHARED
from ledger import check_laws

# Of the two real traces: what an independent count says.
REAL = {
    "unet3d-v100": {
        "report": {"lines": 18295, "events": 18039, "malformed": 0, "repaired": 0, "counters": 0},
        "trace": {"events": 18039, "job_time": 56.695354, "hosts": 1, "processes": 8, "threads": 56},
        "summary": {"files": 166}, "dropped": 474, "preset": "dlio"},
    "unet3d-plain-dialect": {
        "report": {"events": 93894, "malformed": 0},
        "trace": {"events": 93894, "job_time": 105.256111, "processes": 1, "threads": 21},
        "summary": {}, "dropped": None, "preset": "dlio"},
}


def same(a, b):
    if isinstance(a, dict) and isinstance(b, dict):
        return all(same(v, b.get(k)) for k, v in a.items())
    if a is None or b is None or isinstance(a, (str, list)) or isinstance(b, (str, list)):
        return a == b
    return math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-12)


def differences(expected, got):
    """names of the values that the daemon answers otherwise"""
    for key, value in expected.items():
        if key != "layers" and not same(value, got.get(key)):
            yield f"{key}: {got.get(key)!r}, not {value!r}"
    layers = {layer["name"]: layer for layer in got["layers"]}
    if [l["name"] for l in expected["layers"]] != [l["name"] for l in got["layers"]]:
        yield f"layers: {list(layers)}"
    for layer in expected["layers"]:
        for key, value in layer.items():
            there = layers.get(layer["name"], {})
            if not same(value, there.get(key)):
                yield f"{layer['name']}.{key}: {there.get(key)!r}, not {value!r}"


def check_summary(checks, daemon, folder, ids):
    request = json.loads((folder / "request.json").read_text())
    trace = ids[request.pop("trace")]
    parameters = {k: ",".join(v) if isinstance(v, list) else str(v).lower() if isinstance(v, bool) else v for k, v in request.items()}
    got = daemon.get(f"/api/v1/traces/{trace}/summary?" + urllib.parse.urlencode(parameters))
    bad = list(differences(json.loads((folder / "summary.json").read_text()), got))
    checks.check(not bad, f"golden/exact/{folder.name}: {len(bad)} values: " + "; ".join(bad[:5]))


def check_real(checks, daemon, name, trace, wanted):
    report = daemon.get(f"/api/v1/traces/{trace['id']}/report")
    for key, value in wanted["report"].items():
        checks.equal(report["totals"][key], value, f"{name}: report {key}")
    for key, value in wanted["trace"].items():
        checks.equal(trace[key], value, f"{name}: {key}")
    checks.equal(trace["preset"]["name"], wanted["preset"], f"{name}: preset")
    summary = daemon.get(f"/api/v1/traces/{trace['id']}/summary")
    for key, value in wanted["summary"].items():
        checks.equal(summary[key], value, f"{name}: summary {key}")
    if wanted["dropped"] is not None:
        part = report["presets"]["dlio"]
        checks.equal(part["dropped_by_file"] + part["dropped_by_function"], wanted["dropped"], f"{name}: dropped by the dlio filters")


def run(checks, daemon):
    if not (SHARED / "traces").is_dir():
        return checks.skip("given traces", f"needs shared: {SHARED / 'traces'} is not there")
    ids = {}
    for folder in sorted((SHARED / "traces").iterdir()):
        trace = daemon.ingest(folder)
        ids[folder.name] = trace["id"]
        check_laws(checks, daemon.get(f"/api/v1/traces/{trace['id']}/report"), folder.name)
        if folder.name in REAL:
            checks.attempt(folder.name, check_real, daemon, folder.name, trace, REAL[folder.name])
    for folder in sorted((SHARED / "golden/exact").iterdir()):
        checks.attempt(f"golden/exact/{folder.name}", check_summary, daemon, folder, ids)
