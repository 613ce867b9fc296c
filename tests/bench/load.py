"""A hundred clients at once, and long streams: how fast, in how much memory, and whether others are served meanwhile."""
import http.client
import json
import multiprocessing
import socket
import statistics
import threading
import time
import urllib.parse
from daemon import Daemon, wait_until
from serving import QUIET, prepare
from table import mebibytes, seconds

CLIENTS = 100
MEMORY = "1GiB"

MIXED = [  # `I` becomes the number of the client, so that no two ask the same
    {"filter": "cat == 'posix'", "group_by": ["func_name"], "aggregate": {"aI": "sum(time)", "n": "count()"}},
    {"group_by": [{"t": "bin(time_start, 5)"}, "pid", "func_name"], "aggregate": {"aI": "count()", "s": "sum(size)"}},
    {"filter": "file_name.str.contains('img_0.*[13579]_of')", "value_counts": {"kI": "basename(file_name)"}},
    {"group_by": ["func_name"], "aggregate": {"aI": "median(dur)", "q": "quantile(size, 0.9)"}},
    {"columns": [{"cI": "func_name"}, "ts", "dur", "args.ret"], "order_by": ["-dur"], "limit": 1000},
    {"describe": [{"dI": "dur"}, "size"], "group_by": ["cat"]},
    {"histogram": {"of": "dur", "bins": 50}, "group_by": [{"kI": "pid"}]},
    {"group_by": ["ts", "tid"], "aggregate": {"aI": "count()"}, "limit": 10},
]


class Watch(threading.Thread):
    """asks /healthz until it is stopped; `delays` in seconds"""

    def __init__(self, daemon):
        super().__init__()
        self.daemon_, self.delays, self.stopped = daemon, [], threading.Event()

    def run(self):
        connection = http.client.HTTPConnection(self.daemon_.base.removeprefix("http://"), timeout=60)
        while not self.stopped.is_set():
            start = time.perf_counter()
            connection.request("GET", "/healthz")
            connection.getresponse().read()
            self.delays.append(time.perf_counter() - start)
            time.sleep(0.002)
        connection.close()

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *error):
        self.stopped.set()
        self.join()

    def text(self):
        return f"median {seconds(statistics.median(self.delays))}, at most {seconds(max(self.delays))}"


class WatchApart:
    """the same from a process of its own, which does not wait for the interpreter of those who ask"""

    def __init__(self, daemon):
        context = multiprocessing.get_context("fork")
        self.watch, self.delays, self.over = Watch(daemon), [], context.Event()
        self.ours, theirs = context.Pipe()
        self.process = context.Process(target=self.run, args=(theirs,))

    def run(self, pipe):
        with self.watch:
            self.over.wait()
        pipe.send(self.watch.delays)

    def __enter__(self):
        self.process.start()
        return self

    def __exit__(self, *error):
        self.over.set()
        self.delays = self.watch.delays = self.ours.recv()
        self.process.join()

    def text(self):
        return self.watch.text()


SLOW_CLIENTS, QUESTIONS, AT_ONCE = 200, 500, 50


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def measure_slow_clients(table, data, scratch):
    """how long /healthz takes while slow clients trickle their requests and many questions are asked"""
    trace, statuses, numbers = data.four_files(), [], iter(range(QUESTIONS))
    with Daemon(scratch / "store", [trace.path], ["--memory", MEMORY, "--request-timeout", "600", "--connections-per-client", "1000"]) as daemon:
        path = f"/api/v1/traces/{daemon.ingest(trace.path)['id']}/query"
        host, port = daemon.base.removeprefix("http://").split(":")
        slow = [socket.create_connection((host, int(port))) for _ in range(SLOW_CLIENTS)]
        over = threading.Event()

        def trickle():
            for s in slow:
                s.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")
            while not over.wait(0.5):
                for s in slow:
                    s.sendall(b"a")

        def ask():
            for number in numbers:  # each number goes to one of those who ask
                request = json.loads(json.dumps(MIXED[number % len(MIXED)]).replace('I"', f'{number}"'))
                statuses.append(daemon.request("POST", path, request, timeout=600)[0])

        threads = [threading.Thread(target=trickle), *(threading.Thread(target=ask) for _ in range(AT_ONCE))]
        with WatchApart(daemon) as watch:
            for t in threads:
                t.start()
            for t in threads[1:]:
                t.join()
            over.set()
            threads[0].join()
        for s in slow:
            s.close()
    good = sum(s == 200 for s in statuses)
    table.add(f"/healthz under {SLOW_CLIENTS} slow clients and {QUESTIONS} questions", f"99.9 %: {seconds(percentile(watch.delays, 0.999))}",
              f"{watch.text()}; answered 200", f"{good} of {QUESTIONS}", "", "<= 50 ms")


def measure_concurrent(table, data, scratch):
    trace, statuses, taken = data.four_files(), [], []
    with Daemon(scratch / "store", [trace.path], ["--memory", MEMORY]) as daemon:
        path = f"/api/v1/traces/{daemon.ingest(trace.path)['id']}/query"

        def client(number):
            request = json.loads(json.dumps(MIXED[number % len(MIXED)]).replace('I"', f'{number}"'))
            start = time.perf_counter()
            status, _, text = daemon.request("POST", path, request, timeout=300)
            taken.append(time.perf_counter() - start)
            statuses.append(status if status == 200 else (status, text[:200]))

        clients = [threading.Thread(target=client, args=(i,)) for i in range(CLIENTS)]
        with Watch(daemon) as watch:
            start = time.perf_counter()
            for c in clients:
                c.start()
            for c in clients:
                c.join()
            whole = time.perf_counter() - start
        peak = daemon.memory_peak()
    good = sum(s == 200 for s in statuses)
    table.add(f"{CLIENTS} queries at once, none asked before", seconds(whole), "answered 200", f"{good} of {CLIENTS}",
              "; ".join(sorted({str(s) for s in statuses if s != 200}))[:200], "else 429 or 503")
    table.add("each of them", f"median {seconds(statistics.median(taken))}")
    table.add("/healthz meanwhile", watch.text(), "", "", "", "<= 50 ms")
    table.add("memory at most", mebibytes(peak), "setting memory", MEMORY)


def measure_stream(table, data, scratch):
    """all events as lines"""
    trace = data.four_files()
    columns = ["func_name", "cat", "pid", "tid", "ts", "dur", "file_name", "size", "args.ret"]
    with Daemon(scratch / "store", [trace.path], ["--memory", MEMORY]) as daemon:
        identity = daemon.ingest(trace.path)["id"]
        query = urllib.parse.urlencode([("format", "ndjson"), *(("columns", c) for c in columns)])
        with Watch(daemon) as watch:
            start, rows, size = time.perf_counter(), 0, 0
            connection = http.client.HTTPConnection(daemon.base.removeprefix("http://"), timeout=300)
            connection.request("GET", f"/api/v1/traces/{identity}/events?{query}")
            answer = connection.getresponse()
            while chunk := answer.read(1 << 20):
                rows, size = rows + chunk.count(b"\n"), size + len(chunk)
            taken = time.perf_counter() - start
            connection.close()
        peak = daemon.memory_peak()
    if rows != trace.totals["events"]:
        raise RuntimeError(f"{rows} rows of {trace.totals['events']}")
    table.add(f"all {rows:,} events as ndjson, {len(columns)} columns", seconds(taken), "", f"{rows / taken / 1e6:.2f} M rows/s, {size / taken / 1e6:.0f} MB/s")
    table.add("/healthz meanwhile", watch.text(), "", "", "", "<= 50 ms")
    table.add("memory at most", mebibytes(peak), "setting memory", MEMORY)


def all_rows(daemon, path):
    """seconds until the last byte; the response is not kept"""
    connection = http.client.HTTPConnection(daemon.base.removeprefix("http://"), timeout=300)
    start, piece = time.perf_counter(), bytearray(1 << 20)
    connection.request("GET", path)
    answer = connection.getresponse()
    if answer.status != 200:
        raise RuntimeError(f"{path}: {answer.status} {answer.read()[:200]!r}")
    while answer.readinto(piece):
        pass
    connection.close()
    return time.perf_counter() - start


def measure_formats(table, data, scratch):
    """all events, 8 columns, as Arrow beside CSV: as they are after the ingest, and in the order of time, as compaction leaves them"""
    trace, identity = prepare(data.four_files(), scratch)
    columns = ["time_start", "time", "cat", "func_name", "pid", "tid", "file_name", "size"]
    path = f"/api/v1/traces/{identity}/events?" + urllib.parse.urlencode([("columns", c) for c in columns])
    for when in ("", ", compacted"):
        with Daemon(scratch / "store", [trace.path], QUIET) as daemon:
            if when:
                daemon.wait(daemon.call("POST", f"/api/v1/traces/{identity}/compact")["job"])
                wait_until(lambda: daemon.idle(50), timeout=120, what="the work after compaction")
            pairs = [[all_rows(daemon, f"{path}&format={name}") for name in ("arrow", "csv")] for _ in range(6)][1:]  # the first decodes
        arrow, csv = (statistics.median(pair[i] for pair in pairs) for i in (0, 1))
        table.add(f"all {trace.totals['events']:,} events as Arrow, {len(columns)} columns{when}", seconds(arrow), "as CSV", seconds(csv),
                  f"{csv / arrow:.1f} x faster", ">= 5 x")
