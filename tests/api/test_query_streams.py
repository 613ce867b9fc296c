"""Long answers and long questions: streamed whole or cut, never held; seen as jobs; ended by who asked."""
import csv
import gzip
import io
import json
import threading
import time
import urllib.request

from harness import ENDLESS, wait_until, write_large

EVENTS = 400_000


def large(scene, settings=None):
    root = scene.new("root")
    server = scene.server([root], {"compaction": "off", **(settings or {})})  # a compacted trace has no use for an earlier cursor
    server.path = f"/api/v1/traces/{server.ingest(write_large(root / 'large', EVENTS))['id']}"
    return server


def resident(server):
    """megabytes"""
    with open(f"/proc/{server.process.pid}/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS")) // 1024


def jobs(server, kind):
    return [job for job in server.get("/api/v1/jobs")["jobs"] if job["kind"] == kind]


def test_a_long_answer_comes_whole_in_every_form(scene):
    server = large(scene)
    status, head, text = server.request("GET", server.path + "/events?format=csv&columns=ts,pid,size")
    assert status == 200 and head["Transfer-Encoding"] == "chunked" and head["Content-Type"].startswith("text/csv")
    rows = list(csv.reader(io.StringIO(text.decode(), newline="")))
    assert rows[0] == ["ts", "pid", "size"] and len(rows) == EVENTS + 1
    stamps = [int(row[0]) for row in rows[1:]]
    assert stamps == sorted(stamps)
    status, packed_head, packed = server.request("GET", server.path + "/events?format=csv&columns=ts,pid,size", headers={"Accept-Encoding": "gzip"})
    assert packed_head["Content-Encoding"] == "gzip" and gzip.decompress(packed) == text and len(packed) < len(text) / 2
    for tag in (head["ETag"], packed_head["ETag"]):
        assert server.ask(server.path + "/events?format=csv&columns=ts,pid,size", headers={"If-None-Match": tag})[0] == 304
    lines = server.ask(server.path + "/events?format=ndjson&columns=ts,pid,size")[2].splitlines()
    assert len(lines) == EVENTS and [json.loads(line)["ts"] for line in lines[:1000]] == stamps[:1000]
    value = server.get(server.path + "/events?limit=100000&columns=ts")
    assert len(value["data"]) == 100_000 and value["row_count"] == EVENTS and [row[0] for row in value["data"]] == stamps[:100_000]
    rest = server.get(server.path + "/events?limit=3&columns=ts&cursor=" + value["next"])
    assert [row[0] for row in rest["data"]] == stamps[100_000:100_003]


def open_slowly(server, path):
    """a client that has begun to read and goes no further"""
    s = server.connect()
    s.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
    return s, s.recv(1000)[:12]


def test_slow_clients_hold_neither_threads_nor_memory(scene):
    server = large(scene, {"running_queries": 2, "query_memory": "64MiB", "request_timeout": 600})  # they are not to be cut off meanwhile
    server.get(server.path + "/events?limit=1")
    before = resident(server)
    slow = [open_slowly(server, server.path + "/events?format=csv") for _ in range(12)]
    assert {answer for _, answer in slow} == {b"HTTP/1.1 200"}
    time.sleep(1.2)
    assert server.ask("/healthz")[0] == 200 and server.get(server.path + "/query?group_by=pid&aggregate=n:count()")["row_count"] == 4
    assert len(server.ask(server.path + "/events?format=csv&columns=pid")[2].splitlines()) == EVENTS + 1
    assert resident(server) - before < 600, resident(server) - before
    running = [job for job in jobs(server, "events") if job["state"] == "running"]
    assert len(running) == 12 and all(0 <= job["events"] < EVENTS for job in running)
    for s, _ in slow:
        s.close()
    wait_until(lambda: not [job for job in jobs(server, "events") if job["state"] == "running"], 60, "the clients have gone")


def test_more_streams_than_may_be_are_503(scene):
    server = large(scene, {"running_queries": 1})
    path = server.path + "/events?format=csv"
    slow = [open_slowly(server, path) for _ in range(8)]
    problem = server.problem(path, 503)
    assert "running_queries" in problem["detail"]
    assert server.ask(server.path + "/events?limit=10&format=csv")[0] == 200, "what is short is no stream"
    for s, _ in slow:
        s.close()
    wait_until(lambda: server.ask(path)[0] == 200, 60, "there is space again")


# Takes many seconds: for each event a long text of its own, replaced again and again.
LONG = {"derive": {"a": "replace(str(ts) + '/' + str(pid), '.', 'abcdefghi\\g<0>')", "b": "replace(a, '.', '\\g<0>0123456789')", "c": "replace(b, '[a-j]', 'xy')"},
        "filter": "c.str.count('xy') + c.str.count('y0') + c.str.count('[0-9]x') == 1", "aggregate": {"n": "count()"}}


def test_a_long_question_is_a_job_that_can_be_cancelled(scene):
    server = large(scene)
    answers = []
    asking = threading.Thread(target=lambda: answers.append(server.ask(server.path + "/query", "POST", LONG)))
    asking.start()
    wait_until(lambda: jobs(server, "query"), 60, "the question is a job")
    job = jobs(server, "query")[0]
    assert job["state"] == "running" and job["trace"] == server.path.rsplit("/", 1)[1]
    wait_until(lambda: 0 < server.get(f"/api/v1/jobs/{job['id']}")["progress"] < 1, 60, "the job tells how far it is")
    assert server.ask(f"/api/v1/jobs/{job['id']}", "DELETE")[0] == 202
    asking.join()
    assert answers[0][0] == 503 and "ended before" in answers[0][2]["detail"]
    ended = server.get(f"/api/v1/jobs/{job['id']}")
    assert ended["state"] == "cancelled" and ended["progress"] < 1
    wait_until(server.idle, 60, "nobody works on it any more")


def test_a_client_that_leaves_ends_its_question(scene):
    server = large(scene)
    for path in ("/query", "/query?format=csv"):
        body = json.dumps({"filter": ENDLESS})
        with server.connect() as s:
            s.sendall(f"POST {server.path}{path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode())
            wait_until(lambda: any(job["state"] == "running" for job in jobs(server, "query")), 60, "the question is a job")
        wait_until(lambda: all(job["state"] == "cancelled" for job in jobs(server, "query")), 60, "it ends")
        wait_until(server.idle, 60, "nobody works on it any more")


def test_a_question_that_takes_too_long_says_which_limit(scene):
    server = large(scene, {"query_timeout": 1})
    problem = server.problem(server.path + "/query", 503, "POST", {"filter": ENDLESS, "aggregate": {"n": "count()"}})
    assert "query_timeout" in problem["detail"]


def test_a_stop_lets_streams_end(scene):
    server = large(scene)
    with urllib.request.urlopen(server.base + server.path + "/events?format=csv") as stream:
        wait_until(lambda: jobs(server, "events"), what="a download that waits for its reader")
        stopping = threading.Thread(target=server.stop)
        stopping.start()
        wait_until(lambda: '"Stopping"' in server.log(), what="that the daemon stops")
        assert len(stream.read().splitlines()) == EVENTS + 1
    stopping.join()
