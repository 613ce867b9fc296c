"""docs/overlap.md, presets.md and rules.md name every member and key that the daemon knows, and their YAML has no mistake."""
import re

from daemon import ROOT, generate

JSON = {"Content-Type": "application/json"}


def page(name):
    return (ROOT / "docs" / name).read_text()


def missing(names, text):
    return [name for name in names if f"`{name}`" not in text]


def ready(scene):
    root = scene.new("root")
    generate(root / "run", events=4000, ranks=2, workers=1, seed=21)
    server = scene.server([root])
    return server, server.ingest(root / "run")["id"]


def keys_in(sentence):
    return [key for key in re.search(r"may have: (.*)", sentence)[1].split(", ") if key != "<<"]


def test_every_member_of_an_overlap_is_named(scene):
    server, trace = ready(scene)
    _, _, document = server.ask("/api/v1/openapi.json")
    schema = document["components"]["schemas"]["overlap_request"]["properties"]
    names = [*schema, *schema["attribution"]["properties"]]
    assert len(names) > 20 and not missing(names, page("overlap.md")), missing(names, page("overlap.md"))
    answer = server.get(f"/api/v1/traces/{trace}/overlap?preset=dlio&layers=compute,reader&granularity=5&exposure=true")
    said = {*answer} - {"statistics", "semantics", "scope", "scope_count"}
    assert not missing(said, page("overlap.md")), missing(said, page("overlap.md"))


def test_every_key_of_presets_is_named_and_the_example_has_no_mistake(scene):
    server, trace = ready(scene)
    place, text = f"/api/v1/traces/{trace}/presets/preview", page("presets.md")
    for yaml in ("nope: 1", "layers: [{nope: 1}]", "layers: [{name: a, condition: dur > 1}]\nattribution: {x: {nope: 1}}"):
        _, _, answer = server.ask(place, "POST", {"yaml": yaml}, JSON)
        assert not missing(keys_in(answer["mistakes"][0]["text"]), text), (yaml, missing(keys_in(answer["mistakes"][0]["text"]), text))
    _, _, answer = server.ask(place, "POST", {"yaml": re.search(r"```yaml\n(.*?)```", text, re.S)[1]}, JSON)
    assert answer["mistakes"] == [] and all(layer["count"] for layer in answer["layers"] if layer["name"] in ("app", "compute", "reads")), answer


def test_every_key_of_rules_is_named_and_the_example_finds_something(scene):
    server, trace = ready(scene)
    place, text = f"/api/v1/traces/{trace}/findings/preview", page("rules.md")
    _, _, answer = server.ask(place, "POST", {"rule": {"nope": 1}}, JSON)
    assert not missing(keys_in(answer["detail"]), text), missing(keys_in(answer["detail"]), text)
    calls = set(re.findall(r"ask: \{[a-z]+: \{([a-z_]+):", (ROOT / "config/findings.yaml").read_text()))
    assert len(calls) > 8 and not missing(calls, text), missing(calls, text)
    status, _, answer = server.ask(place, "POST", {"yaml": re.search(r"```yaml\n(.*?)```", text, re.S)[1]}, JSON)
    assert status == 200 and answer["finding"]["severity"] != "na", answer
