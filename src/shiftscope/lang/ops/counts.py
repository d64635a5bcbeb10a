"""Numbers and truth: how many, is there any, comparisons, and, or, not."""

from typing import Any

from ..op import op
from ..types import BOOL, GROUPS, IMAGES, INT, OBJECTS, PARTS
from ..world import World


@op((INT,), params=("number",))
def number(world: World, number: str) -> int:
    """A number as written; a plain `2` in the text notation."""
    return int(number)


@op((OBJECTS, INT), (PARTS, INT), (IMAGES, INT), (GROUPS, INT))
def count(world: World, among: Any) -> int:
    """How many there are."""
    if isinstance(among, tuple):
        return sum(1 for group in among if group)
    return int(among.bit_count())


@op((OBJECTS, BOOL), (PARTS, BOOL), (IMAGES, BOOL), (GROUPS, BOOL))
def exist(world: World, among: Any) -> bool:
    """Whether there is any."""
    return any(among) if isinstance(among, tuple) else among != 0


@op((INT, INT, BOOL))
def less(world: World, left: int, right: int) -> bool:
    """Whether the first number is smaller."""
    return left < right


@op((INT, INT, BOOL))
def greater(world: World, left: int, right: int) -> bool:
    """Whether the first number is larger."""
    return left > right


@op((INT, INT, BOOL))
def at_least(world: World, left: int, right: int) -> bool:
    """Whether the first number is as large as the second, or larger."""
    return left >= right


@op((INT, INT, BOOL))
def at_most(world: World, left: int, right: int) -> bool:
    """Whether the first number is as small as the second, or smaller."""
    return left <= right


@op((BOOL, BOOL, BOOL))
def and_(world: World, left: bool, right: bool) -> bool:
    """Whether both are true."""
    return left and right


@op((BOOL, BOOL, BOOL))
def or_(world: World, left: bool, right: bool) -> bool:
    """Whether at least one is true."""
    return left or right


@op((BOOL, BOOL))
def not_(world: World, value: bool) -> bool:
    """Whether it is false."""
    return not value
