"""Real questions without their images: question-only models with and without debiasing, over the OOD sets."""

from ...metrics.model_selection import IID, SelectionResults, tail_of
from ...shortcuts.concepts import SHORTCUTS
from ..number_format import DASH, format_count
from ..page import Section
from ..selection_page import format_figure, format_gain, format_seeds
from ..table import Table

PLACES = {"selection_study": 70}


def section(results: SelectionResults) -> Section | None:
    found, study = results.language, results.study
    if not study.language_methods:
        return None
    there = list(found.list_sets()) if found else [s for s in SHORTCUTS if "KO" not in s]
    rows, gains = [], []
    for method in study.language_methods:
        scores = [found.find_score(method.label, tail_of(s)) if found else None for s in there]
        ends = [found.find_mean(method.label), found.find_score(method.label, IID)] if found else [None, None]
        seeds = format_seeds(found.list_seeds(method.label)) if found else DASH
        rows.append((method.label, seeds, *map(format_figure, [*scores, *ends])))
        if found and method.backbone:
            sets = [found.find_gain(method.label, method.backbone, name) for name in (*map(tail_of, there), IID)]
            common = format_seeds(found.list_seeds(method.label, method.backbone))
            gains.append((f"{method.label} − {method.backbone}", common, *map(format_gain, sets)))
    note = study.notes.get("language", "")
    if found and found.world:
        sizes = found.world.sizes
        counts = ", ".join(f"{s} {format_count(sizes[tail_of(s)])}" for s in there)
        note += (
            f" {format_count(sizes['train'])} questions to train on, {format_count(sizes['val'])} in val, "
            f"{format_count(sizes[IID])} in the IID test; OOD test sets: {counts}. Audit {found.world.data}."
        )
    else:
        note += f" Not measured: `shiftscope audit … --out AUDIT`, then `shiftscope study {study.suite} --audit AUDIT`."
    tables = [Table("Real questions, language side only", ("", "seeds", *there, "mean", "iid"), rows, note)]
    if gains:
        heads = ("", "seeds", *there, "iid")
        tables.append(Table("Gain over the question-only model", heads, gains, study.notes["language_gain"]))
    return Section("Question-only models on VQA v2", tables)
