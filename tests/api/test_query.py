"""Queries over HTTP: requests by body and by parameters, forms, pages, mistakes, several traces."""
import csv
import gzip
import io
import json
import urllib.parse

from harness import SMALL_EVENTS, event, small_trace, wait_until, write_trace

BY_NAME = {"group_by": ["func_name"], "aggregate": {"n": "count()", "time": "sum(time)"}}


def post(server, path, request, status=200):
    got, head, value = server.ask(path, "POST", request)
    assert got == status, (request, value)
    return value


def query(scene, request, url=""):
    return post(scene.shared, scene.shared.path + "/query" + url, request)


def get(scene, call, parameters):
    status, head, value = scene.shared.ask(scene.shared.path + f"/{call}?" + urllib.parse.urlencode(parameters, doseq=True))
    assert status == 200, value
    return value


def test_a_group_by_has_the_numbers_of_the_trace(scene):
    value = query(scene, BY_NAME)
    assert value["columns"] == ["func_name", "n", "time"] and value["units"] == {"time": "s"} and value["next"] is None
    assert value["data"] == [["<module>.iter", 16, 4.8], ["DLIOBenchmark._train", 2, 16.0], ["DLIOBenchmark.run", 2, 20.0], ["TorchFramework.compute", 16, 8.0],
                             ["read", 16, 1.6]]
    assert value["row_count"] == 5


def test_get_and_post_ask_the_same(scene):
    full = {"filter": "cat == 'posix'", "derive": {"kib": "size / 1024"}, "group_by": ["pid", "size"], "aggregate": {"n": "count()", "most": "max(kib)"},
            "order_by": ["-most", "pid"], "limit": 3}
    wanted = post(scene.shared, scene.shared.path + "/query", full)
    assert wanted["row_count"] > 0
    parameters = [("filter", "cat == 'posix'"), ("derive", "kib:size / 1024"), ("group_by", "pid"), ("group_by", "size"), ("aggregate", "n:count()"),
                  ("aggregate", "most:max(kib)"), ("order_by", "-most"), ("order_by", "pid"), ("limit", "3")]
    assert get(scene, "query", parameters) == wanted
    assert get(scene, "query", {"q": json.dumps(full)}) == wanted
    assert get(scene, "query", {"q": json.dumps({**full, "filter": "pid == 7", "limit": 9}), "filter": "cat == 'posix'", "limit": 3}) == wanted
    assert get(scene, "query", {**dict(parameters), "group_by": "pid,size", "order_by": "-most,pid", "aggregate": ["n:count()", "most:max(kib)"]}) == wanted


def test_the_same_question_in_other_words_is_computed_once(scene):
    first = scene.shared.ask(scene.shared.path + "/query", "POST", b'{"filter": "pid == 1", "group_by": ["func_name"], "aggregate": {"n": "count()"}}')
    again = scene.shared.ask(scene.shared.path + "/query", "POST", b'{"aggregate":{"n":"count()"},"group_by":["func_name"],"filter":"pid == 1"}')
    by_get = scene.shared.ask(scene.shared.path + "/query?filter=pid+%3D%3D+1&group_by=func_name&aggregate=n:count()")
    assert first[1]["ETag"] == again[1]["ETag"] == by_get[1]["ETag"] and first[2] == again[2] == by_get[2]
    other = scene.shared.ask(scene.shared.path + "/query", "POST", {"filter": "pid == 1", "group_by": ["func_name"], "aggregate": {"m": "count()"}})
    assert other[1]["ETag"] != first[1]["ETag"]


def test_tags_304_and_gzip(scene):
    for url in ["/query?group_by=func_name", "/query?group_by=func_name&format=csv", "/events", "/events?format=ndjson", "/columns", "/columns/func_name/values"]:
        status, head, body = scene.shared.request("GET", scene.shared.path + url)
        assert status == 200 and head["Cache-Control"] == "private, no-cache" and "Accept-Encoding" in head["Vary"], url
        assert scene.shared.ask(scene.shared.path + url, headers={"If-None-Match": head["ETag"]})[0] == 304, url
        status, packed_head, packed = scene.shared.request("GET", scene.shared.path + url, headers={"Accept-Encoding": "gzip"})
        if packed_head.get("Content-Encoding") == "gzip":
            assert gzip.decompress(packed) == body
            assert scene.shared.ask(scene.shared.path + url, headers={"If-None-Match": packed_head["ETag"], "Accept-Encoding": "gzip"})[0] == 304
        assert scene.shared.ask(scene.shared.path + url, "HEAD")[0] == 200
    assert scene.shared.ask(scene.shared.path + "/query", "POST", BY_NAME, {"If-None-Match": "*"})[0] == 200, "a POST is answered"


def test_three_forms_of_one_table(scene):
    request = {"columns": ["func_name", "size", "args.step", {"big": "size > 8192"}], "filter": "pid == 1"}
    value = query(scene, request)
    status, head, text = scene.shared.ask(scene.shared.path + "/query?format=csv", "POST", request)
    assert status == 200 and head["Content-Type"].startswith("text/csv")
    rows = list(csv.reader(io.StringIO(text.decode(), newline="")))
    assert rows[0] == value["columns"] and text.count(b"\n") == text.count(b"\r\n") == len(rows)
    assert rows[1:] == [["" if c is None else str(c).lower() if isinstance(c, bool) else str(c) for c in row] for row in value["data"]]
    status, head, text = scene.shared.ask(scene.shared.path + "/query", "POST", {**request, "format": "ndjson"})
    assert head["Content-Type"] == "application/x-ndjson"
    assert [json.loads(line) for line in text.decode().splitlines()] == [dict(zip(value["columns"], row)) for row in value["data"]]


def pages(scene, call, parameters, size):
    rows, cursor = [], None
    while True:
        page = get(scene, call, {**parameters, "limit": size, **({"cursor": cursor} if cursor else {})})
        assert len(page["data"]) <= size
        rows += page["data"]
        cursor = page["next"]
        if cursor is None:
            assert len(rows) == page["row_count"]
            return rows


def test_pages_put_together_are_the_whole(scene):
    for call, parameters in [("events", {}), ("events", {"sort": "-time,func_name"}), ("events", {"filter": "cat == 'posix'", "columns": "ts,pid"}),
                             ("query", {"group_by": "pid,step", "aggregate": "n:count()"}), ("columns", {"sort": "-missing,name", "columns": "name,missing"}),
                             ("columns/func_name/values", {})]:
        whole = get(scene, call, {**parameters, "limit": 1000})
        assert whole["next"] is None and whole["row_count"] == len(whole["data"]) > 1
        for size in (1, 7, len(whole["data"]), 1000):
            assert pages(scene, call, parameters, size) == whole["data"], (call, parameters, size)
        for offset in (1, len(whole["data"]) // 2, len(whole["data"]) - 1, len(whole["data"]), 10 ** 12):
            page = get(scene, call, {**parameters, "limit": 3, "offset": offset})
            assert page["data"] == whole["data"][offset:offset + 3] and page["row_count"] == whole["row_count"], (call, parameters, offset)
            assert (page["next"] is None) == (offset + 3 >= len(whole["data"])), (call, parameters, offset)


def test_an_offset_leads_on_by_cursors_and_is_checked(scene):
    whole = get(scene, "events", {"limit": 1000})["data"]
    page = get(scene, "events", {"limit": 2, "offset": 5})
    assert get(scene, "events", {"limit": 2, "cursor": page["next"]})["data"] == whole[7:9]
    assert query(scene, {"limit": 2, "offset": 5})["data"] == page["data"]
    _, head, _ = scene.shared.ask(scene.shared.path + "/events?limit=2&offset=5")
    assert "offset" not in head["Link"] and "cursor=" in head["Link"]
    status, _, text = scene.shared.ask(scene.shared.path + f"/events?format=csv&offset={len(whole) - 2}")
    assert status == 200 and text.count(b"\n") == 3
    for parameters in ({"offset": 1, "cursor": page["next"]}, {"offset": -1}, {"offset": "x"}):
        problem = scene.shared.problem(scene.shared.path + "/events?" + urllib.parse.urlencode(parameters), 400)
        assert problem["parameter"] == "/offset", parameters
    assert scene.shared.problem(scene.shared.path + "/query", 400, "POST", {"offset": "5"})["parameter"] == "/offset"


def test_a_page_of_no_rows_tells_how_many_there_are(scene):
    value = get(scene, "events", {"limit": 0})
    assert value["data"] == [] and value["row_count"] == SMALL_EVENTS and value["next"] is None and value["columns"][0] == "func_name"


def test_a_token_is_for_its_request(scene):
    cursor = get(scene, "events", {"limit": 3})["next"]
    assert get(scene, "events", {"limit": 5, "cursor": cursor})["data"]
    for call, parameters, says in [("events", {"filter": "pid == 1"}, "another request"), ("query", {}, "another request"), ("events", {"columns": "pid"}, "another")]:
        problem = scene.shared.problem(scene.shared.path + f"/{call}?" + urllib.parse.urlencode({**parameters, "cursor": cursor}), 400)
        assert problem["parameter"] == "/cursor" and says in problem["detail"], problem
    for bad in ["x", cursor[:-1], cursor + "A", "B" + cursor[1:], cursor.swapcase(), "A" * 9000, "%00", "é"]:
        problem = scene.shared.problem(scene.shared.path + "/events?" + urllib.parse.urlencode({"cursor": bad}), 400)
        assert problem["parameter"] == "/cursor", bad
    problem = scene.shared.problem(scene.shared.path + "/query", 400, "POST", {"cursor": 5})
    assert problem["parameter"] == "/cursor"


def test_after_a_refresh_an_old_token_is_410(scene):
    root = scene.new("root")
    server = scene.server([root])
    folder = write_trace(root / "a", small_trace())
    trace = server.ingest(folder)
    path = f"/api/v1/traces/{trace['id']}"
    before = server.get(path + "/events?limit=2&columns=func_name")
    cursor = before["next"]
    write_trace(folder, ["[", event("late", "POSIX", 1_700_000_020_000_000, 5, 3, 3), "]"], name="rank-9.pfw")
    status, _, value = server.ask(path + "/refresh", "POST")
    assert status == 202
    wait_until(lambda: server.get(f"/api/v1/jobs/{value['job']['id']}")["state"] == "done", what="the refresh")
    problem = server.problem(path + "/events?limit=2&columns=func_name&cursor=" + cursor, 410)
    assert problem["parameter"] == "/cursor" and "changed" in problem["detail"]
    assert server.get(path + "/events?limit=2&columns=func_name")["row_count"] == before["row_count"] + 1, "nothing old is shown"


def test_limits_of_pages(scene):
    for limit, status in [("-1", 400), ("x", 400), ("1.5", 400), ("100001", 422), ("", 400)]:
        problem = scene.shared.problem(scene.shared.path + "/events?limit=" + limit, status)
        assert problem["parameter"] == "/limit", problem
    for limit in ["all", -1, 1.5, True, [1]]:
        problem = scene.shared.problem(scene.shared.path + "/query", 400, "POST", {"limit": limit})
        assert problem["parameter"] == "/limit", problem
    assert scene.shared.problem(scene.shared.path + "/query", 422, "POST", {"limit": 100001})["parameter"] == "/limit"
    two = {"group_by": ["func_name"], "aggregate": {"n": "count()"}, "limit": 3, "then": {"order_by": ["-n"]}}
    assert query(scene, two, "?limit=2")["row_count"] == 3, "in the URL it is the page's, whatever stages there are"
    assert len(query(scene, two, "?limit=2")["data"]) == 2


def test_mistakes_of_parameters_name_the_parameter(scene):
    for parameters, pointer, position in [
            ({"filter": "size >"}, "/filter", 6), ({"group_by": "pid,nosuch"}, "/group_by", 0), ({"aggregate": "x:1 + nosuch(1)"}, "/aggregate", 4),
            ({"derive": "x:size * func_name"}, "/derive", 5), ({"order_by": "-nosuch"}, "/order_by", None), ({"columns": "func_name,nosuch"}, "/columns", 0),
            ({"describe": "func_name"}, "/describe", None), ({"value_counts": "nosuch"}, "/value_counts", None), ({"preset": "nosuch"}, "/preset", None),
            ({"filters": "perhaps"}, "/filters", None), ({"filters": "on"}, "/filters", None), ({"from": "x"}, "/from", None), ({"aggregate": "count()"}, "/aggregate", None),
            ({"aggregate": ["n:count()", "n:sum(size)"]}, "/aggregate", None), ({"q": "{"}, "/q", 1), ({"q": "[]"}, "/q", None),
            ({"q": '{"filter": "size >"}'}, "/filter", 6), ({"q": '{"aggregate": {"x": "sum("}}'}, "/aggregate/x", 4), ({"nosuch": "1"}, "/nosuch", None),
            ({"filter": ["pid == 1", "pid == 2"]}, "/filter", None), ({"format": "xml"}, "/format", None), ({"explain": "yes"}, "/explain", None),
            ({"sort": "pid", "order_by": "tid"}, "/order_by", None)]:
        problem = scene.shared.problem(scene.shared.path + "/query?" + urllib.parse.urlencode(parameters, doseq=True), 400)
        assert problem["parameter"] == pointer, (parameters, problem)
        assert position is None or problem["position"] == position, (parameters, problem)


def test_the_first_mistake_of_an_expression_is_named(scene):
    for text, position, words in [("percentile(time, 99), n = count(", 0, "unknown function 'percentile'"), ("sum(sise) + nosuch(1)", 4, "sise"),
                                  ("count() + percentile(time, 99)", 10, "unknown function 'percentile'")]:
        problem = scene.shared.problem(scene.shared.path + "/query", 400, "POST", {"aggregate": {"x": text}})
        assert (problem["parameter"], problem["position"]) == ("/aggregate/x", position) and words in problem["detail"], problem


def test_bodies_that_are_no_request(scene):
    for body, position in [(b"", None), (b"[]", None), (b"5", None), (b'{"filter": }', 12), (b'{"limit": 99999999999999999999}', None), (b'{"a": 1, "a": 2}', None),
                           (b"{" * 100_000, None), (b'{"filter": "\xff"}', None)]:
        problem = scene.shared.problem(scene.shared.path + "/query", 400, "POST", body)
        assert position is None or problem["position"] == position, (body[:40], problem)
    assert scene.shared.problem(scene.shared.path + "/query", 400, "POST", {"traces": ["x"]})["parameter"] == "/traces"
    assert scene.shared.problem(scene.shared.path + "/query", 400, "POST", {"filters": "on"})["parameter"] == "/filters"
    assert scene.shared.problem(scene.shared.path + "/overlap", 400, "POST", {"filters": "on", "sets": {"a": "pid == 1"}})["parameter"] == "/filters"
    assert scene.shared.ask("/api/v1/traces/0000000000000000/query", "POST", {})[0] == 404
    assert scene.shared.ask("/api/v1/traces/0000000000000000/events")[0] == 404


def test_explain_says_what_was_done(scene):
    plain = query(scene, BY_NAME)
    for value in [query(scene, BY_NAME, "?explain=true"), query(scene, {**BY_NAME, "explain": True}), query(scene, BY_NAME, "?explain=true")]:
        assert {k: v for k, v in value.items() if k != "explain"} == plain
        assert sum(step["rows_in"] for step in value["explain"]["steps"]) >= SMALL_EVENTS
        assert all({"name", "rows_in", "rows_out", "blocks_read", "blocks_skipped", "seconds", "memory"} <= set(step) for step in value["explain"]["steps"])
    assert "explain" not in query(scene, BY_NAME, "?explain=false")
    assert scene.shared.problem(scene.shared.path + "/query?explain=true&format=csv", 400)["parameter"] == "/explain"
    rows = get(scene, "events", {"explain": "true", "to": 2})
    assert rows["row_count"] == len(rows["data"]) < SMALL_EVENTS and rows["explain"]["steps"]


def test_columns_say_what_a_filter_may_name(scene):
    value = get(scene, "columns", {})
    rows = {row[0]: dict(zip(value["columns"], row)) for row in value["data"]}
    assert rows["func_name"]["type"] == "text" and rows["func_name"]["distinct"] == 5 and rows["func_name"]["missing"] == 0
    assert rows["func_name"]["top"][0] == {"value": "<module>.iter", "count": 16}
    assert (rows["size"]["type"], rows["size"]["unit"], rows["size"]["min"], rows["size"]["max"], rows["size"]["distinct"]) == ("integer", "B", "4096", "32768", 8)
    assert rows["size"]["missing"] == SMALL_EVENTS - 16 and abs(rows["size"]["missing_share"] - (1 - 16 / SMALL_EVENTS)) < 1e-12
    assert rows["time"]["type"] == "number" and rows["time"]["distinct"] is None and rows["time"]["max"] == "10.0"
    assert rows["trace"]["distinct"] == 1 and rows["args.step"]["type"] == "integer"
    for name in rows:
        assert query(scene, {"columns": [name if name.replace("_", "").replace(".", "").isalnum() else f"`{name}`"], "limit": 1})["columns"] == [name]
    scene.shared.problem(scene.shared.path + "/columns?preset=nosuch", 400)


def test_values_complete_a_prefix(scene):
    names = get(scene, "columns/name/values", {})
    assert names["data"] == [["<module>.iter", 16], ["TorchFramework.compute", 16], ["read", 16], ["DLIOBenchmark._train", 2], ["DLIOBenchmark.run", 2]]
    assert get(scene, "columns/func_name/values", {"prefix": "DLIO"})["data"] == [["DLIOBenchmark._train", 2], ["DLIOBenchmark.run", 2]]
    assert get(scene, "columns/func_name/values", {"prefix": "dliobenchmark.R"})["row_count"] == 1
    assert get(scene, "columns/size/values", {"prefix": "40"})["data"] == [[4096, 2]]
    assert get(scene, "columns/args.step/values", {})["row_count"] == 8
    assert "there are: func_name" in scene.shared.problem(scene.shared.path + "/columns/nosuch/values", 404)["detail"]
    assert scene.shared.problem(scene.shared.path + "/columns/time/values", 400)


# ---- several traces


def two_runs(scene):
    root = scene.new("root")
    server = scene.server([root])
    ids = []
    for name, lines in [("first", small_trace()), ("second", small_trace() + [event("TorchFramework.compute", "ai_framework", 1_700_000_001_000_000, 250_000, 1, 1, hhash=77)])]:
        ids.append(server.ingest(write_trace(root / name, lines))["id"])
    return server, ids


def test_several_traces_by_id_label_name_and_tag(scene):
    server, (a, b) = two_runs(scene)
    request = {"group_by": ["trace"], "aggregate": {"n": "count()"}}
    wanted = [["first", SMALL_EVENTS], ["second", SMALL_EVENTS + 1]]
    ask = lambda traces, status=200: post(server, "/api/v1/query", {**request, "traces": traces}, status)  # noqa: E731
    assert ask([a, b])["data"] == wanted
    assert ask({"x": b, "y": a})["data"] == [["x", SMALL_EVENTS + 1], ["y", SMALL_EVENTS]]
    assert ask([{"name": "*s*t*"}])["data"] == [["first", SMALL_EVENTS]] and ask([{"name": "*"}])["data"] == wanted
    assert server.ask(f"/api/v1/traces/{b}", "PATCH", {"tags": ["nightly"], "name": "first"})[0] == 200
    assert ask([{"tag": "nightly"}])["data"] == [["first", SMALL_EVENTS + 1]], "a new name is a new label"
    assert ask([{"name": "first"}])["data"] == [[f"first ({i})", n] for i, n in sorted([(a, SMALL_EVENTS), (b, SMALL_EVENTS + 1)])]
    assert ask([b, {"name": "first"}])["row_count"] == 2
    for traces, status, pointer in [([], 400, "/traces"), ("x", 400, "/traces"), ({}, 400, "/traces"), ([a, "no"], 404, "/traces/1"), ({"l": "no"}, 404, "/traces/l"),
                                    ([a, a], 400, "/traces/1"), ([{"tag": "no"}], 400, "/traces/0"), ([{"id": a}], 400, "/traces/0"), ([5], 400, "/traces/0"),
                                    ({str(i): a for i in range(65)}, 422, "/traces")]:
        assert ask(traces, status)["parameter"] == pointer, traces
    assert server.problem("/api/v1/query", 400, "POST", request)["parameter"] == "/traces"


def test_a_comparison_has_a_row_for_each_key_and_run(scene):
    server, (a, b) = two_runs(scene)
    value = post(server, "/api/v1/query", {"traces": {"old": a, "new": b}, "filter": "cat == 'ai_framework'", "group_by": ["func_name", "trace"],
                                           "aggregate": {"n": "count()"}, "compare": {"baseline": "old"}})
    assert value["columns"] == ["func_name", "trace", "n", "n_baseline", "n_delta", "n_ratio"]
    assert value["data"] == [["TorchFramework.compute", "old", 16, 16, 0, 1.0], ["TorchFramework.compute", "new", 17, 16, 1, 1.0625]]


# ---- saved queries


def test_saved_queries_outlive_the_daemon(scene):
    server = scene.server([])
    assert server.get("/api/v1/queries") == {"queries": []}
    for name, text in [("b", "{}"), ("a slow one/é", '{"limit": 5}'), ("b", '{"limit": 6}')]:
        status, _, value = server.ask("/api/v1/queries/" + urllib.parse.quote(name, safe=""), "PUT", {"text": text})
        assert status == 200 and (value["name"], value["text"]) == (name, text) and value["changed"].endswith("Z")
    server.stop()
    server.start()
    assert [(q["name"], q["text"]) for q in server.get("/api/v1/queries")["queries"]] == [("a slow one/é", '{"limit": 5}'), ("b", '{"limit": 6}')]
    assert server.get("/api/v1/queries/b")["text"] == '{"limit": 6}'
    assert server.ask("/api/v1/queries/b", "DELETE")[0] == 204 and server.ask("/api/v1/queries/b", "DELETE")[0] == 404
    assert server.problem("/api/v1/queries/b", 404)
    for body, pointer in [({}, "/text"), ({"text": 5}, "/text"), ({"text": "x" * 100_001}, "/text"), ({"text": "x", "y": 1}, "/y")]:
        assert server.problem("/api/v1/queries/c", 400, "PUT", body)["parameter"] == pointer
    assert server.problem("/api/v1/queries/" + "n" * 101, 400, "PUT", {"text": "x"})


# ---- notes


def test_notes_outlive_the_daemon_and_a_refresh(scene):
    root = scene.new("noted")
    server = scene.server([root])
    trace = "/api/v1/traces/" + server.ingest(write_trace(root / "a", small_trace()))["id"]
    assert server.get(trace + "/notes") == {"notes": []}
    added = []
    for text in ("8 workers", "slow file system, é"):
        status, _, note = server.ask(trace + "/notes", "POST", {"text": text})
        assert status == 201 and note["text"] == text and note["time"].endswith("Z") and note["who"].startswith("uid ")
        added.append(note)
    server.ask(trace + "/refresh", "POST")
    server.stop()
    server.start()
    assert server.get(trace + "/notes")["notes"] == added and added[0]["time"] < added[1]["time"]
    assert server.ask(trace + "/notes/" + added[0]["id"], "DELETE")[0] == 204
    assert server.ask(trace + "/notes/" + added[0]["id"], "DELETE")[0] == 404
    assert server.get(trace + "/notes")["notes"] == added[1:]
    for body, pointer in [({}, "/text"), ({"text": 5}, "/text"), ({"text": "x" * 10_001}, "/text")]:
        assert server.problem(trace + "/notes", 400, "POST", body)["parameter"] == pointer
    assert server.problem("/api/v1/traces/0000000000000000/notes", 404)
    assert server.problem("/api/v1/traces/0000000000000000/notes", 404, "POST", {"text": "x"})


# ---- comparison of views


def test_views_of_two_runs_compared(scene):
    server, (a, b) = two_runs(scene)
    base = f"/api/v1/compare?traces={a},{b}"
    summary = server.get(base + "&limit=1000")
    assert summary["view"] == "summary" and summary["baseline"] == "first" and summary["preset"] == "dlio" and summary["columns"][:3] == ["name", "trace", "parent"]
    layers = server.get(f"/api/v1/traces/{a}/summary")["layers"]
    assert [row[0] for row in summary["data"][::2]] == [layer["name"] for layer in layers] and [row[1] for row in summary["data"][:2]] == ["first", "second"]
    at = {name: i for i, name in enumerate(summary["columns"])}
    for row, layer in zip(summary["data"][::2], layers):
        assert row[at["count"]] == row[at["count_baseline"]] == layer["count"] and row[at["count_delta"]] == 0 and row[at["time"]] == layer["time"]
    grown = [row for row in summary["data"] if row[at["count_delta"]]]
    assert grown and all(row[1] == "second" and row[at["count"]] == row[at["count_baseline"]] + 1 for row in grown)
    assert all(row[at["count_ratio"]] == (row[at["count"]] / row[at["count_baseline"]] if row[at["count_baseline"]] else None) for row in grown)
    layer = server.get(base + "&view=layer&layer=compute&by=process&columns=host_name,pid,trace,time,time_ratio&baseline=second")
    assert layer["baseline"] == "second" and layer["row_count"] == 4 and [row[3:] for row in layer["data"]] == [[4.0, 4.0 / 4.25], [4.25, 1.0], [4.0, 1.0], [4.0, 1.0]]
    column = grown[0][0] + "_time_delta"
    flat = server.get(base + f"&view=flat&by=func_name&sort=-{column}&limit=1&columns=func_name,trace,{column}")
    assert flat["data"][0][:2] == ["TorchFramework.compute", "second"] and abs(flat["data"][0][2] - 0.25) < 1e-9, flat
    text = server.ask(base + "&view=flat&by=process&format=csv")[2].decode()
    assert len(text.splitlines()) == 1 + 4


def test_comparisons_refuse_what_they_cannot_give(scene):
    server, (a, b) = two_runs(scene)
    for query, status, pointer in [("", 400, "/traces"), ("?traces=no", 404, "/traces"), (f"?traces={a},{a}", 400, "/traces"), (f"?traces={a},{b}&view=main", 400, "/view"),
                                   (f"?traces={a},{b}&baseline=no", 400, "/baseline"), (f"?traces={a},{b}&layer=compute", 400, "/layer"),
                                   (f"?traces={a},{b}&view=layer&layer=no", 400, "/layer"), (f"?traces={a},{b}&view=layer&by=no", 400, "/by"),
                                   (f"?traces={a},{b}&preset=no", 400, "/preset"), (f"?traces={a},{b}&filter=size+>", 400, "/filter"),
                                   (f"?traces={a},{b}&columns=no", 400, "/columns")]:
        assert server.problem("/api/v1/compare" + query, status)["parameter"] == pointer, query
