"""Shortcut proportion: accuracy on head and tail after training with more shortcut samples (Figure 7)."""

from ..audit_page import AuditEvidence, describe_shortcut
from ..chart.lines import LineSeries, draw_lines
from ..markup import render_charts, render_figure, render_swatches
from ..number_format import format_count
from ..page import Section

PLACES = {"audit": 70}


def section(evidence: AuditEvidence) -> Section | None:
    if not evidence.blends:
        return None
    names = [n for n in evidence.audit.labels if any(b.shortcut == n for b in evidence.blends)]
    charts = []
    for name in names:
        ordered = sorted((b for b in evidence.blends if b.shortcut == name), key=lambda b: b.share)
        head = LineSeries("head", 0, tuple(b.head for b in ordered))
        tail = LineSeries("tail", 1, tuple(b.tail for b in ordered))
        about = f": {describe_shortcut(name)}, {format_count(ordered[0].n_train)} training samples"
        label = f"Accuracy on head and tail of {name} against the share of shortcut samples"
        shares = [f"{b.share}%" for b in ordered]
        charts.append(render_figure(name, about, draw_lines(label, shares, [head, tail], [0] * len(shares))))
    legend = render_swatches((("accuracy on the head", "is-head"), ("accuracy on the tail (OOD)", "is-tail")))
    lead = (
        "The same model trained on sets of one size, of which so many per cent are shortcut samples (heads) "
        "and the rest are of the tail; then tested on both parts of the IID test."
    )
    return Section("Training with more shortcut samples", [legend, render_charts(charts, "charts")], lead)
