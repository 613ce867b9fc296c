"""Counter records (ph = C): listed beside the columns, as series of time, and each once however often their files are read."""
import json
import math
import random
import urllib.parse

from harness import event, write_trace

BASE = 1_700_000_000_000_000
NAMES = ["cpu", "memory", 'é "q"']
VALUES = [12.5, 3, -1, "17", "text", None, True, 1e300, [1], {"a": 2}]


def counter(rng, pid):
    """a record, and its values as they count: by counter (time in us, value, process)"""
    name, ts, host = rng.choice(NAMES), BASE + rng.randrange(2_000_000), rng.choice(("node1", "node2"))
    args = {"user_pct": rng.choice(VALUES), "rss": rng.randrange(1 << 40), "hostname": host}
    numbers = {"rss": args["rss"]}
    if isinstance(args["user_pct"], (int, float)) and not isinstance(args["user_pct"], bool):
        numbers["user_pct"] = args["user_pct"]
    elif args["user_pct"] == "17":
        numbers["user_pct"] = 17
    record = {"id": 1, "name": name, "cat": "sys", "pid": pid, "tid": pid, "ts": ts, "ph": "C", "args": args}
    return json.dumps(record), [(f"{name}.{key}", ts - BASE, float(value), (host, pid)) for key, value in numbers.items()]


def write_file(folder, name, rng, records):
    """a file of events and counters; its samples"""
    lines, samples = [event("read", "POSIX", BASE + i * 100_000, 10, pid=1) for i in range(20)], []
    for _ in range(records):
        line, own = counter(rng, rng.randrange(3))
        lines.append(line)
        samples += own
    rng.shuffle(lines)
    write_trace(folder, lines, name)
    return samples


def expected(samples):
    listed = {}
    for name, ts, value, process in samples:
        listed.setdefault(name, []).append((ts, value, process))
    return [{"counter": name, "records": len(of), "processes": len({p for _, _, p in of}), "first": min(t for t, _, _ in of) / 1e6, "last": max(t for t, _, _ in of) / 1e6,
             "min": min(v for _, v, _ in of), "max": max(v for _, v, _ in of), "mean": math.fsum(v for _, v, _ in of) / len(of)} for name, of in sorted(listed.items(), key=lambda item: item[0].encode())]


def same(got, want):
    assert len(got) == len(want), (got, want)
    for one, other in zip(got, want):
        assert one.keys() == other.keys()
        for key in one:
            assert one[key] == other[key] or (isinstance(one[key], float) and math.isclose(one[key], other[key], rel_tol=1e-9)), (one, other)


def listed(server, trace):
    return server.get(f"/api/v1/traces/{trace}/columns")["counters"]


def series(server, trace, **parameters):
    return server.get(f"/api/v1/traces/{trace}/timeseries?{urllib.parse.urlencode(parameters)}")


def check_series(server, trace, samples, rng):
    names = rng.sample(sorted({name for name, *_ in samples}), 2)
    width = rng.choice((0.05, 0.3, 1))
    table = series(server, trace, counter=",".join(names), granularity=width)
    assert table["columns"] == ["time_range", "time_start"] + [name + suffix for name in names for suffix in ("", "_min", "_max")]
    for row in table["data"]:
        for at, name in enumerate(names):
            of = [v for n, ts, v, _ in samples if n == name and row[0] * round(width * 1e6) <= ts < (row[0] + 1) * round(width * 1e6)]
            mean, least, most = row[2 + 3 * at:5 + 3 * at]
            if not of:
                assert mean is least is most is None
            else:
                assert (least, most) == (min(of), max(of)) and math.isclose(mean, math.fsum(of) / len(of), rel_tol=1e-9)


def test_counters_are_listed_and_have_series(scene):
    rng = random.Random(7)
    root = scene.new("root")
    server = scene.server([root])
    samples = [s for f in range(3) for s in write_file(root / "a", f"rank-{f}.pfw", rng, 150)]
    trace = server.ingest(root / "a")["id"]
    same(listed(server, trace), expected(samples))
    for _ in range(10):
        check_series(server, trace, samples, rng)
    late = series(server, trace, counter="cpu.rss", granularity=0.000001, **{"from": 1.999998, "to": 1.999999})  # there are none, but it is a counter
    assert all(row[2] is None for row in late["data"])


def test_a_refresh_counts_no_record_twice(scene):
    rng = random.Random(8)
    root = scene.new("root")
    server = scene.server([root])
    by_file = {name: write_file(root / "a", name, rng, 60) for name in ("a.pfw", "b.pfw", "c.pfw")}
    trace = server.ingest(root / "a")["id"]

    def refresh():
        server.wait(server.call("POST", f"/api/v1/traces/{trace}/refresh")["job"])
        same(listed(server, trace), expected([s for samples in by_file.values() for s in samples]))

    refresh()
    by_file["a.pfw"] = write_file(root / "a", "a.pfw", rng, 40)  # another content
    refresh()
    line, samples = counter(rng, 9)
    with open(root / "a/b.pfw", "a", encoding="utf-8") as file:  # grown
        file.write(line + "\n")
    by_file["b.pfw"] += samples
    refresh()
    (root / "a/c.pfw").unlink()
    del by_file["c.pfw"]
    refresh()
    server.stop()
    server.start()
    same(listed(server, trace), expected([s for samples in by_file.values() for s in samples]))


def counter_files(server, trace):
    return sorted((server.folder / "store/traces" / trace).glob("*.counters"))


def test_records_without_sources_are_read_again_by_a_refresh(scene):
    rng = random.Random(9)
    root = scene.new("root")
    server = scene.server([root])
    samples = write_file(root / "a", "a.pfw", rng, 50)
    trace = server.ingest(root / "a")["id"]
    server.stop()
    for path in counter_files(server, trace):
        content = bytearray(path.read_bytes())
        content[16] = 5  # the kind of envelope of older programs
        path.write_bytes(content)
    server.start()
    assert listed(server, trace) == []
    server.wait(server.call("POST", f"/api/v1/traces/{trace}/refresh")["job"])
    same(listed(server, trace), expected(samples))


def test_damaged_counters_are_quarantined_and_read_again(scene):
    rng = random.Random(10)
    root = scene.new("root")
    server = scene.server([root])
    samples = write_file(root / "a", "a.pfw", rng, 50)
    trace = server.ingest(root / "a")["id"]
    server.stop()
    for path in counter_files(server, trace):
        content = bytearray(path.read_bytes())
        content[-5] ^= 4
        path.write_bytes(content)
    server.start()
    server.ask(f"/api/v1/traces/{trace}/columns")
    for job in server.get("/api/v1/jobs")["jobs"]:
        server.wait(job)
    same(listed(server, trace), expected(samples))


def test_a_mean_that_is_too_large_is_null(scene):
    root = scene.new("root")
    server = scene.server([root])
    records = [json.dumps({"name": "big", "ph": "C", "pid": 1, "tid": 1, "ts": BASE + i, "args": {"v": 1.7e308}}) for i in range(2)]
    trace = server.ingest(write_trace(root / "a", [event("read", "POSIX", BASE, 10), *records]))["id"]
    (one,) = listed(server, trace)
    assert (one["counter"], one["records"], one["max"], one["mean"]) == ("big.v", 2, 1.7e308, None)
    assert series(server, trace, counter="big.v")["data"][0][2:] == [None, 1.7e308, 1.7e308]


def test_mistakes_name_the_parameter(scene):
    root = scene.new("root")
    server = scene.server([root])
    write_trace(root / "a", [event("read", "POSIX", BASE, 10)])
    trace = server.ingest(root / "a")["id"]
    assert listed(server, trace) == []
    ask = f"/api/v1/traces/{trace}/timeseries?counter=cpu.rss"
    assert server.problem(ask, 400)["parameter"] == "/counter"
    for more in ("layer=app", "metrics=bw", "filter=dur%20%3E%201"):  # of layers and events
        assert server.problem(f"{ask}&{more}", 400)["parameter"] == "/" + more.split("=")[0]
    assert server.problem(ask + "&semantics=compatible", 400)["parameter"] == "/semantics"
