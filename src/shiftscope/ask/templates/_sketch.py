"""Sketch: a template in the making, for whatever attributes a schema has.

In texts, `{1}` stands for description 1 in the singular, `{1s}` in the plural, `<R>` for a relation.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ...schema import Schema
from ..lexicon import noun_of
from ..template import APART, NULL, OUT_NEQ, Constraint, Slot, Template, TemplateNode

LETTERS = {"size": "Z", "color": "C", "material": "M", "shape": "S"}
_DESCRIPTION = re.compile(r"\{(\d)(s?)\}")


class Sketch:
    """Collects nodes, slots and constraints; `template` closes it."""

    def __init__(self, schema: Schema) -> None:
        noun = noun_of(schema.attributes)
        names = [a.name for a in schema.attributes]
        self.attributes = [n for n in names if n != noun] + ([noun] if noun else [])
        self.noun = noun
        self.slots: dict[str, Slot] = {}
        self.nodes: list[TemplateNode] = []
        self.constraints: list[Constraint] = []

    def node(self, function: str, *inputs: int, slots: Sequence[str] = ()) -> int:
        """Add a node; its number."""
        self.nodes.append(TemplateNode(function, inputs, tuple(slots)))
        return len(self.nodes) - 1

    def slot(self, attribute: str, number: int) -> str:
        """The slot of an attribute in the description of that number, `<C2>`."""
        letter = "R" if attribute == "relation" else LETTERS.get(attribute, attribute.upper())
        name = f"<{letter}{number if number > 1 else ''}>"
        self.slots.setdefault(name, Slot(name, attribute.capitalize()))
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
        return " ".join(self.slot(a, int(found[1])) for a in self.attributes) + found[2]
