"""A trace dressed for reading: the program as an indented tree, each node with its value on the scene."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ..answer import spell
from ..bits import members
from ..scene import FREE, Object
from .check import plan_of, scope_of
from .exec.exact import NOT_RUN, Execution, Undefined
from .op import get_op
from .program import Program
from .text import call
from .types import GROUPS, IMAGES, OBJECT, OBJECTS, PART, PARTS, THING, Type
from .world import World

SHOWN = 4  # things named in full before the rest is counted


@dataclass(frozen=True, slots=True)
class Line:
    """One node of the tree: how deep it stands, what it says, what came out."""

    node: int
    depth: int
    text: str
    value: str


def lines(program: Program, execution: Execution | None = None, world: World | None = None) -> Iterator[Line]:
    """The tree from the root down; values only where a run got that far."""
    plan = plan_of(program)
    inside = _inside_body(program)

    shown: set[int] = set()

    def visit(i: int, depth: int) -> Iterator[Line]:
        n = program.nodes[i]
        again = i in shown and bool(n.inputs)
        shown.add(i)
        yield Line(i, depth, f"{call(n, [])}{f' (node {i} again)' if again else ''}", value(i))
        for j in () if again else n.inputs:
            yield from visit(j, depth + 1)

    def value(i: int) -> str:
        if execution is None:
            return ""
        if isinstance(execution.answer, Undefined) and i == execution.answer.node:
            return f"undefined: {execution.answer.reason} {execution.answer.detail}".rstrip()
        if i >= len(execution.values):
            return "not reached"
        seen = execution.values[i]
        if seen is NOT_RUN:
            return "not reached"
        on = execution.worlds[i] if execution.worlds else world
        if i in inside and isinstance(seen, tuple):
            return "; ".join(dress(v, plan.types[i], on) for v in seen) or "never run"
        return dress(seen, plan.types[i], on)

    return visit(len(program) - 1, 0)


def dress(value: Any, kind: Type, world: World | None = None) -> str:
    """A node's value in words."""
    if value is None:
        return "missing"
    if kind in (OBJECTS, OBJECT, PARTS, PART):
        return _things(value, kind, world)
    if kind == IMAGES:
        return "images " + (", ".join(map(str, members(value))) or "none")
    if kind == GROUPS:
        return "; ".join(f"image {k}: {g.bit_count()}" for k, g in enumerate(value) if g) or "no groups"
    if kind == THING:
        return describe(value)
    return spell(value)


def _things(mask: int, kind: Type, world: World | None) -> str:
    numbers = list(members(mask))
    if not numbers:
        return "missing" if kind in (OBJECT, PART) else "nothing"
    named = [_thing(i, kind, world) for i in numbers[:SHOWN]]
    rest = f" and {len(numbers) - SHOWN} more" if len(numbers) > SHOWN else ""
    count = "" if kind in (OBJECT, PART) else f"{len(numbers)}: "
    return f"{count}{', '.join(named)}{rest}"


def _thing(i: int, kind: Type, world: World | None) -> str:
    if world is None:
        return f"#{i}"
    objects = [o for scene in world.scenes for o in scene.objects]
    if kind in (PARTS, PART):
        owner = world.owner[i]
        first = world.owner.index(owner)
        part = objects[owner].parts[i - first]
        return f"{' '.join(v for _, v in part.attributes)} {part.name} of #{owner}"
    return f"#{i} {describe(objects[i])}"


def describe(thing: Object) -> str:
    """An object in words: its values in order, the kind of thing last."""
    nouns = [v for a, v in thing.attributes if a in ("shape", "name")]
    return " ".join([*(v for a, v in thing.attributes if a not in ("shape", "name")), *nouns]).strip() or FREE


def _inside_body(program: Program) -> set[int]:
    """Nodes that ran once for each member, inside a quantifier."""
    if plan_of(program).straight or not any(get_op(n.op).body is not None for n in program.nodes):
        return set()
    return {i for i, q in enumerate(scope_of(program).inside) if q != -1}
