"""Random windows, lanes and filters of the timeline's calls, each compared with the oracle."""
import json
import math
import random
import sys
import types
from daemon import SHARED

FILTERS = ('cat == "posix"', "dur > 20", "size > 4096", 'func_name.str.contains("read")', "tid % 2 == 0", 'file_name.str.contains("img")')
CALLS = ("timeline/lanes", "timeline/events", "timeline/density", "timeline/search", "timeline/statistics", "calltree", "gaps")


def request(rng, oracle, call):
    """parameters of a call, mostly good ones"""
    end = oracle.end / oracle.per_second
    asked = {}
    if rng.random() < 0.7:
        a, b = sorted(round(rng.uniform(-0.1, 1.1) * end, rng.choice((3, 6, 9))) for _ in range(2))
        asked.update({"from": a, "to": b})
    if rng.random() < 0.5:
        asked["lanes"] = rng.sample(sorted(oracle.below), rng.randint(1, min(4, len(oracle.below))))
    if rng.random() < 0.5 or call == "timeline/search":
        asked["filter"] = rng.choice(FILTERS)
    if rng.random() < 0.2:
        asked.update({"filters": "on", "preset": rng.choice(("dlio", "posix"))})
    own = {
        "timeline/lanes": lambda: {"sort": [rng.choice(("name", "-busy", "events", "first", "-longest", "rows"))], "level": rng.choice(("host", "rank_group", "process", "thread"))},
        "timeline/events": lambda: {"width": rng.choice((1, 7, 64, 333, 1024))},
        "timeline/density": lambda: {"width": rng.choice((1, 13, 200)), "label": rng.choice(("layer", "name", "category"))},
        "timeline/search": lambda: {"at": rng.uniform(0, end), "direction": rng.choice(("next", "previous"))},
        "timeline/statistics": lambda: {"label": rng.choice(("name", "layer", "category", "category:name"))},
        "calltree": lambda: {"scope": rng.choice(("job", "host", "rank_group", "process", "thread")), "label": rng.choice(("name", "layer", "category")), "min_share": rng.choice((0, 0.01, 0.3)),
                             **({"depth": rng.randint(1, 5)} if rng.random() < 0.3 else {}), **({"name": "read", "direction": rng.choice(("callers", "callees"))} if rng.random() < 0.4 else {})},
        "gaps": lambda: {"scope": rng.choice(("job", "host", "process", "thread")), "min": rng.choice((0, 0.0001, 0.01))},
    }
    return {**asked, **own[call]()}


def differs(want, got, where=""):
    """the first place at which an answer lacks or changes what is expected"""
    if isinstance(want, dict):
        return next((d for k in want if (d := differs(want[k], got.get(k) if isinstance(got, dict) else None, f"{where}/{k}"))), None)
    if isinstance(want, list):
        if not isinstance(got, list) or len(want) != len(got):
            return f"{where}: {len(want)} items, got {len(got) if isinstance(got, list) else got}"
        return next((d for i, w in enumerate(want) if (d := differs(w, got[i], f"{where}/{i}"))), None)
    if isinstance(want, float) and isinstance(got, (int, float)):
        return None if abs(want - got) <= 1e-9 * max(1, abs(want)) else f"{where}: {want}, got {got}"
    return None if want == got else f"{where}: {want!r}, got {got!r}"


def run(daemon, paths, seed, count):
    """asks @count requests of the traces, by label; (asked, failed)"""
    sys.setrecursionlimit(10**6)
    for library in ("numpy", "pandas"):  # the oracle takes a table of presets from a module that computes with them
        stand_in = types.ModuleType(library)
        stand_in.inf = math.inf
        sys.modules.setdefault(library, stand_in)
    import timeline_oracle
    from query_oracle import Problem
    rng, failed = random.Random(seed), 0
    traces = {label: (daemon.ingest(path)["id"], timeline_oracle.Timeline(str(path))) for label, path in paths.items()}
    for number in range(count):
        label = rng.choice(sorted(traces))
        call = rng.choice(CALLS)
        id, oracle = traces[label]
        asked = request(rng, oracle, call)
        try:
            want = json.loads(json.dumps(timeline_oracle.answer(oracle, call, asked)))
        except Problem as problem:
            want = {"parameter": problem.document.get("parameter")}
        body = {**asked, **({"limit": 100000} if call not in ("timeline/events", "timeline/density", "timeline/search") else {})}
        status, _, text = daemon.request("POST", f"/api/v1/traces/{id}/{call}", body)
        difference = differs(want, json.loads(text))
        if difference:
            failed += 1
            print(f"timeline {number} of {label}: {call} {json.dumps(asked)}: {status} {difference}"[:600])
    return count, failed
