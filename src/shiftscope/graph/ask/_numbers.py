"""Numbers in questions: which of them are asked about, how they are said and tested."""

from __future__ import annotations

from ...lang.ops.images import TESTS as OPS
from ..subgraph import Subgraph
from .say import many, one

TESTS = {"": "equal", "at least": "at_least", "at most": "at_most", "exactly": "equal"}  # as said → the op
MOST_NUMBER = 5


def passes(test: str, count: int, number: int) -> bool:
    """Whether a count is as it was said to be."""
    return bool(OPS[TESTS[test]](count, number))


def plain(test: str, count: int, number: int) -> bool:
    """Whether nobody could take it otherwise: of 5 one may say that there are 2, but not "exactly" 2."""
    return bool(test) or count <= number


def so_many(said: Subgraph, test: str, number: int) -> str:
    """A number of things: "at most 1 cup that is behind a man", "3 dogs"."""
    things = one(said, "") if number == 1 else many(said)
    return f"{test} {number} {things}".lstrip()


def verb(number: int) -> str:
    return "is" if number == 1 else "are"
