"""Proposals: an action of each type that may be possible on a scene, or None; and how it refers to objects.

`second` means that another action came before: then objects are pointed out by what they are, not by where
they stand, because the place that the first action gave something is left open. So are those of the first of
two actions (`hops`), and all but one of an action, to keep the text short.
"""

from functools import cache, cached_property, reduce
from operator import or_

from ...rng import RandomChoices
from ...schemas.clevr import SCHEMA
from .action import ATTRIBUTES, IN_PLANE, ON, SUBSETS, HypotheticalAction, NewObject, ObjectReference, Pairs
from .scene_arrays import COLUMN, FRESH, TERMS, SceneArrays

Proposal = HypotheticalAction | None
_PAIR = {code: pair for pair, code in TERMS.code.items()}
_COLUMNS = tuple(COLUMN[a] for a in ATTRIBUTES)


class ReferableScene:
    def __init__(self, stage: SceneArrays) -> None:
        self.stage = stage
        self.size = stage.n
        self.everything = (1 << self.size) - 1
        self._masks: list[int] = stage.sets[: len(TERMS.names)].tolist()  # by code
        codes = stage.codes[: self.size].tolist()
        # In the order of words.
        self._codes: list[tuple[int, ...]] = [tuple([row[c] for c in _COLUMNS]) for row in codes]
        self._names: dict[int, list[Pairs]] = {}
        self._rows: dict[str, list[int]] = {}

    def get_value(self, i: int, attribute: str) -> str:
        return TERMS.names[self._codes[i][ATTRIBUTES.index(attribute)]]

    def list_pairs(self, i: int, attributes: tuple[str, ...] = ATTRIBUTES) -> Pairs:
        """What the object is, as far as these attributes go."""
        return _select_pairs(self._codes[i], attributes)

    def find_matching(self, pairs: Pairs) -> int:
        """The objects that all of this is true of."""
        found = self.everything
        for pair in pairs:
            found &= self._masks[TERMS.code[pair]]
        return found

    def list_unique_descriptions(self, i: int) -> list[Pairs]:
        """Every description, short or long, that is true of this object alone."""
        if i not in self._names:
            own = [self._masks[code] for code in self._codes[i]]
            fits = [self.everything]  # by the attributes used, as bits
            for mask in own:
                fits += [found & mask for found in fits]
            alone = 1 << i
            self._names[i] = [self.list_pairs(i, SUBSETS[bits - 1]) for bits in range(1, 16) if fits[bits] == alone]
        return self._names[i]

    @cached_property
    def nameable(self) -> int:
        """The objects that some description is true of alone."""
        masks, found = self._masks, 0
        for i, (a, b, c, d) in enumerate(self._codes):
            if masks[a] & masks[b] & masks[c] & masks[d] == 1 << i:
                found |= 1 << i
        return found

    def relation_rows(self, relation: str) -> list[int]:
        """Which objects are in that relation to each."""
        if relation not in self._rows:
            self._rows[relation] = self.stage.relation_rows(relation)
        return self._rows[relation]

    @cached_property
    def touched_objects(self) -> int:
        """The objects that an action before put, changed or moved."""
        return sum([1 << i for i, new in enumerate(self.stage.body[: self.size, FRESH].tolist()) if new])

    @cached_property
    def carried_objects(self) -> int:
        return reduce(or_, self.relation_rows("on"), 0)

    @cached_property
    def carriers(self) -> int:
        return sum(1 << i for i, row in enumerate(self.relation_rows("on")) if row)


@cache
def _select_pairs(codes: tuple[int, ...], attributes: tuple[str, ...]) -> Pairs:
    return tuple([_PAIR[codes[ATTRIBUTES.index(a)]] for a in attributes])


# Referring: one of the ways, short or long, to point out an object or all objects of a description.

RELATED = 6  # one in so many is pointed out by a relation, where that is possible
TRIES = 8
SEVERAL = 4  # one in so many changes is of several attributes at once
COPIED = {1: 3, 2: 4}  # by hops, one in so many proposed additions is a copy of an object, which fits less often
SWAPPED = {1: 8, 2: 3}  # and one in so many proposed moves in plane is of two that trade places, which fits more often
SHORT = tuple(s for s in SUBSETS if len(s) < 3)


def refer_to(view: ReferableScene, i: int, dice: RandomChoices, *, plain: bool = False) -> ObjectReference | None:
    """One of the ways to point out an object; None where there is none.

    `plain` keeps to what is true of the object itself, wherever things stand, and to few words.
    """
    names = view.list_unique_descriptions(i)
    if not plain and (not names or dice.happens_one_in(RELATED)):
        related = _refer_by_relation(view, i, dice)
        if related is not None:
            return related
    if not names:
        return None
    return ObjectReference(min([dice.pick(names) for _ in range(3 if plain else 1)], key=len), 1 << i)


def list_references(action: HypotheticalAction) -> list[ObjectReference]:
    """All that an action's text speaks of, but what is new."""
    refs = [action.subject, action.anchor, action.new.source if action.new else None]
    return [ref for top in refs if top for ref in (top, top.anchor) if ref]


def names_apart(view: ReferableScene, action: HypotheticalAction) -> bool:
    """Whether no object is spoken of twice, nor described by words that are true of another one spoken of.

    What is pointed out by a relation to an object may be called what that one is: the ball behind the red ball.
    """
    refs = list_references(action)
    for i, ref in enumerate(refs):
        fits = ref.mask if ref.anchor is None else view.find_matching(ref.pairs)
        for j, other in enumerate(refs):
            if i != j and other.mask & (ref.mask if other is ref.anchor else fits):
                return False
    return True


def refer_to_one(
    view: ReferableScene, among: int, dice: RandomChoices, *, plain: bool = False
) -> ObjectReference | None:
    """A way to point out a random one of these objects; every other time one that was acted on before."""
    if among & view.touched_objects and dice.happens_one_in(2):
        among &= view.touched_objects
    return refer_to(view, dice.pick_member(among), dice, plain=plain) if among else None


def refer_to_many(view: ReferableScene, dice: RandomChoices, *, plain: bool = False) -> ObjectReference | None:
    """All objects of some description, at least two and not everything there is."""
    pairs = view.list_pairs(dice.draw_below(view.size), dice.pick(SHORT))
    fits = view.find_matching(pairs)
    if fits.bit_count() < 2:
        return None
    if not plain and dice.happens_one_in(RELATED):
        anchor = refer_to_one(view, view.nameable & ~fits, dice, plain=True)
        if anchor is None:
            return None
        relation = dice.pick(IN_PLANE)
        near = fits & view.relation_rows(relation)[anchor.index]
        if near.bit_count() < 2 or near == fits:
            return None
        return ObjectReference(pairs, near, relation, anchor, many=True)
    return None if fits == view.everything else ObjectReference(pairs, fits, many=True)


def _refer_by_relation(view: ReferableScene, i: int, dice: RandomChoices) -> ObjectReference | None:
    """A description by a relation to another object, where its own words do not do by themselves."""
    others = view.nameable & ~(1 << i)
    if not others:
        return None
    for _ in range(TRIES):
        pairs = view.list_pairs(i, dice.pick(SUBSETS))
        relation, anchor = dice.pick(IN_PLANE), dice.pick_member(others)
        fits = view.find_matching(pairs)
        if fits != 1 << i and fits & view.relation_rows(relation)[anchor] == 1 << i:
            other = ObjectReference(dice.pick(view.list_unique_descriptions(anchor)), 1 << anchor)
            return ObjectReference(pairs, 1 << i, relation, other)
    return None


def propose_add(view: ReferableScene, dice: RandomChoices, second: bool = False, hops: int = 1) -> Proposal:
    """A new object; its values are even, each on its own."""
    inherits = hops == 1 and dice.happens_one_in(3)
    anchor = refer_to_one(view, view.everything & ~view.carried_objects, dice, plain=second or hops > 1 or inherits)
    if anchor is None:
        return None
    relation = dice.pick(IN_PLANE)
    if dice.happens_one_in(COPIED[hops]):
        source = refer_to_one(view, view.nameable & ~anchor.mask, dice, plain=True)
        if source is None:
            return None
        new = NewObject(view.list_pairs(source.index), source)
        return HypotheticalAction("add", "add_beside", anchor=anchor, relation=relation, new=new)
    made = _propose_new_object(view, dice, anchor, inherits=inherits)
    if made is None:
        return None
    if dice.happens_one_in(3 if hops == 1 else 2):
        return HypotheticalAction("add", "add", new=made)
    if _describes(anchor, made.pairs):
        return None
    return HypotheticalAction("add", "add_beside", anchor=anchor, relation=relation, new=made)


def _propose_new_object(
    view: ReferableScene, dice: RandomChoices, anchor: ObjectReference, *, inherits: bool
) -> NewObject | None:
    pairs = tuple((a, dice.pick(SCHEMA.attribute(a).values)) for a in ATTRIBUTES)
    if not inherits:
        return NewObject(pairs)
    source = refer_to_one(view, view.nameable & ~anchor.mask, dice, plain=True)
    if source is None:
        return None
    attribute = dice.pick(ATTRIBUTES)
    if attribute in dict(source.pairs) or _describes(source, pairs):  # "the size of the large cube" tells what it is
        return None
    value = view.get_value(source.index, attribute)
    return NewObject(tuple((a, value if a == attribute else v) for a, v in pairs), source, attribute)


def _describes(ref: ObjectReference, pairs: Pairs) -> bool:
    """Whether the words for an object that is there would be true of the new one as well."""
    return set(ref.pairs) <= set(pairs)


def propose_remove(view: ReferableScene, dice: RandomChoices, second: bool = False, hops: int = 1) -> Proposal:
    """One object or several; one that carries another stays, and so does one that was just acted on."""
    if dice.happens_one_in(2):
        subject = refer_to_many(view, dice, plain=second or hops > 1)
    else:
        subject = refer_to_one(
            view, view.everything & ~view.carriers & ~view.touched_objects, dice, plain=second or hops > 1
        )
    return HypotheticalAction("remove", "remove", subject) if subject else None


def propose_change(view: ReferableScene, dice: RandomChoices, second: bool = False, hops: int = 1) -> Proposal:
    """One attribute, or two or three at once; none of those changed had any of the values before."""
    if dice.happens_one_in(2):
        subject = refer_to_many(view, dice, plain=second or hops > 1)
    else:
        subject = refer_to_one(view, view.everything, dice, plain=second or hops > 1)
    if subject is None:
        return None
    count = 2 + dice.draw_below(2) if dice.happens_one_in(SEVERAL) else 1
    chosen = dice.shuffle(ATTRIBUTES)[:count]
    changes = tuple((a, dice.pick(SCHEMA.attribute(a).values)) for a in ATTRIBUTES if a in chosen)
    if any(subject.mask & view.find_matching((pair,)) for pair in changes):
        return None
    return HypotheticalAction("change", "change", subject, changes=changes)


def propose_move_in_plane(view: ReferableScene, dice: RandomChoices, second: bool = False, hops: int = 1) -> Proposal:
    """A relation that was not true before."""
    subject = refer_to_one(view, view.everything & ~view.carriers, dice, plain=second or hops > 1)
    if subject is None:
        return None
    others = view.everything & ~subject.mask & ~view.carried_objects
    if dice.happens_one_in(SWAPPED[hops]):
        other = refer_to_one(view, others & ~view.carriers, dice, plain=True)
        if other is None or subject.mask & view.carried_objects or subject.anchor is not None:
            return None
        return HypotheticalAction("move_in_plane", "swap", subject, other)
    anchor = refer_to_one(view, others, dice, plain=second or hops > 1 or subject.anchor is not None)
    relation = dice.pick(IN_PLANE)
    if anchor is None or view.relation_rows(relation)[anchor.index] & subject.mask:
        return None
    return HypotheticalAction("move_in_plane", "move", subject, anchor, relation)


def propose_move_on_top(view: ReferableScene, dice: RandomChoices, second: bool = False, hops: int = 1) -> Proposal:
    """Neither carries anything yet, and what is stood on is on the ground."""
    subject = refer_to_one(view, view.everything & ~view.carriers, dice, plain=second or hops > 1)
    if subject is None:
        return None
    free = view.everything & ~view.carriers & ~view.carried_objects & ~subject.mask
    anchor = refer_to_one(view, free, dice, plain=second or hops > 1 or subject.anchor is not None)
    return HypotheticalAction("move_on_top", "move", subject, anchor, ON) if anchor else None


PROPOSERS = {
    "add": propose_add,
    "remove": propose_remove,
    "change": propose_change,
    "move_in_plane": propose_move_in_plane,
    "move_on_top": propose_move_on_top,
}
