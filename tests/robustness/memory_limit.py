"""Traces that are small to send and large to hold, asked of a daemon with little memory: each request is answered, or refused by a sentence that
names the setting, and the process never holds much more than `memory`.

  memory_limit.py [--scale N] [--kinds KIND ..]      by hand: traces N times as large as in the test run (default 1; 50: those of the acceptance), figures printed
"""
import argparse
import json
import os
import pathlib
import re
import sys
import tempfile
import urllib.parse

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parent.parent)]
import hostile_traces  # noqa: E402
from daemon import Checks, Daemon  # noqa: E402

MIB = 1 << 20
MEMORY = 256 * MIB
MARGIN = 128 * MIB
OVERLAP = {"sets": {"r": "func_name == 'read'", "w": "func_name == 'write'"}}
SETS = urllib.parse.urlencode([("set", f"{name}:{condition}") for name, condition in OVERLAP["sets"].items()])

REQUESTS = [
    ("GET", "summary", None),
    ("GET", "summary?semantics=compatible", None),
    ("GET", "views/flat", None),
    ("GET", "views/flat?semantics=compatible", None),
    ("GET", f"overlap?{SETS}", None),
    ("GET", f"overlap?scope=thread&{SETS}", None),
    ("GET", "columns", None),
    ("GET", "columns/func_name/values", None),
    ("GET", "report", None),
    ("GET", "timeseries", None),
    ("GET", "timeseries?semantics=compatible", None),
    ("GET", "hlm", None),
    ("GET", "views/main", None),
    ("GET", "views/flat?by=file_name", None),
    ("GET", "views/layer?preset=posix&layer=posix&by=proc_name", None),
    ("GET", "views/layer?preset=posix&layer=posix&by=proc_name&semantics=compatible", None),
    ("GET", "overlap?semantics=compatible", None),
    ("GET", "access", None),
    ("GET", "utilisation?preset=dlio", None),
    ("GET", "findings", None),
    ("GET", "presets/preview", None),
    ("GET", "timeline/lanes", None),
    ("GET", "timeline/events", None),
    ("GET", "timeline/density", None),
    ("GET", "timeline/search?at=1&filter=dur+%3E+99999", None),
    ("GET", "timeline/statistics", None),
    ("GET", "calltree", None),
    ("GET", "gaps", None),
    ("GET", "whatif", None),
    ("GET", "whatif/align", None),
    ("POST", "stragglers", {"of": "dur > 2"}),
    ("POST", "query", {"group_by": ["func_name", "pid", "tid"], "aggregate": {"n": "count()", "t": "sum(time)"}, "order_by": ["-t"], "limit": 10}),
    ("POST", "query", {"columns": ["ts", "dur", "func_name", "file_name"], "order_by": ["-dur"], "limit": 1000}),
    ("POST", "query", {"group_by": ["file_name"], "aggregate": {"m": "median(dur)"}, "order_by": ["file_name"], "limit": 10}),
    ("POST", "query", {"filter": "dur > 3", "order_by": ["-te"], "then": {"aggregate": {"n": "count()", "x": "last(ts)"}}}),
    ("POST", "query", {"group_by": ["key"], "derive": {"key": "lower(func_name) + str(ts) + str(dur)"}, "aggregate": {"n": "count()"}, "limit": 10}),
    ("POST", "query", {"derive": {"key": "str(ts) + func_name"}, "columns": ["key"], "order_by": ["-key"], "limit": 100000}),
    ("POST", "overlap/intervals", {**OVERLAP, "where": "r and w"}),
]
LIMITED = (422, 503)
COUNTS = {"one_moment": 420000, "args_keys": 12000, "names": 30000, "processes": 6000, "categories": 10000}  # at scale 1


def resident(daemon, what="VmRSS"):
    """bytes that the process holds, without pages of files"""
    status = pathlib.Path(f"/proc/{daemon.process.pid}/status").read_text()
    return int(re.search(rf"{what}:\s+(\d+) kB", status)[1]) * 1024


def forget_peak(daemon):
    pathlib.Path(f"/proc/{daemon.process.pid}/clear_refs").write_text("5")


def is_a_limit(text):
    """a refusal that names the setting; or the trace lacks what there is to answer of"""
    return b"setting " in text or b"problem:unfit" in text


def ask_all(checks, daemon, kind, identity, told):
    """peaks by request"""
    for method, path, body in REQUESTS:
        forget_peak(daemon)
        status, _, text = daemon.request(method, f"/api/v1/traces/{identity}/{path}", body)
        what = f"{kind}: {path.split('?')[0] if not body else path}{'?' + path.split('?')[1][:40] if '?' in path else ''}"
        told(what, status, resident(daemon, "VmHWM"), text)
        checks.check(status == 200 or (status in LIMITED and is_a_limit(text)), f"{what}: {status} {text[:300]!r}")


def run(checks, folder, scale=1, verbose=False, kinds=None):
    folder.mkdir(exist_ok=True)
    most = MEMORY + MARGIN if "asan" not in os.environ.get("STRATAD", "") else 3 * MEMORY  # a sanitizer holds much of its own
    peaks = []

    def told(what, status, peak, text):
        peaks.append((peak, what))
        if verbose:
            print(f"{peak / MIB:8.0f} MiB  {status}  {what}  {text[:160] if status != 200 else ''}", flush=True)

    for kind in kinds or COUNTS:
        trace = hostile_traces.write(folder / kind, kind, COUNTS[kind] * scale)
        with Daemon(folder / f"store-{kind}", [folder], ["--memory", "256MiB", "--query-timeout", "3600"]) as daemon:
            registered, job = daemon.register(trace)
            ended = daemon.wait(job)
            told(f"{kind}: ingest", 200 if ended["state"] == "done" else 422, resident(daemon, "VmHWM"), json.dumps(ended).encode())
            checks.check(ended["state"] == "done" or "memory" in json.dumps(ended), f"{kind}: ingest: {ended}")
            if ended["state"] == "done":
                ask_all(checks, daemon, kind, registered["id"], told)
    peak, what = max(peaks)
    print(f"with --memory 256MiB the process held {peak / MIB:.0f} MiB at most: {what}")
    checks.check(peak < most, f"{what}: {peak / MIB:.0f} MiB with --memory 256MiB")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scale", type=int, default=1)
    parser.add_argument("--folder", default=None)
    parser.add_argument("--kinds", nargs="*", choices=COUNTS, help="only these traces (default: all)")
    arguments = parser.parse_args()
    checks = Checks()
    with tempfile.TemporaryDirectory(prefix="strata-memory-") as scratch:
        checks.attempt("memory", run, pathlib.Path(arguments.folder or scratch), arguments.scale, True, arguments.kinds)
    return checks.end()


if __name__ == "__main__":
    sys.exit(main())
