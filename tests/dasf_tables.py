"""Tables of a trace of DASF as the daemon gives them, against those of the oracles. Standard library only.

The oracles number rows, and print megabytes and gigabytes; exact tables have bytes and no numbers.
"""
import csv
import io
import math

FUNCTION = [("Host", "host", 1), ("GPU", "gpu", 1), ("Function", "function", 1), ("Duration (s)", "duration", 1),
            ("Percentage of total time (%)", "percent", 1), ("Mean GPU Utilization (%)", "gpu_utilization", 1),
            ("Mean GPU Memory Used (GB)", "gpu_memory", 1e9), ("Mean Data Size (MB)", "mean_size", 1e6),
            ("Mean Throughput (MB/s)", "mean_throughput", 1e6), ("Num Tasks (chunks)", "tasks", 1), ("Mean Task time (s)", "mean_duration", 1)]
TASK = FUNCTION[:2] + [("Task Key", "key", 1)] + FUNCTION[3:5] + [("Memory usage (Mb)", "size", 1e6)]
GRAPH = [("node", "key", 1), ("size", "size", 1), ("duration", "duration", 1), ("predecessors", "predecessors", 1),
         ("input_data_size", "input_size", 1), ("throughput", "throughput", 1)]
GRAPH_TABLES = ("critical_path", "as_it_ran", "slack", "transfers", "function_graph", "parallelism")
TABLES = ("function_bottleneck", "task_bottleneck", "task_balance", "graph")


def parse(text):
    rows = list(csv.reader(io.StringIO(text)))
    return rows[0], rows[1:]


def cell(text, scale=1):
    """a number, or the text"""
    try:
        return float(text) / scale
    except ValueError:
        return text


def same(a, b):
    if isinstance(a, float) and isinstance(b, float):
        return a == b or math.isclose(a, b, rel_tol=1e-12)
    return a == b


def asked(daemon, trace, table, **parameters):
    """(columns, rows of texts), or the status of a refusal"""
    query = "&".join(f"{k}={v}" for k, v in {"format": "csv", **parameters}.items())
    status, _, body = daemon.request("GET", f"/api/v1/traces/{trace}/dasf/{table}?{query}")
    return parse(body.decode()) if status == 200 else status


def picked(head, rows, columns, exact):
    """the columns as the oracle has them"""
    at = [head.index(new if exact else old) for old, new, _ in columns]
    return [[cell(row[i], scale if exact else 1) for i, (_, _, scale) in zip(at, columns)] for row in rows]


def sorted_rows(rows):
    """rows of equal duration come in any order"""
    return sorted(rows, key=lambda r: (-round(r[3], 9), *map(str, r[:3])))


def difference(got, wanted):
    """None, or the first cell that differs"""
    if len(got) != len(wanted):
        return f"{len(got)} rows, not {len(wanted)}"
    for number, (a, b) in enumerate(zip(got, wanted)):
        if len(a) != len(b) or not all(map(same, a, b)):
            return f"row {number}: {a}, not {b}"
    return None


def compare(answer, wanted, table, exact):
    """None, or what differs. wanted: (head, rows) of texts, as the oracle writes them with its row numbers"""
    if isinstance(answer, int) or isinstance(wanted, int):
        return None if answer == wanted else f"{answer if isinstance(answer, int) else 200}, not {wanted if isinstance(wanted, int) else 200}"
    (head, rows), (old_head, old_rows) = answer, wanted
    numbers = [[cell(c) for c in row[1:]] for row in old_rows]
    if table == "task_balance":
        columns = [old_head[1:]] == [["second", *head[1:]]] or old_head[2:] == head[1:]
        return difference([[cell(c) for c in row] for row in rows], numbers) if columns else f"columns {head}, not {old_head[1:]}"
    if table == "graph":
        got = [[cell(row[head.index(new)]) for _, new, _ in GRAPH] for row in rows]
        for row in got + numbers:  # of a task that did not run it means nothing
            row[5] = "" if row[2] == "" else row[5]
        return difference(got, numbers)
    columns = FUNCTION if table == "function_bottleneck" else TASK
    return difference(sorted_rows(picked(head, rows, columns, exact)), sorted_rows(numbers)) or \
        (None if all(float(a[head.index(columns[3][1 if exact else 0])]) >= float(b[head.index(columns[3][1 if exact else 0])])
                     for a, b in zip(rows, rows[1:])) else "not by duration")


def compare_graph_table(answer, wanted):
    """the same of a table of the graph oracle, which has no row numbers; beyond its columns ours may have more"""
    if isinstance(answer, int) or isinstance(wanted, int):
        return None if answer == wanted else f"{answer if isinstance(answer, int) else 200}, not {wanted if isinstance(wanted, int) else 200}"
    (head, rows), (old_head, old_rows) = answer, wanted
    at = [head.index(name) for name in old_head]
    return difference([[cell(row[i]) for i in at] for row in rows], [[cell(str(c)) for c in row] for row in old_rows])


# ---- from the oracles themselves

def texts(head, rows):
    return ["", *head], [["" if c is None else repr(c) if isinstance(c, float) else str(c) for c in row] for row in rows]


def of_oracle(make):
    """a table, or the status with which the daemon says that the original has none"""
    try:
        return texts(*make())
    except ZeroDivisionError:
        return 422


def graph_rows(graph):
    head = ["node", "size", "duration", "predecessors", "input_data_size", "throughput"]
    return head, [[i, n, *(graph.attr.get(n) or (None, None)), len(graph.pred.get(n, ())), graph.inp[n], graph.thr[n]] for i, n in enumerate(graph.nodes)]


def oracle_tables(oracle, events):
    """by (table, exact): what the original gives, or what its corrected rules do"""
    made = {}
    for exact, zero in ((False, "error"), (True, "skip")):
        interval = "end" if exact else "start"
        made["function_bottleneck", exact] = of_oracle(lambda: oracle.function_bottleneck(events, interval, exact, zero))
        made["task_bottleneck", exact] = of_oracle(lambda: oracle.task_bottleneck(events, zero))
        made["task_balance", exact] = of_oracle(lambda: oracle.task_balance(events, exact))
        made["graph", exact] = of_oracle(lambda: graph_rows(oracle.Graph(events, zero)))
    return made


def oracle_graph_tables(graph_oracle, events, granularity=1):
    try:
        return graph_oracle.tables(graph_oracle.Tasks(events), granularity)
    except SystemExit:  # tasks that depend on each other in a circle
        return {name: 422 for name in GRAPH_TABLES[:3]}


def differences(daemon, trace, made, graph_made, granularity=1):
    """a line for each table that differs"""
    for (table, exact), wanted in made.items():
        answer = asked(daemon, trace, table, semantics="exact" if exact else "compatible")
        problem = compare(answer, wanted, table, exact)
        if problem:
            yield f"{table} {'exact' if exact else 'compatible'}: {problem}"
    for table, wanted in graph_made.items():
        problem = compare_graph_table(asked(daemon, trace, table, granularity=granularity), wanted)
        if problem:
            yield f"{table}: {problem}"
