"""What a line's oddities come to in answers: sizes, categories, nesting, durations, byte order marks."""
import gzip
import json

from harness import event, write_trace

AT = 1_700_000_000_000_000


def ingest(scene, lines, **more):
    root = scene.new("root")
    server = scene.server([root])
    trace = server.ingest(write_trace(root / "t", lines, **more))
    return server, f"/api/v1/traces/{trace['id']}"


def rows(server, path, *columns, **more):
    return server.call("POST", path + "/query", {"columns": list(columns), **more})["data"]


def test_a_negative_duration_is_malformed_and_counts_nowhere(scene):
    server, path = ingest(scene, [event("read", "POSIX", AT, 5), event("read", "POSIX", AT + 9, -5), event("read", "POSIX", AT + 9, 0)])
    report = server.get(path + "/report")
    assert report["totals"]["events"] == 2 and report["totals"]["malformed"] == 1
    assert report["malformed"][0]["line"] == 2 and report["malformed"][0]["reason"] == "dur is negative"
    assert rows(server, path, "dur") == [[5], [0]]


def test_size_sum_wins_even_when_it_is_nothing(scene):
    sums = [0, -1, "0", "x", 7, "8", 5.0, True]
    server, path = ingest(scene, [event("read", "POSIX", AT + i, 5, ret=100, size_sum=s) for i, s in enumerate(sums)] + [event("read", "POSIX", AT + 99, 5, ret=100)])
    assert [r[0] for r in rows(server, path, "size")] == [None, None, None, None, 7, 8, 5, None, 100]


def test_sizes_that_no_file_system_has_are_kept_and_counted(scene):
    sizes = [2**53, 2**53 + 1, 2**62, 4096, 9_007_199_254_740_993]
    server, path = ingest(scene, [event("read", "POSIX", AT + i, 5, ret=s) for i, s in enumerate(sizes)] + [event("x", "app", AT, 1, size_sum=2**60)])
    assert sorted(r[0] for r in rows(server, path, "size")) == sorted(sizes + [2**60])
    assert server.get(path + "/report")["doubtful_sizes"] == 4


def test_values_near_both_ends_of_64_bits_are_kept(scene):
    least, most = -(2**63), 2**63 - 1
    for values in ([least, most], [most, least], [least + 1, most - 5, most], [least, most, 7]):
        server, path = ingest(scene, [event("lseek", "POSIX", AT + i, 5, at=v) for i, v in enumerate(values)])
        assert [r[0] for r in rows(server, path, "args.at")] == values
        assert rows(server, path, "ts", filter=f"args.at < {least + 2}") == [[i] for i, v in enumerate(values) if v < 0]
        server.stop()


def test_categories_compare_without_case_in_any_alphabet(scene):
    cats = ["POSIX", "ÄRGER", "ärger", "ΔΊΣΚΟΣ", "ДИСК", "Ⱥ", "中"]
    server, path = ingest(scene, [event("read", cat, AT + i, 5) for i, cat in enumerate(cats)])
    assert [r[0] for r in rows(server, path, "cat")] == ["posix", "ärger", "ärger", "δίσκοσ", "диск", "ⱥ", "中"]
    for filter, count in [('cat == "Ärger"', 2), ('cat in ["диСК", "ⱥ"]', 2), ('cat.str.startswith("ДИ")', 1), ('cat.str.contains("ÄRG")', 2), ('cat != "ÄRGER"', 5),
                          ('cat.str.contains("ск$")', 1)]:
        answer = server.call("POST", path + "/query", {"filter": filter, "aggregate": {"n": "count()"}})
        assert answer["data"] == [[count]], (filter, answer["data"])


def test_lower_case_is_unicodes_simple_one(scene):
    """each character by itself, as Python has it where that is one character too"""
    capitals = [c for c in map(chr, range(0x80, 0x1E943)) if len(c.lower()) == 1 and c.lower() != c and not 0xD800 <= ord(c) < 0xE000]
    server, path = ingest(scene, [event("read", "k" + c, AT + i, 1) for i, c in enumerate(capitals)])
    found = [r[0] for r in rows(server, path, "cat", limit=100000)]
    assert len(found) == len(capitals) > 1000
    for capital, cat in zip(capitals, found):
        assert cat == "k" + capital.lower(), (hex(ord(capital)), cat)


def test_an_event_stays_whose_args_are_nested_too_deep(scene):
    deep = event("read", "POSIX", AT, 5, ret=8, a="DEEP", z=1).replace('"DEEP"', '{"b":' * 700 + "1" + "}" * 700)
    server, path = ingest(scene, [deep, event("read", "POSIX", AT + 1, 5, ret=9, a={"b": [1]})])
    assert rows(server, path, "size", "args.a", "args.z") == [[8, None, 1], [9, '{"b":[1]}', None]]
    totals = server.get(path + "/report")["totals"]
    assert (totals["events"], totals["malformed"], totals["unstored_args"]) == (2, 0, 1)


def test_a_byte_order_mark_before_each_gzip_member_is_skipped(scene):
    root = scene.new("root")
    server = scene.server([root])
    (root / "t").mkdir()
    mark = b"\xef\xbb\xbf"
    parts = [mark + event("read", "POSIX", AT + i, 5, n=i).encode() + b"\n" * (i != 1) for i in range(4)] + [mark + b'{"cut\n']
    (root / "t" / "a.pfw.gz").write_bytes(b"".join(map(gzip.compress, parts)))
    (root / "t" / "b.pfw").write_bytes(b"".join(parts))
    trace = server.ingest(root / "t")
    path = f"/api/v1/traces/{trace['id']}"
    assert sorted(r[0] for r in rows(server, path, "args.n")) == [0, 0, 1, 1, 2, 2, 3, 3]
    report = server.get(path + "/report")
    cut = sum(map(len, parts[:-1]))
    assert [(m["file"], m["line"], m["offset"]) for m in report["malformed"]] == [("a.pfw.gz", 4, cut), ("b.pfw", 4, cut)]


def test_hashes_may_be_numbers_texts_and_past_64_bits(scene):
    def define(value, text):
        return json.dumps({"name": "FH", "ph": "M", "pid": 1, "tid": 1, "args": {"name": text, "value": value}})

    pairs = [(2**64 - 1, "/a"), ("18446744073709551614", "/b"), ("00ff", "/c"), (-5, "/d"), (2**70, "/e")]
    lines = [event("open", "POSIX", AT + i, 1, fhash=value) for i, (value, _) in enumerate(pairs)] + [define(str(v) if i % 2 else v, t) for i, (v, t) in enumerate(pairs)]
    server, path = ingest(scene, lines)
    assert [r[0] for r in rows(server, path, "file_name")] == [t for _, t in pairs]


def test_a_file_of_objects_that_gave_no_event_says_so(scene):
    listed = json.dumps({"traceEvents": [json.loads(event("read", "POSIX", AT, 5))]})
    other = [json.dumps({"name": "step", "ph": ph, "ts": AT, "pid": 1, "tid": 1}) for ph in "BE"]
    for lines, count in (([listed], 1), (other, 2)):
        server, path = ingest(scene, lines, name="chrome.json")
        report = server.get(path + "/report")
        assert report["totals"]["other"] == count and report["totals"]["malformed"] == 0, "it is valid JSON"
        assert report["files"][0]["state"] == "complete" and "such as traceEvents, is not read" in report["files"][0]["reason"]
        finding = server.get(path + "/findings?rule=lost_lines")["findings"][0]
        assert finding["severity"] == "critical" and "1 file gave no event" in finding["text"], finding
        assert server.get(path)["problems"] == 1 and "Files of a trace gave no event" in server.log()


def test_objects_of_other_kinds_beside_events_are_no_problem(scene):
    server, path = ingest(scene, [event("read", "POSIX", AT, 5), json.dumps({"name": "step", "ph": "B", "ts": AT, "pid": 1, "tid": 1})])
    assert server.get(path + "/report")["files"][0]["reason"] is None and server.get(path)["problems"] == 0
    assert server.get(path + "/findings?rule=lost_lines")["findings"][0]["text"] == "All 2 lines were read."
