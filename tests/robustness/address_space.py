#!/usr/bin/env python3
"""A system that refuses memory, whatever the setting `memory` says: the daemon may have little more than it has after an ingest, and is asked for
every view and to ingest another trace. Each request is answered or refused, the daemon lives on, and once the limit is gone it answers as before.

  address_space.py [--scale N] [--kinds KIND ..] [--spare MIB ..]      by hand: traces N times as large as in the test run
"""
import argparse
import collections
import http.client
import itertools
import json
import os
import pathlib
import re
import resource
import sys
import tempfile
import urllib.parse

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parent.parent)]
import hostile_traces  # noqa: E402
from cancel_latency import KINDS, WHATIF, filled  # noqa: E402
from daemon import Checks, Daemon, generate, wait_until  # noqa: E402
from memory_limit import COUNTS, MIB  # noqa: E402

REQUESTS = {**KINDS, **WHATIF}
AFTERWARDS = ("summary", "flat, compatible", "call tree", "groups", "sort")
SPARE = {"usual": (0, 2, 8, 24, 64), None: (0, 16, 48)}  # MiB beyond what the daemon has, by kind of trace
LIMITS = {"data": (resource.RLIMIT_DATA, "VmData"), "address space": (resource.RLIMIT_AS, "VmSize")}
EXPECTED = (200, 202, 400, 422, 429, 503, "cut")  # 400: a column that the trace does not have


def limit(daemon, kind, spare):
    """lets the daemon have so many bytes more than it has; None: as many as there are"""
    which, held = LIMITS[kind]
    status = pathlib.Path(f"/proc/{daemon.process.pid}/status").read_text()
    most = resource.RLIM_INFINITY if spare is None else int(re.search(rf"{held}:\s+(\d+) kB", status)[1]) * 1024 + spare
    resource.prlimit(daemon.process.pid, which, (most, resource.RLIM_INFINITY))


def ask(daemon, number, identity, request):
    """status, and what came"""
    method, path, body = filled(request, number)
    try:
        status, _, text = daemon.request(method, f"/api/v1/traces/{identity}/{urllib.parse.quote(path, safe='?=&/%:+')}", body)
    except http.client.IncompleteRead:  # a long answer that met the limit when it was on its way: cut, and logged
        status, text = "cut", b""
    return status, text


def told(status, text):
    """an answer without the cursor of its next page; of a refusal its status alone"""
    return status, re.sub(rb'"next":"[^"]*"', b"", text) if status == 200 else b""


def press(checks, daemon, trace, late, limited, spare, numbers):
    """statuses of all requests while there is little memory"""
    statuses = collections.Counter()
    limit(daemon, limited, spare * MIB)
    for what, request in REQUESTS.items():
        status, text = ask(daemon, next(numbers), trace, request)
        statuses[status] += 1
        checks.check(status in EXPECTED, f"{what}: {status} {text[:200]!r}")
    status, _, text = daemon.request("POST", "/api/v1/traces", {"path": str(late)})
    checks.check(status in EXPECTED, f"registration: {status} {text[:200]!r}")
    if status == 202:
        registered = json.loads(text)
        statuses[daemon.wait(registered["job"])["state"]] += 1
    limit(daemon, limited, None)
    if status == 202:
        daemon.request("DELETE", f"/api/v1/traces/{registered['trace']['id']}")
    return statuses


def run_kind(checks, folder, kind, write, spares, numbers):
    write(folder / kind)
    write(folder / f"{kind}-late")
    before = {}
    for limited, spare in [("address space", 0), *itertools.product(["data"], spares)]:
        with Daemon(folder / f"store-{kind}", [folder], ["--memory", "512MiB"]) as daemon:
            trace = daemon.ingest(folder / kind)["id"]
            statuses = press(checks, daemon, trace, folder / f"{kind}-late", limited, spare, numbers)
            print(f"{kind}, {spare} MiB of {limited}: {dict(statuses)}", flush=True)
            wait_until(daemon.idle, timeout=300, what="nothing is worked on")
            for what in AFTERWARDS:
                answer = told(*ask(daemon, 0, trace, REQUESTS[what]))
                checks.check(before.setdefault(what, answer) == answer, f"{kind}: {what}: {before[what][0]}, then {answer[0]} {answer[1][:200]!r}")


def run(checks, folder, scale=1, kinds=None, spares=None):
    folder.mkdir(exist_ok=True)
    if "asan" in os.environ.get("STRATAD", "") or "tsan" in os.environ.get("STRATAD", ""):
        checks.skip("address space", "needs allocator: sanitizers bring their own")
        return
    numbers = itertools.count(1)
    for kind in kinds or ["usual", *COUNTS]:
        if kind == "usual":
            write = lambda to: generate(to, events=20000 * scale, ranks=4, seed=7)  # noqa: E731
        else:
            write = lambda to, kind=kind: hostile_traces.write(to, kind, COUNTS[kind] * scale)  # noqa: E731
        run_kind(checks, folder, kind, write, spares or SPARE.get(kind, SPARE[None]), numbers)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scale", type=int, default=1)
    parser.add_argument("--kinds", nargs="*", choices=["usual", *COUNTS])
    parser.add_argument("--spare", nargs="*", type=int)
    arguments = parser.parse_args()
    checks = Checks()
    with tempfile.TemporaryDirectory(prefix="strata-address-space-") as scratch:
        checks.attempt("address space", run, pathlib.Path(scratch), arguments.scale, arguments.kinds, arguments.spare)
    return checks.end()


if __name__ == "__main__":
    sys.exit(main())
