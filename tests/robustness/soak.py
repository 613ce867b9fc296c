"""Mixed load with little memory and hostile traces, round after round: every answer is right or refused with a sentence, the process never holds much
more than `memory`, and in the last rounds it holds about what it held in the first.

  soak.py [--minutes N] [--scale N] [--clients N]      by hand: 30 minutes, traces of the acceptance: --minutes 30 --scale 50
"""
import argparse
import http.client
import json
import os
import pathlib
import random
import statistics
import sys
import tempfile
import threading
import time

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parent.parent)]
import hostile_traces  # noqa: E402
from daemon import Checks, Daemon, generate, wait_until  # noqa: E402
from heavy_queries import LARGE, MIXED, leaving  # noqa: E402
from memory_limit import COUNTS, LIMITED, MARGIN, MEMORY, MIB, REQUESTS, resident  # noqa: E402

HAVE_RET = ("usual", "one_moment")  # the kinds of traces whose events have args.ret
REST = 13  # seconds after which an idle daemon has freed what it can
SHARE = 1.1  # of the memory after the first third of the rounds (median) that may be in use after the last third: which traces are open at the end of a
# round, and what of them is kept, depends on what was asked last
QUIET = 16 * MIB  # what does not count as growth


def expected(kind, body):
    """the statuses that a request may end with: an answer, or a limit; a column that the trace does not have is refused, if there was memory to read of it"""
    unknown = "args.ret" in json.dumps(body) and kind not in HAVE_RET
    return (400, 503) if unknown else (200, 429, "cut", *LIMITED)


class Peak(threading.Thread):
    """the most that the process holds, without pages of its spill files, which the system takes back when it needs them"""

    def __init__(self, daemon):
        super().__init__(daemon=True)
        self.watched, self.anonymous, self.over = daemon, 0, threading.Event()

    def run(self):
        while not self.over.wait(0.01):
            self.anonymous = max(self.anonymous, resident(self.watched, "RssAnon"))

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *error):
        self.over.set()
        self.join()


ASKED = REQUESTS + [("POST", "query", q) for q in [*MIXED, *LARGE.values()]]


class Round:
    """clients that ask and leave until the requests of a round are through"""

    def __init__(self, daemon):
        self.daemon, self.statuses, self.unexpected, self.lock = daemon, {}, [], threading.Lock()

    def everything(self, traces, clients):
        """each request of each trace once"""
        pairs = iter([(trace, request) for request in ASKED for trace in traces])
        self.run(clients, lambda client: self.take(pairs))

    def some(self, traces, clients, seed, requests):
        """@requests of each client, by chance; some leave early"""
        self.run(clients, lambda client: self.by_chance(traces, random.Random(f"{seed} {client}"), requests))

    def run(self, clients, client):
        threads = [threading.Thread(target=client, args=(i,)) for i in range(clients)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def take(self, pairs):
        while True:
            with self.lock:
                pair = next(pairs, None)
            if pair is None:
                return
            self.ask(*pair)

    def by_chance(self, traces, chance, requests):
        for _ in range(requests):
            trace = chance.choice(traces)
            if chance.random() < 0.1:
                with leaving(self.daemon, f"/api/v1/traces/{trace[1]}/query?format=csv", {}) as connection:
                    connection.recv(chance.randrange(1, 100000))
            else:
                self.ask(trace, chance.choice(ASKED))

    def ask(self, trace, request):
        (kind, identity), (method, path, body) = trace, request
        try:
            status, _, text = self.daemon.request(method, f"/api/v1/traces/{identity}/{path}", body)
        except http.client.IncompleteRead:  # a long answer that met the limit when it was on its way: cut, and logged
            status, text = "cut", b""
        with self.lock:
            self.statuses[status] = self.statuses.get(status, 0) + 1
            if status not in expected(kind, body):
                self.unexpected.append((kind, path, body, status, text[:200]))


def settle(daemon):
    """memory once nothing is worked on"""
    wait_until(daemon.idle, timeout=600, what="nothing is worked on")
    time.sleep(REST)
    return resident(daemon), daemon.metric("strata_memory_bytes")


def one_round(checks, daemon, folder, traces, number, seed, clients):
    """load, and a trace that comes and goes meanwhile; the first round asks everything, so that what is kept of each trace has been made once"""
    passing, job = daemon.register(folder / "passing")
    done = Round(daemon)
    if number == 1:
        done.everything(traces, clients)
    else:
        done.some(traces, clients, seed + number, 4)
    daemon.wait(job)
    daemon.request("DELETE", f"/api/v1/traces/{passing['id']}")
    checks.check(not done.unexpected, f"round {number}: {done.unexpected[:3]}")
    checks.check(done.statuses.get(200, 0) > 0, f"round {number}: {done.statuses}")
    return done.statuses


def little_work(checks, folder):
    """what a query took is freed even where it needed no more than some tens of milliseconds"""
    generate(folder / "wide", events=200000, ranks=2, seed=9)
    with Daemon(folder / "wide-store", [folder], ["--memory", "256MiB"]) as daemon:
        trace, job = daemon.register(folder / "wide")
        daemon.wait(job)
        before, _ = settle(daemon)
        for keys in (["ts", "tid"], ["ts", "pid"]):
            status, _, text = daemon.request("POST", f"/api/v1/traces/{trace['id']}/query", {"group_by": keys, "aggregate": {"n": "count()", "d": "max(dur)"}, "limit": 10})
            checks.check(status == 200, f"{keys}: {text[:200]}")
        after, _ = settle(daemon)
        checks.check(after <= before * SHARE + QUIET, f"held after two queries: {after / MIB:.0f} MiB, before: {before / MIB:.0f} MiB")


def run(checks, folder, minutes=0.0, scale=1, clients=4, seed=1):
    folder.mkdir(exist_ok=True)
    measured = "asan" not in os.environ.get("STRATAD", "")  # a sanitizer holds several times of what is in use
    if measured:
        little_work(checks, folder)
    generate(folder / "usual", events=20000 * scale, ranks=4, seed=7)
    generate(folder / "passing", events=8000 * scale, ranks=2, seed=8)
    for kind, count in COUNTS.items():
        hostile_traces.write(folder / kind, kind, count * scale)
    rounds = []
    with Daemon(folder / "store", [folder], ["--memory", "256MiB"]) as daemon, Peak(daemon) as peak:
        traces = []
        for kind in ["usual", *COUNTS]:
            trace, job = daemon.register(folder / kind)
            if daemon.wait(job)["state"] == "done":
                traces.append((kind, trace["id"]))
        end, number = time.monotonic() + minutes * 60, 0
        while number < 3 or time.monotonic() < end:
            number += 1
            statuses = one_round(checks, daemon, folder, traces, number, seed, clients)
            held, counted = settle(daemon)
            rounds.append((held, counted))
            print(f"round {number}: {held / MIB:.0f} MiB held, {counted / MIB:.0f} MiB counted, at most {peak.anonymous / MIB:.0f} MiB, with pages of files "
                  f"{resident(daemon, 'VmHWM') / MIB:.0f} MiB; {statuses}", flush=True)
        third = max(1, len(rounds) // 3)
        print("held at the end against that after the first round:", f"{statistics.median(held for held, _ in rounds[-third:]) / rounds[0][0]:.3f}")
        first, last = ([statistics.median(column) for column in zip(*part)] for part in (rounds[:third], rounds[-third:]))
        print("held and counted, median of the first and of the last third of the rounds:", *(f"{value / MIB:.0f} MiB" for value in (*first, *last)))
        checks.check(last[1] <= first[1] * SHARE + QUIET, f"counted at the end: {last[1]}, at the beginning: {first[1]}")
        checks.check(daemon.metric("strata_memory_peak_bytes") <= MEMORY + MARGIN, "what was counted at most")
        if measured:
            checks.check(peak.anonymous <= MEMORY + MARGIN, f"held at most: {peak.anonymous / MIB:.0f} MiB")
            checks.check(last[0] <= first[0] * SHARE + QUIET, f"held at the end: {last[0] / MIB:.0f} MiB, at the beginning: {first[0] / MIB:.0f} MiB")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=0)
    parser.add_argument("--scale", type=int, default=1)
    parser.add_argument("--clients", type=int, default=4)
    arguments = parser.parse_args()
    checks = Checks()
    with tempfile.TemporaryDirectory(prefix="strata-soak-") as scratch:
        checks.attempt("soak", run, pathlib.Path(scratch), arguments.minutes, arguments.scale, arguments.clients)
    return checks.end()


if __name__ == "__main__":
    sys.exit(main())
