"""The command `strata` against the real daemon, in a pipe and on a terminal."""
import csv
import fcntl
import hashlib
import io
import json
import os
import pathlib
import pty
import re
import shutil
import struct
import subprocess
import termios

from daemon import ROOT, generate, tool
from harness import Skipped, write_trace

STRATA = str(pathlib.Path(tool("STRATAD", "server/stratad")).with_name("strata"))


def call(*words, url=None, status=0, stdin=None, **environment):
    """(standard output, standard error)"""
    clean = {k: v for k, v in os.environ.items() if k not in ("STRATA_URL", "STRATA_TOKEN", "COLUMNS")}
    done = subprocess.run([STRATA, *map(str, words)], env={**clean, "XDG_CONFIG_HOME": "/nonexistent", **({"STRATA_URL": url} if url else {}), **environment},
                          input=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120)
    assert done.returncode == status, f"{words}: exit status {done.returncode}, not {status}: {done.stdout[:500]} {done.stderr}"
    return done.stdout, done.stderr


def on_terminal(*words, url, width=100):
    """what a terminal of that width shows"""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, width, 0, 0))
    process = subprocess.Popen([STRATA, *map(str, words)], stdin=slave, stdout=slave, stderr=slave, env={**os.environ, "STRATA_URL": url, "LC_ALL": "C.UTF-8"})
    os.close(slave)
    shown = b""
    try:
        while piece := os.read(master, 65536):
            shown += piece
    except OSError:  # the end, on Linux
        pass
    os.close(master)
    assert process.wait(60) == 0, shown
    return shown.decode().replace("\r\n", "\n")


def needs_commands():
    if " ls " not in call("--help")[0]:
        raise Skipped("libcurl4-openssl-dev", "this build of strata has no commands that ask a daemon")


def start(scene):
    root = scene.new("root")
    server = scene.server([root])
    generate(root / "run", events=3000, ranks=2, workers=1, seed=7)
    return root, server


def rows(text):
    return list(csv.DictReader(io.StringIO(text, newline="")))


def test_traces_come_and_go(scene):
    needs_commands()
    root, server = start(scene)
    identifier = call("add", root / "run", "--wait", "--name", "first run", url=server.base)[0].strip()
    record = server.get(f"/api/v1/traces/{identifier}")
    assert record["state"] == "ready" and record["name"] == "first run"
    listed = rows(call("ls", url=server.base)[0])
    assert [(t["name"], t["id"], int(t["events"])) for t in listed] == [("first run", identifier, record["events"])]
    assert call("ls", "--names", url=server.base)[0] == "first run\n"
    assert json.loads(call("ls", "--json", url=server.base)[0])["traces"][0]["id"] == identifier
    assert call("rm", "first run", url=server.base)[0] == "" and server.get("/api/v1/traces")["traces"] == []
    assert call("add", root / "nowhere", url=server.base, status=2)[1].startswith("strata: ")


def test_a_pipe_gets_the_bytes_of_the_api(scene):
    needs_commands()
    root, server = start(scene)
    trace = server.ingest(root / "run")["id"]
    for words, path in ((["summary", "run"], f"traces/{trace}/summary?format=csv"), (["summary", "run", "--json"], f"traces/{trace}/summary"),
                        (["findings", "run"], f"traces/{trace}/findings?format=csv"), (["findings", "run", "--markdown"], f"traces/{trace}/findings?format=markdown"),
                        (["query", "run", "columns ts, dur"], f"traces/{trace}/query?columns=ts&columns=dur&format=csv"),
                        (["query", "run", "columns ts, dur", "--ndjson", "--limit", "5"], f"traces/{trace}/query?columns=ts&columns=dur&format=ndjson&limit=5")):
        _, _, wanted = server.ask("/api/v1/" + path)
        got = call(*words, url=server.base)[0]
        assert json.loads(got) == wanted if isinstance(wanted, dict) else got == wanted.decode().replace("\r\n", "\n"), words
    assert len(rows(call("query", "run", "columns ts", url=server.base)[0])) == server.get(f"/api/v1/traces/{trace}")["events"] > 1000


def test_clauses_are_the_members_of_a_request(scene):
    needs_commands()
    cases = {
        'filter cat == "posix" and size > 4 group by func_name, k = bin(size, 4096) aggregate n = count(), sum(time) order by time desc, -n, func_name asc limit 10':
            {"filter": 'cat == "posix" and size > 4', "group_by": ["func_name", {"k": "bin(size, 4096)"}], "aggregate": {"n": "count()", "sum(time)": "sum(time)"},
             "order_by": ["-time", "-n", "func_name"], "limit": 10},
        "preset dlio from 1.5 to 2 group by pid aggregate t = sum(time) then aggregate slowest = max(t), p = argmax(pid, t) then derive x = slowest / 2":
            {"preset": "dlio", "from": 1.5, "to": 2, "group_by": ["pid"], "aggregate": {"t": "sum(time)"},
             "then": {"aggregate": {"slowest": "max(t)", "p": "argmax(pid, t)"}, "then": {"derive": {"x": "slowest / 2"}}}},
        'filter file_name == "then limit 3" or `limit` > (1) columns ts , args.ret': {"filter": 'file_name == "then limit 3" or `limit` > (1)', "columns": ["ts", "args.ret"]},
        "aggregate limit = max(size), then = min(size)": {"aggregate": {"limit": "max(size)", "then": "min(size)"}},
        "value counts func_name limit 3": {"value_counts": ["func_name"], "limit": 3},
        "describe size, dur": {"describe": ["size", "dur"]},
        r"""filter name.str.contains("a\"b, then") aggregate n = sum(where(size > 4, 1, 0))""": {"filter": r"""name.str.contains("a\"b, then")""", "aggregate": {"n": "sum(where(size > 4, 1, 0))"}},
        "": {},
    }
    for text, wanted in cases.items():
        assert json.loads(call("query", "any", text, "--print")[0]) == wanted, text
    for text, said in {"grup by x": "a query begins with one of", "limit many": "limit takes a number", "derive size / 2": "derive takes name = expression",
                       "limit 1 limit 2": "limit stands twice", "filter": "nothing stands behind filter", "group by a,,b": "an item of group_by is empty"}.items():
        assert said in call("query", "any", text, "--print", status=2)[1], text


def test_requests_come_from_files_and_standard_input(scene):
    needs_commands()
    root, server = start(scene)
    server.ingest(root / "run")
    request = json.dumps({"group_by": ["func_name"], "aggregate": {"n": "count()"}})
    (root / "request.json").write_text(request)
    (root / "clauses").write_text("group by func_name\naggregate n = count()\n")
    answers = {call("query", "run", given, url=server.base, stdin=request)[0] for given in (request, f"@{root / 'request.json'}", "-", f"@{root / 'clauses'}")}
    assert len(answers) == 1 and rows(answers.pop())
    assert "cannot be read" in call("query", "run", "@/nonexistent", url=server.base, status=2)[1]


def test_a_terminal_gets_a_table_as_wide_as_it_is(scene):
    needs_commands()
    root, server = start(scene)
    name = "x" * 150
    lines = ['{"name":"read\\u001b[31m","cat":"POSIX","pid":1,"tid":1,"ts":%d,"dur":50,"ph":"X","args":{"fname":"/%s/%d","size_sum":%d}}' % (1_700_000_000_000_000 + i, name, i, i * 1000) for i in range(1, 9)]
    write_trace(root / "wide", ["[", *lines, "]"])
    server.ingest(root / "wide")
    shown = on_terminal("query", "wide", "group by func_name, file_name aggregate size = sum(size), n = count() limit 4", url=server.base, width=70)
    heading, *table = shown.splitlines()
    assert heading.split() == ["func_name", "file_name", "size", "(B)", "n"] and table[-1].startswith("4 of 8 rows"), shown
    assert all(len(line) <= 70 for line in [heading, *table[:4]]) and len({line.rindex("1") for line in table[:4]}) == 1, shown
    assert "\x1b" not in shown and "read?[31m" in shown and "…" in shown
    assert [line.split()[2] for line in table[:4]] == ["1000", "2000", "3000", "4000"] and table[0].rindex("1000") == table[3].rindex("4000"), shown
    narrow = on_terminal("summary", "run", url=on(server, root), width=40)
    assert "call time (s)" in on_terminal("summary", "run", url=server.base, width=200), "metrics are called as on the pages"
    assert "not shown, the terminal is too narrow:" in narrow and all(len(line) <= 40 for line in narrow.splitlines() if "not shown" not in line), narrow
    assert re.search(r"^\d+ critical, \d+ warning", on_terminal("findings", "run", url=server.base), re.M)


def on(server, root):
    """the address, with the trace of start() ingested"""
    server.ingest(root / "run")
    return server.base


def test_two_runs_are_compared(scene):
    needs_commands()
    root, server = start(scene)
    generate(root / "other", events=2500, ranks=2, workers=1, seed=8)
    ids = [server.ingest(root / name)["id"] for name in ("run", "other")]
    _, _, wanted = server.ask(f"/api/v1/compare?traces={','.join(ids)}&columns=name,trace,time_delta&format=csv")
    assert call("compare", "run", "other", "--columns", "name,trace,time_delta", url=server.base)[0] == wanted.decode().replace("\r\n", "\n")
    assert "more call time (s)" in call("compare", "run", "other", "--table", url=server.base, COLUMNS="200")[0]


def test_what_is_refused_says_why_and_the_exit_status(scene):
    needs_commands()
    root, server = start(scene)
    trace = server.ingest(root / "run")["id"]
    problem = server.problem(f"/api/v1/traces/{trace}/query", 400, "POST", {"filter": "siz > 4"}, {"Content-Type": "application/json"})
    assert call("query", "run", "filter siz > 4", url=server.base, status=2)[1] == f"strata: {problem['detail']} (at /filter, character 0)\n"
    assert "no trace is called 'nosuch'; there are run" in call("summary", "nosuch", url=server.base, status=2)[1]
    assert "summary has no option --follow" in call("summary", "run", "--follow", url=server.base, status=2)[1]
    assert "usage: strata query TRACE QUERY" in call("query", "run", url=server.base, status=2)[1]
    assert "there is no command nosuch" in call("nosuch", status=2)[1]
    assert "no daemon answers at http://127.0.0.1:9" in call("ls", "--url", "http://127.0.0.1:9", status=3)[1]
    with open("/dev/full", "w") as full:
        done = subprocess.run([STRATA, "query", "run", "columns ts"], stdout=full, stderr=subprocess.PIPE, env={**os.environ, "STRATA_URL": server.base}, text=True)
    assert done.returncode == 4 and "cannot be written" in done.stderr, done


def test_the_token_is_found(scene):
    needs_commands()
    folder = scene.new("tokens")
    (folder / "tokens").write_text(f"me:viewer:{hashlib.sha256(b'secret').hexdigest()}\n")
    (folder / "tokens").chmod(0o600)
    server = scene.server([folder], settings={"tokens": str(folder / "tokens")})
    assert call("ls", url=server.base, status=2)[1].startswith("strata: ")
    assert call("ls", url=server.base, STRATA_TOKEN="secret")[0].startswith("name,id")
    (folder / "strata").mkdir()
    (folder / "strata/token").write_text("secret\n")
    assert call("ls", url=server.base, XDG_CONFIG_HOME=str(folder))[0].startswith("name,id")


def test_long_answers_are_not_gathered(scene):
    """an answer larger than the memory that the process may have"""
    needs_commands()
    root = scene.new("root")
    server = scene.server([root])
    generate(root / "long", events=300_000, ranks=2, workers=1, seed=3, output_files=1)
    server.ingest(root / "long")
    script = f"exec {STRATA} query long 'columns func_name, cat, host_name, file_name, proc_name, pid, tid, ts, te, dur, time_start, time_end, size'"
    process = subprocess.Popen(["bash", "-c", script], stdout=subprocess.PIPE, env={**os.environ, "STRATA_URL": server.base})
    size = peak = 0
    while piece := process.stdout.read(1 << 20):
        size += len(piece)
        found = re.search(r"VmHWM:\s+(\d+)", pathlib.Path(f"/proc/{process.pid}/status").read_text())
        peak = max(peak, int(found[1]) * 1024 if found else 0)
    assert process.wait(30) == 0 and size > 25e6
    if "asan" not in STRATA:  # sanitizers take memory of their own
        assert 0 < peak < size, (peak, size)


def test_help_and_the_manual_name_the_same(scene):
    manual = (ROOT / "docs/man/strata.1").read_text().replace("\\-", "-")
    text = call("--help")[0]
    commands = re.findall(r"^  ([a-z]+) ", text, re.M)
    assert "check" in commands and all(re.search(rf"^\.BI? {command}\b", manual, re.M) for command in commands)
    for command in set(commands) - {"check"}:  # which reads its own
        for option in re.findall(r"^  (--[a-z-]+)", call(command, "--help")[0], re.M):
            assert option in manual, f"strata.1 does not name {option} of {command}"
    daemon = (ROOT / "docs/man/stratad.8").read_text().replace("\\-", "-")
    listed = subprocess.run([tool("STRATAD", "server/stratad"), "--help"], stdout=subprocess.PIPE, text=True, check=True).stdout
    for name, meaning in re.findall(r"^  ([a-z_]+) {2,}(.*)$", listed, re.M):
        assert f".B {name}\n" in daemon and meaning in daemon.replace("\\&", "").replace("\\e", "\\"), f"stratad.8 does not have: {name} {meaning}"


def test_completion(scene):
    needs_commands()
    root, server = start(scene)
    server.ingest(root / "run")
    (root / "completion").write_text(call("completion", "bash")[0])

    def offered(*words):
        line = " ".join(f"'{w}'" for w in words)
        script = f". {root / 'completion'}; COMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; _strata; printf '%s\\n' \"${{COMPREPLY[@]}}\""
        return subprocess.run(["bash", "-c", script], stdout=subprocess.PIPE, text=True, env={**os.environ, "STRATA_URL": server.base}, check=True).stdout.split()

    assert offered("strata", "s") == ["summary"] and set(offered("strata", "co")) == {"compare", "completion"}
    assert offered(STRATA, "summary", "r") == ["run"] and "--ndjson" in offered("strata", "query", "--n") and str(root / "run") in offered("strata", "add", str(root / "r"))


def test_the_completion_of_zsh_is_sound(scene):
    if not shutil.which("zsh"):
        raise Skipped("zsh", "it is not installed")
    script = scene.new("zsh") / "_strata"
    script.write_text(call("completion", "zsh")[0])
    subprocess.run(["zsh", "-n", str(script)], check=True)
