"""Traces: register, list, describe, change, refresh, forget, browse; and what they refuse."""
import os
import pathlib

from harness import SMALL_EVENTS, event, small_trace, wait_until, write_trace


def test_register_answers_202_with_location_trace_and_job(scene):
    root = scene.new("root")
    server = scene.server([root])
    status, head, value = server.ask("/api/v1/traces", "POST", {"path": str(write_trace(root / "a")), "name": "mine"})
    assert status == 202 and head["Location"] == f"/api/v1/traces/{value['trace']['id']}"
    assert value["trace"]["name"] == "mine" and value["trace"]["state"] in ("ingesting", "ready")
    assert value["job"]["kind"] == "ingest" and value["job"]["trace"] == value["trace"]["id"]
    assert server.wait(value["job"])["state"] == "done"
    trace = server.get(head["Location"])
    assert trace["state"] == "ready" and trace["events"] == SMALL_EVENTS and trace["preset"]["name"] == "dlio" and trace["preset"]["why"]
    assert trace["files"] == 1 and trace["hosts"] == 1 and trace["processes"] == 2 and trace["threads"] == 2 and trace["problems"] == 0
    assert trace["start"] == "2023-11-14T22:13:20.000010Z" and abs(trace["job_time"] - 10.00001) < 1e-9
    assert trace["bytes"] == (root / "a/rank-0.pfw").stat().st_size and trace["store_bytes"] > 0


def test_the_same_path_again_is_200_with_the_same_trace(scene):
    server = scene.shared
    status, _, value = server.ask("/api/v1/traces", "POST", {"path": str(server.root / "small")})
    assert status == 200 and value["trace"]["id"] == server.trace["id"] and value["job"] is None
    odd = server.root / "x/.." / "small/."
    (server.root / "x").mkdir(exist_ok=True)
    assert server.ask("/api/v1/traces", "POST", {"path": str(odd)})[2]["trace"]["id"] == server.trace["id"]


def test_the_content_type_of_the_body_does_not_matter(scene):
    server = scene.shared
    for kind in ["application/json", "application/x-www-form-urlencoded", "text/plain"]:
        assert server.ask("/api/v1/traces", "POST", {"path": str(server.root / "small")}, {"Content-Type": kind})[0] == 200


def test_bodies_that_are_wrong_say_where(scene):
    server = scene.shared
    for body, pointer in [({}, "/path"), ({"path": 3}, "/path"), ({"path": ""}, "/path"), ({"path": "/x", "nam": "a"}, "/nam"),
                          ({"path": "/x", "name": "n" * 201}, "/name"), ({"path": "/x", "format": "otf2"}, "/format"), ({"path": "relative/path"}, "/path")]:
        assert server.problem("/api/v1/traces", 400, "POST", body)["parameter"] == pointer, body
    assert server.problem("/api/v1/traces", 400, "POST", b'{"path": }')["position"] == 10
    for body in [b"", b"[]", b'"x"', b'{"path":"a","path":"b"}', b"\xff\xfe", b"[" * 5000]:
        server.problem("/api/v1/traces", 400, "POST", body)
    assert server.problem("/api/v1/traces", 400, "POST", b'{"path": "a\\u0000b"}')["detail"] == "The body is not JSON: a text has the character \\u0000, which none may have here"
    assert server.ask("/api/v1/traces", "POST", {"path": str(server.root / "small")}, {"Content-Encoding": "identity"})[0] == 200


def test_outside_the_roots_is_403_whether_there_or_not(scene):
    server = scene.shared
    outside = write_trace(scene.new("outside"))
    link = server.root / "link"
    link.symlink_to(outside)
    said = set()
    for path in [str(outside), str(outside / "missing"), "/etc/passwd", "/nowhere/at/all", str(server.root / ".."), str(server.root / "../../etc"), str(link),
                 str(link / "rank-0.pfw"), str(link / "missing"), str(server.root) + "x"]:
        for method, url, body in [("POST", "/api/v1/traces", {"path": path}), ("GET", "/api/v1/browse?path=" + path, None)]:
            problem = server.problem(url, 403, method, body)
            said.add(problem["detail"].replace(path, "PATH"))
    link.unlink()
    assert len(said) == 1, said


def test_inside_the_roots_but_missing_is_404(scene):
    server = scene.shared
    server.problem("/api/v1/traces", 404, "POST", {"path": str(server.root / "missing")})
    server.problem("/api/v1/browse?path=" + str(server.root / "missing"), 404)


def test_an_unknown_trace_is_404_everywhere(scene):
    for trace in ["ffffffffffffffff", "x", "a" * 300, scene.shared.trace["id"] + "0", scene.shared.trace["id"].upper() + "g"]:
        base = "/api/v1/traces/" + trace
        for method, path in [("GET", base), ("PATCH", base), ("DELETE", base), ("POST", base + "/refresh"), ("GET", base + "/summary"), ("GET", base + "/report"),
                             ("GET", base + "/timeseries")]:
            scene.shared.problem(path, 404, method, {"name": "x"} if method == "PATCH" else None)


def test_rename_and_tag(scene):
    root = scene.new("root")
    server = scene.server([root])
    trace = server.ingest(write_trace(root / "a"))
    path = f"/api/v1/traces/{trace['id']}"
    assert server.call("PATCH", path, {"name": "Läufe 1"})["name"] == "Läufe 1"
    changed = server.call("PATCH", path, {"tags": ["a", "b"]})
    assert (changed["name"], changed["tags"]) == ("Läufe 1", ["a", "b"])
    assert server.call("PATCH", path, {})["tags"] == ["a", "b"]
    assert server.call("PATCH", path, {"tags": []})["tags"] == []
    for body, pointer in [({"tags": "a"}, "/tags"), ({"tags": [1]}, "/tags/0"), ({"tags": [""]}, "/tags/0"), ({"tags": ["x"] * 65}, "/tags"), ({"name": None}, "/name"),
                          ({"id": "1"}, "/id"), ({"name": "a\nb"}, "/name"), ({"name": "a\x7f"}, "/name"), ({"name": "a\u0085b"}, "/name"), ({"tags": ["a", "\t"]}, "/tags/1")]:
        assert server.problem(path, 400, "PATCH", body)["parameter"] == pointer, body
    server.stop()
    server.start()
    assert server.get(path)["name"] == "Läufe 1"


def test_list_holds_all(scene):
    root = scene.new("root")
    server = scene.server([root])
    assert server.get("/api/v1/traces") == {"traces": []}
    ids = [server.ingest(write_trace(root / name))["id"] for name in "abc"]
    assert [t["id"] for t in server.get("/api/v1/traces")["traces"]] == ids


def test_forget_removes_the_store_and_never_the_source(scene):
    root = scene.new("root")
    server = scene.server([root])
    trace = server.ingest(write_trace(root / "a"))
    before = (root / "a/rank-0.pfw").read_bytes()
    assert any(trace["id"] in str(p) for p in server.store.rglob("*"))
    status, _, body = server.ask(f"/api/v1/traces/{trace['id']}", "DELETE")
    assert (status, body) == (204, b"")
    server.problem(f"/api/v1/traces/{trace['id']}", 404)
    assert (root / "a/rank-0.pfw").read_bytes() == before
    wait_until(lambda: not any(trace["id"] in str(p) for p in server.store.rglob("*")), what="removal from the store")
    assert server.ingest(root / "a")["events"] == SMALL_EVENTS


def test_refresh_reads_what_is_new(scene):
    root = scene.new("root")
    server = scene.server([root])
    trace = server.ingest(write_trace(root / "a"))
    path = f"/api/v1/traces/{trace['id']}"
    tag = server.ask(path + "/summary")[1]["ETag"]
    write_trace(root / "a", [event("read", "POSIX", 1_700_000_000_000_000, 5, pid=9)], name="rank-1.pfw")
    wait_until(lambda: server.get(path)["state"] == "stale", what="stale")
    status, head, value = server.ask(path + "/refresh", "POST")
    assert status == 202 and head["Location"] == path and value["job"]["kind"] == "refresh"
    assert server.wait(value["job"])["state"] == "done"
    fresh = server.get(path)
    assert fresh["events"] == SMALL_EVENTS + 1 and fresh["state"] == "ready" and fresh["version"] != trace["version"]
    status, head, _ = server.ask(path + "/summary", headers={"If-None-Match": tag})
    assert status == 200 and head["ETag"] != tag


def test_a_folder_without_traces_is_a_failed_job_that_says_so(scene):
    root = scene.new("root")
    server = scene.server([root])
    (root / "empty").mkdir()
    (root / "empty/readme.txt").write_text("nothing")
    trace, job = server.register(root / "empty")
    ended = server.wait(job)
    assert ended["state"] == "failed" and ended["error"]["status"] >= 400 and "pfw" in ended["error"]["detail"], ended
    after = server.get(f"/api/v1/traces/{trace['id']}")
    assert after["state"] == "failed" and after["failure"] and after["events"] is None
    problem = server.problem(f"/api/v1/traces/{trace['id']}/summary", 404)
    assert problem["detail"]


def test_texts_with_a_count_of_one_are_of_one(scene):
    root = scene.new("root")
    (root / "none").mkdir()
    (root / "none/notes.txt").write_text("no trace\n")
    (root / "broken").mkdir()
    (root / "broken/a.pfw").write_bytes(b"\0\1" * 50)
    server = scene.server([root])
    for name, words in (("none", "below; there is 1 other file"), ("broken", "its one file cannot be read: ")):
        detail = server.wait(server.register(root / name)[1])["error"]["detail"]
        assert words in detail, detail


def test_browse_lists_roots_folders_and_candidates(scene):
    root = scene.new("root")
    server = scene.server([root])
    write_trace(root / "runs/one")
    (root / "runs/other").mkdir()
    (root / "runs/.hidden").mkdir()
    (root / "runs/notes.txt").write_text("x")
    roots = server.get("/api/v1/browse")
    assert roots["path"] is None and roots["parent"] is None and [e["path"] for e in roots["entries"]] == [os.path.realpath(root)]
    runs = server.get(f"/api/v1/browse?path={root}/runs")
    by_name = {e["name"]: e for e in runs["entries"]}
    assert by_name["one"]["candidate"] and by_name["one"]["kind"] == "folder" and not by_name["other"]["candidate"]
    assert by_name["one"]["path"] == os.path.join(os.path.realpath(root), "runs/one") and runs["parent"] == os.path.realpath(root)
    assert by_name["one"]["trace"] is None and not runs["truncated"]
    trace = server.ingest(root / "runs/one")
    runs = server.get(f"/api/v1/browse?path={root}/runs")
    assert {e["name"]: e["trace"] for e in runs["entries"]}["one"] == trace["id"]
    assert server.problem("/api/v1/browse?path=relative", 400)["parameter"] == "/path"


def test_a_single_packed_file_is_a_trace(scene):
    root = scene.new("root")
    server = scene.server([root])
    write_trace(root / "a", packed=True)
    trace = server.ingest(root / "a/rank-0.pfw.gz")
    assert trace["events"] == SMALL_EVENTS and trace["name"] == "rank-0.pfw.gz"


def test_links_are_followed_only_inside_the_roots(scene):
    root, outside = scene.new("root"), scene.new("outside")
    server = scene.server([root])
    write_trace(root / "other", [event("read", "POSIX", 1_700_000_000_000_000, 5, pid=9)])
    write_trace(outside)
    write_trace(root / "a")
    (root / "a/inside.pfw").symlink_to(root / "other/rank-0.pfw")
    (root / "a/outside.pfw").symlink_to(outside / "rank-0.pfw")
    (root / "a/loop").symlink_to(root / "a")
    assert server.ingest(root / "a")["events"] == SMALL_EVENTS + 1


def test_names_with_odd_characters_come_back(scene):
    root = scene.new("root")
    server = scene.server([root])
    folder = write_trace(root / 'a "quoted" näme\n', small_trace())
    trace = server.ingest(folder)
    assert trace["path"] == os.path.realpath(folder) and trace["name"] == pathlib.Path(folder).name
