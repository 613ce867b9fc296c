"""What columns mean, over HTTP and on the page about it."""
import pathlib

PAGE = pathlib.Path(__file__).resolve().parent.parent.parent / "docs/metrics.md"


def test_every_column_of_every_table_is_explained(scene):
    path = scene.shared.path
    for call in ["/views/flat?by=time_range", "/views/layer?layer=other_posix&by=process", "/summary", "/views/flat?by=proc_name&semantics=compatible",
                 "/views/layer?layer=other_posix&by=time_range&semantics=compatible&quantile_stats=true"]:
        value = scene.shared.get(path + call)
        keys = {"time_range", "proc_name", "host_name", "pid", "tid", "name", "parent"}
        for column in set(value["columns"]) - keys:
            found = scene.shared.get("/api/v1/metrics/" + column)["definitions"]
            assert any(one["semantics"] == value["semantics"] for one in found), (call, column, found)


def test_a_column_is_explained_with_and_without_its_layer(scene):
    plain = scene.shared.get("/api/v1/metrics/busy")["definitions"]
    assert scene.shared.get("/api/v1/metrics/compute_busy")["definitions"] == plain and plain[0]["unit"] == "s"
    both = scene.shared.get("/api/v1/metrics/time")["definitions"]
    assert {one["semantics"] for one in both} == {"exact", "compatible"}
    read = scene.shared.get("/api/v1/metrics/reader_posix_lustre_read_bw")["definitions"]
    assert any(one["of"] == "derived metric" and one["unit"] == "B/s" for one in read)
    assert "compute_{T}" in scene.shared.get("/api/v1/metrics/compute_util")["definitions"][0]["formula"]
    assert "lists all" in scene.shared.problem("/api/v1/metrics/speed", 404)["detail"]


def test_the_page_has_what_the_api_says(scene):
    page = PAGE.read_text()
    for one in scene.shared.get("/api/v1/metrics")["definitions"]:
        if "preset" in one["of"]:
            continue
        cells = [f"| `{one['name']}` |", one["formula"].replace("|", "&#124;"), one["meaning"].replace("|", "&#124;"), f"| {one['unit'] or ''} |"]
        assert any(all(cell in line for cell in cells) for line in page.splitlines()), one
