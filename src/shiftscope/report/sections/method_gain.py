"""What a debiasing method gains over its backbone, set by set (Figure 1a of VQA-VS)."""

from collections.abc import Mapping
from typing import Any

from ...metrics.model_selection import IID, PLANTED, SelectionResults, tail_of
from ...result import Score
from ...shortcuts.concepts import SHORTCUTS
from ..chart.bars import Bar, draw_bars
from ..markup import Html, render_charts, render_figure
from ..number_format import format_points
from ..page import Section
from ..selection_page import format_gain, format_seeds
from ..table import Table

PLACES = {"selection_study": 30}
AIMED, OTHER = 0, 1  # series: the shortcuts that a method is meant for, and the others


def section(results: SelectionResults) -> Section | None:
    methods = [m for m in results.study.methods if m.backbone]
    sets = {**{s: tail_of(s) for s in SHORTCUTS}, "iid": IID, PLANTED: PLANTED}
    gains = {m.label: {n: results.find_gain(m.label, m.backbone, s) for n, s in sets.items()} for m in methods}
    rows = [
        (
            f"{m.label} − {m.backbone}",
            format_seeds(results.list_seeds(m.label, m.backbone)),
            *map(format_gain, gains[m.label].values()),
        )
        for m in methods
    ]
    if not rows:
        return None
    charts = [
        render_figure(f"{m.label} − {m.backbone}", "", chart)
        for m in methods
        if (chart := _draw_gains(m, gains[m.label])) is not None
    ]
    parts: list[Any] = [
        Table("Gain over the backbone (Figure 1a)", ("", "seeds", *sets), rows, results.study.notes["gain"])
    ]
    if charts:
        parts.insert(0, render_charts(charts, "charts"))
    lead = "Points on each set; the shortcuts that a method is meant for have another colour." if charts else ""
    return Section("Debiasing methods against their backbones", parts, lead)


def _draw_gains(method: Any, gains: Mapping[str, Score | None]) -> Html | None:
    bars = [
        Bar(
            name,
            100 * gain.value,
            format_points(gain.value, 1),
            AIMED if name in method.against else OTHER,
            None if gain.low is None else 100 * gain.low,
            None if gain.high is None else 100 * gain.high,
        )
        for name, gain in gains.items()
        if gain is not None and gain.value is not None
    ]
    label = f"Points that {method.label} gains over {method.backbone} on each set"
    return draw_bars(label, bars, width=420) if bars else None
