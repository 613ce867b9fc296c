"""The Python package of clients/python against the real daemon, with whichever of pandas and polars is there, and with neither."""
import importlib.util
import os
import pathlib
import re
import sys

from daemon import ROOT, generate
from harness import small_trace, training, write_trace

sys.path[:0] = [str(ROOT / "clients/python"), str(ROOT / "tests/data")]
import planted  # noqa: E402
import strata  # noqa: E402


def planted_run(scene):
    folder = scene.shared.root / "client-planted"
    planted.Job({"few_workers"}, "client", hosts=3, ranks=1, epochs=2, steps=4).write(folder)
    return folder


def refused(call):
    try:
        call()
    except strata.StrataError as error:
        return error
    raise AssertionError("it was not refused")


def test_a_folder_becomes_a_trace_and_tables(scene):
    root = scene.new("root")
    server = scene.server([root], settings={"rows": 100})
    s = strata.connect(server.base, frames="plain")
    run = s.add(write_trace(root / "training", training()), progress=False).update(tags=["night"])
    assert run.record["state"] == "ready" and s.trace("training").id == s.trace(run.id).id == run.id and run.record["tags"] == ["night"]
    raw = server.get(f"/api/v1/traces/{run.id}/summary")
    assert list(run.summary()) == [{c: layer.get(c) for c in raw["columns"]} for layer in raw["layers"]] and run.summary().attrs["job_time"] == raw["job_time"]
    assert [row["calls"] for row in run.query(group_by="func_name", aggregate={"calls": "count()"}, order_by="-calls", limit=1)] == [raw_most(server, run.id)]
    assert len(run.view("flat", by="process")) > 0 and run.timeseries(granularity=1, window=(0, 1)) and run.columns()
    assert {row["compute_events"] for row in run.overlap(set=['compute:cat == "ai_framework"', "all:dur >= 0"], scope="job")}
    assert run.table("access").columns == server.get(f"/api/v1/traces/{run.id}/access")["files"]["columns"]
    found = run.findings()
    assert len(found) == sum(n for severity, n in found.counts.items() if severity in ("critical", "warning", "info")) and len(found.checked) == sum(found.counts.values())
    assert all(row["text"] for row in found.frame()) and (str(found).count("\n") + 1 == len(found) or len(found) == 0)
    picture = run.chart(granularity=0.1)
    assert picture._repr_html_().count("<path") == 2 * int(re.search(r"of (\d+) layers", repr(picture))[1]) > 0 and "nan" not in picture._repr_html_()
    assert "<table>" in run._repr_html_() and run.report()["totals"]["events"] == run.record["events"]
    run.save_report(root / "report.html")
    assert (root / "report.html").read_text().startswith("<!doctype html>")
    run.delete()
    assert "no traces are called 'training'" in str(refused(lambda: s.trace("training")))


def raw_most(server, trace):
    return server.get(f"/api/v1/traces/{trace}/query?value_counts=func_name&limit=1")["data"][0][1]


def test_all_pages_are_fetched_and_limits_kept(scene):
    root = scene.new("root")
    server = scene.server([root], settings={"rows": 100})
    generate(root / "a", events=1234, output_files=1, seed=3)
    run = strata.connect(server.base, frames="plain").add(root / "a", progress=False)
    events = run.events(columns=["ts", "dur"], order_by=["ts", "-dur"])
    assert len(events) == run.record["events"] > 1000 and [e["ts"] for e in events] == sorted(e["ts"] for e in events)
    assert len(run.events(limit=7)) == 7 and len(run.query(columns=["ts"], limit=7)) == 7


def test_two_runs_side_by_side(scene):
    root = scene.new("root")
    server = scene.server([root])
    s = strata.connect(server.base, frames="plain")
    a, b = (s.add(write_trace(root / name, small_trace()), progress=False) for name in "ab")
    assert {row["trace"] for row in s.compare(a, "b", columns=["name", "trace", "time"])} == {"a", "b"}
    assert [(row["trace"], row["n"]) for row in s.query({"old": a, "new": "b"}, group_by="trace", aggregate={"n": "count()"})] == [("new", b.record["events"]), ("old", a.record["events"])]


def test_what_is_refused_is_an_exception_with_the_daemons_sentence(scene):
    s = strata.connect(scene.shared.base, frames="plain")
    run = s.traces()[0]
    error = refused(lambda: run.view("layer", layer="nope"))
    assert error.status == 400 and 'no layer "nope"' in str(error)
    assert refused(lambda: s.add("/")).status in (400, 403, 422)
    assert refused(lambda: strata.connect("http://127.0.0.1:1")).status == 0
    assert "column" in str(refused(lambda: run.query(group_by="nope", aggregate={"n": "count()"})))


def test_the_address_and_the_token_come_from_the_environment(scene):
    os.environ["STRATA_URL"], os.environ["STRATA_TOKEN"] = scene.shared.base, "not needed here"
    try:
        assert strata.connect(frames="plain").url == scene.shared.base
    finally:
        del os.environ["STRATA_URL"], os.environ["STRATA_TOKEN"]


def test_whole_numbers_stay_whole(scene):
    for kind in ("pandas", "polars"):
        if importlib.util.find_spec(kind) is None:
            continue
        made = strata.connect(scene.shared.base, frames=kind).traces()[0].events(columns=["ts", "size"], limit=50)
        assert [str(t).lower() for t in made.dtypes][:2] == ["int64", "int64"] and len(made) > 0, made.dtypes
    big = strata.frame("plain", ["a"], [[2**63 - 1], [None]], {})
    assert big[0]["a"] == 2**63 - 1 and big[1]["a"] is None and strata.dtype([2**63 - 1, None]) == "Int64"


def test_rows_that_are_objects_within_objects_are_a_table_too(scene):
    run = strata.connect(scene.shared.base, frames="plain").trace(scene.shared.ingest(planted_run(scene))["id"])
    ranks = run.table("utilisation", limit=5)
    assert len(ranks) == 5 and set(ranks.columns) >= {"pid", "epoch", "au"} and "goal" in ranks.attrs


def test_the_package_is_small_and_needs_nothing(scene):
    source = [line for file in pathlib.Path(strata.__file__).parent.glob("*.py") for line in file.read_text().splitlines()]
    assert len(source) < 460
    for line in source:
        if line.startswith(("import ", "from ")) and not line.startswith("from . "):
            assert line.split()[1].split(".")[0] in sys.stdlib_module_names, line
