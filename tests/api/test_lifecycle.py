"""Starting and stopping: options, signals, exit statuses, what is printed."""
import os
import re
import signal
import subprocess
import threading

from harness import SMALL_EVENTS, Server, wait_until, write_large, write_trace


def run(scene, *options, environment=None):
    server = Server(scene.new("daemon"), start=False)
    command = [server.command()[0], *options]
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, env={**os.environ, **(environment or {})})


def test_version_and_help(scene):
    done = run(scene, "--version")
    assert done.returncode == 0 and re.match(r"stratad \d+\.\d+\.\d+", done.stdout)
    done = run(scene, "--help")
    assert done.returncode == 0 and "listen " in done.stdout and "--check-config" in done.stdout


def test_wrong_options_exit_with_2_and_name_what_is_wrong(scene):
    folder = scene.new("files")
    config = folder / "bad.yaml"
    for text, says in [("lisen: x\n", "lisen"), ("workers: many\n", "workers"), ("workers: 2\nrows: -1\n", "rows"), ("roots: [/none/such]\n", "/none/such"),
                       (": :\n  - [", "bad.yaml"), ("log_level: loud\n", "log_level")]:
        config.write_text(text)
        done = run(scene, "--config", str(config), "--store", str(folder / "store"))
        assert done.returncode == 2 and says in done.stderr and done.stdout == "", (text, done)
    config.write_text("workers: 2\nlisen: x\n")
    said = run(scene, "--config", str(config)).stderr
    assert "bad.yaml" in said and "2" in said, said
    for options, says in [(["--nope"], "--nope"), (["--workers", "x"], "workers"), (["--listen", "nonsense"], "listen"), (["--listen", "127.0.0.1:99999"], "port"),
                          (["--root", "/none/such"], "/none/such"), (["/none/such"], "/none/such"), (["--config", "/none/such"], "/none/such"), (["--port"], "--port")]:
        done = run(scene, "--store", str(folder / "store"), *options)
        assert done.returncode == 2 and says in done.stderr and done.stdout == "", (options, done)
    done = run(scene, "--store", str(folder / "store"), environment={"STRATA_ROWS": "few"})
    assert done.returncode == 2 and "STRATA_ROWS" in done.stderr, done


def test_check_config(scene):
    config = scene.new("files") / "good.yaml"
    config.write_text("rows: 10\n")
    assert run(scene, "--check-config", "--config", str(config)).returncode == 0
    config.write_text("row: 10\n")
    assert run(scene, "--check-config", "--config", str(config)).returncode == 2


def test_options_come_before_environment_before_file(scene):
    def rows(settings, options, environment):
        server = scene.server([], settings, options, start=False)
        before = dict(os.environ)
        os.environ.update(environment)
        try:
            server.start()
        finally:
            os.environ.clear()
            os.environ.update(before)
        return {s["name"]: s["value"] for s in server.get("/api/v1/settings")["settings"]}

    assert rows({"rows": 10, "workers": 3}, [], {})["rows"] == "10"
    both = rows({"rows": 10, "workers": 3}, ["--workers", "1"], {"STRATA_ROWS": "11", "STRATA_WORKERS": "2"})
    assert (both["rows"], both["workers"]) == ("11", "1")


def test_traces_given_at_start_are_ingested(scene):
    folder = write_trace(scene.new("root") / "a")
    server = scene.server([], options=[str(folder)])
    wait_until(lambda: [t["events"] for t in server.get("/api/v1/traces")["traces"]] == [SMALL_EVENTS], what="ingest")
    assert server.get("/api/v1/browse")["entries"][0]["path"] == os.path.realpath(folder)


def test_an_ipv6_address(scene):
    server = scene.server([], options=["--listen", "[::1]:0"], start=False)
    server.start()
    assert server.base.startswith("http://[::1]:")
    status, body = server.raw(b"GET /healthz HTTP/1.1\r\nHost: [::1]\r\nConnection: close\r\n\r\n")
    assert status == 200


def test_an_address_in_use_is_exit_1(scene):
    host, port = scene.shared.address
    done = run(scene, "--listen", f"{host}:{port}", "--store", str(scene.new("files") / "store"))
    assert done.returncode == 1 and str(port) in done.stderr, done


def test_stop_lets_answers_in_flight_finish(scene):
    root = scene.new("root")
    server = scene.server([root])
    path = "/api/v1/traces/" + server.ingest(write_large(root / "large", 400_000))["id"]
    statuses = []
    clients = [threading.Thread(target=lambda i=i: statuses.append(server.ask(path + f"/summary?filter=args.ret+%3E+{i}")[0])) for i in range(3)]
    for c in clients:
        c.start()
    wait_until(lambda: server.metric("strata_questions_running") + server.metric("strata_questions_waiting") + len(statuses) >= 3, what="all questions")
    assert server.stop() == 0
    for c in clients:
        c.join()
    assert 200 in statuses and set(statuses) <= {200, 503} and len(statuses) == 3, statuses


def test_stop_waits_for_no_stream_and_no_idle_connection(scene):
    root = scene.new("root")
    server = scene.server([root], {"request_timeout": 3600})
    _, job = server.register(write_large(root / "large", 400_000))
    idle, stream = server.connect(), server.connect()
    stream.sendall(f"GET /api/v1/jobs/{job['id']}/events HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
    stream.recv(100)
    assert server.stop() == 0
    idle.close()
    stream.close()


def test_interrupt_is_like_terminate(scene):
    server = scene.server([])
    server.process.send_signal(signal.SIGINT)
    assert server.process.wait(30) == 0
    server.process.stdout.close()
    server.process = None


def test_nothing_but_the_address_goes_to_standard_output(scene):
    root = scene.new("root")
    server = scene.server([root])
    server.ingest(write_trace(root / "a"))
    process = server.process
    process.send_signal(signal.SIGTERM)
    assert process.stdout.read() == "" and process.wait(30) == 0
    process.stdout.close()
    server.process = None


def test_hup_reads_presets_again(scene):
    folder = scene.new("presets")
    server = scene.server([], {"presets": str(folder)})
    server.problem("/api/v1/presets/mine", 404)
    good = "layers:\n  - name: all\n    condition: 'dur > 0'\n"
    (folder / "mine.yaml").write_text(good)
    server.process.send_signal(signal.SIGHUP)
    wait_until(lambda: server.ask("/api/v1/presets/mine")[0] == 200, what="the new preset")
    (folder / "mine.yaml").write_text(good.replace("dur", "duur"))
    server.process.send_signal(signal.SIGHUP)
    wait_until(lambda: "duur" in server.log(), what="the log's complaint")
    assert server.ask("/api/v1/presets/mine")[2]["layers"][0]["condition"] == "dur > 0"


def test_the_log_is_json_lines_when_told(scene):
    import json
    server = scene.server([], options=["--log-format", "json"])
    server.ask("/healthz")
    server.stop()
    lines = [json.loads(line) for line in server.log().splitlines()]
    assert lines and all(line["level"] in ("error", "warning", "info") and line["message"] and line["time"] for line in lines), lines
