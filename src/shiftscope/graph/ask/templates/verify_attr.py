"""Whether a thing has an attribute: "Is the sink that is below a towel white?".

The root has an attribute. What is described without it is in one image alone; in the others the attribute and
something else are different, so that neither "white" nor "sink" by itself gives the answer away.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...subgraph import root_attribute
from .._reference import referred
from ..context import Case
from ..draft import Context, Draft, Kind
from ..inquire import is_it
from ..say import predicative

KIND: Kind = "true/false"


def propose(case: Case) -> Iterator[Draft]:
    value, node = case.subgraph.attribute, root_attribute(case.subgraph)
    if node is None or not predicative(case.word(value)):
        return
    thing = case.subgraph.without_attribute()
    sets = referred(case, thing, node, (node,), case.dice("verify_attr"))
    found = [one for one in sets if case.told(thing, one.graphs[0], value)]
    if not found:
        return
    making = case.making()
    making.put("verify", making.one(thing), words=(making.attribute(value), value))
    said, word = case.said(thing), case.word(value)
    yield Draft(
        template="verify_attr",
        text=f"{is_it(said, word)}?",
        program=making.program(),
        slots=(("thing", said), ("attribute", word)),
        about=(case.subgraph,),
        contexts=tuple(Context(one.graphs, one.value == value) for one in found),
    )
