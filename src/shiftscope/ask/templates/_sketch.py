"""Sketch: a template in the making, for whatever attributes a schema has.

In texts, `{1}` stands for description 1 in the singular, `{1s}` in the plural, `<R>` for a relation. Objects
and parts share one numbering of descriptions.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ...schema import Attribute, Schema
from ..lexicon import noun_of
from ..template import APART, NULL, OUT_NEQ, Constraint, Slot, Template, TemplateNode

LETTERS = {"size": "Z", "color": "C", "material": "M", "shape": "S"}
PART_LETTERS = LETTERS | {"name": "P"}
FOLLOWED = ("size",)  # what a part has from its object, and no description of it mentions
_DESCRIPTION = re.compile(r"\{(\d)(s?)\}")


class Sketch:
    """Collects nodes, slots and constraints; `template` closes it."""

    def __init__(self, schema: Schema) -> None:
        self.attributes = _noun_last(schema.attributes)
        self.part_attributes = [a for a in _noun_last(schema.part_attributes) if a not in FOLLOWED]
        self.noun = noun_of(schema.attributes)
        self.parts: set[int] = set()  # the numbers of descriptions that are of parts
        self.slots: dict[str, Slot] = {}
        self.nodes: list[TemplateNode] = []
        self.constraints: list[Constraint] = []

    def node(self, function: str, *inputs: int, slots: Sequence[str] = ()) -> int:
        """Add a node; its number."""
        self.nodes.append(TemplateNode(function, inputs, tuple(slots)))
        return len(self.nodes) - 1

    def slot(self, attribute: str, number: int) -> str:
        """The slot of an attribute in the description of that number, `<C2>`."""
        part = number in self.parts and attribute != "relation"
        letters = PART_LETTERS if part else LETTERS
        letter = "R" if attribute == "relation" else letters.get(attribute, attribute.upper())
        name = f"<{letter}{number if number > 1 else ''}>"
        kind = "Partname" if part and attribute == "name" else attribute.capitalize()
        self.slots.setdefault(name, Slot(name, kind))
        return name

    def describe(self, function: str, number: int, on: int | None = None) -> int:
        """A description of the whole scene, or of what another node gives."""
        on = self.node("scene") if on is None else on
        return self.node(function, on, slots=[self.slot(a, number) for a in self.attributes])

    def related(self, function: str, number: int, to: int, relation: int) -> int:
        """A description of what stands in a relation to an object."""
        words = [self.slot("relation", relation)]
        words += [self.slot(a, number) for a in self.attributes]
        return self.node(function, to, slots=words)

    def part(self, function: str, number: int, of: int) -> int:
        """A description of the parts of the objects that another node gives."""
        return self.describe_part(function, number, self.node("object2part", of))

    def describe_part(self, function: str, number: int, on: int) -> int:
        """A description of the parts that another node gives."""
        self.parts.add(number)
        return self.node(function, on, slots=[self.slot(a, number) for a in self.part_attributes])

    def keep_empty(self, attribute: str, *numbers: int) -> None:
        """Descriptions of these numbers do not mention the attribute."""
        self.constraints += [Constraint(NULL, (self.slot(attribute, n),)) for n in numbers]

    def differ(self, left: int, right: int) -> None:
        self.constraints.append(Constraint(OUT_NEQ, (left, right)))

    def apart(self, left: int, right: int) -> None:
        self.constraints.append(Constraint(APART, (left, right)))

    def template(self, file: str, family: int, texts: Sequence[str]) -> Template:
        """The finished template."""
        return Template(
            file=file,
            family=family,
            params=tuple(self.slots.values()),
            texts=tuple(_DESCRIPTION.sub(self._spelled, text) for text in texts),
            nodes=tuple(self.nodes),
            constraints=tuple(self.constraints),
        )

    def _spelled(self, found: re.Match[str]) -> str:
        number = int(found[1])
        attributes = self.part_attributes if number in self.parts else self.attributes
        return " ".join(self.slot(a, number) for a in attributes) + found[2]


def _noun_last(attributes: tuple[Attribute, ...]) -> list[str]:
    noun = noun_of(attributes)
    return [a.name for a in attributes if a.name != noun] + ([noun] if noun else [])
