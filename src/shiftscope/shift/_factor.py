"""Factor: one thing that variants of a dataset differ in, and how a twin is told from its base."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any

from ..question import Question
from ..scene import Object, Scene

NAMING = ("twin", "factor", "level", "variant")  # notes that say which variant a question belongs to


@dataclass(frozen=True, slots=True)
class Factor:
    """The variants of one factor, in the order of its levels; all but the base are twins of the base."""

    name: str
    title: str
    variants: tuple[str, ...]
    base: str
    test_only: tuple[str, ...] = ()
    ordered: bool = False  # from less to more, one step each: only then has accuracy a trend over them


def unlike(a: Any, b: Any, but: Collection[str] = ()) -> list[str]:
    """The fields in which two records of one kind differ, without those that may."""
    return [name for name in a.__slots__ if name not in but and getattr(a, name) != getattr(b, name)]


def unlike_scenes(base: Scene, twin: Scene, but: Collection[str] = ()) -> list[str]:
    """As `unlike`; the objects are left to the caller."""
    found = unlike(base, twin, but=("objects", *but))
    return [*found, "number of objects"] if len(base.objects) != len(twin.objects) else found


def question_unlike(base: Question, twin: Question, but: Collection[str] = ()) -> list[str]:
    """As `unlike`; that each goes by a name of its variant, and the twin names its base, is no difference."""
    one, two = (replace(q, notes=tuple(n for n in q.notes if n[0] not in NAMING)) for q in (base, twin))
    return unlike(one, two, ("id", *but))


def without(thing: Object, attribute: str) -> Object:
    """The object, and its parts, without an attribute."""

    def rest(pairs: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
        return tuple(pair for pair in pairs if pair[0] != attribute)

    parts = tuple(replace(p, attributes=rest(p.attributes)) for p in thing.parts)
    return replace(thing, attributes=rest(thing.attributes), parts=parts)
