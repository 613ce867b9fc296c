"""Summary and time series: their forms, their parameters, how they are kept."""
import csv
import gzip
import io
import json
import pathlib

from daemon import generate
from harness import SMALL_EVENTS, event, small_trace, wait_until, write_trace


def summary(scene, query=""):
    status, head, value = scene.shared.ask(scene.shared.path + "/summary" + query)
    assert status == 200, value
    return value


def layers(value):
    return {layer["name"]: layer for layer in value["layers"]}


def test_summary_has_the_numbers_of_the_trace(scene):
    value = summary(scene)
    assert value["semantics"] == "exact" and value["preset"] == "dlio" and value["filters"] == "on"
    assert (value["events"], value["hosts"], value["processes"], value["threads"], value["files"]) == (SMALL_EVENTS, 1, 2, 2, 1)
    assert abs(value["job_time"] - 10.00001) < 1e-9
    by = layers(value)
    assert by["app"]["count"] == 2 and by["app"]["parent"] is None and by["training"]["parent"] == "app"
    assert by["compute"]["count"] == 16 and abs(by["compute"]["time"] - 8.0) < 1e-9 and abs(by["compute"]["busy"] - 4.00008) < 1e-9
    assert by["fetch_data"]["count"] == 16 and by["compute"]["processes"] == 2


def test_a_layer_has_the_columns_that_are_defined_for_it(scene):
    by = layers(summary(scene))
    assert "self_group_sum" in by["app"] and "exposed_group_sum" not in by["app"]
    assert "exposed_group_sum" not in by["compute"] and "self_group_sum" not in by["compute"]
    assert "exposed_group_sum" in by["fetch_data"] and "hidden_share" in by["fetch_data"]
    assert "read_count" in by["other_posix"] and "read_count" not in by["reader"] and "preprocess_count" in by["reader"]
    assert "open_size" not in by["other_posix"] and "data_size" in by["other_posix"]
    empty = by["checkpoint"]
    assert empty["count"] == 0 and empty["time"] is None and empty["busy"] is None and empty["parent"] == "training"


def test_facts_add_up(scene):
    for filters in ["on", "off"]:
        value = summary(scene, "?filters=" + filters)
        total = sum(layer["count"] for layer in value["layers"])
        assert value["filters"] == filters and value["unmatched"] >= 0 and value["filtered"] >= 0
        if value["multiple"] == 0:
            assert total + value["unmatched"] + value["filtered"] == value["events"]


def test_csv_and_ndjson_hold_the_same_table(scene):
    value = summary(scene)
    status, head, text = scene.shared.ask(scene.shared.path + "/summary?format=csv")
    assert status == 200 and head["Content-Type"].startswith("text/csv")
    rows = list(csv.DictReader(io.StringIO(text.decode(), newline="")))
    assert [r["name"] for r in rows] == [layer["name"] for layer in value["layers"]] and list(rows[0]) == value["columns"]
    status, head, text = scene.shared.ask(scene.shared.path + "/summary?format=ndjson")
    assert head["Content-Type"] == "application/x-ndjson"
    lines = [json.loads(line) for line in text.decode().splitlines()]
    for row, line, layer in zip(rows, lines, value["layers"]):
        for name, cell in layer.items():
            assert line[name] == cell
            assert row[name] == ("" if cell is None else cell if isinstance(cell, str) else row[name])
            if isinstance(cell, (int, float)):
                assert float(row[name]) == cell


def test_other_presets_and_windows(scene):
    assert [layer["name"] for layer in summary(scene, "?preset=posix")["layers"]] == ["posix"]
    generic = summary(scene, "?preset=generic")
    assert generic["layers"][0]["name"] == "app" and generic["layers"][0]["count"] == SMALL_EVENTS
    half = layers(summary(scene, "?from=0&to=5"))
    assert 0 < half["compute"]["time"] < 8
    only = layers(summary(scene, "?filter=pid+%3D%3D+1"))
    assert only["compute"]["count"] == 8 and only["app"]["count"] == 1


def test_columns_of_a_summary_are_the_same_whether_events_are_read_or_what_is_kept(scene):
    """what adds up over time comes from sums that are kept, where the window is made of their bins"""
    adds = ["count", "time", "size", "bw", "ops", "busy", "bw_busy", "busy_process_sum", "busy_group_sum", "exposed_group_sum",
            "hidden_share", "self_group_sum", "read_size", "read_bw", "data_busy", "preprocess_count"]
    for window in ["", "&from=1&to=3", "&from=2.5&to=7.125", "&from=0.0005&to=3.0000007", "&from=4&to=99", "&to=0.001", "&from=5&to=5.001", "&from=5&to=5"]:
        for more in ["", "&filters=off", "&filter=dur%20%3E%205", "&preset=posix"]:
            for metrics in [adds, adds + ["time_share", "processes", "size_bin_0_4kib"], ["busy"], ["size"]]:
                there = [name for name in metrics if "preset=posix" not in more or not name.startswith("preprocess")]
                whole, few = summary(scene, "?" + (window + more).strip("&")), summary(scene, f"?metrics={','.join(there)}{window}{more}")
                facts = lambda value: {name: value[name] for name in value if name not in ("columns", "units", "layers")}
                assert facts(whole) == facts(few), (window, more, metrics)
                wanted = [{name: layer[name] for name in layer if name in ("name", "parent", *there)} for layer in whole["layers"]]
                assert few["layers"] == wanted, (window, more, metrics)
                assert [name for name in few["columns"]] == [name for name in whole["columns"] if name in ("name", "parent", *there)]
    for refused, words in [("?metrics=nope", "no metric \"nope\""), ("?metrics=busy&semantics=compatible", "makes no difference")]:
        status, head, problem = scene.shared.ask(scene.shared.path + "/summary" + refused)
        assert status == 400 and problem["parameter"] == "/metrics" and words in problem["detail"], problem


def test_common_parameters_without_effect_are_legal_and_share_the_answer(scene):
    plain = scene.shared.ask(scene.shared.path + "/summary")[1]["ETag"]
    for query in ["granularity=0.1", "by=time_range", "views=time_range,proc_name", "semantics=exact", "filters=on", "format=json"]:
        status, head, value = scene.shared.ask(scene.shared.path + "/summary?" + query)
        assert status == 200 and head["ETag"] == plain, (query, value)


def test_bad_values_are_400_and_name_what_is_allowed(scene):
    for query, pointer, says in [("preset=nope", "/preset", "dlio"), ("filters=yes", "/filters", "on|off"), ("format=xml", "/format", "csv"),
                                 ("semantics=fuzzy", "/semantics", "exact"), ("from=abc", "/from", "seconds"), ("from=2&to=1", "/to", "before"),
                                 ("granularity=0", "/granularity", "seconds"), ("preset=dlio&preset=ai", "/preset", "twice")]:
        problem = scene.shared.problem(scene.shared.path + "/summary?" + query, 400)
        assert problem["parameter"] == pointer and says in problem["detail"], (query, problem)


def test_a_filter_with_a_mistake_says_where(scene):
    problem = scene.shared.problem(scene.shared.path + "/summary?filter=cat+%3D%3D+%3D+1", 400)
    assert problem["parameter"] == "/filter" and problem["position"] == 7, problem
    problem = scene.shared.problem(scene.shared.path + "/summary?filter=fun_name+%3D%3D+%22read%22", 400)
    assert problem["position"] == 0 and "func_name" in problem["detail"], problem


def test_both_semantics_are_there_and_say_which_they_are(scene):
    for view in ["summary", "timeseries", "views/flat", "views/layer"]:
        for semantics in ["exact", "compatible"]:
            value = scene.shared.get(scene.shared.path + f"/{view}?semantics={semantics}")
            assert value["semantics"] == semantics, view
        assert scene.shared.get(scene.shared.path + f"/{view}")["semantics"] == "exact", view


# ---- layered views


def rows(scene, query, trace=None):
    """a view as dictionaries by column"""
    value = scene.shared.get((trace or scene.shared.path) + query)
    assert value["row_count"] >= len(value["data"]), query
    return [dict(zip(value["columns"], row)) for row in value["data"]]


BY = ["time_range", "process", "thread", "proc_name", "host_name", "file_name", "file_dir", "file_pattern", "cat", "func_name", "epoch", "step",
      "proc_id", "thread_id"]


def test_every_view_adds_up_to_the_summary(scene):
    whole = layers(summary(scene))
    for by in BY:
        flat = rows(scene, f"/views/flat?by={by}&granularity=0.7")
        for name, layer in whole.items():
            for column in ["count", "time", "size", "size_bin_0_4kib", "read_count", "read_time", "read_size"]:
                if column not in layer:
                    continue
                total = sum(row[f"{name}_{column}"] or 0 for row in flat)
                assert abs(total - (layer[column] or 0)) < 1e-9, (by, name, column, total, layer[column])


def test_events_are_conserved(scene):
    for semantics in ["exact", "compatible"]:
        for by in ["time_range", "proc_name"]:
            value = scene.shared.get(scene.shared.path + f"/views/flat?by={by}&semantics={semantics}&limit=1")
            taken = value["by_layer"]
            assert list(taken) == [layer["name"] for layer in summary(scene)["layers"]]
            assert value["taken"] + value["unmatched"] + value["filtered"] == SMALL_EVENTS
            assert sum(taken.values()) >= value["taken"] + value["multiple"]
            assert taken["compute"] == 16 and taken["checkpoint"] == 0
            one = scene.shared.get(scene.shared.path + f"/views/layer?layer=compute&by={by}&semantics={semantics}")
            assert one["by_layer"] == {"compute": 16}
    generic = scene.shared.get(scene.shared.path + "/views/flat?preset=generic&by=process")["by_layer"]
    assert generic["app"] == SMALL_EVENTS and sum(generic.values()) == 2 * SMALL_EVENTS


def test_a_layer_view_is_its_part_of_the_flat_view(scene):
    for by in BY:
        flat = rows(scene, f"/views/flat?by={by}")
        layer = rows(scene, f"/views/layer?layer=compute&by={by}")
        mine = [row for row in flat if row["compute_count"] is not None]
        assert len(mine) == len(layer) > 0, by
        for a, b in zip(mine, layer):
            for column, cell in b.items():
                assert a.get(f"compute_{column}", a.get(column)) == cell, (by, column)


def test_views_by_process_have_keys_that_are_columns_of_their_own(scene):
    value = scene.shared.get(scene.shared.path + "/views/flat?by=process")
    assert value["columns"][:2] == ["host_name", "pid"] and [row[:2] for row in value["data"]] == [["node1", 1], ["node1", 2]]
    assert scene.shared.get(scene.shared.path + "/views/flat?by=thread")["columns"][:3] == ["host_name", "pid", "tid"]
    steps = rows(scene, "/views/layer?layer=compute&by=step")
    assert [row["step"] for row in steps] == list(range(1, 9)) and all(row["count"] == 2 for row in steps)
    nothing = rows(scene, "/views/layer?layer=app&by=file_name")
    assert [row["file_name"] for row in nothing] == [None]


def test_a_view_by_time_has_no_rows_for_a_layer_without_events(scene):
    path = scene.shared.path + "/views/layer?by=time_range&granularity=0.01&to=1000&columns=time_range,count&layer="
    assert not scene.shared.get(path + "checkpoint")["data"] and sum(row[1] for row in scene.shared.get(path + "compute")["data"]) == 16


def test_exposed_time_by_process(scene):
    one = rows(scene, "/views/layer?layer=fetch_data&by=process")
    assert [row["exposed_group_sum"] for row in one] == [2.4, 2.4] and all(row["hidden_share"] == 0 for row in one)


def test_pages_order_and_columns_of_a_view(scene):
    path = scene.shared.path + "/views/flat?by=step&columns=step,compute_time&sort=-step&limit=3"
    first = scene.shared.get(path)
    assert first["columns"] == ["step", "compute_time"] and [row[0] for row in first["data"]] == [8, 7, 6] and first["row_count"] == 9
    second = scene.shared.get(path + "&cursor=" + first["next"])
    assert [row[0] for row in second["data"]] == [5, 4, 3]


def test_views_refuse_what_they_cannot_give(scene):
    for query, pointer, says in [("views/flat?by=colour", "/by", "file_pattern"), ("views/layer?layer=nope", "/layer", "compute"),
                                 ("views/flat?views=nope", "/views", "proc_name"), ("views/flat?quantile_stats=true", "/quantile_stats", "compatible"),
                                 ("views/flat?granularity=0", "/granularity", "seconds"), ("hlm?semantics=exact", "/semantics", "compatible"),
                                 ("summary?by=proc_name", "/by", "compatible"), ("summary?views=proc_name", "/views", "compatible"),
                                 ("summary?quantile_stats=true&semantics=compatible", "/quantile_stats", "granularity"), ("views/flat?views=proc_name", "/views", "compatible"),
                                 ("views/main?layer=app&semantics=exact", "/semantics", "compatible"),
                                 ("views/flat?by=file_name&semantics=compatible", "/by", "time_range")]:
        problem = scene.shared.problem(scene.shared.path + "/" + query, 400)
        assert problem["parameter"] == pointer and says in problem["detail"], (query, problem)


def test_compatible_steps_are_there(scene):
    hlm = scene.shared.get(scene.shared.path + "/hlm")
    assert hlm["semantics"] == "compatible" and {"time_range", "proc_name"} <= set(hlm["columns"]) and hlm["row_count"] > 0
    main = scene.shared.get(scene.shared.path + "/views/main?layer=compute")
    assert main["semantics"] == "compatible" and "time" in main["columns"]


# ---- time series


def test_timeseries_is_a_table(scene):
    status, _, value = scene.shared.ask(scene.shared.path + "/timeseries?layer=compute,fetch_data&metrics=time,count,busy&granularity=1")
    assert status == 200, value
    assert value["columns"][:2] == ["time_range", "time_start"] and "compute_time" in value["columns"] and "fetch_data_busy" in value["columns"]
    assert value["row_count"] == len(value["data"]) == 11 and value["next"] is None and value["granularity"] == 1
    assert value["units"]["compute_time"] == "s" and value["units"]["time_start"] == "s"
    at = value["columns"].index
    assert sum(row[at("compute_count")] or 0 for row in value["data"]) == 16
    assert abs(sum(row[at("compute_time")] or 0 for row in value["data"]) - 8) < 1e-9
    assert [row[0] for row in value["data"]] == list(range(11))


def test_any_metric_of_any_layer(scene):
    value = scene.shared.get(scene.shared.path + "/timeseries?layer=fetch_data,app&metrics=exposed_group_sum,busy_process_max,processes")
    assert value["columns"][2:] == [f"{layer}_{metric}" for layer in ("fetch_data", "app") for metric in ("exposed_group_sum", "busy_process_max", "processes")]
    at = value["columns"].index
    assert abs(sum(row[at("fetch_data_exposed_group_sum")] or 0 for row in value["data"]) - 4.8) < 1e-9
    assert all(row[at("app_exposed_group_sum")] is None for row in value["data"])
    read = scene.shared.get(scene.shared.path + "/timeseries?layer=other_posix&metrics=read_count,read_size&filters=off")
    assert read["columns"][2:] == ["read_count", "read_size"]


def test_compatible_series_is_the_compatible_view(scene):
    value = scene.shared.get(scene.shared.path + "/timeseries?layer=compute&metrics=count,time_max,ops&semantics=compatible")
    assert value["columns"] == ["time_range", "time_start", "count", "time_max", "ops"] and value["semantics"] == "compatible"
    view = rows(scene, "/views/layer?layer=compute&by=time_range&semantics=compatible")
    got = {row[0]: row[2:4] for row in value["data"] if row[2] is not None}
    assert got == {row["time_range"]: [row["count_sum"], row["time_max"]] for row in view}


def test_one_layer_has_plain_column_names(scene):
    value = scene.shared.get(scene.shared.path + "/timeseries?layer=app&metrics=time,bw")
    assert value["columns"] == ["time_range", "time_start", "time", "bw"]


def test_points_are_limited_by_whole_factors(scene):
    value = scene.shared.get(scene.shared.path + "/timeseries?layer=app&granularity=0.01&max_points=100")
    assert len(value["data"]) <= 100 and abs(value["granularity"] / 0.01 - round(value["granularity"] / 0.01)) < 1e-6 and value["granularity"] > 0.01


def test_points_alone_pick_a_round_width(scene):
    for points in [3, 10, 100]:
        value = scene.shared.get(scene.shared.path + f"/timeseries?layer=compute&metrics=time&max_points={points}")
        assert points / 3 <= len(value["data"]) <= points and value["granularity"] in (5, 1, 2, 0.1, 0.2, 0.5), (points, value["granularity"])
        assert abs(sum(row[2] or 0 for row in value["data"]) - 8) < 1e-9


def test_a_series_pages_and_sorts_as_all_tables_do(scene):
    path = scene.shared.path + "/timeseries?layer=compute&metrics=time,count&granularity=1"
    assert scene.shared.get(path)["next"] is None
    page = scene.shared.get(path + "&limit=4&sort=-count&columns=time_range,count")
    assert page["columns"] == ["time_range", "count"] and len(page["data"]) == 4 and page["row_count"] == 11
    rest = scene.shared.get(path + "&limit=400&sort=-count&columns=time_range,count&cursor=" + page["next"])
    assert len(rest["data"]) == 7 and {row[0] for row in page["data"] + rest["data"]} == set(range(11))


def test_series_refuse_what_they_cannot_give(scene):
    for query, status, pointer, says in [("layer=nope", 400, "/layer", "app"), ("metrics=speed", 400, "/metrics", "bw"), ("layer=", 400, "/layer", ""),
                                         ("granularity=0.000001", 422, "/granularity", "rows"), ("max_points=0", 400, "/max_points", "whole"),
                                         ("max_points=2000000", 422, "/max_points", "rows")]:
        problem = scene.shared.problem(scene.shared.path + "/timeseries?" + query, status)
        assert problem["parameter"] == pointer and says in problem["detail"], (query, problem)


# ---- sparse time, sums that do not fit


def frugal(scene, lines):
    """a daemon whose questions may hold little, and a trace of its own"""
    root = scene.new("root")
    server = scene.server([root], {"query_memory": "64MiB"})
    server.path = "/api/v1/traces/" + server.ingest(write_trace(root / "a", lines))["id"]
    return server


def table(server, query):
    """rows as objects, and the answer"""
    status, _, value = server.ask(server.path + query)
    assert status == 200, (query, status, value)
    return [dict(zip(value["columns"], row)) for row in value["data"]], value


def read_at(ts, dur, pid=1, ret=4096):
    return event("read", "POSIX", ts, dur, pid, pid, ret=ret, fname=f"/data/{pid}")


def test_an_empty_time_between_two_events_costs_nothing(scene):
    late = 1_690_000_000_000_000
    server = frugal(scene, ["[", read_at(0, 10), read_at(late, 20, 2)])
    wanted = [0, late // 1_000_000]
    for query in ["/hlm?preset=posix", "/views/main?preset=posix", "/views/layer?preset=posix&by=time_range&semantics=compatible",
                  "/views/flat?preset=posix&by=time_range&semantics=compatible", "/views/layer?preset=posix&by=time_range", "/views/flat?preset=posix&by=time_range"]:
        rows, value = table(server, query)
        assert sorted(row["time_range"] for row in rows) == wanted, (query, rows)
        assert sum(row.get("count", row.get("count_sum", row.get("posix_count", row.get("posix_count_sum")))) for row in rows) == 2, (query, rows)
    sets, _ = table(server, "/views/main?preset=posix&views=file_name")
    assert sorted(row["time_range"] for row in sets) == [[0], [wanted[1]]]
    status, _, problem = server.ask(server.path + "/timeseries?preset=posix&metrics=count&granularity=1")
    assert status == 422 and problem["parameter"] == "/granularity", problem


def test_bins_of_microseconds_over_hours(scene):
    server = frugal(scene, ["[", *(read_at(i * 126_000_000 + 3, 5, 1 + i % 2) for i in range(100)), read_at(12_600_000_000, 30)])
    hlm, _ = table(server, "/hlm?preset=posix&granularity=7e-6&limit=1000")
    assert len(hlm) == 101 and hlm[0]["count"] == 1 and sum(row["count"] for row in hlm) == 101
    assert {row["time_range"] for row in hlm} == {(i * 126_000_000) // 7 for i in range(100)} | {(12_600_000_000 - 3) // 7}
    for query in ["/views/layer?preset=posix&layer=posix&by=time_range", "/views/flat?preset=posix&by=time_range"]:
        rows, _ = table(server, query + "&granularity=7e-6&limit=1000")
        prefix = "posix_" if "flat" in query else ""
        assert len(rows) == 105, len(rows)  # the last event touches five bins
        total = server.get(server.path + "/summary?preset=posix")["layers"][0]
        for name in ("count", "time", "size", "busy", "busy_process_sum"):
            assert abs(sum(row[prefix + name] for row in rows) - total[name]) < 1e-9, (query, name)
        assert [row["time_range"] for row in rows] == sorted(row["time_range"] for row in rows)


def test_a_sum_that_does_not_fit_is_missing_and_said(scene):
    huge = 1 << 62
    server = frugal(scene, ["[", read_at(0, 10, 1, huge), read_at(20, 10, 1, huge), read_at(2_000_000, 10, 2, 7)])
    value = server.get(server.path + "/summary?preset=posix")
    layer = value["layers"][0]
    assert layer["count"] == 3 and layer["size"] is None and layer["read_size"] is None and layer["bw"] is None and layer["time"] == 3e-5, layer
    assert value["sums_too_large"] >= 2, value
    for semantics in ("exact", "compatible"):
        rows, value = table(server, f"/timeseries?preset=posix&layer=posix&metrics=size,count&granularity=1&semantics={semantics}")
        assert [row["size"] for row in rows] == [None, None, 7] and rows[0]["count"] == 2 and value["sums_too_large"] > 0, (semantics, rows)
        rows, value = table(server, f"/timeseries?preset=posix&layer=posix&metrics=count&granularity=1&filter=size+%3C+8&semantics={semantics}")
        assert "sums_too_large" not in value
    rows, value = table(server, "/views/layer?preset=posix&by=process")
    assert [row["size"] for row in rows] == [None, 7] and value["sums_too_large"] > 0
    for query, name in [("/hlm?preset=posix", "size"), ("/views/main?preset=posix", "size"), ("/views/layer?preset=posix&by=proc_name&semantics=compatible", "size_sum"),
                        ("/views/flat?preset=posix&by=proc_name&semantics=compatible", "posix_size_sum")]:
        rows, value = table(server, query)
        assert sorted((row[name] is None, row[name]) for row in rows) == [(False, 7), (True, None)] and value["sums_too_large"] > 0, (query, rows)
    value = server.get(server.path + "/query?group_by=pid&aggregate=size:sum(size)")
    assert [row[1] for row in value["data"]] == [None, 7] and value["sums_too_large"] == 1, value
    assert "sums_too_large" not in server.get(server.path + "/query?group_by=size&aggregate=n:count()")
    compatible = server.get(server.path + "/summary?preset=posix&semantics=compatible")
    assert compatible["layers"][0]["size"] is None and compatible["layers"][0]["bandwidth"] is None and compatible["sums_too_large"] > 0
    assert compatible["layers"][0]["count"] == 3


def test_times_of_sets_that_do_not_fit_are_missing_and_said(scene):
    long = 4 * 10**15  # 4e18 ns, since a time of the trace has a fraction
    server = frugal(scene, ["[", *(read_at(i, long, 1 + i) for i in range(4)), read_at(5, 0.5, 9)])
    ask = lambda **body: server.call("POST", server.path + "/overlap", {"sets": {"r": "cat == 'posix'"}, "scope": "process", **body})  # noqa: E731
    value = ask()
    found = dict(zip(value["sets"]["columns"], value["sets"]["data"][0])) if isinstance(value["sets"], dict) else value["sets"][0]
    assert found["events"] == 5 and found["time"] is None and found["busy_max"] is not None and value["sums_too_large"] >= 1, value
    assert "sums_too_large" not in ask(to=1)




# ---- how answers are kept


def test_tags_and_304(scene):
    path = scene.shared.path + "/summary"
    _, head, _ = scene.shared.ask(path)
    tag = head["ETag"]
    assert head["Cache-Control"] == "private, no-cache" and "Accept-Encoding" in head["Vary"]
    for sent in [tag, "W/" + tag, f'"x", {tag}', "*"]:
        status, head, body = scene.shared.ask(path, headers={"If-None-Match": sent})
        assert (status, body, head["ETag"]) == (304, b"", tag), sent
    assert scene.shared.ask(path, headers={"If-None-Match": '"x"'})[0] == 200
    assert scene.shared.ask(path, headers={"If-None-Match": "bad"})[0] == 200
    for other in ["/api/v1/traces", scene.shared.path, "/api/v1/presets", "/api/v1/jobs", "/api/v1/browse", scene.shared.path + "/report",
                  scene.shared.path + "/timeseries"]:
        tag = scene.shared.ask(other)[1]["ETag"]
        assert tag and scene.shared.ask(other, headers={"If-None-Match": tag})[0] == 304, other


def test_gzip_is_the_same_answer(scene):
    for path in ["/summary", "/summary?format=csv", "/timeseries", "/report"]:
        _, plain_head, _ = scene.shared.ask(scene.shared.path + path)
        connection_head = scene.shared.request("GET", scene.shared.path + path, headers={"Accept-Encoding": "gzip"})
        plain = scene.shared.request("GET", scene.shared.path + path)
        status, head, body = connection_head
        assert status == 200 and head["Content-Encoding"] == "gzip" and gzip.decompress(body) == plain[2] and len(body) < len(plain[2]), path
        assert head["ETag"] != plain_head["ETag"]
        assert scene.shared.ask(scene.shared.path + path, headers={"If-None-Match": head["ETag"], "Accept-Encoding": "gzip"})[0] == 304
    assert "Content-Encoding" not in scene.shared.request("GET", scene.shared.path + "/summary", headers={"Accept-Encoding": "gzip;q=0"})[1]


def test_the_first_summary_after_a_restart_was_kept(scene):
    root = scene.new("root")
    server = scene.server([root])
    trace = server.ingest(write_trace(root / "a", small_trace()))
    path = f"/api/v1/traces/{trace['id']}/summary"
    before = server.request("GET", path)
    server.stop()
    server.start()
    after = server.request("GET", path)
    assert after[2] == before[2] and after[1]["ETag"] == before[1]["ETag"]


def test_what_columns_hold_is_kept_until_the_trace_or_its_name_changes(scene):
    root = scene.new("root")
    server = scene.server([root])
    trace = server.ingest(write_trace(root / "a", small_trace()))
    path = f"/api/v1/traces/{trace['id']}"
    rows = lambda what="/columns": {row[0]: row[1:] for row in server.get(path + what)["data"]}  # noqa: E731
    before, refined = rows(), rows("/columns?preset=dlio")
    assert {name for name in before if before[name] != refined[name]} <= {"cat"} and list(before) == list(refined)
    kept = lambda: len(list((server.folder / "store/traces" / trace["id"]).glob("kept-*")))  # noqa: E731
    wait_until(lambda: server.idle(30), what="the end of what is prepared after an ingest")
    files = kept()
    server.stop()
    server.start()
    assert rows() == before and rows("/columns?preset=dlio") == refined and kept() == files
    assert server.ask(path, "PATCH", {"name": "renamed"})[0] == 200
    after = rows()
    assert after["trace"] != before["trace"] and {**after, "trace": 0} == {**before, "trace": 0}
    write_trace(root / "a", small_trace() + [event("read", "POSIX", 1_700_000_001_000_000, 5, 1, 1)])
    server.ingest(root / "a")
    assert rows() != after


def test_columns_are_counted_a_few_at_a_time_when_memory_is_short(scene):
    root = scene.new("root")
    generate(root / "a", events=250000, seed=5)
    answers = []
    for settings in ({}, {"query_memory": "24MiB"}):
        server = scene.server([root], settings)
        answers.append(server.get(f"/api/v1/traces/{server.ingest(root / 'a')['id']}/columns")["data"])
    assert answers[0] == answers[1]
    assert {row[0]: row[5] for row in answers[0]}["ts"] is None, "has too many values to count them"


def test_another_build_keeps_and_tags_its_own_answers(scene):
    root = scene.new("root")
    server = scene.server([root])
    trace = server.ingest(write_trace(root / "a", small_trace()))
    path = f"/api/v1/traces/{trace['id']}"
    kept = lambda: {p.name for p in (server.folder / "store/traces" / trace["id"]).glob("kept-*")}  # noqa: E731

    def restart_and_ask():
        """what the daemon keeps, and the trace's `answers`"""
        server.stop()
        server.start()
        server.get(path + "/summary")
        return kept(), server.get(path)["answers"]

    first = restart_and_ask()
    assert restart_and_ask() == first
    build = server.get("/api/v1/version")["build"]["id"]
    command = server.command()
    program, note = pathlib.Path(command[0]).read_bytes(), bytes.fromhex(build)
    assert program.count(note) == 1
    other = scene.new("other")
    (other / "server").mkdir(parents=True)
    copy = other / "server/stratad"  # the same program, but for the digest that the linker left in it
    copy.write_bytes(program.replace(note, note[::-1]))
    copy.chmod(0o755)
    (other / "config").symlink_to(pathlib.Path(command[0]).resolve().parent.parent / "config")
    server.command = lambda: [str(copy), *command[1:]]
    second = restart_and_ask()
    assert second[0] > first[0], "the kept summary of the other build is not taken"
    assert second[1] != first[1], "what a browser kept is asked for again"


def test_presets(scene):
    presets = {p["name"]: p for p in scene.shared.get("/api/v1/presets")["presets"]}
    assert {"dlio", "ai", "posix", "generic"} <= set(presets)
    dlio = scene.shared.get("/api/v1/presets/dlio")
    assert dlio == presets["dlio"] and [layer["name"] for layer in dlio["layers"]][:3] == ["app", "training", "compute"]
    assert {layer["name"]: layer["parent"] for layer in dlio["layers"]}["compute"] == "training" and dlio["overlap_with"] == "compute"
    assert "/dev/" in dlio["drop"]["files"] and dlio["refine"]["rules"] and dlio["views"]
    scene.shared.problem("/api/v1/presets/nope", 404)
