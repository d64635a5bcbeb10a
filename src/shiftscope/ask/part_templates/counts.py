"""How many repainted parts there are, and whether there is any: in the picture, on a vehicle, on some."""

from __future__ import annotations

from collections.abc import Iterator

from ...schema import Schema
from ..template import Template
from ..templates._sketch import Sketch

FILE = "part_counts.json"
TEXTS = {
    "count": (
        "How many repainted {1s} does the picture show?",
        "How many repainted {1s} can you find?",
        "How many repainted {1s} do you see?",
    ),
    "exist": (
        "Does the picture show any repainted {1s}?",
        "Can you find a repainted {1}?",
        "Do you see any repainted {1s}?",
    ),
}
TEXTS_OF_ONE = {
    "count": (
        "How many repainted {P}s does {X} have?",
        "How many repainted {P}s do you see on {X}?",
        "Look at {X}. How many repainted {P}s does it have?",
    ),
    "exist": (
        "Does {X} have a repainted {P}?",
        "Do you see any repainted {P}s on {X}?",
        "Look at {X}. Does it have a repainted {P}?",
    ),
}
ON_SEVERAL = (
    "How many repainted {2s} do you see on {1s}?",
    "Looking only at {1s}, how many repainted {2s} can you find?",
)


def templates(schema: Schema) -> Iterator[Template]:
    """In the whole picture, on one vehicle, on one found over a relation, on all of a description."""
    family = 0
    for end, texts in TEXTS.items():
        sketch = Sketch(schema)
        sketch.part(f"partfilter_{end}", 1, sketch.node("scene"))
        yield sketch.template(FILE, family, texts)
        family += 1
    for related in (False, True) if schema.relations else (False,):
        for end in TEXTS_OF_ONE:
            yield _of_one(schema, end, related, family)
            family += 1
    sketch = Sketch(schema)
    sketch.part("partfilter_count", 2, sketch.describe("filter", 1))
    yield sketch.template(FILE, family, ON_SEVERAL)


def _of_one(schema: Schema, end: str, related: bool, family: int) -> Template:
    sketch = Sketch(schema)
    at, vehicle = sketch.describe("filter_unique", 1), "the {1}"
    if related:
        at = sketch.related("relate_filter_unique", 2, at, 1)
        vehicle = "the {2} that is <R> the {1}"
    number = 3 if related else 2
    sketch.part(f"partfilter_{end}", number, at)
    texts = [t.replace("{P}s", f"{{{number}s}}").replace("{P}", f"{{{number}}}") for t in TEXTS_OF_ONE[end]]
    return sketch.template(FILE, family, [t.replace("{X}", vehicle) for t in texts])
