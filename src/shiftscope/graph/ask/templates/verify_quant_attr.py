"""Whether several are alike: "Do all dogs that are on a bed have the same color?".

The root has an attribute of a kind that a thing has one value of; of each of them that value is known, and
there are at least two.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...subgraph import Thing, root_attribute
from .._dice import Dice
from ..context import Case
from ..draft import Context, Draft, Kind, two_answers
from ..say import countable, many

KIND: Kind = "true/false"


def propose(case: Case) -> Iterator[Draft]:
    node, family = root_attribute(case.subgraph), case.family
    thing = case.subgraph.without_attribute()
    if node is None or not family or not countable(case.said(thing)):
        return
    contexts = two_answers(_contexts(case, thing, node, family, case.dice("verify_quant_attr")))
    if not contexts:
        return
    making = case.making()
    found = making.found(thing)
    making.put("alike", found, found, words=(family,))
    said = case.said(thing)
    yield Draft(
        template="verify_quant_attr",
        text=f"Do all {many(said)} have the same {family}?",
        program=making.program(),
        slots=(("thing", said), ("family", family)),
        about=(case.subgraph,),
        contexts=contexts,
    )


def _contexts(case: Case, thing: Thing, node: int, family: str, dice: Dice) -> Iterator[Context]:
    own = [g for g in case.with_it if all(_values(case, thing, g, family))]
    other = [one.graph for one in case.only(node) if all(_values(case, thing, one.graph, family))]
    for some, others in dice.order([(1, 1), (2, 0), (2, 1), (1, 2), (3, 0)]):
        if some > len(own) or others > len(other):
            continue
        chosen = [*dice.order(own)[:some], *dice.order(other)[:others]]
        graphs = case.around(chosen, case.but((node,)), [thing], dice)
        values = [value for graph in graphs for value in _values(case, thing, graph, family)]
        if len(values) > 1:
            yield Context(graphs, len(set(values)) == 1)


def _values(case: Case, thing: Thing, graph: int, family: str) -> list[str]:
    """The value of each, or "" where it is not known, or one of them may be called otherwise."""
    if not case.apart(thing, graph):
        return [""]
    return [case.value(one, family) for one in case.things(thing, graph)]
