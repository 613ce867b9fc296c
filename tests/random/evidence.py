"""What a finding's link shows, asked anew: the request that its page sends, and of its answer the figures that the sentence says.

Each rule's figures are recomputed from other calls than the rule's own where there are such: causes and their rows, groups and events of queries,
stragglers, utilisation, the report.
"""
import statistics

READS = 'cat.str.contains("posix|stdio") and io_cat == 1 and size > 0'


class Pages:
    """the answers to a trace's links"""

    def __init__(self, daemon, trace):
        self.daemon, self.path = daemon, f"/api/v1/traces/{trace}"
        self.kept = {}

    def post(self, call, **body):
        key = (call, repr(body))
        if key not in self.kept:
            self.kept[key] = self.daemon.call("POST", f"{self.path}/{call}", {"preset": "dlio", **({} if call == "stragglers" else {"filters": "off"}), **body})
        return self.kept[key]

    def get(self, call):
        return self.daemon.get(f"{self.path}/{call}")

    def groups(self, link, **aggregate):
        body = {"group_by": link["group_by"].split(","), "aggregate": aggregate, "limit": 10000, "dropna": False, **{key: link[key] for key in ("filter", "order_by") if key in link}}
        shown = self.post("query", **body)
        rows = shown["data"]
        while shown["next"] is not None:
            shown = self.post("query", **body, cursor=shown["next"])
            rows = rows + shown["data"]
        return rows

    def chain(self, name="stall", **more):
        return self.post("overlap", attribution={"chain": name, "longest": 0, **more})


def of_sets(pages, link):
    """the sets that the link names: how long each is active, in all ranks and in the one with most"""
    sets = dict(line.split(": ", 1) for line in link["own"].split("\n"))
    return {one["name"]: one for one in pages.post("overlap", sets=sets, scope=link["scope"])["sets"]}


def of_threads(pages, link):
    """how long loader and reader work, on all threads and on those with steps"""
    shown = pages.post("overlap", sets=dict(line.split(": ", 1) for line in link["own"].split("\n")), scope=link["scope"])["per_scope"]
    assert shown["next"] is None, "a page of the threads is not all of them"
    rows = [dict(zip(shown["columns"], row)) for row in shown["data"]]
    return {"t_input": sum(row["loading_busy"] for row in rows), "t_inline": sum(row["loading_busy"] for row in rows if row["steps_events"])}


def of_overlap(pages, finding):
    if finding["rule"] == "synchronous_loading":
        return of_threads(pages, finding["link"])
    if "own" in finding["link"]:
        sets = of_sets(pages, finding["link"])
        if finding["rule"] == "unmatched":
            return {"x_outside": sets["in_no_layer"]["busy"], "x_events": sets["in_no_layer"]["events"], "x_all": sets["file_calls"]["busy"]}
        if finding["rule"] == "metadata_time":
            return {"m_max": sets["metadata"]["busy_max"]}
        return {"n_comm": sets["comm"]["busy"]} if finding["rule"] == "comm_bound" else {"n_metadata": sets["metadata"]["busy"], "n_all": sets["file_calls"]["busy"]}
    if finding["link"].get("attribution") == "layers":
        shown = pages.chain("layers")["blocking"]
        node = next(n for n in shown["nodes"] if n["name"] == shown["bottleneck"])
        return {"b_path": " > ".join(shown["path"]), "b_node": shown["bottleneck"], "b_self": node["self"]}
    shown = pages.chain()["attribution"]
    times = {c["name"]: c["time"] for c in shown["causes"]}
    loading = ("read", "metadata", "reader", "worker_start", "data_loader", "fetch")
    return {**{f"s_{name}": time for name, time in times.items()}, "s_target": shown["time"], "s_input": sum(times[name] for name in loading), "s_top_time": max(times.values())}


def of_steps(pages, finding):
    if finding["rule"] == "au":
        shown = pages.get("utilisation?preset=dlio")
        worst = min(shown["epochs"], key=lambda epoch: epoch["au"])
        return {"u_au": shown["au"], "u_dlio": shown["au_dlio"], "u_worst": worst["au"], "u_worst_epoch": worst["epoch"]}
    if finding["rule"] == "slowest_rank":
        shown = pages.post("stragglers", by="rank", measure="arrival")
        host, pid, _, slowest, _ = shown["rows"]["data"][0]
        return {"r_rank": f"{host}:{pid}", "r_slowest": slowest, "r_steps": shown["steps"], "r_wait": shown["wait"]}
    stalls, excess = {}, 0
    rows = pages.chain(by=["unit", "step"])["attribution"]["rows"]
    for host, pid, epoch, step, target, *_ in rows["data"]:
        if step is not None:
            stalls.setdefault((host, pid, epoch), []).append(round(target * 1e6))
    for first, *later in stalls.values():  # microseconds; the median of two is rounded down
        excess += max(0, first - int(statistics.median(later))) if len(later) >= 2 else 0
    return {"f_excess": excess / 1e6}


def of_epochs(pages, finding):
    """bandwidth in each epoch: the finding's own rows say bytes, the time in which a rank has a read running is asked anew"""
    shown = pages.post("overlap", sets={"reads": READS}, attribution={"target": "reads", "causes": ["reads"], "by": ["epoch"], "longest": 0})["attribution"]["rows"]
    time = {epoch: target for epoch, target, *_ in shown["data"]}
    rates = [size / time[epoch] for epoch, _, size in finding["evidence"]["data"] if time.get(epoch) and size]
    return {"c_first": rates[0], "c_later": statistics.median(rates[1:])} if len(rates) > 1 else {}


def of_overview(pages, finding):
    if "access" in finding["link"]:
        return of_access(pages, finding)
    asked = {"rank": {"measure": "busy", "of": "stall"}, "process": {"measure": "busy", "of": "io_cat == 1"}, "host": {"measure": "bw", "of": "io_cat == 1 and size > 0"},
             "file": {"measure": "bw", "of": "io_cat == 1 and size > 0", "least": 1048576}}
    by = finding["link"]["stragglers"]
    shown = pages.post("stragglers", by=by, **asked[by])
    value = shown["rows"]["columns"].index("value")
    return {"z_members": shown["members"], "z_slow": shown["slow"], "z_median": shown["median"], "z_value": shown["rows"]["data"][0][value]}


def shared_files(pages, kind):
    """of each file that two processes use: calls, small ones, bytes by process"""
    files = {}
    rows = pages.groups({"group_by": "file_name,host_name,pid", "filter": f"io_cat == {kind}"}, calls="sum(size > 0)", small="sum(size < 1048576)", bytes="sum(size)")
    for name, _, _, calls, small, size in rows:
        files.setdefault(name, []).append((calls, small, size))
    return [parts for name, parts in files.items() if name and len(parts) > 1]


def of_shared(pages):
    """of each shared file the processes with most and least time: how much their bytes and their time differ"""
    files, kinds = {}, {}
    rows = pages.groups({"group_by": "io_cat,file_name,host_name,pid", "filter": "io_cat in [1, 2] and size > 0"}, bytes="sum(size)", time="sum(dur)")
    for kind, name, host, pid, size, time in rows:
        files.setdefault((kind, name), []).append((time, size))
    for (kind, name), parts in files.items():
        if name and len(parts) > 1:
            slow, fast = max(parts, key=lambda part: part[0]), min(parts, key=lambda part: part[0])
            kinds.setdefault("size", []).append(abs(slow[1] - fast[1]) / sum(size for _, size in parts))
            kinds.setdefault("time", []).append((slow[0] - fast[0]) / sum(time for time, _ in parts))
    return kinds


def jumps(pages):
    """events of the list that begin inside another one of their thread and end a millisecond or more after it"""
    count, ends, last = 0, [], None
    link = {"group_by": "host_name,pid,tid,ts,dur,func_name,file_name,offset", "order_by": ["host_name", "pid", "tid", "ts", "-dur"]}
    rows = pages.groups(link, n="count()")
    for host, pid, tid, ts, dur, *_, n in rows:
        if (host, pid, tid) != last:
            ends, last = [], (host, pid, tid)
        for _ in range(n):
            ends = [end for end in ends if end > ts]
            count += bool(ends) and ts + dur > min(ends) + 1000 and min(ends) > ts + 1000
            ends.append(ts + dur)
    return count


def of_access(pages, finding):
    """as other calls say it, which the card of file access must show as well"""
    rule, figures = finding["rule"], finding["figures"]
    kind = 2 if rule.endswith("writes") else 1
    shown = pages.get(f"access?preset=dlio&kind={'read' if kind == 1 else 'write'}")
    if rule == "cold_cache":
        same_rates = {"c_first": shown["first_epoch_bw"], "c_later": shown["later_epochs_bw"]}
        found = of_epochs(pages, finding)
        assert all(same(same_rates[name], rate) for name, rate in found.items()), (found, same_rates)
        return found
    if rule in ("shared_size", "shared_time"):
        shares = of_shared(pages)[rule.split("_")[1]]
        return {"files": len(shares), "worst": max(shares), "value": sum(1 for share in shares if share > 0.15)}
    if rule.startswith("random_"):
        calls = sum(row[1] for row in pages.groups({"group_by": "io_cat", "filter": f"io_cat == {kind}"}, calls="sum(size > 0)"))
        return {"a_unknown": calls - figures["a_known"], "a_known": sum(shown[name] for name in ("consecutive", "sequential", "random", "first")), "a_random": shown["random"]}
    if rule.startswith("redundant_"):
        files = shown["files"]["data"]
        return {"a_known_bytes": sum(row[1] for row in files), "a_distinct_bytes": sum(row[2] for row in files)}
    files = shared_files(pages, kind)
    if rule.startswith("small_shared_"):
        return {"h_files": len(files), "h_ops": sum(part[0] for parts in files for part in parts), "h_small": sum(part[1] for parts in files for part in parts)}
    uneven = [(max(sizes) - min(sizes)) / max(sizes) for sizes in ([part[2] for part in parts] for parts in files)]
    return {"worst": max(uneven), "r_uneven" if kind == 1 else "w_uneven": sum(1 for one in uneven if one > 0.3)}


def of_query(pages, finding):
    rule, link = finding["rule"], finding["link"]
    if rule == "unresolved":
        return {"l_unresolved": 0 if link["filter"] == "false" else sum(row[-1] for row in pages.groups(link, calls="count()"))}
    if rule == "clock_jumps":
        listed = 0 if link["filter"] == "false" else pages.post("query", filter=link["filter"], aggregate={"n": "count()"})["data"][0][0]
        return {"j_jumps": jumps(pages), "value": listed}
    if rule in ("small_reads", "small_writes"):
        rows = pages.groups(link, small="sum(size < 1048576)", calls="sum(size > 0)")
        return {"q_small": sum(row[1] for row in rows), "q_ops": sum(row[2] for row in rows)}
    if rule == "stdio":
        return {"q_stdio": sum(row[1] for row in pages.groups(link, bytes="sum(size)") if "stdio" in row[0])}
    if rule == "ops_mix":
        calls = dict(pages.groups(link, calls="count()"))
        return {"q_reads": calls.get(1, 0), "q_writes": calls.get(2, 0)}
    if rule == "size_mix":
        size = dict(pages.groups(link, bytes="sum(size)"))
        return {"q_read": size.get(1, 0), "q_written": size.get(2, 0)}
    if rule == "bandwidth":
        shown = pages.post("query", filter=link["filter"], derive={"rate": "size / time"}, aggregate={"half": "median(rate)", "best": "quantile(rate, 0.95)"})
        return dict(zip(("q_half", "q_best"), shown["data"][0]))
    if rule == "open_per_sample":
        return {"q_opens": sum(calls for name, calls in pages.groups(link, calls="count()") if "open" in name and "dir" not in name)}
    if rule == "host_clocks":
        starts = [row[1] for row in pages.groups({"group_by": "host_name"}, first="min(time_start)")]
        return {"c_spread": max(starts) - min(starts)}
    rows = pages.groups(link, copies="count()")
    return {"d_repeated": sum(row[-1] - 1 for row in rows)}


def of_report(pages, finding):
    shown = pages.get("report")
    return {"l_malformed": shown["totals"]["malformed"], "l_unclassified": sum(one["count"] for one in shown["unclassified"]), "l_functions": len(shown["unclassified"]),
            "l_truncated": sum(1 for file in shown["files"] if file["state"] == "truncated")}


def of_timeline(pages, finding):
    """an event that covers nothing begins a gap at its end there, and a microsecond later in the sentence"""
    shown, said = pages.get("gaps?preset=dlio&scope=rank_group&limit=1")["data"], finding["figures"]["g_time"]
    time = shown[0][3] if shown else 0
    return {"g_time": said if abs(time - said) <= 1.5e-6 else time}


SHOWN = {"overlap": of_overlap, "steps": of_steps, "overview": of_overview, "query": of_query, "report": of_report, "timeline": of_timeline}


def written(seconds):
    """as sentences write seconds; jobs of these tests take less than ten minutes"""
    size = abs(seconds)
    return (f"{seconds:.0f} s" if size >= 100 else f"{seconds:.1f} s" if size >= 10 else f"{seconds:.2f} s" if size >= 1 else f"{seconds * 1e3:.1f} ms" if size >= 1e-3
            else f"{seconds * 1e6:.0f} us")


def same(shown, said):
    return shown == said if isinstance(said, (str, bool)) or isinstance(shown, str) else abs(shown - said) <= 1e-6 * max(1e-3, abs(said))


def check(checks, daemon, trace, name, findings):
    """each finding's figures against what its link shows; how many figures were compared"""
    pages, compared = Pages(daemon, trace), 0
    for finding in findings:
        if finding["severity"] == "na":
            continue
        shown = SHOWN[finding["link"]["page"]](pages, finding)
        figures = {**finding["figures"], "value": finding["value"]}
        for figure in figures.keys() & shown.keys():
            said = figures[figure]
            checks.check(same(shown[figure], said), f"{name}, {finding['rule']} {figure}: {shown[figure]} is shown, {said} is said")
            if figure in ("s_input", "s_untraced", "s_checkpoint", "b_self", "f_excess"):
                checks.check(written(shown[figure]) in finding["text"] or finding["severity"] == "ok", f"{name}, {finding['rule']}: {written(shown[figure])} is not in: {finding['text']}")
            compared += 1
    return compared

