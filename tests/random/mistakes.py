"""One mistake put into a request that has none."""
import copy
import re
from questions import stages

TOKEN = re.compile(r"\s+|`[^`]*`|\w+|\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|\*\*|//|[=!<>]=|.", re.S)
JUNK = ["(", ")", ",", "and", "not", "in", "null", "nosuch", "==", "=", "'x'", "5", ".", "[", "]", "-", "@", "!", "`", "'", ".str.", "sum(",
        "lower(", ".foo()", "~", "true", "\u00e9", "9223372036854775808"]
NAMES = ["nosuch", "funcname", "durr", "args.nothing", "Size"]
PATTERNS = ["(", "[a", "a**", "(?P<", "*", "a{2,1}", "\\"]
FILTERS = [
    "1", "'read'", "1 + 'a'", "nosuch > 1", "sum(1) > 0", "'a' == 1", "not 5", "null == 1", "1 in ['a']", "frob(1)", "", "  ", "(1 == 1", "'open", "1 == 1 1",
    "true.str.contains('x')", "'x'.nosuch()", "'x'.str.nosuch()", "'x'.isna(1)", "bin(1, 0) == 1", "cut(1, [2, 1]) == 1", "1 between 2", "busy() > 1",
    "lower(5) == 'x'", "'x' + 1 == 'x'", "-'x' == 1", "1 < 'a' < 2", "~1"]
AGGREGATES = ["sum(count())", "quantile(1, 2)", "quantile(1, -0.5)", "quantile(1, k)", "sum()", "sum(1, 2)", "nosuch(1)", "count(1) + nosuch", "mean('x')", "min",
              "k + sum(nosuch)", "count() + 'x'", "busy(1)", "argmax(1)", "max(min(1))"]
NOT_NUMBERS = [{"describe": [{"d": "'x'"}]}, {"describe": ["1", {"d": "str(1)"}]}, {"histogram": {"of": "'x'"}}, {"aggregate": {"a": "sum('x')"}},
               {"aggregate": {"a": "mean(str(1))"}}, {"aggregate": {"a": "argmax(1, 'x')"}}]
TWICE = [{"group_by": [{"k": "1"}, {"k": "2"}]}, {"columns": [{"k": "1"}, {"k": "2"}]}, {"describe": ["1", "1"]}, {"group_by": ["1", "1"]}]
RESULTS = ("aggregate", "describe", "value_counts", "histogram", "columns", "group_by")


def expressions_of(stage):
    """(holder, member) of each expression of a stage"""
    found = []
    for member in ("derive", "aggregate"):
        found += [(stage[member], k) for k in stage.get(member, {})]
    for member in ("group_by", "columns", "describe", "value_counts"):
        value = stage.get(member)
        if isinstance(value, list):
            found += [(value, i) if isinstance(v, str) else (v, next(iter(v))) for i, v in enumerate(value)]
        elif isinstance(value, str):
            found.append((stage, member))
    if "histogram" in stage:
        found.append((stage["histogram"], "of"))
    return found + [(stage, "filter")] * ("filter" in stage)


def without_result(stage):
    for member in (*RESULTS, "order_by"):
        stage.pop(member, None)


class Mistakes:
    def __init__(self, dice):
        self.dice = dice
        self.kinds = [getattr(self, name) for name in sorted(dir(self)) if name.startswith("make_")]

    def pick(self, *options):
        return self.dice.choice(options)

    def mistaken(self, request):
        """a copy of @request with a mistake"""
        request = copy.deepcopy(request)
        all_stages = stages(request)
        make = self.dice.choice([self.make_token] * 6 + [self.make_name] * 4 + self.kinds)
        make(self.dice.choice(all_stages), all_stages)
        return request

    # each: (a stage of the request, all of them)

    def make_token(self, stage, all_stages):
        """a token less, one more, or one in the place of another"""
        found = expressions_of(stage)
        if not found:
            return self.make_filter(stage, all_stages)
        holder, member = self.dice.choice(found)
        tokens = TOKEN.findall(holder[member])
        at, how = self.dice.randrange(len(tokens)), self.dice.randrange(3)
        holder[member] = "".join(tokens[:at] + ([self.dice.choice(JUNK)] if how else []) + tokens[at + (how != 1):])

    def make_name(self, stage, all_stages):
        """a column or function that is not there"""
        found = expressions_of(stage)
        if not found:
            return self.make_filter(stage, all_stages)
        holder, member = self.dice.choice(found)
        names = list(re.finditer(r"(?<![\w.'\"`])[A-Za-z_]\w*(?![\w'\"`])", holder[member]))
        if names:
            name = self.dice.choice(names)
            holder[member] = holder[member][:name.start()] + self.dice.choice(NAMES) + holder[member][name.end():]

    def make_filter(self, stage, all_stages):
        stage["filter"] = self.dice.choice([*FILTERS, f"'x'.str.contains('{self.dice.choice(PATTERNS)}')"])

    def make_member(self, stage, all_stages):
        stage[self.pick("filters_", "groupby", "agg", "sort", "where")] = self.pick([], "x", {})

    def make_later_member(self, stage, all_stages):
        all_stages[-1].setdefault("then", {})[self.pick("from", "preset", "traces", "compare", "cursor")] = 1

    def make_type(self, stage, all_stages):
        """a member of another JSON type"""
        member = self.pick("filter", "group_by", "columns", "limit")
        if member == "columns":
            without_result(stage)
        stage[member] = self.dice.choice({"filter": [5, None, ["x"]], "group_by": ["pid", 5], "columns": ["pid", 7], "limit": ["all", -1, 1.5, True]}[member])

    def make_derived(self, stage, all_stages):
        """a name that is taken, or one that comes later"""
        if stage is all_stages[0]:
            stage["derive"] = {self.pick("pid", "size", "func_name", "trace"): "1", **stage.get("derive", {})}
        else:
            stage["derive"] = {"early": "late + 1", "late": "1", **stage.get("derive", {})}

    def make_both(self, stage, all_stages):
        """two results at once"""
        without_result(stage)
        one, other = self.dice.sample(["aggregate", "describe", "value_counts", "histogram", "columns"], 2)
        whole = {"aggregate": {"n": "count()"}, "describe": ["1"], "value_counts": [{"k": "1"}], "histogram": {"of": "1"}, "columns": [{"k": "1"}]}
        stage.update({one: whole[one], other: whole[other]})

    def make_columns_of_groups(self, stage, all_stages):
        without_result(stage)
        stage.update(self.pick({"group_by": [{"k": "1"}], "columns": [{"c": "1"}]}, {"group_by": [{"k": "1"}], "value_counts": [{"c": "1"}]}))

    def make_numbers(self, stage, all_stages):
        """texts where numbers must be"""
        without_result(stage)
        stage.update(copy.deepcopy(self.dice.choice(NOT_NUMBERS)))

    def make_histogram(self, stage, all_stages):
        without_result(stage)
        stage["histogram"] = {"of": "1", **self.pick({"bins": [1, 1]}, {"bins": [3, 2, 1]}, {"width": 5}, {"of": "nosuch"})}

    def make_aggregate(self, stage, all_stages):
        without_result(stage)
        stage["group_by"] = [{"k": "1"}]
        stage["aggregate"] = {"a": self.dice.choice(AGGREGATES)}

    def make_bare_column(self, stage, all_stages):
        without_result(all_stages[0])
        all_stages[0].pop("then", None)
        all_stages[0].update(group_by=["pid"], aggregate={"a": self.pick("tid", "count() + tid", "pid + dur", "where(count() > 1, size)")})

    def make_late_busy(self, stage, all_stages):
        without_result(all_stages[0])
        all_stages[0].update(group_by=["pid"], aggregate={"n": "count()"}, then={"aggregate": {"b": "busy()"}})

    def make_key_name(self, stage, all_stages):
        without_result(stage)
        stage.update(group_by=[{"k": "1"}], aggregate={"k": "count()"})

    def make_twice(self, stage, all_stages):
        without_result(stage)
        stage.update(copy.deepcopy(self.dice.choice(TWICE)))

    def make_order(self, stage, all_stages):
        stage["order_by"] = self.pick(["nosuch"], ["-nosuch"], ["--size"])

    def make_list_order(self, stage, all_stages):
        without_result(stage)
        stage.update(group_by=[{"k": "1"}], aggregate={"u": "unique(1)"}, order_by=self.pick(["u"], ["k", "-u"]))

    def make_list_key(self, stage, all_stages):
        without_result(stage)
        stage.update(group_by=[{"k": "1"}], aggregate={"u": "unique(1)"}, then={"group_by": ["u"]})

    def make_comparison(self, stage, all_stages):
        request, last = all_stages[0], all_stages[-1]
        labels = list(request.get("traces", ["none"]))
        kind = self.pick("baseline", "key", "columns")
        request["compare"] = {"baseline": labels[0] if kind != "baseline" else "nosuch"}
        if kind == "columns" and "trace" in last.get("group_by", ()):
            request["compare"]["columns"] = ["nosuch"]
        if kind == "key":
            without_result(last)
            last["aggregate"] = {"n": "count()"}
