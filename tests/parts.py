#!/usr/bin/env python3
"""The parts of the test run; tests/run installs what they need and starts this.

To add one: a function `part_NAME(builds, count)` below; its place in this file is its place in the run (long ones
first, so that none is left over at the end), its docstring what --list says. It uses
the build "asan", unless BUILD_OF names another. Parts run side by side, as many as there are processors and one more, since many wait; what each
says is printed in one piece when it ends. Each counts what passed, failed and was skipped (Count in running.py). The runners of other folders
(golden, api, openapi, browser, robustness) are programs that end in a line `N passed, N failed[, N skipped]` and name each skip,
`skipped NAME: needs WHAT: why`; they find the daemon and the generator by STRATAD and STRATA_GENERATE, and the given traces by
STRATA_SHARED (default: ../shared beside the tree; absent: skipped).
"""
import argparse
import concurrent.futures
import json
import os
import re
import shutil
import subprocess
import sys
import time

from builds import Builds
from running import ROOT, SUMMARY, Count, kill_all

HERE = ROOT / "tests"
FUZZ_SECONDS = int(os.environ.get("FUZZ_SECONDS", "5"))
BUILD_OF = {"checks": None, "browser": "release", "docs": "release", "fuzz": "fuzz", "tsan": "tsan"}


def count_test(test, name, count):
    """one program of meson's report; Criterion's say themselves how many tests they ran"""
    said = test.get("stdout", "") + test.get("stderr", "")
    synthesis = re.search(r"Tested: (\d+) \| Passing: (\d+) \| Failing: (\d+) \| Crashing: (\d+)", said)
    for skipped, why in re.findall(r"^\[SKIP\] (\S+): (.*)$", said, re.M):
        count.skip(f"{name} {skipped}", why)
    if test["result"] == "SKIP":
        why = re.search(r"^skipped: (.*)$", said, re.M)
        count.skip(name, why[1] if why else "it does not say why")
    elif test["result"] == "OK" and synthesis:
        count.add(int(synthesis[1]))
    else:
        count.check(test["result"] == "OK", f"{name}: {test['result']}")


def meson_tests(builds, kind, suites, count, wrapper=()):
    """runs meson's tests and counts them one by one, out of its log"""
    folder = builds.get(kind)
    if not folder:
        return count.check(False, f"build of {kind}")
    log = "-".join(["testlog", *suites])  # of its own: suites of one build run side by side
    command = ["meson", "test", "-C", folder, "--no-rebuild", "--print-errorlogs", "--timeout-multiplier", "5", "--logbase", log]
    for suite in suites:
        command += ["--suite", suite]
    report = folder / "meson-logs" / f"{log}.json"
    report.unlink(missing_ok=True)
    status, _ = count.run([*wrapper, *command], env={"CRITERION_VERBOSITY_LEVEL": "1"}, quiet=True)
    failed_before = count.failed
    for line in report.read_text().splitlines() if report.exists() else ():
        test = json.loads(line)
        count_test(test, f"{kind} {test['name']}", count)
    if status and count.failed == failed_before:
        count.check(False, f"meson test of {kind}")


def program(builds, kind, path, count, arguments=(), env=None, wrapper=()):
    """runs a runner of another folder and takes over its last count; @kind: of the build that it uses, or None"""
    tools = builds.tools(kind) if kind else {}
    if tools is None:
        return count.check(False, f"build of {kind}")
    status, output = count.run([*wrapper, path, *arguments], env={**tools, **(env or {})})
    found = SUMMARY.findall(output)
    if not found:
        return count.check(False, f"{path.relative_to(ROOT)}: no count, exit status {status}")
    passed, failed, skipped = (int(x or 0) for x in found[-1])
    count.add(passed, failed)
    count.skipped_by(output, skipped)
    if status and not failed:
        count.check(False, f"{path.relative_to(ROOT)}: exit status {status}")


def c_files(*folders):
    return [p for d in folders for p in sorted((ROOT / d).rglob("*.[ch]"))]


def clang_14(tool, count):
    """whether it is there; other versions format otherwise, and find other things"""
    version = shutil.which(tool) and re.search(r"version (\d+)", subprocess.getoutput(f"{tool} --version"))
    if version and version[1] == "14":
        return True
    count.skip(tool, f"needs {'clang-14' if version else tool}: {version[0] if version else 'it is not installed'}")
    return False


def check_format(count):
    if not clang_14("clang-format", count):
        return
    _, output = count.run(["clang-format", "--dry-run", "-Werror", *c_files("common", "server", "tests")], quiet=True)
    unformatted = sorted(set(re.findall(r"^(\S+?):\d+:\d+: error", output, re.M)))
    count.check(not unformatted, f"format: {' '.join(os.path.relpath(f, ROOT) for f in unformatted)}")


def part_checks(builds, count):
    """includes, settings, format, lint of the dashboard"""
    for script in ("check_includes", "check_settings"):
        count.check(count.run([HERE / script], quiet=True)[0] == 0, script)
    check_format(count)
    program(builds, None, HERE / "lint/run", count, arguments=[builds.folder / "lint"])


def part_unit(builds, count):
    """unit tests, ASan and UBSan"""
    meson_tests(builds, "asan", ["unit"], count)


def part_api(builds, count):
    """the HTTP interface of the real daemon"""
    program(builds, "asan", HERE / "api/run.py", count)


def part_tsan(builds, count):
    """unit tests and a short run of the interface under TSan"""
    fixed = ["setarch", "-R"] if shutil.which("setarch") else []  # TSan wants addresses that are not randomised much
    meson_tests(builds, "tsan", ["unit"], count, wrapper=fixed)
    program(builds, "tsan", HERE / "api/run.py", count, arguments=["--smoke"], wrapper=fixed)


def part_robustness(builds, count):
    """kill -9, full disk, two daemons, hostile and heavy queries, no memory"""
    program(builds, "asan", HERE / "robustness/run", count)
    program(builds, "release", HERE / "robustness/address_space.py", count)  # a sanitizer would not survive it


def part_browser(builds, count):
    """the page in a real browser"""
    program(builds, "release", HERE / "browser/run", count)


def part_docs(builds, count):
    """the Python package, the notebook, every example of README and docs/"""
    program(builds, "release", HERE / "docs/run", count)


def part_cluster(builds, count):
    """a daemon of several MPI ranks against the single one"""
    program(builds, "asan", HERE / "cluster/run", count)


def part_tidy(builds, count):
    """.clang-tidy without the static analyzer, which takes minutes: `clang-tidy -p BUILD FILE` runs that as well"""
    folder = builds.get("asan")
    if not folder:
        return count.check(False, "build of asan")
    if not clang_14("clang-tidy", count):
        return

    def findings(file):
        tidy = ["clang-tidy", "-p", folder, "--quiet", "--checks=-clang-analyzer-*", file]
        return re.findall(r"^\S+:\d+:\d+: error.*", count.run(tidy, quiet=True, nice=5)[1], re.M)

    sources = [file for file in c_files("common", "server", "tests/data") if file.suffix == ".c"]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        found = sorted({finding for some in pool.map(findings, sources) for finding in some})
    count.check(not found, "\n".join(["tidy:", *found]))


def part_random(builds, count):
    """random queries, overlaps and record files, against the oracles"""
    program(builds, "asan", HERE / "random/run", count)
    program(builds, "asan", HERE / "random/dasf", count)
    program(builds, "asan", HERE / "random/findings", count)


def part_faults(builds, count):
    """every file call and allocation of ingest, publish, read and delete fails once"""
    meson_tests(builds, "asan", ["faults"], count)


def part_golden(builds, count):
    """given and generated traces through the daemon, against known results"""
    program(builds, "asan", HERE / "golden/run", count)


def part_openapi(builds, count):
    """every route and method against the OpenAPI document; OPENAPI_SECONDS says how long"""
    program(builds, "asan", HERE / "openapi/run", count)


def part_fuzz(builds, count):
    """libFuzzer, a few seconds each; FUZZ_SECONDS says how many"""
    folder = builds.get("fuzz")
    if not folder:
        return count.check(False, "build of fuzz")
    for target in sorted((folder / "tests/fuzz").glob("fuzz_*")):
        if target.is_file() and not target.suffix:
            fuzz(folder, target, target.name.removeprefix("fuzz_"), count)


LONGEST_INPUT = {"lines": 600}  # bytes: a few lines, of which some 30,000 are read in a second; long inputs are replayed


def fuzz(folder, target, name, count):
    finds = folder / "finds" / name
    finds.mkdir(parents=True, exist_ok=True)
    inputs = [HERE / "fuzz" / kind / name for kind in ("corpus", "regression")]
    status, output = count.run([target, f"-max_total_time={FUZZ_SECONDS}", "-entropic=0", f"-max_len={LONGEST_INPUT.get(name, 0)}", "-timeout=20",
                                "-rss_limit_mb=3000", "-print_final_stats=1", f"-artifact_prefix={finds}/", finds, *[i for i in inputs if i.is_dir()]], quiet=True)
    count.check(status == 0, f"fuzz {name} (input kept in {finds})")
    executed = re.search(r"number_of_executed_units: +(\d+)\n.*average_exec_per_sec: +(\d+)", output)
    count.say(f"fuzz {name}: {int(executed[1]):,} executions, {int(executed[2]):,}/s" if executed else f"fuzz {name}: ended early")


def part_replay(builds, count):
    """every input of the fuzz targets, replayed"""
    meson_tests(builds, "asan", ["fuzz"], count)


PARTS = {name.removeprefix("part_"): f for name, f in list(globals().items()) if name.startswith("part_")}


def run_part(name, builds, live, required, without):
    """its count, and what it took"""
    count = Count(live)
    count.say(f"== {name}: {PARTS[name].__doc__}")
    try:
        PARTS[name](builds, count)
    except Exception as error:  # the other parts go on
        count.check(False, f"{name}: {type(error).__name__}: {error}")
    if name in required:
        count.require(without)
    count.end()
    return count


def run_parts(names, builds, arguments):
    """[Count]; those that wait leave the processors to others"""
    builds.start(dict.fromkeys(kind for kind in (BUILD_OF.get(name, "asan") for name in names) if kind))
    live = len(names) == 1 or arguments.jobs == 1
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        running = [pool.submit(run_part, name, builds, live, arguments.require, arguments.without) for name in names]
        return [one.result() for one in running]


def parts_named(text):
    names = list(PARTS) if text == "all" else text.split(",")
    if unknown := set(names) - set(PARTS):
        raise argparse.ArgumentTypeError(f"no such part: {', '.join(unknown)}; there are {', '.join(PARTS)}")
    return names


def parse():
    parser = argparse.ArgumentParser(description="Runs every test; ends in a line N passed, N failed[, N skipped].")
    parser.add_argument("--only", type=parts_named, default=list(PARTS), help="parts, with commas between")
    parser.add_argument("--require", type=parts_named, default=[], metavar="PARTS",
                        help="parts (or all) in which a skipped test is a failure, unless it needs what only some machines have")
    parser.add_argument("--without", type=lambda text: text.split(","), default=[], metavar="NEEDS", help="what this machine may lack besides, such as chromium,npm")
    parser.add_argument("--build", default=str(ROOT / "build-tests"), help="folder of the builds")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() + 1, help="parts at once (default %(default)s)")
    parser.add_argument("--list", action="store_true", help="name the parts")
    return parser.parse_args()


def main():
    arguments = parse()
    if arguments.list:
        print("\n".join(f"{name:12} {part.__doc__}" for name, part in PARTS.items()))
        return 0
    start, total = time.monotonic(), Count()
    try:
        counts = run_parts(arguments.only, Builds(arguments.build), arguments)
    except KeyboardInterrupt:
        kill_all()
        os._exit(130)
    print("==")
    for name, count in zip(arguments.only, counts):
        print(f"{name:12} {count}  ({count.took:.0f} s, {count.processor:.0f} s of processor)")
        total.add(count.passed, count.failed, count.skipped)
    print(f"in {time.monotonic() - start:.0f} s")
    for skip in [skip for count in counts for skip in count.skips]:
        print(f"skipped {skip}")
    for name, count in zip(arguments.only, counts):
        print("".join(f"flaky {name}: {failure}\n" for failure in count.flaky), end="")
        print("".join(f"FAILED {name}: {failure}\n" for failure in count.failures), end="")  # again, where it is not overlooked
    print(total)
    return 1 if total.failed or not total.passed else 0


if __name__ == "__main__":
    sys.exit(main())
