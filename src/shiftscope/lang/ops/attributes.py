"""Attributes of one object or part: read them, test them, choose between them, compare them."""

from ...bits import members
from ...scene import FREE
from ..arrays import Array, integer
from ..op import PAIR, IllFounded, op
from ..soft_world import Known, One, SoftThings
from ..types import BOOL, INT, OBJECT, OBJECTS, PART, VALUE, Type
from ..world import Things, World

# What a comparative looks at: (values that make it true, values that speak against it).
COMPARATIVES = {
    "older": (("old",), ("young", "little")),
    "younger": (("young", "little"), ("old",)),
    "taller": (("tall",), ("short",)),
    "shorter": (("short",), ("tall",)),
    "larger": (("large", "huge", "giant"), ("small", "little", "tiny")),
    "smaller": (("small", "little", "tiny"), ("large", "huge", "giant")),
    "longer": (("long",), ("short",)),
    "higher": (("high",), ("low",)),
    "lower": (("low",), ("high",)),
    "healthier": (("healthy",), ("unhealthy",)),
    "less healthy": (("unhealthy",), ("healthy",)),
}

NOT_IN_COMMON = ("name", "hposition", "vposition")  # what a thing is and where it stands, not how it is


@op((OBJECT, VALUE), (PART, VALUE), params=("attribute",))
def query(things: Things, one: int, attribute: str) -> str | None:
    """The value of its attribute; ill-founded when it has none, or more than one."""
    if not one:
        return None
    value = things.value(one.bit_length() - 1, attribute)
    if value is None:
        found = things.values(one.bit_length() - 1, attribute)
        if found:
            raise IllFounded("several values", found[0], f"{attribute} is {' and '.join(found)}")
        raise IllFounded("missing attribute", None, f"it has no {attribute}")
    return value


@query.softly
def _query(things: SoftThings, one: One, attribute: Array) -> Known:
    """Ours: the likeliest value of the one; believed as the one, times the value's probability."""
    best = things.best_of(one, attribute)
    return Known(best.value, one.belief * best.belief)


@op((VALUE, VALUE, BOOL), (INT, INT, BOOL), (OBJECT, OBJECT, BOOL), (PART, PART, BOOL))
def equal(things: Things, left: str | int | None, right: str | int | None) -> bool:
    """Whether two values of one attribute, two numbers, two objects or two parts are the same."""
    return left is not None and left == right


@equal.softly
def _equal(things: SoftThings, left: Known | One, right: Known | One) -> Known:
    """Ours: whether the likeliest values, the counts or the things found are the same."""
    return Known(integer(left[0] == right[0]), left.belief * right.belief)


@op((OBJECT, BOOL), (PART, BOOL), params=PAIR)
def verify(things: Things, one: int, attribute: str, value: str) -> bool:
    """Whether it has the value, or a value of that kind."""
    return bool(one & things.mask(attribute, value))


@verify.softly
def _verify(things: SoftThings, one: One, term: Array) -> Known:
    """Ours: whether the one has it more likely than not."""
    p = things.holds_of(one, term)
    return Known(integer(p > 0.5), one.belief * things.xp.where(p > 0.5, p, 1 - p))


@op((OBJECT, VALUE), (PART, VALUE), params=("attribute", "this", "that"))
def choose(things: Things, one: int, attribute: str, this: str, that: str) -> str | None:
    """Which of two values it has; ill-founded when both or neither."""
    if not one:
        return None
    has_this = bool(one & things.mask(attribute, this))
    has_that = bool(one & things.mask(attribute, that))
    if has_this != has_that:
        return this if has_this else that
    reason = "both choices hold" if has_this else "neither choice holds"
    raise IllFounded(reason, this if has_this else None, f"{this} or {that}")


@choose.softly
def _choose(things: SoftThings, one: One, this: Array, that: Array) -> Known:
    """Ours: the likelier of the two; believed as its share of both."""
    p, q = things.holds_of(one, this), things.holds_of(one, that)
    both = things.xp.where(p + q > 0, p + q, 1.0)
    return Known(things.xp.where(p >= q, this, that), one.belief * things.xp.where(p >= q, p, q) / both)


@op((OBJECT, OBJECTS, Type("Value", "relation")), params=("this", "that", "role"), defaults=("subject",))
def choose_relation(world: World, one: int, others: int, this: str, that: str, role: str) -> str | None:
    """Which of two relations holds between the one and any of the others.

    With role `subject` the others are the relation's subjects: "is the giraffe left or right of the one?"
    """
    if not one:
        return None
    holds = []
    for relation in (this, that):
        rows = world.rows(relation) if role == "subject" else world.targets(relation)
        holds.append(rows is not None and bool(rows[one.bit_length() - 1] & others))
    if holds[0] != holds[1]:
        return this if holds[0] else that
    reason = "both choices hold" if holds[0] else "neither choice holds"
    raise IllFounded(reason, this if holds[0] else None, f"{this} or {that}")


@op((OBJECT, OBJECT, Type("Value", "name")), params=("comparative",))
def choose_more(things: Things, first: int, second: int, comparative: str) -> str | None:
    """The name of the object that is older, taller, larger, …; ill-founded if the scene does not say."""
    if not first or not second:
        return None
    if comparative not in COMPARATIVES:
        raise IllFounded("unknown comparative", None, comparative)
    for_it, against_it = COMPARATIVES[comparative]

    def degree(one: int) -> int:
        found = sum(bool(one & things.mask(FREE, v)) for v in for_it)
        return found - sum(bool(one & things.mask(FREE, v)) for v in against_it)

    if degree(first) == degree(second):
        raise IllFounded("neither choice holds", None, f"the scene does not say which is {comparative}")
    more = first if degree(first) > degree(second) else second
    return things.value(more.bit_length() - 1, "name")


@op((OBJECTS, OBJECTS, BOOL), params=("attribute",))
def alike(things: Things, left: int, right: int, attribute: str) -> bool:
    """Whether all objects of both sets share a value of the attribute."""
    return bool(_shared(things, left | right, attribute, False))


@op((OBJECTS, OBJECTS, BOOL), params=("attribute",))
def differ(things: Things, left: int, right: int, attribute: str) -> bool:
    """Whether the objects of both sets do not all share a value of the attribute."""
    return not _shared(things, left | right, attribute, False)


@op((OBJECTS, OBJECTS, Type("Value", "attribute")))
def common(things: Things, left: int, right: int) -> str:
    """The name of the one attribute whose value all objects of both sets share."""
    names = [a.name for a in things.schema.attributes if a.name not in NOT_IN_COMMON]
    shared = [name for name in names if _shared(things, left | right, name, None)]
    if len(shared) == 1:
        return shared[0]
    reason = "several in common" if shared else "nothing in common"
    raise IllFounded(reason, shared[0] if shared else None, ", ".join(shared))


def _shared(things: Things, among: int, attribute: str, default: bool | None) -> set[str]:
    """The values of the attribute that every one of them has."""
    values = [set(things.values(i, attribute)) for i in members(among)]
    if not values:
        raise IllFounded("none found", default)
    return set.intersection(*values)
