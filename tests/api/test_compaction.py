"""Compaction: the same answers from fewer segments; it gives way, can be cancelled, and questions on the old version go on."""
import shutil

from daemon import SHARED, generate, wait_until
from test_store_format import same

CALLS = (
    "summary", "summary?semantics=compatible", "hlm?layer=reader_posix_lustre", "views/flat?by=process", "timeseries?layer=reader_posix_lustre&metrics=bw,ops",
    "events?limit=1000", "events?limit=300&sort=-dur&columns=ts,dur,func_name,pid,file_name", "columns", "report", "overlap", "timeline/lanes", "findings",
    "timeline/events?width=700", "timeline/density?width=300", "query?group_by=func_name,pid&aggregate=n:count()&aggregate=sum:sum(time)&aggregate=p50:quantile(dur,0.5)",
    "query?group_by=cat&aggregate=a:first(func_name)&aggregate=b:last(ts)",
)  # fmt: skip


def compact(server, trace):
    """the job's end"""
    return server.wait(server.call("POST", f"/api/v1/traces/{trace['id']}/compact")["job"])


def segments(server, trace):
    return len(list((server.folder / "store/traces" / trace["id"]).glob("*.segment")))


def segment_bytes(server, trace):
    return sum(path.stat().st_size for path in (server.folder / "store/traces" / trace["id"]).glob("*.segment"))


def answers(server, trace):
    """{call: its answer, but for the place of the next page, which is of one version}"""
    found = {}
    for call in CALLS:
        status, _, body = server.ask(f"/api/v1/traces/{trace['id']}/{call}")
        if isinstance(body, dict):
            body.pop("next", None)
        assert status == 200, (call, status, body)
        found[call] = body
    return found


def in_refreshes(server, root, count, events=20000):
    """a trace whose files came one after the other, so that it has many runs"""
    generate(root / "all", events=events, output_files=count, ranks=count, seed=21)
    (root / "trace").mkdir()
    trace = None
    for path in sorted((root / "all").iterdir()):
        shutil.copy(path, root / "trace")
        if trace is None:
            trace = server.ingest(root / "trace")
        else:
            job = server.call("POST", f"/api/v1/traces/{trace['id']}/refresh")
            assert server.wait(job.get("job", job))["state"] == "done"
    return server.get(f"/api/v1/traces/{trace['id']}")


def test_answers_stay_as_they_are(scene):
    root = scene.new("root")
    server = scene.server([root], settings={"compaction": "off"})
    before = in_refreshes(server, root, 12)
    assert segments(server, before) >= 12
    asked, size = answers(server, before), segment_bytes(server, before)
    headers = server.ask(f"/api/v1/traces/{before['id']}/summary")[1]
    job = compact(server, before)
    assert (job["kind"], job["state"], job["progress"]) == ("compact", "done", 1), job
    after = server.get(f"/api/v1/traces/{before['id']}")
    assert segments(server, before) == 1 and segment_bytes(server, before) < size
    again = answers(server, before)
    for call in CALLS:
        assert again[call] == asked[call], call
    differ = {name for name in before if before[name] != after[name]}
    assert differ <= {"version", "store_bytes", "answers"} and "version" in differ, differ
    status = server.ask(f"/api/v1/traces/{before['id']}/summary", headers={"If-None-Match": headers["etag"]})[0]
    assert status == 304, "what a client kept is still good"
    assert compact(server, before)["state"] == "done"
    assert server.get(f"/api/v1/traces/{before['id']}")["version"] == after["version"], "there was nothing left to merge"


def test_refreshes_go_on_after_it(scene):
    root = scene.new("root")
    server = scene.server([root], settings={"compaction": "off"})
    trace = in_refreshes(server, root, 6)
    compact(server, trace)
    (root / "trace" / sorted(p.name for p in (root / "trace").iterdir())[2]).unlink()
    generate(root / "more", events=5000, output_files=1, seed=5)
    for path in (root / "more").iterdir():
        shutil.copy(path, root / "trace" / ("more-" + path.name))
    server.wait(server.call("POST", f"/api/v1/traces/{trace['id']}/refresh")["job"])
    refreshed = answers(server, trace)
    shutil.copytree(root / "trace", root / "fresh/trace")
    fresh = answers(server, server.ingest(root / "fresh/trace"))
    for call in ("summary", "events?limit=1000", "columns", "overlap"):
        assert refreshed[call] == fresh[call], call
    compact(server, trace)
    assert answers(server, trace)["events?limit=1000"] == refreshed["events?limit=1000"]


def test_it_comes_by_itself_and_survives_a_restart(scene):
    root = scene.new("root")
    server = scene.server([root])
    trace = in_refreshes(server, root, 12)
    wait_until(lambda: segments(server, trace) < 8, what="compaction")
    wait_until(lambda: all(job["state"] != "running" for job in server.get("/api/v1/jobs")["jobs"]), what="its end")
    asked = answers(server, trace)
    kinds = {job["kind"] for job in server.get("/api/v1/jobs")["jobs"]}
    assert "compact" in kinds, kinds
    server.stop()
    server.start()
    again = answers(server, trace)
    for call in CALLS:
        assert again[call] == asked[call], (call, str(again[call])[:1500], str(asked[call])[:1500])


def test_a_trace_that_is_removed_takes_it_along(scene):
    root = scene.new("root")
    server = scene.server([root], settings={"compaction": "off"})
    trace = in_refreshes(server, root, 4)
    job = server.call("POST", f"/api/v1/traces/{trace['id']}/compact")["job"]
    server.call("DELETE", f"/api/v1/traces/{trace['id']}")
    assert server.wait(job)["state"] in ("done", "cancelled", "failed")
    server.problem(f"/api/v1/traces/{trace['id']}/compact", 404, "POST")


def test_the_second_reader_sees_the_same_events_after_it(scene):
    root = scene.new("root")
    given = [SHARED / "traces" / name for name in ("edge", "two-hosts", "unet3d-v100", "unet3d-plain-dialect") if SHARED.is_dir()]
    server = scene.server([root, SHARED / "traces"] if given else [root], settings={"compaction": "off"})
    trace = in_refreshes(server, root, 5)
    for sources in [root / "trace", *given]:
        trace = server.ingest(sources)
        before = server.get(f"/api/v1/traces/{trace['id']}/events?limit=500")
        compact(server, trace)
        same(server, sources)
        after = server.get(f"/api/v1/traces/{trace['id']}/events?limit=500")
        assert before["data"] == after["data"], sources


def test_copies_are_copies_whatever_is_stored_beside_them(scene):
    """an argument that is an integer here, and a text or a fraction for another event of the same rows, is stored otherwise there"""
    for name, other in (("text", '"x"'), ("fraction", "1.5"), ("truth", "true")):
        root = scene.new(name)
        event = '{"name":"read","cat":"POSIX","pid":%d,"tid":1,"ts":1000000000000005,"dur":7,"ph":"X","args":{"k":%s}}\n'
        file = root / "trace/a.pfw"
        file.parent.mkdir()
        file.write_text(event % (1, 1))
        server = scene.server([root], settings={"compaction": "off"})
        trace = server.ingest(file.parent)
        file.write_text(event % (1, 1) + event % (1, 1) + event % (2, other))
        job = server.call("POST", f"/api/v1/traces/{trace['id']}/refresh")
        assert server.wait(job.get("job", job))["state"] == "done"
        found = lambda: server.get(f"/api/v1/traces/{trace['id']}/findings?rule=repeated_events")["findings"][0]  # noqa: B023,E731
        before = found()
        assert before["value"] == 1 / 3, (name, before)
        assert compact(server, trace)["state"] == "done"
        assert found()["value"] == 1 / 3, name
