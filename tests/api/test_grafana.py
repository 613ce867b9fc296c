"""The dashboard of deploy/grafana: every address that is in it is asked as Grafana's Infinity data source would, and has the columns that it reads."""
import csv
import io
import json
import urllib.parse

from daemon import ROOT, generate


def addresses(dashboard):
    """(address, kind, root selector, selectors and types of its columns, headers)"""
    queries = [v["query"]["infinityQuery"] for v in dashboard["templating"]["list"] if v["type"] == "query"]
    queries += [target for panel in dashboard["panels"] for target in panel["targets"]]
    return [(q["url"], q["type"], q["root_selector"], [(c["selector"], c["type"]) for c in q["columns"]], {h["key"]: h["value"] for h in q["url_options"].get("headers", [])}) for q in queries]


def is_of(kind, text):
    if text in ("", None):
        return True
    if kind == "timestamp_epoch":
        return 1e12 < int(text) < 1e13
    return isinstance(text, str) and (kind == "string" or float(text) is not None)


def test_every_address_of_the_dashboard_answers(scene):
    root = scene.new("root")
    generate(root / "run", events=5000, ranks=2, workers=1, seed=11)
    server = scene.server([root])
    trace = server.ingest(root / "run")
    dashboard = json.loads((ROOT / "deploy/grafana/strata.json").read_text())
    layer = next(item["name"] for item in server.get(f"/api/v1/traces/{trace['id']}/summary")["layers"] if item["count"] and item["size"])
    values = {"strata": "", "trace": trace["id"], "layer": layer, "granularity": "1"}
    found = addresses(dashboard)
    assert len(found) == 7
    for address, kind, selector, columns, headers in found:
        for name, value in values.items():
            address = address.replace(f"${{{name}}}", urllib.parse.quote(value))
        assert "$" not in address, address
        status, head, body = server.ask(address, headers=headers)
        assert status == 200, (address, body)
        rows = body[selector] if kind == "json" else list(csv.DictReader(io.StringIO(body.decode(), newline="")))
        assert rows, address
        for name, of in columns:
            assert all(name in row and is_of(of, row[name]) for row in rows), (address, name, rows[0])
        if "timestamp_epoch" in dict(columns).values():
            assert any(row[columns[1][0]] for row in rows), f"{address} has times and nothing else"
