"""The four kinds of question over several images that tests are made from, by their programs.

    count_group_by          count(keys(keep(group(…), exactly, 2)))      how many images have exactly 2 …
    verify_count_group_by   at_least(count(keys(keep(…))), 1)            there is at least 1 image with …
    verify_count            at_least(count(…), 2)                        there are at least 2 …
    verify_quant            all(…, …), some(…, …), none(…, …)            no … are …

Programs decide, not template names, so that questions of any suite or official file work.
"""

from dataclasses import dataclass

from ...lang.check import plan_program
from ...lang.program import Program
from ...lang.types import OBJECTS
from ...shift.held_out.facts import QUANTIFIERS

COUNT_GROUP_BY, VERIFY_COUNT_GROUP_BY = "count_group_by", "verify_count_group_by"
VERIFY_COUNT, VERIFY_QUANT = "verify_count", "verify_quant"
COMPARISONS = ("equal", "at_least", "at_most", "less", "greater")


@dataclass(frozen=True, slots=True)
class QuestionShape:
    """What kind of question it is, and the nodes that a change is about."""

    kind: str
    test: str = ""  # the comparison or quantifier, of the outermost node that has one
    number: int | None = None  # what is compared with
    counted: int = -1  # the node of the objects that are counted, in each image or in all
    keep: int = -1  # the node that keeps images by a number


def find_shape(program: Program | None) -> QuestionShape | None:
    """The shape of a question's program; None where it is none of the four kinds."""
    if program is None:
        return None
    nodes, root = program.nodes, program.root
    if root.op in QUANTIFIERS:
        return QuestionShape(VERIFY_QUANT, root.op, None, root.inputs[0])
    if root.op == "count":
        inner = _find_image_shape(program, len(nodes) - 1)
        if inner is None:
            return None
        kept = nodes[inner.keep] if inner.keep >= 0 else None
        test, number = (kept.params[0], int(kept.params[1])) if kept else ("at_least", 1)
        return QuestionShape(COUNT_GROUP_BY, test, number, inner.counted, inner.keep)
    if root.op not in COMPARISONS:
        return None
    left, right = (nodes[i] for i in root.inputs)
    if left.op != "count" or right.op != "number":
        return None
    number = int(right.params[0])
    inner = _find_image_shape(program, root.inputs[0])
    if inner is not None:
        return QuestionShape(VERIFY_COUNT_GROUP_BY, root.op, number, inner.counted, inner.keep)
    if plan_program(program).types[left.inputs[0]] != OBJECTS:
        return None
    return QuestionShape(VERIFY_COUNT, root.op, number, left.inputs[0])


def _find_image_shape(program: Program, count: int) -> QuestionShape | None:
    """What a `count` of images counts: the objects that they must hold, and the node that keeps images."""
    nodes = program.nodes
    at = nodes[count].inputs[0]
    keep = -1
    while nodes[at].op in ("keys", "keep"):
        if nodes[at].op == "keep":
            if keep >= 0:
                return None
            keep = at
        at = nodes[at].inputs[0]
    return QuestionShape("", "", None, nodes[at].inputs[0], keep) if nodes[at].op in ("group", "images") else None


def truncate_program(program: Program, k: int) -> Program:
    """The program up to node k."""
    return Program(program.nodes[: k + 1])
