"""Program: a question as a list of operations, each on the results of earlier ones.

A hypothetical program is an action and a question about its outcome: `join_action`, `split_action`.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from operator import ge
from typing import Any

from ..errors import UserError
from ..records import content_id, pickle_by_fields
from .op import get_op

Notes = tuple[tuple[str, str], ...]
NodeShape = tuple[str, tuple[int, ...], int]  # op, inputs, number of words

_shape_numbers: dict[NodeShape, int] = {}


class ProgramError(UserError):
    """A program that cannot be read, typed or run; says which node and why."""


@dataclass(frozen=True, slots=True)
class Node:
    """One operation: its name, the earlier nodes it reads, its words.

    Notes hold what a file spells its own way (an object id, a synonym); equality and execution ignore them.
    """

    op: str
    inputs: tuple[int, ...] = ()
    params: tuple[str, ...] = ()
    notes: Notes = field(default=(), compare=False)
    shape: int = field(init=False, compare=False, repr=False)  # number of its NodeShape, in this process
    reach: int = field(init=False, compare=False, repr=False)  # the last node it reads, -1 for none
    mark: int = field(init=False, compare=False, repr=False)  # its hash: a shared node is looked up often

    def __post_init__(self) -> None:
        if any(i < 0 for i in self.inputs):
            raise ProgramError(f"a node cannot read node {min(self.inputs)}")
        object.__setattr__(self, "reach", max(self.inputs, default=-1))
        shape = (self.op, self.inputs, len(self.params))
        object.__setattr__(self, "shape", _shape_numbers.setdefault(shape, len(_shape_numbers)))
        object.__setattr__(self, "mark", hash((self.op, self.inputs, self.params)))

    def __hash__(self) -> int:
        return self.mark

    def __reduce__(self) -> tuple[Any, ...]:
        return node, (self.op, self.inputs, self.params, self.notes)

    def note(self, name: str, default: str = "") -> str:
        return next((value for key, value in self.notes if key == name), default)

    def to_json(self) -> dict[str, Any]:
        data = {"op": self.op, "inputs": list(self.inputs), "params": list(self.params)}
        return data | ({"notes": dict(self.notes)} if self.notes else {})


_node_cache: dict[tuple[object, ...], Node] = {}
MAX_NODES = 512  # official programs stay below 40, ours (rd+) below 200, what parsers may write below 512
_NUMBERS = range(MAX_NODES)
_NODE_CACHE_LIMIT = 200_000  # distinct nodes kept for reuse; a corpus of CLEVR questions has a few thousand


def node(op: str, inputs: tuple[int, ...] = (), params: tuple[str, ...] = (), notes: Notes = ()) -> Node:
    """A node, shared with every equal one made before: a million questions hold a few thousand nodes."""
    key = (op, inputs, params, notes)
    found = _node_cache.get(key)
    if found is None:
        found = Node(op, inputs, params, notes)
        if len(_node_cache) < _NODE_CACHE_LIMIT:
            _node_cache[key] = found
    return found


@pickle_by_fields
@dataclass(frozen=True, slots=True)
class Program:
    """Nodes in an order in which each comes after its inputs; the last one is the answer."""

    nodes: tuple[Node, ...]

    def __post_init__(self) -> None:
        if not self.nodes:
            raise ProgramError("a program needs at least one node")
        if len(self.nodes) > MAX_NODES:
            raise ProgramError(f"a program of {len(self.nodes)} nodes; {MAX_NODES} is the most")
        if any(map(ge, [n.reach for n in self.nodes], _NUMBERS)):
            i, n = next((i, n) for i, n in enumerate(self.nodes) if n.reach >= i)
            raise ProgramError(f"node {i} ({n.op}) reads node {n.reach}, which does not come before it")

    def __hash__(self) -> int:
        return hash(tuple([n.mark for n in self.nodes]))

    def __len__(self) -> int:
        return len(self.nodes)

    @property
    def root(self) -> Node:
        return self.nodes[-1]

    def skeleton(self) -> tuple[int, ...]:
        """Ops and wiring without the words; programs of one skeleton are typed and run alike.

        The numbers are good within this process: small keys, so that a million programs are told apart fast.
        """
        return tuple([n.shape for n in self.nodes])

    def canonicalize(self) -> "Program":
        """The same meaning in one fixed order: depth first, nothing unused, a leaf for each use."""
        uses = Counter([j for i in self.find_reachable() for j in self.nodes[i].inputs])
        out: list[Node] = []
        placed: dict[int, int] = {}

        def place(i: int) -> int:
            n = self.nodes[i]
            if i in placed and n.inputs:
                return placed[i]
            inputs = tuple([place(j) for j in n.inputs])
            out.append(n if inputs == n.inputs else node(n.op, inputs, n.params, n.notes))
            if uses[i] > 1:
                placed[i] = len(out) - 1
            return len(out) - 1

        place(len(self.nodes) - 1)
        return Program(tuple(out))

    def find_reachable(self, root: int = -1, without: int | None = None) -> set[int]:
        """The node (by default the answer) and all that it depends on, except `without` and what only that reads."""
        found: set[int] = set()
        todo = [root % len(self.nodes)]
        while todo:
            i = todo.pop()
            if i != without and i not in found:
                found.add(i)
                todo.extend(self.nodes[i].inputs)
        return found

    def content_id(self) -> str:
        return content_id([[n.op, n.inputs, n.params] for n in self.nodes])

    def to_json(self) -> list[dict[str, Any]]:
        return [n.to_json() for n in self.nodes]

    @classmethod
    def from_json(cls, data: Iterable[dict[str, Any]]) -> "Program":
        nodes = []
        try:
            for n in data:
                inputs, params = tuple(map(int, n.get("inputs", ()))), tuple(map(str, n.get("params", ())))
                notes = tuple((str(k), str(v)) for k, v in n.get("notes", {}).items())
                nodes.append(node(str(n["op"]), inputs, params, notes))
            return cls(tuple(nodes))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ProgramError(f"not a program in JSON form: {error!r}") from error


def prefix_notes(notes: Notes, prefix: str) -> Notes:
    """Notes under longer names, to keep with those of another node."""
    return tuple((f"{prefix}.{key}", value) for key, value in notes)


def strip_prefix(notes: Notes, prefix: str) -> Notes:
    """The notes that `prefix_notes` gave that prefix."""
    return tuple((key.removeprefix(f"{prefix}."), v) for key, v in notes if key.startswith(f"{prefix}."))


def refuse_node(program: Program, i: int, notation: str) -> ProgramError:
    """The error for a node that a notation has no words for."""
    n = program.nodes[i]
    words = f": {', '.join(n.params)}" if n.params else ""
    return ProgramError(f"node {i} ({n.op}{words}) cannot be said in {notation}")


def join_action(action: tuple[Node, ...], question: Program) -> Program:
    """The question asked of the scene after the action: its `scene` is what the action's last node gives."""
    nodes = list(action)
    place: list[int] = []
    outcome = len(action) - 1
    for n in question.nodes:
        if n.op == "scene":
            place.append(outcome)
            continue
        place.append(len(nodes))
        inputs = n.inputs
        moved = (place[inputs[0]],) if len(inputs) == 1 else tuple([place[i] for i in inputs])
        nodes.append(node(n.op, moved, n.params, n.notes))
    return Program(tuple(nodes))


def split_action(program: Program) -> tuple[Program | None, Program]:
    """The action and the question, each a program of its own; no action where nothing is edited.

    A program that asks about several states of the scene is taken apart at its last edit.
    """
    edits = [i for i, n in enumerate(program.nodes) if get_op(n.op).edits]
    if not edits:
        return None, program
    end = max(edits)
    action = Program(program.nodes[: end + 1])
    nodes: list[Node] = []
    place: dict[int, int] = {}
    for i in sorted(program.find_reachable(without=end)):
        n = program.nodes[i]
        inputs = []
        for j in n.inputs:
            if j == end:
                nodes.append(node("scene"))
                inputs.append(len(nodes) - 1)
            else:
                inputs.append(place[j])
        place[i] = len(nodes)
        nodes.append(node(n.op, tuple(inputs), n.params, n.notes))
    return action, Program(tuple(nodes) or (node("scene"),))


class ProgramBuilder:
    """A program put together node by node; every method that adds nodes returns the number of the last one."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []

    def put(self, op: str, *inputs: int, words: tuple[str, ...] = (), notes: Notes = ()) -> int:
        self.nodes.append(node(op, inputs, words, notes))
        return len(self.nodes) - 1

    def build(self) -> Program:
        return Program(tuple(self.nodes))
