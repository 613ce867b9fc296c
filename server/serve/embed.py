#!/usr/bin/env python3
"""embed.py OUTPUT SCHEMA.json ..: writes the schemas as a C file, each with its first example beside it.

{"$ref": "FILE.json#/pointer", ..} stands for a part of another of the files; members beside it come behind those of the part.
shared.json has parts alone.  Other references stay: they are those of the OpenAPI document.
"""
import json, pathlib, sys

SHARED = "shared"


def resolve(value, schemas):
    if isinstance(value, list):
        return [resolve(item, schemas) for item in value]
    if not isinstance(value, dict):
        return value
    members = {name: resolve(member, schemas) for name, member in value.items() if name != "$ref"}
    file, file_ending, pointer = value.get("$ref", "").partition(".json#")
    if not file_ending:
        return {"$ref": value["$ref"], **members} if "$ref" in value else members
    part = schemas[file]
    for name in pointer.split("/")[1:]:
        part = part[int(name) if isinstance(part, list) else name]
    part = resolve(part, schemas)
    return {**part, **members} if isinstance(part, dict) else part


def c_text(value):
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"))
    pieces = [text[i:i + 1000] for i in range(0, len(text), 1000)]
    return "\n        ".join(json.dumps(piece) for piece in pieces)


def main():
    output, files = sys.argv[1], sorted((pathlib.Path(f) for f in sys.argv[2:]), key=lambda f: f.stem)
    schemas = {file.stem: json.loads(file.read_text()) for file in files}
    rows = []
    for name in schemas:
        if name == SHARED:
            continue
        schema = resolve(schemas[name], schemas)
        if not schema.get("examples"):
            sys.exit(f"{name}.json: a schema needs an example")
        rows.append(f'    {{"{name}",\n        {c_text(schema)},\n        {c_text(schema["examples"][0])}}},')
    pathlib.Path(output).write_text(
        '#include "serve/api/schemas.h"\n\nconst struct sta_schema_text sta_schemas[] = {\n' + "\n".join(rows)
        + "\n};\nconst size_t sta_schema_count = sizeof sta_schemas / sizeof *sta_schemas;\n")


main()
