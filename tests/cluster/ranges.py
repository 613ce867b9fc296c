"""Large plain files of which each rank reads ranges."""
from daemon import Daemon, generate
from scene import Ranks, answers, plain

QUIET = ["--compaction", "off"]
EVENT = b'{"id":%d,"name":"read","cat":"POSIX","pid":%d,"tid":1,"ts":17000000%08d,"dur":%d,"ph":"X","args":{"ret":4096%s}}'
ALL_ROWS = {"columns": ["ts", "dur", "pid", "func_name"], "order_by": ["ts", "pid", "dur", "func_name"], "limit": 3000}


def event(number, more=b""):
    return EVENT % (number, 1 + number % 3, number * 7, number % 90, more)


def write_plain(folder):
    """files with all that a cut may fall into: lines of several lengths, of DOS, at fault, without an end, longer than is looked for their end"""
    folder.mkdir()
    generate(folder / "large", events=40000, ranks=2, hosts=2, output_files=2, gzip="none", seed=21)
    generate(folder / "faults", events=4000, ranks=2, output_files=1, gzip="none", faults="all", seed=22)
    lines = [event(n) for n in range(3000)]
    (folder / "dos.pfw").write_bytes(b"[\r\n" + b"\r\n".join(lines) + b"\r\n]\r\n")
    (folder / "cut.pfw").write_bytes(b"[\n" + b"\n".join(lines) + b"\n" + lines[0][:70])
    (folder / "whole.pfw").write_bytes(b"\n".join(lines))
    (folder / "blank.pfw").write_bytes(b"[\n" + b"\n" * 40000 + b"\n".join(lines) + b"\n" * 40000)
    long = [event(n, b',"text":"%s"' % (b"x" * (3 << 20))) if n == 1500 else line for n, line in enumerate(lines)]
    (folder / "long.pfw").write_bytes(b"\n".join(long) + b"\n")
    (folder / "bad.pfw").write_bytes(b"\n".join(b"{bad %d" % n if n % 7 == 0 else line for n, line in enumerate(lines)) + b"\n")
    return folder


def answers_of(daemon, trace):
    got = answers(daemon, trace)
    got.append(("rows", *daemon.request("POST", f"/api/v1/traces/{trace}/query", ALL_ROWS)[::2]))
    return plain(got, trace)


def compare(checks, one, other, what):
    for got, expected in zip(one, other):
        checks.check(got == expected, f"{what}: {got}, not {expected}"[:1200])


def refresh_all(daemon):
    """id of a trace by its path, once all have been brought up to date"""
    traces = daemon.get("/api/v1/traces")["traces"]
    for trace in traces:
        daemon.wait(daemon.call("POST", f"/api/v1/traces/{trace['id']}/refresh")["job"])
    return {trace["path"]: trace["id"] for trace in traces}


def ranges_of_files(checks, scene):
    """plain files are read in ranges by all ranks: the store answers as one that one process made, and goes on when they grow"""
    folder, alone = write_plain(scene.folder / "ranges"), scene.folder / "ranges-alone"
    alone.mkdir()
    (alone / "one.pfw").write_bytes((folder / "blank.pfw").read_bytes() + b"\n" + (folder / "bad.pfw").read_bytes())
    with Daemon(scene.folder / "ranges-single", [scene.folder], QUIET) as single:
        expected = {path: answers_of(single, single.ingest(path)["id"]) for path in (folder, alone)}
        units = 0
        for ranks, workers, least in ((2, 1, "4KiB"), (3, 2, "64KiB"), (4, 3, "4KiB")):
            store = scene.folder / f"ranges-{ranks}-{workers}"
            with Ranks(ranks, store, [scene.folder], [*QUIET, "--workers", workers, "--rank-range", least]) as daemon:
                for path, wanted in expected.items():
                    units -= daemon.metric("strata_rank_units_total") if path == alone else 0
                    compare(checks, answers_of(daemon, daemon.ingest(path)["id"]), wanted, f"{ranks} ranks with ranges of {least} or more of {path.name}")
                units += daemon.metric("strata_rank_units_total")
        checks.check(units > 3, f"others than rank 0 have read {units} units of one file, which was read three times")
        with open(alone / "one.pfw", "ab") as file:
            file.write(event(5000) + b"\n")
        with Daemon(store, [scene.folder], QUIET) as daemon:
            mine, its = refresh_all(daemon), refresh_all(single)
            for path, wanted in expected.items():
                after = answers_of(single, its[str(path)])
                checks.equal(after != wanted, path == alone, f"{path.name} has grown")
                compare(checks, answers_of(daemon, mine[str(path)]), after, f"{path.name}, refreshed by one process")
