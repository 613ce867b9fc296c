"""kill -9 while a lane file is written: after a restart the timeline answers as before, and the file is whole or absent."""
import random
import time
from daemon import Daemon, generate, wait_until

CALLS = ("timeline/lanes", "timeline/events?width=700", "timeline/density?width=300", "timeline/statistics")


def answers(daemon, trace):
    return [daemon.get(f"/api/v1/traces/{trace}/{call}") for call in CALLS]


def files(store):
    return sorted(p.name for p in store.glob("traces/*/lanes-*"))


def whole(store):
    return len(files(store)) == 1 and not files(store)[0].endswith((".tmp", ".damaged"))


def run(checks, folder, kills, seed):
    seed = random.randrange(1 << 30) if seed is None else seed
    print(f"seed {seed}")
    moments = random.Random(seed)
    folder.mkdir()
    generate(folder / "trace", events=300000, ranks=2, seed=7)
    store = folder / "store"
    with Daemon(store, [folder]) as daemon:
        trace = daemon.ingest(folder / "trace")["id"]
        start = time.monotonic()
        expected = answers(daemon, trace)
        wait_until(lambda: whole(store), what="the lane file")
        length = time.monotonic() - start
        for i in range(kills):
            label = f"kill {i + 1} of the lane file, seed {seed}"
            daemon.stop()
            for path in store.glob("traces/*/lanes-*"):
                path.unlink()
            daemon.start()
            daemon.get(f"/api/v1/traces/{trace}/timeline/lanes")
            time.sleep(moments.uniform(0, length))
            daemon.kill()
            daemon.start()
            checks.check(not any(name.endswith((".tmp", ".damaged")) for name in files(store)), f"{label}: {files(store)} are left")
            checks.equal(answers(daemon, trace), expected, label)
        wait_until(lambda: whole(store), what="the lane file after all")
