"""kill -9 while a trace is followed: after a restart the version of before or a later one is there, whole, and following goes on."""
import json
import random
import time
from daemon import Daemon, wait_until

T0 = 1_700_000_000_000_000


def lines(count, start):
    return "".join(json.dumps({"id": i, "name": "read", "cat": "POSIX", "pid": 1, "tid": 1, "ts": T0 + i * 1000, "dur": 400, "ph": "X", "args": {"ret": i}}) + "\n"
                   for i in range(start, start + count)).encode()


class Writer:
    """appends lines in two halves, as a program with a buffer does"""

    def __init__(self, file, moments):
        self.file, self.moments, self.written = file, moments, 0

    def write(self):
        count = self.moments.randint(1, 300)
        data = lines(count, self.written)
        cut = self.moments.randrange(len(data))
        for part in (data[:cut], data[cut:]):
            with open(self.file, "ab") as out:
                out.write(part)
            time.sleep(self.moments.random() * 0.05)
        self.written += count


def totals(daemon, path):
    """(events, largest ret, sum of ret) of what is asked"""
    return daemon.get(f"{path}/query?aggregate=n:count()&aggregate=last:max(args.ret)&aggregate=all:sum(args.ret)")["data"][0]


def expected(events):
    return [events, events - 1, events * (events - 1) // 2]


def run(checks, folder, kills, seed):
    seed = random.randrange(1 << 30) if seed is None else seed
    print(f"seed {seed}")
    moments = random.Random(seed)
    (folder / "trace").mkdir(parents=True)
    writer = Writer(folder / "trace" / "rank-0.pfw", moments)
    writer.write()
    with Daemon(folder / "store", [folder]) as daemon:
        trace, _ = daemon.register(folder / "trace", follow=True)
        path = f"/api/v1/traces/{trace['id']}"
        wait_until(lambda: daemon.get(path)["events"] == writer.written, what="the first version")
        for i in range(kills):
            label = f"kill {i + 1} while a trace is followed, seed {seed}"
            before, end = daemon.get(path)["events"], time.monotonic() + moments.uniform(0, 2)
            while time.monotonic() < end:
                writer.write()
            daemon.kill()
            daemon.start()
            found = totals(daemon, path)
            checks.check(before <= found[0] <= writer.written and found == expected(found[0]), f"{label}: {found}")
            checks.check(daemon.get(path)["live"], f"{label}: it is not followed any more")
            wait_until(lambda: daemon.get(path)["events"] == writer.written, what="following")
            checks.equal(totals(daemon, path), expected(writer.written), label)
        report = daemon.get(path + "/report")["totals"]
        checks.equal((report["lines"], report["malformed"]), (writer.written, 0), "the report after all")
