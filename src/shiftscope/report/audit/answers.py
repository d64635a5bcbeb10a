"""Answers: the named answers of one group with their shares in train, IID test and OOD test."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...audit.tables import Distribution
from ..markup import Html, tag
from ..number import NONE, count, percent, several
from .histogram import LOOK

COMMON = 6  # the commonest in train
RARE = 4  # and the commonest of the OOD set among the others
LETTERS = 40

Counts = npt.NDArray[np.int64]


def answers(spread: Distribution) -> Html:
    """A table with bars; what it leaves out is summed in its last row."""
    listed = list(range(min(COMMON, len(spread.answers))))
    rare = np.argsort(-spread.ood[COMMON:], kind="stable")[:RARE] + COMMON
    listed += sorted(int(k) for k in rare if spread.ood[k] > 0)
    rest = np.ones(len(spread.answers), bool)
    rest[listed] = False
    sets = [("Train", spread.train), ("IID test", spread.test), ("OOD test", spread.ood)]
    head = tag("tr", [tag("th", name, scope="col") for name in ("Answer", *(s[0] for s in sets))])
    shown: list[tuple[str, str | None, list[tuple[int, float | None]]]]
    shown = [(spread.answers[k], spread.parts[k], [_at(counts, k) for _, counts in sets]) for k in listed]
    if rest.any():
        name = several(int(rest.sum()), "other answer")
        shown.append((name, None, [_of(int(c[rest].sum()), int(c.sum())) for _, c in sets]))
    most = max((share for _, _, cells in shown for _, share in cells if share), default=1.0)
    rows = [_row(*one, most) for one in shown]
    return tag("table", tag("thead", head), tag("tbody", rows), class_="answers")


def _at(counts: Counts, place: int) -> tuple[int, float | None]:
    return _of(int(counts[place]), int(counts.sum()))


def _of(n: int, total: int) -> tuple[int, float | None]:
    return n, n / total if total else None


def _row(name: str, part: str | None, cells: list[tuple[int, float | None]], most: float) -> Html:
    """`most` is the share that fills its place."""
    short = name if len(name) <= LETTERS else f"{name[:LETTERS]}…"
    mark = None if part is None else tag("i", class_=LOOK[part], title=part or "balanced")
    made = [tag("th", mark, short or "(empty)", scope="row", class_="other" if part is None else None)]
    for n, share in cells:
        if share is None:
            made.append(tag("td", NONE))
        elif not n:
            made.append(tag("td", "0", class_="quiet"))
        else:
            made.append(tag("td", percent(share), style=f"--n:{share / most:.3g}", title=count(n)))
    return tag("tr", made)
