"""What the ops see of scenes: ExecutionWorld (exact, bit masks) and SoftWorld (probabilities).

Exact: objects of all images share one numbering (image 0's first), so an op on a set works alike on one image
and on many. Soft: a set is an array [program, thing] of the probabilities that each thing is in it, for many
programs at once; lookup tables are computed on first use, once for all programs.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np

from ..edit import ON, Edit, ImpossibleEdit
from ..errors import UserError
from ..scene import FREE, Pairs, Scene, mask_members
from ..scene_table import Terms
from ..schema import Schema
from .arrays import Array, get_namespace, make_index, make_like, take_along, to_real
from .posterior_calibration import SpatialLikelihood
from .scene_posterior import ScenePosterior


class ClosedMasks(dict[tuple[str, str], int]):
    """The things that have a value, by attribute and value; what is not there, nothing has."""

    def __missing__(self, pair: tuple[str, str]) -> int:
        return 0


class OpenMasks(dict[tuple[str, str], int]):
    """The same in an open vocabulary, each worked out when first asked for: annotators leave attributes unnamed."""

    def __init__(self, known: dict[tuple[str, str], int]) -> None:
        self.known = known

    def __missing__(self, pair: tuple[str, str]) -> int:
        attribute, value = pair
        found = self.known.get(pair, 0)
        if attribute != "name":
            found |= self.known.get((FREE, value), 0)
            if attribute == FREE:
                for (name, other), mask in self.known.items():
                    if other == value and name != "name":
                        found |= mask
        self[pair] = found
        return found


class Things:
    """The objects, or the parts, of a world: which of them have which value."""

    __slots__ = ("_pairs", "everything", "masks", "open", "schema")

    def __init__(self, pairs: Sequence[Pairs], schema: Schema, *, part: bool) -> None:
        self._pairs = pairs
        self.schema = schema
        self.everything = (1 << len(pairs)) - 1
        self.open = not schema.closed
        masks = ClosedMasks()
        bit = 1
        for attributes in pairs:
            for pair in attributes:
                masks[pair] = masks.get(pair, 0) | bit
            bit <<= 1
        if kinds := _map_kinds(schema, part):
            for wider, mask in [(wider, mask) for pair, mask in masks.items() for wider in kinds.get(pair, ())]:
                masks[wider] = masks.get(wider, 0) | mask
        self.masks: dict[tuple[str, str], int] = OpenMasks(masks) if self.open else masks

    def mask(self, attribute: str, value: str) -> int:
        """The things that have the value, or a value of that kind."""
        return self.masks[attribute, value]

    def values(self, index: int, attribute: str) -> tuple[str, ...]:
        """What the thing's values of the attribute are: one in a closed vocabulary, any number in an open."""
        found = tuple([v for a, v in self._pairs[index] if a == attribute])
        if self.open and attribute != FREE:
            known = _list_values(self.schema, attribute)
            found += tuple([v for a, v in self._pairs[index] if a == FREE and v in known])
        return found

    def value(self, index: int, attribute: str) -> str | None:
        """The single value of the attribute; None when there is none or more than one."""
        if self.open:
            found = self.values(index, attribute)
            return found[0] if len(found) == 1 else None
        for a, v in self._pairs[index]:
            if a == attribute:
                return v
        return None


class ExecutionWorld:
    """What a program runs on."""

    __slots__ = ("_rows", "image_masks", "objects", "offsets", "owner", "parts", "parts_of", "scenes")

    def __init__(self, scenes: Iterable[Scene]) -> None:
        self.scenes = tuple(scenes)
        if not self.scenes:
            raise ValueError("a world needs at least one scene")
        schema = self.scenes[0].schema
        objects = [o for scene in self.scenes for o in scene.objects]
        self.objects = Things([o.attributes for o in objects], schema, part=False)
        self.offsets: list[int] = []
        self.image_masks: list[int] = []
        start = 0
        for scene in self.scenes:
            n = len(scene.objects)
            self.offsets.append(start)
            self.image_masks.append(((1 << n) - 1) << start)
            start += n
        self.owner: list[int] = []  # of part p
        self.parts_of: list[int] = []  # mask of the parts of object i
        part_pairs: list[Pairs] = []
        for i, thing in enumerate(objects):
            mask = 0
            for part in thing.parts:
                mask |= 1 << len(self.owner)
                self.owner.append(i)
                part_pairs.append((("name", part.name), *part.attributes))
            self.parts_of.append(mask)
        self.parts = Things(part_pairs, schema, part=True)
        self._rows: dict[str, tuple[int, ...] | None] = {}

    def rows(self, relation: str) -> tuple[int, ...] | None:
        """`rows[i]`: the objects in that relation to object i; None if no scene knows the relation."""
        if relation not in self._rows:
            found = [scene.relation(relation) for scene in self.scenes]
            joined = found[0]
            if len(found) > 1:
                each = zip(self.scenes, found, self.offsets, strict=True)
                shifted = [row << start for s, rows, start in each for row in rows or (0,) * len(s.objects)]
                joined = tuple(shifted) if any(rows is not None for rows in found) else None
            self._rows[relation] = joined
        return self._rows[relation]

    def targets(self, relation: str) -> tuple[int, ...] | None:
        """`targets[i]`: the objects that object i is in that relation to."""
        rows = self.rows(relation)
        if rows is None:
            return None
        turned = [0] * len(rows)
        for target, row in enumerate(rows):
            for subject in mask_members(row):
                turned[subject] |= 1 << target
        return tuple(turned)

    def apply_edit(self, edit: Edit) -> "ExecutionWorld":
        """The world after the edit; only a world of one scene can be edited."""
        if len(self.scenes) != 1:
            raise ImpossibleEdit("only a single image can be edited")
        return ExecutionWorld((edit.apply(self.scenes[0]),))


@lru_cache(maxsize=256)
def _list_values(schema: Schema, attribute: str) -> frozenset[str]:
    """The values of an attribute; `short` is one of several, so `Schema.attribute_of` would not do."""
    return frozenset(v for a in schema.attributes if a.name == attribute for v in a.values)


@lru_cache(maxsize=64)
def _map_kinds(schema: Schema, part: bool) -> dict[tuple[str, str], tuple[tuple[str, str], ...]]:
    """(attribute, value) → the wider (attribute, kind) pairs it also counts as."""
    table: dict[tuple[str, str], tuple[tuple[str, str], ...]] = {}
    for attribute in schema.part_attributes if part else schema.attributes:
        for kind, values in attribute.kinds:
            for value in values:
                key = (attribute.name, value)
                table[key] = (*table.get(key, ()), (attribute.name, kind))
    return table


SIDES = {"left": (0, -1.0), "right": (0, 1.0), "front": (1, 1.0), "behind": (1, -1.0)}  # axis of a box, sign
PIXELS = (640, 480)  # the size of image that `Rules.a` and `Rules.b` are meant for


@dataclass(frozen=True, slots=True)
class SoftRules:
    """Numbers of the soft meanings; those given are the paper's (Super-CLEVR, §4.4 and appendix E)."""

    a: float = 20.0  # pixels by which a thing may stand on the wrong side
    b: float = 0.02  # how much a pixel of distance counts
    threshold: float = 0.7  # a thing counts when its probability is above
    detected: float = 0.5  # ours: what counts as detected, `exists` above this
    referent: bool = False  # ours: multiply relate and same with the probability of what they start from
    spatial: SpatialLikelihood | None = None  # ours: in place of a and b, what was learned of relations

    def __post_init__(self) -> None:
        if not (0 <= self.threshold < 1 and 0 <= self.detected < 1 and self.b > 0):
            raise UserError("soft rules: threshold and detected are from 0 to below 1, b is above 0")


PAPER = SoftRules()


def list_soft_relations(schema: Schema) -> tuple[str, ...]:
    """Those of a schema that have a soft meaning: the sides, in its order, and then what rests on what."""
    sides = tuple(name for name in schema.relations if name in SIDES)
    return (*sides, ON) if ON in schema.relations else sides


class SoftReference(NamedTuple):
    """A single thing per program, and the probability of having found the right one."""

    index: Array  # [program]
    probability: Array  # [program]


class SoftValue(NamedTuple):
    """A number, a truth (0 or 1) or a value's code per program, and its confidence."""

    value: Array  # [program]
    confidence: Array  # [program]


class SoftThingTables:
    """The posterior of the objects, or of the parts, of all scenes, laid out for lookups."""

    def __init__(self, there: Array, attributes: tuple[Array, ...], terms: Terms) -> None:
        self.there, self.attributes, self.terms = there, attributes, terms
        self.xp = get_namespace(there)
        self.width = int(there.shape[1])

    @cached_property
    def term_probabilities(self) -> Array:
        """[scene × term, thing] probability of the term; a kind's is the sum of its values'."""
        found = []
        for p, attribute in zip(self.attributes, self.terms.attributes, strict=True):
            terms = [{v} for v in attribute.values] + [set(members) for _, members in attribute.kinds]
            takes_in = np.array([[v in term for term in terms] for v in attribute.values], np.float32)
            found.append(p @ make_like(p, takes_in.reshape(len(attribute.values), len(terms))))
        return self.xp.swapaxes(self.xp.concatenate(found, -1), 1, 2).reshape(-1, self.width)

    @cached_property
    def most_likely(self) -> tuple[Array, Array]:
        """[scene × attribute, thing] code of the likeliest value, and its probability."""
        codes = [self.xp.argmax(p, -1) + first for p, first in zip(self.attributes, self.terms.first, strict=True)]
        best = [self.xp.amax(p, -1) for p in self.attributes]
        return self.xp.stack(codes, 1).reshape(-1, self.width), self.xp.stack(best, 1).reshape(-1, self.width)

    @cached_property
    def similarity(self) -> Array:
        """[scene × attribute × thing, thing] cosine similarity of the distributions; 0 to itself."""
        others = make_like(self.there, 1 - np.eye(self.width)) * self.there[:, None, :]
        found = []
        for p in self.attributes:
            length = self.xp.sqrt((p * p).sum(-1))
            both = length[:, :, None] * length[:, None, :]
            found.append((p @ self.xp.swapaxes(p, 1, 2)) / self.xp.where(both > 0, both, 1.0) * others)
        return self.xp.stack(found, 1).reshape(-1, self.width)


class SoftSceneTables:
    """All tables of a posterior under some rules."""

    def __init__(self, posterior: ScenePosterior, rules: SoftRules) -> None:
        self.posterior, self.rules = posterior.pad(), rules
        posterior = self.posterior
        schema = posterior.schema
        self.relations = list_soft_relations(schema)
        exists = posterior.exists
        there = to_real(exists > rules.detected, exists)
        self.objects = SoftThingTables(there, posterior.attributes, Terms.of(schema.attributes))
        owner_there = take_along(there, self.owner)
        part_there = to_real(posterior.part_exists > rules.detected, exists) * owner_there
        self.parts = SoftThingTables(part_there, posterior.part_attributes, Terms.of(schema.part_attributes))

    @cached_property
    def owner(self) -> Array:
        """[scene, part] the object it belongs to; rows of no part may say anything, and are of none."""
        return self.posterior.part_owner.clip(0, int(self.posterior.exists.shape[1]) - 1)

    @cached_property
    def part_membership(self) -> Array:
        """[scene, part, object] 1 where the part is there and is the object's."""
        numbers = make_index(self.owner, np.arange(self.objects.width))
        mine = to_real(self.owner[:, :, None] == numbers, self.parts.there)
        return mine * self.parts.there[:, :, None]

    @cached_property
    def relation_probabilities(self) -> Array:
        """[scene × relation × object, object] how surely the second is on that side of the first."""
        boxes, xp, rules = self.posterior.boxes, self.objects.xp, self.rules
        others = make_like(self.objects.there, 1 - np.eye(self.objects.width)) * self.objects.there[:, None, :]
        named = [name for name in self.relations if name in SIDES]
        resting = [self.posterior.resting if self.posterior.resting is not None else others * 0]
        resting = [make_like(others, rows) * others for rows in resting] if ON in self.relations else []
        if rules.spatial is not None:
            beyond = make_like(others, rules.spatial.compute_probabilities(self.posterior.to_numpy()))
            sides = [(axis, sign > 0) for axis, sign in map(SIDES.__getitem__, named)]
            turned = [beyond[:, axis] if up else xp.swapaxes(beyond[:, axis], 1, 2) for axis, up in sides]
            return xp.stack([*(side * others for side in turned), *resting], 1).reshape(-1, self.objects.width)
        if bool((xp.isnan(boxes).any(-1) & (self.objects.there > 0)).any()):
            raise UserError("soft relations are read off boxes, and an object has none")
        boxes = xp.nan_to_num(boxes)
        scale = make_like(boxes, [new / old for new, old in zip(PIXELS, self.posterior.size, strict=True)])
        centres = (boxes[:, :, :2] + boxes[:, :, 2:] / 2) * scale
        found = []
        for name in named:
            axis, sign = SIDES[name]
            ahead = sign * (centres[:, None, :, axis] - centres[:, :, None, axis])
            found.append(to_real(1 / (1 + xp.exp(-rules.b * (ahead + rules.a))), others) * others)
        return xp.stack([*found, *resting], 1).reshape(-1, self.objects.width)


class SoftThings:
    """The objects, or the parts, as a group of programs sees them, each in its own scene."""

    def __init__(self, tables: SoftThingTables, scene: Array, rules: SoftRules) -> None:
        self.tables, self.scene, self.rules, self.xp = tables, scene, rules, tables.xp

    def term_probability(self, term: Array) -> Array:
        """[program, thing] probability that the thing has the value, or a value of that kind."""
        return self.tables.term_probabilities[self.scene * len(self.tables.terms.names) + term]

    def term_probability_of(self, one: SoftReference, term: Array) -> Array:
        """[program] the same for one thing each."""
        return self.tables.term_probabilities[self.scene * len(self.tables.terms.names) + term, one.index]

    def most_likely_value(self, one: SoftReference, attribute: Array) -> SoftValue:
        """The likeliest value of one thing each, with its own probability."""
        row = self.scene * len(self.tables.terms.attributes) + attribute
        codes, probabilities = self.tables.most_likely
        return SoftValue(codes[row, one.index], probabilities[row, one.index])

    def similarity(self, one: SoftReference, attribute: Array) -> Array:
        """[program, thing] cosine similarity to one thing each."""
        row = self.scene * len(self.tables.terms.attributes) + attribute
        return self.tables.similarity[row * self.tables.width + one.index]

    def referent_factor(self, one: SoftReference) -> Array:
        """[program, 1] what to multiply with after one was found."""
        return one.probability[:, None] if self.rules.referent else 1.0


class SoftWorld:
    """The scenes as a group of programs sees them."""

    def __init__(self, tables: SoftSceneTables, scene: Array) -> None:
        self.tables, self.scene, self.rules = tables, scene, tables.rules
        self.objects = SoftThings(tables.objects, scene, tables.rules)
        self.parts = SoftThings(tables.parts, scene, tables.rules)
        self.xp = tables.objects.xp

    @property
    def everything(self) -> Array:
        """[program, object] 1 for what is detected."""
        return self.tables.objects.there[self.scene]

    def relation_probability(self, one: SoftReference, relation: Array) -> Array:
        """[program, object] how surely each stands in the relation to the one."""
        row = self.scene * len(self.tables.relations) + relation
        return self.tables.relation_probabilities[row * self.tables.objects.width + one.index]

    def pairwise_relation_probability(self, relation: Array) -> Array:
        """[program, first, second] how surely the second stands in the relation to the first."""
        width = self.tables.objects.width
        row = self.scene * len(self.tables.relations) + relation
        return self.tables.relation_probabilities.reshape(-1, width, width)[row]
