"""Requests that want to hurt: each gets a sentence that says what is wrong or which limit it met, not after the time that a question may take,
and the daemon serves on."""
import json
import socket
from daemon import Daemon, generate

LIMITED = (413, 422)
DEEP = 10000


def event(name, ts, **args):
    return json.dumps({"id": 0, "name": name, "cat": "POSIX", "pid": 1, "tid": 1, "ts": ts, "dur": 5, "ph": "X", "args": args})


def write_texts(folder):
    """texts on which a backtracking matcher goes on for ever"""
    folder.mkdir()
    texts = ["a" * 5000 + "!", "ab" * 2000 + "!", "x" * 3000, "1" * 4000 + "\u00e9", " " * 3000 + "x", "/data/" * 400]
    lines = [event("read", 1000 + i, fname=text, ret=i) for i, text in enumerate(texts)]
    (folder / "texts.pfw").write_text("[\n" + "\n".join(lines) + "\n]\n")
    return folder


class Client:
    def __init__(self, checks, daemon, identity):
        self.checks, self.daemon, self.path = checks, daemon, f"/api/v1/traces/{identity}/query"

    def send(self, request):
        """(status, problem or response)"""
        status, _, text = self.daemon.request("POST", self.path, request)
        self.checks.check(b"query_timeout" not in text, f"{str(request)[:300]} took all the time there is")
        return status, json.loads(text)

    def refused(self, what, request, statuses, *words):
        """a problem document with one of these statuses whose sentence has these words"""
        status, answer = self.send(request)
        detail = answer.get("detail", "") if isinstance(answer, dict) else ""
        self.checks.check(status in statuses and all(w.lower() in detail.lower() for w in words), f"{what}: {status} {detail[:300]!r}, not {statuses} with {words}")
        self.checks.equal(self.daemon.request("GET", "/healthz", timeout=10)[0], 200, f"health after {what}")

    def bounded(self, what, request):
        """answered or refused with a document"""
        status, answer = self.send(request)
        self.checks.check(status in (200, 400, *LIMITED), f"{what}: {status}: {str(answer)[:300]}")
        self.checks.check(status == 200 or answer.get("detail"), f"{what}: no detail: {answer}")


DEPTHS = {
    "parentheses": "(" * DEEP + "1" + ")" * DEEP, "open parentheses": "(" * DEEP, "not": "not " * 2400 + "true", "minus": "-" * 9000 + "1 == 1",
    "tilde": "~" * 9000 + "true", "powers": "2" + " ** 2" * 1900 + " > 1", "functions": "abs(" * 2000 + "1" + ")" * 2000 + " > 1",
    "where": "where(true, " * 800 + "1" + ")" * 800 + " > 1", "lists": "1 in " + "[" * 9000,
    "a hundred and one": "(" * 101 + "true" + ")" * 101,
}
WIDE = {"or": " or ".join(["dur == 1"] * 800), "sum": " + ".join(["1"] * 2400) + " > 1", "comparisons": " < ".join(["1"] * 2400),
        "methods": "cat" + ".str.lower()" * 800 + " == 'posix'", "strings": "'" + "x" * 9990 + "' == cat"}


def depths(client):
    for what, text in DEPTHS.items():
        client.refused(f"deep {what}", {"filter": text}, (400, *LIMITED))
    for what, text in WIDE.items():
        client.bounded(f"wide {what}", {"filter": text})
    client.checks.equal(client.send({"filter": "(" * 90 + "true" + ")" * 90, "aggregate": {"n": "count()"}})[0], 200, "ninety parentheses")


def nested(stages):
    request = {"aggregate": {"n": "count()"}}
    for _ in range(stages - 1):
        request = {"then": request, "columns": ["n"]}
    request["group_by"], request["aggregate"] = ["pid"], {"n": "count()"}
    request.pop("columns", None)
    return request


def limits(client):
    """query.md part 6: what is met, and at how much"""
    columns = {f"d{i}": str(i) for i in range(65)}
    cases = {
        "expression of 10,001 characters": ({"filter": "true" + " " * 9997}, "10,000"),
        "expression of 500,000 characters": ({"filter": "true or " * 60000 + "true"}, "10,000"),
        "65 derived columns": ({"derive": columns}, "64"),
        "17 keys": ({"group_by": [{f"k{i}": str(i)} for i in range(17)]}, "16"),
        "65 aggregates": ({"aggregate": {f"a{i}": "count()" for i in range(65)}}, "64"),
        "9 stages": (nested(9), "8"),
        "10,001 bins": ({"histogram": {"of": "dur", "bins": 10001}}, "10,000"),
        "a billion bins": ({"histogram": {"of": "dur", "bins": 10**9}}, "10,000"),
        "pattern of 1,001 characters": ({"filter": f"cat.str.contains('{'a' * 1001}')"}, "1,000"),
    }
    for what, (request, limit) in cases.items():
        status, answer = client.send(request)
        detail = answer.get("detail", "")
        client.checks.check(status in LIMITED and limit.replace(",", "") in detail.replace(",", ""), f"{what}: {status} {detail[:300]!r}, not {LIMITED} with {limit}")
    client.bounded("a list of 4,000", {"filter": "dur in [" + ",".join(map(str, range(1000, 3400))) + "]"})
    client.refused("unknown column near a known one", {"filter": "durr > 1"}, (400,), "durr", "dur")
    client.refused("unknown function near a known one", {"filter": "basname(file_name) == 'x'"}, (400,), "basname", "basename")
    client.refused("unknown member", {"groupby": ["pid"]}, (400,), "groupby", "group_by")


PATTERNS = ["(a+)+$", "(a|aa)+$", "(.*)*x$", "^(([a-z])+.)+[A-Z]([a-z])+$", "(?:a?){30}a{30}!!", "(a*)*b",
            "(\\\\w+\\\\s?)+$X", "((ab)*)*c", "(x+x+)+y", "(?=(a+))a*b\\\\1", "^(\\\\s+)+$"]

PLACES = ["file_name.str.contains('{}')", "replace(file_name, '{}', 'x') == 'y'", "file_name.str.count('{}') > 1", "extract(file_name, '{}') == 'y'"]


def patterns(client):
    for pattern in PATTERNS:
        for form in PLACES:
            text = form.format(pattern)
            status, answer = client.send({"filter": text, "aggregate": {"n": "count()"}})
            client.checks.check(status == 200 or (status == 422 and pattern.replace("\\\\", "\\") in answer["detail"]), f"{text}: {status} {answer}")


HEAD = b"POST %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"


def raw(daemon, path, body):
    """status of a POST of these bytes"""
    host, port = daemon.base.removeprefix("http://").rsplit(":", 1)
    with socket.create_connection((host, int(port)), timeout=60) as s:
        s.sendall(HEAD % (path.encode(), len(body)))
        try:
            s.sendall(body)
            answer = s.recv(65536)
        except ConnectionError:
            return 0
    return int(answer.split(b" ", 2)[1]) if answer else 0


BODIES = {
    "nothing": b"", "no JSON": b"filter: x", "a list": b"[]", "a number": b"5", "null": b"null", "half of an object": b'{"filter": "true"',
    "two objects": b"{}{}", "NUL": b'{"filter": "true\x00"}', "escaped NUL": b'{"filter": "cat == \'\\u0000\'"}',
    "bytes that are no UTF-8": b'{"filter": "cat == \'\xff\xfe\'"}', "half a surrogate": b'{"filter": "cat == \'\\ud800\'"}',
    "a large number": b'{"from": 1e400}', "a large integer": b'{"limit": 99999999999999999999999}', "a negative limit": b'{"limit": -1}',
    "deep objects": b'{"then":' * 5000 + b"1" + b"}" * 5000, "deep lists": b'{"group_by":' + b"[" * 100000,
    "a name twice": b'{"filter": "true", "filter": "false"}', "names of NUL": b'{"aggregate": {"a\\u0000b": "count()"}}',
    "an empty name": b'{"aggregate": {"": "count()"}}', "from a text": b'{"from": "x"}', "then a list": b'{"then": []}',
    "aggregate a list": b'{"aggregate": ["count()"]}', "derive a text": b'{"derive": "x"}', "order_by a text": b'{"order_by": "-dur"}',
    "order_by numbers": b'{"order_by": [1]}', "histogram a text": b'{"histogram": "dur"}', "bins of nothing": b'{"histogram": {"of": "dur", "bins": 0}}',
    "one edge": b'{"histogram": {"of": "dur", "bins": [1]}}', "bins a text": b'{"histogram": {"of": "dur", "bins": "x"}}',
    "range of one": b'{"histogram": {"of": "dur", "range": [1]}}', "no cursor": b'{"cursor": "x", "limit": 1}',
    "a cursor of bytes": b'{"cursor": "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "limit": 1}', "unknown preset": b'{"preset": "nosuch"}',
    "preset a path": b'{"preset": "../../etc/passwd"}',
}
ANSWERED = {"escaped NUL", "a name twice", "an empty name", "names of NUL", "from a text", "order_by a text"}  # may be understood


def bodies(client):
    for what, body in BODIES.items():
        status = raw(client.daemon, client.path, body)
        wanted = (200, 400, 404, *LIMITED) if what in ANSWERED else (400, 404, 410, *LIMITED)
        client.checks.check(status in wanted, f"a body of {what}: {status}, not {wanted}")
    for size in (2 << 20, 50 << 20):
        body = b'{"filter": "' + b"x" * size + b'"}'
        client.checks.check(raw(client.daemon, client.path, body) in (413, 0), f"a body of {size} bytes")
    client.checks.equal(client.send({"aggregate": {"n": "count()"}})[0], 200, "a plain query after all bodies")


def run(checks, folder):
    folder.mkdir()
    generate(folder / "trace", events=3000, seed=5)
    write_texts(folder / "texts")
    with Daemon(folder / "store", [folder]) as daemon:
        plain = Client(checks, daemon, daemon.ingest(folder / "trace")["id"])
        texts = Client(checks, daemon, daemon.ingest(folder / "texts")["id"])
        for what, function, client in (("deep expressions", depths, plain), ("limits", limits, plain), ("patterns", patterns, texts), ("bodies", bodies, plain)):
            checks.attempt(what, lambda _, f=function, a=client: f(a))
