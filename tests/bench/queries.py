"""Queries, cold, beside DuckDB over its own table of the same columns: both hold the data in memory, are asked in turns, and no answer is kept.

A question is a request and its SQL. `N` in names of results makes each asking one that the daemon has not answered yet.
"""
import json
import statistics
import time
import urllib.parse
import duck
from daemon import Daemon, wait_until
from table import seconds

RUNS = 5
SUMS = {"nN": "count()", "time": "sum(time)", "size": "sum(size)"}
SQL_SUMS = "count(*), sum(dur), sum(size)"

# name: (request, the same in SQL, goal)
QUESTIONS = {
    "filter, few groups": (
        {"filter": 'cat == "posix"', "group_by": ["func_name"], "aggregate": SUMS},
        f"SELECT func_name, {SQL_SUMS} FROM events WHERE cat = 'posix' GROUP BY 1 ORDER BY 1", ">= 1 x"),
    "few groups of all events": (
        {"group_by": ["cat", "func_name"], "aggregate": SUMS},
        f"SELECT cat, func_name, {SQL_SUMS} FROM events GROUP BY 1, 2 ORDER BY 1, 2", ">= 1 x"),
    "groups by 5 s, process, category, function": (
        {"group_by": [{"t": "bin(time_start, 5)"}, "pid", "cat", "func_name"], "aggregate": SUMS},
        f"SELECT ts // 5000000 AS t, pid, cat, func_name, {SQL_SUMS} FROM events GROUP BY ALL ORDER BY 1, 2, 3, 4 LIMIT 1000", ">= 1 x, goal 3 x"),
    "groups by 1 s, process, category, function": (
        {"group_by": [{"t": "bin(time_start, 1)"}, "pid", "cat", "func_name"], "aggregate": SUMS},
        f"SELECT ts // 1000000 AS t, pid, cat, func_name, {SQL_SUMS} FROM events GROUP BY ALL ORDER BY 1, 2, 3, 4 LIMIT 1000", ">= 1 x, goal 3 x"),
    "groups by file, process, function": (
        {"group_by": ["file_name", "pid", "func_name"], "aggregate": SUMS},
        f"SELECT file_name, pid, func_name, {SQL_SUMS} FROM events WHERE file_name IS NOT NULL GROUP BY ALL ORDER BY 1, 2, 3 LIMIT 1000", ">= 1 x"),
    "text filter": (
        {"filter": 'file_name.str.contains("img_01", regex=False)', "aggregate": SUMS},
        f"SELECT {SQL_SUMS} FROM events WHERE contains(file_name, 'img_01')", "<= 100 ms"),
    "regular expression": (
        {"filter": 'file_name.str.contains("img_\\\\d*7_of")', "aggregate": SUMS},
        f"SELECT {SQL_SUMS} FROM events WHERE regexp_matches(file_name, 'img_\\d*7_of')", "<= 100 ms"),
    "filter by numbers": (
        {"filter": "size > 1048576 and dur < 5000", "aggregate": SUMS},
        f"SELECT {SQL_SUMS} FROM events WHERE size > 1048576 AND dur < 5000", "<= 100 ms"),
    "filter by arithmetic": (
        {"filter": "size / time > 1e9", "aggregate": SUMS},
        f"SELECT {SQL_SUMS} FROM events WHERE size / (dur / 1e6) > 1e9", "<= 100 ms"),
    "median by group": (
        {"group_by": ["func_name"], "aggregate": {"nN": "count()", "p50": "median(dur)", "p95": "quantile(dur, 0.95)"}},
        "SELECT func_name, count(*), median(dur), quantile_cont(dur, 0.95) FROM events GROUP BY 1 ORDER BY 1", ">= 1 x"),
    "distinct by group": (
        {"group_by": ["func_name"], "aggregate": {"nN": "nunique(file_name)", "threads": "nunique(tid)"}},
        "SELECT func_name, count(DISTINCT file_name), count(DISTINCT tid) FROM events GROUP BY 1 ORDER BY 1", ">= 1 x"),
    "the 100 longest": (
        {"columns": [{"nN": "func_name"}, "pid", "ts", "dur", "size"], "order_by": ["-dur"], "limit": 100},
        "SELECT func_name, pid, ts, dur, size FROM events ORDER BY dur DESC LIMIT 100", ">= 1 x"),
    "full sort": (
        {"columns": ["func_name", "pid", "ts", "dur"], "order_by": ["-dur", "ts"], "then": {"aggregate": {"nN": "count()", "last": "last(ts)"}}},
        "SELECT count(*), last(ts) FROM (SELECT func_name, pid, ts, dur FROM events ORDER BY dur DESC, ts LIMIT 1000000000)", ">= 1 x"),
    "two stages": (
        {"group_by": [{"t": "bin(time_start, 1)"}, "pid", "tid"], "aggregate": {"io": "sum(where(cat == 'posix', time))", "size": "sum(size)"},
         "then": {"group_by": ["t"], "aggregate": {"nN": "sum(size)", "io": "max(io)"}}},
        "SELECT t, sum(size), max(io) FROM (SELECT ts // 1000000 AS t, pid, tid, sum(CASE WHEN cat = 'posix' THEN dur END) AS io, sum(size) AS size"
        " FROM events GROUP BY ALL) GROUP BY t ORDER BY t LIMIT 1000", ">= 1 x"),
}

# Of the replicas of a real trace, beside those above.
OF_REPLICAS = {
    "groups by 1 s, process, thread, host, category, function": (
        {"group_by": [{"t": "bin(time_start, 1)"}, "pid", "tid", "host_name", "cat", "func_name"], "aggregate": {"nN": "count()"}},
        "SELECT ts // 1000000 AS t, pid, tid, hhash, cat, func_name, count(*) FROM events GROUP BY ALL ORDER BY 1, 2, 3, 4, 5, 6 LIMIT 1000", "<= 120 ms"),
    "few groups of all events": (QUESTIONS["few groups of all events"][0], QUESTIONS["few groups of all events"][1], "<= 15 ms"),
    "median by group": (QUESTIONS["median by group"][0], QUESTIONS["median by group"][1], "<= 50 ms"),
    "filter by numbers": (QUESTIONS["filter by numbers"][0], QUESTIONS["filter by numbers"][1], "<= 5 ms"),
    "filter by category": (
        {"filter": 'cat == "posix"', "aggregate": SUMS}, f"SELECT {SQL_SUMS} FROM events WHERE cat = 'posix'", "<= 5 ms"),
    "filter by a member of args": (
        {"filter": "args.ret == 131072", "aggregate": SUMS}, f"SELECT {SQL_SUMS} FROM events WHERE ret = 131072", "<= 5 ms"),
    "the 100 longest": (
        QUESTIONS["the 100 longest"][0], "SELECT func_name, pid, ts, dur, size FROM events ORDER BY dur DESC, ts LIMIT 100", "<= 5 ms"),
    "full sort": (QUESTIONS["full sort"][0], QUESTIONS["full sort"][1], ">= 2 x"),
}


class Client:
    """one trace of a daemon; each request is one that the daemon has not computed before"""

    def __init__(self, daemon, identity):
        self.daemon, self.path, self.sent = daemon, f"/api/v1/traces/{identity}", 0

    def send(self, request, call="query"):
        """(seconds, response)"""
        self.sent += 1
        body = json.loads(json.dumps(request).replace('"nN"', f'"n{self.sent}"'))
        start = time.perf_counter()
        status, _, text = self.daemon.request("POST", f"{self.path}/{call}", body)
        taken = time.perf_counter() - start
        if status != 200:
            raise RuntimeError(f"{json.dumps(body)}: {status} {text[:500]!r}")
        return taken, json.loads(text)

    def median(self, request, call="query"):
        return statistics.median(self.send(request, call)[0] for _ in range(RUNS))


def agree(answer, rows, count):
    """whether both mean the same query: as many rows, the same first integers"""
    integers = [[v for v in row if isinstance(v, int) and not isinstance(v, bool)] for row in rows]
    mine = [[v for v in row if isinstance(v, int) and not isinstance(v, bool)] for row in answer["data"][:len(rows)]]
    return len(answer["data"]) == count and all(a[:1] == b[:1] for a, b in zip(mine, integers))


def processor_time(process):
    """seconds that all threads of another process have computed"""
    return time.clock_gettime((~process.pid << 3) | 2)  # what clock_getcpuclockid gives


def timed(process, ask, question):
    """(seconds, seconds of processors)"""
    before = processor_time(process)
    taken = ask(question)[0]
    return taken, processor_time(process) - before


def in_turns(table, client, session, label, against, request, sql, goal):
    pairs = [(timed(client.daemon.process, client.send, request), timed(session.process, session.ask, sql)) for _ in range(RUNS)]
    (mine, my_work), (theirs, their_work) = ([statistics.median(p[who][i] for p in pairs) for i in (0, 1)] for who in (0, 1))
    table.add(label, seconds(mine), against, seconds(theirs), f"{theirs / mine:.1f} x; {their_work / my_work:.1f} x in processor time", goal)


def beside(table, client, session, label, question, events):
    request, sql, goal = question
    answer = client.send(request)[1]
    if session is None:
        return table.add(f"{label}, {events:,} events", seconds(client.median(request)), "DuckDB", "left out", "", goal)
    _, count, rows = session.ask(sql)
    if not agree(answer, rows, count):
        raise RuntimeError(f"{label}: the daemon says {answer['data'][:3]}, DuckDB {rows}")
    rows = f" ({answer['row_count']:,} rows)" if answer["row_count"] > 1000 else ""
    in_turns(table, client, session, f"{label}{rows}, {events:,} events", "DuckDB", request, sql, goal)
    if rows and "GROUP BY" in sql:  # the daemon holds all groups in order, for the pages that follow
        in_turns(table, client, session, "", "DuckDB, all rows kept in order", request, "CREATE OR REPLACE TEMP TABLE answer AS " + sql.removesuffix(" LIMIT 1000"), goal)


def compare(table, trace, scratch, questions):
    interpreter, why = duck.python(trace.path.parent)
    if not interpreter:
        table.leave_out("DuckDB", why)
    with Daemon(scratch / "store", [trace.path]) as daemon:
        described = daemon.ingest(trace.path)
        wait_until(lambda: daemon.idle(50), timeout=120, what="the work after the ingest")
        client, events = Client(daemon, described["id"]), described["events"]
        session = duck.Session(interpreter, trace, scratch) if interpreter else None
        try:
            for label, question in questions.items():
                try:
                    beside(table, client, session, label, question, events)
                except RuntimeError as error:
                    table.leave_out(label, str(error)[:300])
        finally:
            if session:
                session.__exit__()


def measure(table, data, scratch):
    compare(table, data.four_files(), scratch, QUESTIONS)


def measure_large(table, data, scratch):
    if data.quick:
        return table.leave_out("queries of the large trace", "--quick")
    compare(table, data.large(), scratch, QUESTIONS)


def measure_replicas(table, data, scratch):
    compare(table, data.replicas(), scratch, OF_REPLICAS)


FIRST = {"filter by numbers": OF_REPLICAS["filter by numbers"][0], "filter by category": OF_REPLICAS["filter by category"][0],
         "filter by a member of args": OF_REPLICAS["filter by a member of args"][0], "few groups of all events": OF_REPLICAS["few groups of all events"][0]}  # fmt: skip
FIRST_REST = 0.3  # seconds after the start, which is time to decode the columns that were read before it


def first_and_later(store, trace, identity, request, first_name):
    """seconds of the first query after a start, and of later ones"""
    with Daemon(store, [trace.path], ["--compaction", "off"]) as daemon:
        time.sleep(FIRST_REST)
        client = Client(daemon, identity)
        daemon.get("/healthz")  # the connection and its threads are not the query's
        client.sent = first_name
        return client.send(request)[0], client.median(request)


def measure_first(table, data, scratch):
    """what a query that was asked before a start takes as the first one after it"""
    trace, store = data.replicas(), scratch / "store"
    with Daemon(store, [trace.path], ["--compaction", "off"]) as daemon:
        described = daemon.ingest(trace.path)
        client = Client(daemon, described["id"])
        for request in FIRST.values():
            client.send(request)
    for label, request in FIRST.items():
        pairs = [first_and_later(store, trace, described["id"], request, 100 * i) for i in range(1, RUNS + 1)]
        first, later = (statistics.median(pair[i] for pair in pairs) for i in (0, 1))
        table.add(f"first query after a start, {label}, {described['events']:,} events", seconds(first), "a later one", seconds(later), f"{first / later:.1f} x", "<= 2 x")


def row_groups(answer):
    """(read, skipped) of an explained answer"""
    steps = answer["explain"]["steps"]
    return sum(s.get("blocks_read") or 0 for s in steps), sum(s.get("blocks_skipped") or 0 for s in steps)


def measure_skipping(table, data, scratch):
    """what a range of time of 1 %, and files that were used for a short time, read of the row groups"""
    trace = data.four_files()
    with Daemon(scratch / "store", [trace.path]) as daemon:
        client = Client(daemon, daemon.ingest(trace.path)["id"])
        length, events = trace.totals["job_time_us"] / 1e6, trace.totals["events"]
        short = {"group_by": ["file_name"], "aggregate": {"nN": "count()", "span": "max(te) - min(ts)"}, "order_by": ["span"], "limit": 1}
        file, _, span = client.send(short)[1]["data"][0]
        parts = {"a range of time of 1 %": {"from": length * .5, "to": length * .51},
                 f"a file used for {span / length / 1e4:.2f} % of the time": {"filter": f"file_name == {json.dumps(file)}"},
                 "what no event has": {"filter": "func_name == 'nosuch'"}}
        for label, part in parts.items():
            request = {**part, "aggregate": {"nN": "count()", "time": "sum(time)"}}
            answer = client.send(request, "query?explain=true")[1]
            read, skipped = row_groups(answer)
            table.add(f"{label}: {answer['data'][0][0] / events:.2%} of the events", seconds(client.median(request)), "row groups",
                      f"{read} read, {skipped} skipped", f"{read / max(1, read + skipped):.1%}", "a matching share")


SETS = {"compute": 'cat == "ai_framework"', "app_io": 'cat == "reader"', "io": 'cat == "posix"'}


def measure_overlap(table, data, scratch):
    trace = data.four_files()
    with Daemon(scratch / "store", [trace.path]) as daemon:
        client = Client(daemon, daemon.ingest(trace.path)["id"])

        def overlap(_):
            client.sent += 1
            sets = {**SETS, "io": SETS["io"] + f" and pid != {client.sent}"}
            return client.send({"sets": sets, "scope": "process"}, "overlap")[0]

        sums = {name: f"sum(where({condition}, time))" for name, condition in SETS.items()}
        mine = statistics.median(map(overlap, range(RUNS)))
        plain = client.median({"group_by": ["host_name", "pid"], "aggregate": {**sums, "nN": "count()"}})
        table.add("overlap of three sets by process", seconds(mine), "a query that sums their durations", seconds(plain), f"{mine / plain:.1f} x",
                  "<= 300 ms, <= 3 x")


def flat(client, by, **more):
    parameters = urllib.parse.urlencode({"preset": "dlio", "by": by, "granularity": 5, **more})
    start = time.perf_counter()
    status, _, text = client.daemon.request("GET", f"{client.path}/views/flat?{parameters}")
    taken = time.perf_counter() - start
    if status != 200:
        raise RuntimeError(f"flat view by {by}: {status} {text[:500]!r}")
    return taken, json.loads(text)


def measure_flat(table, data, scratch):
    """flat views as the reference has them, first and once they are kept"""
    for trace, by, goal in ((data.four_files(), "time_range", "<= 500 ms"), (data.many_processes(), "proc_name", "<= 1.5 s")):
        taken = []
        for i in range(3):
            with Daemon(scratch / f"store-{by}-{i}", [trace.path]) as daemon:
                client = Client(daemon, daemon.ingest(trace.path)["id"])
                first, answer = flat(client, by, semantics="compatible", limit=100)
                taken.append(first)
                page = statistics.median(flat(client, by, semantics="compatible", limit=100)[0] for _ in range(RUNS))
        label = f"flat view by {by}, 5 s ({answer['row_count']:,} rows x {len(answer['columns']):,} columns)"
        table.add(label, seconds(statistics.median(taken)), "", "", "", goal)
        table.add("a page of 100 rows of it, kept", seconds(page), "", "", "", "<= 5 ms")
