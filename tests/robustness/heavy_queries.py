"""Queries past their memory, many at once, and from clients that leave: the same answers, and others are served on."""
import contextlib
import json
import pathlib
import re
import socket
import threading
import time
import urllib.parse
from daemon import ENDLESS, Daemon, generate, wait_until

EVENTS = 120000
TINY = "2MiB"
SUMS = {"n": "count()", "time": "sum(time)", "size": "sum(size)", "mean": "mean(dur)", "first": "first(tid)"}

# what has to hold much: groups, lists of values, distinct values, sorted rows, a stage's result
LARGE = {
    "groups": {"group_by": ["ts", "pid", "func_name"], "aggregate": SUMS, "order_by": ["-time", "ts", "pid"], "limit": 1000},
    "medians": {"group_by": ["func_name"], "aggregate": {"p50": "median(dur)", "p90": "quantile(time, 0.9)", "end": "median(te)"}},
    "distinct values": {"group_by": ["cat"], "aggregate": {"n": "nunique(ts)", "files": "nunique(file_name)", "te": "nunique(te + tid)"}},
    "sorted rows": {"columns": ["func_name", "ts", "dur", "file_name", "args.ret"], "order_by": ["-dur", "ts", "tid"], "limit": 100000},
    "two stages": {"group_by": ["ts", "tid"], "aggregate": {"t": "sum(dur)", "n": "count()"}, "then": {"group_by": ["n"], "aggregate": {"t": "median(t)", "rows": "count()"}}},
    "distinct keys": {"group_by": ["te", "tid"], "limit": 1000},
    "value counts": {"value_counts": ["dur", "pid"], "limit": 1000},
    "busy": {"group_by": ["pid", "func_name"], "aggregate": {"b": "busy()"}},
    "rows on": {"filter": "dur > 3", "order_by": ["-te"], "then": {"aggregate": {"n": "count()", "x": "last(ts)", "y": "argmax(func_name, ts)"}}},
    "texts that the question makes": {"group_by": [{"k": "str(ts) + func_name"}], "aggregate": {"n": "count()", "size": "sum(size)", "last": "last(str(te))"}, "limit": 1000},
    "order of such texts": {"columns": [{"k": "str(ts) + func_name"}, "dur"], "order_by": ["-k", "dur"], "limit": 1000},
}


def ask(daemon, identity, request, query=""):
    return daemon.request("POST", f"/api/v1/traces/{identity}/query{query}", request, timeout=300)


def spilled(daemon, identity, request):
    """bytes that its steps wrote, as explain says"""
    status, _, text = ask(daemon, identity, request, "?explain=true")
    steps = json.loads(text)["explain"]["steps"] if status == 200 else []
    return sum(step.get("spilled") or 0 for step in steps)


@contextlib.contextmanager
def watching(daemon):
    """a list of the bytes that it holds from now on, without pages of files, which the system may take"""
    held, stop = [0], threading.Event()

    def watch():
        while not stop.wait(0.01):
            held.append(int(re.search(r"RssAnon:\s+(\d+) kB", pathlib.Path(f"/proc/{daemon.process.pid}/status").read_text())[1]) * 1024)

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield held
    finally:
        stop.set()
        thread.join()


def same_with_little_memory(checks, folder):
    """2 MiB and one worker against plenty and four: the same bytes"""
    answers, wrote = {}, 0
    for memory, workers in (("1GiB", 4), (TINY, 1), (TINY, 3)):
        with Daemon(folder / f"store-{memory}-{workers}", [folder], ["--query-memory", memory, "--workers", workers]) as daemon:
            identity = daemon.ingest(folder / "trace")["id"]
            for what, request in LARGE.items():
                status, _, text = ask(daemon, identity, request)
                checks.equal(status, 200, f"{what} in {memory}: {text[:300]!r}")
                text = text.split(b',"next":')[0]  # a token of this store
                answers.setdefault(what, text)
                checks.check(text == answers[what], f"{what} in {memory} with {workers} workers: {text[:200]!r}, not {answers[what][:200]!r}")
                wrote += spilled(daemon, identity, {**request, "order_by": request.get("order_by", [])}) if memory == TINY else 0
    checks.check(wrote > 10 << 20, f"what does not fit is written: {wrote} bytes")


def no_end_of_texts(checks, folder):
    """texts that grow from one column to the next, and bins without number: refused, with little memory held (a sanitizer holds 256 MiB
    of what was freed)"""
    growing = {"a0": "str(ts)", **{f"a{i}": f"a{i - 1} + a{i - 1}" for i in range(1, 11)}}
    every = {"texts that grow": {"derive": growing, "aggregate": {"n": "max(len(a10))"}},
             "texts that grow, for a filter": {"derive": growing, "filter": "len(a10) > 3", "limit": 1},
             "texts that grow in one expression": {"filter": "len(" + " + ".join(["str(ts)"] * 500) + ") > 3", "aggregate": {"n": "count()"}}}
    with Daemon(folder / "store-texts", [folder], ["--query-memory", "32MiB"]) as daemon:
        identity = daemon.ingest(folder / "trace")["id"]
        with watching(daemon) as held:
            for what, request in every.items():
                status, _, text = ask(daemon, identity, request)
                checks.check(status == 422 and b"query_memory" in text, f"{what}: {status} {text[:300]!r}")
        checks.check(max(held) < 512 << 20, f"memory at most: {max(held)} bytes")
        endless = urllib.parse.quote(every["texts that grow in one expression"]["filter"])
        for path, wanted in ((f"summary?filter={endless}", 422), ("summary", 200)):
            checks.equal(daemon.request("GET", f"/api/v1/traces/{identity}/{path}")[0], wanted, f"{path[:40]} after them")
        status, _, text = ask(daemon, identity, {"group_by": ["ts"], "histogram": {"of": "dur", "bins": 10000}})
        checks.check(status == 422 and b"bins" in text, f"a histogram for each moment: {status} {text[:300]!r}")


MIXED = [
    {"filter": "cat == 'posix'", "group_by": ["func_name"], "aggregate": {"aI": "sum(time)", "n": "count()"}},
    {"group_by": [{"t": "bin(time_start, 0.01)"}, "pid", "func_name"], "aggregate": {"aI": "count()", "s": "sum(size)"}},
    {"filter": "file_name.str.contains('img_0.*[13579]_of')", "value_counts": {"kI": "basename(file_name)"}},
    {"group_by": ["func_name"], "aggregate": {"aI": "median(dur)", "q": "quantile(size, 0.9)"}},
    {"columns": [{"cI": "func_name"}, "ts", "dur", "args.ret"], "order_by": ["-dur"], "limit": 1000},
    {"describe": [{"dI": "dur"}, "size"], "group_by": ["cat"]},
    {"histogram": {"of": "dur", "bins": 50}, "group_by": [{"kI": "pid"}]},
    {"group_by": [{"kI": "ts"}, "tid"], "aggregate": {"n": "count()"}, "then": {"aggregate": {"m": "max(n)", "rows": "count()"}}},
]
CLIENTS = 100


def resident(daemon):
    status = pathlib.Path(f"/proc/{daemon.process.pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+) kB", status)[1]) * 1024


def many_at_once(checks, folder):
    statuses, lock, delays, healthy, stop = [], threading.Lock(), [], [], threading.Event()
    with Daemon(folder / "store-many", [folder]) as daemon:
        identity = daemon.ingest(folder / "trace")["id"]
        alone = {json.dumps(r): ask(daemon, identity, r)[2] for r in MIXED}

        def client(number):
            request = MIXED[number % len(MIXED)]
            status, _, text = ask(daemon, identity, json.loads(json.dumps(request).replace("I\"", f"{number}\"")) if number >= CLIENTS // 2 else request)
            with lock:
                statuses.append((status, text[:200]))
                if status == 200 and number < CLIENTS // 2:
                    checks.check(text == alone[json.dumps(request)], f"client {number}: another answer than alone to {request}")

        def watch():
            while not stop.is_set():
                start = time.monotonic()
                status = daemon.request("GET", "/healthz")[0]
                delays.append(time.monotonic() - start)
                healthy.append((status, len(statuses)))
                time.sleep(0.005)

        watcher = threading.Thread(target=watch)
        clients = [threading.Thread(target=client, args=(i,)) for i in range(CLIENTS)]
        watcher.start()
        for c in clients:
            c.start()
        for c in clients:
            c.join()
        stop.set()
        watcher.join()
    unexpected = [s for s in statuses if s[0] not in (200, 429, 503)]
    checks.check(len(statuses) == CLIENTS and not unexpected, f"{CLIENTS} at once: {len(statuses)} answered; {unexpected[:3]}")
    checks.check(sum(s[0] == 200 for s in statuses) >= CLIENTS / 2, f"{CLIENTS} at once: {[s[0] for s in statuses]}")
    checks.check(all(status == 200 for status, _ in healthy), f"/healthz meanwhile: {[status for status, _ in healthy]}")
    checks.check(sum(answered < CLIENTS for _, answered in healthy) > 5, "/healthz answers before the questions do")
    delays.sort()
    print(f"/healthz meanwhile: median {delays[len(delays) // 2]:.3f} s, at most {delays[-1]:.3f} s")


@contextlib.contextmanager
def leaving(daemon, path, body):
    """a client that has asked, and leaves at the end of the block"""
    host, port = daemon.base.removeprefix("http://").rsplit(":", 1)
    with socket.create_connection((host, int(port)), timeout=60) as s:
        data = json.dumps(body).encode()
        s.sendall(b"POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (path.encode(), len(data), data))
        yield s


def clients_that_leave(checks, folder):
    """nobody computes for somebody who is gone"""
    with Daemon(folder / "store-leave", [folder], ["--query-timeout", "3600"]) as daemon:
        identity = daemon.ingest(folder / "trace")["id"]
        wait_until(lambda: daemon.idle(30), what="what is made after an ingest is made")
        path = f"/api/v1/traces/{identity}/query"
        with leaving(daemon, path, {"filter": ENDLESS, "aggregate": {"n": "count()"}}):
            wait_until(lambda: daemon.metric("strata_questions_running") == 1, what="the query begins")
            checks.check(not daemon.idle(), "the query that is left is worked on")
        wait_until(daemon.idle, what="nobody computes after the client left")
        checks.equal(daemon.metric("strata_questions_running"), 0, "questions that run after the client left")
        held = resident(daemon)
        for i in range(30):
            with leaving(daemon, path + "?format=csv", {"columns": ["func_name", "ts", "dur", "file_name", {f"c{i}": "proc_name"}]}) as s:
                s.recv(100000, socket.MSG_WAITALL)
            with leaving(daemon, f"{path}?{urllib.parse.urlencode({'format': 'ndjson'})}", {}) as s:
                s.recv(10)
        wait_until(lambda: not [job for job in daemon.get("/api/v1/jobs")["jobs"] if job["state"] == "running"], what="streams whose clients left have ended")
        wait_until(daemon.idle, what="nobody writes to clients that left")
        checks.check(resident(daemon) - held < 200 << 20, f"memory after 60 streams that were left: {held} to {resident(daemon)} bytes")
        checks.equal(ask(daemon, identity, {"aggregate": {"n": "count()"}})[0], 200, "a query after all that left")


LONG = {  # kind of the job: request
    "query": ("POST", "query", {"filter": ENDLESS, "aggregate": {"n": "count()"}}),
    "overlap": ("POST", "overlap", {"sets": {"a": ENDLESS, "b": "true"}}),
    "overlap_intervals": ("POST", "overlap/intervals", {"sets": {"a": ENDLESS, "b": "true"}, "where": "a and b"}),
    "flat": ("GET", f"views/flat?{urllib.parse.urlencode({'filter': ENDLESS})}", None),
    "hlm": ("GET", f"hlm?{urllib.parse.urlencode({'filter': ENDLESS, 'views': 'time_range,proc_name,file_name'})}", None),
    "timeseries": ("GET", f"timeseries?{urllib.parse.urlencode({'filter': ENDLESS, 'granularity': 0.01})}", None),
}


def cancelled_jobs(checks, folder):
    """a long question of any kind is a job; who deletes it ends it, soon, and its client is told"""
    with Daemon(folder / "store-cancel", [folder], ["--request-header", "64KiB", "--query-timeout", "3600"]) as daemon:
        identity = daemon.ingest(folder / "trace")["id"]
        wait_until(lambda: daemon.idle(30), what="what is made after an ingest is made")
        for kind, (method, path, body) in LONG.items():
            answers = []
            client = threading.Thread(target=lambda: answers.append(daemon.request(method, f"/api/v1/traces/{identity}/{path}", body)))
            client.start()
            running = []
            while not running and client.is_alive():
                running = [job for job in daemon.get("/api/v1/jobs")["jobs"] if job["state"] == "running" and job["trace"] == identity]
                time.sleep(0.01)
            if not running:
                checks.check(False, f"{kind}: no job, but {answers[0][0]} {answers[0][2][:200]!r}")
                continue
            checks.check(daemon.request("DELETE", f"/api/v1/jobs/{running[0]['id']}")[0] in (200, 202, 204), f"{kind}: deleting its job")
            checks.equal(daemon.wait(running[0])["state"], "cancelled", f"{kind}: state of its job")
            client.join()
            checks.check(answers[0][0] == 503 and b"ended" in answers[0][2], f"{kind}: its client: {answers[0][0]} {answers[0][2][:200]!r}")
            wait_until(daemon.idle, what=f"{kind}: nobody computes on")


def run(checks, folder):
    folder.mkdir()
    generate(folder / "trace", events=EVENTS, ranks=4, seed=6)
    checks.attempt("little memory", same_with_little_memory, folder)
    checks.attempt("texts and bins without end", no_end_of_texts, folder)
    checks.attempt("a hundred at once", many_at_once, folder)
    checks.attempt("clients that leave", clients_that_leave, folder)
    checks.attempt("jobs that are deleted", cancelled_jobs, folder)
