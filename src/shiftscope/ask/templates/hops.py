"""Counting, existence and attributes of things found over zero to three relations."""

from __future__ import annotations

from collections.abc import Iterator

from ...schema import Schema
from ..template import Template
from ._phrases import chain, value_questions
from ._sketch import Sketch

FILES = ("zero_hop.json", "one_hop.json", "two_hop.json", "three_hop.json")
COUNT = (
    "How many {1s} does the picture show?",
    "How many {1s} can you find?",
    "How many {1s} do you see?",
)
EXIST = (
    "Does the picture show any {1s}?",
    "Can you find a {1}?",
    "Do you see any {1s}?",
)
# {T} is what is counted, {X} what it stands in relation {R} to
RELATED_COUNT = (
    "How many {Ts} lie {R} {X}?",
    "How many {Ts} do you see {R} {X}?",
    "Looking {R} {X}, how many {Ts} do you find?",
)
RELATED_EXIST = (
    "Do any {Ts} lie {R} {X}?",
    "Do you see a {T} {R} {X}?",
    "Does the picture show any {Ts} {R} {X}?",
)


def templates(schema: Schema) -> Iterator[Template]:
    """For each number of relations: how many, is there any, and each attribute."""
    for hops, file in enumerate(FILES[: 4 if schema.relations else 1]):
        yield _last(schema, hops, "count").template(file, 0, _texts(hops, COUNT, RELATED_COUNT))
        yield _last(schema, hops, "exist").template(file, 1, _texts(hops, EXIST, RELATED_EXIST))
        for number, attribute in enumerate(schema.attributes, 2):
            sketch = _last(schema, hops, "unique")
            sketch.node(f"query_{attribute.name}", len(sketch.nodes) - 1)
            sketch.keep_empty(attribute.name, hops + 1)
            yield sketch.template(file, number, value_questions(attribute.name, chain(hops), schema))


def _last(schema: Schema, hops: int, end: str) -> Sketch:
    """A chain of single things, whose last description ends in count, exist or unique."""
    sketch = Sketch(schema)
    at = sketch.describe(f"filter_{end if hops == 0 else 'unique'}", 1)
    for hop in range(1, hops + 1):
        at = sketch.related(f"relate_filter_{end if hop == hops else 'unique'}", hop + 1, at, hop)
    return sketch


def _texts(hops: int, plain: tuple[str, ...], related: tuple[str, ...]) -> list[str]:
    if hops == 0:
        return list(plain)
    relation = f"<R{hops if hops > 1 else ''}>"
    subject = chain(hops - 1).replace("[that is]", "that is")
    return [
        text.replace("{Ts}", f"{{{hops + 1}s}}")
        .replace("{T}", f"{{{hops + 1}}}")
        .replace("{R}", relation)
        .replace("{X}", subject)
        for text in related
    ]
