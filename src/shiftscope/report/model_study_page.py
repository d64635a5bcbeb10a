"""The page of a study of models: measured beside reported, what is not measured empty, with its command."""

from collections import Counter
from collections.abc import Iterator, Sequence

from ..suites import load_suite
from ..suites.model_study import ACCURACY, ACTION, OUTCOME, SEED, Figure, ModelStudy, StudyResults
from .number_format import DASH, format_percent, format_spread
from .table import Table

MEASURED, REPORTED = "measured", "reported"
CONVERGED = 0.003  # a training that rises by more over its last quarter is not at its end
POINTS = 6  # of a learning curve that are shown
FIGURES = {ACCURACY: "Accuracy", ACTION: "Action accuracy (exact programs)", OUTCOME: "Outcome accuracy"}


def render_model_study(study: ModelStudy, results: StudyResults, cells: str) -> str:
    """The page as Markdown, as docs/results has it; also where nothing is measured yet."""
    scale, version = results.scale, load_suite(study.suite).spec.version
    made_by = f"shiftscope study {study.suite} --tables --cells {cells} --page docs/results/{study.suite}.md"
    wanted = len(study.rows) * len(study.tests)
    opening = (
        f"Scale *{scale.name}*: {scale.images:,} images over train, val and test, {scale.size[0]}×{scale.size[1]}, "
        f"version {version} of the suite's data. {len(results.tests)} of {wanted} results are measured; a dash stands "
        "for what is not, or not reported. Figures are *measured* unless they say *reported* "
        f"({study.notes['reported']}). Intervals are 95%, over images (docs/decisions/022), unless a table says "
        "otherwise." + describe_devices(results)
    )
    parts = [
        f"<!-- made by `{made_by}`; do not edit -->",
        f"# {study.title}, measured",
        "" if scale.name == "paper" else f"**{describe_trial(results)}**",
        opening,
        *study.terms.values(),
        *(table.to_markdown() for table in list_model_tables(study, results)),
    ]
    return "\n\n".join(filter(None, parts)) + "\n"


def describe_devices(results: StudyResults) -> str:
    """Where models were run, and with which seed what they needed was trained; nothing where none was."""
    counts = Counter(record.origin.device for record in results.tests.values())
    if not counts:
        return ""
    told = ", ".join(f"{device}: {count}" for device, count in counts.most_common())
    return f" Trainings have seed {SEED}. Results by device: {told}."


def describe_trial(results: StudyResults) -> str:
    """What no reader of a small study may overlook; nothing at the paper's scale."""
    if results.scale.name == "paper":
        return ""
    return (
        f"Scale {results.scale.name}: a trial run of the pipeline. With so few images, neither figures nor verdicts "
        "say anything about the models."
    )


def list_model_tables(study: ModelStudy, results: StudyResults) -> list[Table]:
    return [
        _tabulate_overall(study, results),
        *_tabulate_slices(study, results),
        _tabulate_outcomes(study, results),
        *_tabulate_findings(study, results),
        _tabulate_curves(study, results),
        Table("Differences from the paper", ("of", "paper", "here"), study.list_differences()),
        *_tabulate_missing(study, results),
    ]


def _tabulate_overall(study: ModelStudy, results: StudyResults) -> Table:
    """Table 3's upper half: each test set, measured and reported."""
    heads = ["model", *(f"{name}, {which}" for name in study.tests.values() for which in (MEASURED, REPORTED))]
    rows = []
    for name, row in study.rows.items():
        pairs = [(format_figure(results.find(name, split)), _report(study, row.paper, split)) for split in study.tests]
        rows.append((name, *(text for pair in pairs for text in pair)))
    if study.people:
        rows.append((study.people, *(t for split in study.tests for t in (DASH, _report(study, study.people, split)))))
    return Table("Accuracy, %", heads, rows, study.notes.get("overall", ""))


def _tabulate_slices(study: ModelStudy, results: StudyResults) -> Iterator[Table]:
    """Table 3's lower half: reported figures stand beside what they are of."""
    suite, table = load_suite(study.suite), study.reported_tables[1]
    for split, by, names, figures in study.slices:
        for figure in figures:
            rows = []
            for name, row in study.rows.items():
                found = [results.find(name, split, figure, f"{by}={value}") for value in names]
                paper = [suite.reported.find(table, row.paper, split, by, value) for value in names]
                told = figure == (row.acts if len(figures) > 1 else ACCURACY) and any(s is not None for s in paper)
                if told or figure == ACCURACY or any(found):
                    rows.append((f"{name}, {MEASURED}", *map(format_figure, found)))
                if told:
                    rows.append((f"{name}, {REPORTED}", *map(format_percent, paper)))
            title, note = f"{FIGURES[figure]} on {study.tests[split]} by {by}, %", study.notes.get(figure, "")
            yield Table(title, ("model", *names), rows, note if rows else "")


def _tabulate_outcomes(study: ModelStudy, results: StudyResults) -> Table:
    """Scenes after actions, of the models that tell them."""
    rows = []
    for name in study.rows:
        found = [results.find(name, split, OUTCOME) for split in study.tests]
        if any(found):
            rows.append((name, *map(format_figure, found)))
    note = study.notes.get(OUTCOME, "") if rows else "No model that tells the scene after an action is measured yet."
    return Table(f"{FIGURES[OUTCOME]}, %", ("model", *study.tests.values()), rows, note)


def _tabulate_findings(study: ModelStudy, results: StudyResults) -> Iterator[Table]:
    for title, findings in study.check_findings(results):
        rows = [(f.says, f.verdict, f.figures or DASH, f.rule) for f in findings]
        yield Table(title, ("finding", "verdict", "figures", "rule"), rows, study.notes.get(title, ""))


def _tabulate_curves(study: ModelStudy, results: StudyResults) -> Table:
    """Validation after shares of the epochs, the rise over the last quarter, and what a training took."""
    shares = [f"{k}/{POINTS}" for k in range(1, POINTS + 1)]
    heads = ("training", "part", "examples", "epochs", *shares, "rise", "seconds", "MB", "device")
    rows: list[Sequence[str]] = []
    for name in study.trainings:
        record = results.trainings.get(name)
        if record is None:
            rows.append((name, *[DASH] * (len(heads) - 1)))
            continue
        for part, about in record.parts.items():
            curve = record.curves.get(part, [])
            points = [curve[max(0, -(-len(curve) * k // POINTS) - 1)] for k in range(1, POINTS + 1)] if curve else []
            shown = [f"{100 * point:.2f}" for point in points] or [DASH] * POINTS
            rise = DASH if about.get("rise") is None else f"{100 * about['rise']:.2f}"
            rise += " (not at its end)" if (about.get("rise") or 0.0) > CONVERGED else ""
            told = (f"{about['examples']:,}", str(len(curve) or DASH), *shown, rise, f"{about['seconds']:.0f}")
            rows.append((name, part, *told, f"{record.size / 1e6:.1f}", record.origin.device))
    return Table(
        "Learning curves: validation, %, after shares of the epochs", heads, rows, study.notes.get("curves", "")
    )


def _tabulate_missing(study: ModelStudy, results: StudyResults) -> Iterator[Table]:
    """Rows that are not whole, with the command that measures them."""
    rows = []
    for name, row in study.rows.items():
        missing = [title for split, title in study.tests.items() if results.find(name, split) is None]
        if missing:
            command = f"shiftscope study {study.suite} --scale paper --models {row.model} --out DIR --minutes 8"
            rows.append((name, ", ".join(missing), f"`{command}`"))
    if rows:
        note = "On a GPU; the same command resumes. It also trains what the row needs."
        yield Table("Not measured yet", ("model", "test sets", "command"), rows, note)


def _report(study: ModelStudy, paper: str, split: str) -> str:
    return format_percent(load_suite(study.suite).reported.find(study.reported_tables[0], paper, split))


def format_figure(figure: Figure | None) -> str:
    """84.2 ± 1.3."""
    value, low, high, _ = figure or (None, None, None, 0)
    if value is None:
        return DASH
    return f"{format_percent(value)} {format_spread(value, low, high)}".rstrip()
