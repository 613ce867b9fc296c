"""format=arrow: the Arrow IPC stream, read by the little that its specification says of FlatBuffers, has the values that JSON has."""
import importlib.util
import json
import random
import struct

from harness import Skipped, event, small_trace, write_trace

NULL, INT, FLOAT, BOOL, TEXT = 1, 2, 3, 6, 20
CALLS = ("summary", "views/flat", "views/flat?semantics=compatible", "timeseries", "events", "columns", "overlap", "gaps", "calltree", "timeline/lanes", "findings", "stragglers",
         "query?group_by=cat&aggregate=n:count()&aggregate=m:median(dur)", "query?filter=pid==-5&columns=ts", "query?columns=func_name&columns=args.ret&columns=args.flag&derive=nothing:null")


class Flat:
    """a table of a FlatBuffer"""

    def __init__(self, data, at):
        self.data, self.at, self.vtable = data, at, at - struct.unpack_from("<i", data, at)[0]

    def place(self, field):
        size = struct.unpack_from("<H", self.data, self.vtable)[0]
        offset = struct.unpack_from("<H", self.data, self.vtable + 4 + 2 * field)[0] if 4 + 2 * field < size else 0
        return self.at + offset if offset else None

    def number(self, field, code):
        at = self.place(field)
        assert at is None or at % struct.calcsize(code) == 0, "aligned"
        return 0 if at is None else struct.unpack_from("<" + code, self.data, at)[0]

    def target(self, field):
        at = self.place(field)
        return at + struct.unpack_from("<I", self.data, at)[0]

    def table(self, field):
        return Flat(self.data, self.target(field))

    def vector(self, field, code):
        at = self.target(field)
        count, size = struct.unpack_from("<I", self.data, at)[0], struct.calcsize(code)
        return [struct.unpack_from("<" + code, self.data, at + 4 + size * i) for i in range(count)]

    def tables(self, field):
        at = self.target(field)
        return [Flat(self.data, at + 4 + 4 * i + offset) for i, (offset,) in enumerate(self.vector(field, "I"))]

    def text(self, field):
        at = self.target(field)
        return self.data[at + 4 : at + 4 + struct.unpack_from("<I", self.data, at)[0]].decode()


def messages(stream):
    """(header type, header, body) of each; the end is there, and nothing behind it"""
    at = 0
    while True:
        mark, size = struct.unpack_from("<II", stream, at)
        assert mark == 0xFFFFFFFF and at % 8 == 0 and size % 8 == 0
        if size == 0:
            assert at + 8 == len(stream), "something behind the end"
            return
        data = stream[at + 8 : at + 8 + size]
        message = Flat(data, struct.unpack_from("<I", data)[0])
        assert message.number(0, "h") == 4, "version"
        body = message.number(3, "q")
        yield message.number(1, "B"), message.table(2), stream[at + 8 + size : at + 8 + size + body]
        at += 8 + size + body


def bit(bits, row):
    return bits[row // 8] >> row % 8 & 1


def cells(kind, buffers, rows, texts):
    """of a text, its place among @texts"""
    if kind == NULL:
        return [None] * rows
    valid, values = next(buffers), next(buffers)
    valid = valid or b"\xff" * rows
    if kind == TEXT:
        found = [texts[index] if bit(valid, row) else None for row, index in enumerate(struct.unpack_from(f"<{rows}i", values))]
    else:
        found = [bool(bit(values, row)) for row in range(rows)] if kind == BOOL else struct.unpack_from(f"<{rows}{'q' if kind == INT else 'd'}", values)
    return [found[row] if bit(valid, row) else None for row in range(rows)]


def dictionary_of(batch, body):
    """(id, texts)"""
    record = batch.table(1)
    count, (valid, ends, texts) = record.number(0, "q"), [body[at : at + size] for at, size in record.vector(2, "qq")]
    assert not batch.number(2, "B") and not valid and record.vector(1, "qq") == [(count, 0)]
    ends = struct.unpack_from(f"<{count + 1}q", ends)
    return batch.number(0, "q"), [texts[a:b].decode() for a, b in zip(ends, ends[1:])]


def table_of(stream):
    """(columns, types, units, rows)"""
    (kind, schema, _), *batches = messages(stream)
    fields = schema.tables(1)
    names, types = [f.text(0) for f in fields], [f.number(2, "B") for f in fields]
    units = {f.text(0): f.tables(6)[0].text(1) for f in fields if f.place(6)}
    assert kind == 1 and schema.number(0, "h") == 0 and all(f.number(1, "B") == 1 and not f.vector(5, "I") for f in fields)
    assert all(f.table(3).number(0, "i") == 64 and f.table(3).number(1, "B") == 1 for f in fields if f.number(2, "B") == INT)
    for number, field in enumerate(fields):
        if field.number(2, "B") == TEXT:
            assert field.table(4).number(0, "q") == number and field.table(4).table(1).number(0, "i") == 32
    rows, texts = [], {}
    for kind, batch, body in batches:
        if kind == 2:
            texts.update([dictionary_of(batch, body)])
            continue
        assert kind == 3
        count, nodes = batch.number(0, "q"), batch.vector(1, "qq")
        buffers = iter([body[at : at + size] for at, size in batch.vector(2, "qq")])
        columns = [cells(t, buffers, count, texts.get(c)) for c, t in enumerate(types)]
        assert [(count, column.count(None)) for column in columns] == nodes and next(buffers, None) is None
        rows += map(list, zip(*columns)) if columns else []
    return names, types, units, rows


def plain(value):
    """lists are their JSON text; JSON and NDJSON have no infinity"""
    return None if isinstance(value, float) and (value != value or abs(value) == float("inf")) else value


def test_every_table_is_the_same_as_arrow(scene):
    root = scene.new("root")
    lines = small_trace()
    lines.insert(-1, event("read \u00e9\u4e2d", "POSIX", 1_700_000_003_000_000, 70_000, 1, 1, hhash=77, fhash=9, ret=2**62, flag=True, empty=""))
    server = scene.server([root])
    path = f"/api/v1/traces/{server.ingest(write_trace(root / 'a', lines))['id']}"
    seen = set()
    for call in CALLS:
        join, method, body = "&" if "?" in call else "?", "GET", None
        if call == "stragglers":
            method, body = "POST", {"by": "process", "measure": "busy", "of": "io_cat == 1"}
        status, head, stream = server.ask(f"{path}/{call}{join}format=arrow", method, body, {"Content-Type": "application/json"})
        assert status == 200 and head["Content-Type"] == "application/vnd.apache.arrow.stream", (call, status, stream)
        names, types, units, rows = table_of(stream)
        _, _, lines = server.ask(f"{path}/{call}{join}format=ndjson", method, body, {"Content-Type": "application/json"})
        expected = [json.loads(line, object_pairs_hook=list) for line in lines.splitlines()]
        assert len(rows) == len(expected), (call, len(rows), len(expected))
        for row, pairs in zip(rows, expected):
            got = [(name, plain(value)) for name, value in zip(names, row)]
            want = [(name, json.dumps(value) if isinstance(value, list) else value) for name, value in pairs]
            wrong = [(a, b) for a, b in zip(got, want) if a != b and not isinstance(dict(pairs)[a[0]], list)]
            assert not wrong, (call, wrong[:3])
        assert units.get("time", "s") == "s", units
        seen.update(types)
    assert seen >= {INT, FLOAT, TEXT}, seen


def test_many_pages_are_one_stream(scene):
    root = scene.new("root")
    server = scene.server([root], settings={"rows": 100})
    lines = [event(f"call {i % 7}", "POSIX", 1_700_000_000_000_000 + i, i % 3, 1, 1, ret=i) for i in range(70_000)]
    path = f"/api/v1/traces/{server.ingest(write_trace(root / 'a', lines))['id']}"
    _, _, stream = server.ask(f"{path}/events?format=arrow&columns=ts&columns=func_name&columns=args.ret&preset=generic")
    names, types, _, rows = table_of(stream)
    assert (names, types) == (["ts", "func_name", "args.ret"], [INT, TEXT, INT]) and rows == [[i, f"call {i % 7}", i] for i in range(70_000)]
    assert len(list(messages(stream))) > 2, "one batch for all of it"


def odd_trace(seed, events):
    """lines with values and gaps of all kinds, more texts than a dictionary holds among them"""
    chance = random.Random(seed)
    for i in range(events):
        args = {"ret": chance.randrange(-(2**62), 2**62), "part": chance.random(), "flag": chance.random() < 0.5, "text": chance.choice(["", "a", "\u00e9\u4e2d", "b" * 300]),
                "own": f"text {i if chance.random() < 0.8 else chance.randrange(50)}"}
        kept = {name: value for name, value in args.items() if chance.random() < chance.choice([0.1, 0.9])}
        yield event(f"call {chance.randrange(5)}", "POSIX", 1_700_000_000_000_000 + i * 3, chance.randrange(9), chance.randrange(3), 1, **kept)


ODD = "columns=ts&columns=func_name&columns=args.ret&columns=args.part&columns=args.flag&columns=args.text&columns=args.own&derive=x:where(dur%20%3E%204,func_name)"


def test_sizes_and_gaps_of_all_kinds(scene):
    root = scene.new("root")
    server = scene.server([root], settings={"rows": 30_000})
    for seed, events in enumerate((1, 2, 7, 8, 9, 255, 4096, 8191, 8192, 8193, 25_000)):
        trace = server.ingest(write_trace(root / f"odd {events}", ["[", *odd_trace(seed, events), "]"]))["id"]
        known = {c for c in ("args.ret", "args.part", "args.flag", "args.text", "args.own")} & {row[0] for row in server.get(f"/api/v1/traces/{trace}/columns?limit=1000")["data"]}
        asked = "&".join(part for part in ODD.split("&") if "args." not in part or part.removeprefix("columns=") in known)
        for limit in ("", f"&limit={max(1, events // 3)}", "&limit=0"):
            path = f"/api/v1/traces/{trace}/query?{asked}{limit}"
            _, _, stream = server.ask(f"{path}&format=arrow")
            names, _, _, rows = table_of(stream)
            _, _, wanted = server.ask(path + ("" if limit else "&limit=30000"))
            assert names == wanted["columns"] and rows == wanted["data"], (events, limit)
            assert server.ask(f"{path}&format=arrow")[2] == stream, "the same bytes"
        grouped = f"/api/v1/traces/{trace}/query?group_by=func_name&group_by=dur&aggregate=n:count()&aggregate=u:unique(pid)"
        rows = table_of(server.ask(f"{grouped}&format=arrow")[2])[3]
        wanted = server.get(f"{grouped}&limit=30000")["data"]
        assert [row[:3] for row in rows] == [row[:3] for row in wanted]


def readers():
    """(name, stream -> {column: values}) of those that are installed"""
    if importlib.util.find_spec("pyarrow"):
        import pyarrow.ipc

        yield "pyarrow", lambda stream: pyarrow.ipc.open_stream(stream).read_all().to_pydict()
    if importlib.util.find_spec("polars"):
        import polars

        yield "polars", lambda stream: polars.read_ipc_stream(stream).to_dict(as_series=False)


def test_pyarrow_and_polars_read_it(scene):
    found = dict(readers())
    if not found:
        raise Skipped("pyarrow", "neither pyarrow nor polars is installed")
    root = scene.new("root")
    server = scene.server([root], settings={"rows": 30_000})
    for events in (0, 3, 25_000):
        trace = server.ingest(write_trace(root / f"odd {events}", ["[", *odd_trace(5, max(events, 3)), "]"]))["id"]
        path = f"/api/v1/traces/{trace}/query?columns=ts&columns=func_name&columns=dur&columns=args.own" + ("&filter=ts%20%3C%200" if events == 0 else "")
        wanted = server.get(f"{path}&limit=30000")
        _, _, stream = server.ask(f"{path}&format=arrow")
        for name, read in found.items():
            got = read(stream)
            assert list(got) == wanted["columns"] and list(map(list, zip(*got.values()))) == wanted["data"], (name, events)
