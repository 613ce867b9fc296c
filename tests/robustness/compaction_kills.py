"""kill -9 at random moments of a compaction: after a restart the trace says what it said, in its old segments or its new ones, and nothing is left behind."""
import random
import shutil
import time
from daemon import Daemon, generate, wait_until

CALLS = ("summary", "events?limit=2000", "query?group_by=func_name,pid&aggregate=n:count()&aggregate=sum:sum(time)", "timeline/lanes")
FILES = 12  # each by a refresh, so that there are as many runs


def answers(daemon, trace):
    found = [daemon.get(f"/api/v1/traces/{trace}/{call}") for call in CALLS]
    for answer in found:
        answer.pop("next", None)  # of one version
    return found


def names(folder):
    return sorted(p.name for p in folder.iterdir())


def of_version(folder):
    """the files that a version consists of, without what is made again beside it"""
    return [name for name in names(folder) if not name.startswith(("kept-", "lanes-"))]


def make(daemon, folder):
    """a trace of many runs"""
    generate(folder / "all", events=240000, output_files=FILES, ranks=FILES, seed=31)
    (folder / "trace").mkdir()
    for path in sorted((folder / "all").iterdir()):
        shutil.copy(path, folder / "trace")
        trace, job = daemon.register(folder / "trace")
        if job:
            daemon.wait(job)
    return trace["id"]


def run(checks, folder, kills, seed):
    seed = random.randrange(1 << 30) if seed is None else seed
    print(f"seed {seed}")
    moments = random.Random(seed)
    folder.mkdir()
    store, saved = folder / "store", folder / "saved"
    with Daemon(store, [folder], options=["--compaction", "off"]) as daemon:
        trace = make(daemon, folder)
        own = store / "traces" / trace
        expected = answers(daemon, trace)
        wait_until(lambda: daemon.idle(30), what="rest")
        daemon.stop()
        shutil.copytree(store, saved)
        before = of_version(own)
        daemon.start()
        start = time.monotonic()
        daemon.wait(daemon.call("POST", f"/api/v1/traces/{trace}/compact")["job"])
        length = time.monotonic() - start
        after = of_version(own)
        checks.check(len(after) < len(before), f"compaction left {after} of {before}")
        old = 0
        for i in range(kills):
            label = f"kill {i + 1} of compaction, seed {seed}"
            daemon.stop()
            shutil.rmtree(store)
            shutil.copytree(saved, store)
            daemon.start()
            daemon.get(f"/api/v1/traces/{trace}/summary")
            daemon.call("POST", f"/api/v1/traces/{trace}/compact")
            time.sleep(moments.uniform(0, length * 1.2))
            daemon.kill()
            daemon.start()
            checks.equal(answers(daemon, trace), expected, label)
            found = of_version(own)
            old += len(found) == len(before)
            checks.check(len(found) in (len(before), len(after)), f"{label}: {found} are left")
            checks.check(not any(name.endswith((".tmp", ".damaged")) for name in found), f"{label}: {found} are left")
        print(f"{old} kills left the old version, {kills - old} the new one")
