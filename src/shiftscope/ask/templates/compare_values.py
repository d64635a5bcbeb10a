"""Whether two things have the same value of an attribute."""

from __future__ import annotations

from collections.abc import Iterator

from ...schema import Schema
from ..template import Template
from ._phrases import comparisons
from ._sketch import Sketch

FILE = "comparison.json"


def templates(schema: Schema) -> Iterator[Template]:
    """For each attribute: two things by description; one, the other, or both found over a relation."""
    family = 0
    for left, right in ((False, False), (True, False), (False, True), (True, True)):
        if (left or right) and not schema.relations:
            continue
        for attribute in schema.attributes:
            yield _comparison(schema, attribute.name, left, right, family)
            family += 1


def _comparison(schema: Schema, attribute: str, left: bool, right: bool, family: int) -> Template:
    sketch = Sketch(schema)
    one, first, first_text = _thing(sketch, 1, 1, left)
    two, second, second_text = _thing(sketch, first + 1, 2 if left else 1, right)
    sketch.differ(one, two)
    if left:  # "is the cube left of the ball as large as the ball?" reads like a riddle
        sketch.differ(sketch.nodes[one].inputs[0], two)
    if right:
        sketch.differ(one, sketch.nodes[two].inputs[0])
    sketch.keep_empty(attribute, first, second)
    values = [sketch.node(f"query_{attribute}", one), sketch.node(f"query_{attribute}", two)]
    sketch.node(f"equal_{attribute}", *values)
    return sketch.template(FILE, family, comparisons(attribute, first_text, second_text, schema))


def _thing(sketch: Sketch, number: int, relation: int, related: bool) -> tuple[int, int, str]:
    """(node, number of the description that names it, noun phrase) of one thing to be compared."""
    node = sketch.describe("filter_unique", number)
    if not related:
        return node, number, f"the {{{number}}}"
    node = sketch.related("relate_filter_unique", number + 1, node, relation)
    link = f"[that is] <R{relation if relation > 1 else ''}>"
    return node, number + 1, f"the {{{number + 1}}} {link} the {{{number}}}"
