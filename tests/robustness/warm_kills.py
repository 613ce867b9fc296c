"""kill -9 while a daemon ends and writes which columns are read: the next start knows of the last whole list, warms its columns, and answers as before."""
import random
import signal
import time
from daemon import Daemon, generate, wait_until

QUERIES = ("group_by=func_name&aggregate=n:count()", "group_by=cat&aggregate=sum:sum(time)", "group_by=pid&aggregate=size:sum(size)", "aggregate=n:nunique(file_name)")


def answers(daemon, trace):
    found = [daemon.get(f"/api/v1/traces/{trace}/query?{query}") for query in QUERIES]
    for answer in found:
        answer.pop("next", None)
    return found


def end(daemon, seconds):
    """asks it to end, and kills it so long after; whether it had ended"""
    daemon.process.send_signal(signal.SIGTERM)
    time.sleep(seconds)
    ended = daemon.process.poll() is not None
    daemon.kill()
    return ended


def warmed(daemon):
    wait_until(lambda: any((job["kind"], job["state"]) == ("warm", "done") for job in daemon.get("/api/v1/jobs")["jobs"]), what="warming ends")
    return daemon.metric("strata_columns_warmed_total")


def ask_another(daemon, trace, moments):
    """so that the list changes"""
    warmed(daemon)
    daemon.get(f"/api/v1/traces/{trace}/query?{moments.choice(QUERIES)}&filter=pid>{moments.randrange(1000000)}")


def run(checks, folder, kills, seed):
    seed = random.randrange(1 << 30) if seed is None else seed
    print(f"seed {seed}")
    moments = random.Random(seed)
    folder.mkdir()
    generate(folder / "trace", events=100000, output_files=2, seed=7)
    store = folder / "store"
    with Daemon(store, [folder], options=["--compaction", "off"]) as daemon:
        trace = daemon.ingest(folder / "trace")["id"]
        expected = answers(daemon, trace)
        daemon.stop()
        daemon.start()
        ask_another(daemon, trace, moments)
        start = time.monotonic()
        daemon.stop()
        length, ended = time.monotonic() - start, 0
        for i in range(kills):
            label = f"kill {i + 1} while the list of columns is written, seed {seed}"
            daemon.start()
            ask_another(daemon, trace, moments)
            ended += end(daemon, moments.uniform(0, length * 1.2))
            daemon.start()
            checks.check(warmed(daemon) > 0, f"{label}: nothing was warmed")
            checks.equal(answers(daemon, trace), expected, label)
            left = [path.name for path in (store / "kept").iterdir() if path.suffix]
            checks.check(not left, f"{label}: {left} are left")
            daemon.stop()
        print(f"{kills - ended} kills came before its end, {ended} after it")
        daemon.start()
