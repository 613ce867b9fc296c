"""What a part of the test run is made of: its count, its output, and the programs that it starts."""
import os
import pathlib
import re
import signal
import subprocess
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
SANITIZERS = {
    "ASAN_OPTIONS": "detect_stack_use_after_return=1:strict_string_checks=1",
    "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
    "TSAN_OPTIONS": "halt_on_error=1:second_deadlock_stack=1:report_thread_leaks=0",  # a test ends on purpose while threads run
}
SUMMARY = re.compile(r"(\d+) passed, (\d+) failed(?:, (\d+) skipped)?")
SKIPPED = re.compile(r"^skipped (.+)$", re.M)
FAILED = re.compile(r"^\s*FAILED (.+)$", re.M)
FLAKY = re.compile(r"^flaky (.+)$", re.M)  # passed, but not the first time
TAIL = 20000  # characters of a failed command's output that are shown

# What a skipped test may lack on a machine where all of deploy/packages is installed: `skipped NAME: needs ONE OF THESE: ...`.
# With --require no other skip is green, and "shared" only where that folder is missing.
MAY_LACK = {
    "slurm": lambda: True,  # its daemons, and the right to start them: a cluster of one's own on this machine
    "shared": lambda: not pathlib.Path(os.environ.get("STRATA_SHARED", ROOT.parent / "shared")).is_dir(),
    "clang-14": lambda: True,  # another version is installed; were it none, the name would be clang-format or clang-tidy
    "mount": lambda: True,  # the right to mount a file system
    "pandas": lambda: True,  # a Python with pandas 2, for the oracle
    "pyarrow": lambda: True,  # a Python with pyarrow or polars, for the readers of Arrow
    "two users": lambda: True,  # the right to start a program as another user
    "allocator": lambda: True,  # sanitizers bring their own
    "signals": lambda: True,  # the thread sanitizer handles them by itself
}

started = set()  # processes that run, each the leader of its group
printing = threading.Lock()


def excused(skip, without):
    """whether a skip is green although all tests are required"""
    found = re.search(r": needs ([^:]+)", skip)
    need = found and found[1].strip()
    return need in without or (need in MAY_LACK and MAY_LACK[need]())


class Count:
    """counts of a part, the names of what failed, and what it says: at once if @live, else in one piece when it ends"""

    def __init__(self, live=True):
        self.passed = self.failed = self.skipped = 0
        self.processor, self.start = 0, time.monotonic()
        self.skips, self.failures, self.flaky, self.live, self.text = [], [], [], live, []

    def say(self, text):
        self.failures += FAILED.findall(text)
        self.flaky += FLAKY.findall(text)
        if self.live:
            print(text, flush=True)
        else:
            self.text.append(text)

    def add(self, passed, failed=0, skipped=0):
        self.passed += passed
        self.failed += failed
        self.skipped += skipped

    def check(self, ok, name):
        self.add(int(ok), int(not ok))
        if not ok:
            self.say(f"FAILED {name}")

    def skip(self, name, why):
        self.add(0, 0, 1)
        self.skips.append(f"{name}: {why}")
        self.say(f"skipped {name}: {why}")

    def skipped_by(self, output, count):
        """takes over the skips that a program's output names; one that is not named is a skip without an excuse"""
        named = SKIPPED.findall(output)
        self.skips += named + ["a test that does not say its name"] * max(0, count - len(named))
        self.skipped += count

    def require(self, without):
        """makes failures of the skips that have no excuse"""
        for skip in [s for s in self.skips if not excused(s, without)]:
            self.skips.remove(skip)
            self.add(0, 1, -1)
            self.say(f"FAILED skipped although required: {skip}")

    def end(self):
        self.took = time.monotonic() - self.start
        with printing:
            print("".join(f"{line}\n" for line in self.text), end="", flush=True)

    def run(self, command, env=None, timeout=3600, quiet=False, nice=0):
        """(exit status, output) of a program; the output is shown, or if @quiet only when it fails"""
        environment = {**os.environ, **SANITIZERS, **(env or {})}
        command = ["nice", "-n", str(nice), *command] if nice else command
        process = subprocess.Popen([str(c) for c in command], cwd=ROOT, env=environment, text=True, errors="replace", start_new_session=True,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        started.add(process)
        watch = threading.Timer(timeout, os.killpg, (process.pid, signal.SIGKILL))
        watch.start()
        lines = []
        for line in process.stdout:
            lines.append(line)
            if not quiet:
                self.say(line.rstrip("\n"))
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        watch.cancel()
        started.discard(process)
        self.processor += used.ru_utime + used.ru_stime
        output = "".join(lines)
        if process.returncode and quiet:
            self.say(output[-TAIL:])
        return process.returncode, output

    def __str__(self):
        return f"{self.passed} passed, {self.failed} failed" + (f", {self.skipped} skipped" if self.skipped else "")


def kill_all():
    """whatever still runs, with what it started"""
    for process in list(started):
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
