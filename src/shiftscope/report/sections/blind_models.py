"""Blind models: how much of the IID test and of each OOD set is solved without image or question."""

from math import ceil

from ..audit_page import BLIND_MODEL_INPUTS, AuditEvidence, describe_shortcut
from ..chart.bars import Dumbbell, draw_dumbbells
from ..chart.frame import draw_legend_mark
from ..markup import Child, Html, render_charts, render_figure, render_swatches, tag
from ..number_format import format_percent
from ..page import Section
from ..score_table import score_cell
from ..table import Table, TableCell, TableHead, numeric

PLACES = {"audit": 30}
KEY = (
    "Gap: IID test minus OOD set, paired: both are resampled together, image by image (95% intervals). "
    "All models learn from the train split and are chosen on the IID val split, never on an OOD set."
)


def section(evidence: AuditEvidence) -> Section | None:
    if not any(evidence.find_score(model, "iid") for model in evidence.blind):
        return None
    shares = [s.high or s.value or 0.0 for some in evidence.blind.values() for s in some if "gap" not in s.metric]
    most = min(ceil(10 * max(shares, default=1.0)) / 10, 1.0)  # of the scale of all charts
    charts = [chart for model in evidence.blind if (chart := _draw_chart(evidence, model, most))]
    legend = render_swatches((("head split", "is-head"), ("tail split: the OOD set", "is-tail")))
    body: list[Child] = [legend, render_charts(charts)] if charts else []
    lead = (
        "Models that lack the image or the question: what they solve, shortcuts solve. The dashed line is "
        "the IID test; the further the tail lies below it, the more of the score rests on the shortcut."
    )
    heads = [TableHead("Set")]
    for model in evidence.blind:
        title = f"IID test minus this set for {model}, in points"
        heads += [numeric(render_blind_model(evidence, model)), numeric("gap", title)]
    rows = [_build_row(evidence, "IID test", "", "iid", "")]
    rows += [_build_row(evidence, f"OOD {n}", describe_shortcut(n), "ood", n) for n in evidence.audit.labels]
    sizes = [1, len(rows) - 1]
    if len(evidence.audit.labels) > 1:
        rows.append(_build_row(evidence, "Mean of the OOD sets", "", "mean_ood", ""))
        sizes.append(1)
    table = Table("Accuracy in per cent, and the gap in points", heads, rows, KEY, "solved", sizes)
    return Section("Blind models", [*body, table], lead)


def render_blind_model(evidence: AuditEvidence, model: str) -> Html:
    """A model's name after its mark."""
    sign = draw_legend_mark(evidence.series_of(model))
    return tag("span", sign, model, class_="name", title=BLIND_MODEL_INPUTS.get(model))


def _draw_chart(evidence: AuditEvidence, model: str, most: float) -> Html | None:
    iid = evidence.find_score(model, "iid")
    if iid is None or iid.value is None:
        return None
    rows = []
    for name in evidence.audit.labels:
        tail, head = evidence.find_score(model, "ood", name), evidence.find_score(model, "acc_head", name)
        if tail is not None:
            gap = evidence.find_score(model, "gap", name)
            rows.append(Dumbbell(name, head, tail, format_percent(gap.value) if gap else ""))
    if not rows:
        return None
    label = f"{model}: accuracy on head and tail of {len(rows)} shortcuts; IID test {format_percent(iid.value)}"
    about = f": {BLIND_MODEL_INPUTS.get(model, '')}".removesuffix(": ")
    return render_figure(render_blind_model(evidence, model), about, draw_dumbbells(label, rows, iid, most=most))


def _build_row(evidence: AuditEvidence, name: str, about: str, metric: str, shortcut: str) -> list[TableCell]:
    cells = [TableCell(name, title=about)]
    for model in evidence.blind:
        gap = None if metric == "iid" else evidence.find_score(model, "gap" if shortcut else "mean_gap", shortcut)
        cells += [
            score_cell(evidence.find_score(model, metric, shortcut)),
            score_cell(gap) if gap else TableCell("", 0.0),
        ]
    return cells
