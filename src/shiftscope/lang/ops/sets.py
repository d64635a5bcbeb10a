"""Sets of objects or parts: all of them, those of a kind, those in a relation, the single one."""

from ...bits import members
from ..op import PAIR, IllFounded, op
from ..types import IMAGES, OBJECT, OBJECTS, PART, PARTS
from ..world import Things, World


@op((OBJECTS,))
def scene(world: World) -> int:
    """All objects, of every image."""
    return world.objects.everything


@op((OBJECTS,), params=("name",))
def find(world: World, name: str) -> int:
    """The objects of that name or kind, in every image."""
    return world.objects.mask("name", name)


@op((OBJECTS, OBJECTS), (PARTS, PARTS), params=PAIR)
def filter(things: Things, among: int, attribute: str, value: str) -> int:
    """Those whose attribute has the value, or a value of that kind."""
    return among & things.mask(attribute, value)


@op((OBJECTS, OBJECTS), (PARTS, PARTS), params=PAIR)
def exclude(things: Things, among: int, attribute: str, value: str) -> int:
    """Those whose attribute does not have the value."""
    return among & ~things.mask(attribute, value)


@op((OBJECTS, OBJECT), (PARTS, PART))
def unique(things: Things, among: int) -> int:
    """The only one; ill-founded on none or several."""
    if among and not among & (among - 1):
        return among
    if not among:
        raise IllFounded("none found", 0)
    raise IllFounded("several found", among & -among, f"{among.bit_count()} match")


@op((OBJECT, OBJECTS), params=("relation",))
def relate(world: World, one: int, relation: str) -> int:
    """The objects in that relation to the one given: those left *of it*."""
    rows = world.rows(relation)
    if rows is None:
        raise IllFounded("unknown relation", 0, f"the scene has no relation {relation!r}")
    return rows[one.bit_length() - 1] if one else 0


@op((OBJECTS, OBJECTS), params=("relation", "role"), defaults=("subject",))
def related(world: World, to: int, relation: str, role: str) -> int:
    """The subjects (or, with role `object`, the objects) of that relation to any of those given.

    A relation that a scene graph never mentions holds of nothing there.
    """
    rows = world.rows(relation) if role == "subject" else world.targets(relation)
    found = 0
    if rows is not None:
        for i in members(to):
            found |= rows[i]
    return found


@op((OBJECT, OBJECTS), (PART, PARTS), params=("attribute",))
def same(things: Things, one: int, attribute: str) -> int:
    """The others that share the one's value of the attribute; never the one itself."""
    found = 0
    if one:
        for value in things.values(one.bit_length() - 1, attribute):
            found |= things.mask(attribute, value)
    return found & ~one


@op((OBJECTS, OBJECTS, OBJECTS), (PARTS, PARTS, PARTS), (IMAGES, IMAGES, IMAGES))
def intersect(things: Things, left: int, right: int) -> int:
    """What is in both sets."""
    return left & right


@op((OBJECTS, OBJECTS, OBJECTS), (PARTS, PARTS, PARTS), (IMAGES, IMAGES, IMAGES))
def union(things: Things, left: int, right: int) -> int:
    """What is in either set."""
    return left | right
