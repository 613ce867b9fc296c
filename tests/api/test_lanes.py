"""The lane file: written when the timeline was first asked for, read after a restart, and made again when it is not what it should be."""
import concurrent.futures
import pathlib

from harness import large_file, wait_until, write_large

EVENTS = 60_000
CALLS = ["timeline/lanes", "timeline/events?width=1400", "timeline/events?width=300&from=0.2&to=0.3", "timeline/density?width=300", "timeline/density?width=300&label=name",
         "timeline/statistics", "calltree?scope=process", "gaps?scope=job", "timeline/search?at=0&filter=cat%20%3D%3D%20%22posix%22"]


def lane_files(server, trace):
    return sorted((server.folder / "store/traces" / trace["id"]).glob("lanes-*"))


def answers(server, trace):
    """what all calls say, in one order"""
    return [server.get(f"/api/v1/traces/{trace['id']}/{call}") for call in CALLS]


def kept(server, trace):
    """waits until the file is in place; its path"""
    wait_until(lambda: [p.name.count(".") for p in lane_files(server, trace)] == [0], what="the lane file")
    return lane_files(server, trace)[0]


def with_lanes(scene):
    root = scene.new("root")
    server = scene.server([root])
    trace = server.ingest(write_large(root / "a", EVENTS, 2))
    expected = answers(server, trace)
    return server, trace, expected, kept(server, trace)


def test_what_is_kept_answers_the_same_after_a_restart(scene):
    server, trace, expected, path = with_lanes(scene)
    before = path.read_bytes()
    server.stop()
    server.start()
    assert answers(server, trace) == expected
    assert lane_files(server, trace) == [path] and path.read_bytes() == before


def windows_of(whole):
    """calls for narrow windows all over the time of an answer, the last first; each with blocks of its own"""
    end = whole["to"] / whole["ticks_per_second"]
    return [f"timeline/events?width=200&from={end * k / 23}&to={end * (k / 23 + width)}" for k in reversed(range(23)) for width in (1e-7, 1e-4, 0.01)]


def test_windows_read_their_part_of_the_file_and_say_the_same(scene):
    server, trace, expected, path = with_lanes(scene)
    windows = windows_of(expected[1])
    ask = lambda: [server.get(f"/api/v1/traces/{trace['id']}/{call}") for call in windows]  # noqa: E731
    whole = ask()  # of an index that was made of the events
    assert sum(1 for window in whole if any(window["blocks"]["lane"]) or any(window["events"]["lane"])) > len(windows) / 2
    server.stop()
    server.start()
    assert ask() == whole
    assert answers(server, trace) == expected  # what the windows left out is read now
    content = path.read_bytes()
    for share in (0.2, 0.4, 0.6):  # a part that some window needs, when others have been read
        server.stop()
        for other in lane_files(server, trace):
            other.unlink()
        at = int(len(content) * share)
        path.write_bytes(content[:at] + bytes([content[at] ^ 8]) + content[at + 1:])
        server.start()
        assert ask() == whole, share
        assert answers(server, trace) == expected, share


def test_calls_at_once_right_after_a_restart(scene):
    server, trace, expected, _ = with_lanes(scene)
    server.stop()
    server.start()
    with concurrent.futures.ThreadPoolExecutor(12) as pool:
        asked = [pool.submit(server.get, f"/api/v1/traces/{trace['id']}/{call}") for _ in range(3) for call in CALLS]
        assert [answer.result() for answer in asked] == 3 * expected


def test_little_memory_says_the_same(scene):
    root = scene.new("root")
    path = root / "a"
    path.mkdir()
    for name in ("first", "second"):  # events of one thread, of the same time, so that they are to be sorted
        (path / f"{name}.pfw.gz").write_bytes(large_file(EVENTS // 2, 0))
    calls = ["timeline/statistics", "timeline/statistics?label=category:name&from=0.1&to=0.3", "timeline/statistics?filter=cat%20%3D%3D%20%22posix%22", "calltree?scope=process"]
    said = []
    for settings in ({}, {"query_memory": "512KiB"}):
        server = scene.server([root], settings)
        trace = server.ingest(path)["id"]
        said.append([server.get(f"/api/v1/traces/{trace}/{call}") for call in calls])
    assert said[0] == said[1]
    assert said[0][0]["count"] == EVENTS, said[0][0]


def damage_of(content):
    """ways in which a lane file may be wrong"""
    flipped = [bytes(b ^ (1 << (at % 8) if i == at else 0) for i, b in enumerate(content)) for at in (3, len(content) // 3, len(content) - 300, len(content) - 20)]
    return [*flipped, content[: len(content) // 2], content[:50], b"", content + b"x", b"\0" * len(content)]


def test_a_lane_file_that_is_damaged_is_made_again(scene):
    server, trace, expected, path = with_lanes(scene)
    content = path.read_bytes()
    for number, damaged in enumerate(damage_of(content)):
        server.stop()
        for other in lane_files(server, trace):
            other.unlink()
        path.write_bytes(damaged)
        server.start()
        assert answers(server, trace) == expected, number
    server.stop()
    for other in lane_files(server, trace):
        other.unlink()
    server.start()
    assert answers(server, trace) == expected
    kept(server, trace)


def test_a_lane_file_goes_with_its_version_and_leaves_nothing_behind(scene):
    server, trace, _, path = with_lanes(scene)
    left = path.with_name(path.name + ".tmp")
    server.stop()
    left.write_bytes(path.read_bytes()[:1000])  # as a crash leaves it
    server.start()
    assert not left.exists() and path.exists()
    server.wait(server.call("POST", f"/api/v1/traces/{trace['id']}/refresh")["job"])
    assert path.exists()  # nothing has changed, so the version is the same
    source = min(pathlib.Path(trace["path"]).iterdir())
    source.with_name("more-" + source.name).write_bytes(source.read_bytes())
    server.wait(server.call("POST", f"/api/v1/traces/{trace['id']}/refresh")["job"])
    assert not path.exists()
    answers(server, trace)
    newer = kept(server, trace)
    assert newer != path
    server.call("DELETE", f"/api/v1/traces/{trace['id']}")
    wait_until(lambda: not newer.parent.exists(), what="the removal")
