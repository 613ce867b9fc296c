"""Random requests of overlap.md: sets by conditions, any scope and window; the whole answer or the intervals behind it."""
import math
import expressions
from questions import Questions

NAMES = ["compute", "io", "app_io", "A", "b2", "checkpoint"]
SCOPES = ["thread", "process", "rank_group", "rank_group", "host", "job"]
KEYS = ["epoch", "host_name", "cat", "pid % 2", "bin(time_start, 2)", "dirname(file_name)", "func_name"]


class Overlaps:
    """@oracle: module overlap_oracle"""

    def __init__(self, oracle, query_oracle, traces, dice):
        self.oracle, self.traces, self.dice = oracle, traces, dice
        self.questions = Questions(query_oracle, traces, dice)

    def maybe(self, share):
        return self.dice.random() < share

    def request(self):
        """(call, request, name of the trace)"""
        name = self.dice.choice(sorted(self.traces))
        trace = self.traces[name]
        request = {}
        if self.maybe(.2):
            request = {"preset": "dlio", **({"filters": self.dice.choice(["on", "off"])} if self.maybe(.5) else {})}
        make = expressions.Expressions(self.dice, self.questions.event_columns(request, {name: trace}))
        request["sets"] = {n: make.condition(1) for n in self.dice.sample(NAMES, self.dice.randrange(1, 5))}
        if self.maybe(.85):
            request["scope"] = self.dice.choice(SCOPES) if self.maybe(.8) else self.dice.sample(KEYS, self.dice.randrange(1, 3))
        length = trace.events[-1]["time_end"]
        if self.maybe(.25):
            request["from"] = round(self.dice.uniform(0, length * .6), self.dice.choice([0, 2, 6]))
        if self.maybe(.25):
            request["to"] = max(request.get("from", 0), round(self.dice.uniform(length * .6, length * 1.1), self.dice.choice([0, 2, 6])))
        if self.maybe(.2):
            request["filter"] = make.condition(1)
        if self.maybe(.7):
            if self.maybe(.4):
                request["exposure"] = True
            return "overlap", request, name
        request["where"] = self.where(list(request["sets"]))
        return "overlap/intervals", {**request, "limit": 100000}, name

    def where(self, names):
        one, other = self.dice.choice(names), self.dice.choice([*names, "idle"])
        return self.dice.choice([one, f"not {one}", f"{one} and not {other}", f"{one} or {other}", "idle", f"not idle and not {one}", f"~({one} | {other})"])

    def expected(self, call, request, name):
        """what the answer must hold; None where the oracle gives up"""
        trace = self.traces[name]
        try:
            if call == "overlap":
                return self.oracle.answer(self.oracle.overlap(trace, request))
            rows = {k: v for k, v in request.items() if k not in ("where", "limit")}
            return self.oracle.table(*self.oracle.intervals(trace, rows, request["where"]))
        except Exception:  # mathematics that it does not foresee
            return None


def difference(want, got, at=""):
    """the first difference as a sentence, or None; the answer may have more members"""
    if isinstance(want, dict):
        if not isinstance(got, dict):
            return f"{at}: {got!r}, not an object"
        missing = [k for k in want if k not in got]
        pairs = [(want[k], got[k], f"{at}/{k}") for k in want if k in got]
        return f"{at}: no {missing[0]}" if missing else next(filter(None, (difference(*p) for p in pairs)), None)
    if isinstance(want, list):
        if not isinstance(got, list) or len(want) != len(got):
            return f"{at}: {str(got)[:300]}, not {str(want)[:300]}"
        return next(filter(None, (difference(a, b, f"{at}/{i}") for i, (a, b) in enumerate(zip(want, got)))), None)
    if isinstance(want, float) and isinstance(got, (int, float)):
        return None if math.isclose(want, got, rel_tol=1e-9, abs_tol=1e-12) else f"{at}: {got!r}, not {want!r}"
    return None if type(want) is type(got) and want == got else f"{at}: {got!r}, not {want!r}"
