#!/usr/bin/env python3
"""The parts of the test run; tests/run installs what they need and starts this.

Each part gives (passed, failed, skipped) and names what failed or was skipped. The runners of other folders (golden, api, browser, robustness)
are programs that end in a line `N passed, N failed[, N skipped]`; they find the daemon and the generator by STRATAD and
STRATA_GENERATE, and the given traces by STRATA_SHARED (default: ../shared beside the tree; absent: skipped).
"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
import xml.etree.ElementTree

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
FUZZ_SECONDS = int(os.environ.get("FUZZ_SECONDS", "5"))
SANITIZERS = {
    "ASAN_OPTIONS": "detect_stack_use_after_return=1:strict_string_checks=1",
    "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
    "TSAN_OPTIONS": "halt_on_error=1:second_deadlock_stack=1:report_thread_leaks=0",  # a test ends on purpose while threads run
}
SUMMARY = re.compile(r"(\d+) passed, (\d+) failed(?:, (\d+) skipped)?")


class Count:
    def __init__(self):
        self.passed = self.failed = self.skipped = 0

    def add(self, passed, failed=0, skipped=0):
        self.passed += passed
        self.failed += failed
        self.skipped += skipped

    def check(self, ok, name):
        self.add(int(ok), int(not ok))
        if not ok:
            print(f"FAILED {name}", flush=True)

    def skip(self, name, why):
        self.add(0, 0, 1)
        print(f"skipped {name}: {why}", flush=True)

    def __str__(self):
        return f"{self.passed} passed, {self.failed} failed" + (f", {self.skipped} skipped" if self.skipped else "")


def run(command, env=None, timeout=1500, quiet=False, cwd=ROOT):
    """(exit status, output); the output is shown as it comes, or if @quiet only when the command fails"""
    environment = {**os.environ, **SANITIZERS, **(env or {})}
    process = subprocess.Popen([str(c) for c in command], cwd=cwd, env=environment, text=True, errors="replace", start_new_session=True,
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    watch = threading.Timer(timeout, os.killpg, (process.pid, signal.SIGKILL))
    watch.start()
    lines = []
    for line in process.stdout:
        lines.append(line)
        if not quiet:
            print(line, end="", flush=True)
    status = process.wait()
    watch.cancel()
    output = "".join(lines)
    if status and quiet:
        print(output[-20000:], flush=True)
    return status, output


class Builds:
    """The build folders, each made when first asked for."""

    KINDS = {
        "asan": (["-Db_sanitize=address,undefined", "--buildtype=debugoptimized"], {}),
        "tsan": (["-Db_sanitize=thread", "--buildtype=debugoptimized"], {}),
        "fuzz": (["-Db_sanitize=address,undefined", "--buildtype=debugoptimized", "-Dfuzz=true", "-Ddashboard=disabled"],
                 {"CC": "clang"}),
    }

    def __init__(self, folder):
        self.folder, self.made = pathlib.Path(folder).resolve(), {}

    def get(self, kind):
        """the folder, or None if it does not build"""
        if kind not in self.made:
            self.made[kind] = self.make(kind)
        return self.made[kind]

    def make(self, kind):
        folder, (options, env) = self.folder / kind, self.KINDS[kind]
        common = ["-Dwerror=true", "-Db_lundef=false", "-Dtests=true"]
        print(f"-- building {kind}", flush=True)
        if not (folder / "build.ninja").exists():
            status, _ = run(["meson", "setup", folder, ROOT, *common, *options], env=env, quiet=True)
            if status:
                shutil.rmtree(folder, ignore_errors=True)
                return None
        status, _ = run(["ninja", "-C", folder], quiet=True)
        return None if status else folder

    def tools(self, kind):
        """environment in which runners find the programs of a build"""
        folder = self.get(kind)
        return folder and {"STRATAD": str(folder / "server/stratad"), "STRATA_BUILD": str(folder),
                           "STRATA_GENERATE": str(folder / "tests/data/strata-generate"),
                           "STRATA_SHARED": os.environ.get("STRATA_SHARED", str(ROOT.parent / "shared"))}


def count_case(case, name, count):
    """one program of meson's report; Criterion's say themselves how many tests they ran"""
    good = case.find("failure") is None and case.find("error") is None
    synthesis = re.search(r"Tested: \d+ \| Passing: (\d+) \| Failing: (\d+) \| Crashing: (\d+)", "".join(case.itertext()))
    if case.find("skipped") is not None:
        count.skip(name, "by itself")
    elif good and synthesis:
        count.add(int(synthesis[1]))
    else:
        count.check(good, name)


def meson_tests(builds, kind, suites, count, wrapper=()):
    """runs meson's tests and counts them one by one, out of its JUnit report"""
    folder = builds.get(kind)
    if not folder:
        return count.check(False, f"build of {kind}")
    command = ["meson", "test", "-C", folder, "--no-rebuild", "--print-errorlogs"]
    for suite in suites:
        command += ["--suite", suite]
    report = folder / "meson-logs/testlog.junit.xml"
    report.unlink(missing_ok=True)
    status, _ = run([*wrapper, *command], quiet=True)
    failed_before = count.failed
    for case in xml.etree.ElementTree.parse(report).iter("testcase") if report.exists() else ():
        count_case(case, f"{kind} {case.get('name', '')}", count)
    if status and count.failed == failed_before:
        count.check(False, f"meson test of {kind}")


def program(builds, kind, path, count, arguments=(), env=None, wrapper=()):
    """runs a runner of another folder and takes over its last count"""
    tools = builds.tools(kind)
    if not tools:
        return count.check(False, f"build of {kind}")
    if not path.exists():
        return count.skip(str(path.relative_to(ROOT)), "not there")
    status, output = run([*wrapper, path, *arguments], env={**tools, **(env or {})})
    found = SUMMARY.findall(output)
    if not found:
        return count.check(False, f"{path.relative_to(ROOT)}: no count, exit status {status}")
    passed, failed, skipped = (int(x or 0) for x in found[-1])
    count.add(passed, failed, skipped)
    if status and not failed:
        count.check(False, f"{path.relative_to(ROOT)}: exit status {status}")


def c_files(*folders):
    return [p for d in folders for p in sorted((ROOT / d).rglob("*.[ch]"))]


def is_clang_14(tool):
    """other versions format otherwise, and find other things"""
    version = shutil.which(tool) and re.search(r"version (\d+)", subprocess.getoutput(f"{tool} --version"))
    return bool(version) and version[1] == "14"


def check_format(count):
    if not is_clang_14("clang-format"):
        return count.skip("format", "needs clang-format 14")
    command = ["clang-format", "--dry-run", "-Werror", *c_files("common", "server", "tests")]
    output = subprocess.run(command, stderr=subprocess.PIPE, text=True).stderr
    unformatted = sorted(set(re.findall(r"^(\S+?):\d+:\d+: error", output, re.M)))
    count.check(not unformatted, f"format: {' '.join(os.path.relpath(f, ROOT) for f in unformatted)}")


def check_tidy(builds, count):
    """.clang-tidy without the static analyzer, which takes minutes: `clang-tidy -p BUILD FILE` runs that as well"""
    folder = builds.get("asan")
    if not folder or not is_clang_14("clang-tidy"):
        return count.skip("tidy", "needs clang-tidy 14 and a build")

    def findings(file):
        tidy = ["clang-tidy", "-p", folder, "--quiet", "--checks=-clang-analyzer-*", file]
        return re.findall(r"^\S+:\d+:\d+: error.*", subprocess.run(tidy, capture_output=True, text=True).stdout, re.M)

    sources = [file for file in c_files("common", "server", "tests/data") if file.suffix == ".c"]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        found = sorted({finding for some in pool.map(findings, sources) for finding in some})
    count.check(not found, "\n".join(["tidy:", *found]))


def part_checks(builds, count):
    """includes, settings, format, clang-tidy"""
    for script in ("check_includes", "check_settings"):
        count.check(run([HERE / script], quiet=True)[0] == 0, script)
    check_format(count)
    check_tidy(builds, count)


def part_unit(builds, count):
    """unit tests, ASan and UBSan"""
    meson_tests(builds, "asan", ["unit"], count)


def part_replay(builds, count):
    """every input of the fuzz targets, replayed"""
    meson_tests(builds, "asan", ["fuzz"], count)


def part_golden(builds, count):
    """given and generated traces through the daemon, against known results"""
    program(builds, "asan", HERE / "golden/run", count)


def part_random(builds, count):
    """random queries and overlaps, against the oracles"""
    program(builds, "asan", HERE / "random/run", count)


def part_api(builds, count):
    """the HTTP interface of the real daemon"""
    program(builds, "asan", HERE / "api/run.py", count)


def part_robustness(builds, count):
    """kill -9, full disk, two daemons, hostile and heavy queries"""
    program(builds, "asan", HERE / "robustness/run", count)


def part_browser(builds, count):
    """the page in a real browser"""
    program(builds, "asan", HERE / "browser/run", count)


def part_fuzz(builds, count):
    """libFuzzer, a few seconds each"""
    folder = builds.get("fuzz")
    if not folder:
        return count.check(False, "build of fuzz")
    for target in sorted((folder / "tests/fuzz").glob("fuzz_*")):
        if not target.is_file() or target.suffix:
            continue
        name = target.name.removeprefix("fuzz_")
        fresh = folder / "finds" / name
        fresh.mkdir(parents=True, exist_ok=True)
        inputs = [HERE / "fuzz" / kind / name for kind in ("corpus", "regression")]
        status, _ = run([target, f"-max_total_time={FUZZ_SECONDS}", "-timeout=20", "-rss_limit_mb=3000", f"-artifact_prefix={fresh}/",
                         fresh, *[i for i in inputs if i.is_dir()]], quiet=True)
        count.check(status == 0, f"fuzz {name} (input kept in {fresh})")


def part_tsan(builds, count):
    """unit tests and a short run of the interface under TSan"""
    fixed = ["setarch", "-R"] if shutil.which("setarch") else []  # TSan wants addresses that are not randomised much
    meson_tests(builds, "tsan", ["unit"], count, wrapper=fixed)
    program(builds, "tsan", HERE / "api/run.py", count, arguments=["--smoke"], wrapper=fixed)


PARTS = {name.removeprefix("part_"): f for name, f in list(globals().items()) if name.startswith("part_")}


def main():
    parser = argparse.ArgumentParser(description="Runs every test; ends in a line N passed, N failed.")
    parser.add_argument("--only", default=",".join(PARTS), help="parts, with commas between")
    parser.add_argument("--build", default=str(ROOT / "build-tests"), help="folder of the builds")
    parser.add_argument("--list", action="store_true", help="name the parts")
    arguments = parser.parse_args()
    if arguments.list:
        print("\n".join(f"{name:12} {part.__doc__}" for name, part in PARTS.items()))
        return 0
    unknown = set(arguments.only.split(",")) - set(PARTS)
    if unknown:
        parser.error(f"no such part: {', '.join(unknown)}; there are {', '.join(PARTS)}")
    builds, total, lines = Builds(arguments.build), Count(), []
    for name in arguments.only.split(","):
        count, start = Count(), time.monotonic()
        print(f"== {name}: {PARTS[name].__doc__}", flush=True)
        PARTS[name](builds, count)
        lines.append(f"{name:12} {count}  ({time.monotonic() - start:.0f} s)")
        total.add(count.passed, count.failed, count.skipped)
    print("==\n" + "\n".join(lines))
    print(total)
    return 1 if total.failed or not total.passed else 0


if __name__ == "__main__":
    sys.exit(main())
