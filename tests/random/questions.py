"""Random requests of the query language: most are valid and find something, some hold one mistake.

Each stage is drawn over the columns and values that the stages before it gave, as the oracle says, so that a later stage has something to ask.
"""
import copy
import expressions

TAKEN = {"column", "count", "fraction", "left", "right", "mean", "std", "min", "max"}  # columns that results have of their own
PRESENT = {old: name for name, old in expressions.ALIASES.items()}  # what answers call a column


def stages(request):
    """the stages of a request, first to last"""
    found = [request]
    while "then" in found[-1]:
        found.append(found[-1]["then"])
    return found


class Questions:
    """@oracle: module query_oracle; @traces: {name: its Trace}"""

    def __init__(self, oracle, traces, dice):
        self.oracle, self.traces, self.dice = oracle, traces, dice

    def maybe(self, share):
        return self.dice.random() < share

    def few(self, most, make):
        """1 to @most different things"""
        return list(dict.fromkeys(make() for _ in range(self.dice.randrange(1, most + 1))))

    # ---- which events

    def begin(self):
        """(the request so far, what it is asked of: {label: Trace})"""
        request = {}
        if self.maybe(.25):
            names = self.dice.sample(sorted(self.traces), self.dice.randrange(1, min(3, len(self.traces)) + 1))
            labels = {n: n for n in names} if self.maybe(.4) else {f"run {i}": n for i, n in enumerate(names)}
            request["traces"] = names if list(labels) == names and self.maybe(.5) else labels
            asked = {label: self.traces[n] for label, n in labels.items()}
        else:
            name = self.dice.choice(sorted(self.traces))
            asked = {name: self.traces[name]}
        if self.maybe(.2):
            request["preset"] = self.dice.choice(["dlio", "posix"])
            if self.maybe(.4):
                request["filters"] = self.dice.choice(["off", "on"])
        length = max(t.events[-1]["time_end"] for t in asked.values())
        if self.maybe(.15):
            request["from"] = round(self.dice.uniform(0, length * .6), self.dice.choice([0, 1, 3, 6]))
        if self.maybe(.15):
            request["to"] = round(self.dice.uniform(length * .4, length * 1.1), self.dice.choice([0, 1, 3, 6]))
        return request, asked

    def event_columns(self, request, asked):
        table = self.oracle.events(asked, request)
        return expressions.Columns(table.types, table.rows, self.dice, events=True)

    # ---- stages

    def stage(self, columns, number, last):
        """members of a stage over @columns; @number: 0 for the first"""
        first, make, stage = not number, expressions.Expressions(self.dice, copy.deepcopy(columns)), {}
        self.letter = "abcdefgh"[number]
        if self.maybe(.3):
            self.derive(stage, make)
        if self.maybe(.7 if first else .3):
            stage["filter"] = make.condition()
        kind = self.dice.choices(["aggregate", "groups", "rows", "columns", "value_counts", "describe", "histogram", "total"],
                                 [45, 4, 8, 12, 8, 6, 6, 8] if first else [40, 3, 15, 10, 5, 5, 3, 25])[0]
        getattr(self, "make_" + kind)(stage, make)
        if not last and self.maybe(.2) and kind in ("rows", "columns", "aggregate"):
            stage["limit"] = self.dice.choice([1, 3, 10, 100])
        return stage

    def derive(self, stage, make):
        stage["derive"] = {}
        for i in range(self.dice.randrange(1, 3)):
            kind = self.dice.choice(["int", "float", "str", "bool"])
            text = {"int": make.integer, "float": make.fraction, "str": make.texts, "bool": make.condition}[kind]()
            name = f"d{i}_{len(make.columns.types)}"
            stage["derive"][name] = text
            make.columns.add(name, kind)

    def item(self, make, text, name):
        """an expression in a list: with a name or without; a quoted one always with, since texts of names are no names"""
        plain = text in make.columns.types and self.maybe(.9)
        return text if "`" not in text and text not in TAKEN and (plain or self.maybe(.3)) else {name: text}

    def keys(self, make):
        """a group_by: plain texts, or names for expressions"""
        keys = []
        for i, text in enumerate(self.few(3, make.key)):
            keys.append(self.item(make, text, f"{self.letter}k{i}"))
        if make.columns.events and self.maybe(.15):
            keys.insert(self.dice.randrange(len(keys) + 1), "trace")
        names = [PRESENT.get(k, k) if isinstance(k, str) else next(iter(k)) for k in keys]
        texts = [k if isinstance(k, str) else next(iter(k.values())) for k in keys]
        keys = [k for i, k in enumerate(keys) if names[i] not in names[:i] and texts[i] not in texts[:i]]
        if len(keys) == 1 and isinstance(keys[0], dict) and self.maybe(.3):
            return keys[0]
        return keys

    def group(self, stage, make, share=1.):
        if self.maybe(share):
            keys = self.keys(make)
            stage["group_by"] = [keys] if isinstance(keys, dict) else keys
            if self.maybe(.2):
                stage["dropna"] = self.maybe(.2)

    def make_aggregate(self, stage, make):
        self.group(stage, make)
        keys = [k for k in stage.get("group_by", ()) if isinstance(k, str) and make.columns.types.get(k) == "int"]
        stage["aggregate"] = {f"{self.letter}{i}": make.aggregate(keys) for i in range(self.dice.randrange(1, 5))}

    def make_total(self, stage, make):
        stage["aggregate"] = {f"{self.letter}{i}": make.aggregate() for i in range(self.dice.randrange(1, 5))}

    def make_groups(self, stage, make):
        self.group(stage, make)

    def make_rows(self, stage, make):
        pass

    def make_columns(self, stage, make):
        items, seen = [], set()
        for i in range(self.dice.randrange(1, 6)):
            name = self.dice.choice(sorted(make.columns.types))
            text = make.quoted(name) if self.maybe(.7) else self.dice.choice([make.number, make.texts, make.condition])(1)
            item = self.item(make, text, f"v{i}")
            if name not in seen:
                seen.add(name)
                items.append(item)
        stage["columns"] = items

    def make_value_counts(self, stage, make):
        keys = self.keys(make)
        stage["value_counts"] = keys[0] if isinstance(keys, list) and len(keys) == 1 and self.maybe(.7) else keys
        if self.maybe(.15):
            stage["dropna"] = False

    def make_describe(self, stage, make):
        self.group(stage, make, .5)
        items = [self.item(make, text, f"x{i}") for i, text in enumerate(self.few(2, make.number))]
        stage["describe"] = items[0] if len(items) == 1 and self.maybe(.3) else items

    def make_histogram(self, stage, make):
        self.group(stage, make, .3)
        stage["histogram"] = {"of": make.number(1)}
        kind = self.dice.randrange(4)
        if kind == 1:
            stage["histogram"]["bins"] = self.dice.choice([1, 4, 25])
        elif kind == 2:
            stage["histogram"]["bins"] = self.dice.choice([[0, 10, 100, 1000, 10**6], [0, 0.5, 1, 2], [-5, 5], [1, 4096, 65536, 2**20, 2**30]])
        elif kind == 3:
            stage["histogram"].update(bins=self.dice.choice([4, 8, 10]), range=self.dice.choice([[0, 1000], [0, 10], [0, 2**20], [-1, 1]]))

    # ---- the end of a stage: order, for which its result must be known

    def order(self, stage, answer, hidden):
        """orders by columns of the result, or by others of plain rows"""
        names = [n for n, t in zip(answer["columns"], answer["types"]) if t != "list"]
        if "value_counts" in stage:  # ties come by count: whoever names all keys has none
            keys = [n for n in names if n not in ("count", "fraction")]
            self.dice.shuffle(keys)
            names = keys if self.maybe(.5) else ["count"]
        elif hidden and self.maybe(.3):
            names = names + hidden
        if names:
            chosen = names if "value_counts" in stage else self.dice.sample(names, min(len(names), self.dice.randrange(1, 3)))
            stage["order_by"] = [self.dice.choice(["", "-"]) + n for n in chosen]

    def ask(self, request, name):
        """the oracle's answer with all rows, or None where it has none"""
        everything = copy.deepcopy(request)
        stages(everything)[-1]["limit"] = 10**9
        try:
            return self.oracle.ask(everything, self.traces if name is None else {name: self.traces[name]})
        except Exception:  # a mistake, or mathematics that the oracle gives up on: asked as it is
            return None

    # ---- a whole request

    def valid(self):
        """(request, name of the asked trace or None for several)"""
        request, asked = self.begin()
        name = None if "traces" in request else next(iter(asked))
        columns, where = self.event_columns(request, asked), request
        for number in range(8):
            last = number == 7 or self.maybe(.65)
            answer, hidden = self.draw(request, where, columns, number, last, name)
            if answer is None:
                return request, name
            if self.maybe(.35):
                self.order(where, answer, hidden)
            if last:
                break
            rows = [dict(zip(answer["columns"], r)) for r in answer["data"]]
            columns = expressions.Columns(dict(zip(answer["columns"], answer["types"])), rows, self.dice)
            where["then"] = {}
            where = where["then"]
        if "traces" in request and self.maybe(.5):
            self.compare(request, answer)
        if self.maybe(.3):
            where["limit"] = self.dice.choice([1, 2, 5, 20, 1000, 100000])
        return request, name

    def draw(self, request, where, columns, number, last, name):
        """fills in a stage, rather one that leaves rows; gives (answer so far, columns of its rows that are not shown)"""
        before = dict(where)
        for _ in range(4):
            where.clear()
            stage = self.stage(columns, number, last)
            where.update({**before, **stage})
            answer = self.ask(request, name)
            if answer and answer["data"]:
                break
        plain = not {"aggregate", "group_by", "value_counts", "describe", "histogram"} & set(stage)
        return answer, [n for n, t in columns.types.items() if t != "list"] if plain else []

    def compare(self, request, answer):
        """adds a comparison where the result has a row for each run and key"""
        last = stages(request)[-1]
        keys = [k for k in last.get("group_by", ()) if k == "trace"]
        if not keys and "aggregate" in last and (last is request or "trace" in answer["columns"]):
            last["group_by"] = [*last.get("group_by", []), "trace"]
        if "trace" not in last.get("group_by", ()):
            return
        request["compare"] = {"baseline": self.dice.choice(list(request["traces"]))}
        numbers = [n for n, t in zip(answer["columns"], answer["types"]) if t in ("int", "float") and n in last.get("aggregate", {})]
        if numbers and self.maybe(.4):
            request["compare"]["columns"] = self.dice.sample(numbers, 1)
        if numbers and self.maybe(.4):
            name = request["compare"].get("columns", numbers)[0]
            last["order_by"] = [self.dice.choice(["", "-"]) + name + self.dice.choice(["_delta", "_ratio", "_baseline", ""])]
