"""The ten questions of docs/questions.md as they stand there: each curl is run, each piece of Python too, and both must give the same table.

Without pandas a small stand-in reads the CSV; what is tested is the URL and the answer.
"""
import csv
import importlib.util
import io
import os
import re
import subprocess
import sys
import types
import urllib.request

from daemon import ROOT, generate

TRACES = {"trace": {"events": 6000, "ranks": 2, "workers": 1, "seed": 41}, "other": {"events": 5000, "ranks": 2, "workers": 1, "seed": 42}}


class Frame:
    """as much of a DataFrame as the comparison needs"""

    def __init__(self, data, columns):
        self.columns, self.rows = list(columns), list(data)

    def __len__(self):
        return len(self.rows)


def read_csv(url):
    with urllib.request.urlopen(url, timeout=60) as answer:
        header, *rows = csv.reader(io.StringIO(answer.read().decode(), newline=""))
    return Frame(rows, header)


def section():
    """{number of a question: (shell, Python)}, and the Python before them"""
    text = (ROOT / "docs/questions.md").read_text()
    preamble, *questions = re.split(r"^\*\*(\d+)\. ", text, flags=re.M)
    found = {int(n): (block("sh", t), block("python", t)) for n, t in zip(questions[::2], questions[1::2])}
    return found, block("python", preamble)


def block(language, text):
    return re.search(rf"```{language}\n(.*?)```", text, re.S)[1]


def ingest(scene):
    """(server, environment of the commands, totals of the trace)"""
    root = scene.new("root")
    totals = {name: generate(root / name, **options) for name, options in TRACES.items()}
    server = scene.server([root])
    ids = {name: server.ingest(root / name)["id"] for name in TRACES}
    return {"base": server.base + "/api/v1", **ids}, totals["trace"]


def by_curl(command, environment):
    """the table that a command prints"""
    done = subprocess.run(["bash", "-euo", "pipefail", "-c", command], env={**os.environ, **environment}, stdout=subprocess.PIPE, timeout=120, check=True)
    return list(csv.DictReader(io.StringIO(done.stdout.decode(), newline="")))


def by_python(lines, preamble, environment):
    if "pandas" not in sys.modules and importlib.util.find_spec("pandas") is None:
        sys.modules["pandas"] = types.SimpleNamespace(read_csv=read_csv, DataFrame=Frame)
    names = dict(environment)
    exec(preamble + lines, names)
    return names["df"]


def test_ten_questions(scene):
    questions, preamble = section()
    assert sorted(questions) == list(range(1, 11)), sorted(questions)
    environment, totals = ingest(scene)
    answers = {}
    for number, (command, lines) in questions.items():
        rows = answers[number] = by_curl(command, environment)
        frame = by_python(lines, preamble, environment)
        assert rows and "detail" not in rows[0], f"question {number}: {rows[:2]}"
        got, wanted = (list(frame.columns), len(frame)), (list(rows[0]), len(rows))
        assert got == wanted, f"question {number}: Python has {got}, curl {wanted}"
    check_totals(answers, totals)


def check_totals(answers, totals):
    """the generator knows some of the answers"""
    functions = {f["func_name"]: (f["count"], f["time_us"], f["size"]) for f in totals["functions"] if f["cat"] == "posix"}
    assert {r["func_name"]: (int(r["calls"]), round(float(r["time"]) * 1e6), int(r["size"])) for r in answers[1]} == functions
    reader = next(layer for layer in totals["layers"] if layer["name"] == "reader")
    sums = {name: round(sum(float(r[name]) for r in answers[9]) * 1e6) for name in ("app_io_busy", "app_io_minus_compute")}
    assert sums == {"app_io_busy": reader["busy_group_sum_us"], "app_io_minus_compute": reader["exposed_group_sum_us"]}, sums
    assert {r["trace"] for r in answers[10]} == {"before", "now"}
