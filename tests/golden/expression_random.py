#!/usr/bin/env python3
"""Random expressions, valid and broken, asked of expression_eval and of the oracle; both must agree on types, values and positions.

    expression_random.py EXPRESSION_EVAL [--cases 3000] [--seed 1]

The oracle is shared/oracles/expression.py: beside the repository, or where STRATA_SHARED says; without it the test is skipped.
Where the oracle is known to be looser than the specification (null in a list, options that a method ignores, letters beyond
ASCII without case) the generator does not go.
"""
import argparse, json, math, os, random, re, subprocess, sys, threading
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SHARED = Path(os.environ.get("STRATA_SHARED", ROOT.parent / "shared"))
TYPES = {"int": "integer", "float": "number", "bool": "condition", "str": "text", "null": "null"}
COLUMNS = {"func_name": "str", "cat": "str", "file_name": "str", "host_name": "str", "size": "int", "dur": "int", "ts": "int", "te": "int",
           "time": "float", "time_start": "float", "time_end": "float", "args.flag": "bool", "args.ratio": "float", "args.some-key": "str"}
WORDS = {"str": ["func_name", "name", "cat", "file_name", "filename", "hostname", "`args.some-key`", "args.`some-key`"],
         "int": ["size", "dur", "ts", "te"], "float": ["time", "time_start", "time_end", "args.ratio"], "bool": ["args.flag"]}
TEXTS = ["", "read", "pread", "open64", "a/b/c.npz", "/", "/x", "/data/train/img_017.npz", "POSIX", "posix", "12", "-7", "+3", "1.5", "1e3", "nan",
         "na\u00efve \u6570\u636e \U0001f680", "tab\there", "line\nbreak\n", " blank ", "aXbXc", "aaa", "x.y-z", "0005", "9223372036854775808"]
INTEGERS = [0, 1, -1, 2, 7, 100, 4096, 30000, 300000, 2**53, 2**53 + 1, -(2**53) - 1, 2**62, 2**63 - 1, -(2**63)]
NUMBERS = [0.0, -0.0, 0.3, 0.5, 1.5, 2.5, -2.5, 1e-7, 1e300, -1e300, 9007199254740992.0, 9.223372036854775807e18, 123.456, 4096.0]
PATTERNS = ["read", "^p?read", "[a-z]+", r"\\d+", "(a)(b)?", "x*", "(?i)POSIX", "a|b", r"\\.npz$", "^$", "$", ".", r"(?P<n>\\w+)", "a+?", r"\\bb", "(?=a)", "", r"\\Z", "X",
            r"[\\d\\-]+", "a{,2}", "\u6570"]
REPLACEMENTS = ["", "-", r"<\\g<0>>", "x", r"\\\\"]

class Generator:
    def __init__(self, random): self.r = random
    def pick(self, *options): return self.r.choice(options)
    def any_type(self): return self.r.choice(["int", "float", "bool", "str", "int", "str"])

    def text_literal(self):
        text = self.r.choice(TEXTS)
        quote = self.r.choice("\"'")
        body = text.replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t").replace(quote, "\\" + quote)
        if self.r.random() < .1: body = "".join(f"\\u{ord(c):04x}" if ord(c) < 0xd800 else c for c in body.replace("\\", ""))
        return quote + body + quote

    def pattern(self): return '"' + self.r.choice(PATTERNS) + '"'

    def literal(self, type):
        if type == "str": return self.text_literal()
        if type == "int": return str(abs(self.r.choice(INTEGERS[:-1])))
        if type == "float": return repr(abs(self.r.choice(NUMBERS)))
        return self.pick("true", "false", "True", "False")

    def numeric(self, depth): return self.make(self.r.choice(["int", "int", "float", "float", "bool"]), depth)

    def make(self, type, depth):
        if depth <= 0 or self.r.random() < .1:
            return self.literal(type) if self.r.random() < .3 else self.r.choice(WORDS[type])
        return getattr(self, "make_" + type)(depth - 1)

    def list(self, type):
        kinds = ["str"] if type == "str" else ["int", "float", "bool"]
        values = [self.pick("", "", "-") * (kinds != ["str"]) + self.literal(self.r.choice(kinds)) for _ in range(self.r.choice([0, 1, 2, 3, 12]))]
        return ("[%s]" if self.r.random() < .7 else "(%s)") % ", ".join(values)

    def make_bool(self, d):
        kind = self.r.randrange(12)
        if kind == 0: return f"{self.make('bool', d)} {self.pick('and', 'or', '&', '|')} {self.make('bool', d)}"
        if kind == 1: return f"not ({self.make('bool', d)})" if self.r.random() < .5 else f"~({self.make('bool', d)})"
        if kind in (2, 3, 4):
            operator = self.pick("==", "!=", "<", "<=", ">", ">=")
            if self.r.random() < .5: return f"{self.wrap('str', d)} {operator} {self.wrap('str', d)}"
            chain = f" {self.pick('<', '<=', '==')} {self.wrap('int', d)}" if self.r.random() < .3 else ""
            return f"{self.wrap(self.pick('int', 'float', 'bool'), d)} {operator} {self.wrap(self.pick('int', 'float'), d)}{chain}"
        type = self.any_type()
        if kind == 5: return f"{self.wrap(type, d)} {self.pick('in', 'not in')} {self.list(type)}"
        if kind == 6: return f"({self.make(type, d)}).isin({self.list(type).replace('(', '[').replace(')', ']')})"
        if kind == 7: return f"({self.make(type, d)}).{self.pick('isna', 'notna', 'isnull', 'notnull')}()"
        if kind == 8: return f"({self.numeric(d)}).between({self.numeric(d)}, {self.numeric(d)})"
        if kind == 9:
            options = "".join(f", {k}={self.pick('True', 'False', 'true')}" for k in ("case", "regex", "na") if self.r.random() < .2)
            return f"({self.make('str', d)}).str.contains({self.pattern()}{options})"
        if kind == 10: return f"({self.make('str', d)}).str.{self.pick('match', 'fullmatch')}({self.pattern()})"
        return f"({self.make('str', d)}).str.{self.pick('startswith', 'endswith')}({self.text_literal()}{self.pick('', ', na=True')})"

    def wrap(self, type, depth):
        text = self.make(type, depth)
        return text if re.fullmatch(r"[\w.`]+", text) else f"({text})"

    def make_int(self, d):
        kind = self.r.randrange(12)
        if kind < 3: return f"{self.wrap('int', d)} {self.pick('+', '-', '*', '//', '%')} {self.wrap(self.pick('int', 'bool'), d)}"
        if kind == 3: return f"{self.pick('-', '+')}{self.wrap('int', d)}"
        if kind == 4: return f"{self.pick('floor', 'ceil', 'round', 'int')}({self.make(self.pick('float', 'int'), d)})"
        if kind == 5: return f"int({self.make(self.any_type(), d)})"
        if kind == 6: return f"len({self.make('str', d)})"
        if kind == 7: return f"({self.make('str', d)}).str.count({self.pattern()})"
        if kind == 8: return f"{self.pick('least', 'greatest')}({self.make('int', d)}, {self.make('int', d)})"
        if kind == 9: return f"bin({self.numeric(d)}, {self.pick('1', '0.1', '30000', '2.5', 'true')}{self.pick('', ', 0.05', ', 7', ', -3')})"
        if kind == 10: return f"cut({self.numeric(d)}, [{', '.join(map(str, sorted(set(self.r.sample([-3, 0, 1, 2.5, 4096, 2**53 + 1, 1e300], 3)))))}])"
        return f"coalesce({self.make('int', d)}, {self.make('int', d)})" if self.r.random() < .5 else f"where({self.make('bool', d)}, {self.make('int', d)}, {self.make('int', d)})"

    def make_float(self, d):
        kind = self.r.randrange(9)
        if kind < 3: return f"{self.wrap('float', d)} {self.pick('+', '-', '*', '//', '%')} {self.wrap(self.pick('int', 'float'), d)}"
        if kind == 3: return f"{self.wrap(self.pick('int', 'float'), d)} / {self.wrap(self.pick('int', 'float'), d)}"
        if kind == 4: return f"({self.numeric(d)}) ** {self.pick('2', '3', '-1', '0')}"
        if kind == 5: return f"{self.pick('abs', 'sqrt', 'exp', 'log', 'log2', 'log10', 'float')}({self.make('float', d)})"
        if kind == 6: return f"round({self.numeric(d)}, {self.pick('0', '1', '3', '-2')})"
        if kind == 7: return f"where({self.make('bool', d)}, {self.make('float', d)})"
        return f"float({self.make('str', d)})"

    def make_str(self, d):
        kind = self.r.randrange(12)
        inner = self.make("str", d)
        if kind == 0: return f"{self.wrap('str', d)} + {self.wrap('str', d)}"
        if kind == 1: return f"{self.pick('lower', 'upper', 'strip', 'basename', 'dirname')}({inner})"
        if kind == 2: return f"part({inner}, {self.pick(chr(34) + '/' + chr(34), chr(34) + 'X' + chr(34), chr(34) + 'aa' + chr(34))}, {self.pick('0', '1', '-1', '-2', '5')})"
        if kind == 3: return f"replace({inner}, {self.pattern()}, \"{self.r.choice(REPLACEMENTS)}\")"
        if kind == 4: return f"extract({inner}, {self.pattern()})"
        if kind == 5: return f"({inner}).str.slice({self.pick('0', '1', '-3')}{self.pick('', ', 2', ', -1', ', 100')})"
        if kind == 6: return f"({inner}).str.replace({self.text_literal()}, \"-\")"
        if kind == 7: return f"({inner}).str.replace({self.pattern()}, \"{self.r.choice(REPLACEMENTS)}\", regex=True)"
        if kind == 8: return f"str({self.r.choice(WORDS['int'] + WORDS['bool'] + WORDS['float'] + WORDS['str'])})"
        if kind == 9: return f"coalesce({inner}, {self.make('str', d)})"
        if kind == 10: return f"where({self.make('bool', d)}, {inner}, {self.make('str', d)})"
        return f"({inner}).str.{self.pick('lower', 'upper', 'strip')}()"

    def broken(self, text):
        """a token less, one more, or one in the place of another"""
        tokens = re.findall(r"\s+|\w+|\"[^\"]*\"|'[^']*'|\*\*|//|[=!<>]=|.", text, re.S)
        at = self.r.randrange(len(tokens))
        junk = self.r.choice(["(", ")", ",", "and", "not", "in", "null", "nosuch", "size", "name", "==", "=", "'x'", "5", ".", "[", "]", "-", "@", "!", "`", "'", ".str.",
                              "sum(", "lower(", ".foo(", "~", "true", "5.5", "\u00e9"])
        how = self.r.randrange(3)
        return "".join(tokens[:at] + ([junk] if how else []) + tokens[at + (how != 1):])

def make_rows(r, count):
    rows = []
    for _ in range(count):
        row = {}
        for name, type in COLUMNS.items():
            if r.random() < .2: continue
            if name == "cat": row[name] = r.choice(["posix", "POSIX", "stdio", "reader"])
            elif type == "str": row[name] = r.choice(TEXTS)
            elif type == "int": row[name] = r.choice(INTEGERS) if r.random() < .5 else r.randrange(-10**6, 10**7)
            elif type == "float": row[name] = r.choice(NUMBERS) if r.random() < .5 else round(r.uniform(-10, 10), 6)
            else: row[name] = r.random() < .5
        for seconds, ticks in (("time", "dur"), ("time_start", "ts"), ("time_end", "te")):
            row.pop(seconds, None)
            if row.get(ticks) is not None: row[seconds] = row[ticks] / 1e6
        rows.append(row)
    return rows

def expected(oracle, case):
    """("error", position), or (type, values); None where the oracle itself gives up"""
    try: f = (oracle.condition if case["condition"] else oracle.parse)(case["expression"], COLUMNS)
    except oracle.ExpressionError as e: return "error", e.position
    except Exception: return None
    if f.type not in TYPES: return None
    try: values = [f(row) for row in case["rows"]]
    except Exception: return None
    convert = bool if case["condition"] else {"bool": bool, "int": int, "float": float}.get(f.type, lambda v: v)
    values = [None if v is None and not case["condition"] else convert(v) for v in values]
    return ("condition" if case["condition"] else TYPES[f.type]), values

def names_unknown_function(got, position):
    """an unknown function is named before what is wrong behind its name; the oracle reads on first"""
    return got["error"].startswith("unknown function ") and got["position"] < position

def same(a, b):
    if isinstance(a, float) and isinstance(b, (int, float)): return a == b or math.isclose(a, b, rel_tol=1e-13, abs_tol=0)
    return type(a) == type(b) and a == b

# where the oracle takes what the grammar does not have
STRICTER = ("a list holds constants only", "coalesce takes at least 1 argument, found 0")

def agree(want, got):
    if got.get("error") in STRICTER: return True
    if want[0] == "error": return got.get("status") == "INPUT" and (got["position"] == want[1] or names_unknown_function(got, want[1]))
    return got.get("type") == want[0] and len(got["values"]) == len(want[1]) and all(map(same, want[1], got["values"]))

def ask(program, cases):
    """answers in the order of the cases"""
    process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    def write():
        try:
            for case in cases: process.stdin.write(json.dumps(dict(case, columns=COLUMNS)) + "\n")
            process.stdin.close()
        except BrokenPipeError: pass
    threading.Thread(target=write, daemon=True).start()
    return [json.loads(line) for line in process.stdout], process.wait()

def main():
    p = argparse.ArgumentParser()
    p.add_argument("program")
    p.add_argument("--cases", type=int, default=3000)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--show", type=int, default=20)
    a = p.parse_args()
    if not (SHARED / "oracles" / "expression.py").exists():
        print("skipped: needs shared: no oracle"); sys.exit(77)
    sys.path.insert(0, str(SHARED / "oracles"))
    sys.dont_write_bytecode = True
    import expression as oracle
    import warnings
    warnings.simplefilter("ignore")
    r = random.Random(a.seed)
    generator, cases, wants = Generator(r), [], []
    tables = [make_rows(r, 8) for _ in range(20)]
    while len(cases) < a.cases:
        text = generator.make(generator.any_type(), r.randrange(1, 5))
        if r.random() < .3: text = generator.broken(text)
        case = {"expression": text, "condition": r.random() < .3, "rows": r.choice(tables)}
        want = expected(oracle, case)
        if want is not None: cases.append(case); wants.append(want)
    got, status = ask(a.program, cases)
    if status != 0 or len(got) != len(cases):
        print(f"expression_eval ended with {status} after {len(got)} of {len(cases)}: {cases[min(len(got), len(cases) - 1)]['expression']}"); sys.exit(1)
    failures = [(c, w, g) for c, w, g in zip(cases, wants, got) if not agree(w, g)]
    for case, want, answer in failures[:a.show]:
        print(f"{case['expression']!r}\n  expected {want}\n  got      {answer}\n  rows     {case['rows']}" if want[0] != 'error' and a.show < 5 else f"{case['expression']!r}\n  expected {want}\n  got      {answer}")
    errors = sum(w[0] == "error" for w in wants)
    print(f"{len(cases)} expressions ({errors} of them mistakes), {len(failures)} differ")
    sys.exit(bool(failures))

if __name__ == "__main__": main()
