"""Compares an answer of the daemon with the oracle's.

Integers, texts and conditions are equal or not. Numbers may differ as query.md part 3 lets them (1e-9 relative, or 1e-12 of the largest
value of their column, where terms cancel). Rows that such a difference may swap in an `order_by` may be swapped.
"""
import math
from questions import stages

RTOL, OF_LARGEST, LEAST = 1e-9, 1e-12, 1e-3


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def scale_of(want, column):
    """the largest magnitude of a column; of a difference to a baseline that of what was subtracted"""
    name = want["columns"][column]
    names = [name] + [name[:-len(s)] for s in ("_delta", "_ratio") if name.endswith(s)] + ["mean"] * (name == "std")
    values = [row[i] for i, n in enumerate(want["columns"]) if n in names for row in want["data"]]
    return max([LEAST, *(abs(v) for v in values if is_number(v))])


def same(want, got, kind, scale):
    if want is None or got is None:
        return want is got
    if kind == "list":
        return isinstance(got, list) and len(want) == len(got) and all(same(a, b, None, scale) for a, b in zip(want, got))
    if kind == "int":
        return isinstance(got, int) and not isinstance(got, bool) and int(want) == got
    if kind == "bool":
        return isinstance(got, bool) and bool(want) == got
    if is_number(want) and is_number(got):
        return want == got or math.isclose(want, got, rel_tol=RTOL, abs_tol=OF_LARGEST * scale)
    return type(want) is type(got) and want == got


def same_row(want, got, types, scales):
    return len(want) == len(got) and all(map(same, want, got, types, scales))


def swapped(want, got, types, scales):
    """whether the rows are the same in another order"""
    left = list(got)
    for row in want:
        at = next((i for i, other in enumerate(left) if same_row(row, other, types, scales)), None)
        if at is None:
            return False
        left.pop(at)
    return not left


def order_of(request):
    """columns by which the last stage is ordered"""
    return [name.lstrip("-") for name in stages(request)[-1].get("order_by", ())]


def by_rounding(request, want):
    """whether the order of rows hangs on a number that may differ in its last bits"""
    types = dict(zip(want["columns"], want["types"]))
    return any(types.get(name) == "float" for name in order_of(request))


def parameter_of(request, pointer):
    """the oracle's pointer as query.md has it: keys of value_counts are no group_by, and a single expression is no list"""
    parts = pointer.split("/")[1:]
    depth = next((i for i, p in enumerate(parts) if p != "then"), len(parts))
    stage = stages(request)[min(depth, len(stages(request)) - 1)]
    member = parts[depth] if depth < len(parts) else None
    if member == "group_by" and "value_counts" in stage and depth + 1 < len(parts):
        parts[depth] = member = "value_counts"
    if member in ("value_counts", "describe") and not isinstance(stage.get(member), list):
        del parts[depth + 1:depth + 2]
    return "/" + "/".join(parts)


def names_unknown_function(want, got):
    """the daemon names an unknown function before what is wrong behind its name; the oracle reads on first"""
    return str(got.get("detail")).startswith("unknown function ") and got.get("position", 0) < want.get("position", 0)


def difference(request, want, status, got):
    """(kind, sentence), or None. @want: the oracle's answer or problem document"""
    if "status" in want:
        if status != want["status"]:
            return "status", f"{status}, not {want['status']} at {want['parameter']} {want.get('position', '')}: {want['detail']}"
        want = {**want, "parameter": parameter_of(request, want["parameter"])}
        for key in ("parameter", "position"):
            if key in want and got.get(key) != want[key] and not (key == "position" and names_unknown_function(want, got)):
                return key, f"{key} {got.get(key)!r}, not {want[key]!r} ({want['detail']}); the daemon says: {got.get('detail')}"
        return None if got.get("detail") else ("detail", "no detail")
    if status != 200:
        return "status", f"{status}, not 200: {got}"
    for key in ("columns", "row_count"):
        if got[key] != want[key]:
            return key, f"{key} {got[key]!r}, not {want[key]!r}"
    scales = [scale_of(want, i) for i in range(len(want["columns"]))]
    types = want["types"]
    if len(got["data"]) != len(want["data"]):
        return "data", f"{len(got['data'])} rows, not {len(want['data'])}"
    for i, (a, b) in enumerate(zip(want["data"], got["data"])):
        if not same_row(a, b, types, scales):
            if by_rounding(request, want) and swapped(want["data"], got["data"], types, scales):
                return None
            column = next(c for c in range(len(a)) if not same(a[c], b[c], types[c], scales[c])) if len(a) == len(b) else 0
            return "data", f"row {i}, {want['columns'][column]}: {b[column]!r}, not {a[column]!r}; rows {b!r}, not {a!r}"
    return None
