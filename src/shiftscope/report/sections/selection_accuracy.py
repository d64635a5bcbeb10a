"""Accuracy over the OOD sets: Tables 2 and 3 of VQA-VS, measured beside reported."""

from ...metrics.model_selection import (
    BLIND,
    IID,
    IID_VAL,
    ON_TEST,
    OOD_TEST,
    PLANTED,
    PRIORS,
    PRIORS_TEST,
    SelectionResults,
    head_of,
    select_priors_epoch,
    tail_of,
)
from ...result import Score
from ...shortcuts.concepts import SHORTCUTS
from ..number_format import DASH, format_count, format_percent
from ..page import Section
from ..selection_page import find_reported, format_figure, format_reported, format_seeds
from ..table import Table

PLACES = {"selection_study": 20}
BLIND_NAMES = ("most frequent answer of its type", "second most frequent")
COLUMNS = (*SHORTCUTS, "mean", "iid", "ood_test", "changing_priors *", "undivided *")


def section(results: SelectionResults) -> Section | None:
    rows = [
        (m.label, format_seeds(results.list_seeds(m.label)), *map(format_figure, list_scores(results, m.label)))
        for m in results.study.methods
    ]
    heads = ("", "seeds", *COLUMNS)
    note = results.study.notes["accuracy"] + _tell_priors(results)
    listed = [_count_questions(results), *_list_blind(results), *rows]
    tables = [Table("OOD test sets (Tables 2 and 3), measured", heads, listed, note)]
    reported = find_reported(results)
    if "ood_accuracy" in reported.tables:
        names = [name.removesuffix(" *") for name in COLUMNS if name != PLANTED]
        published = [
            (m.label, *(format_reported(reported.find("ood_accuracy", m.label, name)) for name in names))
            for m in results.study.methods
        ]
        note = f"{reported.source}: VQA v2 and VQA-CP v2, other data than those above."
        tables.append(Table("The same, reported", ("", *names), published, note))
    tables += [_list_heads(results), *_list_seeds(results)]
    lead = "A model answers the IID test once; the OOD test sets are the rare answers of each shortcut in it."
    return Section("Accuracy on IID and OOD test sets", tables, lead)


def _count_questions(results: SelectionResults) -> tuple[str, ...]:
    sizes = results.world.sizes if results.world is not None else {}
    names = [*map(tail_of, SHORTCUTS), "", IID, PLANTED, PRIORS_TEST, IID]
    return ("questions", DASH, *(format_count(sizes[name]) if sizes.get(name) else DASH for name in names))


def _list_blind(results: SelectionResults) -> list[tuple[str, ...]]:
    """What the frequent answers of a question's type reach, which see neither image nor words."""
    tails = [tail_of(name) for name in results.list_sets()]
    rows = []
    for rule, name in zip(BLIND, BLIND_NAMES, strict=True):
        if results.world is None or results.find_blind(rule, IID) is None:
            continue
        scores = [results.find_blind(rule, tail_of(s)) for s in SHORTCUTS]
        scores += [results.find_blind(rule, *sets) for sets in (tails, [IID], [PLANTED])]
        rows.append((name, DASH, *map(format_figure, scores), DASH, DASH))
    return rows


def _tell_priors(results: SelectionResults) -> str:
    """Which epoch of changing priors is shown, and what is left at the end."""
    sizes = results.world.sizes if results.world is not None else {}
    told = []
    for method in results.study.methods if sizes.get(PRIORS_TEST) else ():
        for run in results.list_runs(method.label, PRIORS):
            right = run.right[PRIORS_TEST]
            chosen = select_priors_epoch(run.right) + 1 if any(right) else "none"
            told.append(f"{method.label} {chosen} ({format_percent(right[-1] / sizes[PRIORS_TEST], 2)})")
    if not told:
        return ""
    return f" Epochs that changing_priors chose, and in brackets its figure after the last one: {', '.join(told)}."


def _list_heads(results: SelectionResults) -> Table:
    rows = [
        (m.label, *(format_figure(results.find_score(m.label, head_of(s))) for s in SHORTCUTS))
        for m in results.study.methods
    ]
    return Table("The frequent answers (heads) of the IID test", ("", *SHORTCUTS), rows, results.study.notes["heads"])


def _list_seeds(results: SelectionResults) -> list[Table]:
    """How far seeds lie apart; nothing where none is measured."""
    sets = results.list_sets()
    seeds = sorted({seed for m in results.study.methods for seed in results.list_seeds(m.label)})
    rows = []
    for method in results.study.methods if sets and len(seeds) > 1 else ():
        shares = results.list_shares(method.label, [IID, *map(tail_of, sets)])
        cells = [
            f"{format_percent(some[0])} / {format_percent(sum(some[1:]) / len(sets))}"
            if (some := shares.get(seed))
            else DASH
            for seed in seeds
        ]
        rows.append((method.label, *cells))
    if not rows:
        return []
    note = "Accuracy on the IID test, and the mean over the OOD test sets; the epoch is chosen on IID val."
    return [Table("Seeds apart", ("", *(f"seed {seed}" for seed in seeds)), rows, note)]


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
