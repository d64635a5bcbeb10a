"""Things that fit one description or another: "or"."""

from __future__ import annotations

from collections.abc import Iterator

from ...schema import Schema
from ..english import plural
from ..lexicon import thing_word
from ..template import Template
from ._sketch import Sketch

FILE = "single_or.json"
TOGETHER = (
    "Counting {A} and {B} once, how many {things} do you get?",
    "How many {things} do you have if you take {A} and {B}, each only once?",
    "Take {A} and {B}, each only once. How many {things} do you have?",
)
OF_A_VALUE = (
    "How many of the {1s} and of the {2s} are {V}?",
    "Take every {1} and every {2}. How many of them are {V}?",
)
RELATED, ALSO_RELATED = "every {2} <R> the {1}", "every {4} <R2> the {3}"


def templates(schema: Schema) -> Iterator[Template]:
    """Two descriptions joined: as they are, of one value, and with relations on either or both."""
    sketch = _joined(schema)
    sketch.node("count", len(sketch.nodes) - 1)
    yield sketch.template(FILE, 0, _together("every {1}", "every {2}", schema))
    for number, attribute in enumerate(schema.attributes, 1):
        sketch = _joined(schema)
        value = sketch.slot(attribute.name, 3)
        union = len(sketch.nodes) - 1
        sketch.node("count", sketch.node(f"filter_{attribute.name}", union, slots=[value]))
        sketch.keep_empty(attribute.name, 1, 2)
        said = f"{value}s" if attribute.name == sketch.noun else value
        yield sketch.template(FILE, number, [t.replace("{V}", said) for t in OF_A_VALUE])
    if schema.relations:
        last = len(schema.attributes)
        joined = (
            (_both_related(schema), RELATED, ALSO_RELATED),
            (_first_related(schema), RELATED, "every {3}"),
            (_second_related(schema), "every {1}", "every {3} <R> the {2}"),
        )
        for number, (sketch, left, right) in enumerate(joined, last + 1):
            yield sketch.template(FILE, number, _together(left, right, schema))


def _together(left: str, right: str, schema: Schema) -> list[str]:
    things = plural(thing_word(schema))
    return [t.replace("{A}", left).replace("{B}", right).replace("{things}", things) for t in TOGETHER]


def _joined(schema: Schema) -> Sketch:
    sketch = Sketch(schema)
    left, right = sketch.describe("filter", 1), sketch.describe("filter", 2)
    sketch.apart(left, right)
    sketch.node("union", left, right)
    return sketch


def _both_related(schema: Schema) -> Sketch:
    sketch = Sketch(schema)
    first = sketch.describe("filter_unique", 1)
    left = sketch.related("relate_filter", 2, first, 1)
    second = sketch.describe("filter_unique", 3)
    right = sketch.related("relate_filter", 4, second, 2)
    sketch.differ(first, second)
    sketch.node("count", sketch.node("union", left, right))
    return sketch


def _first_related(schema: Schema) -> Sketch:
    sketch = Sketch(schema)
    left = sketch.related("relate_filter", 2, sketch.describe("filter_unique", 1), 1)
    right = sketch.describe("filter", 3)
    sketch.apart(left, right)
    sketch.node("count", sketch.node("union", left, right))
    return sketch


def _second_related(schema: Schema) -> Sketch:
    sketch = Sketch(schema)
    left = sketch.describe("filter", 1)
    right = sketch.related("relate_filter", 3, sketch.describe("filter_unique", 2), 1)
    sketch.apart(left, right)
    sketch.node("count", sketch.node("union", left, right))
    return sketch
