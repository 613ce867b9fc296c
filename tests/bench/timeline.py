"""The timeline: its lane file's size and making, the first picture after a restart, windows from the whole to 1 us, and calls over all events."""
import json
import math
import random
import statistics
import time
import urllib.parse
from daemon import Daemon, wait_until
from table import mebibytes, seconds

WINDOWS = 200
ROWS = 60
WIDTH = 1400


class Timeline:
    def __init__(self, daemon, identity):
        self.daemon, self.path = daemon, f"/api/v1/traces/{identity}"

    def ask(self, call, **parameters):
        """(seconds, the answer's bytes)"""
        start = time.perf_counter()
        status, _, content = self.daemon.request("GET", f"{self.path}/{call}?{urllib.parse.urlencode(parameters)}")
        took = time.perf_counter() - start
        if status != 200:
            raise RuntimeError(f"{call}: {status} {content[:200]}")
        return took, content


def threads_of(timeline):
    """ids of threads of about ROWS rows, and where the last event ends"""
    table = json.loads(timeline.ask("timeline/lanes", level="thread", limit=100000)[1])
    names = [column if isinstance(column, str) else column["name"] for column in table["columns"]]
    lanes = [lane for lane in (dict(zip(names, row)) for row in table["data"]) if lane["level"] == "thread"]
    chosen, rows = [], 0
    for lane in random.Random(1).sample(lanes, len(lanes)):
        if rows + lane["rows"] <= ROWS:
            chosen.append(lane["id"])
            rows += lane["rows"]
    return chosen, max(lane["last"] for lane in lanes)


def windows(end):
    moments = random.Random(2)
    for _ in range(WINDOWS):
        length = end * 10 ** moments.uniform(math.log10(1e-6 / end), 0)
        start = moments.uniform(0, end - length)
        yield {"from": f"{start:.9f}", "to": f"{start + length:.9f}", "width": WIDTH}


def p95(values):
    return statistics.quantiles(values, n=20)[-1]


def measure_windows(table, timeline, call, goal):
    chosen, end = threads_of(timeline)
    cold, kept, sizes = [], [], []
    for window in windows(end):
        window["lanes"] = ",".join(chosen)
        took, content = timeline.ask(call, **window)
        cold.append(took)
        sizes.append(len(content))
        kept.append(timeline.ask(call, **window)[0])
    table.add(f"{call}: {WINDOWS} windows, {len(chosen)} threads, p95", seconds(p95(cold)), "median", seconds(statistics.median(cold)), "", goal)
    table.add(f"{call}: the same again, p95", seconds(p95(kept)), "largest answer", mebibytes(max(sizes)), "", "<= 5 ms")


def measure_trace(table, scratch, trace, window_goal, call_goal, width=WIDTH):
    """@width: of the picture of all lanes"""
    store = scratch / "store"
    with Daemon(store, [trace.path]) as daemon:
        identity = daemon.ingest(trace.path)["id"]
        timeline, start = Timeline(daemon, identity), time.perf_counter()
        first = timeline.ask("timeline/lanes", level="host")[0]
        in_place = lambda: [p for p in store.glob("traces/*/lanes-*") if p.suffix == ""]  # noqa: E731
        wait_until(in_place, timeout=600, what="the lane file")
        size = in_place()[0].stat().st_size
        table.add("timeline: first call ever", seconds(first), "lane file in place", seconds(time.perf_counter() - start))
        table.add("timeline: lane file", mebibytes(size), "the .pfw.gz", mebibytes(trace.packed), f"{size / trace.packed:.3f} x", "<= 0.35 x")
    calls = {"timeline/lanes": {"level": "process"}, "timeline/density": {"width": WIDTH}, "timeline/events": {"width": width, "to": 1e6},
             "calltree": {}, "timeline/statistics": {}, "gaps": {"scope": "job", "limit": 100}}
    for call, parameters in calls.items():
        with Daemon(store, [trace.path]) as daemon:
            table.add(f"{call}: the first call after a restart", seconds(Timeline(daemon, identity).ask(call, **parameters)[0]), "", "", "", call_goal)
    with Daemon(store, [trace.path]) as daemon:
        timeline = Timeline(daemon, identity)
        for call in ("timeline/events", "timeline/density"):
            measure_windows(table, timeline, call, window_goal)


def measure(table, data, scratch):
    measure_trace(table, scratch, data.four_files(), "<= 50 ms", "<= 0.25 s")


def measure_large(table, data, scratch):
    measure_trace(table, scratch, data.large(), "<= 150 ms", "<= 2.5 s")


def measure_replicas(table, data, scratch):
    """12,320 threads"""
    measure_trace(table, scratch, data.replicas(), "<= 50 ms", "<= 0.25 s", width=80)  # more would be more cells than timeline_cells allows
