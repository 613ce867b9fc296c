"""What rank 0 does alone in an ingest by ranks, out of the counters of /metrics, put into the cost model of ../shared/cluster/model."""
import contextlib
import io
import re
import runpy
import tempfile

from daemon import SHARED, Daemon, generate, tool
from ranks import QUIET, processor_time, wait
from scene import Ranks, mpi_is_missing
from table import seconds

MODEL = SHARED / "cluster/model"
EVENTS, NODES, FILES = 10e9, 16, 1000
MANY_FILES = 200
SMALL = "4MiB"  # of memory, so that the same rows come in more segments
PARTS = ("plan", "grant", "merge", "publish", "exchange")
PER_SEGMENT = ("grant", "merge", "publish")
RUNS = 5


def ingest(daemon, trace):
    """(segments, processor time, seconds by part) of one ingest"""
    with daemon:
        before = processor_time(daemon)
        described, job = daemon.register(trace.path)
        wait(daemon, job)
        segments = len(list((daemon.store / "traces" / described["id"]).glob("*.segment")))
        ranks = isinstance(daemon, Ranks)
        return segments, processor_time(daemon) - before, {part: daemon.metric(f"strata_rank_{part}_seconds_total") if ranks else 0 for part in PARTS}


def least(start, trace, scratch):
    """the least of some runs, figure by figure"""
    found = []
    for _ in range(RUNS):
        with tempfile.TemporaryDirectory(dir=scratch) as folder:
            found.append(ingest(start(folder + "/store"), trace))
    return found[0][0], min(f[1] for f in found), {part: min(f[2][part] for f in found) for part in PARTS}


def plan_of_many(options, scratch):
    """seconds of planning an ingest of many files"""
    folder = scratch / "many-files"
    generate(folder, events=500 * MANY_FILES, ranks=MANY_FILES, workers=0, output_files=0, gzip="one")

    class Many:
        path = folder

    return least(lambda store: Ranks(2, store, [folder], options), Many, scratch)[2]["plan"]


def line(points):
    """(fixed, for each) of the line through the least y of the smallest x and of the largest"""
    (few, low), (many, high) = (min(p for p in points if p[0] == end(x for x, _ in points)) for end in (min, max))
    slope = max(0.0, (high - low) / (many - few))
    return max(0.0, low - slope * few), slope


def model(**constants):
    """the functions of the model, with some of its constants replaced by what was measured"""
    text = MODEL.read_text()
    for name, value in constants.items():
        text, count = re.subn(rf"^{name} = [0-9.e-]+", f"{name} = {value}", text, flags=re.M)
        if count != 1:
            raise RuntimeError(f"the model has no constant {name}")
    with tempfile.NamedTemporaryFile("w", suffix=".py") as file, contextlib.redirect_stdout(io.StringIO()):
        file.write(text.replace("\nmain()\n", "\n"))
        file.flush()
        return runpy.run_path(file.name)


def measure_scaling(table, data, scratch):
    """1 process, and 2 to 4 ranks of one worker each, in few and in many segments"""
    if missing := mpi_is_missing(tool("STRATAD", "server/stratad")):
        return table.add("scaling", f"left out: {missing[1]}")
    if not MODEL.exists():
        return table.add("scaling", "left out: there is no ../shared/cluster/model")
    trace = data.four_files()
    events = trace.totals["events"]
    options = [*QUIET, "--workers", 1]
    segments, used, _ = least(lambda store: Daemon(store, [trace.path], options), trace, scratch)
    runs = {(ranks, memory): least(lambda store: Ranks(ranks, store, [trace.path], options + (["--memory", memory] if memory else [])), trace, scratch)
            for ranks in (2, 3, 4) for memory in (None, SMALL)}
    for (ranks, memory), (count, _, parts) in runs.items():
        said = ", ".join(f"{part} {seconds(parts[part])}" for part in PARTS)
        table.add(f"rank 0 of {ranks}, {count} segments", said)
    lines = {part: line([(run[0], run[2][part]) for run in runs.values()]) for part in PER_SEGMENT}
    of_all = {part: fixed + each * EVENTS * segments / events for part, (fixed, each) in lines.items()}
    plan, of_file = line([(len(trace.files), runs[2, None][2]["plan"]), (MANY_FILES, plan_of_many(options, scratch))])
    alone, beside = plan + of_file * FILES + of_all["publish"], of_all["grant"] + of_all["merge"]
    told = model(INGEST=used / events, PUBLISH=alone)
    one, many = (told["ingest"](EVENTS, nodes) for nodes in (1, NODES))
    each = ", ".join(f"{part} {seconds(each)}" for part, (_, each) in lines.items())
    table.add(f"for each segment, of {events // segments:,} rows", each, f"for each of {FILES:,} files", f"plan {seconds(of_file)}")
    table.add(f"10^10 events by {NODES} nodes, by the model", seconds(many), "1 node", seconds(one), f"{one / many:.1f} x faster", f">= {0.8 * NODES:.1f} x")
    table.add("", f"rank 0 alone {seconds(alone)}", "its coordinator, beside the reading", seconds(beside), "", f"< {seconds(many - alone)}")
