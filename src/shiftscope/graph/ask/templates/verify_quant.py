"""Whether all, some or none of several are so: "No boys that are under a tree are wearing jeans.".

What is said of them is the root's attribute or one of its relations, unless to a part; the rest describes
them. Each of them is known to be so, or to be something else that excludes it; there are at least two.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ....lang.program import Program
from ...subgraph import Link, Thing, root_attribute
from .._dice import Dice
from .._parts import branches, has_part
from ..context import Case
from ..draft import Context, Draft, Kind, Slots, two_answers
from ..say import clause, countable, many, predicative, state

KIND: Kind = "true/false"
QUANTIFIERS = {"all": "all", "some": "some", "no": "none"}  # as said → the op


class Predicate(NamedTuple):
    """What is said of the things: an attribute or a relation."""

    scope: Thing
    nodes: tuple[int, ...]
    attribute: str = ""
    link: Link | None = None


def propose(case: Case) -> Iterator[Draft]:
    dice = case.dice("verify_quant")
    for said in _predicates(case):
        scope = case.said(said.scope)
        quantifier = dice.one(tuple(QUANTIFIERS))
        contexts = two_answers(_contexts(case, said, quantifier, dice)) if countable(scope) else ()
        if not contexts:
            continue
        filled, words = _told(case, said)
        yield Draft(
            template="verify_quant",
            text=f"{quantifier.capitalize()} {many(scope)} {words}.",
            program=_program(case, said, quantifier),
            slots=(("quantifier", quantifier), ("thing", scope), *filled),
            about=(case.subgraph,),
            contexts=contexts,
        )


def _program(case: Case, said: Predicate, quantifier: str) -> Program:
    making = case.making()
    among = making.found(said.scope)
    it = making.put("it")
    if said.link is None:
        body = making.put("verify", it, words=(making.attribute(said.attribute), said.attribute))
    else:
        body = making.put("exist", making.related(it, said.link))
    making.put(QUANTIFIERS[quantifier], among, body)
    return making.program()


def _predicates(case: Case) -> Iterator[Predicate]:
    subgraph = case.subgraph
    node = root_attribute(subgraph)
    if node is not None and predicative(case.word(subgraph.attribute)):
        yield Predicate(subgraph.without_attribute(), (node,), subgraph.attribute)
    for branch in branches(subgraph):
        if has_part(branch.link):
            continue
        yield Predicate(branch.rest, tuple(branch.nodes), "", branch.link)


def _told(case: Case, said: Predicate) -> tuple[Slots, str]:
    if said.link is None:
        word = case.word(said.attribute)
        return (("attribute", word),), state(word, plural=True)
    (link,) = case.said(Thing(said.scope.name, "", (said.link,))).relations
    return (("link", link),), clause(link, plural=True)


def _contexts(case: Case, said: Predicate, quantifier: str, dice: Dice) -> Iterator[Context]:
    """Sets with so many images in which they are so, and so many in which they are not."""
    scope = said.scope
    true = [g for g in case.with_it if case.count(scope, g) == case.count(case.subgraph, g)]
    false = [one.graph for one in case.within(said.nodes) if case.count(scope, one.graph) == 1]
    true, false = (
        [g for g in graphs if case.apart(scope, g) and case.told(scope, g, said.attribute)]
        for graphs in (true, false)
    )
    outside = case.but(said.nodes)
    for some, others in dice.order([(1, 1), (2, 0), (0, 2), (3, 0), (0, 3), (2, 1), (1, 2)]):
        if some > len(true) or others > len(false):
            continue
        chosen = [*dice.order(true)[:some], *dice.order(false)[:others]]
        graphs = case.around(chosen, outside, [scope], dice)
        so, there = case.total(case.subgraph, graphs), case.total(scope, graphs)
        if there > 1:
            answers = {"all": so == there, "some": so > 0, "no": so == 0}
            yield Context(graphs, answers[quantifier])
