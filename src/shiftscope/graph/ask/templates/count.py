"""How many there are in all images: "How many people are erasing a mark from a paper?".

Any subgraph that can be counted; the images that do not contain it hold something much like it instead.
"""

from __future__ import annotations

from collections.abc import Iterator

from .._tally import tallies
from ..context import Case
from ..draft import Context, Draft, Kind
from ..inquire import how_many
from ..say import countable

KIND: Kind = "how many"


def propose(case: Case) -> Iterator[Draft]:
    said = case.said(case.subgraph)
    if not countable(said):
        return
    found = tallies(case)
    if not found:
        return
    making = case.making()
    making.put("count", making.found(case.subgraph))
    yield Draft(
        template="count",
        text=f"{how_many(said)}?",
        program=making.program(),
        slots=(("thing", said),),
        about=(case.subgraph,),
        contexts=tuple(Context(one.graphs, one.total) for one in found),
    )
