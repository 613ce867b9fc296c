"""Limits: past one a client is told so, and others are served on."""
import contextlib
import json
import socket
import threading
import time

from harness import event, wait_until, write_large, write_trace

GET = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n"


def test_a_large_body_is_413(scene):
    server = scene.server([], {"request_body": "4KiB"})
    for size in [5000, 100_000, 3_000_000]:
        problem = server.problem("/api/v1/traces", 413, "POST", b"x" * size)
        assert "4096" in problem["detail"] and "request_body" in problem["detail"]
    chunked = b"POST /api/v1/traces HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n" + b"1000\r\n" + b"x" * 4096 + b"\r\n"
    assert server.raw(chunked + b"1000\r\n" + b"x" * 4096 + b"\r\n0\r\n\r\n")[0] == 413
    expecting = b"POST /api/v1/traces HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9999999\r\nExpect: 100-continue\r\n\r\n"
    assert server.raw(expecting)[0] == 413
    assert server.problem("/api/v1/traces", 400, "POST", b"x" * 4000)


def test_a_large_header_is_431(scene):
    server = scene.server([], {"request_header": "4KiB"})
    for size in [5000, 20_000]:
        status, body = server.raw(GET + b"X-Long: " + b"a" * size + b"\r\nConnection: close\r\n\r\n")
        assert status == 431 and b"request_header" in body, (size, status)
    for size in [100_000, 1_000_000]:
        assert server.raw(GET + b"X-Long: " + b"a" * size + b"\r\nConnection: close\r\n\r\n")[0] in (431, 0)
        assert server.raw(b"GET /" + b"a" * size + b" HTTP/1.1\r\nHost: localhost\r\n\r\n")[0] in (414, 431, 0)
    assert server.ask("/healthz")[0] == 200


def trickle(server, request, pause, until):
    """sends a byte at a time; the seconds after which the server had enough"""
    start = time.monotonic()
    with server.connect() as s, contextlib.suppress(ConnectionError):
        s.settimeout(pause)
        for byte in request:
            s.send(bytes([byte]))
            with contextlib.suppress(TimeoutError):
                if not s.recv(100):
                    break
            assert time.monotonic() - start < until
    return time.monotonic() - start


def test_a_request_must_arrive_in_time(scene):
    server = scene.server([], {"request_timeout": 2})
    requests = [GET + b"X: " + b"a" * 500, b"POST /api/v1/traces HTTP/1.1\r\nHost: localhost\r\nContent-Length: 500\r\n\r\n" + b"x" * 400]
    took = []
    threads = [threading.Thread(target=lambda r=r: took.append(trickle(server, r, 0.05, 60))) for r in requests]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(took) == 2 and all(1.5 < t < 18 for t in took), took  # all of it would take more than 20 s
    with server.connect() as idle:
        idle.settimeout(30)
        assert idle.recv(10) == b"", "an idle connection is closed"


def test_two_hundred_slow_clients_stop_nobody(scene):
    server = scene.server([], {"request_timeout": 20})
    slow = []
    for _ in range(200):
        s = server.connect()
        s.sendall(GET + b"X-Slow: ")
        slow.append(s)
    worst = 0
    for _ in range(20):
        for s in slow:
            s.sendall(b"a")
        start = time.monotonic()
        assert server.ask("/healthz")[0] == 200
        worst = max(worst, time.monotonic() - start)
    for s in slow:
        s.close()
    assert worst < 0.5, worst


def test_connections_per_client_past_the_limit_are_429(scene):
    server = scene.server([], {"connections_per_client": 10})
    held = [server.connect() for _ in range(10)]
    for s in held:
        s.sendall(GET + b"\r\n")
        assert s.recv(10).startswith(b"HTTP/1.1 2")
    status, answer = server.raw(GET + b"\r\n")
    assert status == 429 and b"Retry-After: " in answer and b"application/problem+json" in answer and b"connections_per_client" in answer
    for s in held:
        s.sendall(GET + b"\r\n")
        assert s.recv(100), "those that are in are served on"
        s.close()
    wait_until(lambda: server.raw(GET + b"Connection: close\r\n\r\n")[0] == 200, what="space again")


def test_connections_past_the_limit_are_503(scene):
    server = scene.server([], {"connections": 10, "connections_per_client": 100})
    held = [server.connect() for _ in range(10)]
    for s in held:
        s.sendall(GET + b"\r\n")
        s.recv(10)
    status, answer = server.raw(GET + b"\r\n")
    assert status == 503 and b"Retry-After: " in answer and b"connections" in answer
    for s in held:
        s.close()
    wait_until(lambda: server.raw(GET + b"Connection: close\r\n\r\n")[0] == 200, what="space again")


def many(scene, settings=None, events=400_000):
    """a daemon with a trace whose summaries take a while"""
    root = scene.new("root")
    server = scene.server([root], settings)
    server.path = "/api/v1/traces/" + server.ingest(write_large(root / "large", events))["id"]
    wait_until(lambda: server.idle(30), what="the end of what is prepared after an ingest")
    return server


def metric(server, name):
    text = server.ask("/metrics")[2].decode()
    return next(float(line.split(" ")[1]) for line in text.splitlines() if line.startswith(name + " "))


def ask_at_once(server, paths):
    """the statuses of requests sent at the same time"""
    answers = [None] * len(paths)

    def ask(i):
        answers[i] = server.ask(paths[i])

    threads = [threading.Thread(target=ask, args=(i,)) for i in range(len(paths))]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    return answers


def test_one_computation_serves_all_who_ask_at_once(scene):
    server = many(scene)
    before = metric(server, "strata_cache_misses_total")
    answers = ask_at_once(server, [server.path + "/summary?filter=args.ret+%3E+17"] * 20)
    assert {a[0] for a in answers} == {200} and len({a[1]["ETag"] for a in answers}) == 1
    assert metric(server, "strata_cache_misses_total") == before + 1


def test_a_full_queue_of_questions_is_503(scene):
    server = many(scene, {"running_queries": 1, "queued_queries": 1})
    answers = ask_at_once(server, [server.path + f"/summary?filter=args.ret+%3E+{i}" for i in range(20)])
    statuses = [a[0] for a in answers]
    assert set(statuses) == {200, 503}, statuses
    for status, head, value in answers:
        if status == 503:
            assert head["Retry-After"] and "again" in value["detail"], value
    assert server.ask("/healthz")[0] == 200


def test_clients_that_leave_are_no_burden(scene):
    server = many(scene, {"running_queries": 1})
    for i in range(30):
        with server.connect() as s:
            s.sendall(f"GET {server.path}/summary?filter=args.ret+%3E+{i}.5 HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            time.sleep(0.005)
    wait_until(lambda: metric(server, "strata_questions_running") + metric(server, "strata_questions_waiting") == 0, what="quiet")
    assert server.ask(server.path + "/summary?filter=args.ret+%3E+3.25")[0] == 200


def test_answers_are_dropped_to_stay_within_the_cache(scene):
    root = scene.new("root")
    server = scene.server([root], {"cache": "1MiB"})
    path = "/api/v1/traces/" + server.ingest(write_trace(root / "a"))["id"]
    for i in range(300):
        status = server.ask(path + f"/timeseries?granularity=0.{i + 100}")[0]
        while status in (429, 503):  # on a busy machine closed connections are counted a little longer
            time.sleep(0.05)
            status = server.ask(path + f"/timeseries?granularity=0.{i + 100}")[0]
        assert status == 200
    held, dropped = metric(server, "strata_cache_bytes"), metric(server, "strata_cache_dropped_total")
    assert 0 < held <= 1 << 20 and dropped > 0, (held, dropped)


def test_rows_are_limited(scene):
    root = scene.new("root")
    server = scene.server([root], {"rows": 50})
    path = "/api/v1/traces/" + server.ingest(write_trace(root / "a"))["id"]
    assert server.ask(path + "/timeseries?granularity=1")[0] == 200
    problem = server.problem(path + "/timeseries?granularity=0.1", 422)
    assert "50" in problem["detail"] and problem["parameter"] == "/granularity"


# Takes many seconds: texts of each event, replaced again and again.
ENDLESS = {"derive": {"a": "replace(str(ts) + '/' + str(pid), '.', 'abcdefghi\\g<0>')", "b": "replace(a, '.', '\\g<0>0123456789')"},
           "filter": "replace(b, '[a-j]', 'xy').str.count('xy') == 1", "aggregate": {"n": "count()"}}


def test_a_question_past_its_time_is_503_and_says_which_setting(scene):
    server = many(scene, {"query_timeout": 1})
    status, head, value = server.ask(server.path + "/query", "POST", ENDLESS)
    assert status == 503 and head["Retry-After"] and "query_timeout" in value["detail"], value


def test_a_question_past_its_memory_is_422_and_says_which_setting(scene):
    server = many(scene, {"query_memory": "64KiB", "rows": 1000000})
    problem = server.problem(server.path + "/events?limit=400000", 422)
    assert "query_memory" in problem["detail"], problem


def test_stacks_of_deep_calls_are_refused_where_their_text_has_no_space(scene):
    depth, root = 3000, scene.new("root")
    write_trace(root / "deep", [event("f", "app", 10**15 + i, 2 * (depth - i)) for i in range(depth)])  # 9 MB of paths, and as much text
    server = scene.server([root], {"query_memory": "15MiB"})
    path = f"/api/v1/traces/{server.ingest(root / 'deep')['id']}/calltree?format="
    for form in ("folded", "speedscope"):
        assert "depth and min_share leave fewer" in server.problem(path + form, 422)["detail"]
        assert server.ask(path + form + "&depth=20")[0] == 200


def settled(server, name):
    """the figure once it does not change any more: what was refused is freed a little later"""
    seen = [metric(server, name)]

    def is_same():
        seen.append(metric(server, name))
        return len(seen) > 20 and len(set(seen[-20:])) == 1

    wait_until(is_same, what=f"{name} does not change")
    return seen[-1]


def test_bodies_of_requests_and_kept_answers_count_as_memory(scene):
    root = scene.new("root")
    server = scene.server([root], {"memory": "256MiB", "request_body": "64MiB"})
    trace = "/api/v1/traces/" + server.ingest(write_trace(root / "a"))["id"]
    wait_until(lambda: server.idle(30), what="what is made after an ingest is made")
    before = metric(server, "strata_memory_bytes")
    size = 20_000_000
    with server.connect() as s:
        s.sendall(f"POST {trace}/query HTTP/1.1\r\nHost: localhost\r\nContent-Length: {2 * size}\r\n\r\n".encode() + b"x" * size)
        wait_until(lambda: metric(server, "strata_memory_bytes") > before + size / 2, what="the body is counted")
    wait_until(lambda: metric(server, "strata_memory_bytes") <= before + 65536, what="the body is gone")
    connections = [server.connect() for _ in range(12)]
    for s in connections:
        s.sendall(f"POST {trace}/query HTTP/1.1\r\nHost: localhost\r\nContent-Length: {3 * size}\r\n\r\n".encode())
    refused = b""
    for s in connections:
        with contextlib.suppress(ConnectionError):
            s.sendall(b"x" * (2 * size))
            s.settimeout(0.2)
            with contextlib.suppress(TimeoutError):
                refused += s.recv(1000)
    assert b"HTTP/1.1 503" in refused and b"setting memory" in refused, refused[:300]
    for s in connections:
        s.close()
    wait_until(lambda: metric(server, "strata_memory_bytes") <= before + 65536, what="all bodies are gone")
    before = settled(server, "strata_memory_bytes")  # caches gave way to the bodies
    value = json.dumps(server.ask(trace + "/presets/preview")[2])
    assert metric(server, "strata_memory_bytes") > before + len(value)


def test_full_caches_give_way_to_a_body(scene):
    server = many(scene, {"compaction": "off"}, events=1_000_000)
    server.stop()
    # Columns are distributed by a hash: where they may take all memory, no share of it is full before the others.
    (server.folder / "stratad.yaml").write_text("memory: 14MiB\ncolumns: 1GiB\nrequest_body: 16MiB\ncompaction: off\n")
    server.start()
    body, held = 6_000_000, 0
    for column in ("ts", "te", "dur", "time_start", "time_end", "size", "tid", "func_name", "file_name"):  # each is read whole, and kept
        server.ask(f"{server.path}/events?limit=1&offset=1&filter=str({column})+==+'x'")
        held = max(held, metric(server, "strata_memory_bytes"))
    assert held + (8 << 20) > (14 << 20), held  # the buffer of the body is 8 MiB
    status, _, value = server.ask(server.path + "/query", "POST", {"filter": "x" * body})
    assert status in (400, 422), (status, str(value)[:300])


# ---- slow readers


def read_slowly(server, path, client="192.0.2.1", source="127.0.0.1"):
    """a connection, by a proxy for a client, whose answer has begun and is not read on"""
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    s.bind((source, 0))
    s.connect(server.address)
    s.settimeout(60)
    s.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: {client}\r\n\r\n".encode())
    return s, s.recv(1024)


def test_slow_readers_of_one_client_leave_space_for_others(scene):
    server = many(scene, {"running_queries": 1, "trusted_proxies": ["127.0.0.1"], "loopback": "anyone"})
    path = server.path + "/events?format=csv"
    held, begun = [], b"HTTP/1.1 200"
    while begun.startswith(b"HTTP/1.1 200"):
        s, begun = read_slowly(server, path)
        held.append(s)
        assert len(held) < 40
    assert begun.startswith(b"HTTP/1.1 503") and len(held) > 4
    s, begun = read_slowly(server, path, "192.0.2.2", "127.0.0.2")
    assert begun.startswith(b"HTTP/1.1 200"), "not trusted, and so another client than the one that the proxy names"
    held.append(s)
    for other in ("192.0.2.2", "192.0.2.3"):
        s, begun = read_slowly(server, path, other)
        assert begun.startswith(b"HTTP/1.1 200"), (other, begun)
        held.append(s)
    for s in held:
        s.close()
    wait_until(lambda: metric(server, "strata_streams_open") == 0, what="space again")


def test_who_reads_slower_than_the_least_rate_is_cut_off(scene):
    server = many(scene, {"request_timeout": 2, "send_rate": "10KiB"})
    for path in (server.path + "/events?format=csv", server.path + "/events?limit=60000"):
        idle, _ = read_slowly(server, path)
        slow, _ = read_slowly(server, path)
        fast, _ = read_slowly(server, path)
        slow.settimeout(0.1)
        end = time.monotonic() + 8
        read = 0
        while time.monotonic() < end:  # both take less, or enough
            with contextlib.suppress(TimeoutError, ConnectionError):
                slow.recv(100)
            got = fast.recv(20_000)
            read += len(got)
            time.sleep(0.1)
        assert read > 200_000
        for s, cut in ((idle, True), (slow, True), (fast, False)):
            s.settimeout(5)
            with contextlib.suppress(ConnectionError):
                while chunk := s.recv(1 << 20):
                    read += len(chunk)
                    if not cut:
                        break
                assert cut or chunk, "who reads fast enough is served on"
            s.close()
        wait_until(lambda: metric(server, "strata_http_connections") <= 1, what="the slow connections' end")
