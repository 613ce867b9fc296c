"""A daemon of several ranks for the tests of this folder, and what is asked of it."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent)]
from daemon import SHARED, Daemon, tool, wait_until  # noqa: E402

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
    {"columns": ["ts", "dur", "size", "func_name", "file_name"], "order_by": ["-size", "dur"], "limit": 300},
    {"filter": "dur > 5", "columns": ["ts", "pid"], "order_by": ["pid", "-ts"], "offset": 1234, "limit": 50},
    {"derive": {"end": "ts + dur"}, "columns": ["end", "tid"], "order_by": ["-end"], "limit": 5000},
    {"columns": ["ts", "func_name"], "order_by": ["func_name", "dur"], "limit": 20},
    {"columns": ["ts", "dur", "func_name"], "order_by": ["-dur"], "limit": 400, "then": {"group_by": ["func_name"], "aggregate": {"n": "count()", "t": "sum(dur)"}}},
    {"filter": "dur == -1", "columns": ["ts"], "order_by": ["-dur"], "limit": 20},
    {"filter": 'func_name == "nobody calls this"', "group_by": ["pid"], "aggregate": {"n": "count()"}},
    {"histogram": {"of": "dur", "bins": 20}},
    {"filter": "size.notna()", "group_by": ["func_name"], "histogram": {"of": "size / 3", "bins": 7}},
    {"filter": 'func_name == "nobody calls this"', "histogram": {"of": "dur", "bins": 4}},
]
# So many groups and values that it depends on the machine whether a rank sends them or rank 0 reads the rows.
MANY_GROUPS = [
    {"group_by": ["ts", "tid", "func_name", "file_name"], "aggregate": {"n": "count()", "t": "sum(time)", "f": "first(file_name)"}, "limit": 20000},
    {"group_by": ["func_name"], "aggregate": {f"{name}{share}": f"quantile({name}, {share / 100})" for name in ("dur", "ts", "size", "te", "pid", "tid") for share in (25, 50, 90)}},
    {"group_by": ["pid"], "aggregate": {"t": "nunique(ts)", "e": "nunique(te)", "d": "nunique(dur)", "f": "nunique(file_name)"}},
]
LAYER_KEYS = ["func_name", "process", "thread", "host_name", "file_name", "time_range", "epoch"]
VIEWS = [
    "summary", "summary?from=100&to=700", "summary?filter=dur>20", "timeseries?max_points=50", "timeseries?max_points=700&metrics=busy,size,time",
    "timeline/lanes", "report", "views/flat?by=process", *[f"views/layer?layer=reader_posix_lustre&by={key}" for key in LAYER_KEYS],
]
SETS = {"io": 'cat == "posix"', "long": "dur > 50", "instant": "dur == 0", "compute": 'func_name == "compute"'}
OVERLAPS = [
    *[{"sets": SETS, "scope": scope} for scope in ("thread", "process", "rank_group", "host", "job")],
    {"sets": SETS, "scope": "process", "from": 50.5, "to": 720.25}, {"sets": SETS, "scope": ["pid", "cat"]},
    *[{"sets": SETS, "scope": scope, "exposure": True} for scope in ("thread", "process", "rank_group", "host", "job")],
    {"sets": SETS, "scope": "process", "exposure": True, "from": 100.25, "to": 640.5},
    *[{"sets": SETS, "scope": scope, "granularity": 1} for scope in ("thread", "process", "rank_group", "host", "job")],
    {"sets": SETS, "scope": "process", "granularity": 0.05, "exposure": True, "from": 100.25, "to": 640.5},
    # Events in which all others lie: they reach over the cuts between ranges of time.
    {"sets": {"outer": "dur > 1000", "io": 'cat == "posix"', "all": "dur >= 0"}, "scope": "thread", "exposure": True},
    {"sets": {"outer": "dur > 1000", "io": 'cat == "posix"', "all": "dur >= 0"}, "scope": "job", "exposure": True, "from": 300},
]


# Open MPI unloads modules that have not freed all: such leaks have no names by which they could be told from one's own.
NO_LEAKS = os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"


class Ranks(Daemon):
    """stratad as several ranks; its process is that of tests/cluster/ranks"""

    def __init__(self, ranks, store, roots=(), options=(), environment=None, **more):
        self.ranks, self.environment = ranks, environment or {}
        super().__init__(store, roots, ["--rank-stripe", "1", *options], **more)

    def command(self):
        return ["env", f"RANKS={self.ranks}", f"STRATAD_OF_RANKS={self.program()}", f"ASAN_OPTIONS={NO_LEAKS}",
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

    def ended(self, timeout=300):
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
        self.ended()


class SlurmStep(Ranks):
    """the same as a step of a Slurm cluster of two nodes on this machine, which starts and ends with it"""

    def command(self):
        start = ["timeout", "120", str(SHARED / "cluster/start-slurm"), "run", "--nodes", "2", "--"]
        step = ["srun", "--mpi=pmix", "--kill-on-bad-exit=1", "-N", "2", "-n", str(self.ranks), self.program()]
        return ["env", f"ASAN_OPTIONS={NO_LEAKS}", *start, *step, *Daemon.command(self)[1:]]

    def stop(self, timeout=300):
        os.kill(int((self.store / "lock").read_text()), 15)  # rank 0 ends the job in order
        return self.ended(timeout)


def slurm_is_missing():
    """(need, why) or None"""
    if not (SHARED / "cluster/start-slurm").exists():
        return "shared", "there is no start-slurm"
    absent = [program for program in ("slurmctld", "slurmd", "srun", "munged") if not shutil.which(program, path=os.environ["PATH"] + ":/usr/sbin")]
    if absent:
        return "slurm", f"there is no {absent[0]}"
    return None if os.geteuid() == 0 else ("slurm", "slurmd wants to be root")


def mpi_is_missing(program):
    """why there can be no ranks here, or None"""
    for command in (["mpirun", "--version"], ["ldd", program]):
        try:
            said = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False).stdout
        except FileNotFoundError:
            return "openmpi-bin", f"there is no {command[0]}"
    return None if "libmpi" in said else ("libopenmpi-dev", "stratad was built without MPI")


def pages(daemon, trace):
    """of sorted rows, each behind the one before"""
    query, found = {"filter": "dur > 3", "columns": ["ts", "size"], "order_by": ["size", "-ts"], "limit": 333}, []
    for _ in range(3):
        found.append(daemon.request("POST", f"/api/v1/traces/{trace}/query", query)[2])
        query["cursor"] = json.loads(found[-1]).get("next")
        if not query["cursor"]:
            break
    return found


def answers(daemon, trace, queries=QUERIES, views=VIEWS, overlaps=tuple(OVERLAPS)):
    """[(what, status, bytes)]"""
    got = [(str(query), *daemon.request("POST", f"/api/v1/traces/{trace}/query", query)[::2]) for query in queries]
    got += [(str(overlap), *daemon.request("POST", f"/api/v1/traces/{trace}/overlap", overlap)[::2]) for overlap in overlaps]
    got += [("pages", 200, page) for page in pages(daemon, trace)] if views else []
    return got + [(view, *daemon.request("GET", f"/api/v1/traces/{trace}/{view}")[::2]) for view in views]


def plain(got, trace):
    """the same without what differs from store to store: id of the trace, and cursors, which name its version; and without ids of requests"""
    return [(what, status, re.sub(rb'"(next|request_id)":"[^"]*"', b"", text.replace(trace.encode(), b"ID"))) for what, status, text in got]
