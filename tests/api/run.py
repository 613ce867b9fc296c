#!/usr/bin/env python3
"""The HTTP interface of the real daemon: every test of the test_*.py beside this.

  run.py [--smoke] [PATTERN ..]     --smoke: those that exercise threads most, briefly

Finds the programs by STRATAD and STRATA_GENERATE, as tests/daemon.py says. Ends in a line `N passed, N failed[, N skipped]`.
"""
import argparse
import importlib
import pathlib
import re
import sys
import tempfile
import time
import traceback

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
from harness import Scene, Skipped  # noqa: E402

SMOKE = r"test_basics|test_query\.|test_query_streams\.test_(a_long_answer|more_streams)|test_jobs\.|test_views\.|test_overlap\.test_(busy|exposure|series|intervals|the_longest)|test_limits\.test_(one_computation|clients_that_leave|a_full_queue)|test_lifecycle\.test_stop"


def tests(patterns):
    for file in sorted(HERE.glob("test_*.py")):
        module = importlib.import_module(file.stem)
        for name, function in list(vars(module).items()):
            label = f"{file.stem}.{name}"
            if name.startswith("test_") and callable(function) and (not patterns or any(re.search(p, label) for p in patterns)):
                yield label, function


def attempt(label, function, *arguments):
    """whether it passed; None: it was skipped"""
    start = time.monotonic()
    try:
        function(*arguments)
        took = time.monotonic() - start
        print(f"ok      {label}" + (f"  ({took:.1f} s)" if took > 2 else ""), flush=True)
        return True
    except Skipped as why:
        print(f"skipped {label}: {why}", flush=True)
        return None
    except Exception:  # one test's failure is no other's
        print(f"FAILED  {label}\n{traceback.format_exc(limit=-3)}", flush=True)
        return False


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--smoke", action="store_true")
    parser.add_argument("patterns", nargs="*")
    arguments = parser.parse_args()
    passed = failed = skipped = 0
    with tempfile.TemporaryDirectory(prefix="strata-api-") as scratch:
        scene = Scene(scratch)

        def run(label, function, *parameters):
            nonlocal passed, failed, skipped
            good = attempt(label, function, *parameters)
            passed, failed, skipped = passed + (good is True), failed + (good is False), skipped + (good is None)

        for label, function in tests([SMOKE] if arguments.smoke else arguments.patterns):
            run(label, function, scene)
            try:
                scene.clear()
            except Exception as error:
                failed += 1
                print(f"FAILED  {label}, at its end: {error}", flush=True)
        run("the shared daemon ends well", scene.end)
    print(f"{passed} passed, {failed} failed" + f", {skipped} skipped" * (skipped > 0))
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
