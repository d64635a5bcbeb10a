"""A program as a sequence of typed tokens, one for each node, in the order in which English says it.

The answer comes first and every node stands before its inputs, so that the types alone tell where a program
ends. Nodes that filter one after another are written innermost first, as adjectives are; a node that is read
again is written once and then named by its op and its place among those of the op: `again(parts, 0)`.

What stands in many relations is an intersection of sets, which is written from left to right, a list of relations to
things first: a token for each but the last that more follows, then what is intersected. A thing that several relations
lead to is written each time, as it is named each time; two relations in a row to one thing are written before it, "left
of and behind the bus". The first of them reads what the second gives, a set of its own type.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

from ....errors import UserError
from ....lang.check import plan_program
from ....lang.op import OBJECT, OBJECTS, VALUE, Type, fits, get_op
from ....lang.program import Node, Program, node

AGAIN = "again"
FILTER, RELATE, INTERSECT = "filter", "relate", "intersect"
OUTCOME = Type("Outcome")  # what an action leads to; questions give answers
RELATED = Type("Related")  # what stands in a relation to the thing that one more relation leads to
CACHED_SKELETONS = 100_000  # skeletons whose order is remembered
CACHED_NODES = 40  # of the longest one: longer programs are hardly ever alike


@dataclass(frozen=True, slots=True)
class ParserToken:
    """One node: its op and words, the types that it reads and the type that it gives."""

    op: str
    words: tuple[str, ...]
    inputs: tuple[Type, ...]
    output: Type

    @property
    def terms(self) -> tuple[str, ...]:
        """The words it stands for, with the attribute of the values it compares."""
        return (*self.words, *dict.fromkeys(t.of for t in self.inputs if t.of))

    def to_json(self) -> list[Any]:
        return [self.op, list(self.words), [[t.name, t.of] for t in (*self.inputs, self.output)]]

    @classmethod
    def from_json(cls, data: Sequence[Any]) -> Self:
        op, words, types = data
        *inputs, output = (Type(name, of) for name, of in types)
        return cls(op, tuple(words), tuple(inputs), output)


class TokenStep(NamedTuple):
    """A node to write: where it stands in its program, and its token's types before words are known."""

    at: int
    op: str
    inputs: tuple[Type, ...]
    output: Type
    compares: int  # the node that names the attribute of the compared values, -1 for none
    again: tuple[str, ...]  # what is read again, in place of the node's words

    def make_token(self, key: tuple[str, ...]) -> ParserToken:
        """The token, from the words of the node that `alike` names."""
        inputs, output, words = self.inputs, self.output, key
        if self.compares >= 0:
            inputs, words = (Type("Value", key[0]),) * len(inputs), ()
        elif output == VALUE:
            output = Type("Value", key[0])
        return ParserToken(self.op, self.again or words, inputs, output)

    def generalize(self) -> tuple[int, "TokenStep"]:
        """The node whose words tell its token, and what it shares with nodes of other programs."""
        at = self.at if self.compares < 0 else self.compares
        return at, self._replace(at=0, compares=min(self.compares, 0))


def order_tokens(program: Program) -> tuple[TokenStep, ...]:
    """What to write, in order: the same for all programs of one skeleton. Nodes that nothing reads are left out."""
    skeleton = program.skeleton()
    found = _orders.get(skeleton)
    if found is None:
        found = _compute_order(program)
        if len(_orders) < CACHED_SKELETONS and len(program) <= CACHED_NODES:
            _orders[skeleton] = found
    return found


_orders: dict[tuple[int, ...], tuple[TokenStep, ...]] = {}


def _compute_order(program: Program) -> tuple[TokenStep, ...]:
    plan = plan_program(program)
    if not plan.straight:
        raise UserError("a question parser writes neither sub-programs (all, some, none) nor edits")
    return _TokenOrder(program.nodes, plan.types, program.find_reachable()).list_steps()


class _TokenOrder:
    def __init__(self, nodes: Sequence[Node], types: Sequence[Type], reached: set[int]) -> None:
        self.nodes, self.types = nodes, types
        self.uses = Counter(j for i in reached for j in nodes[i].inputs)
        self.crossing = next((i for i, n in enumerate(nodes) if n.op == INTERSECT), -1)  # all of them are alike
        # What a text names each time: things described by words alone that nothing but relations read.
        others = {j for i in reached if nodes[i].op != RELATE for j in nodes[i].inputs}
        self.repeated = {j for j in self.uses if j not in others and self.is_plain(j)}

    def is_plain(self, i: int) -> bool:
        """Whether it is one thing of the scene that words describe."""
        if self.nodes[i].op != "unique":
            return False
        i = self.nodes[i].inputs[0]
        while self.nodes[i].op == FILTER and self.uses[i] == 1:
            i = self.nodes[i].inputs[0]
        return self.nodes[i].op == "scene"

    def list_steps(self) -> tuple[TokenStep, ...]:
        nodes, uses = self.nodes, self.uses
        out: list[TokenStep] = []
        names: dict[int, tuple[str, ...]] = {}  # of nodes already written, to be read again
        seen: Counter[str] = Counter()
        todo: list[list[tuple[int, ...]]] = [[(len(nodes) - 1,)]]  # what is to be intersected; most often one node
        while todo:
            some, *rest = todo.pop()
            if rest:
                out.append(TokenStep(self.crossing, INTERSECT, (OBJECTS, OBJECTS), OBJECTS, -1, ()))
                seen[INTERSECT] += 1
                todo += [rest, [some]]
                continue
            i = some[0]
            if i in names:
                out.append(TokenStep(i, AGAIN, (), self.types[i], -1, names[i]))
                continue
            if len(some) > 1:  # two relations to one thing
                out.append(TokenStep(i, RELATE, (RELATED,), OBJECTS, -1, ()))
                out.append(TokenStep(some[1], RELATE, (OBJECT,), RELATED, -1, ()))
                seen[RELATE] += 2
                todo.append([nodes[i].inputs])
                continue
            if nodes[i].op == INTERSECT and self.types[i] == OBJECTS and uses[i] <= 1:
                todo.append(self.list_intersected(i))
                continue
            run = [i]
            while nodes[run[-1]].op == FILTER and nodes[nodes[run[-1]].inputs[0]].op == FILTER:
                if nodes[run[-1]].inputs[0] in names:
                    break
                run.append(nodes[run[-1]].inputs[0])
            last = run[-1]
            for j in run if any(uses[k] > 1 for k in run) else reversed(run):
                if uses[j] > 1 and nodes[j].inputs and j not in self.repeated:
                    names[j] = (nodes[j].op, str(seen[nodes[j].op]))
                seen[nodes[j].op] += 1
                out.append(_make_step(j, nodes, self.types))
            todo.extend([(j,)] for j in reversed(nodes[last].inputs))
        return tuple(out)

    def list_intersected(self, i: int) -> list[tuple[int, ...]]:
        """The sets that an intersection is made of, from left to right; a pair where two relate to one thing."""
        nodes = self.nodes
        found: list[tuple[int, ...]] = []
        todo = [i]
        while todo:
            j = todo.pop()
            if nodes[j].op == INTERSECT and self.uses[j] <= 1:
                todo += reversed(nodes[j].inputs)
            elif found and len(found[-1]) == 1 and self.is_pair(found[-1][0], j):
                found[-1] = (found[-1][0], j)
            else:
                found.append((j,))
        if any(len(some) > 1 for some in found):  # a list, which a text says before what else is said of the set
            found.sort(key=lambda some: nodes[some[0]].op != RELATE or not self.is_plain(nodes[some[0]].inputs[0]))
        return found

    def is_pair(self, i: int, j: int) -> bool:
        one, two = self.nodes[i], self.nodes[j]
        return one.op == two.op == RELATE and one.inputs == two.inputs and self.uses[i] == self.uses[j] == 1


def _make_step(i: int, nodes: Sequence[Node], types: Sequence[Type]) -> TokenStep:
    given = [types[j] for j in nodes[i].inputs]
    signature = next(s for s in get_op(nodes[i].op).signatures if all(map(fits, given, s.inputs)))
    inputs, compares = signature.inputs, -1
    if VALUE in inputs:
        named = next((t for t in given if t.of), None)  # an op that always gives values of this attribute
        inputs = tuple(named or t for t in inputs)
        compares = -1 if named else nodes[i].inputs[0]
    return TokenStep(i, nodes[i].op, inputs, signature.output, compares, ())


class ProgramReader:
    """Reads many programs of some tokens, each given by its number, and remembers how they are laid out."""

    def __init__(self, tokens: Sequence[ParserToken]) -> None:
        shapes: dict[tuple[object, ...], int] = {}
        self.tokens = tokens
        # what a layout depends on
        keys = [(t.op, t.words if t.op == AGAIN else (), len(t.inputs), t.inputs == (RELATED,)) for t in tokens]
        self.shape = [shapes.setdefault(key, len(shapes)) for key in keys]
        self._paired = {k for k, t in enumerate(tokens) if t.inputs == (RELATED,)}
        self._plans: dict[tuple[int, ...], list[tuple[int, _NodeCache]]] = {}
        self._nodes: dict[tuple[str, tuple[int, ...]], _NodeCache] = {}

    def read_program(self, numbers: Sequence[int]) -> Program:
        """In canonical order; the tokens must be those of a whole program."""
        shape = tuple([self.shape[k] for k in numbers])
        plan = self._plans.get(shape)
        if plan is None:
            layout = _compute_layout([self.tokens[k] for k in numbers])
            plan = [(at, self._nodes.setdefault(key, _NodeCache(self.tokens, *key))) for at, key in layout]
            if len(self._plans) < CACHED_SKELETONS and len(shape) <= CACHED_NODES:
                self._plans[shape] = plan
        made = [nodes[numbers[at]] for at, nodes in plan]
        return Program(tuple(made if self._paired.isdisjoint(numbers) else _merge_things(made)))


class _NodeCache(dict[int, Node]):
    """The nodes that read the same ones, by the number of their token; with an op, all are of that op."""

    def __init__(self, tokens: Sequence[ParserToken], op: str, inputs: tuple[int, ...]) -> None:
        self.tokens, self.op, self.inputs = tokens, op, inputs

    def __missing__(self, number: int) -> Node:
        token = self.tokens[number]
        self[number] = made = node(self.op, self.inputs) if self.op else node(token.op, self.inputs, token.words)
        return made


def _merge_things(nodes: Sequence[Node]) -> list[Node]:
    """The same program, in which a thing that relations lead to is found once, however often it is named."""
    related = {n.inputs[0] for n in nodes if n.op == RELATE}
    out: list[Node] = []
    place: list[int] = []  # of each node as it was
    begun = 0  # where in the new program the last thing of the scene was begun
    found: dict[tuple[tuple[str, ...], ...], int] = {}
    for i, n in enumerate(nodes):
        if n.op == "scene":
            begun = len(out)
        inputs = tuple([place[j] for j in n.inputs])
        out.append(n if inputs == n.inputs else node(n.op, inputs, n.params))
        if i in related and n.op == "unique" and all(m.op == FILTER for m in out[begun + 1 : -1]):
            known = found.setdefault(tuple([m.params for m in out[begun + 1 : -1]]), len(out) - 1)
            if known != len(out) - 1:
                del out[begun:]
            place.append(known)
        else:
            place.append(len(out) - 1)
    return out


def _compute_layout(tokens: Sequence[ParserToken]) -> list[tuple[int, tuple[str, tuple[int, ...]]]]:
    """Of each node of the program its token, its op where that is not the token's, and what it reads."""
    numbers: dict[tuple[str, ...], int] = {}  # of an op and its place among its like: which token
    seen: Counter[str] = Counter()
    for k, t in enumerate(tokens):
        numbers[t.op, str(seen[t.op])] = k
        seen[t.op] += 1
    shared = {numbers[t.words] for t in tokens if t.op == AGAIN}
    meant = list(range(len(tokens)))  # which token stands at each place once filters are turned around
    start = 0
    while start < len(tokens):
        end = start
        while end < len(tokens) and tokens[end].op == FILTER:
            end += 1
        if not shared & set(range(start, end)):
            meant[start:end] = reversed(meant[start:end])
        start = max(end, start + 1)
    out: list[tuple[int, tuple[str, tuple[int, ...]]]] = []
    made: dict[int, int] = {}  # token -> node
    at = 0

    def place_node() -> int:
        nonlocal at
        k = meant[at]
        at += 1
        if tokens[k].op == AGAIN:
            return made[numbers[tokens[k].words]]
        paired = tokens[k].inputs == (RELATED,)
        both = [k, meant[at]] if paired else [k]
        at += paired
        inputs = tuple([place_node() for _ in tokens[both[-1]].inputs])
        out.extend((one, ("", inputs)) for one in both)
        if paired:
            out.append((k, (INTERSECT, (len(out) - 2, len(out) - 1))))
        made[k] = len(out) - 1
        return len(out) - 1

    place_node()
    if at != len(tokens):
        raise ValueError(f"{len(tokens) - at} tokens after the end of a program")
    return out
