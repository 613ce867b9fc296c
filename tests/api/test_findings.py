"""Findings: their forms, rules of one's own, previews and where mistakes are, two runs, the report in one file."""
import csv
import io
import json
import re

import sys
from daemon import ROOT
from harness import Skipped, wait_until

sys.path.append(str(ROOT / "tests/data"))
import planted  # noqa: E402

RULE = {"id": "mine", "title": "Reads", "group": "io", "ask": {"n": {"busy": {"r": "io_cat == 1"}}}, "value": "n_r", "unit": "s", "levels": {"info": 0},
        "say": "Reads take {value:s}.", "ok": "No reads.", "source": "a test", "advice": ["Read less."]}
JSON = {"Content-Type": "application/json"}


def trace(scene, plant):
    """id of a trace with this plant"""
    made = scene.shared.__dict__.setdefault("planted", {})
    if plant not in made:
        folder = scene.shared.root / f"findings-{plant}"
        planted.Job({plant} - {"none"}, plant, hosts=3, ranks=1, epochs=2, steps=4).write(folder)
        made[plant] = scene.shared.ingest(folder)["id"]
    return made[plant]


def findings(scene, plant, query=""):
    return scene.shared.get(f"/api/v1/traces/{trace(scene, plant)}/findings?preset=dlio{query}")


def test_what_was_planted_is_said(scene):
    found = {f["rule"]: f for f in findings(scene, "few_workers")["findings"]}
    assert found["synchronous_loading"]["severity"] == "warning" and found["synchronous_loading"]["advice"], found["synchronous_loading"]
    assert {f["rule"]: f for f in findings(scene, "none")["findings"]}["synchronous_loading"]["severity"] == "ok"


def test_the_first_page_is_computed_before_anyone_asks_and_outlives_a_restart(scene):
    root = scene.new("root")
    planted.Job({"few_workers"}, "first page", hosts=3, ranks=1, epochs=2, steps=4).write(root / "run")
    server = scene.server([root])
    path = f"/api/v1/traces/{server.ingest(root / 'run')['id']}"
    misses = lambda: re.search(r"^strata_cache_misses_total (\S+)", server.ask("/metrics")[2].decode(), re.M)[1]  # noqa: E731
    wait_until(lambda: server.idle(30), what="the end of what is prepared after an ingest")
    before, asked = misses(), ["/summary", "/summary?preset=posix", "/report", "/findings", "/overlap?preset=dlio&filters=off&attribution=stall&by=unit"]
    answers = [server.request("GET", path + what)[2] for what in asked]
    assert misses() == before, "nothing of it is computed anew"
    server.stop()
    server.start()
    assert [server.request("GET", path + what)[2] for what in asked] == answers
    assert server.get(path + "/findings?preset=dlio&goal=0.9")["findings"] == server.get(path + "/findings")["findings"], "what is kept is what is found"


def test_forms_tell_the_same(scene):
    whole = findings(scene, "few_workers")
    base = f"/api/v1/traces/{trace(scene, 'few_workers')}/findings?preset=dlio"
    page = scene.shared.request("GET", base + "&format=markdown")[2].decode()
    rows = list(csv.DictReader(io.StringIO(scene.shared.request("GET", base + "&format=csv")[2].decode())))
    assert [r["rule"] for r in rows] == [f["rule"] for f in whole["findings"]]
    assert all(f["text"] in page for f in whole["findings"])
    assert sum(whole["counts"].values()) == len(whole["findings"])
    report = scene.shared.request("GET", base.replace("/findings", "/report.html"))[2].decode()
    for found in whole["findings"]:
        assert found["threshold"] in report and (found["severity"] in ("ok", "na") or f"Value: {found['threshold']}\n" in page), found
        assert (found["threshold"] == "") == (found["severity"] == "na"), found


def test_thresholds_say_what_is_in_order(scene):
    found = {f["rule"]: f["threshold"] for f in findings(scene, "none")["findings"]}
    assert re.fullmatch(r"[\d.]+ %; warning below 90 %, critical below 67.5 %; in order from 90 %\.", found["au"]), found["au"]
    assert found["lost_lines"] == "0.0 %; note above 0 %, warning from 0.1 %, critical from 5 %; in order at 0 %.", found["lost_lines"]
    assert found["small_reads"].endswith("in order below 10 %, or where no more than 1,000 are so small."), found["small_reads"]


def test_a_link_shows_the_events_of_clock_jumps(scene):
    server, id = scene.shared, trace(scene, "clock_jump")
    found = next(f for f in findings(scene, "clock_jump", "&rule=clock_jumps")["findings"])
    listed = server.call("POST", f"/api/v1/traces/{id}/query", {"filter": found["link"]["filter"], "filters": "off", "columns": ["pid", "tid", "time_start"], "order_by": ["time_start"]})
    assert len(listed["data"]) == found["value"] > 0, (found, listed)
    assert [row[:2] for row in listed["data"]][:10] == [row[1:3] for row in found["evidence"]["data"]], found["evidence"]
    assert all(end > around for *_, end, around in found["evidence"]["data"])


def test_access_says_how_ranks_share_files(scene):
    id = trace(scene, "shared_size")
    found = {f["rule"]: f for f in findings(scene, "shared_size")["findings"]}
    read, write = (scene.shared.get(f"/api/v1/traces/{id}/access?preset=dlio&kind={kind}") for kind in ("read", "write"))
    assert found["shared_size"]["value"] == read["shared_uneven_size"] + write["shared_uneven_size"] > 0
    assert found["uneven_reads"]["figures"] == {"worst": read["shared_worst"], "r_uneven": read["shared_uneven"], "r_files": read["shared_files"]}
    assert found["cold_cache"]["figures"] == {"c_first": read["first_epoch_bw"], "c_later": read["later_epochs_bw"]} and "first_epoch_bw" not in write


def test_rules_that_are_named_find_what_they_find_among_all(scene):
    some = [findings(scene, "checkpoint_stall", query) for query in ("&rule=checkpoint_stall,stdio", "&group=balance", "&group=io,trace&severity=ok")]
    whole = findings(scene, "checkpoint_stall")
    chosen = (lambda f: f["rule"] in ("checkpoint_stall", "stdio"), lambda f: f["group"] == "balance", lambda f: f["group"] in ("io", "trace") and f["severity"] == "ok")
    for part, choose in zip(some, chosen):
        assert part["findings"] == [f for f in whole["findings"] if choose(f)] and part["base"] == whole["base"], part
    assert findings(scene, "checkpoint_stall", "&group=balance") == some[1]


def test_a_rule_of_ones_own_is_tried_kept_and_removed(scene):
    server, path = scene.shared, "/api/v1/findings/rules/mine"
    preview = f"/api/v1/traces/{trace(scene, 'none')}/findings/preview"
    status, _, tried = server.ask(preview, "POST", {"preset": "dlio", "rule": RULE}, JSON)
    assert status == 200 and tried["finding"]["severity"] == "info" and tried["finding"]["text"].startswith("Reads take "), tried
    assert server.ask(path, "PUT", {"rule": RULE}, JSON)[0] == 201
    assert [f["rule"] for f in findings(scene, "none", "&rule=mine")["findings"]] == ["mine"]
    assert server.ask(path, "PUT", {"yaml": "id: mine\n" + "\n".join(f"{k}: {v}" for k, v in RULE.items() if k != "id")}, JSON)[0] == 200
    assert server.ask(path, "DELETE")[0] == 204
    assert server.ask(path)[0] == 404
    assert server.ask("/api/v1/findings/rules/au", "DELETE")[0] == 403


def test_mistakes_are_told_with_their_place(scene):
    server = scene.shared
    for change, place in (({"value": "n_w"}, "/rule/value"), ({"ask": {"n": {"guess": {}}}}, "/rule/ask/n"), ({"levels": {"bad": 1}}, "/rule/levels/bad"),
                          ({"say": "{nothing:s}"}, "/rule/say"), ({"ask": {"n": {"busy": {"r": "io_cat = 1"}}}}, "/rule/ask/n/busy/r"), ({"id": "au"}, "/rule/id"),
                          ({"group": "colours"}, "/rule/group"), ({"needs": ["luck"]}, "/rule/needs"), ({"in_order": ["x"]}, "/rule/in_order"),
                          ({"ask": {"n": {"query": {"aggregate": {"r": "count("}}}}}, "/rule/ask/n/query/aggregate/r")):
        status, _, problem = server.ask("/api/v1/findings/rules/mine", "PUT", {"rule": {**RULE, **change}}, JSON)
        assert status == 400 and problem["parameter"] == place and problem["mistakes"][0]["line"] == 1, (change, problem)
    assert server.ask("/api/v1/findings/rules/mine")[0] == 404
    preview = f"/api/v1/traces/{trace(scene, 'none')}/findings/preview"
    status, _, problem = server.ask(preview, "POST", {"rule": {**RULE, "value": "(" * 200 + "n_r" + ")" * 200}}, JSON)
    assert status == 422 and problem["parameter"] == "/rule/value", problem


def test_what_is_no_rule_is_refused(scene):
    server, preview = scene.shared, f"/api/v1/traces/{trace(scene, 'none')}/findings/preview"
    for path, method in ((preview, "POST"), ("/api/v1/findings/rules/mine", "PUT")):
        for body, place in (({"yaml": ""}, "/yaml"), ({"yaml": "# nothing"}, "/yaml"), ({"yaml": "[]"}, "/yaml"), ({"yaml": "&a [*a]"}, "/yaml"),
                            ({"rule": {}}, "/rule"), ({"rule": None}, "/rule"), ({}, "/rule"), ({"yaml": "", "rule": {}}, "/rule")):
            status, _, problem = server.ask(path, method, body, JSON)
            assert status == 400 and problem["parameter"].startswith(place) and str(scene.folder) not in problem["detail"], (path, body, problem)


def test_two_runs_are_compared_by_rule_and_cause(scene):
    answer = scene.shared.get(f"/api/v1/compare/findings?preset=dlio&traces={trace(scene, 'none')},{trace(scene, 'few_workers')}")
    states = {r["rule"]: r["state"] for r in answer["rules"]}
    assert states["synchronous_loading"] == "new", states
    grown = {c["cause"]: c["time_delta"] for c in answer["causes"]}
    assert grown["read"] > 0 and abs(sum(c["time"] - c["time_baseline"] - c["time_delta"] for c in answer["causes"])) < 1e-9


def test_the_report_is_one_file(scene):
    _, head, page = scene.shared.request("GET", f"/api/v1/traces/{trace(scene, 'few_workers')}/report.html?preset=dlio")
    text = page.decode()
    assert head["Content-Type"].startswith("text/html") and len(page) < 2_000_000
    policy = dict(part.strip().split(" ", 1) for part in head["Content-Security-Policy"].split(";"))
    assert policy["default-src"] == "'none'" and policy["style-src"] == "'unsafe-inline'", "its style applies when the daemon serves it, and nothing else does"
    assert not re.search(r"<(script|link|img|iframe)\b|\bsrc=|url\(|https?:", text), "something external"
    assert all(part in text for part in ("Verdict", "Where the time went", "Layers", "Over time", "Stall by step", "Processes by time in reads", "Lines"))
    assert "prefers-color-scheme" in text and "@media print" in text


def test_the_report_is_of_the_part_that_is_asked_for(scene):
    path = f"/api/v1/traces/{trace(scene, 'few_workers')}"
    end = scene.shared.get(path)["job_time"]

    def parts(query):
        text = scene.shared.request("GET", f"{path}/report.html?preset=dlio{query}")[2].decode()
        steps = text[text.index("Stall by step"):]
        return float(re.search(r"columns of ([\d.]+) s", text)[1]), len(re.findall("<tr>", steps[:steps.index("</table>")])), [float(x) for x in re.findall(r"<rect x=(-?[\d.]+)", text)]

    whole, half, one = parts(""), parts(f"&from={end / 4}&to={end / 2}"), parts("&filter=pid%20%3D%3D%200")
    assert abs(half[0] * 4 - whole[0]) <= 0.01 * whole[0] and half[1] < whole[1], (whole[:2], half[:2])
    assert len(half[2]) > 10 and min(half[2]) >= -960 / 80 and max(half[2]) < 960, half[2]
    assert not one[2], "no event passes the filter"


def test_a_lateness_that_may_be_a_clock_says_so(scene):
    found = {f["rule"]: f for f in findings(scene, "clock_offset")["findings"]}
    assert found["host_clocks"]["severity"] != "ok" and found["slowest_rank"]["value"] > 1, "the last rank is later than a step is long"
    assert any("clocks agree" in advice for advice in found["slowest_rank"]["advice"]), found["slowest_rank"]["advice"]


def test_advice_names_its_scenario(scene):
    findings = {f["rule"]: f for f in scene.shared.get(f"/api/v1/traces/{trace(scene, 'few_workers')}/findings?preset=dlio")["findings"]}
    assert findings["synchronous_loading"]["what_if"] == {"workers": "4"} and "what_if" not in findings["ops_mix"]
    for finding in findings.values():
        assert set(finding.get("what_if", {})) <= {"workers", "prefetch", "storage", "preprocess", "other", "compute", "checkpoint", "cache", "stragglers", "barrier"}


def test_a_rule_alone_says_what_it_says_among_all(scene):
    """together rules share their passes over the events, alone each has its own"""
    try:
        import yaml
    except ImportError:
        raise Skipped("PyYAML: it is not installed")
    kept = ("severity", "value", "levels", "stake", "stake_share", "capped", "text", "figures")
    rules = {rule["id"]: rule for rule in yaml.safe_load((ROOT / "config/findings.yaml").read_text())["rules"]}
    for plant in ("few_workers", "none"):
        path = f"/api/v1/traces/{trace(scene, plant)}/findings/preview"
        for among in findings(scene, plant)["findings"]:
            alone = scene.shared.call("POST", path, {"preset": "dlio", "rule": {**rules[among["rule"]], "id": "alone"}})["finding"]
            assert {k: alone[k] for k in kept} == {k: among[k] for k in kept}, f"{plant}, {among['rule']}"


def own_rules(scene, conditions):
    """what is found with rules of these conditions, by rule, and the server"""
    folder, root = scene.new("rules"), scene.new("root")
    planted.Job({"few_workers"}, "own", hosts=3, ranks=1, epochs=2, steps=4).write(root / "run")
    rules = [{**RULE, "id": f"own_{number}", "ask": {"n": {"busy": {"r": condition}}}, "stake": condition} for number, condition in enumerate(conditions)]
    (folder / "own.yaml").write_text(json.dumps({"rules": rules}))
    server = scene.server([root], {"findings": str(folder)})
    id = server.ingest(root / "run")["id"]
    return server, id, rules, {f["rule"]: f for f in server.get(f"/api/v1/traces/{id}/findings?preset=dlio")["findings"]}


def test_conditions_of_many_combinations_are_measured_as_well(scene):
    """more than one sweep has sets, and more than are bound at once"""
    for count in (40, 90):
        server, id, rules, found = own_rules(scene, [f"dur > {(3 * number) ** 2}" for number in range(count)])
        for rule in rules[::9]:
            alone = server.call("POST", f"/api/v1/traces/{id}/findings/preview", {"preset": "dlio", "rule": {**rule, "id": "alone"}})["finding"]
            assert (alone["value"], alone["stake"]) == (found[rule["id"]]["value"], found[rule["id"]]["stake"]) and alone["value"] > 0, rule
        server.stop()


def test_a_condition_at_fault_fails_its_own_rule_alone(scene):
    _, _, _, found = own_rules(scene, ['args.hostname > 3', 'io_cat == 1 and size > 3'])
    assert found["own_0"]["severity"] == "na" and "cannot compare a text" in found["own_0"]["text"], found["own_0"]
    assert found["own_1"]["value"] > 0 and found["synchronous_loading"]["severity"] == "warning", found["own_1"]
    assert [name for name, one in found.items() if one.get("reason") == "failed"] == ["own_0"], "no other rule fails"


def test_hosts_stand_by_name(scene):
    """whichever thread of the ingest met them first"""
    root = scene.new("root")
    (root / "run").mkdir()
    names = [f"n{i:02}" for i in range(24)]
    for i, name in enumerate(reversed(names)):
        (root / f"run/{i:02}.pfw").write_text(
            f'{{"name":"HH","cat":"dftracer","ph":"M","pid":{i},"tid":{i},"args":{{"name":"{name}","value":"{1000 + i}"}}}}\n'
            f'{{"name":"read","cat":"POSIX","pid":{i},"tid":{i},"ts":{10**15 + i},"dur":{9 + i},"ph":"X","args":{{"hhash":"{1000 + i}"}}}}\n')
    server = scene.server([root])
    path = f"/api/v1/traces/{server.ingest(root / 'run')['id']}"
    clocks = server.get(path + "/findings?rule=host_clocks")["findings"][0]
    table = next(value for value in clocks["evidence"] if "host_name" in json.dumps(value)) if isinstance(clocks["evidence"], list) else clocks["evidence"]
    shown = re.findall(r'"(n\d\d)"', json.dumps(table))
    assert shown == names[:len(shown)] and len(shown) >= 10, clocks
