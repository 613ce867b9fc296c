"""The generator's totals, counted again by a few lines of Python, and that the same options give the same bytes."""
import collections
import gzip
import json
from daemon import generate

SIZED = ("read", "pread", "write", "pwrite")


def lines(path):
    for source in sorted(path.iterdir()):
        opener = gzip.open if source.suffix == ".gz" else open
        with opener(source, "rt") as file:
            yield from file


def recount(path):
    """(lines, events, {(cat, func_name): [count, microseconds, bytes]})"""
    count = events = 0
    functions = collections.defaultdict(lambda: [0, 0, 0])
    for line in lines(path):
        count += 1
        event = json.loads(line) if line.startswith("{") else {}
        if event.get("ph") != "X":
            continue
        events += 1
        sums = functions[event["cat"].lower(), event["name"]]
        sums[0] += 1
        sums[1] += int(event["dur"])
        sums[2] += max(0, int(event["args"].get("ret", 0))) if event["name"] in SIZED else 0
    return count, events, dict(functions)


def check_recount(checks, path, options):
    totals = generate(path, **options)
    count, events, functions = recount(path)
    checks.equal([count, events], [totals["ledger"]["lines"], totals["events"]], f"{path.name}: lines and events")
    wanted = {(f["cat"], f["func_name"]): [f["count"], f["time_us"], f["size"]] for f in totals["functions"]}
    checks.equal(functions, wanted, f"{path.name}: functions")
    return totals


def run(checks, folder):
    for name, options in {"hashed": {"gzip": "many"}, "plain": {"dialect": "plain"}, "ai": {"preset": "ai", "dialect": "mixed"}}.items():
        first = check_recount(checks, folder / f"recount-{name}", {"events": 12345, **options})
        again = generate(folder / f"again-{name}", events=12345, threads=1, **options)
        same = all(a.read_bytes() == (folder / f"again-{name}" / a.name).read_bytes() for a in (folder / f"recount-{name}").iterdir())
        checks.check(same and first == again, f"{name}: the same options give the same bytes on one thread and on all")
