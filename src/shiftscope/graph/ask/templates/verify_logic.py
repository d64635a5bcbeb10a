"""Whether there are both, or either, of two: "Are there both people packing tea and people packing salt?".

The other is what a distractor holds instead of the subgraph.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...subgraph import Subgraph
from .._dice import Dice
from .._nouns import THE
from ..context import MOST_IMAGES, Case, Rival
from ..draft import Context, Draft, Kind, two_answers
from ..say import countable, is_mass, many, one, several_of

KIND: Kind = "true/false"
LOGIC = {"both": "and", "either": "or"}  # as said → the op, and the word between


def propose(case: Case) -> Iterator[Draft]:
    thing, rival = case.subgraph, case.rival
    if rival is None:
        return
    dice = case.dice("verify_logic")
    logic = dice.one(tuple(LOGIC))
    said, other = case.said(thing), case.said(rival.subgraph)
    text = _both(said, other) if logic == "both" else _either(said, other)
    if not text:
        return
    contexts = two_answers(_contexts(case, rival, logic, dice))
    if not contexts:
        return
    making = case.making()
    left = making.put("exist", making.found(thing))
    making.put(LOGIC[logic], left, making.put("exist", making.found(rival.subgraph)))
    yield Draft(
        template="verify_logic",
        text=text,
        program=making.program(),
        slots=(("thing", said), ("other", other), ("logic", logic)),
        about=(thing, rival.subgraph),
        contexts=contexts,
    )


def _both(said: Subgraph, other: Subgraph) -> str:
    """Of several and of several, or of some and of some; "" where the two do not go together."""
    if _some(said) and _some(other):
        return f"Is there both {many(said)} and {many(other)}?"
    return f"Are there both {many(said)} and {many(other)}?" if _plural(said) and _plural(other) else ""


def _either(said: Subgraph, other: Subgraph) -> str:
    """One is enough: "Is there either a pole or a woman?"."""
    if not all(_plural(each) or _some(each) for each in (said, other)):
        return ""
    return f"{'Are' if several_of(said.name) else 'Is'} there either {one(said, 'a')} or {one(other, 'a')}?"


def _plural(said: Subgraph) -> bool:
    return countable(said) or several_of(said.name)


def _some(said: Subgraph) -> bool:
    return is_mass(said) and said.name not in THE  # water, but not the rain


def _contexts(case: Case, rival: Rival, logic: str, dice: Dice) -> Iterator[Context]:
    both = case.subgraph, rival.subgraph
    for some, others in dice.order([(0, 0), (1, 0), (0, 1), (1, 1), (2, 0), (0, 2), (2, 2)]):
        chosen = [*dice.order(case.with_it)[:some], *dice.order(rival.graphs)[:others]]
        graphs = case.around(tuple(dict.fromkeys(chosen))[:MOST_IMAGES], case.others, both, dice)
        there = [case.total(each, graphs) > 0 for each in both]
        sure = all(
            any_ or all(case.apart(each, g) for g in graphs) for each, any_ in zip(both, there, strict=True)
        )
        if len(graphs) > 1 and sure:
            yield Context(graphs, all(there) if logic == "both" else any(there))
