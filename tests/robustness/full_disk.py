"""A disk that fills up during an ingest: the job fails with a sentence, the daemon serves on, and with room again it works."""
import os
import shutil
import subprocess
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
        checks.equal(daemon.wait(job)["state"], "done", "ingest with room again")


def run(checks, folder):
    folder.mkdir()
    disk, traces = folder / "disk", folder / "traces"
    disk.mkdir()
    traces.mkdir()
    if not mount(disk):
        return checks.skip("full disk", "no right to mount a small tmpfs")
    try:
        generate(traces / "small", events=5000)
        generate(traces / "large", events=400000)
        check(checks, disk, traces)
    finally:
        subprocess.run(["umount", "-l", str(disk)])
