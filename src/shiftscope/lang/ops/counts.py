"""Numbers and truth: how many, is there any, comparisons, and, or, not."""

from typing import Any

from ..arrays import Array, integer
from ..op import op
from ..soft_world import Known, SoftWorld
from ..types import BOOL, GROUPS, IMAGES, INT, OBJECTS, PARTS
from ..world import World


@op((INT,), params=("number",))
def number(world: World, number: str) -> int:
    """A number as written; a plain `2` in the text notation."""
    return int(number)


@number.softly
def _number(world: SoftWorld, number: Array) -> Known:
    """As written, and certain."""
    return Known(number, world.certain)


@op((OBJECTS, INT), (PARTS, INT), (IMAGES, INT), (GROUPS, INT))
def count(world: World, among: Any) -> int:
    """How many there are."""
    if isinstance(among, tuple):
        return sum(1 for group in among if group)
    return int(among.bit_count())


@count.softly
def _count(world: SoftWorld, among: Array) -> Known:
    """How many have p above 0.7 (`Rules.threshold`). Ours: believed as each being in, or out, at once."""
    counted = among > world.rules.threshold
    return Known(integer(counted).sum(1), world.xp.prod(world.xp.where(counted, among, 1 - among), 1))


@op((OBJECTS, BOOL), (PARTS, BOOL), (IMAGES, BOOL), (GROUPS, BOOL))
def exist(world: World, among: Any) -> bool:
    """Whether there is any."""
    return any(among) if isinstance(among, tuple) else among != 0


@exist.softly
def _exist(world: SoftWorld, among: Array) -> Known:
    """Whether any has p above 0.7 (`Rules.threshold`). Ours: believed by the chance that any is there."""
    found = (among > world.rules.threshold).any(1)
    none = world.xp.prod(1 - among, 1)
    return Known(integer(found), world.xp.where(found, 1 - none, none))


@op((INT, INT, BOOL))
def less(world: World, left: int, right: int) -> bool:
    """Whether the first number is smaller."""
    return left < right


@less.softly
def _less(world: SoftWorld, left: Known, right: Known) -> Known:
    """Ours: on the thresholded counts."""
    return Known(integer(left.value < right.value), left.belief * right.belief)


@op((INT, INT, BOOL))
def greater(world: World, left: int, right: int) -> bool:
    """Whether the first number is larger."""
    return left > right


@greater.softly
def _greater(world: SoftWorld, left: Known, right: Known) -> Known:
    """Ours: on the thresholded counts."""
    return Known(integer(left.value > right.value), left.belief * right.belief)


@op((INT, INT, BOOL))
def at_least(world: World, left: int, right: int) -> bool:
    """Whether the first number is as large as the second, or larger."""
    return left >= right


@at_least.softly
def _at_least(world: SoftWorld, left: Known, right: Known) -> Known:
    """Ours: on the thresholded counts."""
    return Known(integer(left.value >= right.value), left.belief * right.belief)


@op((INT, INT, BOOL))
def at_most(world: World, left: int, right: int) -> bool:
    """Whether the first number is as small as the second, or smaller."""
    return left <= right


@at_most.softly
def _at_most(world: SoftWorld, left: Known, right: Known) -> Known:
    """Ours: on the thresholded counts."""
    return Known(integer(left.value <= right.value), left.belief * right.belief)


@op((BOOL, BOOL, BOOL))
def and_(world: World, left: bool, right: bool) -> bool:
    """Whether both are true."""
    return left and right


@and_.softly
def _and(world: SoftWorld, left: Known, right: Known) -> Known:
    """Ours: on the truths found."""
    return Known(left.value & right.value, left.belief * right.belief)


@op((BOOL, BOOL, BOOL))
def or_(world: World, left: bool, right: bool) -> bool:
    """Whether at least one is true."""
    return left or right


@or_.softly
def _or(world: SoftWorld, left: Known, right: Known) -> Known:
    """Ours: on the truths found."""
    return Known(left.value | right.value, left.belief * right.belief)


@op((BOOL, BOOL))
def not_(world: World, value: bool) -> bool:
    """Whether it is false."""
    return not value


@not_.softly
def _not(world: SoftWorld, value: Known) -> Known:
    """Ours: of the truth found, as far believed."""
    return Known(1 - value.value, value.belief)
