"""kill -9 at random moments of an ingest or a refresh, then a restart: what was published is unchanged, what was not is finished or gone,
and nothing is left behind."""
import random
import shutil
import time
from daemon import Daemon, Refused, generate

SETTLED = ("ready", "failed", "stale")


def files_of(store):
    """{path: bytes} of a store that no daemon has open; the log and lock may differ"""
    return {str(p.relative_to(store)): p.stat().st_size for p in store.rglob("*") if p.is_file()}


def settle(daemon, trace, path):
    """waits until the interrupted trace has ended in some state; registers it again if it was cleaned up"""
    deadline = time.monotonic() + 300
    while time.monotonic() < deadline:
        try:
            now = daemon.get(f"/api/v1/traces/{trace}")
        except Refused as refused:
            if refused.status != 404:
                raise
            return daemon.ingest(path)
        if now["state"] in SETTLED:
            return daemon.ingest(path) if now["state"] == "failed" else now
        time.sleep(0.02)
    raise TimeoutError(f"{trace} is still {now}")


def summary(daemon, trace):
    return daemon.request("GET", f"/api/v1/traces/{trace}/summary")[2]


def kill_during_ingest(checks, daemon, path, delay, label):
    """Gives the id of the trace."""
    trace, _ = daemon.register(path)
    time.sleep(delay)
    daemon.kill()
    daemon.start()
    return trace["id"]


def kill_during_refresh(checks, daemon, path, delay, label):
    trace = daemon.ingest(path)
    for source in sorted(path.glob("*.pfw")):
        shutil.copy(source, source.with_name("more-" + source.name))
    daemon.call("POST", f"/api/v1/traces/{trace['id']}/refresh")
    time.sleep(delay)
    daemon.kill()
    daemon.start()
    return trace["id"]


def round_of(checks, daemon, kept, path, delay, refresh, label):
    twice = refresh
    totals = generate(path, events=150000, output_files=4, ranks=4, seed=99)
    trace = (kill_during_refresh if refresh else kill_during_ingest)(checks, daemon, path, delay, label)
    checks.equal(summary(daemon, kept["id"]), kept["summary"], f"{label}: summary of what was published")
    now = settle(daemon, trace, path)
    if twice and now["events"] == totals["events"]:  # killed before the refresh began: the old version is whole
        job = daemon.call("POST", f"/api/v1/traces/{now['id']}/refresh")
        daemon.wait(job.get("job", job))
        now = daemon.get(f"/api/v1/traces/{now['id']}")
    checks.equal(now["events"], totals["events"] * (2 if twice else 1), f"{label}: events after the restart")
    report = daemon.get(f"/api/v1/traces/{now['id']}/report")
    checks.equal(report["totals"]["lines"], totals["ledger"]["lines"] * (2 if twice else 1), f"{label}: lines after the restart")
    daemon.call("DELETE", f"/api/v1/traces/{now['id']}")
    shutil.rmtree(path)


def run(checks, folder, kills, seed):
    seed = random.randrange(1 << 30) if seed is None else seed
    print(f"seed {seed}")
    moments = random.Random(seed)
    folder.mkdir()
    generate(folder / "kept", events=20000)
    with Daemon(folder / "store", [folder]) as daemon:
        kept = daemon.ingest(folder / "kept")
        kept["summary"] = summary(daemon, kept["id"])
        generate(folder / "probe", events=150000, output_files=4, ranks=4, seed=99)
        start = time.monotonic()
        probe = daemon.ingest(folder / "probe")
        length = time.monotonic() - start
        daemon.call("DELETE", f"/api/v1/traces/{probe['id']}")
        daemon.stop()
        before = files_of(folder / "store")
        daemon.start()
        for i in range(kills):
            delay = moments.uniform(0, length * 1.2)
            label = f"kill {i + 1}, seed {seed}, after {delay:.3f} s"
            round_of(checks, daemon, kept, folder / f"victim-{i}", delay, i % 3 == 2, label)
        daemon.stop()
        after = files_of(folder / "store")
        checks.check(len(after) <= len(before) + 2, f"files left behind: {sorted(set(after) - set(before))[:10]}")
        checks.check(sum(after.values()) <= sum(before.values()) + 65536, f"bytes left behind: {sum(after.values()) - sum(before.values())}")
        daemon.start()
        checks.equal(summary(daemon, kept["id"]), kept["summary"], "summary after all")
