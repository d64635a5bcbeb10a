"""Told: what the words of a question alone tell, so that it needs no picture.

"More cubes than red cubes?" has its answer in it, and so has "how many cubes are left of the cube?", when
there is but one, or "is any cube left of the ball that is right of the cube?". Dropping or adding a word must
not make such a question out of an honest one.
"""

from __future__ import annotations

from functools import lru_cache

from ...schema import Schema
from .step import RELATIONS, Step, steps

Said = dict[str, str]  # attribute → the word that everything in a set fits
OPPOSITE = {"left": "right", "right": "left", "behind": "front", "front": "behind"}
COMPARED = frozenset(("less", "greater", "equal"))


def suspects(last: Step) -> list[Step]:
    """The steps by which a question may give itself away: they compare sets, find nothing, or ask if any."""
    return [s for s in steps(last) if (s.several and not s.value and not s.loose) or _weighs(s) or _finds(s)]


def gives_itself_away(suspected: list[Step], schema: Schema) -> bool:
    """Whether the words alone tell that a set is empty or is not, or that one of two holds the other."""
    for step in suspected:
        if _finds(step) and told_there(step.inputs[0], schema):
            return True
        if _weighs(step):
            one, two = (s.inputs[0] if s.op == "count" else s for s in step.inputs)
            if _within(one, two, schema) or _within(two, one, schema):
                return True
        if step.several and not step.value:
            said = _said(step)
            if any(_covers(_said(thing), said, schema) for thing in _left_out(step)):
                return True
    return False


def _weighs(step: Step) -> bool:
    """Whether it joins two sets or compares how many they are."""
    return step.op == "union" or (step.op in COMPARED and step.inputs[0].op == "count")


def _finds(step: Step) -> bool:
    """Whether it asks if there is any, and there is."""
    return step.op == "exist" and bool(step.inputs[0].value)


def told_there(step: Step, schema: Schema) -> bool:
    """Whether one of the set is spoken of: A and all that A is right of, if B is right of A, left of B."""
    if step.op != "relate":
        return False
    said, back = _said(step), OPPOSITE.get(step.params[0])
    described = step.inputs[0].inputs[0]
    while described.op == "relate" and described.params[0] == back:
        described = described.inputs[0].inputs[0]
        if _covers(said, _said(described), schema):
            return True
    return False


def _within(inner: Step, outer: Step, schema: Schema) -> bool:
    """Whether all of the inner set is in the outer, whatever the scene."""
    if not _covers(_said(outer), _said(inner), schema):
        return False
    if outer.op == "scene":
        return True
    alike = outer.op in RELATIONS and (outer.op, outer.params) == (inner.op, inner.params)
    return alike and outer.inputs[0].value == inner.inputs[0].value


def _said(step: Step) -> Said:
    if step.op == "unique":
        return _said(step.inputs[0])
    said: Said = {}
    if step.op == "intersect":
        said = {**_said(step.inputs[0]), **_said(step.inputs[1])}
    elif step.op == "same":
        of_one = _said(step.inputs[0])
        said = {step.params[0]: of_one[step.params[0]]} if step.params[0] in of_one else {}
    for word in step.words:
        if word.op == "filter":
            said[word.attribute] = word.value
    return said


def _left_out(step: Step) -> list[Step]:
    """The sets of one, each all that fits its words, whose thing the step never gives."""
    if step.op in ("relate", "same"):
        thing = step.inputs[0]
        described = thing.inputs[0] if thing.op == "unique" else thing
        return [described] if described.op == "scene" else []
    if step.op == "intersect":
        return _left_out(step.inputs[0]) + _left_out(step.inputs[1])
    return []


def _covers(broad: Said, narrow: Said, schema: Schema) -> bool:
    return all(
        attribute in narrow
        and (
            narrow[attribute] == word
            or meant(schema, attribute, narrow[attribute]) <= meant(schema, attribute, word)
        )
        for attribute, word in broad.items()
    )


@lru_cache(maxsize=4096)
def meant(schema: Schema, attribute: str, word: str) -> frozenset[str]:
    """The values that a word stands for: a kind for several, a value for itself."""
    for a in schema.attributes:
        if a.name == attribute:
            return frozenset(dict(a.kinds).get(word, (word,)))
    return frozenset((word,))
