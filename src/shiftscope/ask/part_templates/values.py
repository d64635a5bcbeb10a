"""Attributes of a part: of a vehicle described, found over a relation, or known by another of its parts."""

from __future__ import annotations

from collections.abc import Iterator

from ...schema import Schema
from ..lexicon import thing_word
from ..template import Template
from ..templates._phrases import value_questions
from ..templates._sketch import Sketch

FILE = "part_values.json"
SUBJECT = "the repainted {P} of {X}"
BESIDE = "the repainted {2} on the same {thing} as the repainted {1}"


def templates(schema: Schema) -> Iterator[Template]:
    """For each way to the vehicle, each attribute of its part.

    Its name is not asked: files spell one place in two ways, so that the answer would be a spelling.
    """
    family = 0
    asked = [a for a in Sketch(schema).part_attributes if a != "name"]
    for related in (False, True) if schema.relations else (False,):
        for attribute in asked:
            yield _of_a_vehicle(schema, attribute, related, family)
            family += 1
    for attribute in asked:
        yield _beside_another(schema, attribute, family)
        family += 1


def _of_a_vehicle(schema: Schema, attribute: str, related: bool, family: int) -> Template:
    sketch = Sketch(schema)
    at, vehicle = sketch.describe("filter_unique", 1), "the {1}"
    if related:
        at = sketch.related("relate_filter_unique", 2, at, 1)
        vehicle = "the {2} [that is] <R> the {1}"
    number = 3 if related else 2
    sketch.node(f"partquery_{attribute}", sketch.part("partfilter_unique", number, at))
    sketch.keep_empty(attribute, number)
    subject = SUBJECT.replace("{P}", f"{{{number}}}").replace("{X}", vehicle)
    return sketch.template(FILE, family, value_questions(attribute, subject, schema))


def _beside_another(schema: Schema, attribute: str, family: int) -> Template:
    sketch = Sketch(schema)
    known = sketch.part("partfilter_unique", 1, sketch.node("scene"))
    part = sketch.part("partfilter_unique", 2, sketch.node("part2object", known))
    sketch.node(f"partquery_{attribute}", part)
    sketch.differ(known, part)
    sketch.keep_empty(attribute, 2)
    subject = BESIDE.replace("{thing}", thing_word(schema))
    return sketch.template(FILE, family, value_questions(attribute, subject, schema))
