"""Whether so many images contain so many: "There is at least 1 image that contains exactly 2 women.".

As for counting such images; the number of images is fewer than there are in any set that it is asked of, so
that "at most" can be wrong.
"""

from __future__ import annotations

from collections.abc import Iterator

from .._groups import Groups, groups
from .._numbers import TESTS, passes, plain, verb
from ..context import Case
from ..draft import Context, Draft, Kind
from ..say import countable

KIND: Kind = "true/false"


def propose(case: Case) -> Iterator[Draft]:
    said = case.said(case.subgraph)
    if not countable(said):
        return
    dice = case.dice("verify_count_group_by")
    found = groups(case, dice)
    if found is None:
        return
    test = dice.one(tuple(TESTS))
    numbers = range(1, max(len(graphs) for graphs, _ in found.tallied))
    asked = {n: tuple(_contexts(found, test, n)) for n in numbers}
    telling = [n for n, contexts in asked.items() if len({one.answer for one in contexts}) > 1]
    some = [n for n, contexts in asked.items() if contexts]
    if not some:
        return
    number = dice.one(telling or some)
    making = case.making()
    images = making.put("count", found.images(making, case.subgraph))
    making.put(TESTS[test], images, making.number(number))
    so_many = f"{test} {number}".lstrip()
    contain = "image that contains" if number == 1 else "images that contain"
    yield Draft(
        template="verify_count_group_by",
        text=f"There {verb(number)} {so_many} {contain} {found.said(said)}.",
        program=making.program(),
        slots=(
            ("thing", said),
            ("test", found.test),
            ("number", found.number),
            ("images_test", test),
            ("images", number),
        ),
        about=(case.subgraph,),
        contexts=asked[number],
    )


def _contexts(found: Groups, test: str, number: int) -> Iterator[Context]:
    """The sets of more images than that, of which nobody could take the number otherwise."""
    for graphs, many in found.tallied:
        if number < len(graphs) and plain(test, many, number):
            yield Context(graphs, passes(test, many, number))
