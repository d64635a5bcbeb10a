"""Whether there are so many: "There is at most 1 cup that is behind a man that is wearing a jacket.".

Any subgraph that can be counted, and a number near how many there are: at least, at most, exactly or just so
many. That there are 2 is not asked of 5, of which it is not plainly wrong.
"""

from __future__ import annotations

from collections.abc import Iterator

from .._numbers import MOST_NUMBER, TESTS, passes, plain, so_many, verb
from .._tally import tallies
from ..context import Case
from ..draft import Context, Draft, Kind
from ..say import countable

KIND: Kind = "true/false"


def propose(case: Case) -> Iterator[Draft]:
    said = case.said(case.subgraph)
    if not countable(said):
        return
    dice = case.dice("verify_count")
    found = tallies(case)
    totals = sorted({one.total for one in found})
    numbers = [n for n in range(1, MOST_NUMBER + 1) if totals and n <= totals[-1] + 1]
    test = dice.one(tuple(TESTS))
    if not numbers:
        return
    telling = [n for n in numbers if len({passes(test, t, n) for t in totals if plain(test, t, n)}) > 1]
    number = dice.one(telling or numbers)
    making = case.making()
    making.put(TESTS[test], making.put("count", making.found(case.subgraph)), making.number(number))
    yield Draft(
        template="verify_count",
        text=f"There {verb(number)} {so_many(said, test, number)}.",
        program=making.program(),
        slots=(("thing", said), ("test", test), ("number", number)),
        about=(case.subgraph,),
        contexts=tuple(
            Context(one.graphs, passes(test, one.total, number))
            for one in found
            if plain(test, one.total, number)
        ),
    )
