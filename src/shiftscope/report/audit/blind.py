"""Blind: how much of the IID test and of each OOD set is solved without seeing and reading both."""

from __future__ import annotations

from math import ceil

from ...result import Score
from ..chart.dumbbell import Dumbbell, dumbbells
from ..chart.mark import legend_mark
from ..figure import figure
from ..legend import swatches
from ..markup import Child, Html, tag, text
from ..number import percent
from ..section import Section
from ..table import Cell, Head, table
from .evidence import KNOWS, Evidence, called

TABLE = "Accuracy in per cent, and the gap in points"


def section(shown: Evidence) -> Section | None:
    if not any(shown.score(model, "iid") for model in shown.models):
        return None
    most = _most(shown)
    charts = [chart for model in shown.models if (chart := _chart(shown, model, most))]
    legend = swatches((("head split", "is-head"), ("tail split: the OOD set", "is-tail")))
    body: list[Child] = [legend, tag("div", charts, class_="charts pairs")] if charts else []
    lead = (
        "Models that lack the picture or the question: what they solve, shortcuts solve. The dashed line is "
        "the IID test; the further the tail lies below it, the more of the score rests on the shortcut."
    )
    return Section("What can be solved blind", text([*body, _table(shown), _key()]), lead)


def named(shown: Evidence, model: str) -> Html:
    """A model's name after its sign."""
    return tag("span", legend_mark(shown.series(model)), model, class_="name", title=KNOWS.get(model))


def _most(shown: Evidence) -> float:
    """Where the scale of all charts ends: a ten above all of it."""
    shares = [
        s.high or s.value or 0.0 for some in shown.blind.values() for s in some if "gap" not in s.metric
    ]
    return min(ceil(10 * max(shares, default=1.0)) / 10, 1.0)


def _chart(shown: Evidence, model: str, most: float) -> Html | None:
    iid = shown.score(model, "iid")
    if iid is None or iid.value is None:
        return None
    rows = []
    for name in shown.audit.labels:
        tail, head = shown.score(model, "ood", name), shown.score(model, "acc_head", name)
        if tail is None:
            continue
        gap = shown.score(model, "gap", name)
        rows.append(Dumbbell(name, head, tail, percent(gap.value) if gap else ""))
    if not rows:
        return None
    said = f"{model}: accuracy on head and tail of {len(rows)} shortcuts; IID test {percent(iid.value)}"
    caption = tag(
        "figcaption", named(shown, model), tag("span", f": {KNOWS.get(model, '')}".removesuffix(": "))
    )
    return tag("figure", caption, dumbbells(said, rows, iid, most=most))


def _table(shown: Evidence) -> Html:
    heads = [Head("Set")]
    for model in shown.models:
        heads += [
            Head(named(shown, model), numeric=True),
            Head("gap", numeric=True, title=f"IID test minus this set for {model}, in points"),
        ]
    sets = [("IID test", "", "iid", ""), *((f"OOD {n}", called(n), "ood", n) for n in shown.audit.labels)]
    rows = [_row(shown, *one) for one in sets]
    mean = [_row(shown, "Mean of the OOD sets", "", "mean_ood", "")] if len(shown.audit.labels) > 1 else []
    return table(heads, [rows[:1], rows[1:], mean], caption=TABLE, class_="solved")


def _row(shown: Evidence, name: str, about: str, metric: str, shortcut: str) -> list[Cell]:
    cells = [Cell(name, title=about)]
    for model in shown.models:
        gap = None
        if metric != "iid":
            gap = shown.score(model, "gap" if shortcut else "mean_gap", shortcut)
        cells += [figure(shown.score(model, metric, shortcut)), _gap(gap)]
    return cells


def _gap(score: Score | None) -> Cell:
    return Cell("", 0.0) if score is None else figure(score)


def _key() -> Html:
    return tag(
        "p",
        "Gap: IID test minus OOD set, paired: both are resampled together, image by image (95% intervals). "
        "All models learn from the train split and are chosen on the IID val split, never on an OOD set.",
        class_="note",
    )
