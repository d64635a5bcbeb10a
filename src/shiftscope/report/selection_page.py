"""The page of a study of model selection, as Markdown and as HTML, from stored records alone."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median

from ..folder import lock_path
from ..metrics.model_selection import DEVICE, STRATEGIES, WHOLE, SelectionResults
from ..registry import REPORTED
from ..result import Score
from ..suites import NOTHING_REPORTED, ReportedFigures
from .markup import tag
from .number_format import DASH, count_noun, format_count, format_percent, format_points, format_score
from .page import Page, write_page
from .table import Table

DIGITS = 2  # of a percentage, as in the paper
STRATEGY_NAMES = dict(zip(STRATEGIES, ("IID val", "OOD val *", "OOD test *", "the test itself *"), strict=True))
MARK = "* chosen on data that should be unknown until the test"


def find_reported(results: SelectionResults) -> ReportedFigures:
    """The figures of the study's paper."""
    name = results.study.suite
    figures: ReportedFigures = REPORTED.load(name).REPORTED if name in REPORTED.names() else NOTHING_REPORTED
    return figures


def format_figure(score: Score | None) -> str:
    """84.21 ± 0.33, the longer side; 47.82 (0.00–100.00) where that would lead beyond what is possible."""
    if score is None or score.value is None or score.low is None or score.high is None:
        return format_score(score, DIGITS, None)
    longer = max(score.value - score.low, score.high - score.value)
    if longer <= min(score.value, 1 - score.value):
        return format_score(score, DIGITS, None)
    return "{} ({}–{})".format(*(format_percent(end, DIGITS) for end in (score.value, score.low, score.high)))


def format_seeds(seeds: Sequence[int]) -> str:
    """How many there are."""
    return str(len(seeds)) if seeds else DASH


def format_gain(gain: Score | None) -> str:
    """+1.20 (+0.4, +2.0), in points."""
    if gain is None or gain.value is None:
        return DASH
    known = gain.low is not None and gain.high is not None
    ends = f" ({format_points(gain.low or 0.0, 1)}, {format_points(gain.high or 0.0, 1)})" if known else ""
    return f"{format_points(gain.value, 2)}{ends}"


def format_reported(value: float | None) -> str:
    return DASH if value is None else f"{100 * value:.{DIGITS}f}"


def build_selection_page(results: SelectionResults) -> Page:
    """The page, before its sections are made."""
    opening = [tag("p", sentence, class_="lead") for sentence in describe_world(results)]
    return Page("selection_study", results, results.study.title, opening)


def list_selection_tables(results: SelectionResults) -> list[Table]:
    return [table for _, section in build_selection_page(results).build_sections() for table in section.tables]


def write_selection_page(out: Path, results: SelectionResults) -> Path:
    """Write the page; one that is there is replaced."""
    with lock_path(out):
        return write_page(build_selection_page(results), out).path


def render_selection_markdown(results: SelectionResults) -> str:
    """The page as Markdown, as docs/results has it; also where nothing is measured yet."""
    name = results.study.suite
    made_by = f"shiftscope study {name} --tables --cells docs/results/{name} --page docs/results/{name}.md"
    parts = [
        f"<!-- made by `{made_by}`; do not edit -->",
        f"# {results.study.title}, measured",
        *describe_world(results),
        *(table.to_markdown() for table in list_selection_tables(results)),
    ]
    return "\n\n".join(filter(None, parts)) + "\n"


def describe_world(results: SelectionResults) -> list[str]:
    """What the figures rest on, in sentences."""
    study, world = results.study, results.world
    if world is None:
        return [f"Nothing is measured yet: run `shiftscope study {study.suite} --scale paper --out DIR`."]
    seeds = sorted({seed for _, seed, training in results.runs if training == WHOLE})
    sentences = []
    paper = study.scales.get("paper")
    if paper is None or int(world.spec.get("images", 0)) < paper.images:
        sentences.append(
            f"Scale {world.scale}: a trial run of the pipeline. With so little data, neither figures nor verdicts say "
            "anything about the models."
        )
    sentences.append(
        f"World: {study.world} with planted shortcuts ({world.spec.get('shortcut', 'none')}), data "
        f"{world.data[:12]}; {format_count(world.sizes['train'])} questions to train on, "
        f"{format_count(world.sizes['val'])} for IID val, {format_count(world.sizes['iid'])} in the IID test, of which "
        f"the OOD test sets are parts. {count_noun(len(results.runs), 'training')}, seeds "
        f"{', '.join(map(str, seeds)) or 'none'}; figures are means over the seeds."
    )
    for other in results.redrawn:
        runs = [run for run in results.runs.values() if run.data == other.data]
        if not runs:
            continue
        parts = ", ".join(sorted({run.training.partition("/")[0] for run in runs}))
        theirs, ours = ("GPU" if one.spec.get(DEVICE) else "CPU" for one in (other, world))
        how = f"drawn by a {theirs} instead of a {ours}" if theirs != ours else "drawn and stored anew"
        sentences.append(
            f"{count_noun(len(runs), 'training')} ({parts}) saw the same scenes with the same questions in pictures "
            f"{how} (data {other.data[:12]}): colours differ by a rounding, if at all."
        )
    sentences += _tell_repeats(results)
    if results.left_out:
        sentences.append(f"{count_noun(results.left_out, 'record')} of other worlds left out.")
    outdated = results.outdated + (results.language.outdated if results.language else 0)
    if outdated:
        sentences.append(
            f"{count_noun(outdated, 'record')} left out whose methods were trained with other settings than today's."
        )
    return sentences


def _tell_repeats(results: SelectionResults) -> Iterator[str]:
    """How far trainings with one seed lie apart, where some were made again."""
    repeats = results.list_repeats()
    if not repeats:
        return
    apart = {key: max(values) - min(values) for key, values in repeats.items()}
    methods = ", ".join(sorted({method for method, _, _ in repeats}))
    furthest = max(apart, key=lambda key: apart[key])
    listed = ", ".join(format_percent(value, DIGITS) for value in repeats[furthest])
    yield (
        f"Made more than once with the same seed, of which the last counts: {count_noun(len(repeats), 'training')} "
        f"({methods}). Trainings with one seed differ on the IID test by "
        f"{format_percent(median(apart.values()), DIGITS)} points in the median, the most {furthest[0]}, seed "
        f"{furthest[1]}: {listed}."
    )
