"""The steps that both COVR notations are made of.

A step with a relation is two nodes here: those related, and which of them are meant. A quantifier's
sub-program (`Step.sub`) gives the set of objects for which it is true; here it is a truth about `it()`.
"""

from __future__ import annotations

from typing import NamedTuple

from ..program import Notes
from ..types import BOOL, GROUPS, IMAGES, INT, OBJECT, OBJECTS, VALUE, Type


class Step(NamedTuple):
    """One step of either notation."""

    kind: str  # one of KINDS
    inputs: tuple[int, ...] = ()
    words: tuple[str, ...] = ()
    sub: tuple[Step, ...] = ()
    notes: Notes = ()
    where: str = ""  # how an error names it


COMPARISONS = {"eq": "equal", "gt": "greater", "lt": "less", "geq": "at_least", "leq": "at_most"}
QUANTIFIERS = ("all", "some", "none")
IMPLICIT: Notes = (("implicit", "1"),)  # of a node that the notation leaves unsaid
_SETS = (OBJECTS, IMAGES, GROUPS)

Inputs = tuple[tuple[Type, ...], ...]  # for each input the types it may have
KINDS: dict[str, tuple[Inputs, Type]] = {
    "scene": ((), OBJECTS),
    "find": ((), OBJECTS),  # words: names, any of which will do
    "filter": (((OBJECTS,),), OBJECTS),  # words: attribute, value, attribute, value, …; any will do
    "with_relation": (((OBJECTS,), (OBJECTS,)), OBJECTS),  # the second left out: to whatever
    "with_relation_object": (((OBJECTS,), (OBJECTS,)), OBJECTS),
    "unique": (((OBJECTS,),), OBJECT),
    "assert_unique": (((OBJECTS,),), OBJECTS),
    "unique_images": (((OBJECTS,),), IMAGES),
    "group_by_images": (((OBJECTS,),), GROUPS),
    "keep": (((GROUPS,),), GROUPS),  # words: comparison, number
    "keys": (((GROUPS,),), IMAGES),
    "count": ((_SETS,), INT),
    "exists": ((_SETS,), BOOL),
    **dict.fromkeys(COMPARISONS, (((INT,), (INT,)), BOOL)),  # words: the inputs that are numbers
    "eq": (((INT, VALUE, OBJECT), (INT, VALUE, OBJECT)), BOOL),
    "and": (((BOOL,), (BOOL,)), BOOL),
    "or": (((BOOL,), (BOOL,)), BOOL),
    "not": (((BOOL,),), BOOL),
    "query": (((OBJECT,),), VALUE),  # words: attribute
    "verify": (((OBJECT,),), BOOL),  # words: attribute, value
    "choose": (((OBJECT,),), VALUE),  # words: attribute, this, that
    "choose_relation": (((OBJECT,), (OBJECTS,)), Type("Value", "relation")),  # words: this, that
    **dict.fromkeys(QUANTIFIERS, (((OBJECTS,),), BOOL)),
    "all_same": (((OBJECTS,),), BOOL),  # words: attribute
    "query_common_attribute": (((OBJECT,), (OBJECT,)), Type("Value", "attribute")),
}
OPS = {  # kinds that are one node, input for input
    "unique_images": "images",
    "group_by_images": "group",
    "query_common_attribute": "common",
    "exists": "exist",
    **{kind: kind for kind in ("keys", "count", "and", "or", "not", "query", "verify", "choose")},
}
