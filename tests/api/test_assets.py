"""The dashboard's files: types, caching, packing; nothing outside their folder."""
import gzip

PAGE = b"<!doctype html><title>Strata</title>" + b"<p>page</p>" * 50


def with_web(scene):
    web, outside = scene.new("web"), scene.new("outside")
    (outside / "secret.txt").write_text("secret")
    (web / "index.html").write_bytes(PAGE)
    (web / "app-0123abcdef.js").write_text("export const a = 1;\n" * 100)
    (web / "page.2YELFWJH.js").write_text("export {};\n")
    (web / "app.js").write_text("import './app-0123abcdef.js';\n")
    (web / "style.css").write_text("body { margin: 0 }\n")
    (web / "parts").mkdir()
    (web / "parts/tile.js").write_text("export {};\n")
    (web / ".hidden").write_text("secret")
    (web / "link.txt").symlink_to(outside / "secret.txt")
    (web / "folder").symlink_to(outside)
    return scene.server([], options=["--web", str(web)])


def test_files_have_their_type_and_are_cached_as_they_may(scene):
    server = with_web(scene)
    for path, kind, cache in [("/", "text/html", "no-cache"), ("/app.js", "text/javascript", "no-cache"), ("/style.css", "text/css", "no-cache"),
                              ("/parts/tile.js", "text/javascript", "no-cache"), ("/app-0123abcdef.js", "text/javascript", "immutable"),
                              ("/page.2YELFWJH.js", "text/javascript", "immutable")]:
        status, head, _ = server.ask(path)
        assert status == 200 and head["Content-Type"].startswith(kind) and cache in head["Cache-Control"], (path, head["Cache-Control"])
        assert server.ask(path, headers={"If-None-Match": head["ETag"]})[0] == 304
        assert head["Content-Security-Policy"]
    assert server.ask("/")[2] == PAGE
    status, head, body = server.request("GET", "/", headers={"Accept-Encoding": "gzip"})
    assert head["Content-Encoding"] == "gzip" and gzip.decompress(body) == PAGE
    assert server.ask("/", "HEAD")[1]["Content-Length"] == str(len(PAGE))


def test_the_page_keeps_its_state_in_the_query(scene):
    server = with_web(scene)
    assert server.ask("/?page=overview&trace=0123")[2] == PAGE
    for path in ["/traces", "/traces/0123/summary", "/other", "/index", "/parts", "/parts/", "/api/v1/index.html"]:
        server.problem(path, 404)
    problem = server.problem("/", 405, "POST")
    assert "GET, HEAD, OPTIONS" in problem["detail"]
    assert server.ask("/", "OPTIONS")[1]["Allow"] == "GET, HEAD, OPTIONS"


def test_what_the_build_packed_goes_out_as_it_is(scene):
    web = scene.new("web")
    (web / "index.html").write_bytes(PAGE)
    packed = gzip.compress(PAGE, 1)
    (web / "index.html.gz").write_bytes(packed)
    server = scene.server([], options=["--web", str(web)])
    assert server.request("GET", "/", headers={"Accept-Encoding": "gzip"})[2] == packed
    assert server.ask("/")[2] == PAGE
    server.problem("/index.html.gz", 404)


def test_nothing_hidden_linked_or_outside(scene):
    server = with_web(scene)
    for path in ["/.hidden", "/link.txt", "/folder/secret.txt", "/../outside-2/secret.txt", "/%2e%2e/outside-2/secret.txt", "/parts/../.hidden", "/parts//tile.js",
                 "/./index.html", "/index.html/", "/index.html%00"]:
        status, body = server.raw(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
        assert status == 404 and b"secret" not in body.split(b"\r\n\r\n", 1)[1], (path, status)


def test_without_a_dashboard_the_api_is_there(scene):
    server = scene.server([], options=["--web", str(scene.new("empty"))])
    assert "openapi" in server.problem("/", 404)["detail"] and server.ask("/healthz")[0] == 200
