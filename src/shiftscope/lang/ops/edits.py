"""Edits: the scene as it would be after an action (CLEVR_HYP, Table 4).

Each gives all objects of the scene after the action, so a question about it simply starts there:
`count(filter(change(filter(scene(), shape=sphere), color=red), color=red))`. The first input of add, remove
and move says which state of the scene is edited.
"""

from ...edit import AddObject, ChangeAttributes, Edit, MoveObject, RemoveObjects, SwapObjects
from ...scene import Object, mask_members
from ..execution_world import ExecutionWorld
from ..op import OBJECT, OBJECTS, THING, IllFounded, op


@op((THING,), pairs=True)
def thing(world: ExecutionWorld, *words: str) -> Object:
    """A description of an object that need not be there."""
    return Object(tuple(zip(words[::2], words[1::2], strict=True)))


@op((OBJECT, THING))
def copy(world: ExecutionWorld, one: int) -> Object:
    """A description of an object just like one that is there."""
    at = _get_index(one)
    return Object([o for scene in world.scenes for o in scene.objects][at].attributes)


@op((THING, OBJECT, THING), params=("attribute",))
def inherit(world: ExecutionWorld, new: Object, one: int, attribute: str) -> Object:
    """The description with one attribute as it is on an object that is there."""
    value = world.objects.value(_get_index(one), attribute)
    if value is None:
        raise IllFounded("missing attribute", new)
    known = dict(new.attributes) | {attribute: value}
    names = [a.name for a in world.scenes[0].schema.attributes]
    listed = sorted(known, key=lambda name: names.index(name) if name in names else len(names))
    return Object(tuple((name, known[name]) for name in listed))


@op((OBJECTS, THING, OBJECTS), edits=True)
def add(world: ExecutionWorld, among: int, new: Object) -> Edit:
    """The scene with a new object in a free place."""
    return AddObject(new)


@op((OBJECTS, THING, OBJECT, OBJECTS), params=("relation",), edits=True)
def add_beside(world: ExecutionWorld, among: int, new: Object, anchor: int, relation: str) -> Edit:
    """The scene with a new object placed in a relation to one that is there (`on` puts it on top)."""
    return AddObject(new, relation, _get_index(anchor))


@op((OBJECTS, OBJECTS, OBJECTS), edits=True)
def remove(world: ExecutionWorld, among: int, gone: int) -> Edit:
    """The scene without these objects."""
    return RemoveObjects(tuple(mask_members(gone)))


@op((OBJECTS, OBJECTS), pairs=True, edits=True)
def change(world: ExecutionWorld, among: int, *words: str) -> Edit:
    """The scene with other values of one attribute or more for these objects."""
    changes = tuple(zip(words[::2], words[1::2], strict=True))
    if len(dict(changes)) < len(changes):
        raise IllFounded("attribute named twice", None)
    return ChangeAttributes(tuple(mask_members(among)), changes)


@op((OBJECTS, OBJECT, OBJECT, OBJECTS), params=("relation",), edits=True)
def move(world: ExecutionWorld, among: int, mover: int, anchor: int, relation: str) -> Edit:
    """The scene with an object moved into a relation to another (`on` puts it on top)."""
    return MoveObject(_get_index(mover), relation, _get_index(anchor))


@op((OBJECTS, OBJECT, OBJECT, OBJECTS), edits=True)
def swap(world: ExecutionWorld, among: int, one: int, other: int) -> Edit:
    """The scene with two objects in each other's place."""
    return SwapObjects(_get_index(one), _get_index(other))


def _get_index(one: int) -> int:
    """Where the object stands in the scene; a missing one cannot be acted on."""
    if not one:
        raise IllFounded("none found", None)
    return one.bit_length() - 1
