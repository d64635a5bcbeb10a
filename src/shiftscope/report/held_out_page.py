"""The page of a study of held-out splits, as Markdown, from stored records alone: the paper's tables, and findings."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace

from ..metrics.held_out_matrix import HeldOutMatrix
from ..metrics.held_out_records import BEFORE, HeldOutEntry, HeldOutRecord, HeldOutTraining
from ..metrics.held_out_sight import LEAST
from ..result import Score
from ..suites.held_out_study import MARKS, FigureCell, FigureTable, HeldOutStudy, Settings, load_held_out_study
from .number_format import DASH, format_percent, format_score
from .table import Table

DIGITS = 1
MOST_LABELS = 8  # trainings that are named beside their command
RISING = 0.003  # of validation over the last quarter of the epochs, from where on a training is not at its end


def find_matrix(
    records: Sequence[HeldOutRecord], study: HeldOutStudy, scale: str = "", settings: Settings = ()
) -> tuple[str, HeldOutMatrix | None]:
    """The matrix of the largest scale that there are entries of, and its name; scales are never mixed.

    Entries of trainings that are planned otherwise, with these settings, are left out. Of another study, which has the
    same data, those of trainings that are this one's, too.
    """
    mine = set(_list_planned(study)) if study.data_suite else set()
    records = [one for one in records if one.suite == study.suite or _is_shared(one, study, mine)]
    for name in (scale,) if scale else reversed(study.scales):
        given = (*study.list_sizes(study.find_scale(name)), *settings)
        planned = [
            one
            for one in records
            if not isinstance(one, HeldOutEntry) or study.is_planned(one.training, one.plan, given)
        ]
        if matrix := HeldOutMatrix.gather(planned, name):
            matrix.planned_otherwise = sum(one.scale == name for one in records) - sum(
                one.scale == name for one in planned
            )
            return name, matrix
    return scale or study.scales[-1], None


def _is_shared(record: HeldOutRecord, study: HeldOutStudy, planned: AbstractSet[HeldOutTraining]) -> bool:
    if record.suite != study.data_suite or record.test_set:
        return False
    return not isinstance(record, HeldOutEntry) or replace(record.training, seed=0) in planned


def list_held_out_tables(study: HeldOutStudy, matrix: HeldOutMatrix | None) -> list[Table]:
    """The paper's tables, findings, what differs, trainings, and what is not measured with its command."""
    found = [_build_table(one) for one in study.list_tables(matrix)]
    rows = [(f.says, f.verdict, f.figures or DASH, f.rule) for f in study.check_findings(matrix)]
    found.append(Table("Findings of the paper", ("finding", "verdict", "measured", "rule"), rows))
    found.append(Table("What differs from the paper", ("of", "there", "here"), study.differences))
    if matrix is not None and matrix.list_entries():
        found.append(_list_trainings(matrix))
        found += _list_sight(matrix)
    found.append(_list_missing(study, matrix))
    return found


def render_held_out_markdown(suite: str, records: Sequence[HeldOutRecord], scale: str = "") -> str:
    """The page as docs/results has it, also where nothing is measured yet."""
    study = load_held_out_study(suite)
    name, matrix = find_matrix(records, study, scale)
    folder = f"docs/results/{suite}"
    known = f" --known docs/results/{study.data_suite}" if study.data_suite else ""
    made_by = f"shiftscope study {suite} --tables --cells {folder}{known} --page {folder}.md"
    done = set(matrix.list_entries()) if matrix else set()
    planned = _list_planned(study)
    parts = [
        f"<!-- made by `{made_by}`; do not edit -->",
        f"# {study.title}, measured",
        ""
        if name == study.scales[-1]
        else f"**Scale {name}: a trial run of the pipeline. With so few questions, neither figures nor verdicts say "
        "anything about the models.**",
        study.describe_scale(study.find_scale(name)),
        _describe_counts(matrix),
        f"{len(done)} trainings are measured, {len(done - {*planned})} of them further seeds; {len(planned)} are "
        "planned with one seed. A dash is a figure that is not measured, and the last table has the commands. Figures "
        "in brackets are *reported* by the paper, on photographs; all others are *measured* here. Intervals are 95%, "
        "over images (docs/decisions/022; those of generalization scores are Fieller's), and over seeds where several "
        "are measured: a figure of one seed does not tell how much another training would differ.",
        *(table.to_markdown() for table in list_held_out_tables(study, matrix)),
    ]
    return "\n\n".join(filter(None, parts)) + "\n"


def _describe_counts(matrix: HeldOutMatrix | None) -> str:
    if matrix is None:
        return "Nothing is measured yet."
    counts = ", ".join(f"{split} {n:,}" for split, n in matrix.test.questions.items())
    other = f" Entries of other data, left out: {matrix.left_out}." if matrix.left_out else ""
    if matrix.blind:
        other += f" Trainings that hardly came to see: {len(matrix.blind)} (What the images add)."
    hidden = matrix.planned_otherwise
    other += f" Entries of trainings that are planned otherwise today, left out: {hidden}." if hidden else ""
    return f"Questions there were: {counts}.{other}"


def _build_table(table: FigureTable) -> Table:
    rows = [[_format_cell(cell) for cell in row] for row in table.rows]
    marks = {cell.mark for row in table.rows for cell in row if isinstance(cell, FigureCell)}
    told = [f"{mark} {says}" for mark, says in MARKS.items() if mark in marks]
    return Table(table.title, table.heads, rows, " ".join(filter(None, (table.note, *told))))


def _format_cell(cell: FigureCell | str) -> str:
    """61.2 ± 1.4 (55.8): measured, and in brackets reported."""
    if isinstance(cell, str):
        return cell
    marked = f"{format_figure(cell.measured)} {cell.mark}" if cell.measured is not None else cell.mark
    shown = marked.strip() or DASH
    return shown if cell.reported is None else f"{shown} ({format_percent(cell.reported, DIGITS)})"


def format_figure(score: Score | None) -> str:
    if score is not None and score.value is None:
        return "no score"  # the text-only model is as good as the upper bound, or a training did not come to see
    return format_score(score, DIGITS)


def _list_trainings(matrix: HeldOutMatrix) -> Table:
    rows = []
    for training, entry in sorted(matrix.list_entries().items()):
        val = format_percent(entry.val, DIGITS) if entry.val is not None else DASH
        seconds = f"{entry.seconds['all']:,.0f}" if "all" in entry.seconds else DASH
        speed = f"{entry.speed:,.0f}" if entry.speed else DASH
        rise = f"{100 * entry.rise:+.1f}" if entry.epoch else DASH
        rows.append(
            (training.label, f"{entry.learned:,}", val, entry.epoch or DASH, rise, seconds, speed, entry.device)
        )
    heads = ("training", "questions", "val", "epoch", "rise, last quarter", "seconds", "questions/s", "device")
    note = "val is of the validation questions without the property held out; the epoch was chosen by them, or by the "
    note += "first of them where a model reads slowly, and is the first of those that are equal. Several trainings "
    note += "shared a GPU as often as not, so that questions/s and seconds are not what one alone takes."
    if rising := [t for t, one in sorted(matrix.list_entries().items()) if one.epoch and one.rise >= RISING]:
        note += f" Ended while validation still rose by {100 * RISING:g} points or more: {_list_labels(rising)}."
    begun = {t.model: entry.seconds[BEFORE] for t, entry in matrix.list_entries().items() if BEFORE in entry.seconds}
    if begun:
        told = ", ".join(f"{model} {seconds:,.0f} s" for model, seconds in sorted(begun.items()))
        note += f" What all trainings of a model begin from is trained once and not counted here: {told}."
    everywhere = [pair for one in (matrix, *matrix.derived.values()) for pair in one.entries.items()]
    recipes = {(training.model, entry.recipe) for training, entry in everywhere}
    if mixed := _list_repeated(model for model, _ in recipes):
        note += f" Not all of one recipe, or not of the same scene parser: those of {', '.join(mixed)}."
    ends = {(training.label, entry.epoch, entry.val) for training, entry in everywhere}
    if mixed := _list_repeated(label for label, *_ in ends):
        note += f" Trained more than once, so that its figures are not all of the same weights: {', '.join(mixed)}."
    return Table("Trainings", heads, rows, note)


def _list_repeated(names: Iterable[str]) -> list[str]:
    return sorted(name for name, n in Counter(names).items() if n > 1)


def _list_sight(matrix: HeldOutMatrix) -> Iterator[Table]:
    sights = matrix.sights
    if not sights:
        return
    rows = [
        (training.label, *map(format_figure, (sight.accuracy, sight.elsewhere, sight.added)))
        for training, sight in sights.items()
    ]
    note = (
        "Test questions like those it learned from, without those that have what was held out (after easy distractors: "
        "the same questions as all); about other images: the same questions, each shown the images of another one that "
        "has as many. Paired by question. Who reads the question alone loses nothing."
    )
    if matrix.blind:
        note += (
            f" Surely less than {100 * LEAST:.0f} points, or than half of what they add to the model's in-domain "
            "training on the same questions, so that it hardly came to see: "
            f"{', '.join(training.label for training in sorted(matrix.blind))}. Where other seeds of a training see, "
            "figures are theirs alone."
        )
    models = {training.model for training in sights}
    if left := [one for one in sorted(matrix.list_entries()) if one.model in models and one not in sights]:
        note += f" Not asked about other images: {_list_labels(left)}."
    heads = ("training", "accuracy", "about other images", "what the images add, points")
    yield Table("What the images add", heads, rows, note)


def _list_planned(study: HeldOutStudy) -> list[HeldOutTraining]:
    return study.list_trainings((*study.baselines, *study.models), study.all_splits, (0,), shots=study.shots)


def _is_measured(matrix: HeldOutMatrix | None, training: HeldOutTraining, test_set: str) -> bool:
    found = None if matrix is None else matrix.find_test_set(test_set)
    return found is not None and training in found.entries


def _list_labels(trainings: Sequence[HeldOutTraining]) -> str:
    """The first few of many."""
    more = f" and {len(trainings) - MOST_LABELS} more" if len(trainings) > MOST_LABELS else ""
    return ", ".join(one.label for one in trainings[:MOST_LABELS]) + more


def _list_missing(study: HeldOutStudy, matrix: HeldOutMatrix | None) -> Table:
    missing: dict[str, list[HeldOutTraining]] = {}
    for one in _list_planned(study):
        if not all(_is_measured(matrix, one, name) for name in study.list_test_sets(one)):
            missing.setdefault(study.write_command(one), []).append(one)
    rows = [(_list_labels(some), command) for command, some in missing.items()]
    if matrix is not None:  # another seed may come to see
        again = sorted({replace(one, seed=0) for one in matrix.blind if matrix.is_blind(one)})
        seeds = {one: 1 + max(t.seed for t in matrix.blind if replace(t, seed=0) == one) for one in again}
        rows += [
            (f"{one.label} (hardly came to see)", study.write_command(replace(one, seed=seed)))
            for one, seed in seeds.items()
        ]
    return Table("Not measured", ("trainings", "command"), rows or [("none", DASH)])
