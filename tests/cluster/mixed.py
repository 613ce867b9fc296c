"""Questions of all sorts, several at a time and some of them given up, asked of ranks under a timeout: a rank that waits for another one would show."""
import collections
import concurrent.futures
import json
import random
import socket
import urllib.parse

from daemon import ENDLESS
from scene import OVERLAPS, QUERIES, VIEWS

CLIENTS = 4
LIMIT_S = 120  # for one question: a right answer takes a fraction of a second


def asked_with(random_number):
    """(method, path behind the trace, body): a question whose answer is known, asked of the scene before"""
    every = [("POST", "query", q) for q in QUERIES] + [("POST", "overlap", o) for o in OVERLAPS] + [("GET", view, None) for view in VIEWS]
    return random_number.choice(every)


def give_up(daemon, path, body, after):
    """asks, and leaves before the answer can be there"""
    where = urllib.parse.urlsplit(daemon.base)
    text = json.dumps(body).encode()
    with socket.create_connection((where.hostname, where.port), timeout=LIMIT_S) as connection:
        connection.sendall(f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {len(text)}\r\n\r\n".encode() + text)
        connection.settimeout(after)
        try:
            connection.recv(1)
        except TimeoutError:
            return


def one(daemon, trace, number, seed):
    """asks a question, or one that is given up; (what, answer) or None"""
    chance = random.Random(f"{seed} {number}")
    if chance.random() < 0.2:
        endless = {"filter": f"{ENDLESS} or ts < {number}", "group_by": ["pid"], "aggregate": {"n": "count()"}}
        give_up(daemon, f"/api/v1/traces/{trace}/query", endless, chance.uniform(0, 0.3))
        return None
    method, path, body = asked_with(chance)
    status, _, text = daemon.request(method, f"/api/v1/traces/{trace}/{path}", body, timeout=LIMIT_S)
    return str(body) if body else path, status, text


def mixed_questions(checks, scene):
    """--questions of them, a fifth given up, by several clients at once; each answer is that of the single daemon"""
    expected = {what: (status, text) for what, status, text in scene.expected}
    counts = collections.Counter()
    seed, number = scene.options.seed, scene.options.questions
    with scene.ranks(3, "--cache", "1", "--workers", "2") as daemon, concurrent.futures.ThreadPoolExecutor(CLIENTS) as clients:
        for found in clients.map(lambda n: one(daemon, scene.trace, n, seed), range(number)):
            counts["given up" if found is None else "answered"] += 1
            if found is not None:
                checks.check(expected[found[0]] == found[1:], f"question of seed {seed}: {found[0]}: {found[1]}, {found[2][:200]}"[:600])
        shared = daemon.metric("strata_rank_questions_total")
        scene.all_rest(daemon, "after mixed questions")
        scene.compare(checks, daemon, "after mixed questions")
    checks.check(shared > number / 4, f"ranks shared {shared} of {number} questions")
    print("   " + ", ".join(f"{n} {what}" for what, n in counts.items()) + f", {shared:.0f} shared", flush=True)
