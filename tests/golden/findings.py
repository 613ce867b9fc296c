"""Where the time of given and planted traces went, and why: ../shared/golden/findings."""
import re
import subprocess
import sys
from daemon import SHARED

RUNNER = SHARED / "golden/run_findings.py"


def run(checks, daemon):
    if not RUNNER.is_file():
        return checks.skip("golden findings", f"needs shared: {RUNNER} is not there")
    command = [sys.executable, str(RUNNER), daemon.base, "--register"]
    output = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout
    found = re.search(r"^(\d+) passed, (\d+) failed, (\d+) skipped$", output, re.M)
    if found is None:
        return checks.check(False, f"golden findings: no count: {output[-500:]}")
    checks.passed += int(found[1])
    for case, what in re.findall(r"^failed +(.*)\n +(.*)$", output, re.M):
        checks.check(False, f"golden findings {case}: {what}"[:300])
    checks.check(int(found[3]) == 0, f"golden findings: {found[3]} were skipped")
