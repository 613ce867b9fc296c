#!/usr/bin/env python3
"""Makes the served dashboard out of the sources in web/.

The sources are plain ES modules and run in a browser as they are.  esbuild joins and minifies them: one script for the frame, one for
each page, loaded when it is opened, one for the charts, which come from ECharts, and one for the editor of expressions, which is
CodeMirror, loaded where somebody begins to type.  Every script and style sheet has its content's
hash in its name (app.2YELFWJH.js), so that browsers may keep it for ever.  Beside each file stands a .gz of it, so that the server
compresses nothing.

esbuild, ECharts and CodeMirror come from npm, pinned by package-lock.json.  Without npm the sources are served as they are, and the
scripts in vendor/ say that they are missing: every chart shows its table instead, and expressions are typed into plain fields.
"""
import argparse
import gzip
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

SOURCES = ("*.html", "*.css", "*.svg", "*.js", "parts/*.js", "pages/*.js", "vendor/*.js")
NO_PACKAGE = b"export const missing = true;\n"
PAGE = "index.html"

# A file that the page refers to: href="style.css".
REFERENCE = re.compile(r'(?P<before>(?:href|src)=")(?P<name>[\w./-]+\.(?:js|css|svg))(?=")')


# Where the page lists the scripts of each page of the dashboard.
LISTED = '<script type="application/json" id="scripts">{}</script>'
FRAME = '<script type="module"'  # and where the scripts of the frame begin


def fetch_packages(source, packages):
    """the packages, unless an earlier build fetched what the lock file names"""
    lock = (source / "package-lock.json").read_bytes()
    fetched = packages / "package-lock.json"
    if (packages / "node_modules/.package-lock.json").exists() and fetched.exists() and fetched.read_bytes() == lock:
        return
    packages.mkdir(parents=True, exist_ok=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copyfile(source / name, packages / name)
    subprocess.run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", "--fetch-retries=1", "--fetch-timeout=30000"],
                   cwd=packages, check=True, timeout=300, stdin=subprocess.DEVNULL, stdout=sys.stderr)


def has_packages(source, packages, npm):
    if npm == "none":
        return False
    try:
        fetch_packages(source, packages)
        return True
    except (OSError, subprocess.SubprocessError) as error:
        if npm == "required":
            sys.exit(f"dashboard: the packages could not be fetched: {error}")
        print(f"dashboard: the sources are served as they are and charts are shown as tables, expressions typed into plain fields, since npm failed: {error}", file=sys.stderr)
        return False


def plain_site(source, sources, out):
    for path in sources:
        to = out / path.relative_to(source)
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_bytes(NO_PACKAGE if path.parent.name == "vendor" else path.read_bytes())


def scripts_below(name, outputs):
    """a script and all that it imports at once"""
    found = [name]
    for one in found:
        found += [other["path"] for other in outputs[one]["imports"] if other["kind"] == "import-statement" and other["path"] not in found]
    return found


def with_scripts(page, outputs):
    """the page, which has the browser fetch the scripts of the frame at once, and knows those of each page"""
    made = {entry["entryPoint"]: name for name, entry in outputs.items() if "entryPoint" in entry}
    frame = scripts_below(made["app.js"], outputs)
    base = os.path.basename
    links = "".join(f'<link rel="modulepreload" href="{base(name)}">\n' for name in frame)
    pages = {pathlib.Path(entry).stem: [base(other) for other in scripts_below(name, outputs) if other not in frame] for entry, name in sorted(made.items()) if entry.startswith("pages/")}
    assert page.count(LISTED) == page.count(FRAME) == 1
    return page.replace(LISTED, LISTED.replace("{}", json.dumps(pages))).replace(FRAME, links + FRAME)


def joined_site(source, packages, out):
    """what esbuild makes of the files that the page refers to, and the page with their final names"""
    page = (source / PAGE).read_text()
    about = out / "about.json"
    subprocess.run([packages / "node_modules/esbuild/bin/esbuild", *sorted({name for _, name in REFERENCE.findall(page)}), "--bundle", "--splitting", "--format=esm", "--minify",
                    "--target=es2022", f"--outdir={out.resolve()}", "--entry-names=[name].[hash]", "--chunk-names=[name].[hash]", "--loader:.svg=copy", "--legal-comments=linked",
                    f"--metafile={about.resolve()}", "--log-level=warning"],
                   cwd=source, env={**os.environ, "NODE_PATH": str((packages / "node_modules").resolve())}, check=True)
    outputs = json.loads(about.read_text())["outputs"]
    about.unlink()
    final = {made["entryPoint"]: os.path.basename(name) for name, made in outputs.items() if "entryPoint" in made}
    page = REFERENCE.sub(lambda match: match["before"] + final[match["name"]], page)
    (out / PAGE).write_text(with_scripts(page, outputs))


def pack(out):
    for path in [path for path in out.rglob("*") if path.is_file() and path.suffix != ".txt"]:  # licences lie beside the scripts
        path.with_name(path.name + ".gz").write_bytes(gzip.compress(path.read_bytes(), 9, mtime=0))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--source", type=pathlib.Path, required=True, help="web/")
    parser.add_argument("--out", type=pathlib.Path, required=True, help="folder to make; replaced")
    parser.add_argument("--npm", choices=("required", "auto", "none"), default="auto", help="whether packages must, may or must not be fetched")
    parser.add_argument("--packages", type=pathlib.Path, required=True, help="folder for npm's downloads, kept between builds")
    parser.add_argument("--depfile", type=pathlib.Path, help="where to write which sources were read, for ninja")
    options = parser.parse_args()

    sources = sorted(path for pattern in SOURCES for path in options.source.glob(pattern))
    fresh = options.out.with_name(options.out.name + ".new")  # the old folder gives way to the new one as a whole
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(parents=True)
    if has_packages(options.source, options.packages, options.npm):
        joined_site(options.source, options.packages, fresh)
    else:
        plain_site(options.source, sources, fresh)
    pack(fresh)
    shutil.rmtree(options.out, ignore_errors=True)
    fresh.rename(options.out)
    if options.depfile:
        inputs = [*sources, options.source / "package.json", options.source / "package-lock.json"]
        options.depfile.write_text(f"web/{options.out.name}: " + " ".join(str(path) for path in inputs) + "\n")


if __name__ == "__main__":
    main()
