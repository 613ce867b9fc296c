"""Generated traces: the generator's totals and the daemon's answers agree, to the microsecond and the byte."""
from daemon import generate
from ledger import check_laws

# name: options of the generator
TRACES = {
    "hashed": {"events": 20000, "seed": 11},
    "hashed-two-hosts": {"events": 30000, "ranks": 6, "hosts": 2, "output_files": 3, "gzip": "one", "seed": 12},
    "plain": {"events": 20000, "dialect": "plain", "gzip": "many", "output_files": 2, "seed": 13},
    "mixed": {"events": 30000, "dialect": "mixed", "ranks": 6, "hosts": 3, "seed": 14},
    "no-workers": {"events": 15000, "workers": 0, "seed": 15},
    "hidden": {"events": 20000, "overlap": 1, "seed": 16},
    "exposed": {"events": 20000, "overlap": 0, "seed": 17},
    "half-hidden": {"events": 20000, "overlap": 0.5, "ranks": 5, "seed": 18},
    "one-big-file": {"events": 60000, "ranks": 8, "output_files": 1, "gzip": "one", "seed": 19},
    "ai": {"events": 30000, "preset": "ai", "ranks": 4, "hosts": 2, "seed": 20},
    "ai-plain": {"events": 20000, "preset": "ai", "dialect": "plain", "seed": 21},
    "faults": {"events": 20000, "faults": "all=7", "output_files": 4, "seed": 22},
    "faults-plain": {"events": 20000, "faults": "all=3", "dialect": "plain", "gzip": "many", "seed": 23},
    "faults-mixed": {"events": 20000, "faults": "all=5,long", "dialect": "mixed", "gzip": "one", "seed": 24},
    "together": {"events": 60000, "ranks": 4, "hosts": 2, "output_files": 4, "together": True, "seed": 26},
    "together-ai": {"events": 60000, "preset": "ai", "ranks": 4, "together": True, "seed": 27},
    "truncated": {"events": 20000, "gzip": "one", "output_files": 2, "truncate": True, "seed": 25},
}
LEDGER = ("files", "bytes", "json_bytes", "lines", "events", "metadata", "counters", "other", "framing", "blank", "malformed", "repaired")
MICROSECONDS = ("time", "busy_group_sum", "exposed_group_sum", "exposed_group_max")


def seconds(microseconds):
    return microseconds / 1e6


def check_report(checks, report, totals, name):
    check_laws(checks, report, name)
    for key in LEDGER:
        checks.equal(report["totals"][key], totals["ledger"][key], f"{name}: report {key}")
    checks.equal(report["unresolved"]["file_hashes"], totals["unresolved_file_hashes"], f"{name}: unresolved file hashes")
    checks.equal(sum(f["state"] == "truncated" for f in report["files"]), totals["truncated_files"], f"{name}: truncated files")
    checks.equal(len(report["malformed"]), min(100, totals["ledger"]["malformed"]), f"{name}: malformed lines listed")
    checks.equal(len(report["repaired"]), min(100, totals["ledger"]["repaired"]), f"{name}: repaired lines listed")
    part = report["presets"][totals["preset"]]
    checks.equal([part["dropped_by_file"], part["dropped_by_function"]],
                 [totals["filtered"]["by_file"], totals["filtered"]["by_function"]], f"{name}: dropped by file, by function")


def check_layer(checks, layer, wanted, name):
    checks.equal(layer["count"], wanted["count"], f"{name}: count")
    if not wanted["count"]:
        return
    if "size" in layer:
        checks.equal(layer["size"], wanted["size"], f"{name}: size")
    for column in MICROSECONDS:
        if column + "_us" in wanted:
            checks.equal(layer[column], seconds(wanted[column + "_us"]), f"{name}: {column}")


def check_lateness(checks, daemon, trace, name):
    """ranks that end their steps together are late by less than a step, not by all that they lost before"""
    finding = daemon.get(f"/api/v1/traces/{trace['id']}/findings?rule=slowest_rank")["findings"][0]
    checks.check(finding["figures"]["r_steps"] > 20 and finding["value"] < 1, f"{name}: {finding['text']}")


def check_trace(checks, daemon, folder, name, options):
    totals = generate(folder / name, **options)
    trace = daemon.ingest(folder / name)
    for key in ("events", "hosts", "processes", "threads"):
        checks.equal(trace[key], totals[key], f"{name}: {key}")
    checks.equal(trace["job_time"], seconds(totals["job_time_us"]), f"{name}: job_time")
    checks.equal(trace["preset"]["name"], totals["preset"], f"{name}: preset, {trace['preset']['why']}")
    check_report(checks, daemon.get(f"/api/v1/traces/{trace['id']}/report"), totals, name)
    summary = daemon.get(f"/api/v1/traces/{trace['id']}/summary")
    for key in ("files", "unmatched", "multiple"):
        checks.equal(summary[key], totals[key], f"{name}: summary {key}")
    layers = {layer["name"]: layer for layer in summary["layers"]}
    checks.equal(list(layers), [layer["name"] for layer in totals["layers"]], f"{name}: layers")
    for wanted in totals["layers"]:
        check_layer(checks, layers[wanted["name"]], wanted, f"{name}: layer {wanted['name']}")
    if options.get("together"):
        check_lateness(checks, daemon, trace, name)


def run(checks, daemon, folder):
    for name, options in TRACES.items():
        checks.attempt(name, check_trace, daemon, folder, name, options)
