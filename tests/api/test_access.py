"""Who may do what: tokens, roles, sessions, hosts, origins."""
import hashlib
import http.client
import json
import os
import socket
import stat
import subprocess
import sys
import time

from harness import Server, wait_until, write_trace


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


def test_admins_see_whose_tokens_there_are(scene):
    server = guarded(scene)
    assert "admin" in server.problem("/api/v1/tokens", 403, headers=bearer("ed"))["detail"]
    server.problem("/api/v1/tokens", 401)
    assert server.ask("/api/v1/tokens", headers=bearer("ada"))[2] == {
        "tokens": [{"name": "vera", "role": "viewer"}, {"name": "ed", "role": "editor"}, {"name": "ada", "role": "admin"}]}
    assert scene.shared.get("/api/v1/tokens") == {"tokens": []}


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


def test_failed_sign_ins_are_401_and_then_429_but_a_good_token_always_enters(scene):
    server = guarded(scene)
    for _ in range(10):
        assert server.problem("/api/v1/session", 401, "POST", {"token": "guess"})["parameter"] == "/token"
    server.problem("/api/v1/session", 429, "POST", {"token": "guess"})
    assert server.ask("/api/v1/session", "POST", {"token": "guess"})[1]["Retry-After"]
    assert server.ask("/api/v1/session", "POST", {"token": "secret-of-ed"})[0] == 200
    assert server.ask("/api/v1/traces", headers=bearer("ed"))[0] == 200
    server.problem("/api/v1/session", 400, "POST", {"tok": "x"})


def fail_to_sign_in(server, forwarded, times):
    """the statuses of so many guesses that come by a proxy for that client"""
    return [server.ask("/api/v1/session", "POST", {"token": "guess"}, {"X-Forwarded-For": forwarded})[0] for _ in range(times)]


def test_clients_behind_a_trusted_proxy_fail_each_for_itself(scene):
    server = guarded(scene, settings={"trusted_proxies": ["127.0.0.1", "10.0.0.0/8"]})
    assert fail_to_sign_in(server, "192.0.2.7", 11)[-1] == 429
    assert fail_to_sign_in(server, "192.0.2.8", 1) == [401]
    assert fail_to_sign_in(server, "192.0.2.9, 192.0.2.7, 10.1.2.3", 1) == [429], "what a client says itself stands before its own address"
    wait_until(lambda: '"from":"192.0.2.8"' in server.log(), what="the line, which comes after its answer")


def test_the_word_of_strangers_about_their_address_does_not_count(scene):
    server = guarded(scene)
    for i in range(10):
        assert fail_to_sign_in(server, f"192.0.2.{i}", 1) == [401]
    assert fail_to_sign_in(server, "192.0.2.99", 1) == [429]
    assert "192.0.2" not in server.log()


def test_daemons_on_one_host_keep_their_sessions_apart(scene):
    one, two = guarded(scene), guarded(scene)
    cookies = [server.ask("/api/v1/session", "POST", {"token": "secret-of-ed"})[1]["Set-Cookie"].split(";")[0] for server in (one, two)]
    names = [cookie.split("=")[0] for cookie in cookies]
    assert names[0] != names[1] and str(one.address[1]) in names[0]
    both = {"Cookie": "; ".join(cookies)}  # as a browser sends them: cookies know no ports
    for server in (one, two):
        assert server.ask("/api/v1/session", headers=both)[2]["role"] == "editor"
    swapped = {"Cookie": f"{names[0]}={cookies[1].split('=')[1]}"}
    assert one.ask("/api/v1/session", headers=swapped)[2]["role"] is None
    assert one.ask("/api/v1/session", "DELETE", headers=both)[1]["Set-Cookie"].startswith(names[0] + "=;")
    assert two.ask("/api/v1/session", headers=both)[2]["role"] == "editor"
    assert one.ask("/api/v1/openapi.json")[2]["components"]["securitySchemes"]["session"]["name"] == names[0]


# ---- a log of who did what


def lines_of(server, message):
    return [line for line in map(json.loads, server.log().splitlines()[0:]) if line["message"] == message] if server.log() else []


def test_what_changes_something_leaves_a_line(scene):
    server = guarded(scene)
    folder = str(server.root / "a")
    server.ask("/api/v1/session", "POST", {"token": "guess"})
    server.ask("/api/v1/session", "POST", {"token": "secret-of-ed"})
    status, head, value = server.ask("/api/v1/traces", "POST", {"path": folder}, bearer("ed"))
    trace = "/api/v1/traces/" + value["trace"]["id"]
    server.ask(trace, "PATCH", {"name": "x"}, bearer("ed"))
    server.ask(trace + "/refresh", "POST", None, bearer("ed"))
    server.ask(trace, "DELETE", None, bearer("vera"))
    server.ask("/api/v1/jobs/" + value["job"]["id"], "DELETE", None, bearer("ed"))
    server.ask("/api/v1/presets/mine", "PUT", {"yaml": "name: mine\nextends: posix\n"}, bearer("ed"))
    server.ask("/api/v1/presets/mine", "DELETE", None, bearer("ed"))
    server.ask("/api/v1/queries/q", "PUT", {"text": "{}"}, bearer("ed"))
    server.ask("/api/v1/queries/q", "DELETE", None, bearer("ed"))
    _, _, note = server.ask(trace + "/notes", "POST", {"text": "x"}, bearer("ed"))
    assert note["who"] == "ed"
    server.ask(trace + "/notes/" + note["id"], "DELETE", None, bearer("ed"))
    server.ask(trace, "DELETE", None, bearer("ed"))
    server.ask("/api/v1/session", "DELETE", None)
    single = ["Registration of a trace", "Change of a trace", "Refresh of a trace", "Cancellation of a job", "Change of a preset", "Deletion of a preset",
              "Change of a saved query", "Deletion of a saved query", "Note on a trace", "Deletion of a note", "Sign-out"]
    wanted = {"Sign-in": 2, "Deletion of a trace": 2, **dict.fromkeys(single, 1)}
    wait_until(lambda: all(len(lines_of(server, message)) >= count for message, count in wanted.items()), what="a line of each, which comes after its answer")
    assert {(line["user"], line["status"]) for line in lines_of(server, "Sign-in")} == {("", "401"), ("ed", "200")}
    registered = lines_of(server, "Registration of a trace")
    assert registered == [{**registered[0], "user": "ed", "from": "127.0.0.1", "path": "/api/v1/traces", "subject": folder, "status": "202", "request": head["X-Request-Id"], "level": "info"}]
    assert {(line["user"], line["status"], line["path"]) for line in lines_of(server, "Deletion of a trace")} == {("vera", "403", trace), ("ed", "204", trace)}
    for message, count in wanted.items():
        assert len(lines_of(server, message)) == count, (message, server.log())
    assert "secret-of" not in server.log() and "guess" not in server.log() and not lines_of(server, "Request")


def test_debug_logs_every_request_and_problems_name_theirs(scene):
    server = scene.server([], options=["--log-level", "debug", "--log-format", "json"])
    _, head, problem = server.ask("/api/v1/traces/nothing?secret=1")
    assert problem["request_id"] == head["X-Request-Id"]
    other = server.ask("/healthz")[1]["X-Request-Id"]
    assert other != head["X-Request-Id"]
    wait_until(lambda: {r["request"] for r in lines_of(server, "Request")} >= {other, problem["request_id"]}, what="the lines")
    line = next(r for r in lines_of(server, "Request") if r["request"] == problem["request_id"])
    assert line["method"] == "GET" and line["path"] == "/api/v1/traces/nothing" and line["status"] == "400" and int(line["bytes"]) > 100 and "secret" not in json.dumps(line), line
    status, answer = server.raw(b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n")
    assert status == 400 and json.loads(answer.split(b"\r\n\r\n", 1)[1])["request_id"].encode() in answer.split(b"\r\n\r\n")[0]


def test_hup_reads_tokens_again_and_a_bad_file_changes_nothing(scene):
    import signal
    server = guarded(scene)
    server.tokens.write_text("ed:boss:00\n")
    server.process.send_signal(signal.SIGHUP)
    wait_until(lambda: "boss" in server.log(), what="the log's complaint")
    assert server.ask("/api/v1/traces", headers=bearer("ed"))[0] == 200
    tokens_file(server.tokens.parent, new="viewer")
    server.process.send_signal(signal.SIGHUP)
    wait_until(lambda: server.ask("/api/v1/traces", headers=bearer("new"))[0] == 200, what="the new token")
    server.problem("/api/v1/traces", 401, headers=bearer("ed"))


# ---- without tokens


OTHER = 65534  # a user that is neither root nor this one


def ask_as(uid, server, path, method="GET", body="", linger=True):
    """(status, body) as a process of that user gets them; needs root"""
    host, port = server.address
    code = f"""if 1:
        import os, socket, sys
        os.setgroups([]); os.setgid({uid}); os.setuid({uid})
        s = socket.socket()
        s.connect(({host!r}, {port}))
        body = {body!r}
        s.sendall(f"{method} {path} HTTP/1.1\\r\\nHost: localhost\\r\\nConnection: close\\r\\nContent-Length: {{len(body)}}\\r\\n\\r\\n{{body}}".encode())
        if not {linger}:
            os._exit(0)
        answer = b""
        while chunk := s.recv(65536):
            answer += chunk
        sys.stdout.buffer.write(answer)
    """
    answer = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, check=True, timeout=60).stdout
    return (int(answer.split()[1]), answer.split(b"\r\n\r\n", 1)[1].decode()) if answer else (0, "")


def test_without_tokens_the_own_user_is_admin(scene):
    assert scene.shared.ask("/api/v1/session")[2] == {"sign_in_needed": False, "name": None, "role": "admin"}
    assert scene.shared.ask("/api/v1/session", "POST", {"token": "x"})[0] == 200
    for body in (None, b"", {"tok": "x"}, b"x"):
        scene.shared.problem("/api/v1/session", 400, "POST", body)


def test_without_tokens_other_users_of_the_machine_are_nobody(scene):
    if os.geteuid() != 0:
        return  # only root can be somebody else
    root = scene.new("root")
    write_trace(root / "a")
    server = scene.server([root])
    trace = "/api/v1/traces/" + server.ingest(root / "a")["id"]
    for method, path, body in [("GET", "/api/v1/traces", ""), ("GET", trace + "/summary", ""), ("DELETE", trace, ""), ("GET", "/api/v1/settings", ""), ("GET", "/metrics", ""),
                               ("POST", "/api/v1/traces", json.dumps({"path": str(root / "a")})), ("GET", "/", ""), ("GET", "/nowhere", ""), ("GET", "/api/v1/version", ""),
                               ("GET", "/api/v1/openapi.json", ""), ("GET", "/api/v1/session", ""), ("POST", "/api/v1/session", '{"token": "x"}'), ("OPTIONS", "/api/v1/traces", "")]:
        status, answer = ask_as(OTHER, server, path, method, body)
        assert status == 401 and "uid 65534" in json.loads(answer)["detail"] and "tokens" in json.loads(answer)["detail"], (path, status, answer)
    assert ask_as(OTHER, server, "/healthz") == (200, '{"status":"ok"}')
    assert ask_as(0, server, trace)[0] == 200
    # Who closes at once leaves a socket that the kernel reports as root's.
    for _ in range(20):
        ask_as(OTHER, server, trace, "DELETE", linger=False)
    time.sleep(0.2)
    assert server.ask(trace)[0] == 200 and server.ask(trace + "/summary")[0] == 200


def test_loopback_anyone_serves_every_user_and_says_so(scene):
    server = scene.server([], {"loopback": "anyone"})
    assert "Every user of this machine is admin" in server.log()
    assert server.ask("/api/v1/settings")[0] == 200
    if os.geteuid() == 0:
        assert ask_as(OTHER, server, "/api/v1/settings")[0] == 200
    assert "own, anyone" in refused_start(scene, ["--loopback", "everyone"])


class Local(http.client.HTTPConnection):
    """HTTP over a socket in the file system"""

    def __init__(self, path):
        super().__init__("localhost", timeout=30)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(30)
        self.sock.connect(str(self.path))


def ask_local(path, target):
    connection = Local(path)
    connection.request("GET", target)
    answer = connection.getresponse()
    return answer.status, answer.read()


def test_a_socket_in_the_file_system_is_for_its_user_alone(scene):
    path = scene.new("socket") / "strata"
    server = Server(scene.new("daemon"), start=False)
    command = [*server.command(), "--listen", f"unix:{path}"]
    for attempt in range(2):  # the second finds the file that the first, killed, has left
        with open(server.log_path, "ab") as log:
            process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True)
        try:
            assert process.stdout.readline() == f"listening on unix:{path}\n"
            assert stat.S_IMODE(path.stat().st_mode) == 0o600 and stat.S_ISSOCK(path.stat().st_mode)
            assert ask_local(path, "/api/v1/settings")[0] == 200
            refused = subprocess.run([*Server(scene.new("daemon"), start=False).command(), "--listen", f"unix:{path}"], capture_output=True, text=True, timeout=60)
            assert refused.returncode == 1 and str(path) in refused.stderr, refused
            if os.geteuid() == 0:
                path.parent.chmod(0o755)
                denied = subprocess.run([sys.executable, "-c", f"import os, socket; os.setuid({OTHER}); socket.socket(socket.AF_UNIX).connect({str(path)!r})"], capture_output=True, text=True)
                assert denied.returncode != 0 and "Permission" in denied.stderr, denied.stderr
        finally:
            process.kill() if attempt == 0 else process.terminate()
            process.wait(60)
            process.stdout.close()
    assert not path.exists(), "a daemon that stops takes its socket along"
    path.write_text("precious")
    assert "no socket" in refused_start(scene, ["--listen", f"unix:{path}"])
    assert path.read_text() == "precious"
    assert "unix:PATH" in refused_start(scene, ["--listen", "nonsense"]) and "107" in refused_start(scene, ["--listen", "unix:/" + "x" * 200])


def refused_start(scene, options, status=2):
    """standard error of a daemon that must not start"""
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
        assert {"ETag", "Location", "Retry-After"} <= set(head["Access-Control-Expose-Headers"].split(", "))
        _, head, _ = server.ask(path, headers={"Origin": "https://evil.example"})
        assert head["Access-Control-Allow-Origin"] is None
    ask = {"Origin": "https://lab.example", "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization"}
    status, head, _ = server.ask("/api/v1/traces", "OPTIONS", headers=ask)
    assert status == 204 and "POST" in head["Access-Control-Allow-Methods"] and int(head["Access-Control-Max-Age"]) > 0
    assert {"Authorization", "Content-Type", "If-None-Match"} <= set(head["Access-Control-Allow-Headers"].split(", "))
    status, head, _ = server.ask("/api/v1/traces", "OPTIONS", headers={**ask, "Origin": "https://evil.example"})
    assert head["Access-Control-Allow-Methods"] is None and head["Access-Control-Allow-Origin"] is None
