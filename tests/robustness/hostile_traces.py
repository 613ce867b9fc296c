"""Traces that are small to send and large to hold: many events in one moment, many keys of args, names, processes or categories. Standard library
only.

  hostile_traces.py KIND COUNT FOLDER      KIND: one_moment, args_keys, names, processes, categories
"""
import gzip
import json
import pathlib
import sys

AT_ONCE = 50000  # lines of a gzip member


def line(number, name="read", cat="POSIX", pid=1, tid=1, ts=1000000, dur=5, **args):
    return json.dumps({"id": number, "name": name, "cat": cat, "pid": pid, "tid": tid, "ts": ts, "dur": dur, "ph": "X", "args": args})


def one_moment(count):
    """events that all begin at one time, and last from 1 to 1000 us: no cut in time parts them"""
    lines = [line(i, name=("read", "write", "open64")[i % 3], tid=i % 7, dur=1 + i % 1000, ret=4096) for i in range(min(AT_ONCE, count))]
    member = gzip.compress(("\n".join(lines) + "\n").encode(), 6)
    for _ in range(count // len(lines)):
        yield member


def members(lines, count):
    for first in range(0, count, AT_ONCE):
        yield gzip.compress(("\n".join(lines(i) for i in range(first, min(first + AT_ONCE, count))) + "\n").encode(), 1)


def args_keys(count):
    """each event has an argument that no other one has"""
    yield from members(lambda i: line(i, ts=1000000 + i, **{f"key_number_{i}": i}), count)


def names(count):
    """each event is of a function, and of a file, that no other one has"""
    yield from members(lambda i: line(i, name=f"a_function_with_a_long_name_{i:020}", ts=1000000 + i, fname=f"/scratch/a/folder/of/files/{i:020}"), count)


def processes(count):
    """each event is of a process of its own"""
    yield from members(lambda i: line(i, pid=i, tid=i, ts=1000000 + i), count)


def categories(count):
    """each event is of a category that no other one has"""
    yield from members(lambda i: line(i, cat=f"category_{i}", ts=1000000 + i), count)


KINDS = {"one_moment": one_moment, "args_keys": args_keys, "names": names, "processes": processes, "categories": categories}


def write(folder, kind, count):
    """the folder, with one file"""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True)
    with open(folder / f"{kind}.pfw.gz", "wb") as file:
        for member in KINDS[kind](count):
            file.write(member)
    return folder


if __name__ == "__main__":
    write(sys.argv[3], sys.argv[1], int(sys.argv[2]))
