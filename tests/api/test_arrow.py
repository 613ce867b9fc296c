"""format=arrow: the Arrow IPC stream, read by the little that its specification says of FlatBuffers, has the values that JSON has."""
import json
import struct

from harness import event, small_trace, write_trace

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


def cells(kind, buffers, rows):
    if kind == NULL:
        return [None] * rows
    valid, values = next(buffers), next(buffers)
    texts = next(buffers) if kind == TEXT else b""
    if kind == TEXT:
        ends = struct.unpack_from(f"<{rows + 1}q", values)
        found = [texts[a:b].decode() for a, b in zip(ends, ends[1:])]
    else:
        found = [bool(bit(values, row)) for row in range(rows)] if kind == BOOL else struct.unpack_from(f"<{rows}{'q' if kind == INT else 'd'}", values)
    return [found[row] if bit(valid, row) else None for row in range(rows)]


def table_of(stream):
    """(columns, types, units, rows)"""
    (kind, schema, _), *batches = messages(stream)
    fields = schema.tables(1)
    names, types = [f.text(0) for f in fields], [f.number(2, "B") for f in fields]
    units = {f.text(0): f.tables(6)[0].text(1) for f in fields if f.place(6)}
    assert kind == 1 and schema.number(0, "h") == 0 and all(f.number(1, "B") == 1 and not f.vector(5, "I") for f in fields)
    assert all(f.table(3).number(0, "i") == 64 and f.table(3).number(1, "B") == 1 for f in fields if f.number(2, "B") == INT)
    rows = []
    for kind, batch, body in batches:
        assert kind == 3
        count, nodes = batch.number(0, "q"), batch.vector(1, "qq")
        buffers = iter([body[at : at + size] for at, size in batch.vector(2, "qq")])
        columns = [cells(t, buffers, count) for t in types]
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
