"""Random attributions: chains of the preset and targets and causes of one's own, with windows, filters and scopes, each compared with the oracle."""
import json
import random

SETS = {
    "training": 'func_name == "DLIOBenchmark._train"', "compute": 'cat == "ai_framework"', "read": "io_cat == 1", "metadata": "io_cat == 3", "long": "dur > 500",
    "loader": 'cat == "data_loader"', "reader": 'cat == "reader"', "fetch": 'func_name.str.contains("iter")', "odd": "pid % 2 == 1"}
FILTERS = ('cat != "posix"', "dur > 100", 'func_name.str.contains("read|compute|train")', "pid % 2 == 0", "size > 4096 or size.isna()")
SCOPES = ("rank_group", "process", "thread", "host", "job")
BY = (["unit"], ["epoch"], ["step"], ["unit", "epoch"], ["unit", "step"], ["bin"], ["unit", "bin"], ["epoch", "bin"])


def target_of(rng, names):
    one, other = rng.sample(names, 2)
    return rng.choice([one, f"not {one}", f"{one} and not {other}", f"{one} or idle", "idle", f"{one} or {other}"])


def request(rng, length):
    """(members of a request about the run, its member attribution): @length of the trace in seconds"""
    asked, split = {}, {}
    if rng.random() < .4:
        asked["from"] = round(rng.uniform(-.1, .6) * length, rng.choice((0, 3, 6)))
    if rng.random() < .4:
        asked["to"] = max(asked.get("from", 0), round(rng.uniform(.3, 1.1) * length, rng.choice((0, 3, 6))))
    if rng.random() < .3:
        asked["filter"] = rng.choice(FILTERS)
    if rng.random() < .4:
        split["chain"] = "stall"
    else:
        names = rng.sample(sorted(SETS), rng.randint(2, 6))
        asked["sets"] = {name: SETS[name] for name in names}
        split["target"] = target_of(rng, names)
        split["causes"] = rng.sample(names, rng.randint(1, len(names)))
        if rng.random() < .4:
            asked["scope"] = rng.choice(SCOPES)
    if rng.random() < .8:
        split["by"] = rng.choice(BY if asked.get("scope", "rank_group") == "rank_group" else (["unit"], ["bin"], ["unit", "bin"]))
    if "bin" in split.get("by", []):
        split["granularity"] = rng.choice((.05, .3, 1, 7))
    if rng.random() < .5:
        split["longest"] = rng.choice((0, 1, 5, 100))
    return asked, split


def expected(oracle, run, asked, split):
    """the oracle's answer in the members of the daemon's"""
    chain = oracle.chain_request(run, run.config["chains"]["dlio"]["stall"]) if "chain" in split else {"sets": asked["sets"]}
    want = oracle.attribution(run, {**chain, **{k: v for k, v in split.items() if k != "chain"}, **({"scope": asked["scope"]} if "scope" in asked else {})})
    causes = [{**{k: c[k] for k in ("name", "share", "intervals", "units")}, "time": c["time_us"], "active": c["active_us"],
               "longest": [[row["start_us"], row["end_us"], row["time_us"]] for row in c["longest"]]} for c in want["causes"]]
    first = want["columns"].index("target")
    return {"target": want["target"], "time": want["time_us"], "units": want["units"], "causes": causes, "columns": want["columns"],
            "rows": [[row[c] for c in want["columns"]] for row in want["rows"]]}, first


def us(seconds):
    return round(seconds * 1e6)


def given(answer, first):
    """the same of the daemon's answer: times as microseconds"""
    got = answer["attribution"]
    causes = []
    for cause in got["causes"]:
        longest = [[us(row[k]) for k in ("start", "end", "time")] for row in cause["longest"]]
        causes.append({**{k: cause[k] for k in ("name", "share", "intervals", "units")}, "time": us(cause["time"]), "active": us(cause["active"]), "longest": longest})
    rows = [[*row[:first], *(us(value) for value in row[first:])] for row in got["rows"]["data"]]
    return {"target": got["target"], "time": us(got["time"]), "units": got["units"], "causes": causes, "columns": got["rows"]["columns"], "rows": rows}


def run(checks, daemon, oracle, differs, paths, seed, count):
    """asks @count requests of the traces, {id: folder}"""
    rng, config = random.Random(f"attributions {seed}"), oracle.load_config()
    traces = {id: oracle.trace_events.load(str(path)) for id, path in paths.items()}
    for number in range(count):
        id = rng.choice(sorted(traces))
        trace = traces[id]
        asked, split = request(rng, max(e["te"] for e in trace.events) / 1e6)
        slow = oracle.Run(str(paths[id]), config, "dlio", asked.get("from"), asked.get("to"), asked.get("filter"), trace=trace)
        want, first = expected(oracle, slow, asked, split)
        body = {"preset": "dlio", "filters": "off", **asked, "attribution": split, "limit": 100000}
        status, _, text = daemon.request("POST", f"/api/v1/traces/{id}/overlap", body)
        difference = differs(want, given(json.loads(text), first), 1e-9) if status == 200 else f"{status}: {text[:300]}"
        checks.check(difference is None, f"attribution {number} of {paths[id].name}: {json.dumps(body)}: {difference}"[:900])
