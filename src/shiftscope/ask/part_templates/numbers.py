"""Whether there are as many, fewer or more repainted parts of one sort than another, or on two vehicles."""

from __future__ import annotations

from collections.abc import Iterator

from ...schema import Schema
from ..template import Template
from ..templates._sketch import Sketch
from ..templates.compare_numbers import QUESTIONS

FILE = "part_numbers.json"
ON_TWO = {
    "equal_integer": (
        "Does the {1} have exactly as many repainted parts as the {2}?",
        "Do the {1} and the {2} have equally many repainted parts?",
    ),
    "less_than": (
        "Does the {1} have fewer repainted parts than the {2}?",
        "Is the count of repainted parts lower on the {1} than on the {2}?",
    ),
    "greater_than": (
        "Does the {1} have more repainted parts than the {2}?",
        "Is the count of repainted parts higher on the {1} than on the {2}?",
    ),
}


def templates(schema: Schema) -> Iterator[Template]:
    """Two descriptions of parts in the picture; then all the parts of two vehicles."""
    family = 0
    for function, texts in QUESTIONS.items():
        sketch = Sketch(schema)
        parts = sketch.node("object2part", sketch.node("scene"))
        one, two = (sketch.describe_part("partfilter_count", n, parts) for n in (1, 2))
        sketch.apart(one, two)
        sketch.node(function, one, two)
        said = [t.replace("{A}", "repainted {1s}").replace("{B}", "repainted {2s}") for t in texts]
        yield sketch.template(FILE, family, said)
        family += 1
    for function, on_two in ON_TWO.items():
        sketch = Sketch(schema)
        one, two = (sketch.describe("filter_unique", n) for n in (1, 2))
        sketch.differ(one, two)
        counts = [sketch.node("count", sketch.node("object2part", one))]
        counts.append(sketch.node("count", sketch.node("object2part", two)))
        sketch.node(function, *counts)
        yield sketch.template(FILE, family, on_two)
        family += 1
