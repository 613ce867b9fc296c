"""The dashboard in a real browser, on a trace of four million events of 1,760 processes where it can be made: page switches, a brush, a
group-by switch, and the first figure after a restart."""
import json
import os
import pathlib
import shutil
import statistics
import subprocess
from daemon import ROOT, Daemon
from table import seconds

HERE = pathlib.Path(__file__).resolve().parent
FIRST = 3


def packages(build):
    """playwright-core in the folder where the tests of the browser have it"""
    work = build / "tests/browser"
    if not shutil.which("npm") or not pathlib.Path(os.environ.get("STRATA_CHROMIUM", "/usr/bin/chromium")).exists():
        raise RuntimeError("npm or chromium is missing")
    if not (work / "node_modules/playwright-core").exists():
        work.mkdir(parents=True, exist_ok=True)
        for name in ("package.json", "package-lock.json"):
            shutil.copy(ROOT / "tests/browser" / name, work)
        subprocess.run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"], cwd=work, check=True)
    subprocess.run(["ninja", "-C", str(build), "web/site"], check=True, stdout=subprocess.DEVNULL)


def browse(build, daemon, identity, what):
    done = subprocess.run(["node", str(HERE / "browser.mjs"), daemon.base, identity, what], env={**os.environ, "STRATA_BUILD": str(build)},
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=600)
    if done.returncode:
        raise RuntimeError(f"browser: {done.stderr.strip()[-300:]}")
    return json.loads(done.stdout)


def trace_of(data):
    try:
        return data.replicas()
    except RuntimeError:
        return data.four_files()


def measure_browser(table, data, scratch):
    build = pathlib.Path(os.environ["STRATAD"]).resolve().parent.parent
    packages(build)
    trace, options = trace_of(data), ["--web", str(build / "web/site")]
    with Daemon(scratch / "store", [trace.path], options) as daemon:
        identity = daemon.ingest(trace.path)["id"]
        daemon.get(f"/api/v1/traces/{identity}/summary")
        browse(build, daemon, identity, "first")
        figures = browse(build, daemon, identity, "pages")
    first = []
    for _ in range(FIRST):
        with Daemon(scratch / "store", [trace.path], options) as daemon:
            first.append(browse(build, daemon, identity, "first")["first"])
    for name, took in figures["pages"].items():
        table.add(f"browser: to the page {name}, kept answers, settled", seconds(took / 1e3), "", "", "", "<= 100 ms")
    table.add("browser: brush to a new range, settled", seconds(figures["brush"] / 1e3), "", "", "", "<= 400 ms")
    table.add("browser: group-by switch, longest task", seconds(figures["grouping"] / 1e3) if figures["grouping"] else "none over 50 ms", "", "", "", "<= 50 ms")
    table.add("browser: first figure after a restart", seconds(statistics.median(first) / 1e3), "", "", "", "<= 800 ms")
