"""What-if requests and the answers they must get, and the files of the published simulation: ../shared/golden/whatif and simulation."""
import re
import subprocess
import sys
from daemon import SHARED

RUNNER = SHARED / "golden/run_whatif.py"
GIVEN = ("unet3d-v100", "unet3d-plain-dialect", "edge", "two-hosts")


def folders():
    yield from ((name, SHARED / "traces" / name) for name in GIVEN)
    yield from ((folder.name, folder) for folder in sorted((SHARED / "golden/whatif/traces").iterdir()))
    yield "simulation", SHARED / "golden/simulation"


def run(checks, daemon):
    if not RUNNER.is_file():
        return checks.skip("what if", f"needs shared: {RUNNER} is not there")
    ids = {name: daemon.ingest(folder)["id"] for name, folder in folders()}
    command = [sys.executable, str(RUNNER), daemon.base, *(f"{name}={id}" for name, id in ids.items()), "--get", "--csv"]
    output = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout
    found = re.search(r"^(\d+) passed, (\d+) failed, (\d+) skipped$", output, re.M)
    if found is None:
        return checks.check(False, f"what if: no count: {output[-500:]}")
    checks.passed += int(found[1])
    for case, what in re.findall(r"^failed +(.*)\n +(.*)$", output, re.M):
        checks.check(False, f"what if {case}: {what}"[:300])
    checks.check(int(found[3]) == 0, f"what if: {found[3]} were skipped")
