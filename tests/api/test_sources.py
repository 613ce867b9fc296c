"""A trace's files: what may be read of them, what becomes of those that change, vanish or cannot be looked at."""
import ctypes
import gzip
import os
import shutil
import subprocess
import sys
import threading
import time

from harness import SMALL_EVENTS, event, small_trace, wait_until, write_trace

SECRET = "the secret of another user"


def refresh(server, trace, state="done"):
    """refreshes a trace; gives its description"""
    path = f"/api/v1/traces/{trace['id']}"
    ended = server.wait(server.call("POST", path + "/refresh")["job"])
    assert ended["state"] == state, ended
    return server.get(path)


def report(server, trace):
    value = server.get(f"/api/v1/traces/{trace['id']}/report")
    for counts in [value["totals"], *value["files"]]:
        assert counts["lines"] == sum(counts[n] for n in ("events", "metadata", "counters", "other", "framing", "blank", "malformed")), counts
    assert value["totals"]["lines"] == sum(f["lines"] for f in value["files"])
    return value


def states(server, trace):
    return {f["path"]: f["state"] for f in report(server, trace)["files"]}


def secrets(scene):
    """a folder outside the roots: a trace, and a file whose lines are malformed"""
    outside = write_trace(scene.new("outside"), [event("secret", "POSIX", 1_700_000_000_000_000, 5)])
    (outside / "secret.pfw").write_text(SECRET + "\n" + SECRET + "\n")
    return outside


# ---- roots


def test_a_file_swapped_for_a_link_that_leads_outside_is_not_read(scene):
    root, outside = scene.new("root"), secrets(scene)
    server = scene.server([root])
    write_trace(root / "a", [event("read", "POSIX", 1_700_000_000_000_000, 5, pid=9)], name="rank-1.pfw")
    trace = server.ingest(write_trace(root / "a"))
    os.unlink(root / "a/rank-1.pfw")
    (root / "a/rank-1.pfw").symlink_to(outside / "secret.pfw")
    after = refresh(server, trace)
    told = report(server, trace)
    assert SECRET not in str(told) and after["events"] == SMALL_EVENTS, after
    assert {f["path"]: f["state"] for f in told["files"]} == {"rank-0.pfw": "complete", "rank-1.pfw": "rejected"}
    assert after["problems"] == 1 and str(outside) not in str(told)


def test_a_single_file_swapped_for_a_link_is_not_read(scene):
    root, outside = scene.new("root"), secrets(scene)
    server = scene.server([root])
    write_trace(root / "a")
    trace = server.ingest(root / "a/rank-0.pfw")
    os.unlink(root / "a/rank-0.pfw")
    (root / "a/rank-0.pfw").symlink_to(outside / "secret.pfw")
    after = refresh(server, trace, "failed")
    assert SECRET not in str(report(server, trace)) and after["events"] == SMALL_EVENTS
    assert "roots" in after["failure"], after["failure"]


def test_a_folder_swapped_for_a_link_is_neither_listed_nor_resumed(scene):
    root, outside = scene.new("root"), secrets(scene)
    server = scene.server([root])
    trace = server.ingest(write_trace(root / "a"))
    other = server.ingest(write_trace(root / "b/below").parent)
    shutil.rmtree(root / "a")
    (root / "a").symlink_to(outside)
    after = refresh(server, trace, "failed")
    assert after["events"] == SMALL_EVENTS and SECRET not in str(report(server, trace))
    (root / "b/more").symlink_to(outside)
    after = refresh(server, other)
    assert after["events"] == SMALL_EVENTS and after["files"] == 1
    server.problem(f"/api/v1/browse?path={root}/a", 403)
    assert "more" not in [e["name"] for e in server.get(f"/api/v1/browse?path={root}/b")["entries"]]


def test_an_interrupted_ingest_is_not_resumed_outside(scene):
    root, outside = scene.new("root"), secrets(scene)
    server = scene.server([root])
    (root / "a").mkdir()
    os.mkfifo(root / "a/fifo")
    with gzip.open(root / "a/large.pfw.gz", "wb", compresslevel=1) as out:
        out.write(b"\n" * 300_000_000)
    trace, job = server.register(root / "a")
    wait_until(lambda: server.get(f"/api/v1/jobs/{job['id']}")["state"] == "running", what="the ingest")
    server.kill()
    shutil.rmtree(root / "a")
    (root / "a").symlink_to(outside)
    server.start()
    wait_until(lambda: server.get(f"/api/v1/traces/{trace['id']}")["state"] == "failed", what="the refusal to resume")
    server.problem(f"/api/v1/traces/{trace['id']}/report", 404)


def test_roots_that_were_narrowed_since_count(scene):
    root = scene.new("root")
    server = scene.server([root])
    trace = server.ingest(write_trace(root / "a"))
    write_trace(root / "a", [event("read", "POSIX", 1_700_000_000_000_000, 5, pid=9)], name="rank-1.pfw")
    server.stop()
    (root / "b").mkdir()
    server.roots = [root / "b"]
    server.start()
    after = refresh(server, trace, "failed")
    assert after["events"] == SMALL_EVENTS and "roots" in after["failure"]


def test_links_between_roots_work_at_ingest_and_refresh(scene):
    one, two = scene.new("root"), scene.new("root")
    server = scene.server([one, two])
    write_trace(two / "folder", [event("read", "POSIX", 1_700_000_000_000_000, 5, pid=9)], name="x.pfw")
    write_trace(two, [event("read", "POSIX", 1_700_000_000_000_000, 5, pid=8)], name="y.pfw")
    write_trace(one / "a")
    (one / "a/folder").symlink_to(two / "folder")
    (one / "a/y.pfw").symlink_to(os.path.relpath(two / "y.pfw", one / "a"))
    (one / "loop").symlink_to("loop")
    trace = server.ingest(one / "a")
    assert trace["events"] == SMALL_EVENTS + 2 and trace["files"] == 3
    with open(two / "folder/x.pfw", "a") as out:
        out.write(event("read", "POSIX", 1_700_000_000_000_000, 5, pid=9) + "\n")
    wait_until(lambda: server.get(f"/api/v1/traces/{trace['id']}")["state"] == "stale", what="stale")
    assert refresh(server, trace)["events"] == SMALL_EVENTS + 3


def test_swapping_while_it_is_read_never_shows_what_is_outside(scene):
    """a folder and a link that leads outside change places as fast as they can"""
    root, outside = scene.new("root"), secrets(scene)
    server = scene.server([root])
    write_trace(root / "a/place")
    write_trace(root / "a", [event("read", "POSIX", 1_700_000_000_000_000, 5, pid=9)])
    (root / "link").symlink_to(outside)
    stop = threading.Event()

    def swap():
        place, link, kept = root / "a/place", root / "link", root / "kept"
        while not stop.is_set():
            os.rename(place, kept)
            os.rename(link, place)
            os.rename(place, link)
            os.rename(kept, place)

    swapper = threading.Thread(target=swap)
    swapper.start()
    try:
        trace, job = server.register(root / "a")
        server.wait(job)
        for _ in range(30):
            job = server.call("POST", f"/api/v1/traces/{trace['id']}/refresh")["job"]
            server.wait(job)
            status, _, value = server.ask(f"/api/v1/traces/{trace['id']}/report")
            assert SECRET not in str(value)
            assert status in (200, 404) and (status == 404 or value["totals"]["events"] in (1, 1 + SMALL_EVENTS)), value
    finally:
        stop.set()
        swapper.join()
    assert refresh(server, trace)["events"] == 1 + SMALL_EVENTS


def test_a_root_whose_folder_was_made_anew_goes_on(scene):
    root = scene.new("root")
    server = scene.server([root])
    trace = server.ingest(write_trace(root / "a"))
    shutil.rmtree(root)
    write_trace(root / "a", small_trace()[:-1] + [event("read", "POSIX", 1_700_000_000_000_000, 5, pid=9)])
    assert refresh(server, trace)["events"] == SMALL_EVENTS + 1


# ---- files that change, vanish, or cannot be looked at


def test_a_vanished_file_is_reported(scene):
    root = scene.new("root")
    server = scene.server([root])
    write_trace(root / "a", [event("read", "POSIX", 1_700_000_000_000_000, 5, pid=9)], name="rank-1.pfw")
    trace = server.ingest(write_trace(root / "a"))
    assert trace["problems"] == 0 and trace["files"] == 2
    kept = (root / "a/rank-1.pfw").read_bytes()
    os.unlink(root / "a/rank-1.pfw")
    after = refresh(server, trace)
    assert (after["events"], after["problems"], after["files"], after["state"]) == (SMALL_EVENTS, 1, 1, "ready"), after
    told = {f["path"]: f for f in report(server, trace)["files"]}
    assert told["rank-1.pfw"]["state"] == "vanished" and "1 events" in told["rank-1.pfw"]["reason"], told
    assert report(server, trace)["totals"]["files"] == 1
    again = refresh(server, trace)
    assert again["version"] == after["version"] and states(server, trace)["rank-1.pfw"] == "vanished"
    (root / "a/rank-1.pfw").write_bytes(kept)
    wait_until(lambda: server.get(f"/api/v1/traces/{trace['id']}")["state"] == "stale", what="stale")
    back = refresh(server, trace)
    assert (back["events"], back["problems"], back["files"]) == (SMALL_EVENTS + 1, 0, 2)


def test_when_nothing_is_left_the_events_stay(scene):
    root = scene.new("root")
    server = scene.server([root])
    trace = server.ingest(write_trace(root / "a"))
    os.unlink(root / "a/rank-0.pfw")
    after = refresh(server, trace, "failed")
    assert after["events"] == SMALL_EVENTS and "pfw" in after["failure"]


def as_nobody(scene, root):
    """a daemon that may not read everything: root reads what it likes"""
    os.chmod(scene.folder, 0o755)
    for path in [*root.rglob("*"), root]:
        os.chown(path, 65534, 65534, follow_symlinks=False)
    server = scene.server([root], start=False)
    os.chown(server.folder, 65534, 65534)
    plain = server.command
    server.command = lambda: ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--", *plain()]
    server.start()
    return server


def test_what_cannot_be_looked_at_never_vanishes(scene):
    if os.getuid() != 0:
        return  # another user is needed
    root = scene.new("root")
    write_trace(root / "a/below", [event("read", "POSIX", 1_700_000_000_000_000, 5, pid=9)])
    write_trace(root / "a/closed", [event("read", "POSIX", 1_700_000_000_000_000, 5, pid=9)])
    write_trace(root / "a")
    (root / "a/closed").chmod(0)
    server = as_nobody(scene, root)
    (root / "a/closed").chmod(0)
    trace = server.ingest(root / "a")
    assert (trace["events"], trace["problems"]) == (SMALL_EVENTS + 1, 1)
    told = {f["path"]: f for f in report(server, trace)["files"]}
    assert told["closed"]["state"] == "rejected" and "Permission denied" in told["closed"]["reason"], told
    for victim in [root / "a/below", root / "a/below/rank-0.pfw"]:
        mode = victim.stat().st_mode
        os.utime(root / "a/below/rank-0.pfw")
        victim.chmod(0)
        after = refresh(server, trace, "failed")
        assert after["events"] == SMALL_EVENTS + 1 and "Permission denied" in after["failure"], after
        assert states(server, trace)["below/rank-0.pfw"] == "complete"
        victim.chmod(mode)
        assert refresh(server, trace)["events"] == SMALL_EVENTS + 1
    (root / "a/closed").chmod(0o755)
    wait_until(lambda: server.get(f"/api/v1/traces/{trace['id']}")["state"] == "stale", what="stale")
    after = refresh(server, trace)
    assert (after["events"], after["problems"], after["state"]) == (SMALL_EVENTS + 2, 0, "ready")


# Writes two texts into a file in turns until its input ends; of its own process, so that it never waits for the test.
REWRITE = """import os, select, sys
file, *texts = sys.argv[1:]
texts, out, turn = [open(text, "rb").read() for text in texts], os.open(file, os.O_WRONLY), 0
while not select.select([0], [], [], 0)[0]:
    turn += 1
    os.pwrite(out, texts[turn % 2], 0)
    if turn == 1:
        os.write(1, b".")
"""


def test_a_file_that_is_rewritten_again_and_again_is_stale(scene):
    """and never old and new events together as if they were all of it"""
    root = scene.new("root")
    server = scene.server([root])
    folder = root / "a"
    folder.mkdir()
    line = '{"id":%d,"name":"%s","cat":"POSIX","pid":1,"tid":1,"ts":%d,"dur":5,"ph":"X"}\n'
    texts = ["".join(line % (i, name, 1_700_000_000_000_000 + i) for i in range(300000)).encode() for name in ("old", "new")]
    assert len(texts[0]) == len(texts[1])
    (folder / "rank-0.pfw").write_bytes(texts[0])
    for turn, text in enumerate(texts):
        (root / str(turn)).write_bytes(text)
    writer = subprocess.Popen([sys.executable, "-c", REWRITE, folder / "rank-0.pfw", root / "0", root / "1"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    writer.stdout.read(1)  # it writes by now
    try:
        trace = server.ingest(folder)
        assert trace["state"] == "stale" and trace["problems"] >= 1, trace
        assert states(server, trace) == {"rank-0.pfw": "stale"}
    finally:
        writer.communicate()
    after = refresh(server, trace)
    names = server.call("POST", f"/api/v1/traces/{trace['id']}/query", {"group_by": ["name"], "aggregate": {"n": "count()"}})["data"]
    assert after["state"] == "ready" and after["problems"] == 0 and len(names) == 1 and names[0][1] == 300000, names


def test_a_live_file_is_read_on_where_its_last_line_is_not_whole(scene):
    root = scene.new("root")
    server = scene.server([root])
    folder = root / "a"
    folder.mkdir()
    text = "".join(event("read", "POSIX", 1_700_000_000_000_000 + i, 5) + "\n" for i in range(20)).encode()
    cuts = [len(text) // 3, len(text) // 3 + 1, len(text) // 2, len(text) - 1 - 20, len(text)]
    (folder / "rank-0.pfw").write_bytes(b"[\n" + text[:cuts[0]])
    trace = server.ingest(folder)
    for before, cut in zip(cuts, cuts[1:]):
        told = report(server, trace)
        assert told["totals"]["malformed"] == 0 and told["malformed"] == [], told
        assert told["files"][0]["events"] == text[:before].count(b"\n")
        assert told["files"][0]["bytes"] == 2 + before
        assert server.get(f"/api/v1/traces/{trace['id']}")["state"] == "ready"
        with open(folder / "rank-0.pfw", "ab") as out:
            out.write(text[before:cut])
        refresh(server, trace)
    told = report(server, trace)
    assert told["totals"]["events"] == 20 and told["totals"]["lines"] == 21 and told["files"][0]["state"] == "complete", told
    server.call("DELETE", f"/api/v1/traces/{trace['id']}")
    assert report(server, server.ingest(folder))["files"] == told["files"]


IN_OPEN = 0x20


def opens(folder, seconds, during):
    """how often a folder and its files are opened while @during is called again and again"""
    libc = ctypes.CDLL(None, use_errno=True)
    watcher = libc.inotify_init1(os.O_NONBLOCK)
    for path in [folder, *folder.iterdir()]:
        assert libc.inotify_add_watch(watcher, os.fsencode(path), IN_OPEN) >= 0, path
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        during()
        time.sleep(0.1)
    try:
        return len(os.read(watcher, 1 << 20))
    except BlockingIOError:
        return 0
    finally:
        os.close(watcher)


def test_looking_for_changes_opens_nothing_that_did_not_change(scene):
    root = scene.new("root")
    server = scene.server([root])
    for i in range(20):
        write_trace(root / "a", [event("read", "POSIX", 1_700_000_000_000_000, 5, pid=i)], name=f"rank-{i}.pfw")
    (root / "a/notes").write_text("no trace")
    os.utime(root / "a", (1e9, 1e9))
    path = f"/api/v1/traces/{server.ingest(root / 'a')['id']}"
    server.get(path)  # lists the folder, and looks into what has no name of a trace
    wait_until(lambda: opens(root / "a", 3, lambda: server.get(path)) == 0, what="looking without opening")
    assert server.get(path)["state"] == "ready"
    kept = (root / "a/rank-1.pfw").read_bytes()
    for change, undo in [(lambda: (root / "a/rank-1.pfw").write_bytes(kept * 2), lambda: (root / "a/rank-1.pfw").write_bytes(kept)),
                         (lambda: write_trace(root / "a", name="new.pfw"), lambda: os.unlink(root / "a/new.pfw"))]:
        change()
        wait_until(lambda: server.get(path)["state"] == "stale", what="stale")
        undo()
        wait_until(lambda: server.get(path)["state"] == "ready", what="as before")


def test_names_that_are_no_text_come_back_as_json(scene):
    root = scene.new("root")
    server = scene.server([root])
    names = [b"\xff\xfe.pfw", b"line\nend.pfw", b"-x.pfw", b'"q".pfw']
    folder = write_trace(root / "a")
    for name in names:
        shutil.copy(folder / "rank-0.pfw", os.path.join(os.fsencode(folder), name))
    os.mkfifo(folder / "fifo.pfw")
    trace = server.ingest(folder)
    assert trace["events"] == SMALL_EVENTS * 5 and trace["files"] == 5
    assert "line\nend.pfw" in states(server, trace)
    again = refresh(server, trace)
    assert again["version"] == trace["version"]
    os.unlink(os.path.join(os.fsencode(folder), names[0]))
    after = refresh(server, trace)
    assert after["events"] == SMALL_EVENTS * 4 and after["problems"] == 1


def test_a_file_that_is_no_trace_does_not_make_it_stale(scene):
    """what was rejected for its content is not read again and again"""
    root = scene.new("root")
    server = scene.server([root])
    folder = write_trace(root / "a")
    (folder / "junk.pfw").write_bytes(b"\0junk" * 100)
    trace = server.ingest(folder)
    assert trace["problems"] == 1 and states(server, trace)["junk.pfw"] == "rejected"
    assert trace["state"] == "ready"
    assert refresh(server, trace)["version"] == trace["version"]
    (folder / "more.pfw").write_bytes(b"\0junk" * 100)
    after = refresh(server, trace)  # one bad file more does not fail what is there
    assert after["problems"] == 2 and after["events"] == SMALL_EVENTS


# ---- the second slot


def test_a_bomb_is_cut_and_does_not_keep_small_ingests_waiting(scene):
    root = scene.new("root")
    server = scene.server([root], {"json_bytes_per_file": 1 << 30})
    (root / "bomb").mkdir()
    member = gzip.compress(b"\n" * (1 << 26), 6)
    (root / "bomb/rank-0.pfw.gz").write_bytes(gzip.compress(small_trace()[1].encode() + b"\n") + member * 64)
    bombs = [server.register(root / "bomb")]
    shutil.copytree(root / "bomb", root / "bomb2")
    bombs.append(server.register(root / "bomb2"))
    small = server.ingest(write_trace(root / "small"))
    assert small["events"] == SMALL_EVENTS
    for trace, job in bombs:
        assert server.wait(job)["state"] == "done"
        file = report(server, trace)["files"][0]
        assert file["state"] == "truncated" and "json_bytes_per_file" in file["reason"] and file["json_bytes"] <= 1 << 30, file
