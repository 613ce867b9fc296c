"""The OpenAPI document: valid, complete, and true of the answers."""
import json
import re
from urllib.parse import quote, urlencode

from test_dasf import compute

from harness import KNOWN, training, violations, write_log, write_trace

METHODS = {"get", "post", "put", "patch", "delete"}


def document(scene):
    status, head, value = scene.shared.ask("/api/v1/openapi.json")
    assert status == 200 and head["Content-Type"] == "application/json"
    return value


def operations(spec):
    for path, item in spec["paths"].items():
        for method, operation in item.items():
            yield path, method, operation


def references(value):
    if isinstance(value, dict):
        if "$ref" in value:
            yield value["$ref"]
        for member in value.values():
            yield from references(member)
    elif isinstance(value, list):
        for item in value:
            yield from references(item)


def resolve(spec, reference):
    target = spec
    for part in reference.removeprefix("#/").split("/"):
        target = target[part]
    return target


def test_the_document_is_whole(scene):
    spec = document(scene)
    assert spec["openapi"].startswith("3.1.") and spec["info"]["title"] and spec["info"]["version"]
    names = [o["operationId"] for _, _, o in operations(spec)]
    assert len(names) == len(set(names)) and len(names) > 15
    for reference in references(spec):
        assert resolve(spec, reference), reference
    for path, method, operation in operations(spec):
        assert method in METHODS and operation["summary"] and operation["description"] and operation["responses"], (path, method)
        assert re.findall(r"\{(\w+)\}", path) == [p["name"] for p in operation["parameters"] if p["in"] == "path"], path
        for parameter in operation["parameters"]:
            assert "example" in parameter and parameter["schema"], (path, parameter)


def test_every_operation_has_an_example_that_fits(scene):
    spec = document(scene)
    for path, method, operation in operations(spec):
        contents = [operation.get("requestBody", {}).get("content", {})]
        contents += [resolve(spec, r["$ref"]).get("content", {}) if "$ref" in r else r.get("content", {}) for r in operation["responses"].values()]
        media = [c["application/json"] for c in contents if "application/json" in c] + [c["application/problem+json"] for c in contents if
                                                                                        "application/problem+json" in c]
        assert media, (path, method)
        for one in media:
            assert "example" in one, (path, method)
            found = violations(one["example"], one["schema"], spec)
            assert not found, (path, method, found[:3])


def test_schemas_use_keywords_that_the_tests_know(scene):
    spec = document(scene)

    def walk(schema):
        assert set(schema) <= KNOWN, set(schema) - KNOWN
        for member in [*schema.get("properties", {}).values(), *schema.get("anyOf", [])]:
            walk(member)
        for below in (schema.get("items"), schema.get("additionalProperties")):
            if isinstance(below, dict):
                walk(below)

    for schema in spec["components"]["schemas"].values():
        walk(schema)


# What a call cannot do without.
NEEDED = {"/api/v1/compare": {"traces": "{trace}", "view": "layer"}, "/api/v1/compare/findings": {"traces": "{trace},{other}"}, "/api/v1/traces/{id}/overlap/intervals": {"where": "idle"},
          "/api/v1/traces/{id}/overlap/page": {"set": "io:cat == 'posix'"},
          "/api/v1/traces/{id}/timeline/search": {"filter": "dur > 0", "at": "0"}}


# Steps of the compatible computation alone, and what a choice cannot do without.
REFUSED = {("hlm", "exact"), ("main", "exact")}
NEEDED_WITH = {("filters", "on"): {"preset": "dlio"}, ("quantile_stats", "true"): {"semantics": "compatible"},
               **{("direction", word): {"name": "read"} for word in ("callees", "callers")}}


def other_trace(server):
    """id of a second trace, made when it is first asked for"""
    if not hasattr(server, "other"):
        server.other = server.ingest(write_trace(server.root / "openapi-other"))["id"]
    return server.other


def needed(server, path, given=()):
    """the parameters of a call, those it needs among them, as a query"""
    parameters = {**{k: v.replace("{trace}", server.trace["id"]).replace("{other}", other_trace(server)) for k, v in NEEDED.get(path, {}).items()}, **dict(given)}
    return "?" + urlencode(parameters, doseq=True) if parameters else ""


def trace_for(server, path):
    """id of a trace that the call is about: what if needs samples, or a training log"""
    if "/whatif" not in path:
        return server.trace["id"]
    if not hasattr(server, "whatif"):
        server.whatif = server.ingest(write_trace(server.root / "openapi-training", training()))["id"], server.ingest(write_log(server.root / "openapi-log"))["id"]
    return server.whatif[path.endswith("/align")]


def fill(server, path, name):
    job = server.get("/api/v1/jobs")["jobs"][0]["id"]
    if "/queries/" in path:
        server.ask("/api/v1/queries/mine", "PUT", {"text": "{}"})
    if "/dasf/" in path:
        if not hasattr(server, "dasf"):
            folder = server.root / "openapi-dasf"
            folder.mkdir()
            (folder / "x.msgpack").write_bytes(compute("a", 3, 2) + compute("b", 5, 1, host="node2", inputs=["a"]))
            server.dasf = server.ingest(folder)["id"]
        return path.replace("{id}", server.dasf).replace("{table}", "graph")
    if path.endswith("/events/{event}"):
        found = server.get(f"/api/v1/traces/{server.trace['id']}/timeline/search?at=0&filter=dur+%3E+0")
        return path.replace("{id}", server.trace["id"]).replace("{event}", quote(found["event"]["id"], safe=""))
    named = next((v for k, v in {"/jobs/": job, "/presets/": "dlio", "/queries/": "mine", "/notes/": "1", "/columns/": "func_name", "/metrics/": "compute_busy", "/rules/": "au"}.items() if k in path), None)
    return re.sub(r"\{(\w+)\}", lambda m: trace_for(server, path) if "/traces/" in path and m[1] == "id" else named, path)


def of_compatible(path, name):
    """the exact summary has no use for these, and refuses them"""
    return {"semantics": "compatible"} if path.endswith("/summary") and name in ("by", "views") else {}


def check_answer(server, spec, path, operation, given=()):
    """a call with these parameters is understood, and its answer is one of those that the document allows"""
    status, head, value = server.ask(fill(server, path, operation["operationId"]) + needed(server, path, given))
    assert status == 200, (path, given, status, value)
    content = operation["responses"]["200"]["content"]
    kind = head["Content-Type"].split(";")[0]
    assert kind in content, (path, given, kind)
    if kind == "application/json":
        found = violations(value, content[kind]["schema"], spec)
        assert not found, (path, given, found[:5])


def test_every_get_answers_as_its_schema_says(scene):
    server, spec = scene.shared, document(scene)
    for path, method, operation in operations(spec):
        if method != "get":
            continue
        check_answer(server, spec, path, operation)


def test_every_documented_parameter_is_understood(scene):
    server, spec = scene.shared, document(scene)
    for path, method, operation in operations(spec):
        if method != "get" or path == "/api/v1/browse":
            continue
        for parameter in operation["parameters"]:
            if parameter["in"] != "query" or parameter["name"] == "cursor":  # a cursor comes with an answer
                continue
            example = parameter["example"]
            if parameter["name"] in NEEDED.get(path, {}) or parameter["name"] in ("baseline", "variant", "event"):  # the examples are of other traces, or sets
                continue
            if parameter["name"] in ("columns", "sort", "order_by") and not path.endswith("/timeline/lanes"):  # the example names columns of events
                example = server.get(fill(server, path, "") + needed(server, path))["columns"][0]
            more = NEEDED_WITH.get((parameter["name"], example), {}) if isinstance(example, str) else {}
            if (path.rsplit("/", 1)[1], parameter["name"]) == ("events", "lanes") and "/timeline/" not in path:
                more = {"format": "chrome"}  # lanes are chosen for a viewer alone
            if path.endswith("/overlap") and parameter["name"] == "by":
                more = {"attribution": "stall", "preset": "dlio"}  # it names the rows of an attribution
            check_answer(server, spec, path, operation, {parameter["name"]: example, **of_compatible(path, parameter["name"]), **more})


def test_every_choice_is_answered_as_its_schema_says(scene):
    server, spec = scene.shared, document(scene)
    for path, method, operation in operations(spec):
        for parameter in operation["parameters"] if method == "get" else []:
            for word in parameter["schema"].get("enum", []):
                if (path.rsplit("/", 1)[1], word) not in REFUSED:
                    check_answer(server, spec, path, operation, {parameter["name"]: word, **NEEDED_WITH.get((parameter["name"], word), {})})


# Numbers at the edges of what 64 bits, a double and a time of a trace can hold.
EDGES = ("0", "-0.0", "-1", "5e-324", "1e-9", "4294967296", "9007199254740993", "9223372036854775807", "-9223372036854775808", "18446744073709551616", "9.3e12", "-6.6e16", "1e19", "-1e19",
         "1.7976931348623157e308", "-1e308", "1e999", "nan", "inf", "-inf")


def test_numbers_at_the_edges_are_answered_or_refused(scene):
    """the daemon of the test run ends where an operation is undefined"""
    server, spec = scene.shared, document(scene)
    for path, method, operation in operations(spec):
        for parameter in operation["parameters"] if method == "get" else []:
            if parameter["in"] != "query" or parameter["schema"].get("type") not in ("number", "integer"):
                continue
            for edge in EDGES:
                asked = fill(server, path, operation["operationId"]) + needed(server, path, {parameter["name"]: edge})
                status, _, value = server.ask(asked)
                assert status in (200, 400, 404, 409, 422), (asked, status, value)


def with_leaf_replaced(value, edge):
    """JSON of @value with one of its numbers replaced by @edge, for each of them"""
    if isinstance(value, dict):
        for key, member in value.items():
            yield from (f"{{{', '.join(f'{json.dumps(k)}: {new if k == key else json.dumps(v)}' for k, v in value.items())}}}" for new in with_leaf_replaced(member, edge))
    elif isinstance(value, list):
        for i, item in enumerate(value):
            yield from (f"[{', '.join(new if k == i else json.dumps(v) for k, v in enumerate(value))}]" for new in with_leaf_replaced(item, edge))
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield edge


def test_numbers_of_bodies_at_the_edges_are_answered_or_refused(scene):
    server, spec, tried = scene.shared, document(scene), 0
    for path, method, operation in operations(spec):
        example = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("example")
        window = {"from": 1, "to": 2} if "/traces/{id}/" in path and isinstance(example, dict) else {}
        for edge in EDGES[:-4] if example is not None else ():  # JSON has no infinity
            for body in with_leaf_replaced({**example, **window} if isinstance(example, dict) else example, edge):
                asked = fill(server, path, operation["operationId"])
                status, _, value = server.ask(asked, method.upper(), body.encode(), {"Content-Type": "application/json"})
                assert status < 500, (asked, body, status, value)
                tried += 1
    assert tried > 100, tried


def test_every_path_answers_options_with_its_methods(scene):
    server, spec = scene.shared, document(scene)
    for path, item in spec["paths"].items():
        _, head, _ = server.ask(fill(server, path, ""), "OPTIONS")
        allowed = set(head["Allow"].split(", "))
        assert {m.upper() for m in item} <= allowed and allowed - {m.upper() for m in item} <= {"HEAD", "OPTIONS"}, (path, allowed)


def test_statuses_and_headers_are_those_of_the_answers(scene):
    server, spec = scene.shared, document(scene)
    shown = {"ETag", "Location", "Retry-After", "WWW-Authenticate", "Set-Cookie", "X-Request-Id", "Server-Timing", "Link", "Content-Disposition"}

    def check(path, method, status, head):
        responses = spec["paths"][path][method.lower()]["responses"]
        assert str(status) in responses, f"{method} {path} answers {status}, which is not documented"
        response = responses[str(status)]
        response = resolve(spec, response["$ref"]) if "$ref" in response else response
        given = {name for name in shown if head[name]}
        assert given <= {*response["headers"]} <= given | {"Set-Cookie", "Strata-Missing", "Link", "Content-Disposition"}, (method, path, status)  # no cookie where there are no tokens, nothing missing, one page, JSON

    for path, method, operation in operations(spec):
        if method != "get":
            continue
        url = fill(server, path, "")
        status, head, _ = server.ask(url + needed(server, path))
        check(path, "get", status, head)
        if head["ETag"]:
            check(path, "get", *server.ask(url + needed(server, path), headers={"If-None-Match": head["ETag"]})[:2])
        check(path, "get", *server.ask(url + "?nonsense=1")[:2])
        check(path, "get", *server.ask(url, headers={"Host": "evil.example"})[:2])
        if "{id}" in path:
            check(path, "get", *server.ask(path.replace("{id}", "ffffffffffffffff").replace("{name}", "pid"))[:2])
    for method, path, body, head in [("POST", "/api/v1/traces", {"path": str(server.root / "small")}, {}), ("POST", "/api/v1/traces", {}, {}), ("POST", "/api/v1/traces", {"path": "/etc"}, {}),
                                     ("POST", "/api/v1/traces", {"path": str(server.root / "small")}, {"Origin": "https://evil.example"}), ("POST", "/api/v1/traces/{id}/refresh", None, {}),
                                     ("POST", "/api/v1/traces", b"x" * 2_000_000, {}), ("POST", "/api/v1/traces/{id}/query", {"aggregate": {"n": "count()"}}, {}),
                                     ("POST", "/api/v1/traces/{id}/query", {"limit": 10 ** 9}, {}), ("POST", "/api/v1/traces/{id}/query", {"cursor": "x"}, {}),
                                     ("PUT", "/api/v1/presets/{name}", {"yaml": "x"}, {}), ("DELETE", "/api/v1/presets/{name}", None, {}), ("POST", "/api/v1/session", {"token": "x"}, {})]:
        check(path, method, *server.ask(fill(server, path, ""), method, body, head)[:2])


def test_what_a_call_needs_is_required(scene):
    spec = document(scene)
    required = [(path, p["name"]) for path, _, operation in operations(spec) for p in operation["parameters"] if p["in"] == "query" and p["required"]]
    assert sorted(required) == [("/api/v1/compare", "traces"), ("/api/v1/compare/findings", "traces")]
    assert scene.shared.problem("/api/v1/compare", 400)["parameter"] == "/traces"


def test_problems_fit_their_schema(scene):
    spec = document(scene)
    for path, status in [("/api/v1/nothing", 404), (scene.shared.path + "/summary?format=xml", 400), ("/api/v1/traces/ffffffffffffffff", 404)]:
        found = violations(scene.shared.problem(path, status), spec["components"]["schemas"]["problem"], spec)
        assert not found, found


def test_the_document_is_packed_and_has_a_tag(scene):
    status, head, _ = scene.shared.ask("/api/v1/openapi.json", headers={"Accept-Encoding": "gzip"})
    assert status == 200 and head["Content-Encoding"] == "gzip" and head["ETag"]
    assert scene.shared.ask("/api/v1/openapi.json", headers={"If-None-Match": head["ETag"]})[0] == 304
    assert json.dumps(document(scene))
