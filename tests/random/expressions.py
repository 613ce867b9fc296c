"""Random expressions that an engineer could have written: over given columns, with constants that occur in them, so that filters keep something.

Every operator, function and method of query.md part 2 can come out. Broken ones are made elsewhere; these are well typed.
"""
import json
import re

ALIASES = {"func_name": "name", "file_name": "filename", "host_name": "hostname"}
SECONDS = {"time": "dur", "time_start": "ts", "time_end": "te"}
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
WORDS = {"and", "or", "not", "in", "true", "false", "null", "True", "False", "None", "args"}
SAMPLES = 60  # values of a column to draw constants from
PATTERNS = [r"\d+", "read|write", "^[a-z_]+$", r"\.(h5|npz)$", r"(\w+)\.(\w+)", "(?i)READER", "/", r"img_\d*?_", "o.e", r"\bopen",
            "x(?=stat)", "(a)?", "[^/]+$", ""]
EXTRACTED = [r'"(\d+)"', '"[a-z]+"', r'"_(\w+?)_"']
DIGITS, AROUND = r'"\d+"', r'"[\g<0>]"'


class Columns:
    """names, types ("int", "float", "str", "bool", "list") and values that occur"""

    def __init__(self, types, rows, dice, events=False):
        rows = dice.sample(rows, SAMPLES) if len(rows) > SAMPLES else rows
        self.events = events  # rows are events: busy() and bins of whole microseconds exist
        self.types = {n: t for n, t in types.items() if t in ("int", "float", "str", "bool", "list") and "`" not in n}
        self.values = {n: [r[n] for r in rows if r.get(n) is not None] for n in self.types}

    def add(self, name, kind, values=()):
        self.types[name], self.values[name] = kind, list(values)

    def of(self, *kinds):
        return [n for n, t in self.types.items() if t in kinds]


class Expressions:
    def __init__(self, dice, columns):
        self.dice, self.columns = dice, columns

    # ---- pieces

    def pick(self, *options):
        return self.dice.choice(options)

    def maybe(self, share):
        return self.dice.random() < share

    def quoted(self, name):
        """a column as an expression names it"""
        if name in ALIASES and self.columns.events and self.maybe(.3):
            return ALIASES[name]
        if name.startswith("args.") and NAME.fullmatch(name[5:]):
            return self.pick(name, name, f"`{name}`", f"args.`{name[5:]}`")
        return name if NAME.fullmatch(name) and name not in WORDS else f"`{name}`"

    def name(self, *kinds):
        """a column of one of these types, or None; rather one that has values"""
        names = self.columns.of(*kinds)
        full = [n for n in names if self.columns.values[n]]
        choice = full if full and not self.maybe(.05) else names
        return self.dice.choice(choice) if choice else None

    def value(self, name):
        values = self.columns.values[name]
        kind = self.columns.types[name]
        if values and not self.maybe(.1):
            value = self.dice.choice(values)
            return value if kind != "float" or self.columns.events else float(f"{value * 1.07:.3g}")  # beside a sum, not on its last bits
        return {"int": self.pick(0, 1, 7, 4096, 10**6), "float": self.pick(.0, .5, 1e-3, 2.25), "str": self.pick("", "read", "posix", "x"), "bool": True}[kind]

    def text(self, value):
        """a string constant"""
        quote = self.pick('"', "'")
        if self.maybe(.1) and "\\" not in value and quote not in value and value.isprintable():
            return f"{self.pick('r', 'R')}{quote}{value}{quote}"
        escaped = json.dumps(value, ensure_ascii=self.maybe(.3) and all(ord(c) < 0x10000 for c in value))[1:-1]
        body = escaped.replace('\\"', '"').replace("\\b", "\\x08").replace("\\f", "\\x0c")
        return quote + body.replace(quote, "\\" + quote) + quote

    def constant(self, value):
        if isinstance(value, bool):
            return self.pick(*(("true", "True") if value else ("false", "False")))
        return self.text(value) if isinstance(value, str) else repr(value)

    def pattern(self, value):
        """a pattern that matches somewhere in a text, as a rule"""
        start = self.dice.randrange(max(1, len(value)))
        piece = value[start:start + self.dice.randrange(2, 9)]
        if self.maybe(.3):
            return self.dice.choice(PATTERNS)
        return "|".join(filter(None, [re.escape(piece).replace("\\\n", "\\n"), self.pick("", "", "close", "^fork$")])) if piece else "."

    def pattern_text(self, name):
        pattern = self.pattern(self.value(name))
        return json.dumps(pattern, ensure_ascii=False).replace("\\\\", "\\") if '"' not in pattern and "\n" not in pattern else self.text(".")

    def piece(self, value):
        start = self.dice.randrange(max(1, len(value)))
        return value[start:start + self.dice.randrange(1, 7)]

    # ---- conditions

    def condition(self, depth=2):
        if depth and self.maybe(.45):
            return self.combined(depth - 1)
        makers = [self.compare_numbers, self.compare_texts, self.match_text] * 3 + [self.member] * 2
        makers += [self.missing, self.between, self.flag, self.chained]
        for _ in range(20):
            made = self.dice.choice(makers)()
            if made:
                return made
        return "true"

    def combined(self, depth):
        one = self.condition(depth)
        if self.maybe(.25):
            return self.pick(f"not ({one})", f"~({one})", f"not {one}" if " and " not in one and " or " not in one else f"not ({one})")
        operator = self.pick("and", "and", "&", "or", "|")
        return f"({one}) {operator} {self.condition(depth)}" if self.maybe(.5) else f"{one} {operator} {self.condition(depth)}"

    def compare_numbers(self):
        name = self.name("int", "float")
        if not name:
            return None
        left = self.quoted(name) if self.maybe(.7) else self.number(1)
        right = self.constant(self.value(name)) if self.maybe(.8) else self.number(1)
        operator = self.pick("==", "!=", "<", "<=", ">", ">=", ">", "<=")
        return f"{right} {operator} {left}" if self.maybe(.1) else f"{left} {operator} {right}"

    def compare_texts(self):
        name = self.name("str")
        if not name:
            return None
        value = self.value(name)
        value = value.upper() if name == "cat" and self.maybe(.6) else value
        return f"{self.quoted(name)} {self.pick('==', '==', '!=', '<', '>=')} {self.text(value)}"

    def match_text(self):
        name = self.name("str")
        if not name:
            return None
        value, subject = self.value(name), self.quoted(name) if self.maybe(.8) else f"({self.texts(1)})"
        upper = str.upper if name == "cat" and self.maybe(.5) else str
        na = self.pick("", "", "", ", na=True", ", na=False")
        method = self.pick("contains", "contains", "contains", "match", "fullmatch", "startswith", "endswith")
        if method == "contains" and self.maybe(.3):
            return f"{subject}.str.contains({self.text(upper(self.piece(value)))}, {self.pick('regex=False', 'regex=False, case=False')}{na})"
        if method in ("startswith", "endswith"):
            length = self.dice.randrange(1, 9)
            return f"{subject}.str.{method}({self.text(upper(value[:length] if method == 'startswith' else value[-length:]))}{na})"
        return f"{subject}.str.{method}({self.pattern_text(name)}{self.pick('', '', ', case=False', ', case=True')}{na})"

    def member(self):
        name = self.name("str", "int", "int", "float")
        if not name:
            return None
        if not name:
            return None
        values = ", ".join(self.constant(self.value(name)) for _ in range(self.dice.randrange(1, 6)))
        form = self.pick("in [{}]", "not in [{}]", "in ({})", ".isin([{}])")
        return self.quoted(name) + ("" if form[0] == "." else " ") + form.format(values)

    def missing(self):
        name = self.name("int", "float", "str", "bool")
        return name and f"{self.quoted(name)}.{self.pick('isna', 'notna', 'isnull', 'notnull')}()"

    def between(self):
        name = self.name("int", "float", "str")
        if not name:
            return None
        low, high = sorted([self.value(name), self.value(name)])
        return f"{self.quoted(name)}.between({self.constant(low)}, {self.constant(high)})"

    def flag(self):
        name = self.name("bool")
        return name and (self.quoted(name) if self.maybe(.6) else f"{self.quoted(name)} == {self.constant(self.maybe(.5))}")

    def chained(self):
        name = self.name("int", "float")
        if not name:
            return None
        low, high = sorted([self.value(name), self.value(name)])
        return f"{self.constant(low)} <= {self.quoted(name)} {self.pick('<', '<=')} {self.constant(high)}"

    # ---- numbers

    def number(self, depth=2):
        return self.integer(depth) if self.maybe(.6) else self.fraction(depth)

    def integer(self, depth=2):
        name = self.name("int")
        if not depth or not name or self.maybe(.3):
            return self.quoted(name) if name else "1"
        inner, column = self.integer(depth - 1), self.quoted(name)
        kind = self.dice.randrange(14)
        if kind < 3:
            return f"({inner}) {self.pick('+', '-', '*', '//', '%')} {self.pick('2', '7', '1000', '4096', column)}"
        if kind == 3:
            return f"{self.pick('abs', '-', '+', 'int', 'round')}({inner})"
        if kind == 4:
            return f"{self.pick('floor', 'ceil', 'round', 'int')}({self.fraction(depth - 1)})"
        if kind == 5 and self.columns.of("str"):
            text = self.texts(depth - 1)
            return self.pick(f"len({text})", f"({text}).str.len()", f"({text}).str.count({self.pattern_text(self.name('str'))})")
        if kind in (6, 7):
            return self.bins()
        if kind == 8:
            return f"cut({column}, [{', '.join(map(str, self.edges(name)))}])"
        if kind == 9:
            return f"{self.pick('least', 'greatest')}({inner}, {self.pick('0', '5', column)})"
        if kind == 10:
            return f"where({self.condition(0)}, {inner}{self.pick('', ', 0', ', ' + column)})"
        if kind == 11:
            return self.pick(f"coalesce({inner}, {self.pick('0', '-1')})", f"{column}.fillna({self.pick('0', '-1', '17')})")
        if kind == 12 and self.columns.of("str"):
            return f"int({self.extracted()})"
        return f"{column}.abs()"

    def edges(self, name):
        values = {v for v in self.columns.values[name] if -2**53 < v < 2**53}
        return sorted({0, *self.dice.sample(sorted(values), min(3, len(values)))})

    def bins(self):
        seconds = [n for n in SECONDS if self.columns.events or (n in self.columns.types and SECONDS[n] not in self.columns.types)]
        if seconds and self.maybe(.6):
            return f"bin({self.dice.choice(seconds)}, {self.pick('1', '0.1', '0.25', '2.5', '5', '0.000001')}{self.pick('', '', ', 0.3', ', -2')})"
        name = self.name("int")
        return f"bin({self.quoted(name)}, {self.pick('1000', '7', '4096', '2.5', '1e6')}{self.pick('', '', ', 100', ', -5')})" if name else "1"

    def fraction(self, depth=2):
        name = self.name("float")
        if not depth or self.maybe(.3):
            return self.quoted(name) if name else "0.5"
        inner = self.number(depth - 1)
        kind = self.dice.randrange(9)
        if kind < 3:
            return f"({inner}) / {self.pick('1e6', '1024 ** 2', '3', '(' + self.number(0) + ')')}"
        if kind == 3:
            return f"({inner}) {self.pick('+', '-', '*')} {self.pick('0.5', '2.0', '1e3')}"
        if kind == 4:
            return f"{self.pick('sqrt', 'log', 'log2', 'log10')}({self.pick('abs', '')}({inner}))"
        if kind == 5:
            return self.pick(f"round({inner}, {self.pick('0', '2', '3', '-1')})", f"({inner}).round({self.pick('1', '4')})")
        if kind == 6:
            return f"where({self.condition(0)}, {self.fraction(depth - 1)}{self.pick('', ', 0.0', ', 1')})"
        if kind == 7:
            return f"coalesce({self.fraction(depth - 1)}, {self.pick('0.0', '1')})"
        return self.pick(f"float({inner})", f"exp(-abs({inner}) / 1e6)", f"({self.number(0)}) ** {self.pick('2', '3')}")

    # ---- texts

    def texts(self, depth=2):
        name = self.name("str")
        if not depth or not name or self.maybe(.3):
            return self.quoted(name) if name else '"none"'
        inner = self.texts(depth - 1)
        kind = self.dice.randrange(11)
        if kind == 0:
            return f"({inner}) + {self.pick(self.text('-'), self.texts(0))}"
        if kind in (1, 2):
            return f"{self.pick('basename', 'dirname', 'lower', 'upper', 'strip')}({inner})"
        if kind == 3:
            return f"part({inner}, {self.pick(self.text('/'), self.text('.'), self.text('_'), self.text('#'))}, {self.pick('0', '1', '-1', '-2')})"
        if kind == 4:
            return f"replace({inner}, {self.pick(self.pattern_text(name), DIGITS)}, {self.pick(self.text(''), self.text('N'), AROUND)})"
        if kind == 5:
            return self.extracted()
        if kind == 6:
            return f"({inner}).str.slice({self.pick('0', '1', '-4')}{self.pick('', ', 3', ', -1')})"
        if kind == 7:
            return f"({inner}).str.replace({self.text(self.piece(self.value(name)) or 'x')}, {self.text('_')})"
        if kind == 8:
            return f"where({self.condition(0)}, {inner}{self.pick('', ', ' + self.text('other'))})"
        if kind == 9:
            return self.pick(f"coalesce({inner}, {self.text('none')})", f"{self.quoted(name)}.fillna({self.text('none')})")
        replaced = f"({inner}).str.replace({self.pattern_text(name)}, {self.text('#')}, regex=True)"
        return self.pick(f"({inner}).str.{self.pick('lower', 'upper', 'strip')}()", f"str({self.integer(0)})", replaced)

    def extracted(self):
        name = self.name("str")
        column = self.quoted(name)
        return self.pick(f"extract({column}, {self.dice.choice(EXTRACTED)})", f"{column}.str.extract({self.pattern_text(name)})")

    # ---- keys and aggregates

    def key(self):
        """an expression that makes few groups, as a rule"""
        if self.maybe(.6):
            names = [n for n in self.columns.of("str", "int", "bool") if len(set(self.columns.values[n])) <= 25] or self.columns.of("str", "int", "bool", "float")
            return self.quoted(self.dice.choice(names)) if names else "1"
        return self.pick(self.bins(), self.texts(2), self.integer(1), self.condition(0))

    def argument(self):
        kind, name = self.dice.randrange(6), self.name("int", "float")
        if kind < 3 and name:
            return self.quoted(name)
        return self.number(1) if kind < 5 else f"where({self.condition(0)}, {self.number(0)})"

    def single(self, keys=()):
        """one aggregate"""
        any_column = self.name("str", "int", "float", "bool")
        anything = self.quoted(any_column) if any_column else "1"
        # Two sums that are equal may differ in their last bits: no distinct values of them, and no largest of equals.
        exact = anything if any_column and (self.columns.events or self.columns.types[any_column] != "float") else "1"
        largest = self.argument() if self.columns.events else self.integer(1)
        few = len(set(self.columns.values.get(any_column, ()))) < 40
        return self.pick(
            "count()", "count()", f"count({anything})", f"nunique({exact})", f"sum({self.argument()})", f"sum({self.argument()})",
            f"sum({self.condition(1)})", f"{self.pick('min', 'max', 'first', 'last')}({anything})",
            f"{self.pick('min', 'max')}({self.argument()})", f"{self.pick('mean', 'median', 'std', 'var')}({self.argument()})",
            f"quantile({self.argument()}, {self.pick('0', '0.25', '0.5', '0.9', '0.99', '1')})", f"argmax({anything}, {largest})",
            f"unique({exact})" if few else "count()", "busy()" if self.columns.events else "count()")

    def whole(self):
        """an aggregate whose value is exact, so that a function of it has no second opinion"""
        name = self.name("int")
        column = self.quoted(name) if name else "1"
        return self.pick("count()", f"nunique({column})", f"max({column})", f"min({column})", f"count({column})")

    def aggregate(self, keys=()):
        """an expression of aggregates; keys: names of integer group keys"""
        if self.maybe(.7):
            return self.single()
        name = self.name("int", "float")
        column = self.quoted(name) if name else "1"
        key = self.quoted(self.dice.choice(keys)) if keys else "2"
        mean = f"mean({column if name and self.columns.types[name] == 'int' else 1})"
        return self.pick(
            f"{self.whole()} / count()", f"sum({column}) / {self.pick('1024 ** 2', '1e6', 'count()')}",
            f"max({column}) - min({column})", f"round({mean}, 2)", f"coalesce(sum({self.argument()}), 0)",
            f"where(count() > {self.pick('1', '5')}, {self.whole()})", f"{self.whole()} * {self.pick('2', key)}", f"{key} + {self.whole()}",
            f"-({self.whole()})", f"least({self.whole()}, 10)", f"{self.whole()} // 3 + {self.whole()} % 7",
            f"count() > {self.pick('3', '10')}", f"str({self.whole()})")
