"""The timeline's calls and the answers they must get: ../shared/golden/timeline, also as POST and as CSV."""
import re
import subprocess
import sys
from daemon import SHARED

RUNNER = SHARED / "golden/run_timeline.py"


def run(checks, daemon):
    if not RUNNER.is_file():
        return checks.skip("golden timeline", f"needs shared: {RUNNER} is not there")
    ids = {folder.name: daemon.ingest(folder)["id"] for folder in sorted((SHARED / "traces").iterdir())}
    for way in ([], ["--post"], ["--csv"]):
        command = [sys.executable, str(RUNNER), daemon.base, *(f"{name}={id}" for name, id in ids.items()), *way]
        output = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout
        found = re.search(r"^(\d+) passed, (\d+) failed, (\d+) skipped$", output, re.M)
        if found is None:
            checks.check(False, f"golden timeline: no count: {output[-500:]}")
            continue
        checks.passed += int(found[1])
        for case, what in re.findall(r"^failed +(.*)\n +(.*)$", output, re.M):
            checks.check(False, f"golden timeline {' '.join(way)} {case}: {what}"[:300])
        checks.check(int(found[3]) == 0, f"golden timeline: {found[3]} were skipped")
