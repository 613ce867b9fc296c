"""What engineers did in notebooks, as requests, on the real traces: every row of query.md part 7, against the oracle."""
import json
import sys
import warnings
from daemon import ROOT, SHARED

sys.path.append(str(ROOT / "tests/random"))
import answers  # noqa: E402

TRACES = ("unet3d-plain-dialect", "unet3d-v100")
DERIVED = {"f": "basename(filename)", "p": r'replace(f, "[\d\-]+", "")', "gb": "size / 1024 ** 3"}
SLOWEST = {"group_by": ["trace"], "aggregate": {"sample": "max(sample)", "posix": "max(posix)", "ssd": "max(ssd)"}}
MEASURES = {"sample": "sum(where(name.str.contains('get_sample'), time))", "posix": "sum(where(cat == 'POSIX', time))",
            "ssd": "sum(where(file_name.str.contains('/l/ssd'), time))"}

ONE = {
    "query, groupby, agg, max": {"filter": "name.str.contains('read')", "group_by": ["pid"], "aggregate": {"dur": "sum(dur)"},
                                 "then": {"aggregate": {"time": "max(dur) / 1e6"}}},
    "groupby two keys, sum, groupby one, max": {"group_by": ["name", "pid"], "aggregate": {"dur": "sum(dur)", "size": "sum(size)"},
                                                "then": {"group_by": ["func_name"], "aggregate": {"dur": "max(dur)", "size": "max(size)"}}},
    "apply(basename), re.sub, division": {"derive": DERIVED, "filter": "f.notna()", "group_by": ["p"], "aggregate": {"gb": "sum(gb)", "files": "nunique(f)", "n": "count()"}},
    "value_counts": {"value_counts": "name"},
    "describe": {"describe": ["size"]},
    "trange.max": {"aggregate": {"x": "max(bin(time_start, 30))"}},
    "agg median": {"group_by": ["name"], "aggregate": {"size": "median(size)"}},
    "agg sum and count": {"group_by": ["cat"], "aggregate": {"dur": "sum(dur)", "name": "count(name)"}},
    "nlargest": {"order_by": ["-dur"], "limit": 10},
    "head": {"limit": 5},
    "unique": {"group_by": ["cat"], "aggregate": {"names": "unique(name)"}},
    "drop_duplicates": {"group_by": ["cat", "func_name", "pid"]},
    "time and bandwidth": {"filter": "cat == 'POSIX'", "group_by": [{"second": "bin(time_start, 1)"}, "pid", "tid"],
                           "aggregate": {"size": "sum(size)", "time": "sum(time)"},
                           "then": {"group_by": ["second"], "aggregate": {"size": "sum(size)", "time": "max(time)"}, "then": {"derive": {"bw": "size / time"}}}},
    "missing sizes": {"filter": "cat == 'posix' and name in ['read', 'write', 'pread', 'pwrite']",
                      "aggregate": {"sizes": "count(size)", "raw": "count(args.ret)", "zeros": "sum(args.ret == 0)"}},
    "division by zero": {"derive": {"r": "size / (dur - dur)"}, "aggregate": {"n": "count(r)"}},
    "ties in value_counts": {"value_counts": ["pid", "tid"]},
    "counts in describe": {"describe": ["size", "dur"], "group_by": ["cat"]},
    "contains of missing": {"aggregate": {"n": "sum(file_name.str.contains('/'))", "rest": "sum(not file_name.str.contains('/'))"}},
    "cat without case": {"filter": "cat == 'PoSiX' or cat.str.startswith('DATA')", "value_counts": "cat"},
    "powers of integers": {"aggregate": {"a": "max(dur ** 20)", "b": "max(dur * dur * dur * dur)", "c": "min(dur // 7)", "d": "max(dur / 7)"}},
}
SEVERAL = {
    "a table of runs": {"group_by": ["trace", "pid"], "aggregate": MEASURES, "then": SLOWEST},
    "the change between them": {"group_by": ["trace", "pid"], "aggregate": MEASURES, "then": SLOWEST, "compare": {"baseline": "run 0"}},
}


def check(checks, daemon, path, request, want, what):
    status, _, text = daemon.request("POST", path, request)
    found = answers.difference(request, want, status, json.loads(text))
    checks.check(not found, f"{what}: {found and found[1][:500]}; request {json.dumps(request)}")


def run(checks, daemon):
    if not (SHARED / "oracles/query_oracle.py").exists() or not (SHARED / "traces").is_dir():
        return checks.skip("questions of notebooks", f"needs shared: {SHARED} has no oracle or no traces")
    sys.path.append(str(SHARED / "oracles"))
    warnings.simplefilter("ignore")
    import query_oracle
    import trace_events
    traces = {name: trace_events.load(str(SHARED / "traces" / name), name) for name in TRACES}
    ids = {name: daemon.ingest(SHARED / "traces" / name)["id"] for name in TRACES}
    for name in TRACES:
        for what, request in ONE.items():
            check(checks, daemon, f"/api/v1/traces/{ids[name]}/query", request, query_oracle.ask(request, {name: traces[name]}), f"{what}, {name}")
    for what, request in SEVERAL.items():
        labels = {f"run {i}": name for i, name in enumerate(TRACES)}
        want = query_oracle.ask({**request, "traces": labels}, traces)
        check(checks, daemon, "/api/v1/query", {**request, "traces": {label: ids[n] for label, n in labels.items()}}, want, what)
