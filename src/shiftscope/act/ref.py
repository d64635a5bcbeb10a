"""Ref: how an action points out an object, or all objects, that it is about."""

from __future__ import annotations

from dataclasses import dataclass

from ..schemas.clevr import SCHEMA

Pairs = tuple[tuple[str, str], ...]

ATTRIBUTES = ("size", "color", "material", "shape")  # in the order they are said
IN_PLANE = SCHEMA.relations
SUBSETS = tuple(tuple(a for i, a in enumerate(ATTRIBUTES) if bits >> i & 1) for bits in range(1, 16))


@dataclass(frozen=True, slots=True)
class Ref:
    """What is true of those meant and of no other object: in words and in a program."""

    pairs: Pairs
    mask: int  # the objects meant
    relation: str = ""
    anchor: Ref | None = None  # what they stand in that relation to
    many: bool = False
    said: str = ""  # said instead of a description: it, the new cube

    @property
    def index(self) -> int:
        """The number of the one object meant."""
        return self.mask.bit_length() - 1
