"""Times with fractions of a microsecond: one scale of nanoseconds for every number that is made of them."""
import json
import random

from harness import event

ORIGIN = 1_700_000_000_000_000


def trace_of(scene, times, **more):
    """a trace of events at (nanoseconds from the origin, nanoseconds long); the first file has whole ones only"""
    root = scene.new("root")
    server = scene.server([root])
    (root / "t").mkdir()
    for part in (0, 1):
        lines = []
        for ns, length in times:
            if (ns % 1000 == 0 and length % 1000 == 0) != (part == 0):
                continue
            line = event("read", "POSIX", 77777, 88888, pid=1 + ns % 3, ret=100, **more)
            us = f"{ORIGIN + ns // 1000}.{ns % 1000:03}" if part else str(ORIGIN + ns // 1000)
            lines.append(line.replace("77777", us).replace("88888", f"{length // 1000}.{length % 1000:03}" if part else str(length // 1000)))
        (root / "t" / f"{part}.pfw").write_text("\n".join(lines) + "\n")
    trace = server.ingest(root / "t")
    return server, f"/api/v1/traces/{trace['id']}"


def union(times):
    total, reach = 0, None
    for start, length in sorted(times):
        if reach is None or start > reach:
            reach = start
        total += max(0, start + length - reach)
        reach = max(reach, start + length)
    return total


def query(server, path, **request):
    return server.call("POST", path + "/query", request)


def near(got, wanted_ns, per_unit=1e9):
    assert abs(got * per_unit - wanted_ns) < 1e-3, (got, wanted_ns)


TIMES = [(0, 1000), (1600, 2600), (3300, 4700), (9000, 300), (20_000, 2000), (30_700, 1601)]


def test_sums_busy_time_and_summary_agree(scene):
    server, path = trace_of(scene, TIMES)
    total, busy = sum(t[1] for t in TIMES), union(TIMES)
    one = query(server, path, aggregate={"time": "sum(time)", "dur": "sum(dur)", "busy": "busy()", "mean": "mean(time)", "last": "max(time_end)", "max": "max(dur)"})
    values = dict(zip(one["columns"], one["data"][0]))
    assert values["time"] == total / 1e9 and values["busy"] == busy / 1e9, values
    assert one["units"]["dur"] == "us" and one["units"]["time"] == "s", one["units"]
    near(values["dur"], total, 1e3)
    near(values["mean"], total / len(TIMES))
    near(values["last"], max(a + b for a, b in TIMES))
    near(values["max"], 4700, 1e3)
    summary = server.get(path + "/summary?preset=posix")
    row = next(layer for layer in summary["layers"] if layer["name"] == "posix")
    assert row["time"] == total / 1e9 and row["busy"] == busy / 1e9, row
    overlap = server.call("POST", path + "/overlap", {"sets": {"a": 'cat == "posix"'}, "scope": "job"})
    assert overlap["sets"][0]["time"] == total / 1e9 and overlap["sets"][0]["busy"] == busy / 1e9, overlap
    then = query(server, path, columns=["ts", "te", "dur"], then={"aggregate": {"dur": "sum(dur)", "busy": "busy()"}})
    near(then["data"][0][0], total, 1e3)
    assert then["data"][0][1] == busy / 1e9


def test_rows_show_what_they_count(scene):
    server, path = trace_of(scene, TIMES)
    rows = query(server, path, columns=["ts", "te", "dur", "time_start", "time_end", "time"])
    for (ns, length), (ts, te, dur, start, end, time) in zip(sorted(TIMES), rows["data"]):
        assert (ts, te, dur) == (ns / 1e3, (ns + length) / 1e3, length / 1e3), (ts, te, dur)
        assert (start, end, time) == (ns / 1e9, (ns + length) / 1e9, length / 1e9)
    assert [c for c in rows["columns"]] == ["ts", "te", "dur", "time_start", "time_end", "time"]
    described = server.get(path + "/columns")
    names = [row[0] for row in described["data"]]
    assert "ts" in names and not any(name.startswith(" ") for name in names), names


def test_bins_and_windows_are_cut_at_nanoseconds(scene):
    server, path = trace_of(scene, TIMES)
    binned = query(server, path, group_by={"b": "bin(time_start, 0.0000003)"}, aggregate={"n": "count()"})
    wanted = {}
    for ns, _ in TIMES:
        wanted[ns // 300] = wanted.get(ns // 300, 0) + 1
    assert dict(binned["data"]) == wanted
    assert dict(query(server, path, group_by={"b": "bin(ts, 0.3)"}, aggregate={"n": "count()"})["data"]) == wanted
    for filter, count in [("dur > 2", 2), ("dur == 1.601", 1), ("dur >= 1.6", 4), ("ts >= 3.3 and ts < 9", 1), ("time > 0.0000046", 1), ("te == 32.301", 1)]:
        assert query(server, path, filter=filter, aggregate={"n": "count()"})["data"] == [[count]], filter
    window = query(server, path, **{"from": 0.0000016, "to": 0.0000033}, aggregate={"n": "count()"})
    assert window["data"] == [[1]]


def test_calls_agree_on_random_fractions(scene):
    for seed in range(3):
        dice = random.Random(seed)
        times = [(0, 1)] + [(dice.randint(0, 400_000), dice.choice([0, 1, 999, 1000, 1001, 5000, dice.randint(0, 40_000)])) for _ in range(300)]
        server, path = trace_of(scene, times)
        first = min(t[0] for t in times)
        times = [(a - first, b) for a, b in times]
        total, busy = sum(t[1] for t in times), union(times)
        values = query(server, path, aggregate={"time": "sum(time)", "busy": "busy()"})["data"][0]
        assert values == [total / 1e9, busy / 1e9], (seed, values)
        for g in ("0.00001", "0.000003"):
            series = query(server, path, group_by={"b": f"bin(time_start, {g})"}, aggregate={"t": "sum(time)"}, limit=100000)
            wanted = {}
            for a, b in times:
                wanted[a // round(float(g) * 1e9)] = wanted.get(a // round(float(g) * 1e9), 0) + b
            assert {b: round(t * 1e9) for b, t in series["data"]} == wanted, (seed, g)
            view = server.get(path + f"/views/layer?layer=posix&preset=posix&by=time_range&granularity={g}&limit=100000")
            names = view["columns"]
            assert round(sum(r[names.index("time")] for r in view["data"]) * 1e9) == total, (seed, g)
            assert round(sum(r[names.index("busy")] for r in view["data"]) * 1e9) == busy, (seed, g)


def test_a_trace_without_fractions_beside_one_with(scene):
    root = scene.new("root")
    server = scene.server([root])
    lines = {"whole": [event("read", "POSIX", ORIGIN, 5), event("read", "POSIX", ORIGIN + 7, 3)],
             "fractions": [event("read", "POSIX", ORIGIN, 5).replace('"dur": 5', '"dur": 5.25')]}
    ids = {}
    for name, text in lines.items():
        (root / name).mkdir()
        (root / name / "a.pfw").write_text("\n".join(text) + "\n")
        ids[name] = server.ingest(root / name)["id"]
    answer = server.call("POST", "/api/v1/query", {"traces": ids, "group_by": ["trace"], "aggregate": {"time": "sum(time)", "dur": "max(dur)", "busy": "busy()"}, "order_by": ["trace"]})
    assert answer["data"] == [["fractions", 5.25e-6, 5.25, 5.25e-6], ["whole", 8e-6, 5, 8e-6]], answer["data"]
    alone = server.call("POST", f"/api/v1/traces/{ids['whole']}/query", {"columns": ["ts", "te", "dur"]})
    assert json.dumps(alone["data"]) == "[[0, 5, 5], [7, 10, 3]]"
