"""The expression language as `GET /api/v1/language` publishes it: docs/expressions.md has the same words, and every example gives the result that is
shown, asked of the real daemon."""
import json
import re

from daemon import ROOT
from harness import event, write_trace

KINDS = ("scalar", "aggregate", "method", "text_method")
EVENTS = [  # those of docs/expressions.md
    event("open", "POSIX", 1_700_000_000_000_000, 10, fhash=5),
    event("read", "POSIX", 1_700_000_000_000_020, 20, fhash=5, ret=4096),
    event("read", "POSIX", 1_700_000_000_000_050, 30, fhash=5, ret=8192),
    event("read", "POSIX", 1_700_000_000_000_060, 40, fhash=5, ret=8192),
]


def cell(text):
    return f"`{text}`".replace("|", "\\|")


def table(words):
    """as docs/expressions.md has it"""
    rows = [f"| {cell(w['signature'])} | {w['text'].replace('|', chr(92) + '|')}{options(w)} | {cell(w['example'])} | {cell(json.dumps(w['result'], ensure_ascii=False))} |" for w in words]
    return "\n".join(["| | | for example | gives |", "|---|---|---|---|", *rows])


def options(word):
    return f" Options: {', '.join(word['options'])}." if word.get("options") else ""


def sections(language):
    found = {kind: [f for f in language["functions"] if f["kind"] == kind] for kind in KINDS}
    return {**found, "keyword": language["keywords"], "operator": language["operators"]}


def ask(scene):
    folder = scene.new("root")
    write_trace(folder / "trace", ["[", *EVENTS, "]"])
    server = scene.server([folder])
    return server, server.ingest(folder / "trace")["id"]


def test_the_language_is_documented(scene):
    server, _ = ask(scene)
    status, _, language = server.ask("/api/v1/language")
    assert status == 200
    text = (ROOT / "docs/expressions.md").read_text()
    for kind, words in sections(language).items():
        block = re.search(rf"<!-- {kind} -->\n(.*?)\n<!-- end -->", text, re.S)
        assert block, f"docs/expressions.md has no table of kind {kind}"
        assert block[1] == table(words), f"docs/expressions.md should have between <!-- {kind} --> and <!-- end -->:\n{table(words)}"


def test_every_example_gives_its_result(scene):
    server, trace = ask(scene)
    _, _, language = server.ask("/api/v1/language")
    for kind, words in sections(language).items():
        assert len({w["name"] for w in words}) == len(words) >= 9, kind
        for word in words:
            member = {"aggregate": {"x": word["example"]}} if kind == "aggregate" else {"derive": {"x": word["example"]}, "columns": ["x"], "limit": 1}
            status, _, answer = server.ask(f"/api/v1/traces/{trace}/query", "POST", member, {"Content-Type": "application/json"})
            assert status == 200, f"{word['example']}: {answer}"
            assert answer["data"][0] == [word["result"]], f"{word['example']} gives {answer['data'][0]}, not {word['result']}"


def test_options_are_taken(scene):
    server, trace = ask(scene)
    _, _, language = server.ask("/api/v1/language")
    for word in language["functions"]:
        for option in word["options"]:
            text = word["example"][:-1] + f", {option}=true)"
            status, _, answer = server.ask(f"/api/v1/traces/{trace}/query", "POST", {"derive": {"x": text}, "limit": 1}, {"Content-Type": "application/json"})
            assert status == 200, f"{text}: {answer}"
