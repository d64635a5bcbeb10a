"""SoftWorld: believed scenes as the soft meanings of ops see them, for many programs at once.

A set is an array [program, thing] of the probabilities that each thing is in it. One thing is its number and
the probability of having found it; a number, a truth or a value is known at some belief. Tables that ops look
up are worked out when first used, once for all programs.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..errors import UserError
from ..scenetable import Terms
from .arrays import Array, like, namespace, real, take_along, whole
from .beliefs import Beliefs

SIDES = {"left": (0, -1.0), "right": (0, 1.0), "front": (1, 1.0), "behind": (1, -1.0)}  # axis of a box, sign
PIXELS = (640, 480)  # the size of image that `Rules.a` and `Rules.b` are meant for


@dataclass(frozen=True, slots=True)
class Rules:
    """Numbers of the soft meanings; those given are the paper's (Super-CLEVR, §4.4 and appendix E)."""

    a: float = 20.0  # pixels by which a thing may stand on the wrong side
    b: float = 0.02  # how sharply a pixel of distance tells
    threshold: float = 0.7  # a thing counts when its probability is above
    detected: float = 0.5  # ours: what counts as detected, `exists` above this
    chain: bool = True  # ours: whether what follows a unique is multiplied with its probability

    def __post_init__(self) -> None:
        if not (0 <= self.threshold < 1 and 0 <= self.detected < 1 and self.b > 0):
            raise UserError("soft rules: threshold and detected are from 0 to below 1, b is above 0")


PAPER = Rules()


class One(NamedTuple):
    """A single thing a program, and the probability of having found the right one."""

    index: Array  # [program]
    belief: Array  # [program]


class Known(NamedTuple):
    """A number, a truth (0 or 1) or a value's code a program, and how far it is believed."""

    value: Array  # [program]
    belief: Array  # [program]


class ThingTables:
    """What is believed of the objects, or of the parts, of all scenes, laid out for looking up."""

    def __init__(self, there: Array, attributes: tuple[Array, ...], terms: Terms) -> None:
        self.there, self.attributes, self.terms = there, attributes, terms
        self.xp = namespace(there)
        self.width = int(there.shape[1])

    @cached_property
    def holds(self) -> Array:
        """[scene × term, thing] probability of the term; a kind's is the sum of its values'."""
        found = [
            values @ like(values, _containing(attribute.values, attribute.kinds))
            for values, attribute in zip(self.attributes, self.terms.attributes, strict=True)
        ]
        return self.xp.swapaxes(self.xp.concatenate(found, -1), 1, 2).reshape(-1, self.width)

    @cached_property
    def best(self) -> tuple[Array, Array]:
        """[scene × attribute, thing] code of the likeliest value, and its probability."""
        codes = [self.xp.argmax(p, -1) + first for p, first in zip(self.attributes, self.firsts, strict=True)]
        beliefs = [self.xp.amax(p, -1) for p in self.attributes]
        return (
            self.xp.stack(codes, 1).reshape(-1, self.width),
            self.xp.stack(beliefs, 1).reshape(-1, self.width),
        )

    @property
    def firsts(self) -> tuple[int, ...]:
        return self.terms.first

    @cached_property
    def alike(self) -> Array:
        """[scene × attribute × thing, thing] cosine similarity of the distributions; 0 to itself."""
        others = like(self.there, 1 - np.eye(self.width)) * self.there[:, None, :]
        found = []
        for p in self.attributes:
            length = self.xp.sqrt((p * p).sum(-1))
            both = length[:, :, None] * length[:, None, :]
            found.append((p @ self.xp.swapaxes(p, 1, 2)) / self.xp.where(both > 0, both, 1.0) * others)
        return self.xp.stack(found, 1).reshape(-1, self.width)


class SceneTables:
    """All tables of some beliefs under some rules."""

    def __init__(self, beliefs: Beliefs, rules: Rules) -> None:
        self.beliefs, self.rules = beliefs.padded(), rules
        beliefs = self.beliefs
        schema = beliefs.schema
        self.relations = tuple(name for name in schema.relations if name in SIDES)
        exists = beliefs.exists
        there = real(exists > rules.detected, exists)
        self.objects = ThingTables(there, beliefs.attributes, Terms.of(schema.attributes))
        owner_there = take_along(there, self.owner)
        part_there = real(beliefs.part_exists > rules.detected, exists) * owner_there
        self.parts = ThingTables(part_there, beliefs.part_attributes, Terms.of(schema.part_attributes))

    @cached_property
    def owner(self) -> Array:
        """[scene, part] the object it belongs to; rows of no part may say anything, and are of none."""
        return self.beliefs.part_owner.clip(0, int(self.beliefs.exists.shape[1]) - 1)

    @cached_property
    def belongs(self) -> Array:
        """[scene, part, object] 1 where the part is there and is the object's."""
        numbers = whole(self.owner, np.arange(self.objects.width))
        mine = real(self.owner[:, :, None] == numbers, self.parts.there)
        return mine * self.parts.there[:, :, None]

    @cached_property
    def related(self) -> Array:
        """[scene × relation × object, object] how surely the second is on that side of the first."""
        boxes, xp, rules = self.beliefs.boxes, self.objects.xp, self.rules
        if bool((xp.isnan(boxes).any(-1) & (self.objects.there > 0)).any()):
            raise UserError("soft relations are read off boxes, and an object has none")
        boxes = xp.nan_to_num(boxes)
        scale = like(boxes, [new / old for new, old in zip(PIXELS, self.beliefs.size, strict=True)])
        centres = (boxes[:, :, :2] + boxes[:, :, 2:] / 2) * scale
        others = like(self.objects.there, 1 - np.eye(self.objects.width)) * self.objects.there[:, None, :]
        found = []
        for name in self.relations:
            axis, sign = SIDES[name]
            ahead = sign * (centres[:, None, :, axis] - centres[:, :, None, axis])
            found.append(real(1 / (1 + xp.exp(-rules.b * (ahead + rules.a))), others) * others)
        return xp.stack(found, 1).reshape(-1, self.objects.width)


class SoftThings:
    """The objects, or the parts, as a group of programs sees them, each in its own scene."""

    def __init__(self, tables: ThingTables, scene: Array, rules: Rules) -> None:
        self.tables, self.scene, self.rules, self.xp = tables, scene, rules, tables.xp

    def holds(self, term: Array) -> Array:
        """[program, thing] probability that the thing has the value, or a value of that kind."""
        return self.tables.holds[self.scene * len(self.tables.terms.names) + term]

    def holds_of(self, one: One, term: Array) -> Array:
        """[program] the same for one thing each."""
        return self.tables.holds[self.scene * len(self.tables.terms.names) + term, one.index]

    def best_of(self, one: One, attribute: Array) -> Known:
        """The likeliest value of one thing each, with its own probability."""
        row = self.scene * len(self.tables.terms.attributes) + attribute
        codes, beliefs = self.tables.best
        return Known(codes[row, one.index], beliefs[row, one.index])

    def alike(self, one: One, attribute: Array) -> Array:
        """[program, thing] cosine similarity to one thing each."""
        row = self.scene * len(self.tables.terms.attributes) + attribute
        return self.tables.alike[row * self.tables.width + one.index]

    def likeliest(self, among: Array) -> One:
        return One(self.xp.argmax(among, 1), self.xp.amax(among, 1))

    def chain(self, one: One) -> Array:
        """[program, 1] what to multiply with after one was found."""
        return one.belief[:, None] if self.rules.chain else 1.0


class SoftWorld:
    """The scenes as a group of programs sees them."""

    def __init__(self, tables: SceneTables, scene: Array) -> None:
        self.tables, self.scene, self.rules = tables, scene, tables.rules
        self.objects = SoftThings(tables.objects, scene, tables.rules)
        self.parts = SoftThings(tables.parts, scene, tables.rules)
        self.xp = tables.objects.xp

    @property
    def everything(self) -> Array:
        """[program, object] 1 for what is detected."""
        return self.tables.objects.there[self.scene]

    @property
    def certain(self) -> Array:
        """[program] belief 1."""
        return self.xp.ones_like(self.scene, dtype=self.tables.objects.there.dtype)

    def related(self, one: One, relation: Array) -> Array:
        """[program, object] how surely each stands in the relation to the one."""
        row = self.scene * len(self.tables.relations) + relation
        return self.tables.related[row * self.tables.objects.width + one.index]

    def all_related(self, relation: Array) -> Array:
        """[program, first, second] how surely the second stands in the relation to the first."""
        width = self.tables.objects.width
        row = self.scene * len(self.tables.relations) + relation
        return self.tables.related.reshape(-1, width, width)[row]

    def of_owners(self, among: Array) -> Array:
        """[program, part] for each part the probability of its object; 0 for what is no part."""
        return take_along(among, self.tables.owner[self.scene]) * self.tables.parts.there[self.scene]

    def of_parts(self, among: Array) -> Array:
        """[program, object] for each object the greatest probability of its parts."""
        return self.xp.amax(among[:, :, None] * self.tables.belongs[self.scene], 1)


def _containing(values: tuple[str, ...], kinds: tuple[tuple[str, tuple[str, ...]], ...]) -> np.ndarray:
    """[value, term] 1 where the term takes in the value; a term is a value or a kind of values."""
    sets = [{v} for v in values] + [set(members) for _, members in kinds]
    return np.array([[v in members for members in sets] for v in values], np.float32).reshape(
        len(values), len(sets)
    )
