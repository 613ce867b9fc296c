#!/usr/bin/env python3
"""embed.py OUTPUT SCHEMA.json ..: writes the schemas as a C file, each with its first example beside it."""
import json, pathlib, sys


def c_text(value):
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"))
    pieces = [text[i:i + 1000] for i in range(0, len(text), 1000)]
    return "\n        ".join(json.dumps(piece) for piece in pieces)


def main():
    output, files = sys.argv[1], [pathlib.Path(f) for f in sys.argv[2:]]
    rows = []
    for file in sorted(files, key=lambda f: f.stem):
        schema = json.loads(file.read_text())
        if not schema.get("examples"):
            sys.exit(f"{file}: a schema needs an example")
        rows.append(f'    {{"{file.stem}",\n        {c_text(schema)},\n        {c_text(schema["examples"][0])}}},')
    pathlib.Path(output).write_text(
        '#include "serve/api/schemas.h"\n\nconst struct sta_schema_text sta_schemas[] = {\n' + "\n".join(rows)
        + "\n};\nconst size_t sta_schema_count = sizeof sta_schemas / sizeof *sta_schemas;\n")


main()
