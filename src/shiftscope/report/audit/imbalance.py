"""Imbalance: whether more uneven training answers go with a harder OOD set (Figure 6)."""

from __future__ import annotations

from ..chart.ranked import Place, ranked
from ..markup import Child, tag, text
from ..section import Section
from .blind import named
from .evidence import Evidence


def section(shown: Evidence) -> Section | None:
    places = [
        Place(
            line.shortcut,
            1 - line.degree,
            f"E = {line.degree:.2f}",
            tuple(
                (m, shown.series(m), s) for m in shown.models if (s := shown.score(m, "ood", line.shortcut))
            ),
        )
        for line in shown.ranked
    ]
    places = [place for place in places if place.scores]
    if len(places) < 2:
        return None
    models = dict.fromkeys(name for place in places for name, _, _ in place.scores)
    legend = tag(
        "ul",
        tag("li", tag("span", class_="swatch is-pale"), "imbalance, 1 − E"),
        [tag("li", named(shown, m)) for m in models],
        class_="legend",
        aria_label="Legend",
    )
    chart = ranked("OOD accuracy of blind models by shortcut, the most imbalanced first", places)
    body: list[Child] = [legend, tag("figure", chart, class_="wide ranked")]
    lead = (
        "From left to right the train answers of a shortcut’s groups become more even (E of eq. 8). If "
        "imbalance is what makes an OOD set hard, the points rise as the bars fall. Per cent, with 95% "
        "intervals."
    )
    return Section("Imbalance against OOD accuracy", text(body), lead)
