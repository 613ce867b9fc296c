"""Live traces: what is written while they are followed is asked while it is written, and equals a fresh ingest of the same bytes."""
import gzip
import os
import pathlib
import random
import shutil
import time

from harness import event, generate, wait_until, write_trace

T0 = 1_700_000_000_000_000
SMALL = {"events": 6000, "ranks": 2, "epochs": 2, "files": 20, "faults": "all"}
ANSWERS = ("summary?preset=generic", "summary", "views/flat?by=process", "query?group_by=func_name&aggregate=n:count()&aggregate=t:sum(time)&aggregate=last:max(te)&order_by=func_name", "columns")


def lines_of(count, start=0, pid=1):
    return "".join(event("read", "POSIX", T0 + (start + i) * 1000, 400, pid, pid, ret=start + i) + "\n" for i in range(count)).encode()


def follow(server, path, **more):
    """registers a trace that is followed; gives its path in the API"""
    trace, _ = server.register(path, follow=True, **more)
    return f"/api/v1/traces/{trace['id']}"


def wait_events(server, path, events, timeout=300):
    wait_until(lambda: server.get(path)["events"] == events, timeout, f"{events} events (there are {server.get(path)['events']})")


def wait_settled(server, path, timeout=300):
    """until it is not live, and no job is left"""
    def settled():
        trace = server.get(path)
        return trace["live"] is None and trace["state"] == "ready"
    wait_until(settled, timeout, "the last step")


def step_ended(server, path):
    """the trace, once a version is published and the job that made it is over"""
    def ended():
        trace = server.get(path)
        return trace["live"]["slowest"] and trace["state"] == "ready" and trace["job"] is None
    wait_until(ended, what="the end of the step")
    return server.get(path)


def answers(server, path):
    """what a trace answers, without what names the version or the time of the ingest"""
    found = {}
    for question in ANSWERS:
        value = server.get(f"{path}/{question}")
        if isinstance(value, dict):
            for name in ("trace", "version", "preset"):
                value.pop(name, None)
        found[question] = value
    report = server.get(f"{path}/report")
    found["report"] = {name: report[name] for name in ("totals", "malformed", "repaired", "unresolved")}
    return found


def test_lines_are_read_as_they_are_written(scene):
    root = scene.new("root")
    server = scene.server([root])
    folder = root / "run"
    folder.mkdir()
    file = folder / "rank-0.pfw"
    file.write_bytes(b"[\n" + lines_of(10) + lines_of(1, 10)[:-20])
    path = follow(server, folder)
    wait_events(server, path, 10)
    trace = step_ended(server, path)
    assert trace["live"]["bytes_behind"] == len(lines_of(1, 10)) - 20, trace["live"]
    assert trace["live"]["slowest"] == "rank-0.pfw" and trace["live"]["complete_until"] == "2023-11-14T22:13:20.009000Z", trace["live"]
    assert trace["problems"] == 0, trace
    assert server.get(path + "/report")["files"][0]["bytes"] == len(b"[\n" + lines_of(10)), "complete up to"
    assert server.metric(f'strata_live_bytes_behind{{trace="{trace["id"]}"}}') == trace["live"]["bytes_behind"]
    assert server.metric(f'strata_live_failing{{trace="{trace["id"]}"}}') == 0
    with open(file, "ab") as out:
        out.write(lines_of(1, 10)[-20:] + lines_of(3, 11))
        out.flush()
        start = time.monotonic()
        wait_events(server, path, 14)
        print(f"        a line is asked for {time.monotonic() - start:.2f} s after it was written")
    (folder / "rank-1.pfw").write_bytes(lines_of(5, pid=2))
    wait_events(server, path, 19)
    wait_until(lambda: server.get(path)["live"]["bytes_behind"] == 0, what="the end of the step")
    assert server.get(path + "/report")["totals"]["malformed"] == 0
    version = server.get(path)["version"]
    time.sleep(2.5)
    assert server.get(path)["version"] == version, "a version without anything new"
    trace = server.call("PATCH", path, {"follow": False})
    wait_settled(server, path)
    assert server.get(path)["events"] == 19


class Writer:
    """writes the files of a trace as a job does, in slices of any size; what of each file is complete can be said at any time"""

    def __init__(self, source, target, rng):
        self.rng, self.target = rng, pathlib.Path(target)
        self.target.mkdir(parents=True)
        self.left = {}
        for file in sorted(pathlib.Path(source).rglob("*.pfw*")):
            data = file.read_bytes()
            self.left[file.relative_to(source)] = members(gzip.decompress(data), rng) if file.suffix == ".gz" else data
        self.offsets = dict.fromkeys(self.left, 0)

    def ended(self):
        return all(self.offsets[name] == len(data) for name, data in self.left.items())

    def slice(self, most):
        """writes on in one of the files"""
        name = self.rng.choice([n for n, data in self.left.items() if self.offsets[n] < len(data)])
        data, at = self.left[name], self.offsets[name]
        size = self.rng.randint(1, most)
        path = self.target / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(path, "ab") as out:
            out.write(data[at:at + size])
        self.offsets[name] = min(len(data), at + size)


def members(text, rng):
    """gzip data in members of whole lines"""
    lines, packed = text.splitlines(keepends=True), b""
    while lines:
        count = rng.randint(1, 300)
        packed += gzip.compress(b"".join(lines[:count]), 1)
        lines = lines[count:]
    return packed


def complete_prefixes(source, target, report):
    """copies what a report says that was read of each file"""
    for file in report["files"]:
        data = (source / file["path"]).read_bytes()[:file["bytes"]]
        (target / file["path"]).parent.mkdir(parents=True, exist_ok=True)
        (target / file["path"]).write_bytes(data)


def snapshot_of(server, path, tries=50):
    """(version, report, answers) of one version: asked again when another is published meanwhile"""
    for _ in range(tries):
        version = server.get(path)["version"]
        if version is None:
            return None
        report, found = server.get(path + "/report"), answers(server, path)
        if server.get(path)["version"] == version:
            return version, report, found
    raise AssertionError("a version never stayed long enough to be asked")


def difference(a, b):
    """where two values differ first"""
    if type(a) is type(b) and isinstance(a, dict) and a.keys() == b.keys():
        return next(f"{key}: {difference(a[key], b[key])}" for key in a if a[key] != b[key])
    if type(a) is type(b) and isinstance(a, list) and len(a) == len(b):
        return next(f"{i}: {difference(x, y)}" for i, (x, y) in enumerate(zip(a, b)) if x != y)
    return f"{str(a)[:500]}, not {str(b)[:500]}"


def check_equals_fresh(scene, other, root, folder, live):
    version, report, found = live
    prefix = root / f"prefix-{version}" / folder.name
    complete_prefixes(folder, prefix, report)
    fresh = other.ingest(prefix)
    wanted = answers(other, f"/api/v1/traces/{fresh['id']}")
    for question, value in wanted.items():
        assert found[question] == value, f"version {version}, {question}: {difference(found[question], value)}"
    other.call("DELETE", f"/api/v1/traces/{fresh['id']}")
    shutil.rmtree(prefix.parent)


def follow_random(scene, make, seed, versions, most):
    """writes a trace in slices while it is followed; every version that is asked equals a fresh ingest of the same bytes"""
    rng = random.Random(seed)
    root = scene.new("root")
    make(root / "source")
    folder = root / "run"
    writer = Writer(root / "source", folder, rng)
    server, other = scene.server([root]), scene.server([root])
    path = follow(server, folder)
    seen = set()
    deadline = time.monotonic() + 120
    while not writer.ended() and len(seen) < versions and time.monotonic() < deadline:
        for _ in range(rng.randint(1, 30)):
            if not writer.ended():
                writer.slice(most)
        time.sleep(rng.random() * 0.8)
        live = snapshot_of(server, path)
        if live is not None and live[0] not in seen:
            seen.add(live[0])
            check_equals_fresh(scene, other, root, folder, live)
    while not writer.ended():
        writer.slice(1 << 20)
    server.call("PATCH", path, {"follow": False})
    wait_settled(server, path)
    live = snapshot_of(server, path)
    for file in live[1]["files"]:
        assert file["bytes"] == (folder / file["path"]).stat().st_size and file["state"] == "complete", file
    check_equals_fresh(scene, other, root, folder, live)
    print(f"        {len(seen)} versions of {sum(map(len, writer.left.values()))} bytes, seed {seed}")
    assert len(seen) > 1


def test_plain_files_in_slices(scene):
    follow_random(scene, lambda to: generate(to, gzip="none", **SMALL), int(os.environ.get("LIVE_SEED", "1")), int(os.environ.get("LIVE_VERSIONS", "6")), 20_000)


def test_gzip_files_in_slices(scene):
    follow_random(scene, lambda to: generate(to, gzip="one", **SMALL), int(os.environ.get("LIVE_SEED", "2")), int(os.environ.get("LIVE_VERSIONS", "6")), 2_000)


def append(file, data):
    with open(file, "ab") as out:
        out.write(data)


def live_folder(scene, **settings):
    """(server, folder, its file, path): a live trace of 10 events"""
    root = scene.new("root")
    server = scene.server([root], settings)
    folder = root / "run"
    folder.mkdir()
    file = folder / "rank-0.pfw"
    file.write_bytes(lines_of(10))
    path = follow(server, folder)
    wait_events(server, path, 10)
    step_ended(server, path)
    return server, folder, file, path


def test_changes_are_found_by_looking(scene):
    server, folder, file, path = live_folder(scene, follow_changes="poll")
    assert server.get(path)["live"]["noticed_by"] == "polling"
    append(file, lines_of(5, 10))
    wait_events(server, path, 15)
    (folder / "below").mkdir()
    (folder / "below" / "rank-1.pfw").write_bytes(lines_of(5, pid=2))
    wait_events(server, path, 20)


def test_a_folder_that_is_still_empty_is_waited_for(scene):
    root = scene.new("root")
    server = scene.server([root])
    folder = root / "run"
    folder.mkdir()
    trace, job = server.register(folder, follow=True)
    assert server.wait(job)["state"] == "done"
    path = f"/api/v1/traces/{trace['id']}"
    assert server.get(path)["state"] == "ingesting" and server.get(path)["live"]["problem"] is None, server.get(path)
    (folder / "deep" / "er").mkdir(parents=True)
    (folder / "deep" / "er" / "rank-0.pfw").write_bytes(lines_of(7))
    wait_events(server, path, 7)


def test_a_file_that_is_truncated_or_replaced_is_read_again(scene):
    server, folder, file, path = live_folder(scene)
    append(folder / "other.pfw", lines_of(4, pid=3))
    wait_events(server, path, 14)
    file.write_bytes(lines_of(3, 100))
    wait_events(server, path, 7)
    wait_until(lambda: server.get(path)["live"]["rewritten"] == 1, what="the count of rewritten files")
    (folder / "new").write_bytes(lines_of(30, 200))
    os.replace(folder / "new", file)
    wait_events(server, path, 34)
    wait_until(lambda: server.get(path)["live"]["rewritten"] == 2, what="the count of rewritten files")
    assert "read again" in server.log()
    append(file, lines_of(1, 300))
    wait_events(server, path, 35)


def test_a_file_or_folder_that_vanishes_is_told(scene):
    server, folder, file, path = live_folder(scene)
    append(folder / "other.pfw", lines_of(4, pid=3))
    wait_events(server, path, 14)
    file.unlink()
    wait_events(server, path, 4)
    assert [f["state"] for f in server.get(path + "/report")["files"]] == ["complete", "vanished"]
    folder.rename(folder.with_name("elsewhere"))
    wait_until(lambda: server.get(path)["live"]["problem"], what="a problem")
    trace = server.get(path)
    assert str(folder) in trace["live"]["problem"] and trace["events"] == 4 and trace["state"] == "ready", trace
    folder.with_name("elsewhere").rename(folder)
    append(folder / "other.pfw", lines_of(1, 50, pid=3))
    wait_events(server, path, 5)
    wait_until(lambda: server.get(path)["live"]["problem"] is None, what="an end of the problem")


def test_following_goes_on_after_a_restart(scene):
    server, folder, file, path = live_folder(scene)
    since = server.get(path)["live"]["since"]
    assert server.stop() == 0
    append(file, lines_of(5, 10))
    server.start()
    wait_events(server, path, 15)
    assert server.get(path)["live"]["since"] == since
    append(file, lines_of(5, 15))
    wait_events(server, path, 20)
    server.call("DELETE", path)
    assert server.stop() == 0
    server.start()
    assert server.get("/api/v1/traces")["traces"] == []


def test_following_ends_when_nothing_grows(scene):
    server, folder, file, path = live_folder(scene, follow_quiet=2)
    append(file, lines_of(1, 10)[:-1])
    wait_settled(server, path)
    assert server.get(path)["events"] == 11, "the last line has no end, and is whole"
    server.call("PATCH", path, {"follow": True})
    append(file, b"\n" + lines_of(2, 11))
    wait_events(server, path, 13)
    assert server.get(path)["live"]


def test_a_trace_is_followed_and_not(scene):
    root = scene.new("root")
    server = scene.server([root])
    folder = write_trace(root / "run", lines_of(10).decode().splitlines())
    path = f"/api/v1/traces/{server.ingest(folder)['id']}"
    assert server.get(path)["live"] is None
    append(folder / "rank-0.pfw", lines_of(5, 10))
    assert server.call("PATCH", path, {"follow": True})["live"]
    wait_events(server, path, 15)
    assert server.register(folder, follow=True)[0]["live"]
    server.call("PATCH", path, {"follow": False})
    wait_settled(server, path)
    append(folder / "rank-0.pfw", lines_of(5, 15))
    time.sleep(1.5)
    assert server.get(path)["events"] == 15
    assert "follow" in server.problem(path, 400, "PATCH", {"follow": "yes"})["detail"]
    server.call("PATCH", path, {"follow": True, "name": "live"})
    wait_events(server, path, 20)
    server.call("DELETE", path)
    append(folder / "rank-0.pfw", lines_of(5, 20))
    time.sleep(1.5)
    assert server.get("/api/v1/traces")["traces"] == []


def read_bytes(server):
    """bytes that the daemon has read by system calls"""
    return int(next(line.split()[1] for line in pathlib.Path(f"/proc/{server.process.pid}/io").read_text().splitlines() if line.startswith("rchar")))


def test_new_bytes_alone_are_read(scene):
    root = scene.new("root")
    server = scene.server([root])
    folder = root / "run"
    folder.mkdir()
    file, lines = folder / "rank-0.pfw", lines_of(8000)
    file.write_bytes(lines * 48)
    path = follow(server, folder)
    wait_events(server, path, 8000 * 48, 120)
    wait_until(lambda: server.idle(30), what="rest")
    size, before, ingested = file.stat().st_size, read_bytes(server), server.metric("strata_ingest_bytes_total")
    append(file, lines)
    wait_events(server, path, 8000 * 49, 120)
    wait_until(lambda: server.idle(30), what="rest")
    assert server.metric("strata_ingest_bytes_total") - ingested == len(lines)
    read = read_bytes(server) - before
    print(f"        a file of {size >> 20} MiB that grew by {len(lines) / 2**20:.2f} MiB cost {read / 2**20:.2f} MiB of reading")
    assert read < len(lines) + (3 << 20) < size / 4


def test_many_small_writes_make_few_versions(scene):
    server, folder, file, path = live_folder(scene)
    first = int(server.get(path)["version"], 16) >> 20
    for i in range(300):
        append(file, lines_of(1, 10 + i))
        time.sleep(0.01)
    wait_events(server, path, 310)
    made = (int(server.get(path)["version"], 16) >> 20) - first
    assert 1 <= made <= 6, made
    jobs = server.get("/api/v1/jobs")["jobs"]
    assert sum(job["kind"] == "follow" for job in jobs) <= 2, jobs
