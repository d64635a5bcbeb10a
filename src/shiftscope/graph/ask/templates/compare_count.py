"""Whether there are more of one than of another: "There are more tables in a room than couches.".

The other is what a distractor holds instead of the subgraph; each is there at least once in some image.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from .._dice import Dice
from ..context import MOST_IMAGES, Case, Rival
from ..draft import Context, Draft, Kind, two_answers
from ..say import countable, many

KIND: Kind = "true/false"
COMPARATIVES = {"more": "greater", "fewer": "less", "same": "equal"}
MOST_OF_ONE = 3  # images chosen because they contain the one, or the other
WORDS = {
    "more": "There are more {} than {}.",
    "fewer": "There are fewer {} than {}.",
    "same": "There are exactly as many {} as {}.",
}


def propose(case: Case) -> Iterator[Draft]:
    thing, rival = case.subgraph, case.rival
    said = case.said(thing)
    if rival is None or not countable(said) or not countable(case.said(rival.subgraph)):
        return
    dice = case.dice("compare_count")
    comparative = dice.one(tuple(COMPARATIVES))
    contexts = two_answers(_contexts(case, rival, comparative, dice))
    if not contexts:
        return
    making = case.making()
    left = making.put("count", making.found(thing))
    right = making.put("count", making.found(rival.subgraph))
    making.put(COMPARATIVES[comparative], left, right)
    other = case.said(rival.subgraph)
    yield Draft(
        template="compare_count",
        text=WORDS[comparative].format(many(said), many(other)),
        program=making.program(),
        slots=(("thing", said), ("other", other), ("comparative", comparative)),
        about=(thing, rival.subgraph),
        contexts=contexts,
    )


def _contexts(case: Case, rival: Rival, comparative: str, dice: Dice) -> Iterator[Context]:
    thing, other = case.subgraph, rival.subgraph
    for some, others in dice.order(list(product(range(MOST_OF_ONE + 1), repeat=2))):
        chosen = [*dice.order(case.with_it)[:some], *dice.order(rival.graphs)[:others]]
        graphs = case.around(tuple(dict.fromkeys(chosen))[:MOST_IMAGES], case.others, [thing, other], dice)
        left, right = case.total(thing, graphs), case.total(other, graphs)
        if len(graphs) < 2 or not left or not right:
            continue
        if all(case.counted(each, graph) for each in (thing, other) for graph in graphs):
            yield Context(graphs, _compared(comparative, left, right))


def _compared(comparative: str, left: int, right: int) -> bool:
    return {"more": left > right, "fewer": left < right, "same": left == right}[comparative]
