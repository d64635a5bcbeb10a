"""What a paraphrase is made from, and turns of phrase that several templates share."""

from __future__ import annotations

from typing import Any, Protocol

from ..subgraph import Subgraph
from ._phrases import be
from .say import is_place, several_of

MEASURES = ("color", "size", "shape", "height", "length", "width", "age")  # one is the same color


class Filled(Protocol):
    """What is needed of a draft: its template, its words, and what is in its slots."""

    @property
    def template(self) -> str: ...
    @property
    def text(self) -> str: ...
    def slot(self, name: str) -> Any: ...


def unclear(thing: Subgraph, relation: str) -> bool:
    """Whether few words could be misread: "the cup on a table under it"."""
    return is_place(relation) and bool(thing.relations)


def same_as(family: str) -> str:
    """Of two things that are alike: "the same color"; "" where it is not said so."""
    if family == "material":
        return "made of the same material"
    return f"the same {family}" if family in MEASURES else ""


def be_of(thing: Subgraph) -> str:
    return be(several_of(thing.name))
