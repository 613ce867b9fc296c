"""Two MPI ranks of one worker each against one process of one worker, beside what the machine has: two independent daemons with half of the files."""
import os
import pathlib
import shutil
import sys
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "cluster"))
from daemon import Daemon, tool  # noqa: E402
from scene import Ranks, mpi_is_missing  # noqa: E402
from table import seconds  # noqa: E402

RUNS, QUESTIONS = 3, 20
QUIET = ["--compaction", "off", "--cache", "1"]
GROUP_BY = {"group_by": ["func_name"], "aggregate": {"n": "count()", "t": "sum(dur)", "m": "max(dur)", "a": "sum(dur * 1.5 + size % 7)", "b": "max(ts % 1000 * dur)", "s": "std(dur)"}}
# With a text made of each event: each rank makes those that are alike anew.
GROUP_BY_TEXTS = {"group_by": ["func_name"], "aggregate": {"n": "count()", "t": "sum(dur)", "m": "max(dur)", "x": "sum(replace(str(dur), '1', '22').str.len())"}}


def processor_time(daemon):
    """seconds of all its processes, which say less of what else the machine does than those on the clock"""
    pids = [daemon.pid_of(rank) for rank in range(daemon.ranks)] if isinstance(daemon, Ranks) else [daemon.process.pid]
    fields = [pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split() for pid in pids]
    return sum(int(f[11]) + int(f[12]) for f in fields) / os.sysconf("SC_CLK_TCK")


def wait(daemon, job):
    """until it has ended; asking time and again would take processor time from the ranks, and none from one process on two cores"""
    daemon.request("GET", f"/api/v1/jobs/{job['id']}/events")
    if (ended := daemon.wait(job))["state"] != "done":
        raise RuntimeError(f"ingest: {ended}")


def ingest(start, trace, store):
    """(seconds, of processor time)"""
    shutil.rmtree(store, ignore_errors=True)
    with start(store) as daemon:
        began, used = time.perf_counter(), processor_time(daemon)
        wait(daemon, daemon.register(trace.path)[1])
        return time.perf_counter() - began, processor_time(daemon) - used


def ingest_best(start, trace, store):
    """the least of some, of each of the two"""
    return [min(figures) for figures in zip(*(ingest(start, trace, store) for _ in range(RUNS)))]


def ingest_apart(trace, scratch):
    """seconds of two daemons at once, each with half of the files"""
    halves = []
    for number in range(2):
        half = scratch / f"half-{number}"
        half.mkdir(exist_ok=True)
        for file in trace.files[number::2]:
            if not (half / file.name).exists():
                shutil.copy(file, half)
        shutil.rmtree(scratch / f"apart-{number}", ignore_errors=True)
        halves.append((Daemon(scratch / f"apart-{number}", [half], [*QUIET, "--workers", 1]), half))
    began = time.perf_counter()
    jobs = [(daemon, daemon.register(half)[1]) for daemon, half in halves]
    for daemon, job in jobs:
        wait(daemon, job)
    taken = time.perf_counter() - began
    for daemon, _ in halves:
        daemon.stop()
    return taken


def group_by(number):
    return "query", {**GROUP_BY, "filter": f"dur >= {number}"}


def group_by_texts(number):
    return "query", {**GROUP_BY_TEXTS, "filter": f"dur >= {number}"}


def overlap(number):
    return "overlap", {"sets": {"read": f'cat == "posix" and dur >= {number}', "compute": 'func_name == "compute"', "long": f"dur > {50 + number}", "large": "size > 4096"}, "scope": "process"}


def series(number):
    return "overlap", {**overlap(number)[1], "granularity": 5}


def medians(number):
    return "query", {"filter": f"dur >= {number}", "group_by": ["func_name"], "aggregate": {"n": "count()", "p50": "median(dur)", "p99": "quantile(dur, 0.99)"}}


def many_groups(number):
    return "query", {"filter": f"dur >= {number}", "group_by": [{"t": "bin(time_start, 1)"}, "pid", "cat", "func_name"], "aggregate": {"n": "count()", "time": "sum(dur)"}}


# What is asked, and how much faster two ranks are to be. Medians and many groups are made by rank 0 alone, which is to lose nothing by that.
ASKED = {
    "group-by": (group_by, ">= 1.6 x"), "group-by with texts made": (group_by_texts, ">= 1.6 x"), "overlap": (overlap, ">= 1.6 x"), "series of an overlap": (series, ">= 1.6 x"),
    "medians": (medians, ">= 1 x"), "many groups": (many_groups, ">= 1 x"),
}


def best_of(question, start, store):
    """seconds of the best of some, each another question; processor time of each, on average"""
    with start(store) as daemon:
        trace = daemon.get("/api/v1/traces")["traces"][0]["id"]
        best, used = 1e9, processor_time(daemon)
        for number in range(QUESTIONS):
            call, body = question(number)
            began = time.perf_counter()
            daemon.call("POST", f"/api/v1/traces/{trace}/{call}", body)
            best = min(best, time.perf_counter() - began)
        return best, (processor_time(daemon) - used) / QUESTIONS


def add_processor_time(table, alone, ranks):
    table.add("", f"of processor time, both: {seconds(ranks)}", "1 x 1", seconds(alone), f"{2 * alone / ranks:.2f} x at best")


def measure(table, data, scratch):
    if missing := mpi_is_missing(tool("STRATAD", "server/stratad")):
        return table.add("ranks", f"left out: {missing[1]}")
    trace = data.four_files()

    def one(store):
        return Daemon(store, [trace.path], [*QUIET, "--workers", 1])

    def two(store):
        return Ranks(2, store, [trace.path], ["--rank-stripe", 8, *QUIET, "--workers", 1])

    (alone, used_alone), (ranks, used) = (ingest_best(*how) for how in ((one, trace, scratch / "one"), (two, trace, scratch / "two")))
    apart = min(ingest_apart(trace, scratch) for _ in range(RUNS))
    table.add("ingest by 2 ranks x 1 worker", seconds(ranks), "1 x 1", seconds(alone), f"{alone / ranks:.2f} x faster", ">= 1.7 x")
    add_processor_time(table, used_alone, used)
    table.add("", "ceiling", "two daemons, half of the files each", seconds(apart), f"{alone / apart:.2f} x faster")
    for name, (question, goal) in ASKED.items():
        (alone, used_alone), (ranks, used) = (best_of(question, *how) for how in ((one, scratch / "one"), (two, scratch / "two")))
        table.add(f"{name} by 2 ranks x 1 worker", seconds(ranks), "1 x 1", seconds(alone), f"{alone / ranks:.2f} x faster", goal)
        add_processor_time(table, used_alone, used)
