"""A trace in which each event has a category of its own: answers take memory and time by the categories, not by their square."""
import os
import pathlib

from harness import wait_until

CATEGORIES = 100_000
SHARE = 0.25  # of the processor time that the ingest took, which a summary may take


def write_categories(folder, count):
    folder.mkdir()
    with open(folder / "trace.pfw", "w") as file:
        file.write("[\n")
        for i in range(count):
            file.write(f'{{"id":{i},"name":"read","cat":"category_{i}","pid":1,"tid":1,"ts":{1000000 + i},"dur":5,"ph":"X","args":{{}}}}\n')
        file.write("]\n")
    return folder


def processor_time(server):
    """seconds, of all threads, once they rest"""
    wait_until(lambda: server.idle(30), timeout=600, what="rest")
    fields = pathlib.Path(f"/proc/{server.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_a_hundred_thousand_categories_are_summed_up_in_both_countings(scene):
    root = scene.new("root")
    server = scene.server([root], {"memory": "4GiB"})
    start = processor_time(server)
    trace = "/api/v1/traces/" + server.ingest(write_categories(root / "a", CATEGORIES))["id"]
    ingested = processor_time(server)
    exact = server.get(trace + "/summary?preset=generic&filters=off")
    summed = processor_time(server)
    assert exact["events"] == CATEGORIES and exact["taken"] == CATEGORIES, exact
    compatible = server.get(trace + "/summary?preset=generic&semantics=compatible")
    assert compatible["total_count"] == CATEGORIES and compatible["unmatched"] == 0, compatible
    assert len(exact["layers"]) == len(compatible["layers"]), (len(exact["layers"]), len(compatible["layers"]))
    assert summed - ingested < SHARE * (ingested - start), (start, ingested, summed)
