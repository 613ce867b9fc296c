"""The laws of a trace's report, whatever the trace."""

CLASSES = ("events", "metadata", "counters", "other", "framing", "blank", "malformed")


def check_laws(checks, report, name):
    """every line is of one class; files sum to the totals; every event is in each preset's views or dropped by a named filter"""
    totals = report["totals"]
    checks.equal(sum(totals[c] for c in CLASSES), totals["lines"], f"{name}: classes of lines sum to lines")
    for column in ("bytes", "lines", "events", "malformed"):
        if all(column in f for f in report["files"]):
            checks.equal(sum(f[column] for f in report["files"]), totals[column], f"{name}: files sum to totals.{column}")
    for preset, part in report["presets"].items():
        checks.equal(part["kept"] + part["dropped_by_file"] + part["dropped_by_function"], totals["events"],
                     f"{name}: preset {preset} accounts for every event")
