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
    assert scene.shared.problem("/api/v1/whatif/align", 400, "POST", {"conf": {}}, JSON)["parameter"] == "log"
