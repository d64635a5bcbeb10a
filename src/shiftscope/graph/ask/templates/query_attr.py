"""Which color, material, … a thing has: "What is the color of the cat that is on a black floor?".

The root has an attribute of a kind that a thing has one value of; distractors differ in it and in something
else.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...subgraph import root_attribute
from .._reference import referred
from ..context import Case
from ..draft import Context, Draft, Kind
from ..say import one as the

KIND: Kind = "open"


def propose(case: Case) -> Iterator[Draft]:
    node, family = root_attribute(case.subgraph), case.family
    if node is None or not family:
        return
    thing = case.subgraph.without_attribute()
    found = referred(case, thing, node, (node,), case.dice("query_attr"))
    known = [one for one in found if _told(case, one.graphs[0], family) == one.value]
    if not known:
        return
    making = case.making()
    making.put("query", making.one(thing), words=(family,))
    said = case.said(thing)
    yield Draft(
        template="query_attr",
        text=f"What is the {family} of {the(said)}?",
        program=making.program(),
        slots=(("thing", said), ("family", family)),
        about=(case.subgraph,),
        contexts=tuple(Context(one.graphs, one.value) for one in known),
    )


def _told(case: Case, graph: int, family: str) -> str:
    """The value of the one that is described there."""
    (thing,) = case.things(case.subgraph.without_attribute(), graph)
    return case.value(thing, family)
