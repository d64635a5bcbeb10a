"""Shifts, one file each, which no other file names. What a file offers says what kind of shift it is:

`FACTOR` with `variant(spec, level)`  a suite's spec with one factor at another level; `breaches(base, twin)` says
                                      what else differs between two scenes that should be twins
`hold_out(expression)`                a predicate over questions: those it holds of are kept from training
`transform(picture)`                  the same picture under another condition
`sets(samples, settings)`             sets of samples, where whole-corpus counts decide; with `build_recipe`, `SETTINGS`
                                      and `FOLDER`, an audit makes them too (`--recipe`, with `AUDIT_OPTIONS`), and
                                      with `stream_recipe` an audit that streams
`choose_questions(pools, scenes, …)`  which of more questions than are wanted a suite asks, so that answers go with
                                      concepts in one split and not in another
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ..question import Question
from ..question_table import SampleSet
from ..scene import Object, Pairs, Scene
from ..shortcuts.groups import PairFigures

VARIANT_NOTES = ("twin", "factor", "level", "variant")  # notes that say which variant a question belongs to


@dataclass(frozen=True, slots=True)
class Factor:
    """The variants of one factor, in the order of its levels; all but the base are twins of the base."""

    name: str
    title: str
    variants: tuple[str, ...]
    base: str
    test_only: tuple[str, ...] = ()
    ordered: bool = False  # from less to more, one step each: only then has accuracy a trend over them


@dataclass(frozen=True, slots=True, eq=False)
class RecipeSets:
    """The sets that a shift makes of an audited dataset."""

    settings: Mapping[str, Any]
    counts: Mapping[str, float]  # of the samples of each set, and what else the shift counts
    sets: tuple[SampleSet, ...]


@dataclass(frozen=True, slots=True, eq=False)
class StreamedRecipe:
    """How a shift parts the IID test where samples are streamed: by marks of a shortcut's groups and answers."""

    settings: Mapping[str, Any]
    shortcut: str
    mark: Callable[[PairFigures], npt.NDArray[np.int8]]  # [pair] BALANCED, HEAD or TAIL
    sets: tuple[tuple[str, tuple[int, ...]], ...]  # the name of a set, and the marks that are in it


def differing_fields(a: Any, b: Any, but: Collection[str] = ()) -> list[str]:
    """The fields in which two records of one kind differ, without those that may."""
    return [name for name in a.__slots__ if name not in but and getattr(a, name) != getattr(b, name)]


def differing_scene_fields(base: Scene, twin: Scene, but: Collection[str] = ()) -> list[str]:
    """As `differing_fields`; the objects are left to the caller."""
    found = differing_fields(base, twin, but=("objects", *but))
    return [*found, "number of objects"] if len(base.objects) != len(twin.objects) else found


def differing_question_fields(base: Question, twin: Question, but: Collection[str] = ()) -> list[str]:
    """As `differing_fields`; ids and the notes that name the variant or the base are no difference."""
    one, two = (replace(q, notes=tuple(n for n in q.notes if n[0] not in VARIANT_NOTES)) for q in (base, twin))
    return differing_fields(one, two, ("id", *but))


def drop_attribute(thing: Object, attribute: str) -> Object:
    """The object, and its parts, without an attribute."""

    def drop(pairs: Pairs) -> Pairs:
        return tuple(pair for pair in pairs if pair[0] != attribute)

    parts = tuple(replace(p, attributes=drop(p.attributes)) for p in thing.parts)
    return replace(thing, attributes=drop(thing.attributes), parts=parts)
