"""How soon the work for a client ends that has left: for each kind of request, left at several moments of its time, the most processor time that was
still spent on it. Printed; what is asserted is processor time, since the machine may be busy with others.

  cancel_latency.py [--events N] [--trace FOLDER] [--most SECONDS]      by hand, without sanitizers: --events 4000000 --most 0.3
"""
import argparse
import json
import os
import pathlib
import socket
import sys
import tempfile
import time
import urllib.parse

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parent.parent)]
import dasf_records  # noqa: E402
import hostile_traces  # noqa: E402
from daemon import Checks, Daemon, generate, wait_until  # noqa: E402

SETS = {"sets": {"r": "cat == 'posix'", "w": "cat == 'stdio'", "all": "true"}}
OVERLAP = urllib.parse.urlencode([("set", f"{name}:{condition}") for name, condition in SETS["sets"].items()])
KINDS = {
    "summary": ("GET", "summary?filter=dur>{n}", None),
    "summary, compatible": ("GET", "summary?semantics=compatible&filter=dur>{n}", None),
    "flat": ("GET", "views/flat?by=file_name&filter=dur>{n}", None),
    "flat, compatible": ("GET", "views/flat?semantics=compatible&by=proc_name&filter=dur>{n}", None),
    "main": ("GET", "views/main?filter=dur>{n}", None),
    "hlm": ("GET", "hlm?filter=dur>{n}", None),
    "timeseries, compatible": ("GET", "timeseries?semantics=compatible&filter=dur>{n}", None),
    "findings": ("GET", "findings?filter=dur>{n}", None),
    "utilisation": ("GET", "utilisation?filter=dur>{n}", None),
    "access": ("GET", "access?filter=dur>{n}", None),
    "lanes": ("GET", "timeline/lanes?filter=dur>{n}", None),
    "density": ("GET", "timeline/density?filter=dur>{n}", None),
    "statistics": ("GET", "timeline/statistics?filter=dur>{n}", None),
    "call tree": ("GET", "calltree?filter=dur>{n}", None),
    "gaps": ("GET", "gaps?filter=dur>{n}", None),
    "timeseries": ("GET", "timeseries?filter=dur>{n}", None),
    "overlap": ("GET", "overlap?scope=thread&filter=dur>{n}&" + OVERLAP, None),
    "intervals": ("POST", "overlap/intervals", {**SETS, "where": "r or w", "filter": "dur > {n}", "order_by": ["-time", "start"]}),
    "values": ("GET", "columns/file_name/values?prefix={n}", None),
    "report": ("GET", "report", None),
    "groups": ("POST", "query", {"filter": "dur > {n}", "group_by": ["ts", "tid", "file_name"], "aggregate": {"n": "count()"}, "order_by": ["-n", "ts"]}),
    "median": ("POST", "query", {"filter": "dur > {n}", "group_by": ["file_name"], "aggregate": {"m": "median(dur)"}, "order_by": ["file_name"]}),
    "sort": ("POST", "query", {"filter": "dur > {n}", "order_by": ["file_name", "-dur", "ts"], "limit": 100000}),
    "made texts": ("POST", "query", {"filter": "dur > {n}", "group_by": [{"k": "str(ts) + func_name"}], "aggregate": {"n": "count()"}, "order_by": ["k"]}),
}
WHATIF = {
    "what if, a model": ("POST", "whatif", {"assume": {"prefetch": 7}, "scenarios": [{"name": "{n}"}]}),
    "what if, a sweep": ("POST", "whatif", {"sweep": {"workers": list(range(1, 33)), "storage": [1, 0.75, 0.5, 0.25, 0], "prefetch": [2, 4, 8], "with": {"name": "{n}"}}}),
    "what if, a cache": ("POST", "whatif", {"scenarios": [{"name": "{n}", "cache": {"bytes": 10**9}}]}),
}
DASF = {table: ("GET", f"dasf/{table}?filter=dur>{{n}}", None)
        for table in ("function_bottleneck", "task_bottleneck", "task_balance", "graph", "critical_path", "as_it_ran", "slack", "transfers", "function_graph", "parallelism", "clocks")}
OF_A_MOMENT = ("summary", "findings", "access", "statistics", "gaps", "timeseries", "overlap", "intervals", "groups", "sort")  # those that take long there
MOMENTS = 6
MOST = 1.0  # seconds of processor time, with sanitizers; all threads together


def processor_time(daemon):
    """seconds that the daemon has computed, all threads together"""
    fields = pathlib.Path(f"/proc/{daemon.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def send(daemon, method, path, body):
    """an open connection with the request on its way"""
    host, port = daemon.base.removeprefix("http://").rsplit(":", 1)
    connection = socket.create_connection((host, int(port)), timeout=600)
    data = b"" if body is None else json.dumps(body).encode()
    head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {len(data)}\r\n\r\n"
    connection.sendall(head.encode() + data)
    return connection


def working(daemon):
    text = daemon.request("GET", "/metrics")[2].decode()
    figures = dict(line.rsplit(" ", 1) for line in text.splitlines() if line.startswith(("strata_questions_", "strata_streams_open")))
    return any(float(value) > 0 for value in figures.values())


def filled(request, number):
    """the same request, never asked before"""
    return json.loads(json.dumps(request).replace("{n}", str(-number)))


def measure(daemon, identity, request, numbers):
    """seconds that it takes; the most processor time after a client left, and the most time"""
    method, path, body = filled(request, next(numbers))
    start = time.monotonic()
    status, _, text = daemon.request(method, f"/api/v1/traces/{identity}/{urllib.parse.quote(path, safe='?=&/%:+')}", body)
    taken = time.monotonic() - start
    if status != 200:  # then nothing would be measured
        raise RuntimeError(f"{method} {path}: {status} {text[:300]!r}")
    worst = worst_time = 0
    for moment in range(MOMENTS):
        method, path, body = filled(request, next(numbers))
        connection = send(daemon, method, f"/api/v1/traces/{identity}/{urllib.parse.quote(path, safe='?=&/%:+')}", body)
        time.sleep(taken * (moment + 0.5) / MOMENTS)
        connection.close()
        before, left = processor_time(daemon), time.monotonic()
        while working(daemon):
            time.sleep(0.002)
        worst = max(worst, processor_time(daemon) - before)
        worst_time = max(worst_time, time.monotonic() - left)
    return taken, worst, worst_time


def run(checks, folder, events=200000, trace=None, most=MOST):
    folder.mkdir(exist_ok=True)
    if trace is None:
        generate(folder / "trace", events=events, ranks=4, seed=6)
    numbers = iter(range(1, 10**9))
    with Daemon(folder / "store", [folder, *([trace] if trace else [])], ["--compaction", "off"]) as daemon:  # its work is not that of a request
        leave(checks, daemon, daemon.ingest(trace or folder / "trace")["id"], {**KINDS, **WHATIF}, numbers, most)
        moment = hostile_traces.write(folder / "moment", "one_moment", events)  # no cut in time parts its events
        leave(checks, daemon, daemon.ingest(moment)["id"], {kind: KINDS[kind] for kind in OF_A_MOMENT}, numbers, most)
        dasf_records.write(folder / "dask", events // 4)
        leave(checks, daemon, daemon.ingest(folder / "dask")["id"], DASF, numbers, most)


def leave(checks, daemon, identity, kinds, numbers, most):
    wait_until(lambda: daemon.idle(30), timeout=600, what="what is made after an ingest is made")
    for kind, request in kinds.items():
        taken, worst, worst_time = measure(daemon, identity, request, numbers)
        print(f"{kind}: takes {taken * 1000:.0f} ms; after the client left at most {worst * 1000:.0f} ms of processor time, {worst_time * 1000:.0f} ms", flush=True)
        checks.check(worst < most, f"{kind}: {worst:.2f} s of processor time after the client left")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--events", type=int, default=int(os.environ.get("EVENTS", "200000")))
    parser.add_argument("--trace", default=None)
    parser.add_argument("--most", type=float, default=MOST, help="seconds of processor time after a client left")
    arguments = parser.parse_args()
    checks = Checks()
    with tempfile.TemporaryDirectory(prefix="strata-cancel-") as scratch:
        checks.attempt("cancel", run, pathlib.Path(scratch), arguments.events, arguments.trace, arguments.most)
    return checks.end()


if __name__ == "__main__":
    sys.exit(main())
