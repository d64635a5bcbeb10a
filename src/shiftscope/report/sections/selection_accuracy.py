"""Accuracy over the OOD sets: Tables 2 and 3 of VQA-VS, measured beside reported."""

from ...metrics.model_selection import (
    IID,
    IID_VAL,
    ON_TEST,
    OOD_TEST,
    PLANTED,
    PRIORS,
    PRIORS_TEST,
    SelectionResults,
    tail_of,
)
from ...result import Score
from ...shortcuts.concepts import SHORTCUTS
from ..page import Section
from ..selection_page import find_reported, format_figure, format_reported, format_seeds
from ..table import Table

PLACES = {"selection_study": 20}
COLUMNS = (*SHORTCUTS, "mean", "iid", "ood_test", "changing_priors *", "undivided *")


def section(results: SelectionResults) -> Section | None:
    rows = [
        (m.label, format_seeds(results.list_seeds(m.label)), *map(format_figure, list_scores(results, m.label)))
        for m in results.study.methods
    ]
    heads = ("", "seeds", *COLUMNS)
    tables = [Table("OOD test sets (Tables 2 and 3), measured", heads, rows, results.study.notes["accuracy"])]
    reported = find_reported(results)
    if "ood_accuracy" in reported.tables:
        names = [name.removesuffix(" *") for name in COLUMNS if name != PLANTED]
        listed = [
            (m.label, *(format_reported(reported.find("ood_accuracy", m.label, name)) for name in names))
            for m in results.study.methods
        ]
        note = f"{reported.source}: VQA v2 and VQA-CP v2, other data than those above."
        tables.append(Table("The same, reported", ("", *names), listed, note))
    lead = "A model answers the IID test once; the OOD test sets are the rare answers of each shortcut in it."
    return Section("Accuracy on IID and OOD test sets", tables, lead)


def list_scores(results: SelectionResults, method: str) -> list[Score | None]:
    """In the order of COLUMNS."""
    return [
        *(results.find_score(method, tail_of(s), IID_VAL) for s in SHORTCUTS),
        results.find_mean(method, IID_VAL),
        results.find_score(method, IID, IID_VAL),
        results.find_score(method, PLANTED, IID_VAL),
        results.find_score(method, PRIORS_TEST, OOD_TEST, PRIORS),
        results.find_score(method, IID, ON_TEST),
    ]
