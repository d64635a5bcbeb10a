"""Sets of objects or parts: all of them, those of a kind, those in a relation, the single one."""

from ...scene import mask_members
from ..arrays import Array
from ..execution_world import ExecutionWorld, SoftReference, SoftThings, SoftWorld, Things
from ..op import IMAGES, OBJECT, OBJECTS, PAIR, PART, PARTS, IllFounded, op


@op((OBJECTS,))
def scene(world: ExecutionWorld) -> int:
    """All objects, of every image."""
    return world.objects.everything


@scene.define_soft
def _scene(world: SoftWorld) -> Array:
    """1 for every object that is detected. Ours: that is one whose `exists` is above `SoftRules.detected`."""
    return world.everything


@op((OBJECTS,), params=("name",))
def find(world: ExecutionWorld, name: str) -> int:
    """The objects of that name or kind, in every image."""
    return world.objects.mask("name", name)


@op((OBJECTS, OBJECTS), (PARTS, PARTS), params=PAIR)
def filter(things: Things, among: int, attribute: str, value: str) -> int:
    """Those whose attribute has the value, or a value of that kind."""
    return among & things.masks[attribute, value]


@filter.define_soft
def _filter(things: SoftThings, among: Array, term: Array) -> Array:
    """Times the probability of the value; of a kind, the sum of its values'. Parts alike, which is ours."""
    return among * things.term_probability(term)


@op((OBJECTS, OBJECTS), (PARTS, PARTS), params=PAIR)
def exclude(things: Things, among: int, attribute: str, value: str) -> int:
    """Those whose attribute does not have the value."""
    return among & ~things.masks[attribute, value]


@exclude.define_soft
def _exclude(things: SoftThings, among: Array, term: Array) -> Array:
    """Ours: times the probability of another value."""
    return among * (1 - things.term_probability(term))


@op((OBJECTS, OBJECT), (PARTS, PART))
def unique(things: Things, among: int) -> int:
    """The only one; ill-founded on none or several."""
    if among and not among & (among - 1):
        return among
    if not among:
        raise IllFounded("none found", 0)
    raise IllFounded("several found", among & -among, f"{among.bit_count()} match")


@unique.define_soft
def _unique(things: SoftThings, among: Array) -> SoftReference:
    """Ours: the likeliest, however likely."""
    return SoftReference(things.xp.argmax(among, 1), things.xp.amax(among, 1))


@op((OBJECT, OBJECTS), params=("relation",))
def relate(world: ExecutionWorld, one: int, relation: str) -> int:
    """The objects in that relation to the one given: those left *of it*."""
    rows = world.rows(relation)
    if rows is None:
        raise IllFounded("unknown relation", 0, f"the scene has no relation {relation!r}")
    return rows[one.bit_length() - 1] if one else 0


@relate.define_soft
def _relate(world: SoftWorld, one: SoftReference, relation: Array) -> Array:
    """1 / (1 + exp(−b (d + a))), d pixels from the one's box centre to the other's, along the relation.

    Ours: 0 for the one itself; with `SoftRules.referent`, all times the probability of the one.
    """
    return world.relation_probability(one, relation) * world.objects.referent_factor(one)


@op((OBJECTS, OBJECTS), params=("relation", "role"), defaults=("subject",))
def related(world: ExecutionWorld, to: int, relation: str, role: str) -> int:
    """The subjects (or, with role `object`, the objects) of that relation to any of those given.

    A relation that a scene graph never mentions holds of nothing there.
    """
    rows = world.rows(relation) if role == "subject" else world.targets(relation)
    found = 0
    if rows is not None:
        for i in mask_members(to):
            found |= rows[i]
    return found


@related.define_soft
def _related(world: SoftWorld, to: Array, relation: Array, role: Array) -> Array:
    """Ours: not unrelated to all of them, each pair by the rule of relate."""
    pairs = world.pairwise_relation_probability(relation)
    pairs = world.xp.where(role[:, None, None] == 0, pairs, world.xp.swapaxes(pairs, 1, 2))
    return (1 - world.xp.prod(1 - to[:, :, None] * pairs, 1)) * world.everything


@op((OBJECT, OBJECTS), (PART, PARTS), params=("attribute",))
def same(things: Things, one: int, attribute: str) -> int:
    """The others that share the one's value of the attribute; never the one itself."""
    found = 0
    if one:
        for value in things.values(one.bit_length() - 1, attribute):
            found |= things.mask(attribute, value)
    return found & ~one


@same.define_soft
def _same(things: SoftThings, one: SoftReference, attribute: Array) -> Array:
    """Cosine similarity of the distributions. Ours: 0 for the one itself; with `SoftRules.referent`, as in relate."""
    return things.similarity(one, attribute) * things.referent_factor(one)


@op((OBJECTS, OBJECTS, OBJECTS), (PARTS, PARTS, PARTS), (IMAGES, IMAGES, IMAGES))
def intersect(things: Things, left: int, right: int) -> int:
    """What is in both sets."""
    return left & right


@intersect.define_soft
def _intersect(things: SoftThings, left: Array, right: Array) -> Array:
    """The product, thing by thing."""
    return left * right


@op((OBJECTS, OBJECTS, OBJECTS), (PARTS, PARTS, PARTS), (IMAGES, IMAGES, IMAGES))
def union(things: Things, left: int, right: int) -> int:
    """What is in either set."""
    return left | right


@union.define_soft
def _union(things: SoftThings, left: Array, right: Array) -> Array:
    """1 − (1 − p)(1 − q), thing by thing."""
    return 1 - (1 - left) * (1 - right)
