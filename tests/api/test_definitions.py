"""Which name a hash stands for: that of the event's own file first, else the trace's first; and that a refresh knows the same as a fresh ingest."""
import json
import random

from harness import event

HASHES = [str(n) for n in range(12)] + ["a1b2"]
TEXTS = [f"/data/{n}" for n in range(6)]
QUESTIONS = ["report", "columns", "summary", "summary?preset=posix", "views/flat?by=file_name&preset=posix", "views/flat?by=host_name&preset=posix&semantics=compatible"]


def definition(kind, value, text):
    args = {"value": value} if text is None else {"name": text, "value": value}
    return json.dumps({"name": kind, "cat": "dftracer", "ph": "M", "pid": 1, "tid": 1, "args": args})


def random_lines(random, label):
    """lines of a file that defines hashes before, behind and in spite of the events that use them"""
    lines = []
    for i in range(random.randint(1, 25)):
        value = random.choice(HASHES)
        as_number = value.isdigit() and random.random() < .5
        if random.random() < .45:
            kind = random.choice(["FH", "FH", "HH"])
            text = None if random.random() < .05 else random.choice(TEXTS if kind == "FH" else ["n1", "n2", "n3"])
            lines.append(definition(kind, int(value) if as_number else value, text))
        else:
            more = {"extra": random.choice([1, 2.5, True, "x", [1]])} if random.random() < .3 else {}
            if random.random() < .5:
                more["hhash"] = random.choice(HASHES)
            lines.append(event(random.choice(["read", "open"]), "POSIX", 1_700_000_000_000_000 + random.randint(0, 50) * 10, 5, random.randint(1, 3), 1,
                               fhash=int(value) if as_number else value, label=label * 1000 + i, **more))
    return lines


def expected(files):
    """label -> (file, host), and the figures of the report"""
    parsed = {path: [json.loads(line) for line in lines] for path, lines in sorted(files.items())}
    own, first, texts = {}, {}, {}
    for path, lines in parsed.items():
        for o in lines:
            if o["ph"] == "M":
                key = (o["name"], str(o["args"]["value"]))
                text = o["args"].get("name")
                own.setdefault((path, *key), text)
                first.setdefault(key, text)
    for (path, *key), text in own.items():
        texts.setdefault(tuple(key), set()).add(text)
    conflicting = {key for key, said in texts.items() if len(said) > 1}
    names, ambiguous = {}, 0
    for path, lines in parsed.items():
        for o in lines:
            if o["ph"] != "X":
                continue
            keys = [(kind, str(o["args"][arg])) for kind, arg in (("FH", "fhash"), ("HH", "hhash")) if arg in o["args"]]
            found = {kind: own[path, kind, value] if (path, kind, value) in own else first.get((kind, value)) for kind, value in keys}
            names[o["args"]["label"]] = [found.get("FH"), found.get("HH")]
            ambiguous += any(key in conflicting and (path, *key) not in own for key in keys)
    return names, len(conflicting), ambiguous


def write(folder, files):
    for path, lines in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text("".join(line + "\n" for line in lines))


def names_of(server, trace):
    table = server.call("POST", f"/api/v1/traces/{trace['id']}/query", {"columns": ["args.label", "file_name", "host_name"]})
    return {row[0]: row[1:] for row in table["data"]}


def refresh(server, trace):
    job = server.call("POST", f"/api/v1/traces/{trace['id']}/refresh")
    server.wait(job["job"] if "job" in job else job)


def answers(server, trace):
    found = {q: server.get(f"/api/v1/traces/{trace['id']}/{q}") for q in QUESTIONS}
    rows = {"columns": ["func_name", "cat", "host_name", "file_name", "proc_name", "pid", "ts", "dur", "size", "args.label", "args.fhash", "args.hhash"]}
    found["rows"] = server.call("POST", f"/api/v1/traces/{trace['id']}/query", rows)
    overlap = {"sets": {"a": 'file_name == "/data/1"', "b": 'cat == "no such"'}, "scope": "process"}
    found["overlap"] = server.call("POST", f"/api/v1/traces/{trace['id']}/overlap", overlap)
    report = found["report"]
    report["files"] = [f for f in report["files"] if f["state"] != "vanished"]  # a fresh ingest never saw these
    del report["totals"]
    return {q: json.dumps(value) for q, value in found.items()}


def test_an_event_takes_its_own_files_definition(scene):
    root = scene.new("root")
    server = scene.server([root])
    ours = event("read", "POSIX", 1_700_000_000_000_000, 5, fhash=41, label=1)
    theirs = event("read", "POSIX", 1_700_000_000_000_001, 5, fhash="41", label=2)
    nobodys = event("read", "POSIX", 1_700_000_000_000_002, 5, fhash=41, label=3)
    write(root / "t", {"b.pfw": [theirs, definition("FH", "41", "/b"), definition("FH", 41, "/late")], "a.pfw": [definition("FH", 41, "/a"), ours], "c.pfw": [nobodys]})
    trace = server.ingest(root / "t")
    assert names_of(server, trace) == {1: ["/a", None], 2: ["/b", None], 3: ["/a", None]}
    report = server.get(f"/api/v1/traces/{trace['id']}/report")
    assert (report["conflicting_hashes"], report["ambiguous_events"]) == (1, 1)
    assert report["conflicts"] == [{"of": "file", "hash": "41", "definitions": [{"text": "/a", "file": "a.pfw"}, {"text": "/b", "file": "b.pfw"}]}]
    assert report["unresolved"] == {"file_hashes": 0, "host_hashes": 0}
    values = server.call("POST", f"/api/v1/traces/{trace['id']}/query", {"group_by": ["args.fhash"], "aggregate": {"n": "count()"}})
    assert values["data"] == [[41, 3]], values


def test_names_follow_the_rule_for_any_files(scene):
    root = scene.new("root")
    server = scene.server([root])
    for seed in range(12):
        dice = random.Random(seed)
        files = {f"{dice.choice('abc')}/{i}.pfw": random_lines(dice, i) for i in range(dice.randint(1, 6))}
        write(root / str(seed), files)
        names, conflicting, ambiguous = expected(files)
        if not names:
            continue
        trace = server.ingest(root / str(seed))
        assert names_of(server, trace) == names, seed
        report = server.get(f"/api/v1/traces/{trace['id']}/report")
        assert (report["conflicting_hashes"], report["ambiguous_events"]) == (conflicting, ambiguous), seed
        assert len(report["conflicts"]) == conflicting and all(len(c["definitions"]) > 1 for c in report["conflicts"]), seed


def test_the_order_of_files_matters_for_ambiguous_events_alone(scene):
    root = scene.new("root")
    server = scene.server([root])
    for seed in range(100, 106):
        dice = random.Random(seed)
        files = [random_lines(dice, i) for i in range(4)]
        orders = [list(range(4)), dice.sample(range(4), 4)]
        names, sure = [], []
        for n, order in enumerate(orders):
            named = {f"{place}.pfw": files[i] for place, i in enumerate(order)}
            write(root / f"{seed}-{n}", named)
            trace = server.ingest(root / f"{seed}-{n}")
            names.append(names_of(server, trace))
        own = {(i, json.loads(line)["name"], str(json.loads(line)["args"]["value"])) for i, lines in enumerate(files) for line in lines if '"M"' in line}
        texts = {}
        for i, lines in enumerate(files):
            for line in lines:
                o = json.loads(line)
                if o["ph"] == "M":
                    texts.setdefault((o["name"], str(o["args"]["value"])), {}).setdefault(i, o["args"].get("name"))
        for i, lines in enumerate(files):
            for o in map(json.loads, lines):
                if o["ph"] == "X":
                    keys = [(kind, str(o["args"][arg])) for kind, arg in (("FH", "fhash"), ("HH", "hhash")) if arg in o["args"]]
                    if all((i, *key) in own or len(set(texts.get(key, {}).values())) < 2 for key in keys):
                        sure.append(o["args"]["label"])
        assert sure and all(names[0][label] == names[1][label] for label in sure), seed


def test_a_refresh_knows_what_a_fresh_ingest_knows(scene):
    root = scene.new("root")
    server, other = scene.server([root]), scene.server([root])
    for seed in range(200, 206):
        dice = random.Random(seed)
        folder = root / str(seed)
        files = {f"{i}.pfw": random_lines(dice, i) for i in range(4)}
        files["0.pfw"].append(event("read", "POSIX", 1_700_000_000_000_000, 5, label=-1))
        write(folder, files)
        trace = server.ingest(folder)
        labels = iter(range(10, 1000))
        for step in range(4):
            for path in dice.sample(sorted(set(files) - {"0.pfw"}), min(2, len(files) - 1)):
                change = dice.choice(["remove", "rewrite", "append", "add"])
                label = next(labels)
                if change == "remove":
                    (folder / path).unlink()
                    del files[path]
                elif change == "rewrite":
                    files[path] = random_lines(dice, label)
                elif change == "append":
                    files[path] = files[path] + random_lines(dice, label)
                else:
                    files[f"new-{label}.pfw"] = random_lines(dice, label)
            write(folder, files)
            refresh(server, trace)
            assert names_of(server, trace) == expected(files)[0], (seed, step)
            again = other.ingest(folder)
            fresh = answers(other, again)
            for question, value in answers(server, trace).items():
                assert value == fresh[question], (seed, step, question)
            other.call("DELETE", f"/api/v1/traces/{again['id']}")
