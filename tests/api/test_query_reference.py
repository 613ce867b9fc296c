"""docs/query.md: every request that stands there is answered, and says something of a trace that has what it asks about."""
import json
import re

from daemon import ROOT, generate


def test_every_request_of_the_reference_is_answered(scene):
    root = scene.new("root")
    generate(root / "run", events=4000, ranks=2, workers=1, seed=21)
    server = scene.server([root])
    trace = server.ingest(root / "run")["id"]
    requests = re.findall(r"```json\n(.*?)```", (ROOT / "docs/query.md").read_text(), re.S)
    assert len(requests) >= 6
    for request in requests:
        status, _, answer = server.ask(f"/api/v1/traces/{trace}/query", "POST", json.loads(request), {"Content-Type": "application/json"})
        assert status == 200 and answer["data"], (request, answer)


def test_every_member_is_named(scene):
    _, _, document = scene.shared.ask("/api/v1/openapi.json")
    text = (ROOT / "docs/query.md").read_text()
    members = set(document["components"]["schemas"]["query_traces"]["properties"]) - {"format", "cursor", "explain", "sort"}
    assert len(members) > 10 and all(f"`{name}`" in text or f'"{name}"' in text for name in members), [n for n in members if n not in text]
