#!/usr/bin/env python3
"""Makes the served dashboard out of the sources in web/.

The sources are plain ES modules and run as they are.  Served, they are one: each module becomes a function whose result is
what it exports.  That is one request instead of ninety, and packed together they weigh a third less.  Comments and
indentation stay out; so no text may go over several lines.

Every file but index.html gets its content's hash into its name (app.js -> app.1f0c9a77b2.js), so that browsers may keep it
for ever; what refers to it is rewritten.  An import map could do that at run time, but it would be an inline script, which
the Content-Security-Policy forbids.  Beside each file stands a .gz of it, so that the server compresses nothing.

ECharts comes from npm, pinned by package-lock.json.  Without it vendor/echarts.js says that it is missing, and every chart
shows its table instead.
"""
import argparse
import gzip
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys

SOURCES = ("*.html", "*.css", "*.svg", "*.js", "parts/*.js", "pages/*.js")
ECHARTS = "vendor/echarts.js"
CLASSIC = "theme.js"  # a script that is no module
ROOT = "app.js"
NO_ECHARTS = b"export const missing = true;\n"

# How modules refer to each other; a module that does it otherwise is refused.
IMPORT = re.compile(r"^import \{ ([\w, ]+) \} from '([\w./]+\.js)';$", re.MULTILINE)
EXPORT = re.compile(r"^export (async function|function|class|const) (\w+)", re.MULTILINE)
LAZY = re.compile(r"\bimport\('([\w./]+\.js)'\)(?!\.[A-Z])")  # but no type in a comment
OTHERWISE = re.compile(r"^(?:import|export)\b.*", re.MULTILINE)

# A quoted name where the page or a style sheet refers to another file: href="x.css", url("x.svg").
REFERENCE = re.compile(r"""(?P<before>\b(?:href|src)=|\burl\(\s*)(?P<quote>["'])(?P<name>[\w./-]+\.(?:js|css|svg))(?P=quote)""")

# A comment that has its lines for itself, and indentation: who reads the sources has them, browsers need not fetch them.
UNSEEN = re.compile(rb"^[ \t]*/\*(?:(?!\*/).)*\*/[ \t]*\n|^[ \t]+", re.DOTALL | re.MULTILINE)


def read_sources(folder):
    found = (path for pattern in SOURCES for path in folder.glob(pattern))
    return {path.relative_to(folder).as_posix(): UNSEEN.sub(b"", path.read_bytes()) for path in found}


def fetch_echarts(source, packages):
    """The minified module, from what an earlier build fetched if the lock file is still the same."""
    lock = (source / "package-lock.json").read_bytes()
    fetched = packages / "package-lock.json"
    module = packages / "node_modules/echarts/dist/echarts.esm.min.js"
    if not (module.exists() and fetched.exists() and fetched.read_bytes() == lock):
        packages.mkdir(parents=True, exist_ok=True)
        for name in ("package.json", "package-lock.json"):
            shutil.copyfile(source / name, packages / name)
        subprocess.run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error",
                        "--fetch-retries=1", "--fetch-timeout=30000"],
                       cwd=packages, check=True, timeout=300, stdin=subprocess.DEVNULL, stdout=sys.stderr)
    return module.read_bytes()


def echarts_or_stub(source, packages, npm):
    if npm == "none":
        return NO_ECHARTS
    try:
        return fetch_echarts(source, packages)
    except (OSError, subprocess.SubprocessError) as error:
        if npm == "required":
            sys.exit(f"dashboard: ECharts could not be fetched: {error}")
        print(f"dashboard: built without ECharts, charts will be shown as tables: {error}", file=sys.stderr)
        return NO_ECHARTS


def resolve(referrer, name):
    return os.path.normpath(os.path.join(os.path.dirname(referrer), name)).replace(os.sep, "/")


class Joined:
    """Modules as one script, each after those it refers to; a loop of references has no such order."""

    def __init__(self, modules, echarts):
        self.modules, self.echarts = modules, echarts
        self.functions, self.open = {}, []

    def text(self, root):
        self.name_of(root)
        return "".join(self.functions.values())

    def name_of(self, module):
        """The constant that holds what a module exports."""
        if module in self.open:
            sys.exit("dashboard: modules refer to each other in a loop: " + " -> ".join([*self.open, module]))
        if module not in self.modules:
            sys.exit(f"dashboard: {self.open[-1]} refers to {module}, which does not exist")
        name = "$" + module.removesuffix(".js").replace("/", "_")
        if module not in self.functions:
            self.open.append(module)
            self.functions[module] = self.function(module, name)
            self.open.pop()
        return name

    def function(self, module, name):
        body = self.modules[module].decode()
        body = IMPORT.sub(lambda match: f"const {{ {match[1].replace(' as ', ': ')} }} = {self.name_of(resolve(module, match[2]))};", body)
        body = LAZY.sub(lambda match: self.lazy(resolve(module, match[1])), body)
        exports = ", ".join(match[2] for match in EXPORT.finditer(body))
        body = EXPORT.sub(r"\1 \2", body)
        if other := OTHERWISE.search(body):
            sys.exit(f"dashboard: {module} says \"{other[0]}\"; modules are joined by `import {{ .. }} from '..';` and by export before a declaration")
        return f"const {name} = (() => {{\n{body}return {{ {exports} }};\n}})();\n"

    def lazy(self, module):
        return f"import('./{self.echarts}')" if module == ECHARTS else f"Promise.resolve({self.name_of(module)})"


class Site:
    """Gives each file its final name, after those of the files it refers to."""

    def __init__(self, files):
        self.files = files
        self.names, self.contents = {}, {}

    def add(self, name, content):
        stem, extension = name.rsplit(".", 1)
        self.names[name] = f"{stem}.{hashlib.sha256(content).hexdigest()[:10]}.{extension}"
        self.contents[self.names[name]] = content
        return self.names[name]

    def build(self):
        echarts = self.add(ECHARTS, self.files[ECHARTS])
        modules = {name: content for name, content in self.files.items() if name.endswith(".js") and name not in (ECHARTS, CLASSIC)}
        joined = Joined(modules, echarts)
        self.add(ROOT, joined.text(ROOT).encode())
        self.contents["index.html"] = self.rewritten("index.html")
        used = {*self.names, *joined.functions, "index.html"}
        if unused := sorted(set(self.files) - used):
            sys.exit(f"dashboard: nothing refers to {', '.join(unused)}")

    def rewritten(self, referrer):
        def final(match):
            target = resolve(referrer, match["name"])
            if target not in self.files:
                sys.exit(f"dashboard: {referrer} refers to {match['name']}, which does not exist")
            name = self.names.get(target) or self.add(target, self.rewritten(target))
            return f"{match['before']}{match['quote']}{name}{match['quote']}"
        return REFERENCE.sub(final, self.files[referrer].decode()).encode()


def write(out, contents):
    """The old folder gives way to the new one as a whole; equal inputs give equal bytes."""
    fresh = out.with_name(out.name + ".new")
    shutil.rmtree(fresh, ignore_errors=True)
    for name, content in contents.items():
        path = fresh / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        path.with_name(path.name + ".gz").write_bytes(gzip.compress(content, 9, mtime=0))
    shutil.rmtree(out, ignore_errors=True)
    fresh.rename(out)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--source", type=pathlib.Path, required=True, help="web/")
    parser.add_argument("--out", type=pathlib.Path, required=True, help="folder to make; replaced")
    parser.add_argument("--npm", choices=("required", "auto", "none"), default="auto", help="whether ECharts must, may or must not be fetched")
    parser.add_argument("--packages", type=pathlib.Path, required=True, help="folder for npm's downloads, kept between builds")
    parser.add_argument("--depfile", type=pathlib.Path, help="where to write which sources were read, for ninja")
    options = parser.parse_args()

    files = read_sources(options.source)
    inputs = [options.source / name for name in (*files, "package.json", "package-lock.json")]
    files[ECHARTS] = echarts_or_stub(options.source, options.packages, options.npm)
    site = Site(files)
    site.build()
    write(options.out, site.contents)
    if options.depfile:
        options.depfile.write_text(f"web/{options.out.name}: " + " ".join(str(path) for path in inputs) + "\n")


if __name__ == "__main__":
    main()
