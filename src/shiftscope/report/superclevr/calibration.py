"""Calibration: whether beliefs in answers, and in what is seen, are worth what they say."""

from __future__ import annotations

from collections.abc import Sequence

from ...metrics._statistics import share_interval
from ...run.study.board import Board
from ...run.study.matrix import MODELS, Domain, Trained, every_grid
from ...run.study.outcome import Reliability
from ..chart.lines import Line, Point, lines
from ..chart.mark import legend_mark
from ..markup import Child, Html, tag, text
from ..section import Section

FEWEST = 5  # beliefs in a bin, for a point


def section(board: Board) -> Section | None:
    answers, shown = [], set()
    for title, trained, tested in _shown():
        found = [
            (k, model, r)
            for k, model in enumerate(MODELS)
            if (out := board.outcome(model, trained, tested, "object")) and (r := out.belief) and r.n
        ]
        if found:
            answers.append(_chart(f"Answers, {title}", found))
            shown |= {k for k, _, _ in found}
    parts: list[Child] = []
    if answers:
        marks = [tag("li", legend_mark(k), " ", MODELS[k]) for k in sorted(shown)]
        parts.append(tag("ul", marks, class_="legend", aria_label="Legend"))
        parts.append(tag("div", answers, class_="charts pairs"))
    for one in board.diagnoses:
        seen = [_chart(f"Belief: {name}", [(0, name, r)]) for name, r in one.reliability if r.n]
        if seen:
            title = f"What the scene parser believes, {one.trained.label} on {one.tested.label}"
            parts += [tag("h3", title), tag("div", seen, class_="charts pairs")]
    if not parts:
        return None
    lead = (
        "On the dashed line what is believed is right as often as believed; below it, beliefs are too sure. "
        "Whiskers: 95% (Wilson), long where few are believed so."
    )
    return Section("Belief and truth", text(parts), lead)


def _shown() -> list[tuple[str, Trained, Domain]]:
    """The default at home, and each factor's shift from the default to its last variant."""
    made = [("default on default", Trained(), Domain())]
    for one in every_grid():
        (_, trained), (_, tested) = one.trained[0 if one.factor != "visual" else 1], one.tested[-1]
        made.append((f"{trained.label} on {tested.label}", trained, tested))
    return list({(t, at): (title, t, at) for title, t, at in made}.values())


def _chart(title: str, found: Sequence[tuple[int, str, Reliability]]) -> Html:
    bins = len(found[0][2].count)
    names = [f"{100 * k // bins}–{100 * (k + 1) // bins}" for k in range(bins)]
    series = [Line(model, k, tuple(_points(r))) for k, model, r in found]
    sizes = list(found[0][2].count) if len(found) == 1 else [0] * bins
    return tag(
        "figure",
        tag("figcaption", title, tag("span", ": how often right, by belief, %")),
        lines(title, names, series, sizes, width=470, guide=[(k + 0.5) / bins for k in range(bins)]),
    )


def _points(reliability: Reliability) -> list[Point | None]:
    pairs = zip(reliability.right, reliability.count, strict=True)
    return [_point(right, n) if n >= FEWEST else None for right, n in pairs]


def _point(right: int, n: int) -> Point:
    low, high = share_interval(right, n)
    return Point(right / n, low, high, n)
