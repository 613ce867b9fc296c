"""The same question in other forms: as GET, page by page, as CSV, as lines. Each must give what the POST gave."""
import copy
import csv
import io
import json
import urllib.parse
from questions import stages

REPEATED = ("group_by", "columns", "value_counts", "describe")
PLAIN = ("filter", "from", "to", "preset", "filters", "limit")


def plain_parameters(request):
    """[(name, value)] of a request that plain parameters can say, else None"""
    pairs = []
    for member, value in request.items():
        items = value if isinstance(value, list) else [value]
        if member in PLAIN:
            pairs.append((member, str(value)))
        elif member in (*REPEATED, "order_by") and all(isinstance(i, str) for i in items):
            pairs += [(member, i) for i in items]
        elif member in ("aggregate", "derive"):
            pairs += [(member, f"{name}:{text}") for name, text in value.items()]
        else:
            return None
    return pairs


def equals(text, whole):
    """the same answer, whatever its token says of the form of the request"""
    answer = json.loads(text)
    return {**answer, "next": bool(answer["next"])} == {**whole, "next": bool(whole["next"])}


def as_get(ask, path, request, whole):
    status, _, text = ask("GET", path + "?" + urllib.parse.urlencode({"q": json.dumps(request)}))
    return None if status == 200 and equals(text, whole) else f"GET with q: {status} {text[:300]!r}"


def as_plain_get(ask, path, request, whole):
    pairs = plain_parameters(request)
    if pairs is None:
        return as_get(ask, path, request, whole)
    status, _, text = ask("GET", path + "?" + urllib.parse.urlencode(pairs))
    return None if status == 200 and equals(text, whole) else f"GET ?{urllib.parse.urlencode(pairs)}: {status} {text[:300]!r}"


def as_pages(ask, path, request, whole):
    """with small pages: together they are the table, and all say how many rows there are"""
    limit = max(1, whole["row_count"] // 7)
    request = copy.deepcopy(request)
    stages(request)[-1]["limit"] = limit  # of a page; in the stages before it cuts
    rows, cursor = [], None
    for _ in range(20):
        status, _, text = ask("POST", path, {**request, **({"cursor": cursor} if cursor else {})})
        if status != 200:
            return f"page after {len(rows)} rows: {status} {text[:300]!r}"
        page = json.loads(text)
        if page["row_count"] != whole["row_count"] or len(page["data"]) > limit:
            return f"page after {len(rows)} rows: {len(page['data'])} of {page['row_count']} rows"
        rows += page["data"]
        cursor = page["next"]
        if cursor is None:
            break
    if len(rows) != whole["row_count"] or rows[:len(whole["data"])] != whole["data"]:
        return f"pages of {limit} give {len(rows)} rows of {whole['row_count']}, or others"
    return None


def cell(value):
    """as CSV says it"""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def same_cell(value, text):
    if isinstance(value, float):
        return text != "" and float(text) == value
    return json.loads(text) == value if isinstance(value, list) else cell(value) == text


def as_csv(ask, path, request, whole):
    status, headers, text = ask("POST", path + "?format=csv", request)
    if status != 200 or headers.get_content_type() != "text/csv":
        return f"csv: {status} {headers.get('Content-Type')} {text[:300]!r}"
    rows = list(csv.reader(io.StringIO(text.decode(), newline="")))
    if rows[0] != whole["columns"]:
        return f"csv: header {rows[0]}"
    return differing(whole, rows[1:], same_cell, "csv", request)


def as_lines(ask, path, request, whole):
    status, headers, text = ask("POST", path + "?format=ndjson", request)
    if status != 200:
        return f"ndjson: {status} {text[:300]!r}"
    rows = [list(json.loads(line).values()) for line in text.decode().split("\n") if line]
    return differing(whole, rows, lambda a, b: a == b, "ndjson", request)


def differing(whole, rows, same, form, request):
    """CSV and lines give all rows unless a limit is given"""
    wanted = len(whole["data"]) if "limit" in stages(request)[-1] else whole["row_count"]
    if len(rows) != wanted:
        return f"{form}: {len(rows)} rows, not {wanted}"
    for i, (row, other) in enumerate(zip(whole["data"], rows)):
        if len(row) != len(other) or not all(map(same, row, other)):
            return f"{form}: row {i}: {other!r}, not {row!r}"
    return None


FORMS = [as_get, as_plain_get, as_pages, as_csv, as_lines]
