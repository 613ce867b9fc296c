"""kill -9 of ranks within an ingest: what is published stays whole, what other ranks had done is kept, and nothing is left over."""
import os
import random
import re
import shutil
import signal
import struct
import time

from daemon import Daemon, generate, wait_until
from scene import QUERIES, Ranks, answers, plain

QUIET = ["--compaction", "off"]
ASKED = {"queries": QUERIES[:4], "views": ["summary"], "overlaps": []}
FILES = 12
HEAD = 80  # bytes of the journal's first record
ENVELOPE = 56  # bytes of the head of a record


def has_a_unit(journal):
    """whether the second record is whole (FORMAT.md)"""
    return len(journal) >= HEAD + ENVELOPE and len(journal) >= HEAD + ENVELOPE + struct.unpack_from("<Q", journal, HEAD + 32)[0]


class Place:
    """a trace whose files change, and the store that ranks make of it"""

    def __init__(self, folder, seed, files=FILES, options=(), **generated):
        """@options: of ranks"""
        self.folder, self.random, self.options = folder, random.Random(seed), options
        self.variants = [0] * files
        self.trace_folder, self.store, self.fresh_stores = folder / "trace", folder / "store", 0
        folder.mkdir()
        self.trace_folder.mkdir()
        for variant in range(3):
            generate(folder / f"variant-{variant}", events=40000, ranks=FILES, workers=1, hosts=2, output_files=files, seed=50 + variant, **generated)
        for number in range(files):
            self.put(number, 0)
        with Daemon(self.store, [folder], QUIET) as daemon:
            self.trace = daemon.ingest(self.trace_folder)["id"]
            self.published = self.asked(daemon)

    def put(self, number, variant):
        """one file of the trace, of one of the variants"""
        self.variants[number] = variant
        files = sorted((self.folder / f"variant-{variant}").iterdir())
        shutil.copy(files[number], self.trace_folder / files[number].name)

    def change(self, share):
        for number in range(len(self.variants)):
            if self.random.random() < share:
                self.put(number, self.random.randrange(3))

    def change_all(self):
        for number in range(len(self.variants)):
            self.put(number, (self.variants[number] + 1) % 3)

    def asked(self, daemon):
        return plain(answers(daemon, self.trace, **ASKED), self.trace)

    def refresh(self, daemon):
        answer = daemon.call("POST", f"/api/v1/traces/{self.trace}/refresh")
        return answer.get("job") if answer else None

    def finish(self, daemon):
        """refreshes until there is nothing to do"""
        wait_until(lambda: daemon.get(f"/api/v1/traces/{self.trace}")["state"] in ("ready", "stale"), what="that the trace is at rest")
        job = self.refresh(daemon)
        if job:
            daemon.wait(job)
        return self.asked(daemon)

    def fresh(self):
        """what a single daemon says that reads the files as they are now"""
        self.fresh_stores += 1
        store = self.folder / f"fresh-{self.fresh_stores}"
        with Daemon(store, [self.folder], QUIET) as daemon:
            trace = daemon.ingest(self.trace_folder)["id"]
            found = plain(answers(daemon, trace, **ASKED), trace)
        shutil.rmtree(store)
        return found

    def journals(self):
        return list((self.store / "traces" / self.trace).glob("*.journal"))

    def wait_for_a_unit(self):
        """until the journal has what a unit gave, whole: while it is written the file grows bit by bit"""
        wait_until(lambda: any(has_a_unit(journal.read_bytes()) for journal in self.journals()), what="that a unit is in the journal")

    def versions_files(self):
        """names of what belongs to the version, but for what the background makes"""
        return {f.name for f in (self.store / "traces" / self.trace).iterdir() if not re.match("kept-|lanes-", f.name)}

    def single(self):
        return Daemon(self.store, [self.folder], QUIET)

    def ranks(self, count=3):
        return Ranks(count, self.store, [self.folder], [*QUIET, *self.options])


def kept(checks, place, unit, expected):
    """ranks that die after others have read some units: whether the next start goes on from there"""
    for what, again in (("ranks", place.ranks), ("one daemon", place.single), ("changed", place.ranks), ("torn", place.single)):
        place.change_all()
        daemon = place.ranks()
        os.kill(daemon.pid_of(2), signal.SIGSTOP)  # so that the ingest cannot end
        place.refresh(daemon)
        place.wait_for_a_unit()
        daemon.signal(0, signal.SIGKILL)
        checks.check(daemon.ended() not in (None, 0), "the job ends when rank 0 is killed")
        if what == "changed":
            place.change_all()
        if what == "torn":
            os.truncate(place.journals()[0], HEAD + 50)
        log = len(daemon.log_path.read_text())
        with again() as daemon:
            got = place.finish(daemon)
            went_on = re.findall(rf'Goes on with an ingest that was interrupted.*"{unit}":"(\d+)"', daemon.log_path.read_text()[log:])
        checks.check(got == place.fresh(), f"answers after an ingest was gone on with: {what}")
        checks.equal(bool(went_on) and int(went_on[0]) > 0, what in expected, f"goes on where ranks were killed: {what}")
        whole = place.versions_files()
        place.single().stop()
        checks.equal(place.versions_files(), whole, f"files of the trace after another start: {what}")
        checks.equal(place.journals(), [], f"journals that are left: {what}")


def done_units_are_kept(checks, scene):
    """of files, by ranks and by one daemon; of ranges of a file by ranks; not when files changed, nor what a journal lacks at its end"""
    kept(checks, Place(scene.folder / "kept", 7), "files", ("ranks", "one daemon"))
    for gzip, least in (("none", "64KiB"), ("many", "4KiB")):
        kept(checks, Place(scene.folder / f"kept-{gzip}", 9, 1, ["--rank-range", least], gzip=gzip), "ranges", ("ranks",))


def units_of_an_ended_daemon_are_kept(checks, scene):
    """a job that ends in order within an ingest (a time limit): the next start goes on from what ranks had read"""
    place = Place(scene.folder / "stopped", 8)
    place.change_all()
    daemon = place.ranks()
    slow = daemon.pid_of(2)
    os.kill(slow, signal.SIGSTOP)  # so that the ingest cannot end
    place.refresh(daemon)
    place.wait_for_a_unit()
    daemon.signal(0, signal.SIGTERM)
    wait_until(lambda: '"Stopping"' in daemon.log_path.read_text(), what="that the daemon stops")
    time.sleep(0.5)
    os.kill(slow, signal.SIGCONT)
    checks.equal(daemon.ended(), 0, "the job ends in order")
    log = len(daemon.log_path.read_text())
    with place.single() as daemon:
        checks.check(place.finish(daemon) == place.fresh(), "answers after an ended ingest was gone on with")
        checks.check("Goes on with an ingest that was interrupted" in daemon.log_path.read_text()[log:], "goes on where the daemon was ended")
    checks.equal(place.journals(), [], "journals that are left")


def tear(place):
    """what a power loss does to the end of a file"""
    for journal in place.journals():
        size = journal.stat().st_size
        os.truncate(journal, max(0, size - place.random.randrange(1, 400)))


def moment(checks, place, span, what):
    """one kill within an ingest of changed files, and what the next starts make of it"""
    place.change(1)
    daemon = place.ranks()
    place.refresh(daemon)
    time.sleep(place.random.uniform(0, span))
    rank = place.random.choice((0, 2))
    daemon.signal(rank, signal.SIGKILL)
    checks.check(daemon.ended() not in (None, 0), f"{what}: the job ends when rank {rank} is killed")
    if place.random.random() < 0.3:
        tear(place)
    before = place.fresh()
    with place.random.choice((place.ranks, place.single))() as daemon:
        checks.check(place.asked(daemon) in (place.published, before), f"{what}: the old version or the new one")
        if place.random.random() < 0.5:
            place.change(0.2)
        place.published = place.finish(daemon)
    checks.check(place.published == place.fresh(), f"{what}: answers after the next start")
    whole = place.versions_files()
    place.single().stop()
    checks.equal(place.versions_files(), whole, f"{what}: files of the trace after another start")


def killed_at_any_moment(checks, scene):
    """kill -9 of rank 0, or of another, at random moments of ingests, of files and of ranges of one, plain or packed, by turns: --kills of them; as many as fit into a minute without it"""
    seed = scene.options.seed
    places = [Place(scene.folder / "any-moment", seed)]
    places += [Place(scene.folder / f"any-moment-{gzip}", seed, 1, ["--rank-range", "16KiB"], gzip=gzip) for gzip in ("none", "many")]
    spans = []
    for place in places:
        with place.ranks() as daemon:
            place.change(1)
            began = time.monotonic()
            place.published = place.finish(daemon)
            spans.append(time.monotonic() - began)
    began = time.monotonic()
    count = 0
    while count < scene.options.kills if scene.options.kills else time.monotonic() - began < 60:
        which = count % len(places)
        count += 1
        moment(checks, places[which], spans[which], f"kill {count} of seed {seed}")
    print(f"   {count} kills", flush=True)
