"""Draft: a question worded and programmed, and the sets of images about which it can be asked.

What a template filled in is kept in slots, so that the question can be said in other words:

    verify_attr            thing, attribute                    "Is the sink below a towel white?"
    choose_attr            thing, this, that                   "Is the man running or looking up?"
    query_attr             thing, family                       "What is the color of the cat?"
    count                  thing
    verify_count           thing, test, number                 test: "", at least, at most, exactly
    count_group_by         thing, test, number                 of an image; no test: "contain men"
    verify_count_group_by  thing, test, number, images_test, images
    compare_count          thing, other, comparative           more, fewer, same
    verify_logic           thing, other, logic                 both, either
    verify_quant           quantifier, thing, attribute        quantifier: all, some, no
                           quantifier, thing, link
    verify_quant_attr      thing, family                       "Do all dogs have the same color?"
    verify_same_attr       thing, other, family
    choose_object          thing, link, other                  other: the name said second; where the
                                                               link has a modifier, its thing's
    query_object           thing, relation
    choose_rel             thing, link, other                  other: the relation said second
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from ...answer import Answer
from ...lang.program import Program
from ..subgraph import Link, Subgraph, Thing

Kind = Literal["true/false", "or", "how many", "open"]
Slot = Thing | Link | str | int
Slots = tuple[tuple[str, Slot], ...]


class Context(NamedTuple):
    """Images in no order yet, and the answer that the template means the question to have there."""

    graphs: tuple[int, ...]
    answer: Answer


def two_answers(contexts: Iterable[Context]) -> tuple[Context, ...]:
    """The first context and the first with another answer; what comes after is not made."""
    found: list[Context] = []
    for context in contexts:
        if not found or context.answer != found[0].answer:
            found.append(context)
        if len(found) == 2:
            break
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Draft:
    """One question of a template."""

    template: str
    text: str
    program: Program
    slots: Slots
    about: tuple[Subgraph, ...]  # what it was made from, the subgraph of the source image first
    contexts: tuple[Context, ...]  # the better ones first

    def slot(self, name: str) -> Any:
        """What was filled in; None where this question has no such slot."""
        return next((value for key, value in self.slots if key == name), None)
