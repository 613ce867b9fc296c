"""A disk that fills up, during an ingest or by a query: it fails with a sentence, the daemon serves on, and with space again it works."""
import json
import os
import shutil
import subprocess
import time
from daemon import Daemon, generate

DISK = 48 << 20
LEFT = 512 << 10


def mount(folder):
    """a small tmpfs; False where that may not be done"""
    if os.geteuid() != 0 or not shutil.which("mount"):
        return False
    return subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK}", "tmpfs", str(folder)], stderr=subprocess.DEVNULL).returncode == 0


def fill(path):
    """leaves LEFT bytes"""
    stat = os.statvfs(path.parent)
    with open(path, "wb") as file:
        os.posix_fallocate(file.fileno(), 0, stat.f_bavail * stat.f_frsize - LEFT)


def check(checks, disk, traces):
    with Daemon(disk / "store", [traces], log=traces / "disk.log") as daemon:
        kept = daemon.ingest(traces / "small")
        before = daemon.request("GET", f"/api/v1/traces/{kept['id']}/summary")[2]
        fill(disk / "filler")
        trace, job = daemon.register(traces / "large")
        ended = daemon.wait(job)
        checks.equal(ended["state"], "failed", "job on a full disk")
        checks.check(str(disk) in str(ended["error"]), f"the error names the path: {ended['error']}")
        checks.check("space" in str(ended["error"]).lower() or "byte" in str(ended["error"]).lower(), f"and what is missing: {ended['error']}")
        checks.equal(daemon.request("GET", "/healthz")[0], 200, "health on a full disk")
        checks.equal(daemon.request("GET", f"/api/v1/traces/{kept['id']}/summary")[2], before, "what was published, on a full disk")
        (disk / "filler").unlink()
        again, job = daemon.register(traces / "large")
        if job is None:
            job = daemon.call("POST", f"/api/v1/traces/{again['id']}/refresh")
            job = job.get("job", job)
        checks.equal(daemon.wait(job)["state"], "done", "ingest with space again")


ALL_ROWS = {"derive": {f"d{i}": f"ts * {i + 2}" for i in range(12)}, "order_by": ["-dur"], "then": {"order_by": ["ts"], "limit": 10}}
FEW_ROWS = {"filter": "dur > 1000000", "order_by": ["-dur"], "limit": 10}


def free(disk):
    stat = os.statvfs(disk)
    return stat.f_bavail * stat.f_frsize


def spill(checks, disk, traces):
    """rows that fit neither memory nor disk: no query takes all of the space, and what it took is freed"""
    with Daemon(disk / "store-spill", [traces], ["--query-memory", "2MiB", "--cache", "1MiB"], log=traces / "spill.log") as daemon:
        path = f"/api/v1/traces/{daemon.ingest(traces / 'large')['id']}/query"
        for left in (free(disk), LEFT):
            if left == LEFT:
                fill(disk / "filler")
            before = free(disk)
            status, _, text = daemon.request("POST", path, ALL_ROWS)
            checks.equal(status, 507, f"a query that needs more than {before} bytes of disk: {text[:200]!r}")
            checks.check(str(disk) in json.loads(text)["detail"], f"it names the folder: {text[:300]!r}")
            end = time.monotonic() + 10
            while free(disk) < before - (64 << 10) and time.monotonic() < end:
                time.sleep(0.01)
            checks.check(free(disk) >= before - (64 << 10), f"of {before} bytes that were free {free(disk)} are after the query")
            checks.equal(daemon.request("POST", path, FEW_ROWS)[0], 200, "a small query after it")
        (disk / "filler").unlink()


def run(checks, folder):
    folder.mkdir()
    disk, traces = folder / "disk", folder / "traces"
    disk.mkdir()
    traces.mkdir()
    if not mount(disk):
        return checks.skip("full disk", "needs mount: no right to mount a small tmpfs")
    try:
        generate(traces / "small", events=5000)
        generate(traces / "large", events=400000)
        check(checks, disk, traces)
        shutil.rmtree(disk / "store")
        spill(checks, disk, traces)
    finally:
        subprocess.run(["umount", "-l", str(disk)])
