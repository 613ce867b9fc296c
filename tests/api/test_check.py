"""strata check as a job of continuous integration calls it: what it prints, where, and its exit status."""
import gzip
import os
import pathlib
import re
import subprocess
import sys

import dasf_records
from daemon import ROOT, tool

sys.path.append(str(ROOT / "tests/data"))
import planted  # noqa: E402

STRATA = pathlib.Path(tool("STRATAD", "server/stratad")).with_name("strata")


def check(*arguments, before=(), **environment):
    """exit status, lines of both outputs"""
    done = subprocess.run([*before, STRATA, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, **environment})
    return done.returncode, done.stdout.splitlines(), done.stderr.splitlines()


def trace(scene, *plants):
    folder = scene.new("-".join(("check", *plants))) / "trace"
    planted.Job(plants, "check", hosts=3, ranks=1, epochs=3, steps=8).write(folder)
    return folder


def test_the_exit_status_goes_by_severity(scene):
    clean, note, warning, critical = trace(scene), trace(scene, "open_per_sample"), trace(scene, "slow_rank"), trace(scene, "decode_bound")
    for folder, worst in ((clean, None), (note, "info"), (warning, "warning"), (critical, "critical")):
        graver = ["critical", "warning", "info"][:["critical", "warning", "info", None].index(worst)]
        for level in ("critical", "warning", "info"):
            status, said, wrong = check("check", folder, "--fail-on", level)
            assert status == (0 if worst is None or level in graver else 1) and not wrong, (folder, level, status, said, wrong)
        assert (said[0].split()[0] == worst) if worst else len(said) == 1, said
        assert re.fullmatch(r"\d+ critical, (1 warning|\d+ warnings), (1 note|\d+ notes), \d+ checks? passed, \d+ not applicable", said[-1]), said[-1]
    assert check("check", critical)[0] == 1 and check("check", warning)[0] == 0, "critical is the default"


def test_goal_preset_and_markdown(scene):
    folder = trace(scene, "waiting")
    assert not any("(au)" in line for line in check("check", folder, "--goal", "0.5")[1])
    assert any("the goal is 95.0 %" in line for line in check("check", folder, "--goal", "0.95")[1])
    assert "accelerator" not in " ".join(check("check", folder, "--preset", "posix")[1]).lower()
    assert check("check", folder, "--markdown")[1][0].startswith("# Findings: ")


def test_what_cannot_be_read_ends_with_2(scene):
    folder = scene.new("check-nothing")
    (folder / "notes.txt").write_text("nothing")
    status, said, wrong = check("check", folder)
    assert status == 2 and not said and len(wrong) == 1 and "nothing in" in wrong[0], (status, said, wrong)
    (folder / "begun.pfw").write_text("[\n")
    status, _, wrong = check("check", folder)
    assert status == 2 and len(wrong) == 1 and "no event" in wrong[0], "a tracer that wrote nothing is no training in order"
    (folder / "torn.pfw.gz").write_bytes(b"\x1f\x8bno gzip")
    for given in (folder, "/nowhere", scene.new("check-empty")):
        status, _, wrong = check("check", given)
        assert status == 2 and wrong and wrong[0].startswith("strata: "), (given, status, wrong)


def test_a_file_that_cannot_be_read_is_not_left_out_in_silence(scene):
    folder = trace(scene)
    first = sorted(folder.iterdir())[0]
    for path in (scene.folder, folder.parent, folder):
        path.chmod(0o755)
    first.chmod(0)
    nobody = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--") if os.geteuid() == 0 else ()  # root reads what it likes
    status, said, wrong = check("check", folder, before=nobody, TMPDIR="/tmp")
    assert status == 2 and said and "1 of 3 files cannot be read" in wrong[0] and first.name in wrong[0], (status, said, wrong)


def test_a_truncated_file_is_a_warning(scene):
    folder = trace(scene)
    first = sorted(folder.iterdir())[0]
    first.with_suffix(".pfw.gz").write_bytes(gzip.compress(first.read_bytes())[:-2000])
    first.unlink()
    status, said, wrong = check("check", folder, "--fail-on", "warning")
    assert status == 1 and any("1 files end early" in line for line in said) and not wrong, (said, wrong)


def test_requests_that_are_none(scene):
    folder = trace(scene)
    for arguments in (("check",), ("check", folder, folder), ("check", folder, "--fail-on", "ok"), ("check", folder, "--fail-on"),
                      ("check", folder, "--goal", "2"), ("check", folder, "--preset", "none"), ("check", folder, "--colour", "no")):
        status, said, wrong = check(*arguments)
        assert status == 2 and not said and wrong[0].startswith("strata: "), (arguments, status, wrong)
    status, said, _ = check("check", "--help")
    assert status == 0 and said[0].startswith("usage: strata check")


def test_record_files_are_checked_too(scene):
    folder = scene.new("check-records")
    dasf_records.write(folder / "trace", 200)
    status, said, wrong = check("check", folder)
    assert status == 0 and "checks passed" in said[-1] and not wrong, (status, said, wrong)


def test_nothing_is_left_behind(scene):
    folder = scene.new("check-temporary")
    assert check("check", trace(scene), TMPDIR=str(folder))[0] == 0
    assert not list(folder.iterdir())
    assert check("check", folder, TMPDIR="/nowhere")[0] == 2
