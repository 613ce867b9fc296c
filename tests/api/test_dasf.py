"""Traces of DASF: recognised by content, counted record by record, their tables, and what these refuse."""
import struct

from harness import write_trace


def pack(value):
    """msgpack of what the tests need"""
    if value is None:
        return b"\xc0"
    if isinstance(value, float):
        return b"\xcb" + struct.pack(">d", value)
    if isinstance(value, int):
        return b"\xd3" + struct.pack(">q", value)
    if isinstance(value, str):
        return b"\xd9" + bytes([len(value.encode())]) + value.encode()
    if isinstance(value, list):
        return b"\xdc" + struct.pack(">H", len(value)) + b"".join(map(pack, value))
    return b"\xde" + struct.pack(">H", len(value)) + b"".join(pack(k) + pack(v) for k, v in value.items())


def record(value):
    packed = pack(value)
    return struct.pack(">Q", len(packed)) + packed


def compute(key, stamp, duration, host="h1", worker="0", inputs=(), name="add"):
    return record({"name": "Compute", "timestamp": float(stamp), "duration": float(duration), "phase": "X", "process_id": host, "thread_id": f"worker-{host}-{worker}",
                   "args": {"key": key, "name": name, "size": 1000, "dependencies": inputs if isinstance(inputs, str) else list(inputs), "dependents": []}})


def sample(stamp, host="h1", utilization=50):
    return record({"name": "Resource Usage", "timestamp": float(stamp), "phase": "I", "process_id": host, "thread_id": None,
                   "args": {"gpu_utilization": utilization, "gpu_memory_used": 10**9}})


def test_other_msgpack_is_named_and_makes_no_trace(scene):
    root = scene.new("root")
    for folder in ("run", "alone"):
        (root / folder).mkdir()
        (root / folder / "other.msgpack").write_bytes(pack({"a": 1}) * 20)
        (root / folder / "random.msgpack").write_bytes(bytes(range(256)) * 4)
        (root / folder / "empty.msgpack").write_bytes(b"")
    (root / "run/x.msgpack").write_bytes(compute("a", 3, 2))
    server = scene.server([root])
    trace = server.ingest(root / "run")
    files = {file["path"]: file for file in server.get(f"/api/v1/traces/{trace['id']}/report")["files"]}
    assert {path: file["state"] for path, file in files.items()} == {"empty.msgpack": "complete", "other.msgpack": "rejected", "random.msgpack": "rejected", "x.msgpack": "complete"}
    assert files["other.msgpack"]["reason"] == "is not read: it does not begin with a record of DASF"
    assert trace["kind"] == "dasf" and trace["events"] == 1
    answer, job = server.register(root / "alone")
    assert "is a trace" in server.wait(job)["error"]["detail"]


def server_with(scene, *records, name="x.msgpack"):
    root = scene.new("root")
    (root / "run").mkdir()
    (root / "run" / name).write_bytes(b"".join(records))
    server = scene.server([root])
    return server, server.ingest(root / "run")


def rows(server, trace, table, **parameters):
    query = "&".join(f"{k}={v}" for k, v in parameters.items())
    answer = server.get(f"/api/v1/traces/{trace['id']}/dasf/{table}?{query}")
    return [dict(zip(answer["columns"], row)) for row in answer["data"]]


def test_records_are_recognised_by_content(scene):
    server, trace = server_with(scene, compute("a", 3, 2), compute("b", 5, 1, inputs=["a"]), name="whatever.bin")
    assert trace["kind"] == "dasf" and trace["preset"]["name"] == "dask" and trace["events"] == 2
    events = server.get(f"/api/v1/traces/{trace['id']}/events?columns=func_name,cat,host_name,time,args.key")["data"]
    assert events == [["add", "compute", "h1", 2.0, "a"], ["add", "compute", "h1", 1.0, "b"]]


def test_every_record_is_counted_and_damage_is_explained(scene):
    server, trace = server_with(scene, compute("a", 3, 2), struct.pack(">Q", 1) + b"\xc1", sample(2), record({"name": "step", "timestamp": 1.0, "phase": "B"}), compute("b", 5, 1)[:-3])
    report = server.get(f"/api/v1/traces/{trace['id']}/report")
    totals = report["totals"]
    assert [totals[c] for c in ("lines", "events", "counters", "other", "malformed")] == [4, 1, 1, 1, 1]
    assert report["malformed"][0]["line"] == 2 and report["malformed"][0]["reason"] == "not msgpack"
    assert report["files"][0]["state"] == "truncated" and "ends inside a record" in report["files"][0]["reason"]


def test_two_kinds_in_one_folder_are_refused(scene):
    root = scene.new("root")
    write_trace(root / "run")
    (root / "run/x.msgpack").write_bytes(compute("a", 3, 2))
    server = scene.server([root])
    _, job = server.register(root / "run")
    ended = server.wait(job)
    assert ended["state"] == "failed" and "two kinds of traces" in ended["error"]["detail"]


def test_tables_follow_the_tasks(scene):
    server, trace = server_with(scene, compute("a", 3, 2), compute("b", 5, 1, "h2", inputs=["a"]), compute("c", 4, 0.5), sample(2.5))
    assert [row["key"] for row in rows(server, trace, "critical_path")] == ["a", "b"]
    assert rows(server, trace, "transfers") == [{"from_host": "h1", "from_worker": "worker-h1-0", "to_host": "h2", "to_worker": "worker-h2-0", "count": 1, "size": 1000}]
    first = rows(server, trace, "function_bottleneck")[0]
    assert (first["host"], first["duration"], first["gpu_utilization"], first["gpu_samples"]) == ("h1", 2.5, 50.0, 1)
    assert [row["key"] for row in rows(server, trace, "slack", filter="host_name%20==%20'h1'")] == ["a", "c"]


def test_lists_of_tasks_are_texts_to_queries_and_go_on_after_a_refresh(scene):
    """They are stored as codes of tasks, and a refresh goes on with their texts: nothing of that shows."""
    server, trace = server_with(scene, compute("a", 3, 2), compute("b", 5, 1, inputs=["a", 'q"']), compute("c", 6, 1, inputs=["a", 'q"']))

    def lists():
        body = {"group_by": ["args.dependencies"], "aggregate": {"n": "count()"}, "order_by": ["args.dependencies"]}
        return server.call("POST", f"/api/v1/traces/{trace['id']}/query", body)["data"]

    def without_inputs():
        body = {"filter": "args.dependencies == '[]'", "aggregate": {"n": "count()"}}
        return server.call("POST", f"/api/v1/traces/{trace['id']}/query", body)["data"]
    assert [row["key"] for row in rows(server, trace, "critical_path")] == ["a", "b"]  # asks for no text of a list
    assert without_inputs() == [[1]]
    assert lists() == [['["a","q\\""]', 2], ["[]", 1]]
    with open(trace["path"] + "/x.msgpack", "ab") as file:
        file.write(compute("d", 8, 3, inputs=["a", 'q"']) + compute("e", 9, 1, inputs=["d"]))
    assert server.wait(server.call("POST", f"/api/v1/traces/{trace['id']}/refresh")["job"])["state"] == "done"
    assert lists() == [['["a","q\\""]', 3], ['["d"]', 1], ["[]", 1]]
    assert [row["key"] for row in rows(server, trace, "critical_path")] == ["a", "d", "e"]


def test_workers_may_be_numbers(scene):
    found = tasks_of_workers(scene, 3, 17, 3)
    assert found == {"3": 2, "17": 1}, found


def tasks_of_workers(scene, *threads):
    tasks = [record({"name": "Compute", "timestamp": 10.0 + i, "duration": 1.0, "phase": "X", "process_id": "h1", "thread_id": thread,
                     "args": {"key": f"k{i}", "name": "add", "size": 1, "dependencies": [], "dependents": []}}) for i, thread in enumerate(threads)]
    server, trace = server_with(scene, *tasks)
    return {row["worker"]: row["tasks"] for row in rows(server, trace, "function_bottleneck")}


def test_workers_of_other_names_are_their_own(scene):
    found = tasks_of_workers(scene, "worker-h1-0", "worker-h1-00", 0, -2, 2.5, "worker-h1-+1", "worker-h1-1", ["a"], ["b"], -2, "", [], {})
    assert found == {"worker-h1-0": 1, "worker-h1-00": 1, "0": 1, "-2": 2, "2.5": 1, "worker-h1-+1": 1, "worker-h1-1": 1, '["a"]': 1, '["b"]': 1, "": 1, "[]": 1, "{}": 1}, found


def test_only_tables_of_the_graph_count_its_nodes(scene):
    server, trace = server_with(scene, compute("a", 3, 2, inputs=["x"]), compute("b", 5, 1, "h2", inputs=["a"]), sample(2.5))
    for table, nodes in (("task_bottleneck", None), ("task_balance", None), ("graph", 1), ("parallelism?granularity=1", None), ("task_bottleneck", None)):
        answer = server.get(f"/api/v1/traces/{trace['id']}/dasf/{table}")
        assert (answer["tasks"], answer.get("tasks_of_unknown_size")) == (2, nodes), table


def test_clocks_of_hosts_are_estimated_and_set(scene):
    server, trace = server_with(scene, compute("a", 3, 2), compute("b", 2, 1, "h2", inputs=["a"]))
    clocks = rows(server, trace, "clocks")
    assert [row["contradicting_edges"] for row in clocks] == [1, 1] and clocks[1]["estimated_offset"] == 2.0
    assert [row["contradicting_edges"] for row in rows(server, trace, "clocks", offset="h2:2")] == [0, 0]
    assert rows(server, trace, "as_it_ran", offset="h2:2")[1]["start"] == 2.0


def test_what_tables_refuse(scene):
    server, trace = server_with(scene, compute("a", 3, 0), compute("p", 3, 1, inputs=["q"]), compute("q", 3, 1, inputs=["p"]))
    path = f"/api/v1/traces/{trace['id']}/dasf/"
    for call, status, words in (("nothing", 404, "no table nothing"), ("slack?semantics=compatible", 400, "semantics=exact"), ("graph?semantics=compatible&from=1", 400, "semantics=exact"),
                                ("function_bottleneck?semantics=compatible", 422, "took no time"), ("critical_path", 422, "in a circle: q <- p <- q"),
                                ("slack?offset=h9:1", 400, "names no host"), ("slack?offset=h1", 400, "HOST:SECONDS"), ("graph?filter=nothing%20==%201", 400, "nothing")):
        got, _, problem = server.ask(path + call)
        assert got == status and words in problem["detail"], (call, got, problem)


def test_other_traces_have_no_such_tables(scene):
    server = scene.shared
    status, _, problem = server.ask(f"/api/v1/traces/{server.trace['id']}/dasf/graph")
    assert status == 404 and 'kind "events"' in problem["detail"]


def test_findings_go_by_the_kind_of_the_trace_whatever_the_preset(scene):
    server, trace = server_with(scene, compute("a", 3, 2), compute("b", 5, 3))  # of one worker, one begins inside the other and ends behind it
    for preset in ("dask", "generic", "posix"):
        found = {f["rule"]: f for f in server.get(f"/api/v1/traces/{trace['id']}/findings?preset={preset}")["findings"]}
        assert "several tasks at once" in found["clock_jumps"]["text"], (preset, found["clock_jumps"])
        assert "2 records were read" in found["lost_lines"]["text"], (preset, found["lost_lines"])


def test_records_without_a_host_are_of_no_other(scene):
    def of(host, key, stamp):
        return record({"name": "Compute", "timestamp": float(stamp), "duration": 1.0, "phase": "X", "process_id": host, "thread_id": "w1",
                       "args": {"key": key, "name": "add", "size": 1, "dependencies": [], "dependents": []}})
    server, trace = server_with(scene, of("h1", "a", 3), of(None, "b", 4), of("a0", "c", 5), sample(3.5, None))
    assert [(row["key"], row["host"]) for row in rows(server, trace, "task_bottleneck")] == [("a", "h1"), ("b", ""), ("c", "a0")]
    assert [row["host"] for row in rows(server, trace, "resources")] == [""]
    assert [row["host"] for row in rows(server, trace, "clocks")] == ["", "a0", "h1"]


def test_sizes_past_64_bits_are_no_numbers_and_odd_ones_cost_the_others_nothing(scene):
    def of(key, size, inputs=()):
        return record({"name": "Compute", "timestamp": 3.0, "duration": 1.0, "phase": "X", "process_id": "h1", "thread_id": "w1",
                       "args": {"key": key, "name": "add", "size": size, "dependencies": list(inputs), "dependents": []}})
    server, trace = server_with(scene, of("a", 1 << 62), of("b", 1 << 62), of("c", "odd"), of("d", (1 << 53) + 1), of("e", 1, ["a", "b"]), of("f", 1, ["a", "d"]))
    graph = {row["key"]: row for row in rows(server, trace, "graph")}
    assert [graph[key]["size"] for key in "acd"] == [1 << 62, 0, (1 << 53) + 1]
    assert graph["e"]["input_size"] is None and graph["f"]["input_size"] == (1 << 62) + (1 << 53) + 1
    assert rows(server, trace, "function_bottleneck")[0]["mean_size"] > 0
    for table in ("graph", "parallelism"):
        assert server.get(f"/api/v1/traces/{trace['id']}/dasf/{table}")["sums_too_large"] == 1
