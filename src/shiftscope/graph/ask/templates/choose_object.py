"""To which of two things one is related: "Is the woman in a dress carrying a bottle or a purse?".

The root has a relation, neither to a part nor to clothes, to a thing of which nothing else is said; or the
relation has a modifier: "Is the woman that is lighting a cigar lighting it using a candle or a lighter?". The
other name is that of a distractor in which something else is different as well; neither belongs to the other.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from ...subgraph import Link, Thing
from .._belonging import belong
from .._dice import Dice
from .._parts import Branch, branches, modifications, said_already, to_plain_thing
from .._reference import choice
from ..context import Case
from ..draft import Context, Draft, Kind
from ..inquire import either_modifier, either_object
from ..meaning import modified
from ..say import sayable

KIND: Kind = "or"


def propose(case: Case) -> Iterator[Draft]:
    dice = case.dice("choose_object")
    for branch in branches(case.subgraph):
        if to_plain_thing(branch.link) and not said_already(branch.rest, branch.link):
            yield from _drafts(case, branch, branch.link.relation, dice)
    for branch in modifications(case.subgraph):
        (modifier,) = branch.link.modifiers
        if modifier.thing.size == 1 and not _unclear(case, branch.link):
            yield from _drafts(case, branch, modified(branch.link, modifier), dice)


def _drafts(case: Case, branch: Branch, relation: str, dice: Dice) -> Iterator[Draft]:
    thing, own = branch.rest, case.nodes[branch.thing].name
    found = choice(case, thing, branch.thing, branch.nodes, dice, partial(_fits, case, branch))
    if found is None:
        return
    this, that = dice.order([own, found.other])
    making = case.making()
    either = making.put("union", making.called(this), making.called(that))
    reached = making.put("related", making.one(thing), words=(relation, "object"))
    one = making.put("unique", making.put("intersect", either, reached))
    making.put("choose", one, words=(making.noun, this, that))
    said = case.said(thing)
    (link,) = case.said(Thing(thing.name, "", (_leading_to(branch.link, this),))).relations
    ask = either_modifier if link.modifiers else either_object
    yield Draft(
        template="choose_object",
        text=f"{ask(said, link, case.word(that))}?",
        program=making.program(),
        slots=(("thing", said), ("link", link), ("other", case.word(that))),
        about=(case.subgraph,),
        contexts=tuple(Context(one.graphs, one.value) for one in found.sets),
    )


def _fits(case: Case, branch: Branch, name: str) -> bool:
    own = case.nodes[branch.thing].name
    if belong(own, name) or (branch.link.modifiers and name == branch.link.thing.name):
        return False
    return sayable(case.said(case.subgraph.replaced({branch.thing: name})))


def _leading_to(link: Link, name: str) -> Link:
    """The link with another thing at its end: its modifier's, where it has one."""
    if not link.modifiers:
        return replace(link, thing=Thing(name))
    return replace(link, modifiers=(replace(link.modifiers[0], thing=Thing(name)),))


def _unclear(case: Case, link: Link) -> bool:
    """Whether "opening it with" could be misread, or one of two such modifiers would give an answer away."""
    (modifier,) = link.modifiers
    names = [node.name for node in case.nodes]
    relations = [one.relation for one in case.subgraph.relations]
    twice = names.count(modifier.name) > 1 or relations.count(link.relation) > 1
    return twice or modifier.thing.name == link.thing.name
