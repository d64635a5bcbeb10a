"""What the parsers learn from: texts of one action, and questions of one hop, with their programs.

The two-hop sets ask whether a model that knows single actions and plain questions can put them together, so nothing
of theirs is learned from: a training question of two hops is refused. "And", "or" and "not" are of one hop where one
relation at most tells each of their parts and nothing else is asked, and of two with a further relation, a comparison
or another of them.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ...errors import UserError
from ...lang.op import get_op
from ...lang.program import Program, split_action
from ...question import Question
from ...scene import Scene

LOGIC_OPS = frozenset(("union", "intersect", "exclude"))
STEPS = frozenset(("relate", "related", "same"))  # from a thing to others
COMPARISONS = frozenset(("equal", "alike", "differ", "less", "greater", "at_least", "at_most"))


class TextProgram(NamedTuple):
    """A text, what it means, which of the scenes it is about, and the action after which a question is asked."""

    text: str
    program: Program
    scene: int
    action: Program | None = None


@dataclass(frozen=True, slots=True, eq=False)
class TextPrograms:
    """Texts about some scenes."""

    pairs: tuple[TextProgram, ...]
    scenes: tuple[Scene, ...]

    def __len__(self) -> int:
        return len(self.pairs)


def collect_actions(scenes: Sequence[Scene], questions: Iterable[Question]) -> TextPrograms:
    """The action texts, each once per scene."""
    pairs: dict[TextProgram, None] = {}
    place = {scene.id: k for k, scene in enumerate(scenes)}
    for question in questions:
        if question.program is None:
            continue
        action, _ = split_one_hop(question)
        if action is not None and question.action:
            pairs[TextProgram(question.action, action.canonicalize(), place[question.scenes[0]])] = None
    return TextPrograms(tuple(pairs), tuple(scenes))


def collect_questions(scenes: Sequence[Scene], questions: Iterable[Question]) -> TextPrograms:
    """The questions, with the programs that run on the scene after the action."""
    place = {scene.id: k for k, scene in enumerate(scenes)}
    asked = ((q, split_one_hop(q)) for q in questions if q.program is not None)
    pairs = [TextProgram(q.text, p.canonicalize(), place[q.scenes[0]], action) for q, (action, p) in asked]
    return TextPrograms(tuple(pairs), tuple(scenes))


def join_text_programs(pieces: Sequence[TextPrograms]) -> TextPrograms:
    pairs: list[TextProgram] = []
    scenes: list[Scene] = []
    for piece in pieces:
        pairs += [pair._replace(scene=pair.scene + len(scenes)) for pair in piece.pairs]
        scenes += piece.scenes
    return TextPrograms(tuple(pairs), tuple(scenes))


def split_one_hop(question: Question) -> tuple[Program | None, Program]:
    """The action's program and the question's; a UserError for one of two hops, which is for testing alone."""
    assert question.program is not None
    action, asked = split_action(question.program)
    edits = 0 if action is None else sum(get_op(n.op).edits for n in action.nodes)
    if edits > 1:
        raise UserError(f"question {question.id} tells two actions; two-hop texts are for testing alone")
    if combines_logic(asked):
        raise UserError(
            f"question {question.id} combines and, or or not with another step; two-hop texts are for testing alone"
        )
    return action, asked


def combines_logic(asked: Program) -> bool:
    """Whether "and", "or" or "not" is put together with a further relation, a comparison or another of them."""
    nodes = asked.nodes
    logic = [i for i, n in enumerate(nodes) if n.op in LOGIC_OPS]
    if not logic:
        return False
    reads: list[set[int]] = []  # all that a node rests on, with itself
    for i, n in enumerate(nodes):
        reads.append({i}.union(*(reads[j] for j in n.inputs)))
    steps = [{j for j in read if nodes[j].op in STEPS} for read in reads]
    (first, *more), parts = logic, nodes[logic[0]].inputs
    if more or any(n.op in COMPARISONS for n in nodes) or any(first in reads[j] for j in steps[-1]):
        return True
    return any(len(steps[part]) > 1 for part in parts)
