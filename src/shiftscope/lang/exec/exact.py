"""Exact execution: the meaning of a program on a scene, with the value of every node.

Stateless and re-entrant: a run keeps everything in local variables. With `references="strict"` an
ill-founded reference ends the run as Undefined; with `"default"` (the grammar checker of the generalization
paper, A.2) several found become the first, none found a missing object, and the run continues: numbers about a
missing object are 0, truths False.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from ...answer import spell
from ...edit import Edit, ImpossibleEdit
from ...scene import FREE, Object, Scene, mask_members
from ..check import ProgramPlan, Scope, StepCall, compute_scope, plan_after, plan_program
from ..execution_world import ExecutionWorld
from ..op import BOOL, GROUPS, IMAGES, OBJECT, OBJECTS, PART, PARTS, THING, IllFounded, Type
from ..program import Node, Program
from ..text import format_call

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
    values: tuple[Any, ...]  # the trace: one value per node, as far as the run got
    errors: tuple[Undefined, ...] = ()  # references mended under `references="default"`
    worlds: tuple[ExecutionWorld, ...] = ()  # of each node's value, where edits made other ones than the given

    @property
    def is_defined(self) -> bool:
        return not isinstance(self.answer, Undefined)


def execute(
    program: Program, scenes: ExecutionWorld | Scene | Iterable[Scene], references: References = "strict"
) -> Execution:
    """Run the program; give an ExecutionWorld to run many programs on the same scenes."""
    if isinstance(scenes, Scene):
        world = ExecutionWorld((scenes,))
    else:
        world = scenes if isinstance(scenes, ExecutionWorld) else ExecutionWorld(scenes)
    plan = plan_program(program)
    scope = None if plan.straight else compute_scope(program, plan)
    values: list[Any] = []
    if references == "strict":
        undefined = _run_calls(plan.calls[: plan.lead], program.nodes[: plan.lead], values, world)
        if undefined is not None or plan.straight:
            return Execution(values[-1] if undefined is None else undefined, tuple(values))
    flat = (-1,) * len(program)
    run = _ProgramRun(plan, program, world, references == "strict", scope or Scope(flat, flat, flat))
    return run.run(values)


def answer_after(program: Program, start: int, world: ExecutionWorld) -> Any:
    """The answer of the nodes from `start` on, in the world that the action before them leads to."""
    values: list[Any] = [world.objects.everything] * start
    undefined = _run_calls(plan_after(program, start), program.nodes[start:], values, world)
    return values[-1] if undefined is None else undefined


def _run_calls(
    calls: Sequence[StepCall], nodes: tuple[Node, ...], values: list[Any], world: ExecutionWorld
) -> Undefined | None:
    """Add the nodes' values; why there are no more, if so.

    The common case, kept free of everything else: 40,000 programs a second depend on it.
    """
    append = values.append
    views = (world.objects, world.parts, world)
    try:
        for (exact, view, left, right), node in zip(calls, nodes, strict=True):
            if left < 0:
                append(exact(views[view], *node.params))
            elif right < 0:
                append(exact(views[view], values[left], *node.params))
            else:
                append(exact(views[view], values[left], values[right], *node.params))
    except IllFounded as error:
        return Undefined(error.reason, len(values), error.detail)
    return None


NOT_RUN = object()  # the value of a node that a run did not get to


class _ProgramRun:
    """One run of a program with sub-programs, edits or mended references."""

    def __init__(self, plan: ProgramPlan, program: Program, world: ExecutionWorld, strict: bool, scope: Scope) -> None:
        self.plan, self.program, self.strict, self.scope = plan, program, strict, scope
        self.worlds = {-1: world}
        self.values: list[Any] = [NOT_RUN] * len(program.nodes)
        self.errors: list[Undefined] = []

    def run(self, known: list[Any]) -> Execution:
        """Run the nodes after the first ones, whose values are known."""
        self.values[: len(known)] = known
        for i in range(len(known), len(self.values)):
            if self.scope.inside[i] != -1:
                continue
            try:
                self.values[i] = self.evaluate_node(i)
            except _StopExecution as stop:
                return self.build_execution(stop.undefined, i)
        answer = self.values[-1]
        if answer is None:
            answer = Undefined("missing object", self.errors[-1].node if self.errors else len(self.values) - 1)
        return self.build_execution(answer, len(self.values))

    def build_execution(self, answer: Any, reached: int) -> Execution:
        states = self.scope.after[:reached] if len(self.worlds) > 1 else ()
        worlds = tuple(self.worlds[state] for state in states)
        return Execution(answer, tuple(self.values[:reached]), tuple(self.errors), worlds)

    def evaluate_node(self, i: int) -> Any:
        step = self.plan.steps[i]
        inputs = [self.values[j] for j in step.inputs]
        if step.op.body is not None:
            inputs[step.op.body] = self.run_sub_program(i, inputs[0])
        world = self.worlds[self.scope.before[i]]
        # Only `references="default"` lets an object be missing; a truth about it is False.
        if self.plan.types[i].name == BOOL.name and any(
            self.plan.types[j] in (OBJECT, PART) and not v for j, v in zip(step.inputs, inputs, strict=True)
        ):
            return False
        view = world if step.op.looks_at == "world" else world.parts if step.on_parts else world.objects
        try:
            found = step.op.exact(view, *inputs, *self.program.nodes[i].params)
            if step.op.edits:
                return self.apply_edit(i, world, found)
        except IllFounded as error:
            return self.substitute_default(i, error, world)
        return found

    def run_sub_program(self, quantifier: int, among: int) -> tuple[Any, ...]:
        """The body's value for each member; its nodes keep theirs as tuples, for the trace."""
        body = [i for i, q in enumerate(self.scope.inside) if q == quantifier]
        root = self.plan.steps[quantifier].inputs[1]
        history: dict[int, list[Any]] = {i: [] for i in body}
        answers = []
        try:
            for member in mask_members(among):
                for i in body:
                    bound = self.program.nodes[i].op == "it"
                    self.values[i] = 1 << member if bound else self.evaluate_node(i)
                    history[i].append(self.values[i])
                answers.append(self.values[root])
        finally:
            for i in body:
                self.values[i] = tuple(history[i]) or NOT_RUN
        return tuple(answers)

    def apply_edit(self, i: int, world: ExecutionWorld, edit: Edit) -> int:
        state = self.scope.after[i]
        if state not in self.worlds:
            try:
                self.worlds[state] = world.apply_edit(edit)
            except ImpossibleEdit as error:
                raise IllFounded("impossible edit", None, str(error)) from error
        return self.worlds[state].objects.everything

    def substitute_default(self, i: int, error: IllFounded, world: ExecutionWorld) -> Any:
        undefined = Undefined(error.reason, i, error.detail)
        if self.strict:
            raise _StopExecution(undefined)
        self.errors.append(undefined)
        if self.plan.steps[i].op.edits:  # an action that cannot be done leaves the scene as it is
            self.worlds[self.scope.after[i]] = world
            return world.objects.everything
        return error.default


class _StopExecution(Exception):
    def __init__(self, undefined: Undefined) -> None:
        self.undefined = undefined


MAX_NAMED = 4  # things named in full before the rest is counted


@dataclass(frozen=True, slots=True)
class TraceLine:
    """One node of the tree: how deep it stands, what it says, what came out."""

    node: int
    depth: int
    text: str
    value: str


def format_trace(
    program: Program, execution: Execution | None = None, world: ExecutionWorld | None = None
) -> Iterator[TraceLine]:
    """The tree from the root down; values only where a run got that far."""
    plan = plan_program(program)
    inside = set() if plan.straight else {i for i, q in enumerate(compute_scope(program).inside) if q != -1}
    shown: set[int] = set()

    def visit(i: int, depth: int) -> Iterator[TraceLine]:
        n = program.nodes[i]
        again = i in shown and bool(n.inputs)
        shown.add(i)
        yield TraceLine(i, depth, f"{format_call(n, [])}{f' (node {i} again)' if again else ''}", format_node_value(i))
        for j in () if again else n.inputs:
            yield from visit(j, depth + 1)

    def format_node_value(i: int) -> str:
        if execution is None:
            return ""
        if isinstance(execution.answer, Undefined) and i == execution.answer.node:
            return f"undefined: {execution.answer.reason} {execution.answer.detail}".rstrip()
        seen = execution.values[i] if i < len(execution.values) else NOT_RUN
        if seen is NOT_RUN:
            return "not reached"
        on = execution.worlds[i] if execution.worlds else world
        if i in inside and isinstance(seen, tuple):
            return "; ".join(format_value(v, plan.types[i], on) for v in seen) or "never run"
        return format_value(seen, plan.types[i], on)

    return visit(len(program) - 1, 0)


def format_value(value: Any, kind: Type, world: ExecutionWorld | None = None) -> str:
    """A node's value in words."""
    if value is None:
        return "missing"
    if kind in (OBJECTS, OBJECT, PARTS, PART):
        return _format_things(value, kind, world)
    if kind == IMAGES:
        return "images " + (", ".join(map(str, mask_members(value))) or "none")
    if kind == GROUPS:
        return "; ".join(f"image {k}: {g.bit_count()}" for k, g in enumerate(value) if g) or "no groups"
    if kind == THING:
        return describe_object(value)
    return spell(value)


def _format_things(mask: int, kind: Type, world: ExecutionWorld | None) -> str:
    numbers = list(mask_members(mask))
    if not numbers:
        return "missing" if kind in (OBJECT, PART) else "nothing"
    objects = [o for scene in world.scenes for o in scene.objects] if world else []
    named = []
    for i in numbers[:MAX_NAMED]:
        if world is None:
            named.append(f"#{i}")
        elif kind in (PARTS, PART):
            owner = world.owner[i]
            part = objects[owner].parts[i - world.owner.index(owner)]
            named.append(f"{' '.join(v for _, v in part.attributes)} {part.name} of #{owner}")
        else:
            named.append(f"#{i} {describe_object(objects[i])}")
    rest = f" and {len(numbers) - MAX_NAMED} more" if len(numbers) > MAX_NAMED else ""
    count = "" if kind in (OBJECT, PART) else f"{len(numbers)}: "
    return f"{count}{', '.join(named)}{rest}"


def describe_object(thing: Object) -> str:
    """An object in words: its values in order, the kind of thing last."""
    nouns = [v for a, v in thing.attributes if a in ("shape", "name")]
    return " ".join([*(v for a, v in thing.attributes if a not in ("shape", "name")), *nouns]).strip() or FREE
