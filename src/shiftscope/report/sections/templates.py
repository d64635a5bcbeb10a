"""Templates: accuracy on the questions of each template, with reference points beside the models."""

from __future__ import annotations

from collections.abc import Sequence

from ...result import Score
from ...suites.covr import reported as paper
from ..markup import Html, render_charts, render_details, render_note
from ..measure import describe_dropped_variants, drop_variants, pool_runs
from ..page import Section
from ..runs import ReportRuns
from ..score_table import MOST_PARTS, compare_by_fact, render_model_legend, score_cell, select_common_tests
from ..table import Row, Table, TableHead, numeric
from .curves import Curve, cut_runs, draw_curve

PLACES = {"report": 22}
FACT = "template"
MODELS = ("VB text", "VB iid")


def section(study: ReportRuns) -> Section | None:
    study = study.select_in_domain()
    besides = describe_dropped_variants(study)
    shared = select_common_tests(drop_variants(study))
    if shared is None:
        return None
    study = shared
    runs = [pool_runs(study.select_contender(contender)) for contender in study.contenders]
    cut = cut_runs(runs, FACT)
    if cut is None or not 2 <= len(cut[0].names) <= MOST_PARTS:
        return None
    together = " All tests together." if len(study.tests) > 1 else ""
    lead = (
        "The questions that one template made, with 95% intervals; a template that is no better than what "
        f"the question alone gives away was not answered by looking.{together}{besides}"
    )
    parts = [
        render_model_legend(study, study.contenders),
        render_charts([draw_curve(study, runs, Curve(FACT, "Template"), cut)], "charts"),
        compare_by_fact(study, FACT, "Accuracy by template", "Template", counted=True),
        _build_reported_table(cut[0].names),
    ]
    return Section("Accuracy by template", parts, lead)


def _build_reported_table(names: Sequence[str]) -> Html | None:
    """What the paper has for COVR's templates; nothing where these are others."""
    if not set(names) <= set(paper.TEMPLATES):
        return None
    heads = [TableHead("Template")]
    for how in ("", ", paraphrased"):
        heads += [numeric(f"{model}{how}") for model in MODELS]
    rows: list[Row] = [
        [
            name,
            *(
                score_cell(Score("", paper.find_template_accuracy(model, name, paraphrased=freely), 0))
                for freely in (False, True)
                for model in MODELS
            ),
        ]
        for name in names
    ]
    note = (
        f"R{paper.SOURCE[1:]}, Tables 12 and 13: VisualBERT on the questions alone, and trained on "
        "everything. On photographs, so that templates can be compared with each other and not with the "
        "figures above."
    )
    table = Table("Reported accuracy by template", heads, rows)
    return render_details("What the paper reports", render_note(note), table)
