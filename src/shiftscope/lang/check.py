"""The type checker: which node is wrong, what it expected, what it got.

Programs of one skeleton (ops and wiring, whatever their words) are typed once. What depends on the words is
checked for each: that two compared values are of one attribute, that an edit's states are not mixed.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any, NamedTuple

from ..edit import ON
from ..errors import did_you_mean
from ..schema import Schema
from .op import PART, PARTS, SCENE_TYPES, VALUE, Op, Type, all_ops, fits, get_op
from .ops.attributes import COMPARATIVES
from .ops.images import SIZE_TESTS
from .program import Node, Program, ProgramError, node

WORDS = {  # params that take one of a few words, whatever the scene
    "role": ("subject", "object"),
    "test": tuple(SIZE_TESTS),
    "comparative": tuple(COMPARATIVES),
}


class PlanStep(NamedTuple):
    """One node, typed."""

    op: Op
    inputs: tuple[int, ...]
    on_parts: bool  # whether the things it looks at are parts


OBJECTS_VIEW, PARTS_VIEW, WORLD_VIEW = range(3)  # what an op looks at
StepCall = tuple[Callable[..., Any], int, int, int]  # one node, ready to run: function, view, inputs or -1


@dataclass(frozen=True, slots=True)
class ProgramPlan:
    """What the checker found out about a skeleton."""

    types: tuple[Type, ...]
    steps: tuple[PlanStep, ...]
    calls: tuple[StepCall, ...]
    same_attribute: tuple[tuple[int, int, int], ...]  # node, and the two nodes whose values it compares
    constrained: tuple[int, ...]  # nodes whose words must be of WORDS, or numbers
    straight: bool  # neither sub-programs nor edits
    lead: int  # how many nodes come before the first of either
    on_parts: bool  # whether any step looks at parts


@dataclass(frozen=True, slots=True)
class Scope:
    """Where the nodes of a program with sub-programs or edits belong."""

    inside: tuple[int, ...]  # the quantifier whose sub-program the node is part of, or -1
    before: tuple[int, ...]  # the edit whose outcome the node's inputs are taken from, or -1
    after: tuple[int, ...]  # the same for what the node gives


def check(program: Program, schema: Schema | None = None) -> tuple[Type, ...]:
    """The type of every node, or a ProgramError; with a schema, its vocabulary is checked too."""
    plan = plan_program(program)
    if not plan.straight:
        compute_scope(program, plan)
    if schema is not None and schema.closed:
        for i, n in enumerate(program.nodes):
            trouble = _check_vocabulary(n, plan.steps[i].on_parts, schema)
            if trouble:
                raise ProgramError(f"{_name_node(i, n)}: {trouble}")
    return tuple(
        Type("Value", n.params[0]) if t == VALUE else t for t, n in zip(plan.types, program.nodes, strict=True)
    )


def plan_program(program: Program) -> ProgramPlan:
    """The plan of the program's skeleton, its words checked."""
    nodes = program.nodes
    skeleton = program.skeleton()
    plan = _plans.get(skeleton)
    if plan is None:
        plan = _build_plan(nodes)
        if len(_plans) < MAX_PLANS and len(nodes) <= LONGEST_KEPT:
            _plans[skeleton] = plan
    for at, left, right in plan.same_attribute:
        _check_same_attribute(nodes, at, plan.types[left], plan.types[right])
    for i in plan.constrained:
        _check_words(i, nodes[i])
    return plan


def plan_after(program: Program, start: int) -> list[StepCall]:
    """How to run the nodes from `start` on, which ask of the scene that those before them lead to.

    Not by skeleton: few programs that begin with an action share one.
    """
    nodes = program.nodes
    typed = _type_steps(nodes, [_type_scene()] * start)
    asked = typed[start:]
    for i, step in enumerate(asked, start):
        if step.plain:
            continue
        if not step.straight:
            raise ProgramError(f"{_name_node(i, nodes[i])}: expected a question without edits and sub-programs")
        if step.compares:
            _check_same_attribute(nodes, i, *[typed[j].output for j in nodes[i].inputs])
        if step.constrained:
            _check_words(i, nodes[i])
    return [step.call for step in asked]


def _check_same_attribute(nodes: tuple[Node, ...], at: int, left: Type, right: Type) -> None:
    """Refuse a node that compares values, of these types, that are not of one attribute."""
    i, j = nodes[at].inputs
    a, b = left.of or nodes[i].params[0], right.of or nodes[j].params[0]
    if a != b:
        raise ProgramError(f"{_name_node(at, nodes[at])}: expected two values of one attribute, got {a} and {b}")


def _check_words(i: int, n: Node) -> None:
    """Refuse words that are not of WORDS, or no numbers, where they must be."""
    for param, word in zip(get_op(n.op).params, n.params, strict=True):
        options = WORDS.get(param)
        if options and word not in options:
            raise ProgramError(f"{_name_node(i, n)}: expected {' or '.join(options)} as {param}, got {word!r}")
        if param == "number" and not (word.isascii() and word.isdigit() and len(word) < 10):
            raise ProgramError(f"{_name_node(i, n)}: expected a whole number, got {word!r}")


_plans: dict[tuple[int, ...], ProgramPlan] = {}
MAX_PLANS = 100_000
LONGEST_KEPT = 64  # nodes of a program whose plan is kept; longer ones (rd+) hardly ever share a skeleton


def _build_plan(nodes: tuple[Node, ...]) -> ProgramPlan:
    typed = _type_steps(nodes, [])
    same: list[tuple[int, int, int]] = []
    worded: list[int] = []
    lead, looks_at_parts = len(nodes), False
    for i, step in enumerate(typed):
        if step.plain:
            continue
        if step.compares:
            left, right = nodes[i].inputs
            same.append((i, left, right))
        if step.constrained:
            worded.append(i)
        if not step.straight:
            lead = min(lead, i)
        looks_at_parts = looks_at_parts or step.step.on_parts
    return ProgramPlan(
        tuple([t.output for t in typed]),
        tuple([t.step for t in typed]),
        tuple([t.call for t in typed]),
        tuple(same),
        tuple(worded),
        lead == len(nodes),
        lead,
        looks_at_parts,
    )


def _type_steps(nodes: tuple[Node, ...], typed: "list[TypedStep]") -> "list[TypedStep]":
    """The nodes typed; those given are those of the first."""
    kinds = [step.number for step in typed]  # the numbers of the types
    for n in nodes[len(typed) :]:
        key, inputs = n.shape, n.inputs
        if len(inputs) == 1:
            key = key << TYPE_BITS | kinds[inputs[0]]
        else:
            for j in inputs:
                key = key << TYPE_BITS | kinds[j]
        step = _typed_steps.get(key)
        if step is None:
            where = f"node {len(typed)} ({n.op})"
            step = _typed_steps[key] = _type_step(where, n, [typed[j].output for j in inputs])
        typed.append(step)
        kinds.append(step.number)
    return typed


@cache
def _type_scene() -> "TypedStep":
    return _type_steps((node("scene"),), [])[0]


class TypedStep(NamedTuple):
    """A node's op on inputs of given types."""

    output: Type
    step: PlanStep
    call: StepCall
    number: int  # of the output's type
    plain: bool  # on objects, and none of the below
    compares: bool  # two values
    constrained: bool  # its words must be of WORDS, or numbers
    straight: bool  # neither a sub-program nor an edit


TYPE_BITS = 16  # for the number of a type
_typed_steps: dict[int, TypedStep] = {}  # by the node's shape and the numbers of its inputs' types
_type_numbers: dict[Type, int] = {}


def _type_step(where: str, n: Node, given: list[Type]) -> TypedStep:
    name, words = n.op, len(n.params)
    if name not in all_ops():
        raise ProgramError(f"{where}: there is no such op{did_you_mean(name, all_ops())}")
    op = get_op(name)
    if len(given) != op.arity:
        raise ProgramError(f"{where}: expected {op.arity} inputs as in {op.usage}, got {len(given)}")
    if (words % 2 or words == 0) if op.pairs else words != len(op.params):
        raise ProgramError(f"{where}: expected the words of {op.usage}, got {words} words")
    output = _infer_output(op, given, where)
    on_parts = bool(given) and given[0] in (PART, PARTS)
    view = WORLD_VIEW if op.looks_at == "world" else PARTS_VIEW if on_parts else OBJECTS_VIEW
    left, right = (*n.inputs, -1, -1)[:2]
    compares = name == "equal" and given[0].name == "Value"
    constrained = bool(WORDS.keys() & set(op.params)) or "number" in op.params
    straight = not (op.edits or op.body is not None or name == "it")
    return TypedStep(
        output=output,
        step=PlanStep(op, n.inputs, on_parts),
        call=(op.exact, view, left, right),
        number=_type_numbers.setdefault(output, len(_type_numbers)),
        plain=straight and not (compares or constrained or on_parts),
        compares=compares,
        constrained=constrained,
        straight=straight,
    )


def _infer_output(op: Op, given: list[Type], where: str) -> Type:
    missed: list[int] = []  # for each signature, the first input that does not fit
    for signature in op.signatures:
        at = next((i for i, t in enumerate(given) if not fits(t, signature.inputs[i])), None)
        if at is None:
            return signature.output
        missed.append(at)
    at = max(missed)  # say what the nearest signatures wanted there
    options = dict.fromkeys(str(s.inputs[at]) for s, k in zip(op.signatures, missed, strict=True) if k == at)
    raise ProgramError(f"{where}: expected {' or '.join(options)} as input {at + 1}, got {given[at]}")


@lru_cache(maxsize=100_000)
def _check_vocabulary(n: Node, on_parts: bool, schema: Schema) -> str:
    """What is wrong with the node's words under a closed schema, or nothing."""
    op = get_op(n.op)
    words = dict(zip(op.params, n.params, strict=False))
    if op.pairs:
        for name, value in zip(n.params[::2], n.params[1::2], strict=True):
            if trouble := _check_value(schema, name, value, False):
                return trouble
    named = ("relation",) if "relation" in words else ("this", "that") if n.op == "choose_relation" else ()
    for relation in (words[param] for param in named):
        known = (*schema.relations, ON)
        if relation not in known:
            return f"no relation {relation!r} in {schema.name}{did_you_mean(relation, known)}"
    if "attribute" in words and not op.name.endswith("_image"):
        attribute = words["attribute"]
        for param in ("value", "this", "that"):
            if trouble := _check_value(schema, attribute, words.get(param), on_parts):
                return trouble
    if op.name == "find":
        return _check_value(schema, "name", words["name"], False)
    return ""


def _check_value(schema: Schema, attribute: str, value: str | None, part: bool) -> str:
    terms = {a.name: a.terms for a in (schema.part_attributes if part else schema.attributes)}
    if attribute not in terms:
        what = "part attribute" if part else "attribute"
        return f"no {what} {attribute!r} in {schema.name}{did_you_mean(attribute, terms)}"
    if value is not None and value not in terms[attribute]:
        return f"no {attribute} {value!r} in {schema.name}{did_you_mean(value, terms[attribute])}"
    return ""


def compute_scope(program: Program, plan: ProgramPlan | None = None) -> Scope:
    """Which nodes run inside which quantifier, and on which state of the scene; `plan` is the program's, if known."""
    plan = plan or plan_program(program)
    if sum([step.op.edits for step in plan.steps]) > 1:
        return _build_scope(program)
    skeleton = program.skeleton()  # the words matter only where two edits may be the same
    scope = _scopes.get(skeleton)
    if scope is None:
        scope = _build_scope(program)
        if len(_scopes) < MAX_PLANS:
            _scopes[skeleton] = scope
    return scope


_scopes: dict[tuple[int, ...], Scope] = {}


@lru_cache(maxsize=10_000)
def _build_scope(program: Program) -> Scope:
    plan = plan_program(program)
    inside = _find_quantifiers(program, plan)
    scope = Scope(inside, *_compute_states(program, plan, inside))
    for i, step in enumerate(plan.steps):
        if step.op.edits and inside[i] >= 0:
            raise ProgramError(f"{_name_node(i, program.nodes[i])}: an edit cannot stand inside a quantifier")
    return scope


def _find_quantifiers(program: Program, plan: ProgramPlan) -> tuple[int, ...]:
    nodes = program.nodes
    inside = [-1] * len(nodes)
    free = [False] * len(nodes)  # depends on an `it` that no quantifier has bound yet
    for i, step in enumerate(plan.steps):
        free[i] = step.op.name == "it" or any(free[j] for k, j in enumerate(step.inputs) if k != step.op.body)
        if step.op.body is not None:
            todo = [step.inputs[step.op.body]]
            while todo:
                j = todo.pop()
                if not free[j]:
                    continue
                inside[j], free[j] = i, False
                todo.extend(plan.steps[j].inputs)
    loose = next((i for i, f in enumerate(free) if f and inside[i] == -1), None)
    if loose is not None:
        raise ProgramError(f"{_name_node(loose, nodes[loose])} uses it() outside of all, some and none")
    for i, step in enumerate(plan.steps):
        for k, j in enumerate(step.inputs):
            if inside[j] not in (-1, inside[i]) and not (k == step.op.body and inside[j] == i):
                raise ProgramError(
                    f"{_name_node(i, nodes[i])} reads node {j} from within the sub-program of node {inside[j]}"
                )
    return tuple(inside)


def _compute_states(
    program: Program, plan: ProgramPlan, inside: tuple[int, ...]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Two edits that are the same, step by step, lead to one state."""
    nodes = program.nodes
    before: list[int] = []
    after: list[int] = []
    numbers: list[int] = []  # equal for nodes that are equal all the way down
    seen: dict[tuple[object, ...], int] = {}
    for i, step in enumerate(plan.steps):
        sources = plan.steps[inside[i]].inputs[:1] if step.op.name == "it" else step.inputs
        if sources and sources[0] > i:
            raise ProgramError(f"{_name_node(i, nodes[i])} comes before the objects it stands for")
        states = {after[j] for j in sources if plan.types[j] in SCENE_TYPES}
        if len(states) > 1:
            raise ProgramError(
                f"{_name_node(i, nodes[i])} mixes objects from before and after the edit at node {max(states)}"
            )
        before.append(max(states, default=-1))
        key = (nodes[i].op, nodes[i].params, *(numbers[j] for j in step.inputs))
        numbers.append(seen.setdefault(key, i))
        after.append(numbers[i] if step.op.edits else before[i])
    return tuple(before), tuple(after)


def _name_node(i: int, n: Node) -> str:
    return f"node {i} ({n.op})"
