"""The store on disk as server/store/FORMAT.md describes it: a reader of its own, written from that page, and the daemon see the same events."""
import collections
import contextlib
import json
from urllib.parse import urlencode

import dasf_records
from daemon import SHARED, generate
from store_reader import Damaged, Version
from test_dasf import compute, sample

COLUMNS = ("ts", "dur", "func_name", "cat", "pid", "tid", "host_name", "file_name")


def text(value):
    return None if value is None else value.decode(errors="replace") if isinstance(value, bytes) else json.dumps(value)


def lower(value):
    return value if value is None else text(value).lower()


def as_type(value, type):
    """a column of text can hold values of other types, one of integers texts that are such"""
    return value if value is None else text(value) if type == "text" else int(value) if type == "integer" else float(value) if type == "number" else value


def by_format(folder, args):
    """{an event as JSON: how often}, as the second reader sees it; @args: {column: its type}"""
    found, events = collections.Counter(), list(Version(folder).events())
    finest = max(event["ticks"] for event in events)
    origin = min(event["ts"] * (finest // event["ticks"]) for event in events)
    for event in events:
        times = [(event["ts"] * (finest // event["ticks"]) - origin) / finest, event["dur"] / event["ticks"]]
        texts = [text(event.get("name", b"")), lower(event.get("cat")), event["pid"], event["tid"], text(event["host"]), text(event["file"])]
        own = [as_type(event.get(name), type) for name, type in args.items()]
        found[json.dumps([*times, *texts, *own])] += 1
    return found


def by_daemon(server, path, args):
    columns = [*COLUMNS, *(f"`{name}`" for name in args)]
    asked = urlencode({"columns": columns, "preset": "generic", "filters": "off", "format": "ndjson"}, doseq=True)
    status, _, lines = server.ask(f"{path}/events?{asked}")
    assert status == 200, lines
    rows = (list(json.loads(line).values()) for line in lines.splitlines())
    return collections.Counter(json.dumps([float(row[0]), float(row[1]), *row[2:]]) for row in rows)


def same(server, sources):
    trace = server.ingest(sources)
    path, folder = f"/api/v1/traces/{trace['id']}", server.folder / "store/traces" / trace["id"]
    args = {row[0]: row[1] for row in server.get(path + "/columns")["data"] if row[0].startswith("args.")}
    read, asked = by_format(folder, args), by_daemon(server, path, args)
    assert read.total() == trace["events"] and read == asked, (trace["name"], list((read - asked).items())[:3], list((asked - read).items())[:3])


def test_a_second_reader_sees_the_same_events(scene):
    root = scene.new("root")
    given = [SHARED / "traces" / name for name in ("edge", "two-hosts", "unet3d-v100", "unet3d-plain-dialect") if SHARED.is_dir()]
    server = scene.server([root, SHARED / "traces"] if given else [root])
    for name, how in {"hashed": {"ranks": 3, "hosts": 2}, "plain": {"dialect": "plain", "ranks": 2}}.items():
        generate(root / name, events=20000, output_files=2, seed=11, **how)
        same(server, root / name)
    for sources in given:
        same(server, sources)


def test_a_second_reader_sees_the_lists_of_records(scene):
    root = scene.new("root")
    server = scene.server([root])
    dasf_records.write(root / "many", 1000)
    same(server, root / "many")
    (root / "few").mkdir()
    tasks = [("a", []), ("b", ["a"]), ("c\u00e9 \"q\"", ["b", "a"]), ("d", ["a"]), ("e", ["c\u00e9 \"q\"", "gone"]), ("f", '["a"]'), ("g", "a")]
    (root / "few/x.msgpack").write_bytes(b"".join(compute(key, at + 1, 0.5, inputs=inputs) for at, (key, inputs) in enumerate(tasks)) + sample(2.25))
    same(server, root / "few")


def test_the_second_reader_notices_damage(scene):
    root = scene.new("root")
    server = scene.server([root])
    generate(root / "a", events=3000, output_files=1, seed=12)
    folder = server.folder / "store/traces" / server.ingest(root / "a")["id"]
    server.stop()  # it would set aside what is damaged
    for path in (next(folder.glob("*.segment")), next(folder.glob("*.tables")), folder / "manifest"):
        content = path.read_bytes()
        for at in (9, len(content) // 3, len(content) - 1):
            path.write_bytes(content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :])
            with contextlib.suppress(Damaged):
                list(Version(folder).events())
                raise AssertionError(f"{path.name}: byte {at} is another, and nobody noticed")
        path.write_bytes(content)
