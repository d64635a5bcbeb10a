"""Whether there are as many, fewer or more of one thing than of another."""

from __future__ import annotations

from collections.abc import Iterator

from ...schema import Schema
from ..template import Template
from ._sketch import Sketch

FILE = "compare_integer.json"
QUESTIONS = {
    "equal_integer": (
        "Are there exactly as many {A} as {B}?",
        "Does the picture show just as many {A} as {B}?",
        "Does the count of {A} equal the count of {B}?",
    ),
    "less_than": (
        "Does the picture show fewer {A} than {B}?",
        "Is the count of {A} lower than the count of {B}?",
        "Do {B} outnumber {A}?",
    ),
    "greater_than": (
        "Does the picture show more {A} than {B}?",
        "Is the count of {A} higher than the count of {B}?",
        "Do {A} outnumber {B}?",
    ),
}


def templates(schema: Schema) -> Iterator[Template]:
    """Two descriptions; the first, or both, standing in a relation to a thing."""
    family = 0
    for left, right in ((False, False), (True, False), (True, True)):
        if left and not schema.relations:
            continue
        for function, texts in QUESTIONS.items():
            yield _comparison(schema, function, texts, left, right, family)
            family += 1


def _comparison(
    schema: Schema, function: str, texts: tuple[str, ...], left: bool, right: bool, family: int
) -> Template:
    sketch = Sketch(schema)
    one, first, referent, text = _counted(sketch, 1, 1, left)
    two, _, other, other_text = _counted(sketch, first + 1, 2, right)
    if referent is not None and other is not None:
        sketch.differ(referent, other)
    else:
        sketch.apart(one, two)
    sketch.node(function, one, two)
    return sketch.template(FILE, family, [t.replace("{A}", text).replace("{B}", other_text) for t in texts])


def _counted(sketch: Sketch, number: int, relation: int, related: bool) -> tuple[int, int, int | None, str]:
    """(node, number of its description, what it is related to, plural phrase) of what is counted."""
    if not related:
        return sketch.describe("filter_count", number), number, None, f"{{{number}s}}"
    referent = sketch.describe("filter_unique", number)
    node = sketch.related("relate_filter_count", number + 1, referent, relation)
    link = f"[that are] <R{relation if relation > 1 else ''}>"
    return node, number + 1, referent, f"{{{number + 1}s}} {link} the {{{number}}}"
