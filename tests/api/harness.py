"""What the tests of the HTTP interface share: traces to ask about, a daemon with settings, raw requests, and schemas.

A test is a function `test_..` of a module `test_*.py`; it takes a `Scene`. What it leaves is cleared away by the runner.
"""
import contextlib
import functools
import gzip
import http.client
import json
import pathlib
import re
import socket
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from daemon import ENDLESS, Daemon, generate, wait_until  # noqa: E402, F401

SANITIZERS = re.compile(r"ERROR: (Address|Leak|Undefined|Memory)\w*Sanitizer|WARNING: ThreadSanitizer|runtime error:|Assertion .* failed")


class Skipped(Exception):
    """A test cannot run here: `Skipped(need, why)`; the need is a package, or one of those that tests/running.py excuses."""

    def __init__(self, need, why):
        super().__init__(f"needs {need}: {why}")


# ---- traces


def event(name, cat, ts, dur, pid=1, tid=1, **args):
    return json.dumps({"id": 0, "name": name, "cat": cat, "pid": pid, "tid": tid, "ts": ts, "dur": dur, "ph": "X", "args": args})


def small_trace():
    """lines of a tiny DLIO run: two ranks, one epoch"""
    lines = ["["]
    lines.append(json.dumps({"name": "HH", "cat": "dftracer", "ph": "M", "pid": 1, "tid": 1, "args": {"name": "node1", "value": 77}}))
    lines.append(json.dumps({"name": "FH", "cat": "dftracer", "ph": "M", "pid": 1, "tid": 1, "args": {"name": "/data/a.npz", "value": 5}}))
    for pid in (1, 2):
        base = 1_700_000_000_000_000 + pid * 10
        lines.append(event("DLIOBenchmark.run", "dlio_benchmark", base, 10_000_000, pid, pid, hhash=77))
        lines.append(event("DLIOBenchmark._train", "dlio_benchmark", base + 1_000_000, 8_000_000, pid, pid, hhash=77))
        for step in range(8):
            at = base + 1_000_000 + step * 1_000_000
            lines.append(event("TorchFramework.compute", "ai_framework", at, 500_000, pid, pid, hhash=77, step=step + 1, epoch=1))
            lines.append(event("<module>.iter", "data_loader", at + 500_000, 300_000, pid, pid, hhash=77, step=step + 1))
            lines.append(event("read", "POSIX", at + 550_000, 100_000, pid, pid, hhash=77, fhash=5, ret=4096 * (step + 1), size_sum=4096 * (step + 1)))
    lines.append(json.dumps({"name": "cpu", "cat": "sys", "ph": "C", "pid": 1, "tid": 1, "ts": base, "args": {"hhash": 77, "user_pct": 12.5}}))
    lines.append("]")
    return lines


SMALL_EVENTS = 2 * (2 + 8 * 3)


def write_trace(folder, lines=None, name="rank-0.pfw", packed=False):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    data = ("\n".join(small_trace() if lines is None else lines) + "\n").encode()
    (folder / (name + ".gz" * packed)).write_bytes(gzip.compress(data) if packed else data)
    return folder


LOG = "2021-09-01 19:48:{at:02d}.000 DEBUG:\tGPU: {gpu} worker_id: 0, END FETCH at_time {fetch} data idx{k}\n"
STEP = "2021-09-01 19:48:{at:02d}.500000 GPU: {gpu} Epoch: [{epoch}][{k}/20]\tTime 1.500000 (1.5)\tData 0.{stall}00000 (0.1)\tThroughput 10.0 (10.0)\n"
TRAINING_CONF = {"FILE": "type_data_aug_net_epoch2_b4_worker1_thread0", "FETCH_ALIGN": [False, "avg"], "START_ALIGN": [False]}


def training(compute=40_000, item=20_000, steps=10):
    """lines of one rank that makes its own samples: a fetch, then a computation"""
    lines, at = ["["], 1_700_000_000_000_000
    for k in range(steps):
        lines.append(event("TorchDataset.__getitem__", "data_loader", at + 100, item, 1, 1))
        lines.append(event("read", "POSIX", at + 200, item // 2, 1, 1, fname="/data/a", ret=4096))
        lines.append(event("loop.iter", "data_loader", at, item + 300, 1, 1, step=k + 1))
        lines.append(event("TorchFramework.compute", "ai_framework", at + item + 400, compute, 1, 1, step=k + 1))
        at += item + compute + 600
    return lines


def training_log():
    """text of a log: two GPUs, two epochs of 20 iterations"""
    lines = []
    for epoch in range(2):
        for k in range(20):
            for gpu in range(2):
                lines.append(LOG.format(at=epoch * 25 + k, gpu=gpu, fetch=f"{0.5 + 0.1 * gpu}", k=k))
                lines.append(STEP.format(at=epoch * 25 + k, gpu=gpu, epoch=epoch, k=k, stall=gpu + 1))
    return "".join(lines)


def write_log(folder, text=None):
    folder.mkdir(parents=True)
    (folder / "output.log").write_text(training_log() if text is None else text)
    (folder / "sim_conf.json").write_text(json.dumps(TRAINING_CONF))
    return folder


@functools.cache
def large_file(events, rank):
    """bytes of a gzip file; many tests want the same"""
    lines = ('{"id":%d,"name":"read","cat":"POSIX","pid":%d,"tid":1,"ts":%d,"dur":50,"ph":"X","args":{"ret":%d,"step":%d}}\n'
             % (i, rank, 1_700_000_000_000_000 + i * 100, i % 5000, i // 1000) for i in range(events))
    return gzip.compress(b"[\n" + "".join(lines).encode(), 1)


def write_large(folder, events=400_000, files=4):
    """a trace whose ingest takes a while"""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for rank in range(files):
        (folder / f"rank-{rank}.pfw.gz").write_bytes(large_file(events // files, rank))
    return folder


# ---- a daemon


class Server(Daemon):
    """a daemon with settings from a file, whose log must be clean of sanitizers' reports at the end"""

    def __init__(self, folder, roots=(), settings=None, options=(), start=True):
        folder = pathlib.Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        options = list(options)
        if settings:
            config = folder / "stratad.yaml"
            config.write_text("".join(f"{k}: {json.dumps(v)}\n" for k, v in settings.items()))
            options += ["--config", str(config)]
        super().__init__(folder / "store", roots=roots, options=options, log=folder / "log", start=start)

    @property
    def address(self):
        host, port = self.base.removeprefix("http://").rsplit(":", 1)
        return host.strip("[]"), int(port)

    def ask(self, path, method="GET", body=None, headers=None):
        """(status, headers, value): JSON where the content is JSON, else bytes"""
        connection = http.client.HTTPConnection(*self.address, timeout=120)
        data = json.dumps(body).encode() if isinstance(body, (dict, list)) else body
        try:
            connection.request(method, path, body=data, headers=headers or {})
            answer = connection.getresponse()
            content = answer.read()
        finally:
            connection.close()
        if "json" in (answer.getheader("Content-Type") or "") and "ndjson" not in answer.getheader("Content-Type") and content:
            if answer.getheader("Content-Encoding") == "gzip":
                content = gzip.decompress(content)
            content = json.loads(content)
        return answer.status, answer.headers, content

    def problem(self, path, status, method="GET", body=None, headers=None):
        """the problem document of a request that fails with @status"""
        got, head, value = self.ask(path, method, body, headers)
        assert got == status, f"{method} {path}: {got}, not {status}: {value}"
        assert head["Content-Type"] == "application/problem+json", head["Content-Type"]
        assert value["status"] == status and value["title"] and value["detail"] and value["type"], value
        return value

    def connect(self, timeout=120):
        return socket.create_connection(self.address, timeout=timeout)

    def raw(self, request, timeout=120):
        """sends bytes, reads until the server closes: (status or 0, all bytes)"""
        with self.connect(timeout) as s:
            s.sendall(request)
            answer = b""
            with contextlib.suppress(ConnectionError, TimeoutError):
                while chunk := s.recv(65536):
                    answer += chunk
        match = re.match(rb"HTTP/1\.[01] (\d+)", answer)
        return int(match[1]) if match else 0, answer

    def log(self):
        return self.log_path.read_text(errors="replace")

    def stop(self, timeout=300):
        status = super().stop(timeout)
        found = SANITIZERS.search(self.log()) if self.log_path.exists() else None
        assert not found, f"the log has {found[0]}: {self.log()[found.start():found.start() + 3000]}"
        return status


class Scene:
    """a scratch folder, daemons that are stopped at its end, and one daemon that tests share which change nothing"""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.servers = []
        self.count = 0
        self._shared = None

    def new(self, name="scene"):
        self.count += 1
        path = self.folder / f"{name}-{self.count}"
        path.mkdir(parents=True)
        return path

    def server(self, roots=(), settings=None, options=(), start=True):
        server = Server(self.new("daemon"), roots, settings, options, start)
        self.servers.append(server)
        return server

    @property
    def shared(self):
        """a daemon with one small trace ingested, `shared.trace`"""
        if self._shared is None:
            root = self.new("root")
            server = Server(self.new("shared"), [root])
            server.root = root
            server.trace = server.ingest(write_trace(root / "small"))
            server.path = f"/api/v1/traces/{server.trace['id']}"
            self._shared = server
        return self._shared

    def clear(self):
        """stops what a test started"""
        servers, self.servers = self.servers, []
        for server in servers:
            if server.process is not None:
                status = server.stop()
                assert status == 0, f"the daemon ended with {status}: {server.log_tail()}"

    def end(self):
        if self._shared is not None:
            status = self._shared.stop()
            assert status == 0, f"the shared daemon ended with {status}: {self._shared.log_tail()}"


# ---- schemas: the part of JSON Schema that the API uses

TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}


def is_type(value, name):
    if name == "integer":
        return isinstance(value, int) and not isinstance(value, bool)
    if name == "number":
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    return isinstance(value, TYPES[name])


KNOWN = {"$ref", "type", "enum", "anyOf", "properties", "required", "additionalProperties", "items", "minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties", "minimum", "maximum",
         "format", "default", "description", "examples"}


def violations(value, schema, document, where="$"):
    """where a value breaks its schema; a keyword that this doesn't know is one too"""
    if "$ref" in schema:
        target = document
        for part in schema["$ref"].removeprefix("#/").split("/"):
            target = target[part]
        return violations(value, target, document, where)
    found = [f"{where}: unknown keyword {k}" for k in schema if k not in KNOWN]
    types = schema.get("type", [])
    types = [types] if isinstance(types, str) else types
    if types and not any(is_type(value, t) for t in types):
        return found + [f"{where}: {value!r:.80} is not of type {types}"]
    if "enum" in schema and value not in schema["enum"]:
        found.append(f"{where}: {value!r} is not one of {schema['enum']}")
    if "anyOf" in schema and all(violations(value, s, document, where) for s in schema["anyOf"]):
        found.append(f"{where}: {value!r:.80} fits none")
    if "minimum" in schema and value < schema["minimum"]:
        found.append(f"{where}: {value} is too small")
    if "maximum" in schema and value > schema["maximum"]:
        found.append(f"{where}: {value} is too large")
    if schema.get("format") == "date-time" and value is not None and not re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", value):
        found.append(f"{where}: {value!r} is not a time")
    if isinstance(value, str) and not schema.get("minLength", 0) <= len(value) <= schema.get("maxLength", len(value)):
        found.append(f"{where}: a text of {len(value)}")
    if isinstance(value, dict):
        if not schema.get("minProperties", 0) <= len(value) <= schema.get("maxProperties", len(value)):
            found.append(f"{where}: {len(value)} members")
        found += [f"{where}: {name} is missing" for name in schema.get("required", []) if name not in value]
        others = schema.get("additionalProperties", True)
        for name, member in value.items():
            below = schema.get("properties", {}).get(name, others)
            if below is False:
                found.append(f"{where}: {name} is not in the schema")
            elif below is not True:
                found += violations(member, below, document, f"{where}.{name}")
    if isinstance(value, list):
        if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
            found.append(f"{where}: {len(value)} items")
        if "items" in schema:
            for i, item in enumerate(value):
                found += violations(item, schema["items"], document, f"{where}[{i}]")
    return found
