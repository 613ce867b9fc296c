"""Makes a request smaller as long as it still fails."""
import copy
from mistakes import TOKEN, expressions_of
from questions import stages

PER_EXPRESSION = 200  # shorter texts that are tried


def without_members(request):
    for number, stage in enumerate(stages(request)):
        for member, value in stage.items():
            if member == "traces" and not (isinstance(value, (list, dict)) and len(value) > 1):
                continue
            smaller = copy.deepcopy(request)
            del stages(smaller)[number][member]
            if member != "traces":
                yield smaller
            for i in range(len(value)) if isinstance(value, (list, dict)) and len(value) > 1 and member != "then" else ():
                smaller = copy.deepcopy(request)
                there = stages(smaller)[number][member]
                del there[i if isinstance(there, list) else list(there)[i]]
                yield smaller


def without_stages(request):
    """a stage skipped: what follows it in its place"""
    for number, stage in enumerate(stages(request)[:-1]):
        smaller = copy.deepcopy(request)
        there = stages(smaller)[number]
        later = there.pop("then")
        if number:
            there.clear()
        else:
            for member in set(there) - {"traces", "preset", "filters", "from", "to"}:
                del there[member]
        there.update(later)
        yield smaller


def shorter(text):
    """spans of the expression's tokens, shortest first"""
    tokens = TOKEN.findall(text)
    spans = {"".join(tokens[a:b]).strip() for a in range(len(tokens)) for b in range(a + 1, len(tokens) + 1)} - {"", text}
    return sorted(spans, key=lambda s: (len(s), s))[:PER_EXPRESSION * 10]


def with_shorter_expressions(request, parses):
    for number, stage in enumerate(stages(request)):
        for which, (holder, member) in enumerate(expressions_of(stage)):
            good = [s for s in shorter(holder[member]) if parses(s)][:PER_EXPRESSION]
            for text in good:
                smaller = copy.deepcopy(request)
                place, name = expressions_of(stages(smaller)[number])[which]
                place[name] = text
                yield smaller


def minimise(request, fails, parses):
    """@fails: whether a request still does; @parses: whether a text could be an expression"""
    shrinking = True
    while shrinking:
        shrinking = False
        for candidates in (without_stages, without_members, lambda r: with_shorter_expressions(r, parses)):
            smaller = next((c for c in candidates(request) if fails(c)), None)
            if smaller is not None:
                request, shrinking = smaller, True
                break
    return request
