"""Traces of DASF against their stored tables: by the original's rules, by the corrected ones, and the graph as a whole."""
import pathlib
import shutil
import sys

import dasf_tables
from daemon import SHARED

GIVEN = SHARED / "golden/dasf"
SAMPLES = {"main": ("default-*.msgpack", ""), "tiny": ("tiny.msgpack", "tiny_"), "zero": ("zero.msgpack", "zero_"), "truncated": ("truncated.msgpack", None)}


def stored(name):
    """the table of a file; None without one"""
    path = GIVEN / name
    return dasf_tables.parse(path.read_text()) if path.exists() else None


def check_stored(checks, daemon, trace, name, prefix):
    for table in dasf_tables.TABLES:
        for kind, exact in (("expected", False), ("corrected", True)):
            wanted = stored(f"{prefix}{kind}_{table}.csv")
            if wanted is not None:
                answer = dasf_tables.asked(daemon, trace, table, semantics="exact" if exact else "compatible")
                checks.equal(dasf_tables.compare(answer, wanted, table, exact), None, f"{name}: {kind} {table}")
    for table in dasf_tables.GRAPH_TABLES:
        wanted = stored(f"{prefix}graph_{table}.csv")
        if wanted is not None:
            checks.equal(dasf_tables.compare_graph_table(dasf_tables.asked(daemon, trace, table), wanted), None, f"{name}: {table}")


def check_by_oracle(checks, daemon, trace, name, files):
    """of what has no stored tables, or not all"""
    sys.path.append(str(SHARED / "oracles"))
    import dasf_graph_oracle
    import dasf_oracle
    events = dasf_oracle.load(files, strict=False)
    graph = dasf_tables.oracle_graph_tables(dasf_graph_oracle, events)
    found = list(dasf_tables.differences(daemon, trace, dasf_tables.oracle_tables(dasf_oracle, events), graph))
    checks.equal(found, [], f"{name}: as the oracles say")


def check_ledger(checks, daemon, trace, name, files):
    report = daemon.get(f"/api/v1/traces/{trace['id']}/report")
    totals = report["totals"]
    facts = daemon.get(f"/api/v1/traces/{trace['id']}/dasf/graph?limit=1")
    checks.equal(sum(totals[c] for c in ("events", "counters", "other", "malformed")), totals["lines"], f"{name}: records are of one class each")
    checks.equal(totals["counters"], facts["managed_memory"] + facts["resource"], f"{name}: samples")
    checks.equal(totals["events"], facts["compute"], f"{name}: Compute records")
    checks.equal(trace["kind"], "dasf", f"{name}: kind")
    states = {f["path"]: f["state"] for f in report["files"]}
    checks.equal(states, {f.name: "truncated" if name == "truncated" else "complete" for f in files}, f"{name}: files")


def run(checks, daemon, folder):
    if not GIVEN.is_dir():
        print(f"skipped dasf: needs shared: {GIVEN} is not there")
        return
    for name, (pattern, prefix) in SAMPLES.items():
        (folder / "dasf" / name).mkdir(parents=True)
        files = sorted(pathlib.Path(shutil.copy(f, folder / "dasf" / name)) for f in GIVEN.glob(pattern))
        trace = daemon.ingest(folder / "dasf" / name)
        check_ledger(checks, daemon, trace, name, files)
        if prefix is not None:
            check_stored(checks, daemon, trace["id"], name, prefix)
        check_by_oracle(checks, daemon, trace["id"], name, files)
