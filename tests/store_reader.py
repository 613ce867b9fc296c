"""Reads the events of a trace from its folder in a store, by server/store/FORMAT.md alone: a second reader, slow and simple, that shares nothing with the daemon.

    Version(folder).events() -> a dict per event, those that it lacks are absent or None: ts, dur (in ticks since 1970, of which a microsecond has
    `ticks`), name, cat, file, host, pid, tid, source (a path), and its args as "args.KEY"

Raises Damaged where a checksum, a count or a bound does not hold. Needs the libraries xxhash and zstd, which the daemon needs too.
"""
import ctypes
import json
import pathlib
import struct

FORMATS, KINDS = (1, 2), {1: "int", 2: "float", 3: "bool", 4: "code", 5: "mixed"}
FEATURES, LISTS = {3: (0, 1)}, 1 << 4  # TABLES may have keys that hold lists, which a bit of their kinds says
FIXED = ("ts", "dur", "name", "cat", "file", "thread", "chunk")
OF_FILES, OF_HOSTS = {"s": "args.fhash", "n": "args.fname", "f": "args.filename"}, {"s": "args.hhash", "n": "args.hostname"}
UNKNOWN = None, None, None  # a reference that is none
STATES, COUNTS = 5, 13  # of a source
xxhash, zstd = ctypes.CDLL("libxxhash.so.0"), ctypes.CDLL("libzstd.so.1")
xxhash.XXH3_64bits.restype, xxhash.XXH3_64bits.argtypes = ctypes.c_uint64, [ctypes.c_char_p, ctypes.c_size_t]
zstd.ZSTD_decompress.restype, zstd.ZSTD_decompress.argtypes = ctypes.c_size_t, [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]


class Damaged(Exception):
    pass


def must(holds, what):
    if not holds:
        raise Damaged(what)


def xxh3(data):
    return xxhash.XXH3_64bits(bytes(data), len(data))


def unzstd(data, size):
    out = ctypes.create_string_buffer(size)
    must(zstd.ZSTD_decompress(out, size, bytes(data), len(data)) == size, "zstd")
    return out.raw


def wrap(value):
    return (value + (1 << 63)) % (1 << 64) - (1 << 63)


class Content:
    """what envelopes and tables are written from"""

    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, size):
        must(self.at + size <= len(self.data), "too short")
        self.at += size
        return self.data[self.at - size : self.at]

    def number(self, size):
        return int.from_bytes(self.take(size), "little")

    def varint(self):
        value = shift = 0
        while True:
            byte = self.number(1)
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def signed(self):
        value = self.varint()
        return value >> 1 ^ -(value & 1)

    def block(self):
        return self.take(self.varint())

    def optional(self):
        return self.block() if self.number(1) else None

    def many(self, read):
        return [read() for _ in range(self.varint())]


def envelope(path, kind):
    data = path.read_bytes()
    magic, version, features, its_kind, packed, size, stored, checksum, head = struct.unpack_from("<8sIIIIQQQQ", data)
    must((magic, its_kind) == (b"STRATENV", kind) and features in FEATURES.get(kind, (0,)) and version in FORMATS, f"{path.name}: head")
    must(head == xxh3(data[:48]) and stored == len(data) - 56 and checksum == xxh3(data[56:]), f"{path.name}: checksum")
    return Content(unzstd(data[56:], size) if packed else data[56:])


def packed_words(content, count, patched):
    frames = [min(512, count - at) for at in range(0, count, 512)]
    heads = [(content.number(1), content.varint(), content.varint() if patched else 0) for _ in frames]
    words = []
    for frame, (width, least, exceptions) in zip(frames, heads):
        lanes = [0] * 8
        for n in range(-(-(-(-frame // 8) * width) // 64)):
            for lane in range(8):
                lanes[lane] |= content.number(8) << 64 * n
        differences = [lanes[i % 8] >> i // 8 * width & (1 << width) - 1 for i in range(frame)]
        for _ in range(exceptions):
            place = content.number(2)
            differences[place] |= content.varint() << width
        words += [difference + least for difference in differences]
    return words


def split_words(data, count, width):
    return [int.from_bytes(bytes(data[b * count + i] for b in range(width)), "little") for i in range(count)]


def stream(content, count, names=None, threads=None):
    """(values, the places of the values in the stream's dictionary, or None)"""
    transform, layout, width, shift, base = content.number(1), content.number(1), content.number(1), content.number(1), content.number(8)
    first = wrap(content.number(8)) if transform == 2 else 0
    table, value = [], 0
    for _ in range(content.varint() if transform in (3, 4, 5) else 0):
        value = wrap(value + content.signed())
        table.append(value)
    if transform == 0:
        return [wrap(base)] * count, [0] * count
    if transform == 4:
        return [table[key] for key in names], None
    if layout in (0, 3):
        words = packed_words(content, count, layout == 3)
    else:
        split = content.take(count * width) if layout == 1 else unzstd(content.block(), count * width)
        words = split_words(split, count, width)
    terms = [wrap((word << shift) + base) for word in words]
    if transform == 1:
        return terms, None
    if transform == 3:
        return [table[term] for term in terms], terms
    values, last = [], {} if transform == 2 else dict(enumerate(table))
    for i, term in enumerate(terms):
        key = 0 if transform == 2 else threads[i]
        last[key] = first if transform == 2 and i == 0 else wrap(last[key] + term)
        values.append(last[key])
    return values, None


def present_rows(content, rows, missing, names):
    """the rows that have a value"""
    how = content.number(1)
    if how == 0:
        return list(range(rows))
    if how == 1:
        bits = int.from_bytes(content.take(-(-(max(names) + 1) // 8)), "little")
        return [i for i in range(rows) if bits >> names[i] & 1]
    size = -(-rows // 8)
    if how == 2:
        bits = int.from_bytes(bytes(b & 255 for b in stream(content, size)[0]), "little")
        return [i for i in range(rows) if bits >> i & 1]
    must(how == 3, "presence")
    return stream(content, rows - missing)[0]


def decode(content, entry, rows, dictionary, names, threads):
    """(a value a row, None where there is none; the row's keys, if other columns can build on them)"""
    has = present_rows(content, rows, entry["missing"], names)
    must(len(has) == rows - entry["missing"], "rows without a value")
    kind = KINDS[entry["kind"]]
    kinds = [("int", "float", "bool", "code")[k] for k in stream(content, len(has))[0]] if kind == "mixed" else [kind] * len(has)
    own_names, own_threads = ([keys[row] for row in has] if keys else None for keys in (names, threads))
    raw, places = stream(content, len(has), own_names, own_threads)
    must(content.at == len(content.data), "payload too long")
    if kind in ("int", "bool", "code"):
        must(all(entry["least"] <= v <= entry["most"] for v in raw) or not entry["flags"] & 1, "bounds")
    values = [None] * rows
    for row, its_kind, v in zip(has, kinds, raw):
        values[row] = {"int": v, "bool": bool(v), "float": struct.unpack("<d", struct.pack("<q", v))[0], "code": dictionary[v] if its_kind == "code" and dictionary else v}[its_kind]
    keys = None
    if places is not None:
        keys = [max(places, default=-1) + 1] * rows  # rows without a value share the key behind the last
        for row, place in zip(has, places):
            keys[row] = place
    return values, keys


class Segment:
    def __init__(self, path, size, rows, checksum):
        self.data = data = path.read_bytes()
        head = struct.unpack_from("<8sIIQQQQIIIIIIQQ", data)
        (magic, version, features, its_size, at, length, self.rows, blocks, entries, listed, chunks, used, self.ticks, directory, its_checksum) = head
        must((magic, its_size, self.rows) == (b"STRATSEG", size, rows) and features in (0, 1) and version in FORMATS and len(data) == size, f"{path.name}: head")
        must(its_checksum == checksum == xxh3(data[:80]) and directory == xxh3(data[at : at + length]), f"{path.name}: checksum")
        self.blocks = [struct.unpack_from("<IIIIqqq", data, at + 40 * i) for i in range(blocks)]
        at += 40 * blocks
        names = ("column", "kind", "flags", "listed", "offset", "size", "checksum", "missing", "first_listed", "least", "most")
        self.entries = [dict(zip(names, struct.unpack_from("<IBBHQIIIIqq", data, at + 48 * i))) for i in range(entries)]
        at += 48 * entries
        self.chunks = [struct.unpack_from("<IIQ", data, at + 16 * i)[0] for i in range(chunks)]
        must(at + 16 * chunks + 4 * listed + used == len(data), f"{path.name}: directory")

    def columns(self, block, dictionaries):
        """{column: a value a row} of a block"""
        rows, first, count = block[:3]
        found, keys = {}, {}
        entries = sorted(self.entries[first : first + count], key=lambda e: (e["column"] not in (2, 5), e["column"]))
        for entry in entries:
            payload = self.data[entry["offset"] : entry["offset"] + entry["size"]]
            must(xxh3(payload) & 0xFFFFFFFF == entry["checksum"], "payload")
            values, own = decode(Content(payload), entry, rows, dictionaries.get(entry["column"]), keys.get(2), keys.get(5))
            found[entry["column"]], keys[entry["column"]] = values, own
        return found


class Version:
    """what the manifest of a trace's folder names"""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        manifest = envelope(self.folder / "manifest", 2)
        self.version, self.published, tables, sources, _ = (manifest.number(size) for size in (8, 8, 4, 4, 4))
        segments = manifest.many(lambda: [manifest.number(size) for size in (4, 8, 8, 8)])
        self.counters = manifest.many(lambda: manifest.number(4))
        must(manifest.at == len(manifest.data), "manifest")
        self.segments = [Segment(self.path(number, "segment"), *rest) for number, *rest in segments]
        self.read_tables(envelope(self.path(tables, "tables"), 3))
        self.read_sources(envelope(self.path(sources, "sources"), 4))

    def path(self, number, name):
        return self.folder / f"{number:08x}.{name}"

    def read_tables(self, content):
        sections = []
        while content.at < len(content.data):
            sections.append(Content(content.take(content.number(8))))
        names, categories, files, hosts, keys, of_files, of_hosts, threads, paths = sections
        self.paths = paths.many(paths.block)
        of_files, of_hosts = ([(c.block(), c.optional(), c.block(), c.varint()) for _ in range(c.varint())] for c in (of_files, of_hosts))
        self.dictionaries = {2: names.many(names.block), 3: categories.many(categories.block)}
        self.dictionaries[4] = [self.resolve(reference, of_files) for reference in files.many(files.block)]
        self.keys = []
        for code in range(keys.varint()):
            self.keys.append((keys.block(), kinds := keys.varint()))
            self.dictionaries[7 + code] = self.lists(keys) if kinds & LISTS else keys.many(keys.block)
        hosts = [self.resolve(reference, of_hosts) for reference in hosts.many(hosts.block)]
        self.threads = threads.many(lambda: (self.number(threads), self.number(threads), (hosts + [UNKNOWN])[min(threads.number(4), len(hosts))]))

    def number(self, threads):
        """of a process or thread"""
        value = threads.signed()
        return None if value == -(1 << 63) else value

    def lists(self, keys):
        """values that are texts, or lists of values of another key, which stand for the text that they are as compact JSON"""
        members, content = self.dictionaries[7 + keys.varint()], Content(keys.take(keys.number(8)))
        values, member = [], 0
        for _ in range(content.varint()):
            head = content.varint()
            if head % 2 == 0:
                values.append(content.take(head // 2))
                continue
            texts = [members[member := member + content.signed()].decode() for _ in range(head // 2)]
            values.append(json.dumps(texts, ensure_ascii=False, separators=(",", ":")).encode())
        must(content.at == len(content.data), "lists")
        return values

    def resolve(self, reference, definitions):
        """(text, how the reference was made, what the event said): by its own source's definition, else by the first of the trace"""
        how, rest = reference[:1].decode(), reference[1:]
        if how != "s":
            return rest, how, rest
        of_hash = sorted((path != self.paths[int.from_bytes(rest[-4:], "little")], path, line, text) for its_hash, text, path, line in definitions if its_hash == rest[:-4])
        return of_hash[0][3] if of_hash else None, how, rest[:-4]

    def read_sources(self, content):
        """{id: path}"""
        self.sources = {}
        for _ in range(content.varint()):
            number, path = content.number(4), content.optional()
            must(content.varint() < STATES, "state")
            content.optional(), content.varint(), content.signed(), content.number(8), content.varint(), content.number(8)
            [content.varint() for _ in range(COUNTS)]
            for _ in range(2):
                content.many(lambda: (content.varint(), content.varint(), content.optional(), content.optional()))
            self.sources[number] = path
        must(content.at == len(content.data), "sources")

    def events(self):
        for segment in self.segments:
            for block in segment.blocks:
                columns = segment.columns(block, self.dictionaries)
                for row in range(block[0]):
                    event = {self.name(column): values[row] for column, values in columns.items() if values[row] is not None}
                    event["pid"], event["tid"], host = self.threads[event.pop("thread")]
                    for name, (found, how, said), made_of in (("host", host, OF_HOSTS), ("file", event.get("file", UNKNOWN), OF_FILES)):
                        event[name], event[made_of.get(how)] = found, said
                    event["ticks"], event["source"] = segment.ticks, self.sources[segment.chunks[event.pop("chunk")]]
                    yield event

    def name(self, column):
        return FIXED[column] if column < 7 else "args." + self.keys[column - 7][0].decode()
