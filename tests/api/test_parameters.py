"""No parameter is ignored: each changes some answer, or is refused."""
import json
from urllib.parse import urlencode

from harness import event, small_trace, write_trace

# A value of each parameter that changes an answer of the small trace, unless the call has no use for it.
TELLING = {"preset": "posix", "filters": "off", "semantics": "compatible", "from": "1.2", "to": "3.3", "filter": "pid == 1", "format": "csv", "granularity": "0.7", "layer": "compute",
           "by": "proc_name", "views": "proc_name", "quantile_stats": "true", "metrics": "count", "max_points": "2", "limit": "1", "offset": "1", "q": '{"limit": 2}', "group_by": "pid", "aggregate": "n:count()",
           "derive": "x:pid", "value_counts": "pid", "describe": "pid", "columns": None, "sort": None, "order_by": None, "prefix": "rea", "set": "io:cat == 'posix'", "layers": "compute",
           "counter": "cpu.user_pct", "scope": "thread", "variant": "intervals", "exposure": "true", "explain": "true", "where": "not idle", "longest": "1", "events": "1", "baseline": None, "view": "flat",
           "width": "3", "label": "category", "level": "host", "parent": "h:~", "lanes": "h:~", "min": "100", "min_share": "1", "depth": "1", "name": "read", "direction": "callers",
           "attribution": "stall", "group": "io", "rule": "au", "severity": "ok", "goal": "0.5", "warmup_steps": "0", "end_steps": "1", "kind": "write", "time": "absolute"}

def test_no_parameter_is_ignored(scene):
    """each changes the answer, or is refused; under both semantics"""
    root = scene.new("root")
    lines = small_trace()
    lines.insert(-1, event("read", "POSIX", 1_700_000_003_000_000, 70_000, 1, 1, hhash=77, fhash=9, ret=17))
    lines.insert(-1, json.dumps({"name": "FH", "cat": "dftracer", "ph": "M", "pid": 1, "tid": 1, "args": {"name": "/proc/stat", "value": 9}}))
    for fhash, at in ((5, 3_100_000), (9, 3_200_000)):  # reads whose descriptors are known
        lines[-1:-1] = [event(name, "POSIX", 1_700_000_000_000_000 + at + more, 10, 1, 1, hhash=77, fhash=fhash, ret=ret, **fd)
                        for name, more, ret, fd in (("open", 0, 5, {}), ("read", 20, 100, {"fd": 5}), ("read", 40, 100, {"fd": 5}), ("close", 60, 0, {"fd": 5}))]
    server = scene.server([root])
    trace = server.ingest(write_trace(root / "a", lines))["id"]
    spec = server.get("/api/v1/openapi.json")
    ignored = []
    for path, item in spec["paths"].items():
        named = [p["name"] for p in item.get("get", {}).get("parameters", []) if p["in"] == "query"]
        if not named or path == "/api/v1/browse" or path.endswith("/gaps"):  # the trace has no gaps
            continue
        base = path.replace("{id}", trace).replace("{name}", "cat") + "?" + (f"traces={trace}" if path.endswith("/compare") else "")
        for semantics in ["exact", "compatible"] if "semantics" in named else [None]:
            with_semantics = base + (f"&semantics={semantics}" if semantics else "")
            for name in sorted(set(named) - {"semantics", "cursor", "traces", "partial"}):
                asked = with_semantics + ("&layer=reader_posix" if "/views/" in path and name != "layer" and "layer" in named else "")
                plain = server.ask(asked)
                if plain[0] != 200:
                    break  # a table that only the other semantics has, or another kind of trace
                value = TELLING[name]
                if path.endswith("/access") and name == "from":
                    value = "3.15"  # between the reads of its two files
                if path.endswith("/timeline/lanes") and name == "sort":
                    value = "-name"
                if name == "baseline":
                    continue  # of one trace there is no other
                timeline = "/timeline/" in path or path.endswith(("/calltree", "/gaps"))
                if name == "preset" and timeline and not path.endswith(("/events", "/density")):
                    continue  # what says layers and categories alone
                if name == "filters" and (timeline or "/events" in path or "/query" in path or "/overlap" in path):
                    value = "on"  # of no preset
                if name == "granularity" and path.endswith(("/summary", "/compare")) and semantics == "exact":
                    continue  # of whatever table has bins, as is documented
                if path.endswith("/intervals") and name in ("sort", "order_by"):
                    value = "-time"
                if value is None:
                    value = ("" if name == "columns" else "-") + plain[2]["columns"][0]
                status, _, answer = server.ask(asked + "&" + urlencode({name: value}))
                if status == 200 and answer == plain[2]:
                    ignored.append((path, semantics, name, value))
                assert status in (200, 400, 422), (path, name, status, answer)
    assert not ignored, ignored


def test_bins_may_be_as_wide_as_the_document_says(scene):
    document = scene.shared.get("/api/v1/openapi.json")
    for call in ("timeseries", "views/layer", "views/flat", "overlap"):
        parameters = document["paths"][f"/api/v1/traces/{{id}}/{call}"]["get"]["parameters"]
        width = next(p for p in parameters if p.get("name") == "granularity")["schema"]
        more = "&layer=" + scene.shared.get(scene.shared.path + "/summary")["layers"][0]["name"] if call == "views/layer" else ""
        for value in (width["minimum"], width["maximum"]) if call in ("timeseries", "overlap") else (width["maximum"],):
            bins = "&max_points=10" if call == "timeseries" else "&from=0&to=0.00001" if call == "overlap" else ""
            status, _, answer = scene.shared.ask(f"{scene.shared.path}/{call}?granularity={value}{more}{bins}")
            assert status == 200, (call, value, answer)
        assert scene.shared.ask(f"{scene.shared.path}/{call}?granularity={width['maximum'] * 2}{more}")[0] == 400, call
