"""What holds for every request: health, safety headers, HEAD, OPTIONS, unknown paths and methods, encodings of the path."""
import json
import time

from harness import ENDLESS, SMALL_EVENTS, wait_until, write_large, write_trace

SAFETY = {"X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer", "Cross-Origin-Resource-Policy": "same-origin",
          "Cross-Origin-Opener-Policy": "same-origin"}
POLICY = {"default-src": "'none'", "script-src": "'self'", "style-src": "'self'", "img-src": "'self' data:", "font-src": "'self'", "connect-src": "'self'",
          "manifest-src": "'self'", "base-uri": "'none'", "form-action": "'self'", "frame-ancestors": "'none'"}


def test_healthz(scene):
    status, head, value = scene.shared.ask("/healthz")
    assert (status, value) == (200, {"status": "ok"})
    assert head["Cache-Control"] == "no-store"


def test_version_says_what_it_can(scene):
    status, _, value = scene.shared.ask("/api/v1/version")
    assert status == 200 and value["name"] == "strata" and value["version"]
    operations = [o["operationId"] for item in scene.shared.get("/api/v1/openapi.json")["paths"].values() for o in item.values()]
    assert sorted(value["features"]) == sorted(operations) and len(operations) > 40
    assert value["semantics"] == ["exact", "compatible"]
    for semantics in value["semantics"]:
        assert scene.shared.get(scene.shared.path + "/summary?semantics=" + semantics)["semantics"] == semantics


def test_every_answer_carries_safety_headers(scene):
    job = scene.shared.get("/api/v1/jobs")["jobs"][0]["id"]
    tag = scene.shared.ask(scene.shared.path + "/summary")[1]["ETag"]
    for path, method, given in [("/healthz", "GET", {}), ("/api/v1/traces", "GET", {}), ("/nowhere", "GET", {}), ("/api/v1/traces", "PUT", {}), ("/api/v1/traces", "OPTIONS", {}),
                                ("/", "GET", {}), ("/metrics", "GET", {}), (scene.shared.path + "/events?format=csv", "GET", {}), (f"/api/v1/jobs/{job}/events", "GET", {}),
                                (scene.shared.path + "/summary", "GET", {"If-None-Match": tag}), ("/healthz", "GET", {"Host": "elsewhere"})]:
        _, head, _ = scene.shared.ask(path, method, headers=given)
        assert {name: head[name] for name in SAFETY} == SAFETY, f"{method} {path}"
        assert dict(part.strip().split(" ", 1) for part in head["Content-Security-Policy"].split(";")) == POLICY, f"{method} {path}"
        assert not head["Server"]


def test_answers_say_how_long_they_may_be_kept(scene):
    for path, caching in [("/healthz", "no-store"), ("/nowhere", "no-store"), ("/metrics", "no-store"), (scene.shared.path + "/summary", "private, no-cache"),
                          (scene.shared.path + "/events?format=csv", "private, no-cache"), (scene.shared.path + "/summary?format=xml", "no-store")]:
        _, head, _ = scene.shared.ask(path)
        assert head["Cache-Control"] == caching, (path, head["Cache-Control"])
        assert head["Vary"] == "Accept, Accept-Encoding, Origin" or caching == "no-store", (path, head["Vary"])


def test_head_is_get_without_a_body(scene):
    for path in ["/healthz", "/api/v1/traces", scene.shared.path, scene.shared.path + "/summary", "/api/v1/openapi.json"]:
        status, head, body = scene.shared.ask(path, "HEAD")
        got, got_head, _ = scene.shared.ask(path)
        assert (status, body) == (got, b"")
        for name in ["Content-Length", "Content-Type", "ETag"]:
            assert head[name] == got_head[name], f"{path}: {name}"


def test_options_lists_the_methods(scene):
    for path, methods in [("/api/v1/traces", "GET, HEAD, POST, OPTIONS"), ("/healthz", "GET, HEAD, OPTIONS"),
                          (scene.shared.path, "GET, HEAD, PATCH, DELETE, OPTIONS"), (scene.shared.path + "/refresh", "POST, OPTIONS")]:
        status, head, body = scene.shared.ask(path, "OPTIONS")
        assert (status, head["Allow"], body) == (204, methods, b""), (path, status, head["Allow"])


def test_unknown_paths_are_404_and_unknown_methods_405(scene):
    for path in ["/api/v1/nothing", "/api", "/api/v1/traces/", "/api/v2/traces", scene.shared.path + "/summary/more", "/nothing.js"]:
        scene.shared.problem(path, 404)
    for path, method, allow in [("/api/v1/traces", "DELETE", "GET, HEAD, POST, OPTIONS"), ("/healthz", "POST", "GET, HEAD, OPTIONS"),
                                (scene.shared.path + "/refresh", "GET", "POST, OPTIONS"), ("/healthz", "BREW", "GET, HEAD, OPTIONS")]:
        problem = scene.shared.problem(path, 405, method)
        assert allow in problem["detail"]
        assert scene.shared.ask(path, method)[1]["Allow"] == allow


def test_unknown_parameters_list_those_allowed(scene):
    problem = scene.shared.problem(scene.shared.path + "/summary?colour=red", 400)
    assert problem["parameter"] == "/colour" and "preset" in problem["detail"] and "filters" in problem["detail"]
    problem = scene.shared.problem("/api/v1/traces?limit=3", 400)
    assert problem["parameter"] == "/limit" and "none" in problem["detail"]


def test_what_is_not_text_is_refused(scene):
    for path in ["/api/v1/traces/%zz", "/api/v1/traces/%00", "/api/v1/traces/%FF"]:
        scene.shared.problem(path, 400)
    assert scene.shared.problem(scene.shared.path + "/summary?filter=%FF", 400)["parameter"] == "/filter"
    assert scene.shared.problem("/api/v1/presets/%64lio%20", 404)
    assert scene.shared.ask("/api/v1/presets/%64lio")[0] == 200


def test_paths_do_not_leave_the_dashboard(scene):
    for path in ["/../../etc/passwd", "/..%2f..%2fetc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "//etc/passwd", "/.git/config", "/traces/../../../etc/passwd%00"]:
        status, body = scene.shared.raw(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
        assert b"root:" not in body and (status in (200, 400, 404)), (path, status)
        if status == 200:
            assert b"<!doctype html" in body.lower(), path


def test_a_keep_alive_connection_serves_many(scene):
    with scene.shared.connect() as s:
        for i in range(50):
            s.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            answer = b""
            while not answer.endswith(b'{"status":"ok"}'):
                chunk = s.recv(4096)
                assert chunk, f"closed after {i}"
                answer += chunk


def test_pipelined_requests_are_answered_in_turn(scene):
    summary = scene.shared.path + "/summary"
    requests = "".join(f"GET {p} HTTP/1.1\r\nHost: localhost\r\n\r\n" for p in ["/healthz", summary, "/api/v1/version"])
    status, body = scene.shared.raw(requests.encode() + b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    assert status == 200 and body.count(b"HTTP/1.1 200") == 4, body[:300]


def test_what_is_not_http_does_no_harm(scene):
    for junk in [b"\x16\x03\x01\x02\x00\x01\x00", b"GET\r\n\r\n", b"\r\n" * 50 + b"x", b"GET / HTTP/9.9\r\n\r\n", b"\x00" * 100 + b"\r\n\r\n",
                 b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: -5\r\n\r\n",
                 b"POST /api/v1/traces HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"]:
        status, _ = scene.shared.raw(junk + b"\r\n\r\n", timeout=2)
        assert status == 0 or status >= 400, (junk, status)
    assert scene.shared.ask("/healthz")[0] == 200


def test_healthz_does_not_wait_for_questions(scene):
    root = scene.new("root")
    server = scene.server([root], {"workers": 1, "running_queries": 1})
    path = f"/api/v1/traces/{server.ingest(write_large(root / 'large'))['id']}/query"
    with server.connect() as first, server.connect() as second:  # one is worked on, one waits: they are not the same question
        for s, name in ((first, "n"), (second, "m")):
            asked = json.dumps({"filter": ENDLESS, "aggregate": {name: "count()"}}).encode()
            s.sendall(b"POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s" % (path.encode(), len(asked), asked))
        wait_until(lambda: server.metric("strata_questions_running") + server.metric("strata_questions_waiting") == 2, what="both questions")
        for _ in range(20):
            assert server.ask("/healthz")[0] == 200
        assert server.metric("strata_questions_running") == 1, "the question ended before /healthz did"


def test_metrics_count_requests(scene):
    server = scene.shared
    server.ask("/api/v1/presets/none-such")
    status, head, body = server.ask("/metrics")
    text = body.decode()
    assert status == 200 and head["Content-Type"].startswith("text/plain; version=0.0.4")
    assert 'strata_http_requests_total{route="preset",status="4xx"}' in text
    for name in ["strata_build_info{", "strata_cache_bytes ", "strata_jobs{", 'strata_traces{state="ready"} 1', "process_resident_memory_bytes ",
                 "strata_ingest_events_total ", 'strata_http_request_seconds_bucket{route="preset",le="+Inf"}']:
        assert name in text, name
    for line in text.splitlines():
        assert line.startswith("# ") or len(line.rsplit(" ", 1)) == 2 and float(line.rsplit(" ", 1)[1]) >= 0, line


def figures(server):
    """{name with labels: figure} of /metrics"""
    lines = server.ask("/metrics")[2].decode().splitlines()
    return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines if not line.startswith("#"))}


def test_metrics_are_the_numbers_of_what_happened(scene):
    root = scene.new("root")
    server = scene.server([root])
    folder = write_trace(root / "a")
    server.ingest(folder)
    starts = []
    for path, wanted in [("/api/v1/version", 200)] * 3 + [("/api/v1/version?x=1", 400)] * 2:
        starts.append(time.monotonic())
        assert server.ask(path)[0] == wanted
    wait_until(lambda: figures(server).get('strata_http_request_seconds_count{route="version"}') == 5, what="five requests counted")
    longest, found = sum(time.monotonic() - start for start in starts), figures(server)
    assert found["strata_ingest_events_total"] == SMALL_EVENTS
    assert found["strata_ingest_bytes_total"] == (folder / "rank-0.pfw").stat().st_size
    classes = {name: found.get(f'strata_http_requests_total{{route="version",status="{name}"}}') for name in ("gone", "1xx", "2xx", "3xx", "4xx", "5xx")}
    assert classes == {"gone": None, "1xx": None, "2xx": 3, "3xx": None, "4xx": 2, "5xx": None}
    buckets = [value for name, value in found.items() if name.startswith('strata_http_request_seconds_bucket{route="version"')]
    assert buckets == sorted(buckets) and buckets[-1] == 5, buckets
    assert 0 < found['strata_http_request_seconds_sum{route="version"}'] <= longest, "each began when it was asked and has ended by now"


def test_settings_are_listed(scene):
    settings = {s["name"]: s for s in scene.shared.get("/api/v1/settings")["settings"]}
    assert settings["rows"]["value"] == "100000" and settings["listen"]["help"], json.dumps(settings)[:300]
