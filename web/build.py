#!/usr/bin/env python3
"""Makes the served dashboard out of the sources in web/.

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
CLASSIC = ("theme.js",)  # a script that is no module
NO_ECHARTS = b"export const missing = true;\n"

# A quoted relative name where one file refers to another: import .. from "./x.js", import("./x.js"), href="x.css", url("x.svg").
REFERENCE = re.compile(
    r"""(?P<before>\bfrom\s+|\bimport\s+|\bimport\(\s*|\b(?:href|src)=|\burl\(\s*)(?P<quote>["'])(?P<name>[\w./-]+\.(?:js|css|svg))(?P=quote)""")


# A comment that has its lines for itself: who reads the sources has it, browsers need not fetch it.
COMMENT = re.compile(rb"^[ \t]*/\*(?:(?!\*/).)*\*/[ \t]*\n", re.DOTALL | re.MULTILINE)


def read_sources(folder):
    found = (path for pattern in SOURCES for path in folder.glob(pattern))
    return {path.relative_to(folder).as_posix(): COMMENT.sub(b"", path.read_bytes()) for path in found}


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


class Site:
    """Gives out each file's final name, after those of all files it refers to; a loop of references has no such order."""

    def __init__(self, files):
        self.files = files
        self.names, self.contents = {}, {}
        self.open = []

    def final_name(self, name):
        if name in self.open:
            sys.exit("dashboard: files refer to each other in a loop: " + " -> ".join([*self.open, name]))
        if name not in self.names:
            self.open.append(name)
            self.finish(name)
            self.open.pop()
        return self.names[name]

    def finish(self, name):
        content = self.files[name]
        if name != ECHARTS and not name.endswith(".svg"):
            content = REFERENCE.sub(lambda match: self.rewrite(name, match), content.decode()).encode()
        if name == "index.html":
            content = self.add_preloads(content.decode()).encode()
            self.names[name] = name
        else:
            stem, extension = name.rsplit(".", 1)
            self.names[name] = f"{stem}.{hashlib.sha256(content).hexdigest()[:10]}.{extension}"
        self.contents[self.names[name]] = content

    def rewrite(self, referrer, match):
        target = resolve(referrer, match["name"])
        if target not in self.files:
            sys.exit(f"dashboard: {referrer} refers to {match['name']}, which does not exist")
        final = os.path.relpath(self.final_name(target), os.path.dirname(referrer) or ".").replace(os.sep, "/")
        if match["name"].startswith("./") and not final.startswith("."):
            final = "./" + final
        return f"{match['before']}{match['quote']}{final}{match['quote']}"

    def add_preloads(self, page):
        """Names all modules but the chart library, so that the browser fetches them at once, not level by level."""
        modules = sorted(name for name in self.names if name.endswith(".js") and name not in (ECHARTS, *CLASSIC))
        links = "\n".join(f'<link rel="modulepreload" href="{self.names[name]}">' for name in modules)
        return page.replace("</head>", links + "\n</head>")


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
    site.final_name("index.html")
    unused = sorted(set(files) - set(site.names))
    if unused:
        sys.exit(f"dashboard: nothing refers to {', '.join(unused)}")
    write(options.out, site.contents)
    if options.depfile:
        options.depfile.write_text(f"web/{options.out.name}: " + " ".join(str(path) for path in inputs) + "\n")


if __name__ == "__main__":
    main()
