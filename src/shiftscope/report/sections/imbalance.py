"""Imbalance: whether more uneven training answers go with a harder OOD set (Figure 6)."""

from ..audit_page import AuditEvidence
from ..chart.lines import RankedPlace, draw_ranked
from ..markup import render_legend, tag
from ..page import Section
from .blind_models import render_blind_model

PLACES = {"audit": 60}


def section(evidence: AuditEvidence) -> Section | None:
    places = []
    for line in evidence.ranked:
        measured = ((m, evidence.series_of(m), evidence.find_score(m, "ood", line.shortcut)) for m in evidence.blind)
        scores = tuple((model, series, score) for model, series, score in measured if score)
        if scores:
            places.append(RankedPlace(line.shortcut, 1 - line.degree, f"E = {line.degree:.2f}", scores))
    if len(places) < 2:
        return None
    models = dict.fromkeys(name for place in places for name, _, _ in place.scores)
    pale = [tag("span", class_="swatch is-pale"), "imbalance, 1 − E"]
    legend = render_legend([pale, *(render_blind_model(evidence, m) for m in models)])
    chart = draw_ranked("OOD accuracy of blind models by shortcut, the most imbalanced first", places)
    lead = (
        "From left to right the train answers of a shortcut’s groups become more even (E of eq. 8). If imbalance is "
        "what makes an OOD set hard, the points rise as the bars fall. Per cent, with 95% intervals."
    )
    return Section("Imbalance against OOD accuracy", [legend, tag("figure", chart, class_="wide ranked")], lead)
