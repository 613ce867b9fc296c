"""Requests changed at random: the daemon refuses or answers, and goes on. FUZZ_SECONDS says how long (default 5)."""
import contextlib
import os
import random
import threading
import time

from harness import write_trace

PIECES = [b"%", b"%00", b"%ff", b"\0", b"\xff", b"\r\n", b"&", b"=", b"?", b"/", b"..", b"9" * 30, b"-1", b"{", b"}", b"[", b'"', b"\\", b"\r\n\r\n", b";q=0", b"1e309",
          b"nan", b"a" * 3000, b"~(", b" and ", b",,"]


def seeds(trace, root):
    body = b'{"path": "%s/a", "name": "n"}' % str(root).encode()
    get = [f"traces/{trace}/summary?preset=dlio&from=1&to=2&filter=cat+%3D%3D+%22posix%22&format=csv", f"traces/{trace}/report", "jobs", f"browse?path={root}",
           f"traces/{trace}/timeseries?layer=app,compute&metrics=bw,time&granularity=0.1&max_points=10", f"traces/{trace}/summary?filter=args.ret+%3E+1", "presets/dlio"]
    head = "HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: gzip;q=0.5\r\nIf-None-Match: \"a\", W/\"b\"\r\nCookie: strata_session=abc; x=y\r\nOrigin: http://localhost\r\n\r\n"
    return [f"GET /api/v1/{path} {head}".encode() for path in get] + [
        b"POST /api/v1/traces HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body),
        f"PATCH /api/v1/traces/{trace} HTTP/1.1\r\nHost: [::1]:80\r\nTransfer-Encoding: chunked\r\n\r\n10\r\n{{\"tags\": [\"aaaa\"\r\n2\r\n]}}\r\n0\r\n\r\n".encode(),
        b"OPTIONS /api/v1/jobs/x/events HTTP/1.1\r\nHost: localhost\r\n\r\n", b"GET /traces/../index.html HTTP/1.0\r\n\r\n",
        b"POST /api/v1/session HTTP/1.1\r\nHost: localhost\r\nContent-Length: 14\r\nExpect: 100-continue\r\n\r\n{\"token\": \"x\"}"]


def change(dice, inputs):
    text = bytearray(dice.choice(inputs))
    for _ in range(dice.randrange(1, 6)):
        at, kind = dice.randrange(len(text) + 1), dice.randrange(4)
        if kind == 0 and text:
            text[at % len(text)] = dice.randrange(256)
        elif kind == 1:
            text[at:at] = dice.choice(PIECES)
        elif kind == 2:
            del text[at:at + dice.randrange(1, 9)]
        else:
            other = dice.choice(inputs)
            start = dice.randrange(len(other))
            text[at:at] = other[start:start + dice.randrange(1, 60)]
    return bytes(text)


def test_requests_changed_at_random(scene):
    root = scene.new("root")
    server = scene.server([root], {"request_timeout": 3})
    trace = server.ingest(write_trace(root / "a"))["id"]
    inputs, end = seeds(trace, root), time.monotonic() + int(os.environ.get("FUZZ_SECONDS", "5"))

    def client(seed):
        dice = random.Random(seed)
        while time.monotonic() < end:
            with contextlib.suppress(ConnectionError, TimeoutError), server.connect(timeout=0.3) as s:
                s.sendall(change(dice, inputs))
                if dice.random() < 0.8:
                    s.recv(65536)

    clients = [threading.Thread(target=client, args=(seed,)) for seed in range(4)]
    for c in clients:
        c.start()
    for c in clients:
        c.join()
    assert server.ask("/healthz")[0] == 200
