"""Histogram: the answers of one group in train, IID test and OOD test, in one order (Figures 4, 8 and 10)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ...audit.tables import Distribution
from ..chart.frame import frame, rule, words
from ..markup import Html, tag
from ..number import count, percent, several

MOST = 40  # answers drawn
WIDTH, PANEL, GAP, LEFT, TOP = 430.0, 60.0, 31.0, 30.0, 16.0
LEAST = 1.2  # pixels that an answer which is there is high at least
LOOK = {"head": "is-head", "tail": "is-tail", "": "is-rest"}


def histogram(spread: Distribution, limit: float | None) -> Html:
    """Three panels; `limit` is the share of the test below which an answer is rare, a dashed line."""
    shown = min(len(spread.answers), MOST)
    sets = [("Train", spread.train, ("",) * shown), ("IID test", spread.test, spread.parts[:shown])]
    if spread.ood.any():
        sets.append(("OOD test", spread.ood, ("tail",) * shown))
    parts: list[Html] = []
    top = TOP
    for name, counts, looks in sets:
        total = int(counts.sum())
        parts.append(words(LEFT, top - 5, f"{name}, n = {count(total)}", class_="heading"))
        parts += _panel(counts, looks, top, limit if name == "IID test" else None)
        top += PANEL + GAP
    left_out = len(spread.answers) - shown
    end = f"; {several(left_out, 'rarer answer')} not drawn" if left_out else ""
    parts.append(words(LEFT, top - GAP + 13, f"answers, commonest in train first{end}", class_="tick"))
    return frame(
        WIDTH, top - GAP + 18, f"Answers of {spread.name} in {', '.join(s[0] for s in sets)}", *parts
    )


def _panel(
    counts: npt.NDArray[np.int64], looks: Sequence[str], top: float, limit: float | None
) -> list[Html]:
    shares = (counts / max(int(counts.sum()), 1))[: len(looks)].tolist()
    most = max([*shares, limit or 0.0]) or 1.0
    base, step = top + PANEL, (WIDTH - LEFT) / max(len(shares), 12)
    made = [
        rule(LEFT, base, WIDTH, base, "base"),
        words(LEFT - 5, top + 8, f"{percent(most, 0)}%", at="end", class_="tick"),
    ]
    for look in dict.fromkeys(looks):
        path = "".join(
            f"M{LEFT + k * step + 0.5:.1f} {base:.0f}v-{max(PANEL * s / most, LEAST):.1f}h{step - 1:.1f}"
            f"V{base:.0f}z"
            for k, (s, of) in enumerate(zip(shares, looks, strict=True))
            if of == look and s > 0
        )
        if path:
            made.append(tag("path", d=path, class_=f"share {LOOK[look]}"))
    if limit is not None:
        y = base - PANEL * limit / most
        made.append(rule(LEFT, y, WIDTH, y, "guide"))
        made.append(words(WIDTH - 2, y - 3, "rare below", at="end", class_="tick"))
    return made
