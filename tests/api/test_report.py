"""The ledger: every byte and line accounted for."""
import gzip

from harness import event, small_trace, write_trace

KINDS = ["events", "metadata", "counters", "other", "framing", "blank", "malformed"]


def check_sums(report):
    for counts in [report["totals"], *report["files"]]:
        assert counts["lines"] == sum(counts[k] for k in KINDS), counts
    for name in KINDS + ["lines", "bytes", "json_bytes", "repaired"]:
        assert report["totals"][name] == sum(f[name] for f in report["files"]), name
    for name, preset in report["presets"].items():
        assert preset["kept"] + preset["dropped_by_file"] + preset["dropped_by_function"] == report["totals"]["events"], name


def ingest(scene, write):
    root = scene.new("root")
    server = scene.server([root])
    write(root / "t")
    trace = server.ingest(root / "t")
    return server, trace, server.get(f"/api/v1/traces/{trace['id']}/report")


def test_sums_hold_for_a_clean_trace(scene):
    report = scene.shared.get(scene.shared.path + "/report")
    check_sums(report)
    assert report["totals"]["files"] == 1 and report["totals"]["metadata"] == 2 and report["totals"]["framing"] == 2
    assert report["totals"]["malformed"] == 0 and report["malformed"] == [] and report["files"][0]["state"] == "complete"
    assert report["unresolved"] == {"file_hashes": 0, "host_hashes": 0}
    assert {"dlio", "ai", "posix", "generic"} <= set(report["presets"])


def test_bad_lines_are_named_and_neighbours_survive(scene):
    good = event("read", "POSIX", 1_700_000_000_000_000, 5)
    lines = ["[", good, '{"name": "cut', good, "", '{"ph":"C","name":"c","ts":1,"args":{}}', '{"ph":"i","name":"mark","ts":1}', "nonsense", good, "]"]
    server, trace, report = ingest(scene, lambda folder: write_trace(folder, lines))
    check_sums(report)
    totals = report["totals"]
    assert (totals["events"], totals["malformed"], totals["blank"], totals["counters"], totals["other"], totals["framing"]) == (3, 2, 1, 1, 1, 2), totals
    first = report["malformed"][0]
    assert first["file"] == "rank-0.pfw" and first["line"] == 3 and first["text"] == '{"name": "cut' and first["reason"]
    assert first["offset"] == len("[\n") + len(good) + 1
    assert trace["problems"] == 2


def test_repaired_lines_count_as_events(scene):
    good = event("read", "POSIX", 1_700_000_000_000_000, 5)

    def write(folder):
        folder.mkdir()
        (folder / "a.pfw").write_bytes(good.replace("read", "re\x01ad").encode() + b"\n" + good.encode().replace(b"read", b"re\xffad") + b"\n")

    _, _, report = ingest(scene, write)
    check_sums(report)
    assert report["totals"]["events"] == 2 and report["totals"]["repaired"] == 2 and len(report["repaired"]) == 2
    assert "\ufffd" in report["repaired"][1]["text"]


def test_truncated_and_rejected_files_say_why(scene):
    def write(folder):
        write_trace(folder)
        packed = gzip.compress(("\n".join(small_trace() * 50) + "\n").encode())
        (folder / "cut.pfw.gz").write_bytes(packed[:len(packed) // 2])
        (folder / "bad.pfw.gz").write_bytes(b"\x1f\x8b\x08\x00garbage" * 10)

    _, trace, report = ingest(scene, write)
    check_sums(report)
    by = {f["path"]: f for f in report["files"]}
    assert [f["path"] for f in report["files"]] == sorted(by)
    assert by["cut.pfw.gz"]["state"] == "truncated" and by["cut.pfw.gz"]["reason"] and by["cut.pfw.gz"]["events"] > 0
    assert by["bad.pfw.gz"]["state"] in ("rejected", "truncated") and by["bad.pfw.gz"]["reason"]
    assert by["rank-0.pfw"]["state"] == "complete" and by["rank-0.pfw"]["reason"] is None
    assert trace["problems"] >= 2


def test_the_lists_hold_the_first_hundred(scene):
    def write(folder):
        for name in "ba":
            write_trace(folder, [f'{{"bad {i}' for i in range(80)], name=f"{name}.pfw")
        write_trace(folder, name="c.pfw")

    _, _, report = ingest(scene, write)
    check_sums(report)
    assert report["totals"]["malformed"] == 160 and len(report["malformed"]) == 100
    assert [(m["file"], m["line"]) for m in report["malformed"]] == [("a.pfw", i) for i in range(1, 81)] + [("b.pfw", i) for i in range(1, 21)]


def test_unclassified_functions_and_unresolved_hashes(scene):
    lines = [event("pread64", "POSIX", 1_700_000_000_000_000 + i, 5, fhash=99, hhash=98) for i in range(3)]
    lines += [event("zread", "STDIO", 1_700_000_000_000_000, 5), event("anything", "app", 1_700_000_000_000_000, 5)]
    _, _, report = ingest(scene, lambda folder: write_trace(folder, lines))
    assert report["unclassified"] == [{"func_name": "pread64", "count": 3}, {"func_name": "zread", "count": 1}]
    assert report["unclassified_functions"] == 2
    assert report["unresolved"] == {"file_hashes": 1, "host_hashes": 1}


def test_the_most_frequent_of_many_unclassified_functions(scene):
    start = 1_700_000_000_000_000
    lines = [event(f"f{i:04}", "POSIX", start + i, 5) for i in range(1500)] + [event("f1400", "POSIX", start, 5)]
    _, _, report = ingest(scene, lambda folder: write_trace(folder, lines))
    assert report["unclassified_functions"] == 1500
    assert report["unclassified"] == [{"func_name": "f1400", "count": 2}] + [{"func_name": f"f{i:04}", "count": 1} for i in range(999)]
