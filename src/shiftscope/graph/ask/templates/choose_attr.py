"""Which of two attributes a thing has: "Is the man that is wearing a jersey running or looking up?".

The root has an attribute; the other one comes from a distractor in which something else is different as well.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...subgraph import root_attribute
from .._reference import choice
from ..context import Case
from ..draft import Context, Draft, Kind
from ..inquire import is_it
from ..say import predicative, state

KIND: Kind = "or"


def propose(case: Case) -> Iterator[Draft]:
    value, node = case.subgraph.attribute, root_attribute(case.subgraph)
    if node is None or not predicative(case.word(value)):
        return
    dice = case.dice("choose_attr")
    thing = case.subgraph.without_attribute()
    found = choice(case, thing, node, (node,), dice, lambda other: predicative(case.word(other)))
    sets = [one for one in found.sets if case.told(thing, one.graphs[0], value)] if found else []
    if found is None or not sets:
        return
    this, that = dice.order([value, found.other])
    making = case.making()
    making.put("choose", making.one(thing), words=(making.attribute(this), this, that))
    said = case.said(thing)
    second = state(case.word(that)).removeprefix("is ")
    yield Draft(
        template="choose_attr",
        text=f"{is_it(said, case.word(this))} or {second}?",
        program=making.program(),
        slots=(("thing", said), ("this", case.word(this)), ("that", case.word(that))),
        about=(case.subgraph,),
        contexts=tuple(Context(one.graphs, one.value) for one in sets),
    )
