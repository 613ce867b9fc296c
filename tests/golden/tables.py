"""Layered tables: those stored in ../shared/golden, and those that its oracle makes of generated traces (needs pandas 2)."""
import json
import os
import re
import subprocess
import sys
import urllib.parse
from daemon import SHARED, generate

ORACLE, EXACT_ORACLE = SHARED / "oracles/layered_oracle.py", SHARED / "oracles/exact_oracle.py"
SEEDS, DIALECTS = (31, 32, 33), ("hashed", "plain")
# preset, granularity, view types, with logical views: by time and process, by file as well, by file and process.  Quantiles are left to the stored
# tables: which of two times that tie lies within depends on the order in which the oracle adds them.
SHAPES = [("dlio", 0.5, "time_range,proc_name", False), ("dlio", 3, "time_range,proc_name,file_name", False), ("posix", 7, "file_name,proc_name", True)]


def python_with_pandas():
    """an interpreter that the oracle works with, or None"""
    for python in filter(None, (os.environ.get("STRATA_ORACLE_PYTHON"), sys.executable)):
        probe = "import pandas, sys; sys.exit(int(pandas.__version__.split('.')[0]) < 2)"
        if subprocess.run([python, "-c", probe], stderr=subprocess.DEVNULL).returncode == 0:
            return python
    return None


# ---- stored tables

def is_refused(label, count, why):
    """the one stored request with a parameter that does nothing there: no summary has statistics between quantiles, so it is 400"""
    return (label, count) == ("dlio/5s-quantiles", "1") and "summary" in why and "HTTP Error 400" in why


def check_stored(checks, daemon):
    ids = {folder.name: daemon.ingest(folder)["id"] for folder in sorted((SHARED / "traces").iterdir())}
    command = [sys.executable, str(SHARED / "golden/run_tables.py"), daemon.base, *(f"{name}={id}" for name, id in ids.items())]
    output = subprocess.run(command, stdout=subprocess.PIPE, text=True).stdout
    checks.passed += int(re.search(r"^(\d+) passed, \d+ failed$", output, re.M)[1])
    different = re.findall(r"^(\S+): \d+ equal, ([1-9]\d*) different\n((?: {4}.*\n)*)", output, re.M)
    wrong = [f"{label}: {' '.join(why.split())}" for label, count, why in different if not is_refused(label, count, why)]
    checks.check(not wrong and checks.passed > 0, f"{len(wrong)} stored tables: " + "; ".join(wrong[:5]))


# ---- tables of the oracle

def request_of(name, views):
    """path and parameters of one of the oracle's files, or None"""
    kind, _, rest = name.partition("_")
    view = next((v for v in views if rest == v or rest.startswith(v + "_")), None)
    if kind == "hlm":
        return "hlm", {}
    if kind == "main":
        return "views/main", {"layer": rest}
    if kind == "flat":
        return "views/flat", {"by": view}
    return ("views/layer", {"by": view, "layer": rest[len(view) + 1:]}) if kind == "layer" else None


def check_summaries(checks, daemon, base, parameters, expected, what):
    from run_tables import equal
    for view, part in expected["views"].items():
        got = daemon.get(f"{base}/summary?" + urllib.parse.urlencode({**parameters, "by": view}))
        layers = {layer["name"]: layer for layer in got["layers"]}
        wanted = {**expected["raw_stats"], **part}
        bad = [key for key, value in wanted.items() if key != "layers" and not equal(value, got[key])]
        bad += [f"{name}.{key}" for name, layer in part["layers"].items() for key, value in layer.items() if not equal(value, layers[name][key])]
        checks.check(not bad, f"{what}: summary by {view}: {bad[:5]}")


def check_shape(checks, daemon, python, folder, trace, shape):
    from compare import compare, read
    preset, granularity, views, logical = shape
    what = f"{folder.name} {preset} {granularity} s {views}"
    out = folder.with_name(f"{folder.name}-{preset}-{granularity}")
    command = [python, "-W", "ignore", ORACLE, folder, out, "--preset", preset, "--granularity", granularity, "--views", views]
    subprocess.run([*map(str, command), *(["--logical"] if logical else [])], check=True)
    expected = json.loads((out / "summary.json").read_text())
    base = f"/api/v1/traces/{trace}"
    parameters = {"semantics": "compatible", "preset": preset, "granularity": granularity, "views": views}
    for file in sorted(out.glob("*.csv")):
        asked = request_of(file.stem, list(expected["views"]))
        if asked is None:
            continue
        url = f"{daemon.base}{base}/{asked[0]}?" + urllib.parse.urlencode({**parameters, **asked[1], "format": "csv"})
        report, _ = compare(read(str(file)), read(url), reference=True)
        checks.check(not report, f"{what}: {file.stem}: {report[:2]}")
    check_summaries(checks, daemon, base, parameters, expected, what)


# Exact: preset, granularity, and the views beside the stored ones.
EXACT_SHAPES = [("dlio", 0.7), ("posix", 2.5)]
EXACT_VIEWS = ["time_range", "process", "thread", "host_name", "file_name", "file_dir", "file_pattern", "cat", "func_name", "epoch", "step"]


def check_exact(checks, daemon, python, folder, trace, preset, granularity):
    from compare import compare, read
    from run_tables import summary_differences
    what, out = f"{folder.name} {preset} exact", folder.with_name(f"{folder.name}-{preset}-exact")
    command = [python, EXACT_ORACLE, folder, out, "--preset", preset, "--granularity", granularity, "--views", ",".join(EXACT_VIEWS)]
    subprocess.run([*map(str, command)], check=True)
    parameters = {"preset": preset, "granularity": granularity}
    for file in sorted(out.glob("*.csv")):
        asked = request_of(file.stem, EXACT_VIEWS)
        url = f"{daemon.base}/api/v1/traces/{trace}/{asked[0]}?" + urllib.parse.urlencode({**parameters, **asked[1], "format": "csv"})
        report, _ = compare(read(str(file)), read(url), extra_ok=True)
        checks.check(not report, f"{what}: {file.stem}: {report[:2]}")
    got = daemon.get(f"/api/v1/traces/{trace}/summary?" + urllib.parse.urlencode(parameters))
    different = summary_differences(json.loads((out / "summary.json").read_text()), lambda path, more: got, {})
    checks.check(not different, f"{what}: summary: {different[:3]}")


def check_generated(checks, daemon, folder):
    python = python_with_pandas()
    if python is None:
        return checks.skip("tables of the oracle", "needs pandas: no Python with pandas 2 (STRATA_ORACLE_PYTHON)")
    for seed in SEEDS:
        for dialect in DIALECTS:
            trace = folder / f"oracle-{dialect}-{seed}"
            generate(trace, events=3000, ranks=3, hosts=2, dialect=dialect, seed=seed)
            id = daemon.ingest(trace)["id"]
            for shape in SHAPES:
                check_shape(checks, daemon, python, trace, id, shape)
            for preset, granularity in EXACT_SHAPES:
                check_exact(checks, daemon, python, trace, id, preset, granularity)


def run(checks, daemon, folder):
    if not (SHARED / "golden").is_dir():
        return checks.skip("layered tables", f"needs shared: {SHARED / 'golden'} is not there")
    sys.path.append(str(SHARED / "golden"))
    checks.attempt("stored tables", check_stored, daemon)
    checks.attempt("tables of the oracle", check_generated, daemon, folder)
