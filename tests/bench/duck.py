"""DuckDB 2.0 from PyPI as a yardstick, in a virtual environment of its own beside the traces."""
import subprocess
import sys

VERSION = "2.0.0"

# Every scalar of args that the generator writes, typed; framing lines are what ignore_errors skips.
COLUMNS = """{id: 'BIGINT', name: 'VARCHAR', cat: 'VARCHAR', pid: 'BIGINT', tid: 'BIGINT', ts: 'BIGINT', dur: 'BIGINT', ph: 'VARCHAR',
 args: 'STRUCT(hhash UBIGINT, fhash UBIGINT, p_idx BIGINT, level BIGINT, ret BIGINT, "count" BIGINT, "offset" BIGINT, fd BIGINT,
 flags BIGINT, mode BIGINT, whence BIGINT, epoch VARCHAR, step BIGINT, image_idx BIGINT, image_size BIGINT, ppid BIGINT,
 num_events BIGINT, name VARCHAR, value VARCHAR)'}"""

LOAD = """
import duckdb, sys, time
connection = duckdb.connect(sys.argv[1])
connection.execute("SET enable_progress_bar = false")
start = time.perf_counter()
connection.execute("CREATE TABLE t AS SELECT * FROM read_json(?, format = 'newline_delimited', ignore_errors = true, columns = %s)", [sys.argv[2:]])
connection.execute("CHECKPOINT")
print(time.perf_counter() - start)
""" % COLUMNS.replace("\n", " ").replace('"', '\\"')

ASK = """
import duckdb, sys, time
connection = duckdb.connect(sys.argv[1], read_only = True)
connection.execute("SET enable_progress_bar = false")
start = time.perf_counter()
connection.execute(sys.argv[2]).fetchall()
print(time.perf_counter() - start)
"""

# What a summary sums up; and with the busy time of each group, as a summary has it of each layer.
SUMS = """SELECT lower(cat), name, count(*), sum(dur), sum(CASE WHEN lower(cat) = 'posix' THEN args.ret END), min(ts), max(ts + dur),
 count(DISTINCT args.fhash), count(DISTINCT pid), count(DISTINCT tid) FROM t WHERE ph = 'X' GROUP BY ALL"""
BUSY = """WITH seen AS (SELECT lower(cat) AS cat, name, ts, dur, args, max(ts + dur) OVER (PARTITION BY lower(cat), name ORDER BY ts
  ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before FROM t WHERE ph = 'X')
 SELECT cat, name, count(*), sum(dur), sum(CASE WHEN cat = 'posix' THEN args.ret END),
  sum(greatest(0, ts + dur - greatest(ts, coalesce(before, ts)))) FROM seen GROUP BY ALL"""


def python(folder):
    """(path of a Python that has DuckDB, None), or (None, why there is none)"""
    path = folder / "venv-duckdb/bin/python"
    try:
        if subprocess.run([str(path), "-c", f"import duckdb; assert duckdb.__version__ == '{VERSION}'"],
                          stderr=subprocess.DEVNULL).returncode == 0:
            return path, None
    except FileNotFoundError:
        pass
    try:
        subprocess.run([sys.executable, "-m", "venv", str(folder / "venv-duckdb")], check=True, stdout=subprocess.DEVNULL)
        subprocess.run([str(path), "-m", "pip", "install", "-q", f"duckdb=={VERSION}"], check=True, timeout=300)
    except (OSError, subprocess.SubprocessError) as error:
        return None, f"cannot install duckdb=={VERSION}: {error}"
    return path, None


def run(interpreter, script, *arguments):
    output = subprocess.run([str(interpreter), "-c", script, *map(str, arguments)], stdout=subprocess.PIPE, check=True, text=True).stdout
    return float(output)


def load(trace, scratch):
    """(seconds to read the trace into a table on disk, None), or (None, why not)"""
    interpreter, why = python(trace.path.parent)
    if not interpreter:
        return None, why
    return run(interpreter, LOAD, scratch / "duck.db", *trace.files), None


def ask(trace, scratch, question):
    """(seconds of a question to a freshly opened table, None), or (None, why not)"""
    interpreter, why = python(trace.path.parent)
    if not interpreter:
        return None, why
    if not (scratch / "duck.db").exists():
        run(interpreter, LOAD, scratch / "duck.db", *trace.files)
    return min(run(interpreter, ASK, scratch / "duck.db", question) for _ in range(3)), None
