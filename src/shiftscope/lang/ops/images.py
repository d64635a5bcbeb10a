"""Several images: which images, objects grouped by image, and quantifiers over a sub-program.

What a quantifier's sub-program says without `it()` is worked out once, before, even if there are no objects.
"""

from collections.abc import Iterable

from ...scene import FREE
from ..execution_world import ExecutionWorld
from ..op import BOOL, GROUPS, IMAGES, OBJECT, OBJECTS, PAIR, VALUE, IllFounded, choose_either, op

SIZE_TESTS = {
    "equal": int.__eq__,
    "at_least": int.__ge__,
    "at_most": int.__le__,
    "less": int.__lt__,
    "greater": int.__gt__,
}


@op((OBJECTS, IMAGES))
def images(world: ExecutionWorld, among: int) -> int:
    """The images these objects are in, each once."""
    return _mask_nonempty(mask & among for mask in world.image_masks)


@op((OBJECTS, GROUPS))
def group(world: ExecutionWorld, among: int) -> tuple[int, ...]:
    """These objects, grouped by the image they are in."""
    return tuple(mask & among for mask in world.image_masks)


@op((GROUPS, GROUPS), params=("test", "number"))
def keep(world: ExecutionWorld, groups: tuple[int, ...], test: str, number: str) -> tuple[int, ...]:
    """The groups whose size passes the test: equal, at_least, at_most, less or greater."""
    size = int(number)
    return tuple(g if g and SIZE_TESTS[test](g.bit_count(), size) else 0 for g in groups)


@op((GROUPS, IMAGES))
def keys(world: ExecutionWorld, groups: tuple[int, ...]) -> int:
    """The images that the groups belong to."""
    return _mask_nonempty(groups)


@op((VALUE,), params=("attribute",))
def query_image(world: ExecutionWorld, attribute: str) -> str | None:
    """What is said of the whole image: its place, its weather."""
    found = [v for scene in world.scenes for a, v in scene.attributes if a == attribute]
    if len(found) == 1:
        return found[0]
    reason = "several values" if found else "missing attribute"
    raise IllFounded(reason, found[0] if found else None, f"{attribute} of the image")


@op((BOOL,), params=PAIR)
def verify_image(world: ExecutionWorld, attribute: str, value: str) -> bool:
    """Whether the whole image is so: its weather rainy, its location outdoors."""
    return any(v == value and attribute in (a, FREE) for scene in world.scenes for a, v in scene.attributes)


@op((VALUE,), params=("attribute", "this", "that"))
def choose_image(world: ExecutionWorld, attribute: str, this: str, that: str) -> str:
    """Which of two values the whole image has; ill-founded when both or neither."""
    return choose_either(this, that, *(verify_image.exact(world, attribute, value) for value in (this, that)))


@op((OBJECT,))
def it(world: ExecutionWorld) -> int:
    """The object under consideration, inside all, some or none."""
    raise AssertionError("bound by the quantifier")


@op((OBJECTS, BOOL, BOOL), body=1)
def all_(world: ExecutionWorld, among: int, each: tuple[bool, ...]) -> bool:
    """Whether the sub-program is true for every one of the objects."""
    return all(each)


@op((OBJECTS, BOOL, BOOL), body=1)
def some(world: ExecutionWorld, among: int, each: tuple[bool, ...]) -> bool:
    """Whether the sub-program is true for any of the objects."""
    return any(each)


@op((OBJECTS, BOOL, BOOL), body=1)
def none(world: ExecutionWorld, among: int, each: tuple[bool, ...]) -> bool:
    """Whether the sub-program is true for none of the objects."""
    return not any(each)


def _mask_nonempty(masks: Iterable[int]) -> int:
    found = 0
    for i, mask in enumerate(masks):
        if mask:
            found |= 1 << i
    return found
