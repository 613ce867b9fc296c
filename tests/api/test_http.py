"""HTTP/1.1 as such: what is understood, and what is refused because two readers of it could disagree."""
import json

HOST = b"Host: localhost\r\n"
CLOSE = b"Connection: close\r\n"


def request(line=b"GET /healthz HTTP/1.1\r\n", *headers, host=HOST, body=b""):
    return line + host + b"".join(h + b"\r\n" for h in headers) + CLOSE + b"\r\n" + body


POST = b"POST /api/v1/session HTTP/1.1\r\n"

# Each would let a client hide a request inside another from whoever reads it differently.
REFUSED = {
    "two hosts": request(b"GET /healthz HTTP/1.1\r\n", b"Host: evil.example"),
    "no host": request(host=b""),
    "lengths that differ": request(POST, b"Content-Length: 2", b"Content-Length: 3", body=b"{} "),
    "a length that is a list": request(POST, b"Content-Length: 2, 2", body=b"{}"),
    "a signed length": request(POST, b"Content-Length: +2", body=b"{}"),
    "a negative length": request(POST, b"Content-Length: -2", body=b"{}"),
    "length and coding": request(POST, b"Content-Length: 2", b"Transfer-Encoding: chunked", body=b"0\r\n\r\n"),
    "an unknown coding": request(POST, b"Transfer-Encoding: identity", body=b"{}"),
    "a list of codings": request(POST, b"Transfer-Encoding: gzip, chunked", body=b"0\r\n\r\n"),
    "a coding in HTTP/1.0": request(b"POST /api/v1/session HTTP/1.0\r\n", b"Transfer-Encoding: chunked", body=b"0\r\n\r\n"),
    "a blank before a colon": request(b"GET /healthz HTTP/1.1\r\n", b"X-A : b"),
    "a blank after the host's name": request(host=b"Host : localhost\r\n"),
    "no colon": request(b"GET /healthz HTTP/1.1\r\n", b"nonsense"),
    "no name": request(b"GET /healthz HTTP/1.1\r\n", b": x"),
    "a folded line": request(b"GET /healthz HTTP/1.1\r\n", b"X-A: b\r\n c"),
    "a NUL in a value": request(b"GET /healthz HTTP/1.1\r\n", b"X-A: b\0c"),
    "a NUL in the host": request(host=b"Host: localhost\0.evil\r\n"),
    "a NUL in the target": request(b"GET /healthz\0/x HTTP/1.1\r\n"),
    "a carriage return in a value": request(b"GET /healthz HTTP/1.1\r\n", b"X-A: b\rX-B: c"),
    "bare line feeds": b"GET /healthz HTTP/1.1\nHost: localhost\n\n",
    "two blanks": request(b"GET  /healthz HTTP/1.1\r\n"),
    "a blank in the target": request(b"GET /heal thz HTTP/1.1\r\n"),
    "no version": request(b"GET /healthz\r\n"),
    "a chunk without a size": request(POST, b"Transfer-Encoding: chunked", body=b"x\r\n{}\r\n0\r\n\r\n"),
    "a chunk longer than its size": request(POST, b"Transfer-Encoding: chunked", body=b"1\r\n{}\r\n0\r\n\r\n"),
    "a chunk that ends in a line feed": request(POST, b"Transfer-Encoding: chunked", body=b"2\n{}\r\n0\r\n\r\n"),
    "TLS": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
}


def test_requests_that_could_be_read_in_two_ways_are_400(scene):
    for what, sent in REFUSED.items():
        status, answer = scene.shared.raw(sent + b"GET /healthz HTTP/1.1\r\n" + HOST + b"\r\n")
        assert status == 400, (what, status, answer[:300])
        assert answer.count(b"HTTP/1.1 ") == 1, f"{what}: what follows must not be read as a request: {answer}"


def parts(answer):
    head, body = answer.split(b"\r\n\r\n", 1)
    return {k.lower(): v for k, v in (line.split(": ", 1) for line in head.decode().split("\r\n")[1:])}, body


def test_every_refusal_is_a_problem_with_our_headers(scene):
    usual = scene.shared.ask("/healthz")[1]
    wanted = ["content-security-policy", "x-content-type-options", "x-frame-options", "referrer-policy", "cross-origin-resource-policy", "cross-origin-opener-policy"]
    more = {"a version": (request(b"GET /healthz HTTP/2.0\r\n"), 505), "an expectation": (request(b"GET /healthz HTTP/1.1\r\n", b"Expect: tea"), 417),
            "a header": (request(b"GET /healthz HTTP/1.1\r\n", b"X: " + b"a" * 100_000), 431), "a target": (request(b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\n"), 431),
            "many lines": (request(b"GET /healthz HTTP/1.1\r\n", *[b"X: y"] * 101), 431), "a length": (request(POST, b"Content-Length: 99999999999999999999"), 413),
            "an encoding": (request(POST, b"Content-Length: 20", b"Content-Encoding: gzip", body=b"\x1f\x8b" + b"\0" * 18), 415)}
    for what, (sent, expected) in {**{k: (v, 400) for k, v in REFUSED.items()}, **more}.items():
        status, answer = scene.shared.raw(sent)
        assert status == expected, (what, status)
        head, body = parts(answer)
        problem = json.loads(body)
        assert head["content-type"] == "application/problem+json" and problem["status"] == expected and problem["detail"] and problem["request_id"] == head["x-request-id"], what
        assert all(head[name] == usual[name] for name in wanted) and head["connection"] == "close", (what, head)


def test_a_target_in_absolute_form_names_host_and_path(scene):
    assert scene.shared.raw(request(b"GET http://localhost/healthz HTTP/1.1\r\n"))[0] == 200
    assert scene.shared.raw(request(b"GET HTTP://127.0.0.1:80/api/v1/traces?x=1 HTTP/1.1\r\n"))[0] == 400
    assert scene.shared.raw(request(b"GET http://localhost/healthz HTTP/1.1\r\n", host=b"Host: evil.example\r\n"))[0] == 200, "the target outweighs the header"
    assert scene.shared.raw(request(b"GET http://evil.example/healthz HTTP/1.1\r\n"))[0] == 421
    assert scene.shared.raw(request(b"GET http://evil.example@localhost/healthz HTTP/1.1\r\n"))[0] == 421


def test_many_parameters_get_an_answer(scene):
    many = b"&".join(b"p%d=1" % i for i in range(1200))
    assert scene.shared.raw(request(b"GET /api/v1/traces?" + many + b" HTTP/1.1\r\n"))[0] == 400
    assert scene.shared.raw(request(b"GET /api/v1/traces?" + b"&" * 5000 + b" HTTP/1.1\r\n"))[0] == 200
    columns = b"&".join(b"columns=pid" for _ in range(1200))
    status, answer = scene.shared.raw(request(f"GET {scene.shared.path}/events?".encode() + columns + b" HTTP/1.1\r\n"))
    assert status in (400, 422) and b"160" in answer


def test_bodies_come_whole_or_in_chunks(scene):
    body = json.dumps({"aggregate": {"n": "count()"}}).encode()
    line = f"POST {scene.shared.path}/query HTTP/1.1\r\n".encode()
    whole = scene.shared.raw(request(line, b"Content-Length: %d" % len(body), body=body))
    chunks = b"".join(b"%x;name=value\r\n%s\r\n" % (len(part), part) for part in (body[:1], body[1:20], body[20:])) + b"0\r\nX-Trailer: y\r\n\r\n"
    chunked = scene.shared.raw(request(line, b"Transfer-Encoding: Chunked", body=chunks))
    assert whole[0] == chunked[0] == 200 and parts(whole[1])[1] == parts(chunked[1])[1]
    with scene.shared.connect() as s:
        s.sendall(request(line, b"Content-Length: %d" % len(body), b"Expect: 100-continue"))
        assert s.recv(100) == b"HTTP/1.1 100 Continue\r\n\r\n"
        s.sendall(body)
        assert s.recv(100).startswith(b"HTTP/1.1 200 ")


def test_http_1_0_closes_unless_asked_to_stay(scene):
    status, answer = scene.shared.raw(b"GET /healthz HTTP/1.0\r\n" + HOST + b"\r\n")
    assert status == 200 and parts(answer)[0]["connection"] == "close"
    with scene.shared.connect() as s:
        for _ in range(3):
            s.sendall(b"GET /healthz HTTP/1.0\r\n" + HOST + b"Connection: keep-alive\r\n\r\n")
            assert b"Connection: keep-alive" in s.recv(2000)


def test_an_empty_line_before_a_request_is_left_over(scene):
    assert scene.shared.raw(b"\r\n" + request())[0] == 200
