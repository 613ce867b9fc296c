"""A second daemon on the same store refuses and names the first one's pid; after the first was killed the store opens."""
import subprocess
from daemon import Daemon, generate


def run(checks, folder):
    folder.mkdir()
    generate(folder / "trace", events=5000)
    first = Daemon(folder / "store", [folder])
    trace = first.ingest(folder / "trace")
    second = subprocess.run(Daemon(folder / "store", [folder], start=False).command(), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            text=True, timeout=60)
    checks.check(second.returncode in (1, 2), f"exit status of the second daemon: {second.returncode}")
    checks.equal(second.stdout, "", "standard output of the second daemon")
    checks.check(str(first.process.pid) in second.stderr, f"the second daemon names the pid {first.process.pid}: {second.stderr}")
    checks.equal(first.get(f"/api/v1/traces/{trace['id']}")["state"], "ready", "the first daemon serves on")
    first.kill()
    first.start()
    checks.equal(first.get(f"/api/v1/traces/{trace['id']}")["events"], trace["events"], "events after kill and restart")
    checks.equal(first.stop(), 0, "exit status when asked to stop")
