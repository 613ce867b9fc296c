"""Large files, plain or of many gzip members, of which each rank reads ranges."""
import gzip
import random
import struct
import zlib

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


def member(text, extra=b""):
    """with bytes in a field of its head that may look like a member"""
    packed = zlib.compressobj(9, zlib.DEFLATED, -15)
    field = struct.pack("<H2sH", len(extra) + 4, b"AP", len(extra)) + extra
    return b"\x1f\x8b\x08\x04\0\0\0\0\0\xff" + field + packed.compress(text) + packed.flush() + struct.pack("<II", zlib.crc32(text), len(text))


def members(text, seed, extra=b""):
    """cut anywhere, one in three at the end of a line; an empty one, and padding behind the last"""
    chance, packed, at = random.Random(seed), [], 0
    while at < len(text):
        end = at + chance.randrange(500, 3000)
        end = text.find(b"\n", end) + 1 or len(text) if chance.random() < 0.3 else end
        packed.append(member(text[at:end], extra) if extra else gzip.compress(text[at:end]))
        at = end
    return [*packed[:7], gzip.compress(b""), *packed[7:], b"\0" * 512]


def write_packed(folder):
    """traces of one file of many members each"""
    folder.mkdir()
    chance = random.Random(5)
    lines = [event(n, b',"x":%d' % chance.getrandbits(60)) for n in range(4000)]
    text, false = b"\n".join(lines) + b"\n", gzip.compress(b"\n".join(lines[:40]) + b"\n")
    whole = b"".join(members(text, 1))
    files = {
        "members": whole, "false-heads": b"".join(members(text, 2, false)), "dos": b"".join(members(text.replace(b"\n", b"\r\n"), 3)),
        "damaged": whole[:40000] + b"\x55" + whole[40001:], "cut": whole[:60000], "no-lines": b"".join(gzip.compress(text[at:at + 999]) for at in range(0, len(text), 999)),
        "unended": b"".join(members(text[:-1], 4)), "plain-behind": whole + b"\n".join(lines),
    }
    for name, content in files.items():
        (folder / name).mkdir()
        (folder / name / "one.pfw.gz").write_bytes(content)
    return [folder / name for name in files]


def answers_of(daemon, trace):
    got = answers(daemon, trace)
    got.append(("rows", *daemon.request("POST", f"/api/v1/traces/{trace}/query", ALL_ROWS)[::2]))
    return plain(got, trace)


def members_of_files(checks, scene):
    """a gzip file of many members is read in ranges by all ranks, whatever looks like a member in it, and as far as it is whole"""
    packed = write_packed(scene.folder / "packed")
    with Daemon(scene.folder / "packed-single", [scene.folder], QUIET) as single:
        expected = {path: answers_of(single, single.ingest(path)["id"]) for path in packed}
    for ranks, workers in ((2, 1), (4, 2)):
        with Ranks(ranks, scene.folder / f"packed-{ranks}", [scene.folder], [*QUIET, "--workers", workers, "--rank-range", "4KiB"]) as daemon:
            for path, wanted in expected.items():
                compare(checks, answers_of(daemon, daemon.ingest(path)["id"]), wanted, f"{ranks} ranks with ranges of {path.name}")
            units = daemon.metric("strata_rank_units_total")
            checks.check(units > len(expected), f"others of {ranks} ranks have read {units} ranges of {len(expected)} files")


def members_past_the_limit(checks, scene):
    """a gzip file of members with more JSON than may be read: it ends where one process ends it, in its last range or before that"""
    text = b"\n".join(event(n) for n in range(16000)) + b"\n"
    folder = scene.folder / "limited"
    folder.mkdir()
    (folder / "one.pfw.gz").write_bytes(b"".join(members(text, 6)))
    for left in (len(text), len(text) - 1, len(text) - 999, 1 << 20):
        options = [*QUIET, "--json-bytes-per-file", left]
        with Daemon(scene.folder / f"limited-single-{left}", [folder], options) as single:
            expected = answers_of(single, single.ingest(folder)["id"])
        with Ranks(3, scene.folder / f"limited-{left}", [folder], [*options, "--rank-range", "4KiB"]) as daemon:
            trace = daemon.ingest(folder)
            compare(checks, answers_of(daemon, trace["id"]), expected, f"{left} bytes of {len(text)}")
            checks.equal(trace["state"], "ready", f"state with {left} bytes")
            checks.check(daemon.metric("strata_rank_units_total") > 0, f"others have read ranges with {left} bytes")


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
