"""Vehicles found by a part of theirs: what they are like, what stands beside them, how many there are."""

from __future__ import annotations

from collections.abc import Iterator

from ...schema import Schema
from ..english import plural
from ..lexicon import thing_word
from ..template import Template
from ..templates._phrases import value_questions
from ..templates._sketch import Sketch

FILE = "part_owners.json"
OWNER = "the {1} with a repainted {2}"
COUNT = (
    "How many {1s} have a repainted {2}?",
    "How many {1s} with a repainted {2} do you see?",
    "On how many {1s} can you find a repainted {2}?",
)
COUNT_ANY = (
    "How many {things} have a repainted {2}?",
    "On how many {things} do you see a repainted {2}?",
    "How many {things} with a repainted {2} does the picture show?",
)
EXIST = (
    "Does any {1} have a repainted {2}?",
    "Do you see a {1} with a repainted {2}?",
    "Can you find a repainted {2} on any {1}?",
)


def templates(schema: Schema) -> Iterator[Template]:
    """Each attribute of the vehicle, each of one in a relation to it; how many have the part, does any."""
    family = 0
    for related in (False, True) if schema.relations else (False,):
        for attribute in schema.attributes:
            yield _asked(schema, attribute.name, related, family)
            family += 1
    sketch = Sketch(schema)
    sketch.node("count", _owners(sketch, sketch.describe("filter", 1)))
    yield sketch.template(FILE, family, COUNT)
    sketch = Sketch(schema)
    sketch.node("count", _owners(sketch, sketch.node("scene")))
    things = plural(thing_word(schema))
    yield sketch.template(FILE, family + 1, [t.replace("{things}", things) for t in COUNT_ANY])
    sketch = Sketch(schema)
    sketch.part("partfilter_exist", 2, sketch.describe("filter", 1))
    yield sketch.template(FILE, family + 2, EXIST)


def _asked(schema: Schema, attribute: str, related: bool, family: int) -> Template:
    sketch = Sketch(schema)
    at, subject = sketch.node("unique", _owners(sketch, sketch.describe("filter", 1))), OWNER
    if related:
        at = sketch.related("relate_filter_unique", 3, at, 1)
        subject = f"the {{3}} [that is] <R> {OWNER}"
    sketch.node(f"query_{attribute}", at)
    sketch.keep_empty(attribute, 3 if related else 1)
    return sketch.template(FILE, family, value_questions(attribute, subject, schema))


def _owners(sketch: Sketch, among: int) -> int:
    return sketch.node("part2object", sketch.part("partfilter", 2, among))
