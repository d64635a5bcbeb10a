"""Stand-in: the things that a set of nothing is described like.

Of nothing everything is true, so that what may be said of it is for us to choose. It gets as many words as
something would get: the things are what fits a description that names the same attributes, in the words of a
thing that is there. A description of nothing is then no longer or shorter than one of something.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...bits import members
from ...lang.world import World
from ...rng import seed_of
from ...schema import Attribute, Schema
from .step import Step


def stand_ins(step: Step, world: World, schema: Schema, seed: str) -> Iterator[int]:
    """For each thing that the set starts from (or of the scene, if it starts from nothing) those like it."""
    things, words = world.objects, step.words  # as they are now: they may change while this goes on
    pool = step.root or things.everything
    listed = list(members(pool))
    kinds = {a.name: a.kinds for a in schema.attributes}
    first = seed_of("like", seed) % len(listed) if listed else 0
    for thing in listed[first:] + listed[:first]:
        like = pool
        for word in words:
            value = things.value(thing, word.attribute)
            known = kinds.get(word.attribute, ())
            if any(word.value == kind for kind, _ in known):
                value = next((kind for kind, values in known if value in values), None)
            like &= 0 if value is None else things.mask(word.attribute, value)
        if like:
            yield like


def shared(these: int, attribute: Attribute, world: World) -> list[str]:
    """The words that all of these share, narrowest first: their value, or a kind that all values are of."""
    values = {world.objects.value(i, attribute.name) for i in members(these)}
    around = [(len(inside), kind) for kind, inside in attribute.kinds if values <= set(inside)]
    return [v for v in values if v is not None and len(values) == 1] + [kind for _, kind in sorted(around)]
