#!/usr/bin/env python3
"""What deploy/quickstart does once all is built: starts stratad, ingests a trace, shows its summary, serves. Standard library only."""
import argparse
import json
import pathlib
import re
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request

EXAMPLE = ["--events", "1000000", "--hosts", "2", "--ranks", "8", "--workers", "2", "--output-files", "8", "--together", "--gzip", "one"]


def call(base, method, path, body=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(base + path, data=data, method=method, headers={"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=600) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        problem = json.load(error)
        sys.exit(f"quickstart: {path}: {problem.get('detail', problem)}")


def start(arguments, trace):
    """(process, address); on a port of its own when the usual one is taken"""
    log = open(arguments.folder / "stratad.log", "ab")
    for listen in dict.fromkeys([arguments.listen, re.sub(r":\d+$", ":0", arguments.listen)]):
        command = [str(arguments.stratad), "--listen", listen, "--store", str(arguments.folder / "store"), "--root", str(trace)]
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log, text=True)
        line = process.stdout.readline()
        if line.startswith("listening on "):
            return process, line.split()[2]
        status = process.wait()
    sys.exit(f"quickstart: stratad did not start (exit status {status}):\n{tail(log.name)}")


def tail(path, lines=10):
    return "\n".join(pathlib.Path(path).read_text(errors="replace").splitlines()[-lines:])


def progress_line(job):
    parts = [f"ingesting {100 * (job['progress'] or 0):3.0f} %", f"{job['events'] or 0:,} events"]
    if job["rate"]:
        parts.append(f"{job['rate'] / 1e6:.1f} M events/s")
    if job["eta"] is not None:
        parts.append(f"{job['eta']:.0f} s left")
    return ", ".join(parts)


def follow(base, job):
    """shows a job until it ends: one line that changes on a terminal, else one line every few seconds"""
    terminal, shown = sys.stdout.isatty(), 0
    while job["state"] in ("queued", "running"):
        if terminal:
            print(f"\r\x1b[K{progress_line(job)}", end="", flush=True)
        elif time.monotonic() - shown > 5:
            print(progress_line(job), flush=True)
            shown = time.monotonic()
        time.sleep(0.1)
        job = call(base, "GET", f"/api/v1/jobs/{job['id']}")
    print("\r\x1b[K" if terminal else "", end="")
    if job["state"] != "done":
        problem = job["error"] or {}
        sys.exit(f"quickstart: ingest {job['state']}: {problem.get('detail', problem)}")


def scaled(value, units):
    """a number with the largest unit that leaves it at 1 or more"""
    if value is None:
        return "-"
    for name, size in units:
        if abs(value) >= size:
            return f"{value / size:.2f} {name}".rstrip()
    return f"{value:g}"


BYTES = [("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("B", 1)]
TIME = [("h", 3600), ("min", 60), ("s", 1), ("ms", 1e-3), ("us", 1e-6)]
COLUMNS = [  # heading, what it shows of a layer
    ("layer", lambda l: l["name"]),
    ("events", lambda l: f"{l['count']:,}"),
    ("call time", lambda l: scaled(l.get("time"), TIME)),
    ("wall time", lambda l: scaled(l.get("busy"), TIME)),
    ("not overlapped", lambda l: scaled(l.get("exposed_group_sum"), TIME)),
    ("overlapped", lambda l: "-" if l.get("hidden_share") is None else f"{100 * l['hidden_share']:.1f} %"),
    ("size", lambda l: scaled(l.get("size") or None, BYTES)),
    ("aggregate bandwidth", lambda l: "-" if l.get("bw_busy") is None else scaled(l["bw_busy"], BYTES) + "/s"),
]


def counted(number, one, many):
    return f"{number:,} {one if number == 1 else many}"


def print_summary(trace, summary):
    rows = [[heading for heading, _ in COLUMNS]] + [[show(layer) for _, show in COLUMNS] for layer in summary["layers"]]
    widths = [max(len(row[i]) for row in rows) for i in range(len(COLUMNS))]
    who = f"{counted(summary['processes'], 'process', 'processes')} on {counted(summary['hosts'], 'host', 'hosts')}"
    print(f"\n{trace['name']}: {counted(summary['events'], 'event', 'events')} of {who}, "
          f"{scaled(summary['job_time'], TIME)}; preset {trace['preset']['name']}: {trace['preset']['why']}\n")
    for row in rows:
        cells = [row[0].ljust(widths[0])] + [cell.rjust(width) for cell, width in zip(row[1:], widths[1:])]
        print("  ".join(cells))
    print()


def print_findings(findings, most=5):
    """the gravest ones as sentences; how many there are"""
    grave = [f for f in findings["findings"] if f["severity"] in ("critical", "warning", "info")]
    for finding in grave[:most]:
        print(f"{finding['severity']}: {finding['title']}. {finding['text']}\n    Value: {finding['threshold']}")
    counts = findings["counts"]
    print(f"{counted(counts['critical'] + counts['warning'] + counts['info'], 'finding', 'findings')}, {counts['ok']} checks passed\n")


def make_example(arguments):
    folder = arguments.folder / "example"
    if not (folder / "done").exists():
        print("generating a trace of 1,000,000 events ..", flush=True)
        subprocess.run([str(arguments.generate), *EXAMPLE, str(folder)], check=True, stdout=subprocess.DEVNULL)
        (folder / "done").touch()
    return folder


def main():
    parser = argparse.ArgumentParser(prog="quickstart")
    parser.add_argument("trace", nargs="?", type=pathlib.Path)
    parser.add_argument("--once", action="store_true")
    parser.add_argument("--listen", default="127.0.0.1:7878")
    for hidden in ("--stratad", "--generate", "--folder"):
        parser.add_argument(hidden, type=pathlib.Path, required=True, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    trace = (arguments.trace or make_example(arguments)).resolve()
    process, base = start(arguments, trace)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        answer = call(base, "POST", "/api/v1/traces", {"path": str(trace)})
        described = answer.get("trace", answer)
        if answer.get("job"):
            follow(base, answer["job"])
            described = call(base, "GET", f"/api/v1/traces/{described['id']}")
        print_summary(described, call(base, "GET", f"/api/v1/traces/{described['id']}/summary"))
        print_findings(call(base, "GET", f"/api/v1/traces/{described['id']}/findings"))
        if not arguments.once:
            print(f"dashboard: {base}/    (Ctrl-C stops)", flush=True)
            process.wait()
    except KeyboardInterrupt:
        print()
    finally:
        process.terminate()
        process.wait()
    return 0


if __name__ == "__main__":
    sys.exit(main())
