"""Traces that are refreshed and deleted while they are asked, and a daemon that is killed while a query writes to disk."""
import contextlib
import http.client
import json
import os
import pathlib
import shutil
import threading
import time
from daemon import Daemon, generate

EVENTS = 30000
SECONDS = 4


def refresh_again_and_again(daemon, trace, extra, stop, wrong):
    """a file comes and goes"""
    added = trace["path"] + "/extra.pfw"
    for turn in range(1 << 30):
        if stop.is_set():
            return
        shutil.copy(extra, added) if turn % 2 == 0 else os.unlink(added)
        job = daemon.call("POST", f"/api/v1/traces/{trace['id']}/refresh")
        ended = daemon.wait(job.get("job", job))
        if ended["state"] != "done":
            wrong.append(ended)


def ask_again_and_again(daemon, trace, counts, stop, wrong):
    path = f"/api/v1/traces/{trace['id']}"
    for turn in range(1 << 30):
        if stop.is_set():
            return
        status, _, text = daemon.request("POST", f"{path}/query", {"aggregate": {"n": "count()", f"a{turn}": "max(ts)"}})
        if status != 200 or json.loads(text)["data"][0][0] not in counts:
            wrong.append((status, text[:300]))
        status, _, text = daemon.request("GET", path)
        if status != 200 or json.loads(text)["events"] not in counts:
            wrong.append((status, text[:300]))


def refreshed_meanwhile(checks, folder):
    with Daemon(folder / "store", [folder]) as daemon:
        traces = [daemon.ingest(folder / name) for name in ("first", "second")]
        stop, wrong, extra = threading.Event(), [], next((folder / "more").glob("*.pfw*"))
        counts = {EVENTS, EVENTS + EVENTS // 3}
        threads = [threading.Thread(target=refresh_again_and_again, args=(daemon, trace, extra, stop, wrong)) for trace in traces]
        threads += [threading.Thread(target=ask_again_and_again, args=(daemon, trace, counts, stop, wrong)) for trace in traces * 2]
        for t in threads:
            t.start()
        time.sleep(SECONDS)
        stop.set()
        for t in threads:
            t.join()
        checks.check(not wrong, f"asked while it changes: {len(wrong)} wrong: {wrong[:3]}")
        for trace in traces:
            path = f"/api/v1/traces/{trace['id']}"
            events = daemon.get(f"{path}/report")["totals"]["events"]
            asked = daemon.call("POST", f"{path}/query", {"aggregate": {"n": "count()"}})["data"][0][0]
            checks.check(events == asked == daemon.get(path)["events"], f"after all refreshes {events} events, a query counts {asked}")


def deleted_meanwhile(checks, folder):
    """who reads a trace that is deleted gets all of it"""
    with Daemon(folder / "store", [folder]) as daemon:
        trace = daemon.ingest(folder / "second")
        connection = http.client.HTTPConnection(daemon.base.removeprefix("http://"), timeout=60)
        connection.request("GET", f"/api/v1/traces/{trace['id']}/query?format=csv")
        answer = connection.getresponse()
        rows = answer.read(1000)
        checks.check(daemon.request("DELETE", f"/api/v1/traces/{trace['id']}")[0] in (200, 204), "delete of a trace that is read")
        checks.equal(daemon.request("GET", f"/api/v1/traces/{trace['id']}/summary")[0], 404, "a deleted trace")
        rows += answer.read()
        checks.equal(rows.count(b"\n") - 1, trace["events"], "rows of an answer whose trace was deleted meanwhile")
        checks.check(not list((folder / "store" / "traces").glob(trace["id"])), "its files are gone")


def writes(daemon):
    """whether it has a file without a name"""
    for link in pathlib.Path(f"/proc/{daemon.process.pid}/fd").iterdir():
        with contextlib.suppress(OSError):
            if str(daemon.store) in os.readlink(link) and os.readlink(link).endswith("(deleted)"):
                return True
    return False


def ask_in_vain(daemon, trace, request):
    with contextlib.suppress(OSError, http.client.HTTPException):
        daemon.request("POST", f"/api/v1/traces/{trace['id']}/query", request)


def killed_while_writing(checks, folder):
    """what a query has written to disk goes with the daemon"""
    store = folder / "store-killed"
    with Daemon(store, [folder], ["--query-memory", "2MiB"]) as daemon:
        trace = daemon.ingest(folder / "first")
        before = sorted(str(p.relative_to(store)) for p in store.rglob("*"))
        rows = {"derive": {f"d{i}": f"ts * {i + 2}" for i in range(30)}, "order_by": ["-dur"], "then": {"order_by": ["ts"], "then": {"order_by": ["dur"]}}}
        client = threading.Thread(target=ask_in_vain, args=(daemon, trace, rows))
        client.start()
        end = time.monotonic() + 20
        while not writes(daemon) and client.is_alive() and time.monotonic() < end:
            time.sleep(0.001)
        checks.check(client.is_alive(), "it is killed while the query runs")
        daemon.kill()
        client.join()
        after = sorted(str(p.relative_to(store)) for p in store.rglob("*"))
        checks.equal([p for p in after if p not in before and "kept-" not in p], [], "files that are left")
        daemon.start()
        counted = daemon.call("POST", f"/api/v1/traces/{trace['id']}/query", {"aggregate": {"n": "count()"}})["data"][0][0]
        checks.equal(counted, trace["events"], "events after the next start")


def run(checks, folder):
    folder.mkdir()
    for seed, name in enumerate(("first", "second"), 1):
        generate(folder / name, events=EVENTS, seed=seed)
    generate(folder / "more", events=EVENTS // 3, seed=3, output_files=1)
    checks.attempt("refreshed meanwhile", refreshed_meanwhile, folder)
    checks.attempt("deleted meanwhile", deleted_meanwhile, folder)
    checks.attempt("killed while a query writes", killed_while_writing, folder)
