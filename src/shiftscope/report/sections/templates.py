"""Templates: accuracy on the questions of each template, with reference points beside the models."""

from __future__ import annotations

from collections.abc import Sequence

from ...result import Score
from ...suites import _reported_covr as paper
from .. import legend
from ..figure import figure
from ..grid import MOST_PARTS, by_fact, common_tests
from ..markup import Html, tag, text
from ..originals import originals, told
from ..pool import pooled
from ..section import Section
from ..study import Study
from ..table import Cell, Head, table
from .curves import Curve, chart, cuts

PLACE = 22
FACT = "template"
MODELS = ("VB text", "VB iid")


def section(study: Study) -> Section | None:
    study = study.home()
    besides = told(study)
    shared = common_tests(originals(study))
    if shared is None:
        return None
    study = shared
    runs = [pooled(study.of(contender)) for contender in study.contenders]
    cut = cuts(runs, FACT)
    if cut is None or not 2 <= len(cut[0].names) <= MOST_PARTS:
        return None
    drawn = tag("div", chart(study, runs, Curve(FACT, "Template"), cut), class_="charts")
    listed = by_fact(study, FACT, "Accuracy by template", "Template", counted=True)
    together = " All tests together." if len(study.tests) > 1 else ""
    lead = (
        "The questions that one template made, with 95% intervals; a template that is no better than what "
        f"the question alone gives away was not answered by looking.{together}{besides}"
    )
    body = text([legend.contenders(study, study.contenders), drawn, listed, _reported(cut[0].names)])
    return Section("Template by template", body, lead)


def _reported(names: Sequence[str]) -> Html | None:
    """What the paper has for COVR's templates; nothing where these are others."""
    if not set(names) <= set(paper.TEMPLATES):
        return None
    heads = [Head("Template")]
    for how in ("", ", paraphrased"):
        heads += [Head(f"{model}{how}", numeric=True) for model in MODELS]
    rows = [
        [
            Cell(name),
            *(
                figure(Score("", paper.template_accuracy(model, name, paraphrased=freely), 0))
                for freely in (False, True)
                for model in MODELS
            ),
        ]
        for name in names
    ]
    return tag(
        "details",
        tag("summary", "What the paper reports"),
        tag(
            "p",
            f"R{paper.SOURCE[1:]}, Tables 12 and 13: VisualBERT on the questions alone, and trained on "
            "everything. On photographs, so that templates can be compared with each other and not with the "
            "figures above.",
            class_="note",
        ),
        table(heads, [rows], caption="Reported accuracy by template"),
    )
