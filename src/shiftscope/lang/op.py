"""Op: one operation of the program language (its types, its exact and soft meaning), and the types themselves."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from ..errors import unknown
from ..registry import OP_FAMILIES


@dataclass(frozen=True, slots=True)
class Type:
    """A named type; `of` says which attribute a Value belongs to."""

    name: str
    of: str = ""

    def __str__(self) -> str:
        return f"{self.name}[{self.of}]" if self.of else self.name


OBJECTS = Type("Objects")  # a set
OBJECT = Type("Object")  # exactly one
PARTS = Type("Parts")
PART = Type("Part")
IMAGES = Type("Images")
GROUPS = Type("Groups")  # objects, grouped by the image they are in
INT = Type("Int")
BOOL = Type("Bool")
VALUE = Type("Value")  # as an input: a value of any attribute; as an output: of the attribute named
THING = Type("Thing")  # a description of an object that need not exist

SET_OF = {OBJECT: OBJECTS, PART: PARTS}
SCENE_TYPES = frozenset({OBJECTS, OBJECT, PARTS, PART, IMAGES, GROUPS})  # tied to one state of the scene


def fits(given: Type, wanted: Type) -> bool:
    """Whether a value of one type may be used as another: one object is also a set of one."""
    return given == wanted or SET_OF.get(given) == wanted or (wanted == VALUE and given.name == "Value")


# Op: one operation of the language, with its types, its words, its exact meaning and its soft one.
#
# An op is a function in `lang/ops/`. Its first parameter says what it looks at: `world` (the whole scene), or
# `things` (the objects, or the parts, that its first input ranges over). Then come its inputs, then its words.
#
# Its soft meaning, where it has one, stands right below and is given to it by `@NAME.define_soft`. It looks at a
# `SoftWorld` or `SoftThings` (execution_world.py), works on arrays of many programs at once, of NumPy or of torch,
# and gets its words as numbers: a term's, an attribute's or a relation's code.

PAIR = ("attribute", "value")  # written `color=red`


class IllFounded(Exception):
    """Raised by an op whose input does not refer: the reason, and the value to go on with if allowed."""

    def __init__(self, reason: str, default: Any, detail: str = "") -> None:
        super().__init__(reason)
        self.reason, self.default, self.detail = reason, default, detail


def choose_either(this: str, that: str, has_this: bool, has_that: bool) -> str:
    """The one of two choices that holds; ill-founded when both or neither do."""
    if has_this != has_that:
        return this if has_this else that
    reason = "both choices hold" if has_this else "neither choice holds"
    raise IllFounded(reason, this if has_this else None, f"{this} or {that}")


@dataclass(frozen=True, slots=True)
class Signature:
    inputs: tuple[Type, ...]
    output: Type

    def __str__(self) -> str:
        return f"({', '.join(map(str, self.inputs))}) -> {self.output}"


@dataclass(frozen=True, slots=True)
class Op:
    """What an op is called, takes, gives and means."""

    name: str
    family: str
    signatures: tuple[Signature, ...]
    params: tuple[str, ...]
    defaults: tuple[str, ...]  # of the last params
    pairs: bool  # any number of attribute=value words instead of fixed ones
    body: int | None  # the input that is run once for each member of the first
    edits: bool  # gives a new state of the scene
    looks_at: str  # "world" or "things"
    exact: Callable[..., Any]
    soft: Callable[..., Any] | None = field(default=None, init=False, compare=False)

    def define_soft(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Decorates the function that is this op's soft meaning; each op has at most one."""
        looks_at = next(iter(inspect.signature(function).parameters))
        if looks_at != self.looks_at:
            raise TypeError(f"op {self.name}: softly it looks at {looks_at}, exactly at {self.looks_at}")
        object.__setattr__(self, "soft", function)
        return function

    @property
    def summary(self) -> str:
        return (inspect.getdoc(self.exact) or "").splitlines()[0]

    @property
    def arity(self) -> int:
        return len(self.signatures[0].inputs)

    @property
    def usage(self) -> str:
        """How a call looks: `filter(Objects, attribute=value)`."""
        words = ["attribute=value", "…"] if self.pairs else list(self.params)
        if self.params[:2] == PAIR:
            words = ["attribute=value", *self.params[2:]]
        for i in range(1, len(self.defaults) + 1):
            words[-i] = f"{words[-i]}={self.defaults[-i]}"
        return f"{self.name}({', '.join([*map(str, self.signatures[0].inputs), *words])})"


_ops: dict[str, Op] = {}


def op(
    *signatures: tuple[Type, ...],
    params: tuple[str, ...] = (),
    defaults: tuple[str, ...] = (),
    pairs: bool = False,
    body: int | None = None,
    edits: bool = False,
) -> Callable[[Callable[..., Any]], Op]:
    """Register a function as an op. A signature is its input types and, last, its output type."""

    def register(function: Callable[..., Any]) -> Op:
        name = function.__name__.rstrip("_")
        looks_at = next(iter(inspect.signature(function).parameters))
        if looks_at not in ("world", "things"):
            raise TypeError(f"op {name}: the first parameter must be called world or things")
        family = function.__module__.rpartition(".")[2]
        typed = tuple(Signature(s[:-1], s[-1]) for s in signatures)
        made = Op(name, family, typed, params, defaults, pairs, body, edits, looks_at, function)
        if name in _ops and _ops[name].family != made.family:
            raise TypeError(f"op {name} is defined in both {_ops[name].family} and {made.family}")
        _ops[name] = made
        return made

    return register


@cache
def all_ops() -> dict[str, Op]:
    """Every op of every family, by name."""
    for family in OP_FAMILIES.names():
        OP_FAMILIES.load(family)
    return dict(sorted(_ops.items()))


def get_op(name: str) -> Op:
    found = all_ops().get(name)
    if found is None:
        raise unknown("op", name, all_ops())
    return found
