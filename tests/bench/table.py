"""The table that a benchmark prints."""
import pathlib
import re
import subprocess


def machine():
    """one line: what it was measured on"""
    cpu = re.search(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text())
    memory = re.search(r"MemTotal:\s+(\d+)", pathlib.Path("/proc/meminfo").read_text())
    cores = subprocess.run(["nproc"], stdout=subprocess.PIPE, text=True).stdout.strip()
    return f"{cores} cores, {cpu[1] if cpu else 'CPU unknown'}, {int(memory[1]) >> 20} GiB"


class Table:
    def __init__(self):
        self.rows = []

    def add(self, what, value, against="", yardstick="", ratio="", goal=""):
        self.rows.append([what, value, against, yardstick, ratio, goal])

    def leave_out(self, what, why):
        self.add(what, "left out", why)

    def text(self):
        rows = [["what", "measured", "against", "yardstick", "ratio", "goal"]] + self.rows
        widths = [max(len(row[i]) for row in rows) for i in range(6)]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows]
        lines.insert(1, "  ".join("-" * width for width in widths))
        return "\n".join([machine(), *lines])


def seconds(value):
    if value < 1e-3:
        return f"{value * 1e6:.0f} us"
    return f"{value * 1e3:.1f} ms" if value < 1 else f"{value:.2f} s"


def mebibytes(value):
    return f"{value / (1 << 20):.1f} MiB"
