"""Why a run is slow: findings and attribution of a daemon just started, of which nothing is kept, and asked again.

The plain answers are kept on disk since the ingest: a goal and a number of longest intervals that nobody asked for before have to be computed.
"""
import statistics
import time
from daemon import Daemon
from queries import processor_time
from serving import QUIET, prepare
from table import seconds

RUNS = 5
FINDINGS = ("GET", "findings?goal=0.90001", None)
ATTRIBUTION = ("POST", "overlap", {"preset": "dlio", "filters": "off", "attribution": {"chain": "stall", "by": ["unit"], "longest": 7}})


def timed(daemon, identity, question):
    """(seconds, seconds of processors)"""
    method, path, body = question
    work, start = processor_time(daemon.process), time.perf_counter()
    status, _, content = daemon.request(method, f"/api/v1/traces/{identity}/{path}", body)
    taken, work = time.perf_counter() - start, processor_time(daemon.process) - work
    if status != 200:
        raise RuntimeError(f"{path}: {status} {content[:500]}")
    return taken, work


def of_trace(table, trace, identity, scratch, label):
    for name, question, goal in (("all findings", FINDINGS, "<= 1 s"), ("attribution", ATTRIBUTION, "<= 150 ms")):
        cold, kept = [], []
        for _ in range(RUNS):
            with Daemon(scratch / "store", [trace.path], QUIET) as daemon:
                cold.append(timed(daemon, identity, question))
                kept.append(timed(daemon, identity, question)[0])
        taken, work = (statistics.median(one[i] for one in cold) for i in (0, 1))
        table.add(f"{name} of {label}, cold", seconds(taken), "", "", f"{seconds(work)} of processors", goal)
        table.add(f"{name} of {label}, kept", seconds(statistics.median(kept)), "", "", "", "<= 5 ms")


def measure(table, data, scratch):
    for label, trace in (("generated ranks", data.four_files()), ("replicas of a real trace", data.replicas())):
        folder = scratch / trace.path.name
        folder.mkdir()
        of_trace(table, *prepare(trace, folder), folder, label)
