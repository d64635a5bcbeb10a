"""Proportion: accuracy on head and tail after training with more and more shortcut samples (Figure 7)."""

from __future__ import annotations

from collections.abc import Sequence

from ...result import Score
from ...run.proportion import BlendScore
from ..chart.lines import Line, Point, lines
from ..legend import swatches
from ..markup import Child, Html, tag, text
from ..number import count
from ..section import Section
from .evidence import Evidence, called


def section(shown: Evidence) -> Section | None:
    if not shown.blends:
        return None
    names = [n for n in shown.audit.labels if any(b.shortcut == n for b in shown.blends)]
    charts = [_chart(name, [b for b in shown.blends if b.shortcut == name]) for name in names]
    legend = swatches((("accuracy on the head", "is-head"), ("accuracy on the tail (OOD)", "is-tail")))
    lead = (
        "The same model trained on sets of one size, of which so many per cent are shortcut samples (heads) "
        "and the rest are of the tail; then asked about both parts of the IID test."
    )
    body: list[Child] = [legend, tag("div", charts, class_="charts")]
    return Section("More and more shortcut samples", text(body), lead)


def _chart(name: str, blends: Sequence[BlendScore]) -> Html:
    ordered = sorted(blends, key=lambda b: b.share)
    drawn = [
        Line("head", 0, tuple(_point(b.head) for b in ordered)),
        Line("tail", 1, tuple(_point(b.tail) for b in ordered)),
    ]
    caption = f": {called(name)}, {count(ordered[0].n_train)} training samples"
    label = f"Accuracy on head and tail of {name} against the share of shortcut samples"
    shares = [f"{b.share}%" for b in ordered]
    return tag(
        "figure",
        tag("figcaption", name, tag("span", caption)),
        lines(label, shares, drawn, [0] * len(shares)),
    )


def _point(score: Score) -> Point | None:
    return None if score.value is None else Point(score.value, score.low, score.high, score.n)
