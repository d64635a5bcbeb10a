"""Numbers and truth: how many, is there any, comparisons, and, or, not."""

from typing import Any

from ..arrays import Array, to_integer
from ..execution_world import ExecutionWorld, SoftValue, SoftWorld
from ..op import BOOL, GROUPS, IMAGES, INT, OBJECTS, PARTS, Op, op


@op((INT,), params=("number",))
def number(world: ExecutionWorld, number: str) -> int:
    """A number as written; a plain `2` in the text notation."""
    return int(number)


@number.define_soft
def _number(world: SoftWorld, number: Array) -> SoftValue:
    """As written, and certain."""
    return SoftValue(number, world.xp.ones_like(number, dtype=world.tables.objects.there.dtype))


@op((OBJECTS, INT), (PARTS, INT), (IMAGES, INT), (GROUPS, INT))
def count(world: ExecutionWorld, among: Any) -> int:
    """How many there are."""
    if isinstance(among, tuple):
        return sum(1 for group in among if group)
    return int(among.bit_count())


@count.define_soft
def _count(world: SoftWorld, among: Array) -> SoftValue:
    """How many have p above 0.7 (`SoftRules.threshold`). Ours: confidence that each is in, or out."""
    counted = among > world.rules.threshold
    return SoftValue(to_integer(counted).sum(1), world.xp.prod(world.xp.where(counted, among, 1 - among), 1))


@op((OBJECTS, BOOL), (PARTS, BOOL), (IMAGES, BOOL), (GROUPS, BOOL))
def exist(world: ExecutionWorld, among: Any) -> bool:
    """Whether there is any."""
    return any(among) if isinstance(among, tuple) else among != 0


@exist.define_soft
def _exist(world: SoftWorld, among: Array) -> SoftValue:
    """Whether any has p above 0.7 (`SoftRules.threshold`). Ours: confidence is the probability that any is there."""
    found = (among > world.rules.threshold).any(1)
    none = world.xp.prod(1 - among, 1)
    return SoftValue(to_integer(found), world.xp.where(found, 1 - none, none))


@op((INT, INT, INT))
def plus(world: ExecutionWorld, left: int, right: int) -> int:
    """The sum of two numbers."""
    return left + right


@op((INT, INT, INT))
def minus(world: ExecutionWorld, left: int, right: int) -> int:
    """The first number less the second."""
    return left - right


@op((INT, INT, BOOL))
def less(world: ExecutionWorld, left: int, right: int) -> bool:
    """Whether the first number is smaller."""
    return left < right


@op((INT, INT, BOOL))
def greater(world: ExecutionWorld, left: int, right: int) -> bool:
    """Whether the first number is larger."""
    return left > right


@op((INT, INT, BOOL))
def at_least(world: ExecutionWorld, left: int, right: int) -> bool:
    """Whether the first number is as large as the second, or larger."""
    return left >= right


@op((INT, INT, BOOL))
def at_most(world: ExecutionWorld, left: int, right: int) -> bool:
    """Whether the first number is as small as the second, or smaller."""
    return left <= right


def _define_soft_comparison(op: Op) -> None:
    def compare(world: SoftWorld, left: SoftValue, right: SoftValue) -> SoftValue:
        """Ours: on the thresholded counts."""
        return SoftValue(to_integer(op.exact(world, left.value, right.value)), left.confidence * right.confidence)

    op.define_soft(compare)


for _comparison in (less, greater, at_least, at_most):
    _define_soft_comparison(_comparison)


@op((BOOL, BOOL, BOOL))
def and_(world: ExecutionWorld, left: bool, right: bool) -> bool:
    """Whether both are true."""
    return left and right


@and_.define_soft
def _and(world: SoftWorld, left: SoftValue, right: SoftValue) -> SoftValue:
    """Ours: on the truths found."""
    return SoftValue(left.value & right.value, left.confidence * right.confidence)


@op((BOOL, BOOL, BOOL))
def or_(world: ExecutionWorld, left: bool, right: bool) -> bool:
    """Whether at least one is true."""
    return left or right


@or_.define_soft
def _or(world: SoftWorld, left: SoftValue, right: SoftValue) -> SoftValue:
    """Ours: on the truths found."""
    return SoftValue(left.value | right.value, left.confidence * right.confidence)


@op((BOOL, BOOL))
def not_(world: ExecutionWorld, value: bool) -> bool:
    """Whether it is false."""
    return not value


@not_.define_soft
def _not(world: SoftWorld, value: SoftValue) -> SoftValue:
    """Ours: of the truth found, at its confidence."""
    return SoftValue(1 - value.value, value.confidence)
