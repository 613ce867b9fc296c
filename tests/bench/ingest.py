"""Cold ingest, against inflating alone and against DuckDB."""
import json
import shutil
import statistics
import subprocess
import time
import urllib.request
import duck
from daemon import ENDED, Daemon, wait_until
from table import mebibytes, seconds

RUNS = 3


def wait_by_events(daemon, job):
    """the job once it has ended, told by its events: a client that asks again and again takes time from the daemon"""
    with urllib.request.urlopen(f"{daemon.base}/api/v1/jobs/{job['id']}/events") as events:
        for line in events:
            if line.startswith(b"data:") and (now := json.loads(line[5:]))["state"] in ENDED:
                return now
    raise RuntimeError(f"the events of job {job['id']} ended before it")


def ingest_once(trace, store):
    """(seconds, peak memory, bytes of the store)"""
    shutil.rmtree(store, ignore_errors=True)
    with Daemon(store, [trace.path]) as daemon:
        start = time.perf_counter()
        got, job = daemon.register(trace.path)
        ended = wait_by_events(daemon, job)
        taken = time.perf_counter() - start
        if ended["state"] != "done":
            raise RuntimeError(f"ingest: {ended}")
        peak = daemon.memory_peak()
        events = daemon.get(f"/api/v1/traces/{got['id']}")["events"]
        if events != trace.totals["events"]:
            raise RuntimeError(f"ingest: {events} events, not {trace.totals['events']}")
    return taken, peak, sum(f.stat().st_size for f in store.rglob("*") if f.is_file())


def compacted_size(trace, store):
    """(bytes of the row groups, bytes of the whole store) once the trace was compacted and what is kept beside it was made"""
    shutil.rmtree(store, ignore_errors=True)
    with Daemon(store, [trace.path]) as daemon:
        identifier = daemon.ingest(trace.path)["id"]
        ended = daemon.wait(daemon.call("POST", f"/api/v1/traces/{identifier}/compact")["job"])
        if ended["state"] != "done":
            raise RuntimeError(f"compact: {ended}")
        wait_until(lambda: daemon.idle(50), timeout=120, what="the work after compaction")
        sizes = {f: f.stat().st_size for f in store.rglob("*") if f.is_file()}
    return sum(size for f, size in sizes.items() if f.suffix == ".segment"), sum(sizes.values())


def inflate_once(trace):
    """seconds of igzip -dc on the files, two at once; None where igzip is missing"""
    if not shutil.which("igzip"):
        return None
    names = b"\0".join(str(f).encode() for f in trace.files)
    start = time.perf_counter()
    subprocess.run("xargs -0 -n 1 -P 2 sh -c 'igzip -dc \"$0\" > /dev/null'", shell=True, input=names, check=True)
    return time.perf_counter() - start


def back_to_back(trace, scratch, runs=RUNS):
    """medians of ingest and inflating, taken in turns: (ingest seconds, inflate seconds or None, peak, store bytes)"""
    inflate_once(trace)  # the files are in the page cache for both
    pairs = [(ingest_once(trace, scratch / "store"), inflate_once(trace)) for _ in range(runs)]
    inflate = None if pairs[0][1] is None else statistics.median(i for _, i in pairs)
    return statistics.median(p[0] for p, _ in pairs), inflate, max(p[1] for p, _ in pairs), pairs[0][0][2]


def rate(trace, taken):
    return f"{trace.totals['events'] / taken / 1e6:.2f} M events/s, {trace.totals['ledger']['json_bytes'] / taken / 1e9:.2f} GB/s of JSON"


def measure_trace(table, trace, what, scratch):
    taken, inflate, peak, size = back_to_back(trace, scratch)
    label = f"ingest of {trace.totals['events']:,} events{what}, 4 files"
    if inflate:
        table.add(label, seconds(taken), "igzip -dc, two at once", seconds(inflate), f"{taken / inflate:.2f} x", "<= 2.8 x")
    table.add("", rate(trace, taken))
    yardstick, why = duck.load(trace, scratch)
    if yardstick:
        table.add(label, seconds(taken), "DuckDB read_json into a table", seconds(yardstick), f"{yardstick / taken:.1f} x faster", ">= 4 x")
    else:
        table.leave_out("DuckDB", why)
    table.add("memory while ingesting", mebibytes(peak))
    table.add("store on disk", mebibytes(size), ".pfw.gz", mebibytes(trace.packed), f"{size / trace.packed:.2f} x", "<= 0.5 x")
    rows, whole = compacted_size(trace, scratch / "store")
    table.add("its row groups after compaction", mebibytes(rows), ".pfw.gz", mebibytes(trace.packed), f"{rows / trace.packed:.2f} x", "<= 0.3 x")
    table.add("with lanes and kept answers", mebibytes(whole), ".pfw.gz", mebibytes(trace.packed), f"{whole / trace.packed:.2f} x")


def measure(table, data, scratch):
    measure_trace(table, data.four_files(), "", scratch)


def measure_of_replicas(table, data, scratch):
    measure_trace(table, data.replicas(), " of replicas of a real trace", scratch)


def measure_one_file(table, data, scratch):
    one, four = data.one_file(), data.four_files()
    inflate_once(one)
    runs = [(ingest_once(one, scratch / "store")[0], ingest_once(four, scratch / "store")[0], inflate_once(one)) for _ in range(2 * RUNS)]
    taken, other = (statistics.median(column) for column in list(zip(*runs))[:2])
    table.add(f"ingest of {one.totals['events']:,} events, one file", seconds(taken), "four files, in turns", seconds(other), f"{taken / other:.2f} x", "<= 1.05 x")
    table.add("", rate(one, taken))
    if runs[0][2]:
        inflate = statistics.median(run[2] for run in runs)
        table.add("", "", "igzip -dc, one at once", seconds(inflate), f"{taken / inflate:.2f} x")


def measure_large(table, data, scratch):
    if data.quick:
        return table.leave_out("large trace", "--quick")
    small, large = data.four_files(), data.large()
    base = back_to_back(small, scratch)[0]
    taken, inflate, peak, size = back_to_back(large, scratch, runs=1)
    table.add(f"ingest of {large.totals['events']:,} events", seconds(taken), f"{small.totals['events']:,} events", seconds(base),
              f"{taken / base:.1f} x", "<= 10 x")
    if inflate:
        table.add("", rate(large, taken), "igzip -dc, two at once", seconds(inflate), f"{taken / inflate:.2f} x", "<= 2.8 x")
    table.add("memory while ingesting it", mebibytes(peak))
    table.add("its store on disk", mebibytes(size), ".pfw.gz", mebibytes(large.packed), f"{size / large.packed:.2f} x", "<= 0.5 x")
