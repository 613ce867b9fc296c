"""Jobs: progress, server-sent events, cancel."""
import http.client
import json
import os
import shutil

from harness import generate, wait_until, write_large


def events_of(server, job, limit=300):
    """the events of a job's stream until it ends: [(name, value)]"""
    connection = http.client.HTTPConnection(*server.address, timeout=limit)
    connection.request("GET", f"/api/v1/jobs/{job}/events", headers={"Accept": "text/event-stream"})
    answer = connection.getresponse()
    assert answer.status == 200 and answer.getheader("Content-Type") == "text/event-stream" and answer.getheader("Cache-Control") == "no-store"
    text = answer.read().decode()
    connection.close()
    found = []
    for block in text.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.splitlines() if not line.startswith(":"))
        if fields:
            found.append((fields["event"], json.loads(fields["data"])))
    return found


def test_events_follow_a_job_to_its_end(scene):
    root = scene.new("root")
    server = scene.server([root])
    _, job = server.register(write_large(root / "large", 200_000))
    events = events_of(server, job["id"])
    assert {name for name, _ in events} == {"progress"}
    values = [value for _, value in events]
    assert values[-1]["state"] == "done" and values[-1]["progress"] == 1 and values[-1]["events"] == 200_000
    assert all(a["progress"] <= b["progress"] for a, b in zip(values, values[1:])), [v["progress"] for v in values]
    assert all(v["bytes"] <= v["total_bytes"] for v in values)
    assert values[-1]["error"] is None and values[-1]["finished"] >= values[-1]["started"]
    again = events_of(server, job["id"])
    assert len(again) == 1 and again[0][1]["state"] == "done"


def test_many_may_follow_and_leave(scene):
    root = scene.new("root")
    server = scene.server([root])
    _, job = server.register(write_large(root / "large", 200_000))
    sockets = [server.connect() for _ in range(30)]
    for s in sockets:
        s.sendall(f"GET /api/v1/jobs/{job['id']}/events HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
    for s in sockets[:15]:
        s.recv(10)
        s.close()
    assert server.wait(job)["state"] == "done"
    for s in sockets[15:]:
        answer = b""
        while not answer.endswith(b"0\r\n\r\n"):
            chunk = s.recv(65536)
            assert chunk
            answer += chunk
        assert b'"state":"done"' in answer
        s.close()


def test_head_of_events_has_no_body(scene):
    job = scene.shared.get("/api/v1/jobs")["jobs"][0]["id"]
    status, head, body = scene.shared.ask(f"/api/v1/jobs/{job}/events", "HEAD")
    assert status == 200 and head["Content-Type"] == "text/event-stream" and body == b""


def test_unknown_jobs_are_404(scene):
    for method, path in [("GET", ""), ("DELETE", ""), ("GET", "/events")]:
        scene.shared.problem("/api/v1/jobs/ffffffffffffffff" + path, 404, method)


def test_cancel_stops_an_ingest_and_leaves_nothing_half_read(scene):
    root = scene.new("root")
    server = scene.server([root])
    totals = generate(root / "large", events=1_000_000, gzip="one", level=1, output_files=4)
    trace, job = server.register(root / "large")
    wait_until(lambda: server.get(f"/api/v1/jobs/{job['id']}")["state"] != "queued", what="start")
    status, _, value = server.ask(f"/api/v1/jobs/{job['id']}", "DELETE")
    assert status == 202 and value["id"] == job["id"]
    assert server.wait(job)["state"] == "cancelled"
    assert server.get(f"/api/v1/traces/{trace['id']}")["events"] is None
    _, again = server.register(root / "large")
    assert server.wait(again)["state"] == "done"
    assert server.get(f"/api/v1/traces/{trace['id']}")["events"] == totals["events"]


def test_cancel_of_an_ended_job_changes_nothing(scene):
    job = next(j for j in scene.shared.get("/api/v1/jobs")["jobs"] if j["state"] == "done")
    status, _, value = scene.shared.ask(f"/api/v1/jobs/{job['id']}", "DELETE")
    assert status == 202 and value["state"] == "done"


def test_a_view_of_a_trace_in_its_first_ingest_says_try_again(scene):
    root = scene.new("root")
    server = scene.server([root])
    generate(root / "large", events=1_000_000, gzip="one", level=1, output_files=4)
    trace, job = server.register(root / "large")
    status, head, value = server.ask(f"/api/v1/traces/{trace['id']}/summary")
    assert server.get(f"/api/v1/jobs/{job['id']}")["state"] in ("queued", "running"), "a million events are read in no time"
    assert status == 503 and head["Retry-After"] and "ingest" in value["detail"], value
    assert server.wait(job)["state"] == "done"
    assert server.ask(f"/api/v1/traces/{trace['id']}/summary")[0] == 200


def test_jobs_wait_their_turn_and_others_are_served_meanwhile(scene):
    root = scene.new("root")
    server = scene.server([root], {"running_jobs": 1})
    jobs = [server.register(write_large(root / f"large-{i}", 200_000, files=1))[1] for i in range(4)]
    states = [server.get(f"/api/v1/jobs/{j['id']}")["state"] for j in jobs]
    assert states.count("running") <= 2 and "queued" in states, "one runs, and one may be in the slot for small ones"
    assert server.ask("/healthz")[0] == 200
    assert server.get(f"/api/v1/jobs/{jobs[-1]['id']}")["state"] != "done", "/healthz waited for the jobs"
    assert [server.wait(j)["state"] for j in jobs] == ["done"] * 4


def test_a_full_queue_of_jobs_is_503(scene):
    root = scene.new("root")
    server = scene.server([root], {"running_jobs": 1, "queued_jobs": 1})
    write_large(root / "0", 200_000)
    for i in range(1, 6):  # none of them is done when the last one comes
        shutil.copytree(root / "0", root / str(i), copy_function=os.link)
    paths = [root / str(i) for i in range(6)]
    answers = [server.ask("/api/v1/traces", "POST", {"path": str(p)}) for p in paths]
    refused = [a for a in answers if a[0] != 202]
    assert refused and all(status == 503 and head["Retry-After"] for status, head, _ in refused), [a[0] for a in answers]
    for status, _, value in answers:
        if status == 202:
            assert server.wait(value["job"])["state"] == "done"
    traces = server.get("/api/v1/traces")["traces"]
    assert len(traces) == len(answers) - len(refused), "a refused registration leaves no trace"
