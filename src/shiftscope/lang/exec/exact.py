"""Exact execution: the meaning of a program on a scene, with the value of every node.

Stateless and re-entrant: a run keeps everything in local variables. With `references="strict"` an
ill-founded reference ends the run as Undefined; with `"default"` (the grammar checker of the generalization
paper, A.2) several found become the first, none found a missing object, and the run goes on: numbers about a
missing object are 0, truths False.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

from ...bits import members
from ...edit import Edit, Impossible
from ...scene import Scene
from ..check import Plan, Scope, Step, plan_of, scope_of
from ..op import IllFounded
from ..program import Program
from ..types import BOOL, OBJECT, PART
from ..world import World

References = Literal["strict", "default"]
Answer = bool | int | str


@dataclass(frozen=True, slots=True)
class Undefined:
    """Why a program has no answer here, and the node at fault."""

    reason: str
    node: int
    detail: str = field(default="", compare=False)

    def __str__(self) -> str:
        return f"{self.reason}{f' ({self.detail})' if self.detail else ''} at node {self.node}"


@dataclass(frozen=True, slots=True)
class Execution:
    """The outcome of one run."""

    answer: Any  # bool, int or str; a mask (or masks) where the program gives a set; or Undefined
    values: tuple[Any, ...]  # the trace: one value a node, as far as the run got
    errors: tuple[Undefined, ...] = ()  # references mended under `references="default"`
    worlds: tuple[World, ...] = ()  # of each node's value, where edits made other ones than the given

    @property
    def defined(self) -> bool:
        return not isinstance(self.answer, Undefined)


def execute(
    program: Program, scenes: World | Scene | Iterable[Scene], references: References = "strict"
) -> Execution:
    """Run the program; give a World to run many programs on the same scenes."""
    if isinstance(scenes, Scene):
        world = World((scenes,))
    else:
        world = scenes if isinstance(scenes, World) else World(scenes)
    plan = plan_of(program)
    if plan.straight and references == "strict":
        return _straight(plan, program, world)
    scope = _FLAT if plan.straight else scope_of(program)
    return _Run(plan, program, world, references == "strict", scope).result()


def _straight(plan: Plan, program: Program, world: World) -> Execution:
    """The common case, kept free of everything else: 40,000 programs a second depend on it."""
    values: list[Any] = []
    append = values.append
    objects, parts = world.objects, world.parts
    try:
        for (op, inputs, on_parts), node in zip(plan.steps, program.nodes, strict=True):
            view = world if op.looks_at == "world" else (parts if on_parts else objects)
            if len(inputs) == 1:
                append(op.exact(view, values[inputs[0]], *node.params))
            elif inputs:
                append(op.exact(view, values[inputs[0]], values[inputs[1]], *node.params))
            else:
                append(op.exact(view, *node.params))
    except IllFounded as error:
        return Execution(Undefined(error.reason, len(values), error.detail), tuple(values))
    return Execution(values[-1], tuple(values))


_FLAT = Scope((), (), ())


NOT_RUN = object()  # the value of a node that a run did not get to


class _Run:
    """One run of a program with sub-programs, edits or mended references."""

    def __init__(self, plan: Plan, program: Program, world: World, strict: bool, scope: Scope) -> None:
        self.plan, self.program, self.strict, self.scope = plan, program, strict, scope
        self.worlds = {-1: world}
        self.values: list[Any] = [NOT_RUN] * len(program.nodes)
        self.errors: list[Undefined] = []
        size = len(program.nodes)
        self.inside = scope.inside or (-1,) * size
        self.before = scope.before or (-1,) * size

    def result(self) -> Execution:
        for i in range(len(self.values)):
            if self.inside[i] != -1:
                continue
            try:
                self.values[i] = self.value(i)
            except _Stop as stop:
                return self.execution(stop.undefined, i)
        answer = self.values[-1]
        if answer is None:
            last = self.errors[-1] if self.errors else None
            answer = Undefined("missing object", last.node if last else len(self.values) - 1)
        return self.execution(answer, len(self.values))

    def execution(self, answer: Any, reached: int) -> Execution:
        states = self.scope.after[:reached] if len(self.worlds) > 1 else ()
        worlds = tuple(self.worlds[state] for state in states)
        return Execution(answer, tuple(self.values[:reached]), tuple(self.errors), worlds)

    def value(self, i: int) -> Any:
        step = self.plan.steps[i]
        inputs = [self.values[j] for j in step.inputs]
        if step.op.body is not None:
            inputs[step.op.body] = self.sub_program(i, inputs[0])
        world = self.worlds[self.before[i]]
        if self.plan.types[i] == BOOL and self._missing(step, inputs):
            return False
        try:
            found = step.op.exact(_view(step, world), *inputs, *self.program.nodes[i].params)
            if step.op.edits:
                return self.edited(i, world, found)
        except IllFounded as error:
            return self.mended(i, error, world)
        return found

    def _missing(self, step: Step, inputs: list[Any]) -> bool:
        """Whether an object it is about is missing, as only `references="default"` lets happen."""
        kinds = (self.plan.types[j] for j in step.inputs)
        return any(kind in (OBJECT, PART) and not v for kind, v in zip(kinds, inputs, strict=True))

    def sub_program(self, quantifier: int, among: int) -> tuple[Any, ...]:
        """The body's value for each member; its nodes keep theirs as tuples, for the trace."""
        body = [i for i, q in enumerate(self.inside) if q == quantifier]
        root = self.plan.steps[quantifier].inputs[1]
        history: dict[int, list[Any]] = {i: [] for i in body}
        answers = []
        try:
            for member in members(among):
                for i in body:
                    bound = self.program.nodes[i].op == "it"
                    self.values[i] = 1 << member if bound else self.value(i)
                    history[i].append(self.values[i])
                answers.append(self.values[root])
        finally:
            for i in body:
                self.values[i] = tuple(history[i]) or NOT_RUN
        return tuple(answers)

    def edited(self, i: int, world: World, edit: Edit) -> int:
        state = self.scope.after[i]
        if state not in self.worlds:
            try:
                self.worlds[state] = world.edited(edit)
            except Impossible as error:
                raise IllFounded("impossible edit", None, str(error)) from error
        return self.worlds[state].objects.everything

    def mended(self, i: int, error: IllFounded, world: World) -> Any:
        undefined = Undefined(error.reason, i, error.detail)
        if self.strict:
            raise _Stop(undefined)
        self.errors.append(undefined)
        if self.plan.steps[i].op.edits:  # an action that can not be done leaves the scene as it is
            self.worlds[self.scope.after[i]] = world
            return world.objects.everything
        return error.default


class _Stop(Exception):
    def __init__(self, undefined: Undefined) -> None:
        self.undefined = undefined


def _view(step: Step, world: World) -> Any:
    if step.op.looks_at == "world":
        return world
    return world.parts if step.on_parts else world.objects
