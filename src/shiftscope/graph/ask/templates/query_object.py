"""To what a thing is related: "What is the woman that is wearing glasses holding?".

The root has a relation, neither to a part nor to clothes, and in its image to one thing only; distractors
differ in that thing and in something else. What the question names already is no answer.
"""

from __future__ import annotations

from collections.abc import Iterator

from ....ask.english import plural
from ...subgraph import Thing
from .._parts import branches, said_already, to_plain_thing
from .._reference import referred
from ..context import Case
from ..draft import Context, Draft, Kind
from ..inquire import what_of

KIND: Kind = "open"


def propose(case: Case) -> Iterator[Draft]:
    dice = case.dice("query_object")
    for branch in branches(case.subgraph):
        link, thing = branch.link, branch.rest
        if not to_plain_thing(link) or said_already(thing, link):
            continue
        sets = referred(case, thing, branch.thing, branch.nodes, dice)
        found = [one for one in sets if not _named(thing, one.value)]
        if not found:
            continue
        making = case.making()
        reached = making.put("related", making.one(thing), words=(link.relation, "object"))
        making.put("query", making.put("unique", reached), words=(making.noun,))
        said, relation = case.said(thing), case.word(link.relation)
        yield Draft(
            template="query_object",
            text=f"{what_of(said, relation)}?",
            program=making.program(),
            slots=(("thing", said), ("relation", relation)),
            about=(case.subgraph,),
            contexts=tuple(Context(one.graphs, one.value) for one in found),
        )


def _named(thing: Thing, answer: str) -> bool:
    """Whether the description of the thing names the answer: the red car is next to another car."""
    return any(kind == "object" and answer in (name, plural(name)) for kind, name in thing.nodes())
