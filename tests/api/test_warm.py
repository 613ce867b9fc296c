"""After a start, the columns that queries read before it are decoded before anyone asks, as far as there is space."""
import shutil

from harness import generate, wait_until

QUERIES = (
    {"filter": "size > 1048576 and dur < 5000", "aggregate": {"n": "count()", "size": "sum(size)"}},
    {"filter": 'cat == "posix"', "aggregate": {"n": "count()", "time": "sum(time)"}},
    {"filter": "args.ret == 131072", "aggregate": {"n": "count()"}},
    {"group_by": ["cat", "func_name"], "aggregate": {"n": "count()"}},
)
EVENTS = 100_000
DECODED, BYTES = "strata_columns_decoded_total", "strata_columns_warmed_bytes_total"


def query(server, trace, request):
    status, _, answer = server.ask(f"/api/v1/traces/{trace}/query", "POST", request, {"Content-Type": "application/json"})
    assert status == 200, answer
    return answer["data"]


def ingested(scene, settings=None):
    """a daemon that has computed all of what it does by itself after an ingest, and its trace"""
    root = scene.new("root")
    generate(root / "trace", events=EVENTS, output_files=2, seed=3)
    server = scene.server([root], settings={"compaction": "off", **(settings or {})})
    trace = server.ingest(root / "trace")["id"]
    wait_until(lambda: server.idle(30), what="rest")
    return server, trace


def warmed(server):
    """how many column chunks, once the job has ended; it is in the list until the next one comes"""
    wait_until(lambda: any((job["kind"], job["state"]) == ("warm", "done") for job in server.get("/api/v1/jobs")["jobs"]), what="warming ends")
    return server.metric("strata_columns_warmed_total")


def restart(server):
    """the same, after a start"""
    server.stop()
    server.start()
    return warmed(server)


def test_what_was_read_is_there_after_a_start(scene):
    server, trace = ingested(scene)
    answers = [query(server, trace, request) for request in QUERIES]
    count = restart(server)
    assert count > 0 and 0 < server.metric(BYTES) <= server.metric("strata_columns_bytes")
    assert server.metric(DECODED) == 0
    assert [query(server, trace, request) for request in QUERIES] == answers
    assert server.metric(DECODED) == 0, "the first queries found what they need"
    assert restart(server) == count, "what the run before warmed and read is remembered"
    assert restart(server) == count, "so is what it did not read"


def test_a_store_that_knows_nothing_warms_the_usual_columns(scene):
    server, trace = ingested(scene)
    server.stop()
    shutil.rmtree(server.folder / "store/kept")
    server.start()
    groups = -(-EVENTS // 16384)
    assert 5 * groups <= warmed(server) <= 10 * groups
    query(server, trace, QUERIES[3])
    assert server.metric(DECODED) == 0


def test_off_warms_and_remembers_nothing(scene):
    server, trace = ingested(scene, {"warm": "off"})
    query(server, trace, QUERIES[0])
    server.stop()
    server.start()
    wait_until(lambda: server.idle(30), what="rest")
    assert server.metric("strata_columns_warmed_total") == 0 and not any(job["kind"] == "warm" for job in server.get("/api/v1/jobs")["jobs"])
    assert not (server.folder / "store/kept").exists() or not list((server.folder / "store/kept").iterdir())
    query(server, trace, QUERIES[0])
    assert server.metric(DECODED) > 0


def test_a_trace_that_was_removed_is_left_out(scene):
    server, trace = ingested(scene)
    query(server, trace, QUERIES[0])
    assert restart(server) > 0
    server.kill()  # before it is noted that the trace has gone
    saved = {path: path.read_bytes() for path in (server.folder / "store/kept").iterdir()}
    server.start()
    server.call("DELETE", f"/api/v1/traces/{trace}")
    server.stop()
    for path, content in saved.items():
        path.write_bytes(content)
    server.start()
    assert warmed(server) == 0
    assert '"level":"error"' not in server.log()


def test_a_small_budget_is_kept_to(scene):
    server, trace = ingested(scene, {"columns": 2 << 20})
    answers = [query(server, trace, request) for request in QUERIES]
    assert restart(server) > 0
    assert server.metric(BYTES) <= 2 << 20
    assert [query(server, trace, request) for request in QUERIES] == answers
    server.stop()
    (server.folder / "stratad.yaml").write_text('columns: 4096\n')
    server.start()
    assert warmed(server) == 0
    assert [query(server, trace, request) for request in QUERIES] == answers


def test_a_damaged_list_costs_nothing_but_time(scene):
    server, trace = ingested(scene)
    answers = [query(server, trace, request) for request in QUERIES]
    server.stop()
    for path in (server.folder / "store/kept").iterdir():
        content = bytearray(path.read_bytes())
        content[-1] ^= 1
        path.write_bytes(content)
    server.start()
    assert warmed(server) > 0, "the usual columns"
    assert [query(server, trace, request) for request in QUERIES] == answers
    restart(server)
    assert [query(server, trace, request) for request in QUERIES] == answers
    assert server.metric(DECODED) == 0


def test_damage_that_it_finds_is_read_again(scene):
    server, trace = ingested(scene)
    answers = [query(server, trace, request) for request in QUERIES]
    server.stop()
    segment = max((server.folder / "store/traces" / trace).glob("*.segment"), key=lambda p: p.stat().st_size)
    content = bytearray(segment.read_bytes())
    for at in range(200, len(content) // 2, 1000):  # of payloads: the directory says nothing of it
        content[at] ^= 1
    segment.write_bytes(content)
    server.start()
    wait_until(lambda: any((job["kind"], job["state"]) == ("ingest", "done") for job in server.get("/api/v1/jobs")["jobs"]), what="the rebuild, though nobody asked")
    assert [query(server, trace, request) for request in QUERIES] == answers


def test_queries_do_not_wait_for_it(scene):
    """whatever it has reached when a query comes, the answer is the same, and the rest comes later"""
    server, trace = ingested(scene)
    answers = [query(server, trace, request) for request in QUERIES]
    for request, answer in zip(QUERIES, answers):
        server.stop()
        server.start()
        assert query(server, trace, request) == answer
    warmed(server)
    decoded = server.metric(DECODED)
    assert [query(server, trace, request) for request in QUERIES] == answers
    assert server.metric(DECODED) == decoded


def test_a_kill_leaves_what_was_remembered_before(scene):
    server, trace = ingested(scene)
    query(server, trace, QUERIES[0])
    count = restart(server)
    server.kill()
    server.start()
    assert warmed(server) == count


def test_the_ingest_of_a_large_trace_ends_with_its_first_page(scene):
    """what counts as large is a setting"""
    root = scene.new("root")
    generate(root / "trace", events=EVENTS, output_files=2, seed=3)
    server = scene.server([root], settings={"compaction": "off", "first_page_events": "1"})
    trace = server.ingest(root / "trace")["id"]
    computed = server.metric("strata_cache_misses_total")
    for call in ("summary", "report"):
        assert server.ask(f"/api/v1/traces/{trace}/{call}")[0] == 200
    assert server.metric("strata_cache_misses_total") == computed, "both were there when the job ended"
