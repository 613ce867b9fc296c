"""Store files that are damaged: no number that lacks events, unless it is asked for; and what is read again."""
import csv
import io

from harness import wait_until, write_large

EVENTS = 200_000
QUESTIONS = ["/summary", "/timeseries", "/views/flat", "/views/layer?by=process", "/hlm", "/events?limit=5", "/query?group_by=func_name&aggregate=n:count()",
             "/report", "/overlap?set=io:cat==%22posix%22", "/columns", "/summary?format=csv"]


def ingested(scene):
    """a daemon, its trace of several segments, and where the sources are"""
    root = scene.new("root")
    server = scene.server([root], settings={"warm": "off"})  # so that the queries here are the first to read what is damaged
    sources = write_large(root / "a", EVENTS, 2)
    trace = server.ingest(sources)
    return server, trace, sources


def flip(server, trace, offset):
    """changes a byte of the largest segment; the events in all of them"""
    segment = max((server.folder / "store/traces" / trace["id"]).glob("*.segment"), key=lambda p: (p.stat().st_size, p.name))
    content = bytearray(segment.read_bytes())
    content[offset] ^= 1
    segment.write_bytes(content)
    return segment


def count(server, path, query=""):
    answer = server.get(f"{path}/query?aggregate=n:count(){query}")
    return answer["data"][0][0]


def test_a_trace_that_lacks_events_is_answered_for_only_if_that_is_asked_for(scene):
    server, trace, sources = ingested(scene)
    path = "/api/v1/traces/" + trace["id"]
    server.get(path + "/summary")
    server.stop()
    flip(server, trace, -1)
    hidden = sources.rename(sources.with_name("hidden"))  # so that nothing can be read again
    server.start()
    wait_until(lambda: server.get(path)["state"] == "failed", what="the rebuild that finds no sources")
    assert server.get(path)["problems"] >= 1
    for question in QUESTIONS:
        problem = server.problem(path + question, 409)
        assert "lacks" in problem["detail"] and f"of {EVENTS} events" in problem["detail"], (question, problem)
    for question in QUESTIONS:
        status, head, _ = server.request("GET", path + question + ("&" if "?" in question else "?") + "partial=true")
        assert status == 200 and head["Strata-Missing"].startswith("segments=1, events="), (question, status, head)
    missing = int(head["Strata-Missing"].rpartition("=")[2])
    assert 0 < missing < EVENTS and count(server, path, "&partial=true") == EVENTS - missing
    rows = csv.DictReader(io.StringIO(server.request("GET", path + "/events?format=csv&columns=ts&partial=true")[2].decode()))
    assert sum(1 for _ in rows) == EVENTS - missing
    hidden.rename(sources)
    server.wait(server.call("POST", path + "/refresh")["job"])
    assert count(server, path) == EVENTS and "Strata-Missing" not in server.request("GET", path + "/summary?partial=true")[1]


def test_damage_found_while_reading_is_mended_from_the_sources(scene):
    server, trace, _ = ingested(scene)
    path = "/api/v1/traces/" + trace["id"]
    expected = server.get(path + "/query?group_by=pid&aggregate=n:count()&aggregate=s:sum(size)")["data"]
    server.stop()
    flip(server, trace, 200)  # in a payload: the directory says nothing of it
    server.start()
    asked = [server.ask(path + f"/query?group_by={by}&aggregate=n:count()&aggregate=s:sum(size)") for by in ("pid", "func_name,tid,cat", "step")]
    assert all(status in (200, 409) for status, _, _ in asked) and any(status == 409 for status, _, _ in asked), [a[0] for a in asked]
    wait_until(lambda: server.get(path)["job"] is None and server.get(path)["state"] == "ready", what="the rebuild")
    assert server.get(path + "/query?group_by=pid&aggregate=n:count()&aggregate=s:sum(size)")["data"] == expected
    jobs = [job for job in server.get("/api/v1/jobs")["jobs"] if "damaged" in (job.get("note") or "")]
    assert len(jobs) == 1, jobs


def test_a_segment_that_is_cut_while_it_is_open_is_damaged(scene):
    server, trace, _ = ingested(scene)
    path = "/api/v1/traces/" + trace["id"]
    asked = "/query?group_by=pid&aggregate=n:count()"
    assert sum(n for _, n in server.get(path + asked)["data"]) == EVENTS
    server.stop()
    server.start()
    assert server.get(path)["state"] == "ready"
    server.get(path + "/query?aggregate=n:count()")  # opens it, and reads no more than it must
    segment = max((server.folder / "store/traces" / trace["id"]).glob("*.segment"), key=lambda p: p.stat().st_size)
    with open(segment, "r+b") as file:
        file.truncate(100)
    assert server.ask(path + asked)[0] == 409
    wait_until(lambda: server.get(path)["job"] is None and server.get(path)["state"] == "ready", what="the rebuild")
    assert sum(n for _, n in server.get(path + asked)["data"]) == EVENTS
