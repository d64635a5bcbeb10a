"""Shortcut proportion: accuracy on head and tail after training with more shortcut samples (Figure 7)."""

from collections.abc import Sequence

from ...run.audit import BlendScore
from ..audit_page import AuditEvidence, describe_shortcut
from ..chart.lines import LineSeries, draw_lines
from ..markup import Html, render_charts, render_figure, render_swatches
from ..number_format import format_count
from ..page import Section

PLACES = {"audit": 70}


def section(evidence: AuditEvidence) -> Section | None:
    if not evidence.blends:
        return None
    names = [n for n in evidence.audit.labels if any(b.shortcut == n for b in evidence.blends)]
    charts = [_draw_chart(name, [b for b in evidence.blends if b.shortcut == name]) for name in names]
    legend = render_swatches((("accuracy on the head", "is-head"), ("accuracy on the tail (OOD)", "is-tail")))
    lead = (
        "The same model trained on sets of one size, of which so many per cent are shortcut samples (heads) "
        "and the rest are of the tail; then tested on both parts of the IID test."
    )
    return Section("Training with more shortcut samples", [legend, render_charts(charts, "charts")], lead)


def _draw_chart(name: str, blends: Sequence[BlendScore]) -> Html:
    ordered = sorted(blends, key=lambda b: b.share)
    drawn = [
        LineSeries("head", 0, tuple(b.head for b in ordered)),
        LineSeries("tail", 1, tuple(b.tail for b in ordered)),
    ]
    about = f": {describe_shortcut(name)}, {format_count(ordered[0].n_train)} training samples"
    label = f"Accuracy on head and tail of {name} against the share of shortcut samples"
    shares = [f"{b.share}%" for b in ordered]
    return render_figure(name, about, draw_lines(label, shares, drawn, [0] * len(shares)))
