"""Times of files that no clock should give: in 1970, and in the year 2100. They are data, not a reason to fail or to read again."""
import os
from daemon import Daemon, generate

TIMES = {"in 1970": 0, "in 2100": 4102444800}


def run(checks, folder):
    folder.mkdir()
    with Daemon(folder / "store", [folder]) as daemon:
        for name, time in TIMES.items():
            path = folder / name.replace(" ", "-")
            totals = generate(path, events=5000)
            for source in path.iterdir():
                os.utime(source, (time, time))
            trace = daemon.ingest(path)
            checks.equal((trace["state"], trace["events"]), ("ready", totals["events"]), f"files modified {name}")
            daemon.stop()
            daemon.start()
            checks.equal(daemon.get(f"/api/v1/traces/{trace['id']}")["state"], "ready", f"files modified {name}, after a restart")
