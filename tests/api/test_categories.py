"""A trace in which each event has a category of its own: answers take memory and time by the categories, not by their square."""
from harness import wait_until

CATEGORIES = 500_000


def write_categories(folder, count):
    folder.mkdir()
    with open(folder / "trace.pfw", "w") as file:
        file.write("[\n")
        for i in range(count):
            file.write(f'{{"id":{i},"name":"read","cat":"category_{i}","pid":1,"tid":1,"ts":{1000000 + i},"dur":5,"ph":"X","args":{{}}}}\n')
        file.write("]\n")
    return folder


def test_half_a_million_categories_are_summed_up_in_both_countings(scene):
    root = scene.new("root")
    server = scene.server([root], {"memory": "4GiB"})
    trace = "/api/v1/traces/" + server.ingest(write_categories(root / "a", CATEGORIES))["id"]
    wait_until(lambda: server.idle(30), timeout=600, what="what is made after an ingest is made")
    exact = server.get(trace + "/summary?preset=generic")
    assert exact["events"] == CATEGORIES and exact["taken"] == CATEGORIES, exact
    compatible = server.get(trace + "/summary?preset=generic&semantics=compatible")
    assert compatible["total_count"] == CATEGORIES and compatible["unmatched"] == 0, compatible
    assert len(exact["layers"]) == len(compatible["layers"]), (len(exact["layers"]), len(compatible["layers"]))
