"""Answers: cold ones against DuckDB, cached ones against nginx serving the same bytes, and the first one after a restart."""
import contextlib
import os
import re
import shutil
import socket
import statistics
import subprocess
import time
import urllib.request
import duck
from daemon import Daemon
from table import seconds

SECONDS = 4
TRACES = 1000
QUIET = ["--compaction", "off"]  # what a stopped one leaves to the next would be done beside its first answer

NGINX = """
{user} daemon off; worker_processes auto; pid {folder}/nginx.pid; error_log {folder}/nginx.err;
events {{ worker_connections 1024; }}
http {{ access_log off; sendfile on; keepalive_requests 1000000000; default_type application/json;
 client_body_temp_path {folder}/t1; proxy_temp_path {folder}/t2; fastcgi_temp_path {folder}/t3; uwsgi_temp_path {folder}/t4; scgi_temp_path {folder}/t5;
 server {{ listen 127.0.0.1:{port}; root {folder}/www; }} }}
"""


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


@contextlib.contextmanager
def nginx(folder, content):
    """the URL at which nginx serves @content"""
    port, user = free_port(), "user root;" if os.geteuid() == 0 else ""  # the scratch folder is ours alone
    (folder / "www").mkdir()
    (folder / "www/answer.json").write_bytes(content)
    (folder / "nginx.conf").write_text(NGINX.format(user=user, folder=folder, port=port))
    program = shutil.which("nginx") or "/usr/sbin/nginx"
    with open(folder / "nginx.out", "wb") as out:
        process = subprocess.Popen([program, "-c", str(folder / "nginx.conf"), "-p", str(folder)], stdout=out, stderr=out)
    try:
        url = f"http://127.0.0.1:{port}/answer.json"
        for _ in range(100):
            with contextlib.suppress(OSError):
                urllib.request.urlopen(url).read()
                break
            time.sleep(0.05)
        yield url
    finally:
        process.terminate()
        process.wait()


def wrk(url, connections):
    """(median latency in seconds, requests per second)"""
    threads = min(connections, 2)
    text = subprocess.run(["wrk", "-t", str(threads), "-c", str(connections), "-d", f"{SECONDS}s", "--latency", url],
                          stdout=subprocess.PIPE, check=True, text=True).stdout
    if re.search(r"Non-2xx|Socket errors", text):
        raise RuntimeError(f"wrk on {url}: {text}")
    latency, unit = re.search(r"50%\s+([\d.]+)(us|ms|s)", text).groups()
    return float(latency) * {"us": 1e-6, "ms": 1e-3, "s": 1}[unit], float(re.search(r"Requests/sec:\s+([\d.]+)", text)[1])


def prepare(trace, scratch):
    """(trace, id in a store of its own)"""
    with Daemon(scratch / "store", [trace.path], QUIET) as daemon:
        return trace, daemon.ingest(trace.path)["id"]


def first_answer(scratch, trace, identity, question):
    """(seconds from exec to the first answer, seconds of that answer)"""
    start = time.perf_counter()
    with Daemon(scratch / "store", [trace.path], QUIET) as daemon:
        listening = time.perf_counter()
        status, _, content = daemon.request("GET", f"/api/v1/traces/{identity}/summary{question}")
        end = time.perf_counter()
        if status != 200:
            raise RuntimeError(f"summary: {status} {content[:500]}")
        return end - start, end - listening


def cold_summary(scratch, trace, identity):
    """seconds; the plain summary is kept on disk since the ingest, one without filters has to be computed"""
    return statistics.median(first_answer(scratch, trace, identity, "?filters=off")[1] for _ in range(5))


def measure_summary(table, data, scratch):
    trace, identity = prepare(data.four_files(), scratch)
    taken = cold_summary(scratch, trace, identity)
    restart = statistics.median(first_answer(scratch, trace, identity, "")[0] for _ in range(5))
    for name, question in (("count and sums by cat and name", duck.SUMS), ("the same with busy time", duck.BUSY)):
        yardstick, why = duck.ask(trace, scratch, question)
        if yardstick:
            table.add("cold summary (all layers, busy and exposed time)", seconds(taken), f"DuckDB, {name}", seconds(yardstick),
                      f"{yardstick / taken:.1f} x faster", ">= 3 x")
        else:
            table.add("cold summary", seconds(taken), f"DuckDB, {name}", "left out", why)
    table.add("restart to first summary", seconds(restart), "", "", "", "<= 200 ms")


def measure_summary_of_replicas(table, data, scratch):
    trace, identity = prepare(data.replicas(), scratch)
    table.add("cold summary of replicas of a real trace", seconds(cold_summary(scratch, trace, identity)), "", "", "", "<= 120 ms")


def measure_cached(table, data, scratch):
    if not shutil.which("wrk") or not (shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")):
        return table.leave_out("cached summary", "wrk or nginx is missing")
    trace, identity = prepare(data.four_files(), scratch)
    with Daemon(scratch / "store", [trace.path], QUIET) as daemon:
        path = f"/api/v1/traces/{identity}/summary"
        content = daemon.request("GET", path)[2]
        with nginx(scratch, content) as url:
            for connections in (1, 64):
                ours, theirs = wrk(daemon.base + path, connections), wrk(url, connections)
                if connections == 1:
                    table.add("cached summary, one connection", seconds(ours[0]), f"nginx, the same {len(content):,} bytes",
                              seconds(theirs[0]), f"{ours[0] / theirs[0]:.2f} x", "<= 2 x")
                else:
                    table.add("cached summary, 64 connections", f"{ours[1]:,.0f}/s", "nginx", f"{theirs[1]:,.0f}/s",
                              f"{ours[1] / theirs[1]:.2f} x", ">= 0.5 x")


def measure_restart(table, data, scratch):
    """how long a store of many traces takes to open"""
    tiny, folder = data.tiny(), scratch / "many"
    count = 100 if data.quick else TRACES
    with Daemon(scratch / "store", [folder.parent]) as daemon:
        jobs = []
        for i in range(count):
            (folder / str(i)).mkdir(parents=True)
            shutil.copy(tiny.files[0], folder / str(i))
            jobs.append(daemon.register(folder / str(i))[1])
            if len(jobs) >= 200:
                daemon.wait(jobs.pop(0))
        for job in jobs:
            daemon.wait(job)
    start = time.perf_counter()
    with Daemon(scratch / "store", [folder.parent]) as daemon:
        daemon.get("/api/v1/traces")
        taken = time.perf_counter() - start
    table.add(f"restart with {count:,} traces, first answer", seconds(taken), "", "", "", "<= 1 s")
