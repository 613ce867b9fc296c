"""Two requests at once, in the one order that used to go wrong: the first is held in a call of the C library (hold.c) while the second comes in."""
import contextlib
import os
import pathlib
import signal
import subprocess
import threading
import time

from harness import Server, wait_until, write_trace

PRESET = "description: {}\nlayers:\n  - {{name: reads, condition: 'func_name == \"read\"'}}\n"
AT_MOST = 2  # seconds that the second request has to come as far as it gets without the first


class Held:
    """a daemon one of whose calls can be held"""

    def __init__(self, scene, roots=()):
        self.folder = scene.new("hold")
        library = self.folder / "hold.so"
        subprocess.run([os.environ.get("CC", "cc"), "-shared", "-fPIC", "-O1", "-o", library, pathlib.Path(__file__).with_name("hold.c"), "-ldl"], check=True)
        with environment(LD_PRELOAD=str(library), STRATA_HOLD=str(self.folder), ASAN_OPTIONS=os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"):
            self.server = Server(scene.new("daemon"), roots)
        scene.servers.append(self.server)

    @contextlib.contextmanager
    def call(self, call, part, first):
        """until the end of the block, what @first leads to is held in the call"""
        with contextlib.suppress(FileNotFoundError):
            (self.folder / "go").unlink()
        (self.folder / "armed.new").write_text(f"{call} {part}")
        (self.folder / "armed.new").rename(self.folder / "armed")
        thread = threading.Thread(target=first)
        thread.start()
        try:
            wait_until((self.folder / "held").exists, what=f"{call} of {part}")
            yield
        finally:
            (self.folder / "go").write_text("")
            thread.join()
            (self.folder / "held").unlink()


@contextlib.contextmanager
def environment(**values):
    before = dict(os.environ)
    os.environ.update(values)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def begin(ask):
    """a request on its way: it has ended, or waits for the one that is held"""
    answers = []
    thread = threading.Thread(target=lambda: answers.append(ask()))
    thread.start()
    thread.join(AT_MOST)
    return thread, answers


def traced(scene):
    root = scene.new("root")
    held = Held(scene, [root])
    return held, write_trace(root / "a"), held.server


def identities(server):
    return [trace["id"] for trace in server.get("/api/v1/traces")["traces"]]


def test_two_registrations_of_one_path_make_one_trace(scene):
    held, path, server = traced(scene)
    register = {"path": str(path)}
    with held.call("mkdir", "/traces/", lambda: server.ask("/api/v1/traces", "POST", register)):
        thread, answers = begin(lambda: server.ask("/api/v1/traces", "POST", register))
    thread.join()
    assert answers[0][0] in (200, 202), answers
    assert len(identities(server)) == 1, server.get("/api/v1/traces")


def test_a_change_during_a_deletion_does_not_bring_the_trace_back(scene):
    held, path, server = traced(scene)
    identity = server.ingest(path)["id"]
    address = f"/api/v1/traces/{identity}"
    with held.call("unlink", identity, lambda: server.ask(address, "DELETE")):
        thread, answers = begin(lambda: server.ask(address, "PATCH", {"name": "back"}))
    thread.join()
    assert answers[0][0] in (404, 409), answers
    assert identities(server) == []
    server.stop()
    server.start()
    assert identities(server) == []


def test_a_refresh_during_a_deletion_finds_no_trace(scene):
    held, path, server = traced(scene)
    identity = server.ingest(path)["id"]
    address = f"/api/v1/traces/{identity}"
    (path / "another.pfw").write_bytes((path / "rank-0.pfw").read_bytes())
    with held.call("unlink", identity, lambda: server.ask(address, "DELETE")):
        thread, _ = begin(lambda: server.ask(address + "/refresh", "POST"))
        time.sleep(AT_MOST)  # the job that it may have begun
    thread.join()
    wait_until(lambda: all(job["state"] in ("done", "failed", "cancelled") for job in server.get("/api/v1/jobs")["jobs"]), what="the jobs end")
    assert server.ask("/healthz")[0] == 200
    assert identities(server) == []


def test_a_hangup_during_an_edit_does_not_bring_old_presets_back(scene):
    held = Held(scene)
    server = held.server
    put = lambda name, text: server.ask(f"/api/v1/presets/{name}", "PUT", {"yaml": text}, {"Content-Type": "application/json"})[0]  # noqa: E731
    assert put("mine", PRESET.format("first")) == 201
    assert put("zz-last", PRESET.format("read after mine")) == 201
    with held.call("open", "zz-last.yaml", lambda: server.process.send_signal(signal.SIGHUP)):
        thread, answers = begin(lambda: put("mine", PRESET.format("second")))
    thread.join()
    assert answers == [200]
    time.sleep(AT_MOST)  # the hangup ends
    assert server.get("/api/v1/presets/mine")["description"] == "second"
