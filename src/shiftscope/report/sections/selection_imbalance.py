"""Imbalance of the train answers against OOD accuracy, over all models (Figure 6 of VQA-VS)."""

from typing import Any

from ...metrics.model_selection import OOD_TEST, SelectionResults, tail_of
from ...shortcuts.concepts import SHORTCUTS
from ..chart.frame import draw_legend_mark
from ..chart.lines import RankedPlace, draw_ranked
from ..markup import render_legend, tag
from ..number_format import DASH
from ..page import Section
from ..selection_page import MARK, format_figure, format_seeds
from ..table import Table

PLACES = {"selection_study": 50}


def section(results: SelectionResults) -> Section | None:
    world, methods = results.world, results.study.methods
    known, several = ({}, {}) if world is None else (world.degrees, world.several_degrees)
    names = sorted(SHORTCUTS, key=lambda s: (known.get(s, 1.0), SHORTCUTS.index(s)))
    rows: list[tuple[str, ...]] = [("seeds", DASH, DASH, *(format_seeds(results.list_seeds(m.label)) for m in methods))]
    places = []
    for name in names:
        scores = [results.find_score(m.label, tail_of(name), OOD_TEST) for m in methods]
        degrees = (f"{one[name]:.3f}" if name in one else DASH for one in (known, several))
        rows.append((name, *degrees, *map(format_figure, scores)))
        shown = tuple((m.label, k, s) for k, (m, s) in enumerate(zip(methods, scores, strict=True)) if s is not None)
        if shown and name in known:
            places.append(RankedPlace(name, 1 - known[name], f"E = {known[name]:.2f}", shown))
    heads = ("", "E", "E, several answers", *(f"{m.label} *" for m in methods))
    table = Table("Imbalance and OOD accuracy (Figure 6)", heads, rows, f"{results.study.notes['imbalance']} {MARK}.")
    parts: list[Any] = [table]
    if len(places) > 1:
        label = "OOD accuracy of all models by shortcut, the most imbalanced first"
        marks = {series: name for place in places for name, series, _ in place.scores}
        legend = render_legend([draw_legend_mark(k), " ", name] for k, name in sorted(marks.items()))
        parts = [legend, tag("figure", draw_ranked(label, places), class_="wide ranked"), table]
    return Section("Imbalance against OOD accuracy", parts, "The most imbalanced shortcut first.")
