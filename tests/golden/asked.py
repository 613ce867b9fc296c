"""Requests and the answers they must get: ../shared/golden/queries and overlap, each also as GET and as CSV."""
import re
import subprocess
import sys
from daemon import SHARED

RUNNER = SHARED / "golden/run_queries.py"


def run(checks, daemon):
    if not RUNNER.is_file():
        return checks.skip("golden requests", f"needs shared: {RUNNER} is not there")
    ids = {folder.name: daemon.ingest(folder)["id"] for folder in sorted((SHARED / "traces").iterdir())}
    command = [sys.executable, str(RUNNER), daemon.base, *(f"{name}={id}" for name, id in ids.items()), "--get", "--csv"]
    output = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout
    found = re.search(r"^(\d+) passed, (\d+) failed, (\d+) skipped$", output, re.M)
    if found is None:
        return checks.check(False, f"golden requests: no count: {output[-500:]}")
    checks.passed += int(found[1])
    for case, what in re.findall(r"^failed +(.*)\n +(.*)$", output, re.M):
        checks.check(False, f"golden request {case}: {what}"[:300])
    checks.check(int(found[3]) == 0, f"golden requests: {found[3]} were skipped")
