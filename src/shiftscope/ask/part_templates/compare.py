"""Whether a part matches another, of the same vehicle or of another one, or matches another vehicle."""

from __future__ import annotations

from collections.abc import Iterator

from ...schema import Schema
from ..template import Template
from ..templates._phrases import comparisons
from ..templates._sketch import Sketch

FILE = "part_comparison.json"
PART, OTHER_PART = "the repainted {2} of the {1}", "the repainted {4} of the {3}"


def templates(schema: Schema) -> Iterator[Template]:
    """For each attribute that objects have too; names are spelled in too many ways to compare."""
    own = [a.name for a in schema.attributes]
    family = 0
    for other in ("part", "own", "thing"):
        for attribute in Sketch(schema).part_attributes:
            if attribute in own:
                texts = _texts(schema, attribute, other)
                yield _compared(schema, attribute, other).template(FILE, family, texts)
                family += 1


def _texts(schema: Schema, attribute: str, other: str) -> list[str]:
    if other != "own":
        return comparisons(attribute, PART, OTHER_PART if other == "part" else "the {3}", schema)
    texts = comparisons(attribute, "the repainted {2}", "the repainted {3}", schema)
    return [f"On the {{1}}, {text[0].lower()}{text[1:]}" for text in texts]


def _compared(schema: Schema, attribute: str, other: str) -> Sketch:
    sketch = Sketch(schema)
    vehicle = sketch.describe("filter_unique", 1)
    parts = sketch.node("object2part", vehicle)
    left = sketch.describe_part("partfilter_unique", 2, parts)
    sketch.keep_empty(attribute, 2)
    values = [sketch.node(f"partquery_{attribute}", left)]
    if other == "own":
        right = sketch.describe_part("partfilter_unique", 3, parts)
        sketch.differ(left, right)
        sketch.keep_empty(attribute, 3)
    else:
        right = sketch.describe("filter_unique", 3)
        sketch.differ(vehicle, right)
    if other == "part":
        right = sketch.part("partfilter_unique", 4, right)
        sketch.keep_empty(attribute, 4)
    elif other == "thing":
        sketch.keep_empty(attribute, 3)
    query = "query" if other == "thing" else "partquery"
    values.append(sketch.node(f"{query}_{attribute}", right))
    sketch.node(f"equal_{attribute}", *values)
    return sketch
