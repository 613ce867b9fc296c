"""A daemon of several ranks for the tests of this folder, and what is asked of it."""
import os
import pathlib
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent)]
from daemon import Daemon, tool, wait_until  # noqa: E402

QUERIES = [
    {"filter": 'cat == "posix"', "group_by": ["func_name"], "aggregate": {"n": "count()", "t": "sum(time)", "m": "median(dur)", "u": "nunique(file_name)"}},
    {"group_by": ["pid", "tid", "func_name"], "aggregate": {"n": "count()", "f": "first(ts)", "l": "last(func_name)"}},
    {"aggregate": {"n": "count()", "s": "std(dur)", "x": "mean(size)", "q": "quantile(dur, 0.9)"}},
    {"group_by": ["file_name"], "aggregate": {"n": "count()", "b": "sum(size)"}, "order_by": ["-n"], "limit": 50},
    {"derive": {"slow": "dur > 100"}, "filter": "slow", "group_by": ["host_name", "cat"], "aggregate": {"n": "count()", "x": "argmax(func_name, dur)"}},
    {"describe": ["dur", "size"]},
    {"value_counts": ["func_name"]},
    {"group_by": ["func_name"], "aggregate": {"n": "count()"}, "then": {"filter": "n > 10", "aggregate": {"names": "count()"}}},
    {"filter": "dur > 50", "columns": ["ts", "func_name"], "order_by": ["-dur"], "limit": 20},
    {"filter": 'func_name == "nobody calls this"', "group_by": ["pid"], "aggregate": {"n": "count()"}},
]
VIEWS = ["summary", "summary?from=1&to=3", "timeseries?granularity=1", "timeline/lanes", "report"]


class Ranks(Daemon):
    """stratad as several ranks; its process is that of tests/cluster/ranks"""

    def __init__(self, ranks, store, roots=(), options=(), environment=None, start=True):
        self.ranks, self.environment = ranks, environment or {}
        super().__init__(store, roots, ["--rank-stripe", "1", *options], start=start)

    def command(self):
        return ["env", f"RANKS={self.ranks}", f"STRATAD_OF_RANKS={self.program()}", f"LSAN_OPTIONS=suppressions={HERE / 'leaks'}:print_suppressions=0",
                *[f"{name}={value}" for name, value in self.environment.items()], str(HERE / "ranks"), *super().command()[1:]]

    @staticmethod
    def program():
        return tool("STRATAD", "server/stratad")

    def pid_of(self, rank):
        """process of a rank"""
        for entry in pathlib.Path("/proc").iterdir():
            try:
                text = (entry / "environ").read_bytes().split(b"\0") if entry.name.isdigit() else ()
                arguments = (entry / "cmdline").read_bytes().split(b"\0") if text else ()
            except OSError:
                continue
            if f"OMPI_COMM_WORLD_RANK={rank}".encode() in text and str(self.store).encode() in arguments:
                return int(entry.name)
        raise RuntimeError(f"there is no process of rank {rank}")

    def signal(self, rank, number):
        os.kill(self.pid_of(rank), number)

    def ended(self, timeout):
        """its status once all ranks are gone by themselves; None: they are not"""
        try:
            status = self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            return None
        self.process.stdout.close()
        self.process = None
        return status

    def start(self):
        super().start()
        wait_until(lambda: all(r["host"] for r in self.get("/healthz")["ranks"]), what="a word of every rank")

    def kill(self):
        """all of them, as the machine would"""
        for rank in range(self.ranks):
            self.signal(rank, 9)
        self.ended(30)


def mpi_is_missing(program):
    """why there can be no ranks here, or None"""
    for command in (["mpirun", "--version"], ["ldd", program]):
        try:
            said = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False).stdout
        except FileNotFoundError:
            return "openmpi-bin", f"there is no {command[0]}"
    return None if "libmpi" in said else ("libopenmpi-dev", "stratad was built without MPI")


def answers(daemon, trace, queries=QUERIES, views=VIEWS):
    """[(what, status, bytes)]"""
    got = [(str(query), *daemon.request("POST", f"/api/v1/traces/{trace}/query", query)[::2]) for query in queries]
    return got + [(view, *daemon.request("GET", f"/api/v1/traces/{trace}/{view}")[::2]) for view in views]


def settle(daemon):
    """waits for jobs in the background, which may publish versions of the same rows"""
    time.sleep(0.1)
    wait_until(lambda: all(job["state"] not in ("queued", "running") for job in daemon.get("/api/v1/jobs")["jobs"]), what="rest")
