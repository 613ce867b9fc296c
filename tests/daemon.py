"""A stratad of one's own: started on a free port in a scratch folder, asked over HTTP. Standard library only.

    with Daemon(store, roots=[folder]) as daemon:
        trace = daemon.ingest(folder)
        summary = daemon.get(f"/api/v1/traces/{trace['id']}/summary")
"""
import contextlib
import json
import os
import pathlib
import re
import signal
import subprocess
import time
import urllib.error
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent
SHARED = pathlib.Path(os.environ.get("STRATA_SHARED", ROOT.parent / "shared"))
ENDED = ("done", "failed", "cancelled")

# A condition that takes milliseconds for each event: on 100,000 of them it ends when somebody ends it.
ENDLESS = " or ".join(f"replace(str(ts + {i}), '.', '\\g<0>{'abcdefghij' * 5}').str.count('(?:a|b|c|d|e|f|g|h|i|j)*?[yz]') > 99" for i in range(3))


def tool(variable, default):
    """path of a built program: from the environment, else from build/"""
    return os.environ.get(variable, str(ROOT / "build" / default))


def generate(folder, **options):
    """writes a trace; gives its true totals"""
    arguments = []
    for name, value in options.items():
        option = "--" + name.replace("_", "-")
        arguments += [option] if value is True else [option, str(value)]
    command = [tool("STRATA_GENERATE", "tests/data/strata-generate"), *arguments, str(folder)]
    return json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)


def wait_until(condition, timeout=300, what="it"):
    deadline = time.monotonic() + timeout
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(f"{what} did not happen within {timeout} s")
        time.sleep(0.01)


class Refused(Exception):
    """an answer that is an error: its status and problem document"""

    def __init__(self, status, problem):
        super().__init__(f"{status}: {problem}")
        self.status, self.problem = status, problem


class Daemon:
    def __init__(self, store, roots=(), options=(), log=None, start=True):
        self.store, self.roots, self.options = pathlib.Path(store), roots, options
        self.log_path = pathlib.Path(log or self.store.with_name(self.store.name + ".log"))
        self.process = self.base = None
        if start:
            self.start()

    def command(self):
        roots = [a for root in self.roots for a in ("--root", str(root))]
        return [tool("STRATAD", "server/stratad"), "--listen", "127.0.0.1:0", "--store", str(self.store), *roots, *map(str, self.options)]

    def start(self):
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(self.command(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log, text=True)
        line = self.process.stdout.readline()
        found = re.fullmatch(r"listening on (http://\S+)\n", line)
        if not found:
            self.process.kill()
            raise RuntimeError(f"stratad did not start: {line!r}, exit status {self.process.wait()}; {self.log_tail()}")
        self.base = found[1]

    def log_tail(self, size=3000):
        return self.log_path.read_text(errors="replace")[-size:] if self.log_path.exists() else ""

    def request(self, method, path, body=None, headers=None, timeout=600):
        """(status, headers, bytes); an error answer too"""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.base + path, data=data, method=method, headers=headers or {})
        if data is not None:
            request.add_header("Content-Type", "application/json")
        try:
            with urllib.request.urlopen(request, timeout=timeout) as answer:
                return answer.status, answer.headers, answer.read()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.headers, error.read()

    def call(self, method, path, body=None):
        status, _, text = self.request(method, path, body)
        value = json.loads(text) if text else None
        if status >= 400:
            raise Refused(status, value)
        return value

    def get(self, path):
        return self.call("GET", path)

    def register(self, path, **more):
        """(trace, job or None)"""
        answer = self.call("POST", "/api/v1/traces", {"path": str(path), **more})
        return answer.get("trace", answer), answer.get("job")

    def wait(self, job, timeout=600):
        """the job once it has ended"""
        deadline = time.monotonic() + timeout
        while time.monotonic() < deadline:
            now = self.get(f"/api/v1/jobs/{job['id']}")
            if now["state"] in ENDED:
                return now
            time.sleep(0.01)
        raise TimeoutError(f"job {job['id']} did not end: {now}")

    def ingest(self, path):
        """registers a trace and waits; gives its description"""
        trace, job = self.register(path)
        if job:
            ended = self.wait(job)
            if ended["state"] != "done":
                raise RuntimeError(f"ingest of {path}: {ended}")
        return self.get(f"/api/v1/traces/{trace['id']}")

    def memory_peak(self):
        """bytes"""
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) * 1024

    def metric(self, name):
        """a figure of /metrics"""
        text = self.request("GET", "/metrics")[2].decode()
        return next(float(line.rsplit(" ", 1)[1]) for line in text.splitlines() if line.startswith(name + " "))

    def idle(self, samples=10):
        """whether none of its threads wants a processor; unlike its processor time that is so on a busy machine too"""
        for _ in range(samples):
            if self.thread_states() & {"R", "D"}:
                return False
            time.sleep(0.01)
        return True

    def thread_states(self):
        states = set()
        for stat in pathlib.Path(f"/proc/{self.process.pid}/task").glob("*/stat"):
            with contextlib.suppress(OSError):  # the thread has ended since
                states.add(stat.read_text().rsplit(")", 1)[1].split()[0])
        return states

    def kill(self):
        """as the machine would"""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.process.stdout.close()
        self.process = None

    def stop(self, timeout=300):
        """asks it to stop; gives its exit status"""
        if self.process is None:
            return 0
        self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            return None
        finally:
            self.process.stdout.close()
            self.process = None

    def __enter__(self):
        return self

    def __exit__(self, *error):
        status = self.stop()
        if not error[0] and status != 0:
            raise RuntimeError(f"stratad ended with {status}; {self.log_tail()}")


class Checks:
    """counts what holds and what does not; ends in the line that tests/run reads"""

    def __init__(self):
        self.passed = self.failed = self.skipped = 0

    def equal(self, got, wanted, what):
        self.check(got == wanted, f"{what}: {got!r}, not {wanted!r}")

    def check(self, ok, what):
        self.passed, self.failed = self.passed + bool(ok), self.failed + (not ok)
        if not ok:
            print(f"FAILED {what}", flush=True)

    def skip(self, what, why):
        self.skipped += 1
        print(f"skipped {what}: {why}", flush=True)

    def attempt(self, what, function, *arguments):
        """runs a group of checks; an exception is one that failed"""
        print(f"-- {what}", flush=True)
        try:
            return function(self, *arguments)
        except Exception as error:  # whatever it is, the other groups go on
            self.check(False, f"{what}: {type(error).__name__}: {error}")

    def end(self):
        print(f"{self.passed} passed, {self.failed} failed" + (f", {self.skipped} skipped" if self.skipped else ""))
        return 1 if self.failed else 0
