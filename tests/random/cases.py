"""One random request after the other: asked, compared, and made small where it differs."""
import json
import random
import time
import answers
import mistakes
import overlaps
import questions
from minimise import minimise

MISTAKEN = .2
OVERLAPS = 10  # one in so many
PATIENCE = 60  # seconds to make a request small


def parses(text):
    """whether it could be an expression: its brackets close"""
    depth = 0
    for character in text:
        depth += (character in "([") - (character in ")]")
        if depth < 0:
            return False
    return depth == 0


class Cases:
    """numbered requests of a seed"""

    def __init__(self, scene, seed, show, only, little_memory=False):
        self.scene, self.seed, self.show, self.only, self.little_memory = scene, seed, show, only, little_memory
        self.counts = dict.fromkeys(("rows", "empty", "mistakes", "given up", "other forms", "overlaps", "too large"), 0)
        self.asked = self.failed = 0

    def drawn(self, number):
        """(request, name of its trace or None for several, the dice)"""
        dice = random.Random(f"{self.seed}:{number}")
        request, name = questions.Questions(self.scene.oracle, self.scene.traces, dice).valid()
        wrong = dice.random() < MISTAKEN
        return mistakes.Mistakes(dice).mistaken(request) if wrong else request, name, dice

    def one(self, number):
        self.asked += 1
        kind = self.only or ("overlaps" if number % OVERLAPS == OVERLAPS - 1 else "queries")
        return self.overlap(number) if kind == "overlaps" else self.query(number)

    def overlap(self, number):
        made = overlaps.Overlaps(self.scene.overlap_oracle, self.scene.oracle, self.scene.traces, random.Random(f"{self.seed}:{number}"))
        call, request, name = made.request()
        want = made.expected(call, request, name)
        if want is None:
            self.counts["given up"] += 1
            return
        status, answer = self.scene.got(request, name, call)
        if self.little_memory and status == 422 and "query_memory" in answer["detail"]:
            self.counts["too large"] += 1
            return
        self.counts["overlaps"] += 1
        found = overlaps.difference(want, answer) if status == 200 else f"{status}: {answer}"
        if found:
            self.failed += 1
            print(f"FAILED case {number} of seed {self.seed}: {call}: {found}\n  request {json.dumps(request)} on {name}", flush=True)

    def query(self, number):
        request, name, dice = self.drawn(number)
        want = self.scene.expected(request, name)
        if want is None:
            self.counts["given up"] += 1
            return
        found = answers.difference(request, want, *self.scene.got(request, name))
        if found and self.little_memory and "query_memory" in found[1]:  # texts that a query makes are held
            self.counts["too large"] += 1
            return
        self.counts["mistakes" if "status" in want else "rows" if want["data"] else "empty"] += 1
        if found:
            return self.report(number, request, name, found)
        if "status" not in want and dice.random() < .2:
            self.counts["other forms"] += 1
            sentence = self.scene.other_form(request, name, dice)
            if sentence and self.little_memory and "query_memory" in sentence:  # all rows at once, where the answer was a page of them
                self.counts["too large"] += 1
            elif sentence:
                self.failed += 1
                print(f"FAILED case {number} of seed {self.seed}: {sentence}\n  request {json.dumps(request)} on {name}", flush=True)

    def report(self, number, request, name, found):
        self.failed += 1
        if self.failed > self.show:
            return
        kind, end = found[0], time.monotonic() + PATIENCE

        def fails(smaller):
            other = self.scene.difference(smaller, name) if time.monotonic() < end else None
            return bool(other) and other[0] == kind

        small = minimise(request, fails, parses)
        _, sentence = self.scene.difference(small, name) or found
        print(f"FAILED case {number} of seed {self.seed}: {sentence}\n  request {json.dumps(small)} on {name}", flush=True)
