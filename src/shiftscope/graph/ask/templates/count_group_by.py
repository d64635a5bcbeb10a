"""How many images contain so many: "How many images contain exactly 2 men that are in water?".

Any subgraph that can be counted; a number that some of the images have. "At most" is asked only of images all
of which contain one, and some more: to the program an image without any is no group, in English it does
contain at most 2.
"""

from __future__ import annotations

from collections.abc import Iterator

from .._groups import groups
from ..context import Case
from ..draft import Context, Draft, Kind
from ..say import countable

KIND: Kind = "how many"


def propose(case: Case) -> Iterator[Draft]:
    said = case.said(case.subgraph)
    if not countable(said):
        return
    found = groups(case, case.dice("count_group_by"))
    if found is None:
        return
    making = case.making()
    making.put("count", found.images(making, case.subgraph))
    yield Draft(
        template="count_group_by",
        text=f"How many images contain {found.said(said)}?",
        program=making.program(),
        slots=(("thing", said), ("test", found.test), ("number", found.number)),
        about=(case.subgraph,),
        contexts=tuple(Context(graphs, many) for graphs, many in found.tallied),
    )
