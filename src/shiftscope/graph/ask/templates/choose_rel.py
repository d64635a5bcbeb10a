"""In which of two relations one is to a thing: "Is the sitting man holding a hat or wearing it?".

The root has a relation; the other one comes from a distractor in which something else is different as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from ...subgraph import Link, Thing
from .._parts import branches
from .._reference import choice
from ..context import Case
from ..draft import Context, Draft, Kind
from ..inquire import comparable, either_relation

KIND: Kind = "or"


def propose(case: Case) -> Iterator[Draft]:
    dice = case.dice("choose_rel")
    for branch in branches(case.subgraph):
        link, thing = branch.link, branch.rest
        if link.modifiers or any(k.thing.name == link.thing.name for k in thing.relations):
            continue
        found = choice(case, thing, branch.relation, branch.nodes, dice, partial(_comparable, case, link))
        if found is None:
            continue
        this, that = dice.order([link.relation, found.other])
        making = case.making()
        one, others = making.one(thing), making.found(link.thing)
        making.put("choose_relation", one, others, words=(this, that, "object"))
        said = case.said(thing)
        (first,) = case.said(Thing(thing.name, "", (Link(this, link.thing),))).relations
        yield Draft(
            template="choose_rel",
            text=f"{either_relation(said, first, case.word(that))}?",
            program=making.program(),
            slots=(("thing", said), ("link", first), ("other", case.word(that))),
            about=(case.subgraph,),
            contexts=tuple(Context(one.graphs, one.value) for one in found.sets),
        )


def _comparable(case: Case, link: Link, other: str) -> bool:
    (said,) = case.said(Thing(link.thing.name, "", (link,))).relations
    return comparable(said, case.word(other), case.word(case.subgraph.name))
