"""Who may do what: tokens, roles, sessions, hosts, origins."""
import hashlib

from harness import Server, write_trace


def tokens_file(folder, **roles):
    """names with roles; the token of a name is `secret-of-NAME`"""
    lines = ["# people", ""] + [f"{name}:{role}:{hashlib.sha256(f'secret-of-{name}'.encode()).hexdigest()}" for name, role in roles.items()]
    path = folder / "tokens"
    path.write_text("\n".join(lines) + "\n")
    return path


def bearer(name):
    return {"Authorization": f"Bearer secret-of-{name}"}


def guarded(scene, **more):
    root = scene.new("root")
    write_trace(root / "a")
    tokens = tokens_file(scene.new("tokens"), vera="viewer", ed="editor", ada="admin")
    server = scene.server([root], options=["--tokens", str(tokens)], **more)
    server.root, server.tokens = root, tokens
    return server


def test_roles(scene):
    server = guarded(scene)
    body = {"path": str(server.root / "a")}
    for path in ["/api/v1/traces", "/api/v1/jobs", "/api/v1/presets", "/api/v1/settings", "/metrics", "/api/v1/browse"]:
        problem = server.problem(path, 401)
        assert "role" in problem["detail"]
        assert server.ask(path)[1]["WWW-Authenticate"].startswith("Bearer")
        server.problem(path, 401, headers={"Authorization": "Bearer wrong"})
        server.problem(path, 401, headers={"Authorization": "Basic c2VjcmV0"})
    for path in ["/healthz", "/api/v1/version", "/api/v1/openapi.json", "/api/v1/session"]:
        assert server.ask(path)[0] == 200, path
    assert server.ask("/api/v1/traces", headers=bearer("vera"))[0] == 200
    problem = server.problem("/api/v1/traces", 403, "POST", body, bearer("vera"))
    assert "editor" in problem["detail"] and "viewer" in problem["detail"]
    status, _, value = server.ask("/api/v1/traces", "POST", body, bearer("ed"))
    assert status == 202
    path = "/api/v1/traces/" + value["trace"]["id"]
    for method, url, sent in [("DELETE", path, None), ("PATCH", path, {"name": "x"}), ("POST", path + "/refresh", None), ("DELETE", "/api/v1/jobs/" + value["job"]["id"], None)]:
        server.problem(url, 403, method, sent, bearer("vera"))
        server.problem(url, 401, method, sent)
    assert "admin" in server.problem("/api/v1/settings", 403, headers=bearer("ed"))["detail"]
    settings = server.ask("/api/v1/settings", headers=bearer("ada"))
    assert settings[0] == 200 and "secret" not in str(settings[2]).replace("secrets", "")


def test_a_session_cookie_signs_in(scene):
    server = guarded(scene)
    assert server.ask("/api/v1/session")[2] == {"sign_in_needed": True, "name": None, "role": None}
    status, head, value = server.ask("/api/v1/session", "POST", {"token": "secret-of-ed"})
    assert status == 200 and value == {"sign_in_needed": True, "name": "ed", "role": "editor"}
    cookie = head["Set-Cookie"]
    assert "HttpOnly" in cookie and "SameSite=Strict" in cookie and "Path=/" in cookie and "Secure" not in cookie and "secret" not in cookie
    assert "Secure" in server.ask("/api/v1/session", "POST", {"token": "secret-of-ed"}, {"X-Forwarded-Proto": "https"})[1]["Set-Cookie"]
    with_cookie = {"Cookie": cookie.split(";")[0]}
    assert server.ask("/api/v1/session", headers=with_cookie)[2]["role"] == "editor"
    own = {**with_cookie, "Origin": server.base, "Sec-Fetch-Site": "same-origin"}
    assert server.ask("/api/v1/traces", "POST", {"path": str(server.root / "a")}, own)[0] == 202
    foreign = {**with_cookie, "Origin": "https://evil.example"}
    server.problem("/api/v1/traces", 403, "POST", {"path": str(server.root / "a")}, foreign)
    status, head, _ = server.ask("/api/v1/session", "DELETE", headers=with_cookie)
    assert status == 204 and "Max-Age=0" in head["Set-Cookie"]
    assert server.ask("/api/v1/session", headers=with_cookie)[2]["role"] is None
    server.problem("/api/v1/traces", 401, headers=with_cookie)


def test_failed_sign_ins_are_401_and_then_429(scene):
    server = guarded(scene)
    for _ in range(10):
        assert server.problem("/api/v1/session", 401, "POST", {"token": "guess"})["parameter"] == "/token"
    server.problem("/api/v1/session", 429, "POST", {"token": "guess"})
    assert server.ask("/api/v1/session", "POST", {"token": "secret-of-ed"})[1]["Retry-After"]
    assert server.ask("/api/v1/traces", headers=bearer("ed"))[0] == 200, "tokens that are good stay good"
    server.problem("/api/v1/session", 400, "POST", {"tok": "x"})


def test_hup_reads_tokens_again_and_a_bad_file_changes_nothing(scene):
    import signal
    from harness import wait_until
    server = guarded(scene)
    server.tokens.write_text("ed:boss:00\n")
    server.process.send_signal(signal.SIGHUP)
    wait_until(lambda: "boss" in server.log(), what="the log's complaint")
    assert server.ask("/api/v1/traces", headers=bearer("ed"))[0] == 200
    tokens_file(server.tokens.parent, new="viewer")
    server.process.send_signal(signal.SIGHUP)
    wait_until(lambda: server.ask("/api/v1/traces", headers=bearer("new"))[0] == 200, what="the new token")
    server.problem("/api/v1/traces", 401, headers=bearer("ed"))


def test_without_tokens_everyone_here_is_admin(scene):
    assert scene.shared.ask("/api/v1/session")[2] == {"sign_in_needed": False, "name": None, "role": "admin"}
    assert scene.shared.ask("/api/v1/session", "POST", {"token": "x"})[0] == 200


def refused_start(scene, options, status=2):
    """standard error of a daemon that must not start"""
    import subprocess
    server = Server(scene.new("daemon"), options=options, start=False)
    done = subprocess.run(server.command(), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
    assert done.returncode == status, (options, done.returncode, done.stderr)
    assert done.stdout == ""
    return done.stderr


def test_other_addresses_need_tokens(scene):
    for address in ["0.0.0.0:0", "[::]:0"]:
        said = refused_start(scene, ["--listen", address])
        assert "tokens" in said and "loopback" in said, said
    bad = scene.new("tokens") / "tokens"
    bad.write_text("ed:boss:00\n")
    said = refused_start(scene, ["--tokens", str(bad)])
    assert str(bad) in said and "line 1" in said and "viewer" in said, said
    assert "missing" in refused_start(scene, ["--tokens", str(bad.parent / "missing")])


def test_every_address_serves_numeric_hosts_with_tokens(scene):
    root = scene.new("root")
    tokens = tokens_file(scene.new("tokens"), ed="editor")
    server = scene.server([root], options=["--tokens", str(tokens), "--listen", "0.0.0.0:0"], start=False)
    server.options = [*server.options]
    server.start()
    port = server.address[1]
    server.base = f"http://127.0.0.1:{port}"
    assert server.ask("/healthz", headers={"Host": f"192.0.2.1:{port}"})[0] == 200
    server.problem("/healthz", 421, headers={"Host": "evil.example"})


def test_the_host_must_be_known(scene):
    server = scene.server([], {"hosts": ["lab.example"]})
    for host in ["localhost", "127.0.0.1:9", "[::1]:9", "LAB.example", "lab.example:443"]:
        assert server.ask("/healthz", headers={"Host": host})[0] == 200, host
    for host in ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example", "lab.example@evil", "0x7f000001", ""]:
        status, _, value = server.ask("/healthz", headers={"Host": host})
        assert status in (400, 421) and (status == 400 or "hosts" in value["detail"]), host
    assert server.raw(b"GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n")[0] in (400, 421)


def test_foreign_pages_may_not_write(scene):
    body = {"path": str(scene.shared.root / "small")}
    for head in [{"Origin": "https://evil.example"}, {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"}, {"Origin": "http://127.0.0.1:1"}]:
        scene.shared.problem("/api/v1/traces", 403, "POST", body, head)
    assert scene.shared.ask("/api/v1/traces", "POST", body, {"Origin": scene.shared.base})[0] == 200


def test_cors_is_for_those_listed(scene):
    server = scene.server([], {"cors_origins": ["https://lab.example"]})
    for path in ["/api/v1/traces", "/healthz", "/api/v1/openapi.json"]:
        _, head, _ = server.ask(path, headers={"Origin": "https://lab.example"})
        assert head["Access-Control-Allow-Origin"] == "https://lab.example" and "Origin" in head["Vary"], path
        assert "ETag" in head["Access-Control-Expose-Headers"]
        _, head, _ = server.ask(path, headers={"Origin": "https://evil.example"})
        assert head["Access-Control-Allow-Origin"] is None
    ask = {"Origin": "https://lab.example", "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization"}
    status, head, _ = server.ask("/api/v1/traces", "OPTIONS", headers=ask)
    assert status == 204 and "POST" in head["Access-Control-Allow-Methods"] and "Authorization" in head["Access-Control-Allow-Headers"]
    status, head, _ = server.ask("/api/v1/traces", "OPTIONS", headers={**ask, "Origin": "https://evil.example"})
    assert head["Access-Control-Allow-Methods"] is None and head["Access-Control-Allow-Origin"] is None
