"""Error attribution: in which stage wrong answers arise, by removing one stage or doing it for the model."""

from collections.abc import Iterable, Iterator
from contextlib import suppress

from ...errors import UserError
from ...metrics import accuracy as accuracy_metric
from ...metrics.attribution import STAGES, TOTAL, measure, measure_drop
from ...metrics.calibration import Reliability
from ...metrics.transfer_matrix import TransferMatrix
from ...result import CONDITIONS, MISSING_IMAGE, Score
from ...run.study.entries import ORACLE_BOTH, ORACLE_NEITHER, ORACLE_OBJECTS, ORACLE_PROGRAM, ORACLE_SCENE
from ..chart.bars import StackedShare, draw_stacked_bar
from ..drops import find_twin_runs
from ..markup import Child, render_swatches
from ..measure import read_conditions
from ..number_format import DASH, format_count, format_percent
from ..page import Section
from ..runs import ReportRun, ReportRuns
from ..score_table import build_run_table, change_cell, model_cell, score_cell, sort_runs
from ..study_page import DIGITS, describe_measure
from ..table import Row, Table, TableCell, TableHead, numeric

PLACES = {"report": 40, "study": 60}
STAGE_LOOKS = {  # a stage's look in the bar, and what it means
    "no_reply": ("part-5", "no response"),
    "format": ("part-2", "the response could not be parsed as an answer"),
    "language_prior": ("part-1", "the same answer comes without the right image"),
    "perception": ("wrong", "right once the scene is given as text"),
    "parsing": ("part-3", "right once the program is given"),
    "reasoning": ("part-4", "wrong even so"),
    "unexplained": ("part-5", "not run under every condition"),
}
ORACLE_COLUMNS = {  # what is true, and the column's name
    ORACLE_NEITHER: "parsed scene and program",
    ORACLE_OBJECTS: "true objects, own relations",
    ORACLE_SCENE: "oracle scene",
    ORACLE_PROGRAM: "oracle program",
    ORACLE_BOTH: "both oracles",
}


def section(records: ReportRuns | TransferMatrix) -> Section | None:
    if isinstance(records, TransferMatrix):
        tables = [one for one in diagnosis_tables(records) if one.rows]
        return Section("Error attribution", tables) if tables else None
    report = records
    runs = sort_runs(report, filter(_has_conditions, report.runs))
    staged = {}
    for run in runs:
        with suppress(UserError):  # no question was run as is
            staged[run] = _by_slice(measure(read_conditions(run)), "stage")
    if not staged:
        return None
    used = [s for s in STAGES if any(scores[s].value for scores in staged.values())]
    by_condition = {
        run: _by_slice(accuracy_metric.measure(read_conditions(run), ("condition",))[1:], "condition") for run in runs
    }
    conditions = [c for c in (*CONDITIONS, MISSING_IMAGE) if any(c in r.conditions for r in runs)]
    parts: list[Child] = [
        render_swatches((f"{spell_stage(s)}: {STAGE_LOOKS[s][1]}", STAGE_LOOKS[s][0]) for s in used),
        build_run_table(
            report,
            "Wrong answers by stage, % of all questions",
            staged,
            [
                TableHead("Of all questions", sortable=False),
                *(numeric(spell_stage(s), STAGE_LOOKS[s][1]) for s in used),
                numeric("all wrong"),
            ],
            lambda run: [_stage_bar_cell(run, staged[run]), *(score_cell(staged[run][s]) for s in (*used, TOTAL))],
        ),
        _build_drop_table(report),
        build_run_table(
            report,
            "Accuracy under each condition",
            runs,
            [numeric(spell_stage(c)) for c in conditions],
            lambda run: [score_cell(by_condition[run].get(c)) for c in conditions],
        ),
    ]
    lead = (
        "Of all questions, the share that goes wrong in each stage: the same questions were run again with "
        "one stage removed or done for the model, and what mends an answer names the stage."
    )
    return Section("Error attribution", parts, lead)


def spell_stage(stage: str) -> str:
    return "no response" if stage == "no_reply" else stage.replace("_", " ")


def _has_conditions(run: ReportRun) -> bool:
    return len(set(run.conditions) - {MISSING_IMAGE}) > 1


def _by_slice(scores: Iterable[Score], name: str) -> dict[str, Score]:
    return {str(dict(s.slice)[name]): s for s in scores}


def _stage_bar_cell(run: ReportRun, scores: dict[str, Score]) -> TableCell:
    right = 1 - (scores[TOTAL].value or 0.0)
    shares = [StackedShare("right", right, format_percent(right), "right")]
    shares += [
        StackedShare(spell_stage(s), scores[s].value or 0.0, format_percent(scores[s].value), STAGE_LOOKS[s][0])
        for s in STAGES
    ]
    listed = ", ".join(f"{s.name} {s.figure}" for s in shares if s.value)
    return TableCell(draw_stacked_bar(f"{run.contender}: {listed}", shares, width=240), class_="pick")


def _build_drop_table(report: ReportRuns) -> Table | None:
    """How a drop between twins divides into stages, where both were run under several conditions."""
    drops = []
    for twins in find_twin_runs(report):
        base, shifted = twins.base, twins.shifted
        if base is not shifted and _has_conditions(base) and _has_conditions(shifted):
            scores = measure_drop(read_conditions(shifted), read_conditions(base))
            drops.append((base, shifted, _by_slice(scores, "stage")))
    if not drops:
        return None
    used = [s for s in (*STAGES, TOTAL) if any(scores[s].value for _, _, scores in drops)]
    rows = [
        [
            model_cell(report, base.contender),
            TableCell(f"{base.test} → {shifted.test}", class_="short"),
            *(
                change_cell(s.value, s.low, s.high, None, f"n = {format_count(s.n)}")
                for s in map(scores.get, used)
                if s
            ),
        ]
        for base, shifted, scores in drops
    ]
    heads = [TableHead("Model"), TableHead("Shift"), *(numeric(spell_stage(s)) for s in used)]
    return Table("The drop from base to twin by stage: more wrong answers, in points", heads, rows)


def diagnosis_tables(matrix: TransferMatrix) -> Iterator[Table]:
    """What true scenes and true programs would mend, and how good the parsers are part by part."""
    study = matrix.study
    for one in matrix.diagnoses:
        where = f"{one.trained.label} on {one.tested.label}"
        known = {(model, group, given): share for model, group, given, share in one.oracles}
        rows = [
            (f"{model}, {group} questions", *(_format_share(known.get((model, group, o))) for o in ORACLE_COLUMNS))
            for group in study.question_groups
            for model in study.models
            if any((model, group, o) in known for o in ORACLE_COLUMNS)
        ]
        with_objects = any(given == ORACLE_OBJECTS for _, _, given in known)
        oracles = "oracles" if with_objects else "oracles without objects"
        yield Table(
            f"Diagnosis, {where}: true scenes and programs in place of parsed ones",
            ("accuracy, %", *ORACLE_COLUMNS.values()),
            rows,
            " ".join(study.notes[key] for key in ("objects", oracles, "programs") if key in study.notes),
        )
        shares = [(describe_measure(matrix, name), _format_share(share), f"{share[1]:,}") for name, share in one.shares]
        note = study.notes.get("parsers", "")
        yield Table(f"Diagnosis, {where}: the parsers", ("", "%", "of"), shares, note)
        if errors := list(_list_errors((describe_measure(matrix, name), r) for name, r in one.reliability)):
            note = "Mean distance between confidence and accuracy over bins of confidence, as charted on the HTML page."
            yield Table(f"Diagnosis, {where}: calibration error", ("confidence in", "points", "of"), errors, note)
    group, (trained, tested) = study.question_groups[0], study.default
    outcomes = {model: matrix.find_outcome(model, trained, tested, group) for model in study.models}
    if answers := list(_list_errors((model, out.confidence) for model, out in outcomes.items() if out)):
        title = f"Calibration error of answers, {trained.label} on {tested.label}, {group} questions"
        yield Table(title, ("model", "points", "of"), answers)


def _list_errors(named: Iterable[tuple[str, Reliability | None]]) -> Iterator[Row]:
    for name, one in named:
        if one and one.calibration_error is not None:
            yield name, format_percent(one.calibration_error, DIGITS), f"{one.n:,}"


def _format_share(share: tuple[int, int] | None) -> str:
    """So many right of so many, in percent."""
    return DASH if share is None or not share[1] else format_percent(share[0] / share[1], DIGITS)
