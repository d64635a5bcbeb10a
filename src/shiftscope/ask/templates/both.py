"""Things that stand in one relation to one thing and in another to a second: "and"."""

from __future__ import annotations

from collections.abc import Iterator

from ...schema import Schema
from ..template import Template
from ._phrases import value_questions
from ._sketch import Sketch

FILE = "single_and.json"
COUNT = (
    "How many {3s} are <R> the {1} and also <R2> the {2}?",
    "How many {3s} lie both <R> the {1} and <R2> the {2}?",
)
SUBJECTS = (
    "the {3} that is <R> the {1} and also <R2> the {2}",
    "the {3} that lies both <R> the {1} and <R2> the {2}",
)


def templates(schema: Schema) -> Iterator[Template]:
    """How many there are, and each attribute of a single one."""
    if not schema.relations:
        return
    yield _crossing(schema, "count").template(FILE, 0, COUNT)
    for number, attribute in enumerate(schema.attributes, 1):
        sketch = _crossing(schema, "unique")
        sketch.node(f"query_{attribute.name}", len(sketch.nodes) - 1)
        sketch.keep_empty(attribute.name, 3)
        texts = [t for s in SUBJECTS for t in value_questions(attribute.name, s, schema)]
        yield sketch.template(FILE, number, texts)


def _crossing(schema: Schema, end: str) -> Sketch:
    sketch = Sketch(schema)
    first = sketch.describe("filter_unique", 1)
    left = sketch.node("relate", first, slots=[sketch.slot("relation", 1)])
    second = sketch.describe("filter_unique", 2)
    right = sketch.node("relate", second, slots=[sketch.slot("relation", 2)])
    sketch.differ(first, second)
    sketch.describe(f"filter_{end}", 3, sketch.node("intersect", left, right))
    return sketch
