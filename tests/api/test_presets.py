"""Presets: written, checked, tried, deleted."""
import signal
import threading

from harness import SMALL_EVENTS, write_trace

MINE = """description: mine
layers:
  - {name: runs, condition: 'func_name == "DLIOBenchmark.run"', color: "#112233", label: Runs}
  - {name: reads, parent: runs, condition: 'func_name == "read"', metrics: {large: size > 16384}}
"""


def put(server, name, text, status):
    got, _, value = server.ask(f"/api/v1/presets/{name}", "PUT", {"yaml": text}, {"Content-Type": "application/json"})
    assert got == status, (got, value)
    return value


def fresh(scene, settings=None):
    root = scene.new("root")
    server = scene.server([root], settings)
    return server, server.ingest(write_trace(root / "a"))


def test_a_preset_is_written_used_changed_and_deleted(scene):
    folder = scene.new("presets")
    server, trace = fresh(scene, {"presets": str(folder)})
    made = put(server, "mine", MINE, 201)
    assert made["own"] and made["yaml"] == MINE and [layer["name"] for layer in made["layers"]] == ["runs", "reads"]
    assert (folder / "mine.yaml").read_text() == MINE
    assert server.get("/api/v1/presets/mine") == made and made in server.get("/api/v1/presets")["presets"]
    path = f"/api/v1/traces/{trace['id']}"
    summary = {layer["name"]: layer for layer in server.get(f"{path}/summary?preset=mine")["layers"]}
    assert summary["runs"]["count"] == 2 and summary["reads"]["count"] == 16 and summary["reads"]["large_count"] == 8
    put(server, "mine", MINE.replace("16384", "4096"), 200)
    assert server.get(f"{path}/summary?preset=mine")["layers"][1]["large_count"] == 14
    server.stop()
    server.start()
    assert server.get(f"{path}/summary?preset=mine")["layers"][1]["large_count"] == 14
    assert server.ask("/api/v1/presets/mine", "DELETE")[0] == 204 and not list(folder.iterdir())
    server.problem("/api/v1/presets/mine", 404)
    server.problem("/api/v1/presets/mine", 404, "DELETE")
    server.problem(f"{path}/summary?preset=mine", 400)


def test_without_a_folder_presets_are_kept_in_the_store(scene):
    server, trace = fresh(scene)
    put(server, "mine", MINE, 201)
    server.stop()
    server.start()
    assert server.get("/api/v1/presets/mine")["own"]


def test_every_mistake_is_told_with_its_place(scene):
    server, _ = fresh(scene)
    text = """description: wrong
layers:
  - name: one
    condition: fun_name == "read"
  - name: two
    parent: nobody
    metrics:
      big: size >
      small: size < 10
  - {name: three, colour: red}
  - {name: two}
views:
  first: part(file_nam, "/", 1)
overlap_with: four
attribution:
  first:
    sets: {mine: fun_name == "x"}
    causes: [{name: reads, condition: cat == "posix"}]
  second:
    causes: []
  third:
    causes:
      - {name: reads, condition: cat == "posix"}
      - {name: writes, condition: size >}
"""
    problem = put(server, "wrong", text, 400)
    assert problem["parameter"] == "/yaml" and problem["type"].startswith("urn:strata:problem")
    found = {mistake["pointer"]: mistake for mistake in problem["mistakes"]}
    assert found["/layers/0/condition"]["line"] == 4 and found["/layers/0/condition"]["position"] == 0 and "func_name" in found["/layers/0/condition"]["text"]
    assert found["/layers/1/metrics"]["line"] == 8 and found["/layers/1/parent"]["line"] == 6 and "nobody" in found["/layers/1/parent"]["text"]
    assert found["/layers/2"]["line"] == 10 and "color" in found["/layers/2"]["text"]
    assert found["/layers/3"]["line"] == 11 and "already" in found["/layers/3"]["text"]
    assert found["/views/first"]["line"] == 13 and found["/overlap_with"]["line"] == 14
    assert [found[f"/attribution/{place}"]["line"] for place in ("first/sets", "second/causes", "third/causes/1")] == [17, 20, 24]
    assert problem["detail"].startswith("wrong.yaml:4")
    server.problem("/api/v1/presets/wrong", 404)


def test_what_is_no_yaml_and_bad_names(scene):
    server, _ = fresh(scene)
    problem = put(server, "wrong", "layers: [\n - a: b: c\n", 400)
    assert problem["mistakes"][0]["line"] in (1, 2, 3), problem
    problem = put(server, "wrong", "layers: []\nlayer: 1\n", 400)
    assert problem["mistakes"] and "layers" in problem["mistakes"][0]["text"]
    for name in ["a%20b", "..%2Fup", "x" * 65, ".hidden"]:
        assert put(server, name, MINE, 400)["detail"], name
    assert server.problem("/api/v1/presets/a", 400, "PUT", {"text": MINE}, {"Content-Type": "application/json"})["detail"]


def test_built_in_presets_are_overridden_but_never_deleted(scene):
    server, trace = fresh(scene)
    assert "built in" in server.problem("/api/v1/presets/dlio", 403, "DELETE")["detail"]
    put(server, "dlio", "extends: dlio\ndescription: ours\n", 201)
    ours = server.get("/api/v1/presets/dlio")
    assert ours["description"] == "ours" and ours["own"] and len(ours["layers"]) == 12
    put(server, "more", "extends: dlio\n", 201)
    assert server.ask("/api/v1/presets/dlio", "DELETE")[0] == 204
    assert not server.get("/api/v1/presets/dlio")["own"]
    put(server, "base", MINE, 201)
    put(server, "above", "extends: base\n", 201)
    assert "above" in server.problem("/api/v1/presets/base", 400, "DELETE")["detail"]
    assert server.get("/api/v1/presets/base")["own"]


def test_a_preset_that_others_need_names_them_and_no_path(scene):
    server, path = scene.shared, scene.shared.path
    text = "layers:\n  - {name: app, condition: 'true'}\n"
    for name, words in (("dlio", "With this preset others make no sense: ai.yaml:"), ("generic", "With this preset others make no sense: no preset has layers_from_categories")):
        for url, method, body in ((f"/api/v1/presets/{name}", "PUT", {"yaml": text}), (path + "/presets/preview", "POST", {"yaml": text, "preset": name})):
            problem = server.problem(url, 400, method, body)
            assert problem["parameter"] == "/yaml" and problem["detail"].startswith(words), problem


def test_a_trace_whose_preset_is_gone_still_answers(scene):
    root = scene.new("root")
    server = scene.server([root])
    put(server, "first", MINE + "detect: {layer: runs, rank: 1}\n", 201)
    put(server, "dlio", "extends: dlio\ndetect: {layer: app, rank: 2}\n", 201)
    trace = server.ingest(write_trace(root / "a"))
    path = f"/api/v1/traces/{trace['id']}/summary"
    assert trace["preset"]["name"] == "first" and server.get(path)["preset"] == "first"
    assert server.ask("/api/v1/presets/first", "DELETE")[0] == 204
    chosen = server.get(f"/api/v1/traces/{trace['id']}")["preset"]
    assert server.get(path)["preset"] == chosen["name"] == "dlio" and "layer app of dlio" in chosen["why"]  # what fits best now


def test_preview_counts_what_each_layer_takes(scene):
    path = scene.shared.path + "/presets/preview"
    value = scene.shared.get(path)
    assert value["preset"] == "dlio" and value["events"] == SMALL_EVENTS and value["filters"] == "on" and value["mistakes"] == []
    counts = {layer["name"]: layer["count"] for layer in value["layers"]}
    assert counts["compute"] == 16 and counts["app"] == 2 and counts["checkpoint"] == 0 and value["unmatched"] == 16
    assert value["unmatched_functions"] == [{"cat": "posix_reader", "func_name": "read", "count": 16}]
    other = scene.shared.get(path + "?preset=posix")
    assert other["layers"][0]["count"] == 16 and {m["name"]: m["count"] for m in other["layers"][0]["metrics"]}["read"] == 16
    generic = scene.shared.get(path + "?preset=generic")["layers"]
    assert generic[0]["name"] == "app" and generic[0]["count"] == SMALL_EVENTS and generic[0]["condition"] is None
    assert scene.shared.problem(path + "?preset=nope", 400)["parameter"] == "/preset"


def test_preview_of_a_text_keeps_nothing(scene):
    path = scene.shared.path + "/presets/preview"

    def ask(body, status=200):
        got, _, value = scene.shared.ask(path, "POST", body, {"Content-Type": "application/json"})
        assert got == status, (got, value)
        return value

    value = ask({"yaml": MINE})
    assert [(layer["name"], layer["count"]) for layer in value["layers"]] == [("runs", 2), ("reads", 16)]
    assert value["layers"][1]["metrics"] == [{"name": "large", "condition": "size > 16384", "count": 8}] and value["layers"][0]["label"] == "Runs"
    scene.shared.problem("/api/v1/presets/preview", 404)
    wrong = ask({"yaml": "layers:\n  - {name: a, condition: fun_name}\n  - {name: b, condition: size >}\n"})
    assert wrong["layers"] == [] and [m["pointer"] for m in wrong["mistakes"]] == ["/layers/0/condition", "/layers/1/condition"]
    assert ask({"yaml": "extends: dlio\n", "preset": "dlio"})["layers"][0]["name"] == "app"
    assert ask({"yml": "x"}, 400)["parameter"] == "/yml" and ask({"yaml": 1}, 400)["parameter"] == "/yaml"


def test_only_editors_change_presets(scene):
    one = scene.shared.get("/api/v1/openapi.json")["paths"]["/api/v1/presets/{name}"]
    assert one["put"]["x-role"] == one["delete"]["x-role"] == "editor" and one["get"]["x-role"] == "viewer"


def test_damaged_presets_of_ones_own_do_not_stop_the_start(scene):
    folder = scene.new("presets")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "good.yaml").write_text('layers:\n  - {name: all, condition: "dur > 0"}\n')
    (folder / "torn.yaml").write_bytes(b"layers:\n  - {name: all, condi")
    (folder / "zeros.yaml").write_bytes(bytes(512))
    (folder / "mistaken.yaml").write_text('layers:\n  - {name: all, condition: "no_such_column > 0"}\n')
    (folder / "orphan.yaml").write_text("extends: torn\n")
    server = scene.server([], {"presets": str(folder)})
    names = {p["name"] for p in server.ask("/api/v1/presets")[2]["presets"]}
    assert "good" in names and not names & {"torn", "zeros", "mistaken", "orphan"}, names
    assert sorted(p.name for p in folder.iterdir()) == [
        "good.yaml", "mistaken.yaml.damaged", "orphan.yaml.damaged", "torn.yaml.damaged", "zeros.yaml.damaged"]
    assert server.ask("/api/v1/presets")[2]["set_aside"] == [f"{name}.yaml.damaged" for name in ("mistaken", "orphan", "torn", "zeros")]
    log = (server.folder / "log").read_text()
    assert all(f"{name}.yaml.damaged" in log for name in ("torn", "zeros", "mistaken", "orphan")), log


def test_a_hangup_meanwhile_does_not_bring_old_presets_back(scene):
    """what was written is in force once it is answered, however often the folder is read again"""
    server = scene.server([])
    over = threading.Event()

    def hang_up():
        while not over.wait(0.04):
            server.process.send_signal(signal.SIGHUP)

    hanging = threading.Thread(target=hang_up)
    hanging.start()
    try:
        for number in range(25):
            put(server, "mine", MINE.replace("description: mine", f"description: number {number}"), 201 if number == 0 else 200)
            for _ in range(5):
                assert server.get("/api/v1/presets/mine")["description"] == f"number {number}"
    finally:
        over.set()
        hanging.join()
