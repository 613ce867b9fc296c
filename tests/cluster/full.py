"""A disk that is full for one rank, or for all: the ingest fails with a sentence, the store stays whole, and with space again all ranks read."""
import os
import pathlib
import resource
import subprocess
import sys

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent.parent / "robustness")]
from daemon import Daemon, generate  # noqa: E402
from full_disk import fill, mount  # noqa: E402
from scene import QUERIES, Ranks, answers, plain  # noqa: E402

QUIET = ["--compaction", "off"]
ASKED = {"queries": QUERIES[:4], "views": ["summary"], "overlaps": []}
FILE_BYTES = 64 << 10  # less than a segment of the large trace


class Disk:
    """a store with a small trace, and a large one that does not fit"""

    def __init__(self, scene, folder, traces, expected):
        self.scene, self.store, self.traces, self.expected = scene, folder / "store", traces, expected

    def ranks(self, **environment):
        program = self.traces / "stratad-of-files-with-a-limit"  # a write past the limit is to fail, not to kill
        program.write_text(f"#!/bin/sh\ntrap '' XFSZ\nexec {Ranks.program()} \"$@\"\n")
        program.chmod(0o755)
        return Ranks(3, self.store, [self.traces], QUIET, environment={"STRATAD_OF_RANKS": program, **environment}, log=self.traces / "disk.log")

    def asked(self, daemon, trace):
        return plain(answers(daemon, trace, **ASKED), trace)

    def check(self, checks, what, fill_disk, empty_disk):
        with self.ranks() as daemon:
            kept = daemon.ingest(self.traces / "small")["id"]
            before = self.asked(daemon, kept)
            fill_disk(daemon)
            trace, job = daemon.register(self.traces / "large")
            ended = daemon.wait(job)
            checks.equal(ended["state"], "failed", f"ingest with a disk that is full for {what}")
            error = str(ended["error"])
            checks.check(str(self.store) in error, f"full for {what}: the error names the path: {error}")
            checks.check(any(word in error.lower() for word in ("space", "too large")), f"full for {what}: it names what is missing: {error}")
            self.scene.all_rest(daemon, f"after a disk was full for {what}")
            checks.equal(daemon.request("GET", "/healthz")[0], 200, f"health after a disk was full for {what}")
            checks.check(self.asked(daemon, kept) == before, f"what was published, with a disk that is full for {what}")
            empty_disk(daemon)
            daemon.wait(daemon.call("POST", f"/api/v1/traces/{trace['id']}/refresh")["job"])
            checks.check(self.asked(daemon, trace["id"]) == self.expected, f"answers with space again for {what}")
        with Daemon(self.store, [self.traces], QUIET, log=self.traces / "disk.log") as daemon:
            checks.check(self.asked(daemon, trace["id"]) == self.expected and self.asked(daemon, kept) == before, f"a single daemon on a store whose disk was full for {what}")
        folder = self.store / "traces" / trace["id"]
        checks.equal(list(folder.glob("*.journal")), [], f"journals that are left after a disk was full for {what}")


def limit(daemon, size):
    resource.prlimit(daemon.pid_of(1), resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


def a_disk_is_full(checks, scene):
    """of one rank (a limit of its files stands for it), then of all (a small tmpfs)"""
    traces = scene.folder / "of-disks"
    traces.mkdir()
    generate(traces / "small", events=5000, ranks=2)
    generate(traces / "large", events=600000, ranks=6, output_files=6, seed=3)
    with Daemon(scene.folder / "of-disks-single", [traces], QUIET) as daemon:
        trace = daemon.ingest(traces / "large")["id"]
        expected = plain(answers(daemon, trace, **ASKED), trace)
    Disk(scene, scene.folder / "limited", traces, expected).check(
        checks, "one rank", lambda daemon: limit(daemon, FILE_BYTES), lambda daemon: limit(daemon, resource.RLIM_INFINITY))
    folder = scene.folder / "small-disk"
    folder.mkdir()
    if not mount(folder):
        checks.skip("a disk that is full for all", "needs mount: no right to mount a small tmpfs")
        return
    try:
        Disk(scene, folder, traces, expected).check(checks, "all ranks", lambda daemon: fill(folder / "filler"), lambda daemon: os.unlink(folder / "filler"))
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=False)
