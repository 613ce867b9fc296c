"""What if: the proof, scenarios and sweeps, tables as CSV, refusals with their reason, and training logs from registration to deletion."""
import json
import re
import urllib.parse

from harness import TRAINING_CONF, training, training_log, write_log, write_trace

JSON = {"Content-Type": "application/json"}


def traced(scene, lines):
    trace = scene.shared.ingest(write_trace(scene.shared.root / f"whatif-{len(lines)}-{hash(lines[1]) % 1000}", lines))
    return f"/api/v1/traces/{trace['id']}"


def ask(scene, path, body=None, query=""):
    method = "GET" if body is None else "POST"
    status, _, value = scene.shared.ask(path + query, method, body, JSON)
    assert status == 200, value
    return value


def rows(table):
    return [dict(zip(table["columns"], row)) for row in table["data"]]


def test_the_proof_stands_in_every_answer(scene):
    answer = ask(scene, traced(scene, training()) + "/whatif", {})
    assert answer["model"]["loader"] == "inline" and answer["check"]["reproduced"] is True
    assert answer["check"]["epoch_error_max"] < 0.02
    assert [row["name"] for row in rows(answer["scenarios"])] == ["baseline"]


def test_a_scenario_changes_what_it_names_alone(scene):
    path = traced(scene, training()) + "/whatif"
    answer = ask(scene, path, {"scenarios": [{"name": "fast", "compute": 0}, {"storage": 0.5}]})
    base, fast, storage = rows(answer["scenarios"])
    assert fast["compute"] == 0 and fast["stall"] == base["stall"] and fast["speedup"] > 2
    assert storage["name"] == "storage=0.5" and storage["compute"] == base["compute"] and storage["stall"] < base["stall"]


def test_a_get_says_the_same_as_a_post(scene):
    path = traced(scene, training()) + "/whatif"
    body = {"sweep": {"workers": [0, 1, 2], "storage": [1, 0]}}
    posted = ask(scene, path, body)
    assert ask(scene, path, query="?q=" + urllib.parse.quote(json.dumps(body))) == posted
    assert len(posted["sweep"]["data"]) == 6


def test_a_knee_is_compared_with_infinitely_many_workers(scene):
    answer = ask(scene, traced(scene, training()) + "/whatif", {"sweep": {"workers": [1, 2, 4, 8], "storage": [1, 0]}})
    times = {(row["workers"], row["storage"]): row["train_time"] for row in rows(answer["sweep"])}
    assert [knee["storage"] for knee in answer["knee"]] == [1, 0]
    for knee in answer["knee"]:
        assert knee["train_time"] == times[knee["workers"], knee["storage"]]
        assert knee["train_time_infinite"] <= min(time for (_, storage), time in times.items() if storage == knee["storage"])
        share = int(100 * knee["train_time_infinite"] / knee["train_time"] + 1e-9)
        assert re.match(rf"{knee['workers']} workers? reach(es)? {share} % of what infinitely many would: ", knee["sentence"]), knee


def test_tables_come_as_csv(scene):
    path = traced(scene, training()) + "/whatif"
    status, headers, text = scene.shared.ask(path + "?format=csv&table=sweep", "POST", {"sweep": {"workers": [1, 2]}}, JSON)
    assert status == 200 and headers["Content-Type"].startswith("text/csv") and text.decode().splitlines()[0].startswith("workers,train_time")
    scene.shared.problem(path + "?format=csv&table=steps", 400, "POST", {}, JSON)


def test_a_trace_that_does_not_fit_is_refused_with_its_reason(scene):
    problem = scene.shared.problem(traced(scene, [line for line in training() if "compute" not in line]) + "/whatif", 422, "POST", {}, JSON)
    assert problem["reason"] == "no-compute" and "compute events" in problem["detail"]


def test_mistakes_name_their_place(scene):
    path = traced(scene, training()) + "/whatif"
    for body, parameter in (({"scenarios": [{}, {"workers": 1000}]}, "scenarios[1].workers"), ({"sweep": {"gpu": [1]}}, "sweep.gpu"), ({"detail": ["all"]}, "detail"), ({"more": 1}, "more")):
        assert scene.shared.problem(path, 400, "POST", body, JSON)["parameter"] == parameter


def test_a_training_log_is_a_trace(scene):
    folder = write_log(scene.shared.root / "training-log", "=> starting\n" + training_log() + "2021-09-01 19:48:00 GPU: 0 Epoch: [9]\n")
    trace = scene.shared.ingest(folder)
    path = f"/api/v1/traces/{trace['id']}"
    assert trace["kind"] == "dataload" and trace["events"] == 160 and trace["files"] == 2
    totals = ask(scene, path + "/report")["totals"]
    assert totals["lines"] == totals["events"] + totals["metadata"] + totals["other"] + totals["blank"] + totals["malformed"]
    assert (totals["other"], totals["malformed"]) == (1, 1)
    table = ask(scene, path + "/whatif/align")
    assert [(row["fetch_align"], row["n"]) for row in rows(table)] == [(None, 9), ("avg", 9)]
    assert rows(table)[1]["fetch_diff_mean"] == 0
    fetches = ask(scene, path + "/query", {"filter": 'func_name == "fetch"', "group_by": ["pid"], "aggregate": {"n": "count()", "mean": "mean(args.seconds)"}})
    assert [(row[0], row[1]) for row in fetches["data"]] == [(0, 40), (1, 40)]
    assert scene.shared.problem(path + "/whatif", 400, "POST", {}, JSON)["detail"].startswith("This trace is a training log")
    (folder / "output.log").write_text(training_log())
    status, _, job = scene.shared.ask(path + "/refresh", "POST")
    assert status == 202, job
    scene.shared.wait(job["job"])
    assert ask(scene, path + "/report")["totals"]["malformed"] == 0
    assert scene.shared.ask(path, "DELETE")[0] == 204


def test_logs_of_all_sorts_are_counted_line_by_line(scene):
    root, log, noise = scene.new("root"), training_log(), bytes(range(256)) * 40
    lines = log.splitlines(True)
    logs = {"other": b"hello\nworld\n", "noise": log.encode() + noise + b"\n" + log.encode(), "long": log.encode() + b"GPU: 0 Epoch: " + b"x" * 3_000_000 + b"\n" + log.encode(),
            "cut": log[:-30].encode(), "mixed": "".join(lines[1::2] + lines[::2]).encode(), "empty": b""}
    wanted = {"other": (0, 0, 422), "noise": (320, 0, 200), "long": (320, 1, 200), "cut": (160, 0, 200), "mixed": (160, 0, 200), "empty": (0, 0, 422)}
    server = scene.server([root])
    for name, text in logs.items():
        write_log(root / name, "")
        (root / name / "output.log").write_bytes(text)
        path = f"/api/v1/traces/{server.ingest(root / name)['id']}"
        totals = server.get(path + "/report")["totals"]
        assert totals["lines"] == sum(totals[c] for c in ("events", "metadata", "other", "blank", "malformed")), (name, totals)
        status, _, answer = server.ask(path + "/whatif/align")
        assert (totals["events"], totals["malformed"], status) == wanted[name], (name, totals, status)
        assert status == 200 or (answer["reason"] and "lacks" in answer["detail"]), answer


def conf_of(folder, text):
    (folder / "sim_conf.json").write_bytes(text)


def test_what_is_no_log_is_counted_and_explained(scene):
    """an output.log without a line of a log, a configuration that is none: both stand in the report, and the answer says what is missing"""
    root, log = scene.new("root"), training_log()
    wanted = {"junk": (0, 2, 422, "no-fetches"), "nothing": (0, 0, 422, "no-fetches"), "binary": (0, 0, 422, "no-fetches"), "late": (160, 1000, 200, None),
              "broken": (160, 0, 422, "configuration"), "no-text": (160, 0, 422, "configuration"), "blank": (160, 0, 422, "configuration"), "list": (160, 0, 422, "configuration")}
    logs = {"junk": b"hello\nworld\n", "nothing": b"", "binary": bytes(range(256)) * 400, "late": b"starting up\n" * 1000 + log.encode()}
    confs = {"binary": json.dumps(TRAINING_CONF).encode(), "broken": b'x{"FETCH_ALIGN": [false]}', "no-text": bytes(range(256)), "blank": b"", "list": b"[]"}
    server = scene.server([root])
    for name, (events, other, status, reason) in wanted.items():
        write_log(root / name, log)
        (root / name / "output.log").write_bytes(logs.get(name, log.encode()))
        conf_of(root / name, confs[name]) if name in confs else (root / name / "sim_conf.json").unlink()
        path = f"/api/v1/traces/{server.ingest(root / name)['id']}"
        report = server.get(path + "/report")
        assert (report["totals"]["events"], report["totals"]["other"]) == (events, other), (name, report["totals"])
        assert [file["path"] for file in report["files"]] == ["output.log"] + ["sim_conf.json"] * (name in confs), (name, report["files"])
        got, _, answer = server.ask(path + "/whatif/align")
        assert (got, answer.get("reason")) == (status, reason), (name, answer)


def table_of(name, heading, rows):
    return name, "".join(",".join(str(cell) for cell in row) + "\n" for row in [heading, *([k, *row] for k, row in enumerate(rows))])


def training_tables(run):
    """the tables of two GPUs: iterations, durations and starts of fetches, one epoch of 20"""
    steps, durations, starts = [], [], []
    for k in range(20):
        time = f"2021-09-01 19:48:{10 + k}"
        steps += [[f"{time}.5", gpu, 1, k, 1.5, 0.25 * (gpu + 1), 400] for gpu in range(2)]
        durations.append([1, k, 0.5, 0.75, 0.25])
        starts.append([1, k, f"{time}.100", f"{time}.200", 0.1])
    ends = [(".csv", ["", "Time", "GPU", "Epoch", "Step", "Iteration time (sec)", "Training stall time (sec)", "Throughput (image/sec)"], steps),
            ("_simp_fetchdifftime.csv", ["", "Epoch", "Index number", "Fetch time (sec)_gpu0", "Fetch time (sec)_gpu1", "Batch fetch time diff (sec)"], durations),
            ("_simp_fetchstartdifftime.csv", ["", "Epoch", "Index number", "Start time_gpu0", "Start time_gpu1", "Batch fetch start time diff (sec)"], starts)]
    return dict(table_of(run + end, heading, rows) for end, heading, rows in ends)


def test_tables_that_join_the_gpus_are_enough(scene):
    root, server = scene.new("root"), None
    for name, left_out, more in (("run", "", {}), ("no-steps", "run.csv", {}), ("no-durations", "fetchdifftime", {}), ("two", "", training_tables("other")), ("damaged", "", {}), ("log", "", {"output.log": "hello\n"})):
        files = {key: text for key, text in {**training_tables("run"), **more}.items() if left_out == "" or not key.endswith(left_out) and left_out + ".csv" not in key}
        (root / name).mkdir()
        for key, text in files.items():
            (root / name / key).write_text(text.replace("1,3,", "1,three,") if name == "damaged" else text)
    server = scene.server([root])
    ids = {name: server.ingest(root / name)["id"] for name in ("run", "no-steps", "no-durations", "two", "damaged", "log")}
    asked = {name: server.ask(f"/api/v1/traces/{id}/whatif/align") for name, id in ids.items()}
    reports = {name: server.get(f"/api/v1/traces/{id}/report") for name, id in ids.items()}
    assert {name: answer.get("reason") for name, (_, _, answer) in asked.items()} == {"run": None, "no-steps": "no-iterations", "no-durations": "no-fetches", "two": "several-runs", "damaged": None, "log": None}
    for report in reports.values():
        totals = report["totals"]
        assert totals["lines"] == sum(totals[c] for c in ("events", "metadata", "other", "blank", "malformed")), totals
    assert reports["run"]["totals"]["events"] == 80 and reports["damaged"]["totals"]["malformed"] == 2 + 2
    table = {row["fetch_align"]: row for row in rows(asked["run"][2]) if row["start_align"] is None}
    assert [table[None][c] for c in ("n", "iteration_mean", "fetch_diff_mean")] == [9, 1.5, 0.25] and table["min"]["fetch_diff_mean"] == 0
    [rejected] = [file for file in reports["log"]["files"] if file["state"] == "rejected"]
    assert rejected["path"] == "output.log" and "does not begin like a training log" in rejected["reason"]


def test_a_log_beside_other_traces_is_somebody_elses(scene):
    """many programs write an output.log: one that is no training log does not change what a folder is; one that is gives a refusal that names both"""
    root = scene.new("root")
    for name, text in (("other", "hello\n"), ("training", training_log())):
        write_trace(root / name, training())
        (root / name / "output.log").write_text(text)
    server = scene.server([root])
    assert server.ingest(root / "other")["kind"] == "events"
    _, job = server.register(root / "training")
    assert "two kinds of traces" in server.wait(job)["error"]["detail"]


def test_small_memory_is_a_refusal(scene):
    root = scene.new("root")
    write_trace(root / "run", training(steps=2000))
    asked = {"sweep": {"workers": list(range(1, 33)), "storage": [1, 0.5, 0]}, "detail": ["ranks", "epochs", "steps"]}
    for memory, fits in (("16KiB", False), ("256MiB", True)):
        server = scene.server([root], {"query_memory": memory})
        path = f"/api/v1/traces/{server.ingest(root / 'run')['id']}/whatif"
        status, _, answer = server.ask(path, "POST", asked, JSON)
        assert status == (200 if fits else 422), answer
        assert fits or "query_memory" in answer["detail"], answer
        assert server.ask("/healthz")[0] == 200


def test_a_log_may_have_64_mib(scene):
    def body(size):
        text = json.dumps({"log": training_log() + "x" * 100 + "\n", "conf": TRAINING_CONF})
        return (text + " " * (size - len(text))).encode()

    status, _, table = scene.shared.ask("/api/v1/whatif/align", "POST", body(64 << 20), JSON)
    assert status == 200 and [row["n"] for row in rows(table)] == [9, 9]
    assert "67108864" in scene.shared.problem("/api/v1/whatif/align", 413, "POST", body((64 << 20) + 1), JSON)["detail"]


def test_a_log_is_aligned_without_being_registered(scene):
    damaged = "hello\n\n2021-09-01 19:48:00 GPU: 0 Epoch: [9]\n"
    table = ask(scene, "/api/v1/whatif/align", {"log": training_log() + damaged, "conf": TRAINING_CONF})
    report = table["report"]
    assert [report[c] for c in ("lines", "events", "metadata", "other", "blank", "malformed")] == [163, 160, 0, 1, 1, 1]
    assert report["first_malformed"].startswith("line 163: ")
    assert [row["n"] for row in rows(table)] == [9, 9]
    assert scene.shared.problem("/api/v1/whatif/align", 422, "POST", {"log": "nothing"}, JSON)["reason"] == "no-fetches"
    assert scene.shared.problem("/api/v1/whatif/align", 400, "POST", {"conf": {}}, JSON)["parameter"] == "/log"
    problem = scene.shared.problem("/api/v1/whatif/align", 400, "POST", {"log": training_log(), "config": {}}, JSON)
    assert problem["parameter"] == "/config" and problem["detail"].endswith("allowed: log, conf"), problem
    scene.shared.problem("/api/v1/whatif/align", 400, "POST", [training_log()], JSON)
