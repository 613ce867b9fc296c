"""In which form a table goes out: chosen by Accept, named for who saves it, with the address of its next page, and with absolute times."""
import csv
import datetime
import io
import re

from harness import event, write_trace

JSON, CSV, NDJSON, ARROW = "application/json", "text/csv", "application/x-ndjson", "application/vnd.apache.arrow.stream"


def kind(head):
    return head["Content-Type"].split(";")[0]


def test_accept_chooses_the_form(scene):
    server = scene.shared
    cases = {None: JSON, "*/*": JSON, "text/csv": CSV, ARROW: ARROW, NDJSON: NDJSON, "application/json": JSON, "text/*": CSV, "image/png": JSON,
             "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8": JSON, "application/json;q=0.5, text/csv": CSV, "text/csv;q=0, */*": JSON,
             "application/json;q=0.1, text/csv;q=0.2, application/vnd.apache.arrow.stream;q=0.15": CSV, "TEXT/CSV ; q=0.9": CSV}
    for call in ("summary", "query?group_by=cat", "events", "findings", "overlap", "calltree", "timeseries"):
        for accept, wanted in cases.items():
            status, head, body = server.ask(f"{server.path}/{call}", headers={"Accept": accept} if accept else {})
            assert status == 200 and kind(head) == wanted and "Accept" in re.split(", *", head["Vary"]), (call, accept, head["Content-Type"])
    assert kind(server.ask(f"{server.path}/findings", headers={"Accept": "text/markdown"})[1]) == "text/markdown"
    asked = server.ask(f"{server.path}/summary?format=json", headers={"Accept": "text/csv"})
    assert kind(asked[1]) == JSON, "a parameter wins"
    body = {"group_by": ["cat"]}
    for document, wanted in ((body, CSV), ({**body, "format": "ndjson"}, NDJSON)):
        _, head, _ = server.ask(f"{server.path}/query", "POST", document, {"Content-Type": "application/json", "Accept": "text/csv"})
        assert kind(head) == wanted


def test_forms_have_tags_of_their_own(scene):
    server = scene.shared
    tags = {accept: server.ask(f"{server.path}/summary", headers={"Accept": accept})[1]["ETag"] for accept in (JSON, CSV, NDJSON, ARROW)}
    assert len(set(tags.values())) == 4
    for accept, tag in tags.items():
        for other in tags:
            assert server.ask(f"{server.path}/summary", headers={"Accept": other, "If-None-Match": tag})[0] == (304 if other == accept else 200)


def test_files_have_names(scene):
    root = scene.new("root")
    server = scene.server([root])
    trace = server.ingest(write_trace(root / "a"))["id"]
    server.ask(f"/api/v1/traces/{trace}", "PATCH", {"name": 'n\u00e4chtlich "7"/.x'}, {"Content-Type": "application/json"})
    for call, name in (("summary?format=csv", "summary.csv"), ("query?group_by=cat&format=arrow", "query.arrows"), ("events?format=chrome", "events.json"),
                       ("events?format=ndjson", "events.ndjson"), ("findings?format=markdown", "findings.md"), ("calltree?format=folded", None)):
        status, head, _ = server.ask(f"/api/v1/traces/{trace}/{call}")
        found = re.fullmatch(r'attachment; filename="n__chtlich__7__.x-([a-z_]+\.[a-z.]+)"', head["Content-Disposition"] or "")
        assert status == 200 and found and found[1] in (name, "call_tree.txt", "calltree.txt"), (call, head["Content-Disposition"])
    assert server.ask(f"/api/v1/traces/{trace}/summary")[1]["Content-Disposition"] is None
    status, head, _ = server.ask(f"/api/v1/traces/{trace}/query?filter=nosuch&format=csv")
    assert status == 400 and head["Content-Disposition"] is None


def test_next_pages_are_linked(scene):
    server = scene.shared
    whole = server.get(f"{server.path}/query?columns=ts&columns=func_name&filter=ts%3E%3D0&limit=1000")["data"]
    for form in ("json", "csv"):
        address, rows = f"{server.path}/query?columns=ts&columns=func_name&filter=ts%3E%3D0&limit=7&format={form}", []
        while address:
            status, head, body = server.ask(address)
            assert status == 200
            rows += [[int(ts), name] for ts, name in list(csv.reader(io.StringIO(body.decode())))[1:]] if form == "csv" else body["data"]
            link = head["Link"] and re.fullmatch(r'<(\?[^>]*)>; rel="next"', head["Link"])
            assert bool(link) == (form == "csv" and len(rows) < len(whole) or form == "json" and body["next"] is not None), head["Link"]
            again = server.ask(address)[1]["Link"]
            assert again == head["Link"], "a kept answer has it too"
            address = link and f"{server.path}/query{link[1]}"
        assert rows == whole and len(rows) > 14


def test_answers_say_how_long_they_took(scene):
    server = scene.shared
    for path in ("/healthz", f"{server.path}/summary", f"{server.path}/nosuch"):
        assert re.fullmatch(r"total;dur=\d+\.\d", server.ask(path)[1]["Server-Timing"]), path


def test_absolute_times(scene):
    root = scene.new("root")
    server = scene.server([root])
    start = 1_700_000_000_123_456
    lines = [event("read", "POSIX", start + i * 700_000, 50, 1, 1, ret=10) for i in range(20)]
    trace = server.ingest(write_trace(root / "a", ["[", *lines, "]"]))
    path = f"/api/v1/traces/{trace['id']}"
    wanted = [(start + i * 700_000) // 1000 for i in range(20)]
    for call, method, body in (("events?time=absolute", "GET", None), ("query?time=absolute&columns=time_start", "GET", None), ("query?time=absolute", "POST", {"columns": ["time_start"]})):
        _, _, answer = server.ask(f"{path}/{call}", method, body, {"Content-Type": "application/json"})
        assert answer["columns"][-1] == "unix_ms" and [row[-1] for row in answer["data"]] == wanted, call
    origin = datetime.datetime.fromisoformat(trace["start"].replace("Z", "+00:00"))
    _, _, series = server.ask(f"{path}/timeseries?metrics=time&granularity=5&preset=generic&time=absolute")
    at = series["columns"].index("unix_ms")
    assert [row[at] for row in series["data"][:2]] == [int(origin.timestamp() * 1000), int(origin.timestamp() * 1000) + 5000]
    assert "unix_ms" not in server.get(f"{path}/events?time=relative")["columns"]
    problem = server.problem(f"{path}/query?time=absolute&group_by=cat", 400)
    assert problem["parameter"] == "/time" and "time_start" in problem["detail"]
