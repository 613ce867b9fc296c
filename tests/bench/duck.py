"""DuckDB 2.0 from PyPI as a yardstick, in a virtual environment of its own beside the traces."""
import json
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
connection.execute("SET memory_limit = '8GB'")
start = time.perf_counter()
connection.execute("CREATE TABLE t AS SELECT * FROM read_json(?, format = 'newline_delimited', ignore_errors = true, columns = %s)", [sys.argv[2:]])
connection.execute("CHECKPOINT")
print(time.perf_counter() - start)
""" % COLUMNS.replace("\n", " ").replace('"', '\\"')

ASK = """
import duckdb, sys, time
connection = duckdb.connect(sys.argv[1], read_only = True)
connection.execute("SET enable_progress_bar = false")
connection.execute("SET memory_limit = '8GB'")
start = time.perf_counter()
connection.execute(sys.argv[2]).fetchall()
print(time.perf_counter() - start)
"""

# The events with the columns that Strata's queries have: names of files in place of hashes, microseconds from the origin, sizes of transfers.
EVENTS = """CREATE TABLE events AS SELECT e.name AS func_name, lower(e.cat) AS cat, e.pid, e.tid, e.ts - (SELECT min(ts) FROM t WHERE ph = 'X') AS ts,
 e.dur, CASE WHEN lower(e.cat) = 'posix' AND e.args.ret > 0 AND regexp_matches(e.name, '^(p?read|p?write)$') THEN e.args.ret END AS size,
 e.args.ret, e.args.hhash, f.file_name FROM t e LEFT JOIN (SELECT try_cast(args.value AS UBIGINT) AS hash, any_value(args.name) AS file_name FROM t
 WHERE ph = 'M' AND name = 'FH' GROUP BY 1) f ON e.args.fhash = f.hash WHERE e.ph = 'X'"""

SERVE = """
import duckdb, json, sys, time
connection = duckdb.connect(sys.argv[1])
connection.execute("SET enable_progress_bar = false")
connection.execute("SET memory_limit = '8GB'")
for line in sys.stdin:
    question = json.loads(line)
    start = time.perf_counter()
    rows = connection.execute(question).fetchall()
    print(json.dumps([time.perf_counter() - start, len(rows), rows[:3]], default=str), flush=True)
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


class Session:
    """one process that keeps a table open, so that its pages are in memory as the daemon's are"""

    def __init__(self, interpreter, trace, scratch):
        run(interpreter, LOAD, scratch / "duck.db", *trace.files)
        self.process = subprocess.Popen([str(interpreter), "-c", SERVE, str(scratch / "duck.db")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.ask(EVENTS)
        self.ask("DROP TABLE t")

    def ask(self, question):
        """(seconds, number of rows, the first of them)"""
        self.process.stdin.write(json.dumps(question) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"DuckDB ended with {self.process.wait()} at {question}")
        return json.loads(line)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()
