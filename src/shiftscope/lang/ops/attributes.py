"""Attributes of one object or part: read them, test them, choose between them, compare them."""

from ...scene import FREE, mask_members
from ..arrays import Array, take_along, to_integer
from ..execution_world import ExecutionWorld, SoftReference, SoftThings, SoftValue, SoftWorld, Things
from ..op import BOOL, INT, OBJECT, OBJECTS, PAIR, PART, PARTS, VALUE, IllFounded, Type, choose_either, op

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


@query.define_soft
def _query(things: SoftThings, one: SoftReference, attribute: Array) -> SoftValue:
    """Ours: the likeliest value of the one; confidence is the one's, times the value's probability."""
    best = things.most_likely_value(one, attribute)
    return SoftValue(best.value, one.probability * best.confidence)


@op((VALUE, VALUE, BOOL), (INT, INT, BOOL), (OBJECT, OBJECT, BOOL), (PART, PART, BOOL))
def equal(things: Things, left: str | int | None, right: str | int | None) -> bool:
    """Whether two values of one attribute, two numbers, two objects or two parts are the same."""
    return left is not None and left == right


@equal.define_soft
def _equal(things: SoftThings, left: SoftValue | SoftReference, right: SoftValue | SoftReference) -> SoftValue:
    """Ours: whether the likeliest values, the counts or the things found are the same."""
    return SoftValue(to_integer(left[0] == right[0]), left[1] * right[1])


@op((OBJECT, BOOL), (PART, BOOL), params=PAIR)
def verify(things: Things, one: int, attribute: str, value: str) -> bool:
    """Whether it has the value, or a value of that kind."""
    return bool(one & things.mask(attribute, value))


@verify.define_soft
def _verify(things: SoftThings, one: SoftReference, term: Array) -> SoftValue:
    """Ours: whether the one has it more likely than not."""
    p = things.term_probability_of(one, term)
    return SoftValue(to_integer(p > 0.5), one.probability * things.xp.where(p > 0.5, p, 1 - p))


@op((OBJECT, VALUE), (PART, VALUE), params=("attribute", "this", "that"))
def choose(things: Things, one: int, attribute: str, this: str, that: str) -> str | None:
    """Which of two values it has; ill-founded when both or neither."""
    if not one:
        return None
    has_this, has_that = (bool(one & things.mask(attribute, value)) for value in (this, that))
    return choose_either(this, that, has_this, has_that)


@choose.define_soft
def _choose(things: SoftThings, one: SoftReference, this: Array, that: Array) -> SoftValue:
    """Ours: the likelier of the two; confidence is its share of both."""
    p, q = things.term_probability_of(one, this), things.term_probability_of(one, that)
    both = things.xp.where(p + q > 0, p + q, 1.0)
    return SoftValue(things.xp.where(p >= q, this, that), one.probability * things.xp.where(p >= q, p, q) / both)


@op((OBJECT, OBJECTS, Type("Value", "relation")), params=("this", "that", "role"), defaults=("subject",))
def choose_relation(world: ExecutionWorld, one: int, others: int, this: str, that: str, role: str) -> str | None:
    """Which of two relations holds between the one and any of the others.

    With role `subject` the others are the relation's subjects: "is the giraffe left or right of the one?"
    """
    if not one:
        return None
    holds = []
    for relation in (this, that):
        rows = world.rows(relation) if role == "subject" else world.targets(relation)
        holds.append(rows is not None and bool(rows[one.bit_length() - 1] & others))
    return choose_either(this, that, *holds)


@op((OBJECT, OBJECT, Type("Value", "name")), params=("comparative",))
def choose_more(things: Things, first: int, second: int, comparative: str) -> str | None:
    """The name of the object that is older, taller, larger, …; ill-founded if the scene does not say."""
    if not first or not second:
        return None
    if comparative not in COMPARATIVES:
        raise IllFounded("unknown comparative", None, comparative)
    for_it, against_it = COMPARATIVES[comparative]

    def compute_degree(one: int) -> int:
        found = sum(bool(one & things.mask(FREE, v)) for v in for_it)
        return found - sum(bool(one & things.mask(FREE, v)) for v in against_it)

    if compute_degree(first) == compute_degree(second):
        raise IllFounded("neither choice holds", None, f"the scene does not say which is {comparative}")
    more = first if compute_degree(first) > compute_degree(second) else second
    return things.value(more.bit_length() - 1, "name")


@op((OBJECTS, OBJECTS, BOOL), params=("attribute",))
def alike(things: Things, left: int, right: int, attribute: str) -> bool:
    """Whether all objects of both sets share a value of the attribute."""
    return bool(_find_shared_values(things, left | right, attribute, False))


@op((OBJECTS, OBJECTS, BOOL), params=("attribute",))
def differ(things: Things, left: int, right: int, attribute: str) -> bool:
    """Whether the objects of both sets do not all share a value of the attribute."""
    return not _find_shared_values(things, left | right, attribute, False)


@op((OBJECTS, OBJECTS, Type("Value", "attribute")))
def common(things: Things, left: int, right: int) -> str:
    """The name of the one attribute whose value all objects of both sets share."""
    names = [a.name for a in things.schema.attributes if a.name not in NOT_IN_COMMON]
    shared = [name for name in names if _find_shared_values(things, left | right, name, None)]
    if len(shared) == 1:
        return shared[0]
    reason = "several in common" if shared else "nothing in common"
    raise IllFounded(reason, shared[0] if shared else None, ", ".join(shared))


def _find_shared_values(things: Things, among: int, attribute: str, default: bool | None) -> set[str]:
    """The values of the attribute that every one of them has."""
    values = [set(things.values(i, attribute)) for i in mask_members(among)]
    if not values:
        raise IllFounded("none found", default)
    return set.intersection(*values)


# Parts of objects and the objects they belong to; filter, unique, query and count work on parts too.


@op((OBJECTS, PARTS))
def parts(world: ExecutionWorld, among: int) -> int:
    """The parts of these objects that have attributes of their own."""
    found = 0
    for i in mask_members(among):
        found |= world.parts_of[i]
    return found


@parts.define_soft
def _parts(world: SoftWorld, among: Array) -> Array:
    """Ours: a detected part is in as its object is."""
    return take_along(among, world.tables.owner[world.scene]) * world.tables.parts.there[world.scene]


@op((PARTS, OBJECTS))
def owners(world: ExecutionWorld, among: int) -> int:
    """The objects that these parts belong to."""
    found = 0
    for part in mask_members(among):
        found |= 1 << world.owner[part]
    return found


@owners.define_soft
def _owners(world: SoftWorld, among: Array) -> Array:
    """Ours: an object is in as the likeliest of its parts is."""
    return world.xp.amax(among[:, :, None] * world.tables.part_membership[world.scene], 1)
