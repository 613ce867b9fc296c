"""Dask computations and what-if questions: ingest, tables just after a start, scenarios and sweeps."""
import shutil
import statistics
import time

import dasf_records
from daemon import Daemon, wait_until
from table import seconds

RUNS = 3
SWEEP = {"workers": [1, 2, 3, 4, 6, 8, 12, 16, 24, 32], "storage": [1, 0.5, 0.25, 0.1, 0], "prefetch": [2, 4]}  # 100 scenarios
TABLES = ("task_bottleneck?limit=100", "function_bottleneck", "task_balance?limit=100", "critical_path?limit=100")


def timed(call, *arguments):
    start = time.perf_counter()
    call(*arguments)
    return time.perf_counter() - start


def records(data):
    """(folder, number of records); made once"""
    tasks = 100000 if data.quick else 1000000
    folder, done = data.folder / f"dask-{tasks}", data.folder / f"dask-{tasks}.records"
    if not done.exists():
        shutil.rmtree(folder, ignore_errors=True)
        done.write_text(str(dasf_records.write(folder, tasks)))
    return folder, int(done.read_text())


def ingest_records(folder, store):
    """(seconds, the trace)"""
    shutil.rmtree(store, ignore_errors=True)
    with Daemon(store, [folder]) as daemon:
        start = time.perf_counter()
        trace, job = daemon.register(folder)
        daemon.wait(job)
        return time.perf_counter() - start, trace


def measure_dask(table, data, scratch):
    folder, count = records(data)
    store = scratch / "store-dask"
    runs = [ingest_records(folder, store) for _ in range(RUNS)]
    taken, trace = statistics.median(run[0] for run in runs), runs[-1][1]
    with Daemon(store, [folder]) as daemon:
        wait_until(lambda: daemon.idle(50), timeout=120, what="the work after the ingest")  # its compaction would begin again at each start, beside the tables
    table.add(f"ingest of {count:,} records of DASF", f"{seconds(taken)}, {count / taken / 1e6:.2f} M records/s")
    for name in TABLES:
        with Daemon(store, [folder]) as daemon:
            daemon.get(f"/api/v1/traces/{trace['id']}/events?limit=1")
            table.add(f"{name.split('?')[0]}, just after a start", seconds(timed(daemon.get, f"/api/v1/traces/{trace['id']}/dasf/{name}")))


def measure_what_if(table, data, scratch):
    trace = data.four_files()
    with Daemon(scratch / "store-whatif", [trace.path]) as daemon:
        path = f"/api/v1/traces/{daemon.ingest(trace.path)['id']}/whatif"
        first = timed(daemon.call, "POST", path, {})
        answer = daemon.call("POST", path, {})["model"]
        table.add(f"what if: the model of {answer['work']['jobs']:,} samples in {answer['steps']:,} steps", seconds(first))
        table.add("one scenario", seconds(timed(daemon.call, "POST", path, {"scenarios": [{"workers": 8}]})))
        table.add("a sweep of 100 scenarios", seconds(timed(daemon.call, "POST", path, {"sweep": SWEEP})))
