"""Overlap: sets by conditions, scopes, pages, intervals with their events, series, the numbers of DFTracer's analyser, and what is refused."""
import csv
import io
import json
import urllib.parse

from harness import event, violations, write_trace

SETS = {"compute": 'cat == "ai_framework"', "io": 'cat == "posix"', "app": 'func_name == "DLIOBenchmark.run"'}
US = 1_700_000_000_000_000


def post(scene, body, call="overlap", query="", server=None, path=None):
    server = server or scene.shared
    status, _, value = server.ask((path or server.path) + "/" + call + query, "POST", body, {"Content-Type": "application/json"})
    assert status == 200, value
    return value


def get(scene, call="overlap", **parameters):
    query = urllib.parse.urlencode(parameters, doseq=True)
    status, _, value = scene.shared.ask(f"{scene.shared.path}/{call}?{query}")
    assert status == 200, value
    return value


def refused(scene, body, call="overlap", status=400):
    return scene.shared.problem(f"{scene.shared.path}/{call}", status, "POST", body, {"Content-Type": "application/json"})


def rows(table):
    return [dict(zip(table["columns"], row)) for row in table["data"]]


def us(seconds):
    return round(seconds * 1e6)


def by(items, *keys):
    return {tuple(i[k] for k in keys) if len(keys) > 1 else i[keys[0]]: i for i in items}


# ---- numbers of a trace that is known: two ranks, each 8 x (0.5 s compute, then 0.1 s read), all inside run


def test_busy_overlap_and_what_is_left(scene):
    value = post(scene, {"sets": SETS, "scope": "process"})
    sets, pairs = by(value["sets"], "name"), by(value["pairs"], "a", "b")
    assert value["semantics"] == "exact" and value["scope"] == "process" and value["scope_count"] == 2
    assert us(value["span"]) == 20_000_000 and value["idle"] == 0
    assert (sets["compute"]["events"], us(sets["compute"]["busy"]), us(sets["compute"]["busy_max"])) == (16, 8_000_000, 4_000_000)
    assert (sets["io"]["events"], us(sets["io"]["time"]), us(sets["io"]["busy"])) == (16, 1_600_000, 1_600_000)
    assert pairs["compute", "io"]["overlap"] == 0 and us(pairs["compute", "io"]["b_minus_a"]) == 1_600_000
    assert us(pairs["io", "app"]["overlap"]) == 1_600_000 and pairs["io", "app"]["a_minus_b"] == 0
    groups = {tuple(g["sets"]): us(g["time"]) for g in value["groups"]}
    assert groups == {("app",): 10_400_000, ("compute", "app"): 8_000_000, ("io", "app"): 1_600_000}
    assert [us(c["time"]) for c in value["concurrency"] if c["set"] == "compute"] == [12_000_000, 8_000_000]


def test_a_job_hides_behind_the_compute_of_others(scene):
    job = post(scene, {"sets": SETS, "scope": "job"})
    assert job["scope_count"] == 1 and job["per_scope"]["columns"][0] == "start"
    assert us(by(job["sets"], "name")["compute"]["busy"]) == 8 * 500_010  # the ranks are 10 us apart
    assert us(by(job["sets"], "name")["compute"]["time"]) == 8_000_000
    assert {c["active"] for c in job["concurrency"] if c["set"] == "compute"} == {0, 1, 2}


def test_units_add_up_and_the_slowest_is_named(scene):
    value = post(scene, {"sets": SETS, "scope": "thread"})
    table = rows(value["per_scope"])
    assert [(r["host_name"], r["pid"], r["tid"]) for r in table] == [("node1", 1, 1), ("node1", 2, 2)]
    for name in SETS:
        assert sum(us(r[f"{name}_busy"]) for r in table) == us(by(value["sets"], "name")[name]["busy"])
        assert sum(r[f"{name}_events"] for r in table) == by(value["sets"], "name")[name]["events"]
    spread = by(value["statistics"], "of")
    assert us(spread["io_busy"]["median"]) == us(spread["io_busy"]["maximum"]) == 800_000
    assert spread["io_busy"]["slowest"] == {"host_name": "node1", "pid": 1, "tid": 1}
    assert value["per_scope"]["units"]["io_busy"] == "s" and "pid" not in value["per_scope"]["units"]


def test_units_by_expressions_keep_what_has_no_value(scene):
    value = post(scene, {"sets": {"io": SETS["io"]}, "scope": ["step", "pid % 2"]})
    table = rows(value["per_scope"])
    assert value["scope"] == ["step", "pid % 2"] and value["per_scope"]["columns"][:2] == ["step", "pid % 2"]
    assert [r["step"] for r in table[:2]] == [1, 1] and table[0]["pid % 2"] == 0
    assert table[-1]["step"] is None and sum(r["io_events"] for r in table) == 16  # reads have no step
    assert post(scene, {"sets": {"io": SETS["io"]}, "scope": ["ts", "time"]})["per_scope"]["units"].items() >= {"ts": "us", "time": "s"}.items()


def test_a_window_cuts_intervals(scene):
    whole = post(scene, {"sets": SETS, "scope": "process"})
    parts = [post(scene, {"sets": SETS, "scope": "process", "from": a, "to": b}) for a, b in [(0, 1.25), (1.25, 4.6), (4.6, 11)]]
    for pair in range(3):
        for part in ("overlap", "a_minus_b", "b_minus_a"):
            assert sum(us(p["pairs"][pair][part]) for p in parts) == us(whole["pairs"][pair][part])
    assert us(parts[0]["span"]) == 2_500_000 - 10  # the second rank begins 10 us later
    assert post(scene, {"sets": SETS, "from": 50})["scope_count"] == 0


def test_series_add_up_to_the_totals(scene):
    value = post(scene, {"sets": SETS, "scope": "process", "granularity": 0.75})
    series = rows(value["series"])
    assert [r["time_range"] for r in series] == list(range(14)) and series[1]["time_start"] == 0.75
    assert sum(us(r["io_busy"]) for r in series) == us(by(value["sets"], "name")["io"]["busy"])
    assert sum(us(r["compute_minus_app"]) for r in series) == 0
    assert max(r["app_busy"] for r in series) == 1.5  # two ranks, all of the bin


def test_exposure_of_single_events(scene):
    table = by(post(scene, {"sets": SETS, "scope": "process", "exposure": True})["exposure"], "set", "against")
    assert len(table) == 6
    assert (table["io", "app"]["hidden"], table["io", "app"]["exposed"], table["io", "app"]["size_exposed"]) == (16, 0, 0)
    assert table["io", "compute"]["exposed"] == 16 and table["io", "compute"]["size_exposed"] == 2 * 4096 * sum(range(1, 9))
    assert table["app", "compute"]["partial"] == 2 and us(table["app", "compute"]["time_exposed"]) == 12_000_000


# ---- pages and forms


def test_rows_come_in_pages_and_as_csv(scene):
    body = {"sets": SETS, "scope": "thread"}
    whole = post(scene, body)["per_scope"]
    first = post(scene, {**body, "limit": 1})["per_scope"]
    second = post(scene, {**body, "limit": 1, "cursor": first["next"]})["per_scope"]
    assert first["row_count"] == second["row_count"] == 2 and second["next"] is None
    assert first["data"] + second["data"] == whole["data"]
    text = post(scene, body, query="?format=csv").decode()
    table = list(csv.reader(io.StringIO(text, newline="")))
    assert table[0] == whole["columns"] and len(table) == 3
    lines = post(scene, {**body, "format": "ndjson"}).decode().splitlines()
    assert [json.loads(line)["tid"] for line in lines] == [1, 2]


def test_get_asks_about_the_layers_of_a_preset(scene):
    layers = get(scene)
    names = [s["name"] for s in layers["sets"]]
    assert "compute" in names and "app" not in names and "training" not in names
    assert [s["name"] for s in get(scene, layers="reader,compute")["sets"]] == ["compute", "reader"]
    posted = post(scene, {"sets": {s["name"]: s["filter"] for s in layers["sets"]}, "preset": "dlio"})
    assert posted["sets"] == layers["sets"] and posted["per_scope"] == layers["per_scope"] and posted["groups"] == layers["groups"]
    own = get(scene, set=["io:" + SETS["io"], "compute:" + SETS["compute"]], scope="process", exposure="true", explain="true")
    assert [s["name"] for s in own["sets"]] == ["io", "compute"] and own["exposure"] and own["explain"]
    assert get(scene, "overlap/intervals", layers="compute", where="compute", limit=1)["row_count"] == 16


def test_answers_fit_their_schema_and_stay_the_same(scene):
    spec = scene.shared.ask("/api/v1/openapi.json")[2]
    for body in [{"sets": SETS, "exposure": True, "granularity": 1, "explain": True}, {"sets": {"io": SETS["io"]}, "semantics": "compatible"}]:
        value = post(scene, body)
        assert not list(violations(value, spec["components"]["schemas"]["overlap"], spec))
        assert post(scene, body) == value
    seen = {"sets": SETS, "preset": "dlio"}
    assert post(scene, {**seen, "filters": "on"}) == post(scene, seen)
    value = post(scene, {"sets": SETS, "where": "io", "longest": 2, "events": 1}, "overlap/intervals")
    assert not list(violations(value, spec["components"]["schemas"]["overlap_intervals"], spec))


# ---- intervals


def test_intervals_are_the_time_of_the_pair(scene):
    body = {"sets": SETS, "scope": "process", "where": "app and not (compute or io)"}
    table = rows(post(scene, body, "overlap/intervals"))
    assert sum(us(r["time"]) for r in table) == 10_400_000
    for a, b in zip(table, table[1:]):
        assert a["pid"] < b["pid"] or a["end"] < b["start"]
    assert table[0]["start"] == 0 and us(table[0]["end"]) == 1_000_000
    longest = rows(post(scene, {**body, "order_by": ["-time", "-start"]}, "overlap/intervals"))
    assert sorted((r["time"] for r in longest), reverse=True) == [r["time"] for r in longest]
    assert rows(post(scene, {"sets": {"io": SETS["io"]}, "scope": "process", "where": "idle"}, "overlap/intervals"))[0]["start"] == 0


def test_the_longest_intervals_name_the_events_that_fill_them(scene):
    value = rows(post(scene, {"sets": SETS, "scope": "process", "where": "io and not compute", "longest": 3, "events": 2}, "overlap/intervals"))
    assert [us(r["time"]) for r in value] == [100_000] * 3
    filling = value[0]["events"]
    assert [e["func_name"] for e in filling] == ["DLIOBenchmark.run", "read"] and filling[1]["sets"] == ["io"]
    assert filling[1]["file_name"] == "/data/a.npz" and us(filling[0]["covered"]) == us(filling[1]["covered"]) == 100_000
    idle = rows(post(scene, {"sets": {"io": SETS["io"]}, "scope": "process", "where": "idle", "longest": 1, "events": 9}, "overlap/intervals"))
    assert {"<module>.iter", "DLIOBenchmark._train"} <= {e["func_name"] for e in idle[0]["events"]}


# ---- DFTracer's analyser


def test_the_bucket_method_beside_the_truth(scene):
    named = {"compute": SETS["compute"], "io": SETS["io"]}
    exact = by(post(scene, {"sets": named, "scope": "process", "explain": True, "granularity": 1})["explain"], "a", "b")["compute", "io"]
    older = post(scene, {"sets": named, "semantics": "compatible"})
    assert exact["a_minus_b_bucket"] == older["only_compute"] and exact["b_minus_a_bucket"] == older["only_io"]
    assert exact["b_minus_a"] == 1.6 and older["only_io"] == 0  # what is called hidden never was
    assert us(older["total"]) == 10_000_010 and older["variant"] == "approximate" and older["granularity"] == 1
    union = post(scene, {"sets": named, "semantics": "compatible", "variant": "intervals", "granularity": 100})
    job = by(post(scene, {"sets": named, "scope": "job"})["pairs"], "a")["compute"]
    assert union["only_io"] == job["b_minus_a"] and union["only_compute"] == job["a_minus_b"]


def test_the_printed_page(scene):
    query = urllib.parse.urlencode([("set", f"{name}:{SETS[name]}") for name in ("compute", "io")])
    status, head, page = scene.shared.ask(f"{scene.shared.path}/overlap/page?{query}")
    assert status == 200 and head["Content-Type"] == "text/plain; charset=utf-8"
    lines = [line.strip("│├└─ ") for line in page.decode().splitlines()]
    assert lines[0] == "Summary" and "Processes: 2" in lines and "Files: 1" in lines and "Events Recorded: 52" in lines
    assert lines[-5:] == ["Total Time: 10.000 sec", "Unoverlapped App Compute: 4.000 sec", "Compute: 4.000 sec", "Overall I/O: 0.800 sec",
                          "Unoverlapped I/O: 0.000 sec", "Unoverlapped Compute: 3.200 sec"][-5:]


# ---- groups, warnings


def family(folder):
    """two ranks on two hosts; the first forks a reader, and the clocks are far apart"""
    lines = [event("compute", "compute", US, 1000, 10, 10, hostname="a"), event("fork", "posix", US + 5, 1, 10, 10, hostname="a", ret=11),
             event("read", "posix", US + 100, 300, 11, 11, hostname="a"), event("compute", "compute", US + 9_000_000, 1000, 10, 10, hostname="b")]
    return write_trace(folder, lines)


def test_workers_belong_to_their_rank_unless_said_otherwise(scene):
    root = scene.new("root")
    server = scene.server([root])
    path = f"/api/v1/traces/{server.ingest(family(root / 'family'))['id']}"
    body = {"sets": {"compute": 'cat == "compute"', "io": 'func_name == "read"'}}
    value = post(scene, body, server=server, path=path)
    assert [(r["host_name"], r["pid"], r["processes"]) for r in rows(value["per_scope"])] == [("a", 10, 2), ("b", 10, 1)]
    assert us(value["pairs"][0]["overlap"]) == 300
    assert len(value["warnings"]) == 1 and "host b" in value["warnings"][0]
    apart = post(scene, {**body, "rank_groups": [{"host_name": "a", "pids": [7, 11]}]}, server=server, path=path)
    assert [(r["host_name"], r["pid"]) for r in rows(apart["per_scope"])] == [("a", 7), ("a", 10), ("b", 10)]
    assert apart["pairs"][0]["overlap"] == 0


def test_a_set_without_events_is_no_mistake_but_said(scene):
    value = post(scene, {"sets": {"nothing": 'cat == "computation"'}, "scope": "process"})
    assert value["sets"][0]["events"] == 0 and value["sets"][0]["busy"] == 0 and value["groups"] == []
    assert len(value["warnings"]) == 1 and "nothing" in value["warnings"][0] and "ai_framework" in value["warnings"][0]


def test_the_categories_of_the_warning_are_those_that_events_have(scene):
    root = scene.new("root")
    server = scene.server([root])
    write_trace(root / "t", [event("read", "POSIX", US, 5)], "a.pfw")
    write_trace(root / "t", [event("open", "left", US, 5)], "b.pfw")
    trace = server.ingest(root / "t")["id"]
    body = {"sets": {"nothing": 'cat == "x"'}, "scope": "process"}
    assert post(scene, body, server=server, path=f"/api/v1/traces/{trace}")["warnings"] == ["No event is in the set nothing. The categories of this trace are left, posix."]
    (root / "t/b.pfw").unlink()
    server.wait(server.call("POST", f"/api/v1/traces/{trace}/refresh")["job"])
    assert post(scene, body, server=server, path=f"/api/v1/traces/{trace}")["warnings"] == ["No event is in the set nothing. The categories of this trace are posix."]


# ---- mistakes


def test_mistakes_name_their_place(scene):
    sixteen = {f"s{i}": "pid == 1" for i in range(17)}
    for body, parameter, position in [
        ({"sets": sixteen}, "/sets", None),
        ({"sets": {"a b": "pid == 1"}}, "/sets/a b", None),
        ({"sets": {"a": 3}}, "/sets/a", None),
        ({"sets": {"a": "pid == 'x'"}}, "/sets/a", 4),
        ({"sets": SETS, "scope": ["pid", "pid +"]}, "/scope/1", 5),
        ({"sets": SETS, "scope": 3}, "/scope", None),
        ({"sets": SETS, "scope": []}, "/scope", None),
        ({"sets": SETS, "filter": "size"}, "/filter", 0),
        ({"sets": SETS, "from": "soon"}, "/from", None),
        ({"sets": SETS, "granularity": 0}, "/granularity", None),
        ({"sets": SETS, "exposure": 1}, "/exposure", None),
        ({"sets": SETS, "rank_groups": [{"host_name": "a"}]}, "/rank_groups/0/pids", None),
        ({"sets": SETS, "preset": "dlio2"}, "/preset", None),
        ({"sets": SETS, "semantics": "old"}, "/semantics", None),
        ({"sets": SETS, "semantics": "compatible"}, "/sets/app", None),
        ({"sets": SETS, "layers": ["compute"]}, "/layers", None),
        ({"layers": ["computer"]}, "/layers", None),
        ({"sets": SETS, "where": "io"}, "/where", None),
    ]:
        problem = refused(scene, body)
        assert problem["parameter"] == parameter and problem.get("position") == position, (body, problem)
    for body, parameter in [({"where": "io + 1"}, "/where"), ({"where": "io", "order_by": ["start", "-length"]}, "/order_by/1"),
                            ({"where": "io", "longest": 0}, "/longest"), ({"where": "io", "events": "all"}, "/events"),
                            ({"where": "io", "variant": "intervals"}, "/variant")]:
        assert refused(scene, {"sets": SETS, **body}, "overlap/intervals")["parameter"] == parameter
    problem = scene.shared.problem(scene.shared.path + "/overlap?set=io:pid%20==", 400)
    assert problem["parameter"] == "/set" and problem["position"] == 6
    assert refused(scene, {"sets": SETS, "granularity": 1e-6}, status=422)["parameter"] == "/granularity"
