"""Findings: what the paper found and what this project set itself, each with its rule, checked on a matrix.

A bar of the project is reached by the figure itself. What compares figures, or holds one against the paper's words,
goes by 95% intervals over scenes, and seeds where there are several: see `judge_gaps`.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from ...metrics.relative_degrade import DegradeEstimate
from ...metrics.significance import correct_holm
from ...metrics.transfer_matrix import EntryKey, TransferMatrix, median_throughput, sum_training_seconds
from ...result import Score
from ..parser_study import MODELS, OBJECT
from ..study import FAILS, HOLDS, NOT_MEASURED, FactorGrid, Finding
from ..verdicts import UNKNOWN, Ends, format_percent, format_points, join_names, judge_gaps
from .reported import FACTORS as REPORTED_FACTORS
from .reported import REPORTED
from .study import PART, STUDY, TEXTS, StudyDomain, TrainingSetup, factor_grid

NON_MODULAR, MODULAR = ("film", "mdetr"), ("nscl", "nsvqa", "p_nsvqa")
PAPERS_OWN = ("nsvqa", "p_nsvqa")
FORM = "absolute"  # of Relative Degrade: the one that the paper's Table 2 follows
IN_DOMAIN = {"p_nsvqa": 0.95, "nsvqa": 0.92, "nscl": 0.89, "mdetr": 0.82, "film": 0.53}  # targets on default
PART_TARGET = 0.85  # of p_nsvqa_exact, on part questions of default
RATIO = 0.7  # of p_nsvqa_exact's Relative Degrade to p_nsvqa's, at most
LEAST = 0.03  # p_nsvqa's Relative Degrade, from which the ratio counts
SURE = 0.05
LITTLE = 0.02  # a loss of accuracy below this is hardly one
NO_WORSE = 0.01  # a Relative Degrade that is surely higher by less than this is no worse
MACHINE = "H200"  # a device's name holds it
MINUTES, IMAGES, QUESTIONS = 8, 3_000, 10_000


Degrades = Mapping[str, DegradeEstimate]


def check_paper_findings(matrix: TransferMatrix) -> Iterator[Finding]:
    """What the paper finds (sections 5.1 and 5.2), in domain and factor by factor."""
    yield from _check_in_domain(matrix)
    visual, redundancy, distribution, composition = (
        {m: d for m in (*NON_MODULAR, *MODULAR) if (d := matrix.measure_degrade(m, factor_grid(f), FORM, OBJECT))}
        for f in REPORTED_FACTORS
    )
    # A mean of losses and gains hides both, so all of these are of the form that counts gains as losses.
    rule = f"Relative Degrade ({FORM})"
    yield _compare_degrades(
        "Redundancy: modular models hardly suffer from it (not a blind test, see Table 1, redundancy).",
        f"{rule} of {join_names(MODULAR)} below 2%",
        redundancy,
        MODULAR,
        lambda d: [Ends.read(d[m]).measure_below(0.02) for m in MODULAR],
    )
    yield _compare_degrades(
        "Redundancy: non-modular models suffer more than modular ones.",
        f"{rule} of {join_names(NON_MODULAR)} above that of {join_names(MODULAR)}",
        redundancy,
        (*NON_MODULAR, *MODULAR),
        lambda d: _subtract_each(d, NON_MODULAR, MODULAR),
    )
    yield _compare_degrades(
        "Visual complexity: non-modular models are more robust to it than modular ones.",
        f"{rule} of {join_names(NON_MODULAR)} below 10%, of {join_names(MODULAR)} above 12%",
        visual,
        (*NON_MODULAR, *MODULAR),
        lambda d: [
            *(Ends.read(d[m]).measure_below(0.1) for m in NON_MODULAR),
            *(Ends.read(d[m]).measure_above(0.12) for m in MODULAR),
        ],
    )
    yield _compare_degrades(
        "Visual complexity: modular models suffer from it.",
        f"{rule} of {join_names(PAPERS_OWN)} above 12%",
        visual,
        PAPERS_OWN,
        lambda d: [Ends.read(d[m]).measure_above(0.12) for m in PAPERS_OWN],
    )
    existing = (*NON_MODULAR, "nscl", "nsvqa")
    yield _compare_degrades(
        "Concept distribution: all existing models suffer a lot.",
        f"{rule} of {join_names(existing)} above 20%",
        distribution,
        existing,
        lambda d: [Ends.read(d[m]).measure_above(0.2) for m in existing],
    )
    yield _compare_degrades(
        "Concept distribution: NSVQA is better than the other existing models.",
        f"{rule} of nsvqa lower than that of {join_names(existing[:-1])} by 7.5 points or more",
        distribution,
        existing,
        lambda d: _subtract_each(d, existing[:-1], ("nsvqa",), 0.075),
    )
    yield _compare_degrades(
        "Compositionality: non-modular models are more robust than NSCL and NSVQA.",
        f"{rule} of {join_names(NON_MODULAR)} below that of nscl and nsvqa",
        composition,
        existing,
        lambda d: _subtract_each(d, ("nscl", "nsvqa"), NON_MODULAR),
    )
    yield _compare_degrades(
        "Compositionality: with uncertainty, NSVQA is more robust than the non-modular models.",
        f"{rule} of p_nsvqa below that of {join_names(NON_MODULAR)}",
        composition,
        (*NON_MODULAR, "p_nsvqa"),
        lambda d: _subtract_each(d, NON_MODULAR, ("p_nsvqa",)),
    )
    for factor, name in (
        ("visual", "Visual complexity"),
        ("distribution", "Concept distribution"),
        ("compositionality", "Compositionality"),
    ):
        for grid in STUDY.grids:
            if grid.factor == factor:
                yield _check_more_robust(matrix, grid, name)
    yield _check_tail(matrix)


def _check_in_domain(matrix: TransferMatrix) -> Iterator[Finding]:
    rule = "accuracy on default, object questions:"
    yield _compare_models(
        matrix,
        "In domain: modular models perform much better than non-modular ones.",
        f"{rule} each of {join_names(MODULAR)} above each of {join_names(NON_MODULAR)}",
        MODULAR,
        NON_MODULAR,
    )
    yield _compare_models(
        matrix,
        "In domain: P-NSVQA outperforms all other models of the paper.",
        f"{rule} p_nsvqa, from box centres as in the paper, above {join_names((*NON_MODULAR, *MODULAR[:-1]))}; nscl "
        "learns relations from features that know ground positions",
        ("p_nsvqa",),
        (*NON_MODULAR, *MODULAR[:-1]),
    )


def _compare_models(matrix: TransferMatrix, says: str, rule: str, high: Sequence[str], low: Sequence[str]) -> Finding:
    """Each of some models above each of others, in domain; by the seeds that two of them have in common.

    What is not measured may be anything: one model that is surely not above another settles it before the rest is.
    """
    scores = {m: matrix.find_score(m, *STUDY.default, OBJECT) for m in dict.fromkeys((*low, *high))}
    figures, whole = _format_scores(scores)
    pairs = [_pair_seeds(matrix, one, other) for one in high for other in low]
    found = [matrix.subtract_accuracies(some, OBJECT) if some else None for some in pairs]
    verdict = judge_gaps([Ends.read(gap).measure_above(0.0) if gap else UNKNOWN for gap in found])
    if not whole and verdict != FAILS:
        return Finding(says, rule, NOT_MEASURED, figures)
    least = min((gap for gap in found if gap), key=lambda gap: gap.value)
    seeds = sorted({len(some) for some in pairs if some})
    told = f"; least difference {format_points(least.value, least.low, least.high)}, seeds: "
    return Finding(says, rule, verdict, figures + told + " to ".join(map(str, dict.fromkeys((seeds[0], seeds[-1])))))


def _pair_seeds(matrix: TransferMatrix, one: str, other: str) -> list[tuple[EntryKey, EntryKey]]:
    trained, tested = STUDY.default
    rows = [replace(trained, seed=seed) for seed in STUDY.seeds]
    pairs: list[tuple[EntryKey, EntryKey]] = [((one, row, tested), (other, row, tested)) for row in rows]
    return [pair for pair in pairs if all(matrix.find_outcome(*key, OBJECT) for key in pair)]


def _subtract_each(degrades: Degrades, high: Sequence[str], low: Sequence[str], least: float = 0.0) -> list[Ends]:
    """Each of the first above each of the second, by so much; scenes are paired."""
    return [Ends.read(degrades[one].subtract(degrades[other])).measure_above(least) for one in high for other in low]


def _check_tail(matrix: TransferMatrix) -> Finding:
    says = "Concept distribution: overall accuracy on long-tailed data hides how badly the tail is answered (NSCL)."
    rule = "nscl trained on long: accuracy on tail 20 points or more below that on long"
    keys: list[EntryKey] = [
        ("nscl", TrainingSetup.from_name("long"), StudyDomain.from_name(name)) for name in ("long", "tail")
    ]
    scores = {key[2].variant: matrix.find_score(*key, OBJECT) for key in keys}
    figures, _ = _format_scores(scores)
    gap = matrix.subtract_accuracies([(keys[0], keys[1])], OBJECT)
    if gap is None:
        return Finding(says, rule, NOT_MEASURED, figures)
    told = f", {format_points(gap.value, gap.low, gap.high)}"
    return Finding(says, rule, judge_gaps([Ends.read(gap).measure_above(0.2)]), figures + told)


def _compare_degrades(
    says: str, rule: str, known: Degrades, needed: Sequence[str], find_gaps: Callable[[Degrades], Sequence[Ends]]
) -> Finding:
    """Decided by figures of several models; not measured unless all of them are there."""
    there = {name: known[name] for name in needed if name in known}
    lacking = [name for name in needed if name not in known]
    figures = ", ".join(f"{model} {_format_degrade(found)}" for model, found in there.items())
    figures += f"; not measured: {', '.join(lacking)}" if there and lacking else ""
    return Finding(says, rule, NOT_MEASURED if lacking else judge_gaps(find_gaps(there)), figures)


def _check_more_robust(matrix: TransferMatrix, grid: FactorGrid, name: str) -> Finding:
    where = grid.title.removeprefix(grid.factor)
    says = f"{name}{where}: uncertainty makes NSVQA more robust."
    rule = "Relative Degrade (tabulated) of p_nsvqa below that of nsvqa, by their paired interval"
    plain, soft = (matrix.measure_degrade(m, grid, "tabulated", OBJECT) for m in PAPERS_OWN)
    if plain is None or soft is None:
        return Finding(says, rule, NOT_MEASURED)
    change = soft.subtract(plain)
    points = format_points(change.value, change.low, change.high)
    figures = f"{format_percent(plain.value)} → {format_percent(soft.value)}, {points}"
    return Finding(says, rule, judge_gaps([Ends.read(change).measure_below(0.0)]), figures)


def check_targets(matrix: TransferMatrix) -> Iterator[Finding]:
    """What this project set itself."""
    wanted = [(model, least, OBJECT) for model, least in IN_DOMAIN.items()]
    for model, least, group in (*wanted, ("p_nsvqa_exact", PART_TARGET, PART)):
        score = matrix.find_score(model, *STUDY.default, group)
        value = score.value if score else None
        yield Finding(
            f"{model} reaches an accuracy of {100 * least:.1f}% or more on default, {group} questions.",
            "accuracy, seed 0, box centres, no adaptation",
            _decide(None if value is None else value >= least),
            "" if value is None else format_percent(value, apart_from=least),
        )
    yield _compare_models(
        matrix,
        "cnn_lstm, which sees the image, is better than lstm, which does not.",
        "accuracy on default, object questions",
        ("cnn_lstm",),
        ("lstm",),
    )
    pair = matrix.compare_models("p_nsvqa", "nsvqa", *STUDY.default, OBJECT)
    decided, figures = None, ""
    if pair is not None:
        decided = None if pair.low is None or pair.p is None else pair.low > 0 and pair.p < SURE
        figures = (
            f"{format_points(pair.drop, pair.low, pair.high)}; only p_nsvqa right {pair.only_first:,}, "
            f"only nsvqa {pair.only_second:,}, p = {pair.p:.2g}"
        )
    yield Finding(
        "p_nsvqa on default is better than nsvqa.",
        "paired interval by scene above 0, and permutation test by scene p < 0.05",
        _decide(decided),
        figures,
    )
    for grid in STUDY.grids:
        yield _check_ratio(matrix, grid)
    yield _check_no_entry_worse(matrix)
    yield from _check_speed(matrix)


def _check_ratio(matrix: TransferMatrix, grid: FactorGrid) -> Finding:
    base, ours = (matrix.measure_degrade(m, grid, "printed", OBJECT) for m in ("p_nsvqa", "p_nsvqa_exact"))
    says = f"p_nsvqa_exact is more robust than p_nsvqa: {grid.title}."
    rule = "Relative Degrade (printed) at most 0.7 times p_nsvqa's where that is 3% or more"
    if base is None or ours is None:
        return Finding(says, rule, NOT_MEASURED)
    figures = f"{format_percent(base.value)} → {format_percent(ours.value)}, "
    if base.value >= LEAST:
        ratio = ours.divide(base)
        ends = "" if ratio.low is None or ratio.high is None else f" ({ratio.low:.2f} to {ratio.high:.2f})"
        return Finding(
            says, rule, judge_gaps([Ends.read(ratio).measure_below(RATIO)]), f"{figures}ratio {ratio.value:.2f}{ends}"
        )
    change = ours.subtract(base)
    return Finding(
        f"p_nsvqa_exact is no less robust than p_nsvqa: {grid.title}.",
        f"elsewhere no worse: paired difference below {100 * NO_WORSE:.0f} point",
        judge_gaps([Ends.read(change).measure_below(NO_WORSE)]),
        figures + format_points(change.value, change.low, change.high),
    )


def _check_no_entry_worse(matrix: TransferMatrix) -> Finding:
    """Over the entries of the matrix; others that are stored decide nothing."""
    says = "p_nsvqa_exact is significantly worse than p_nsvqa in no pair of training and test set."
    rule = (
        "every pair is measured, and none has a lower accuracy on object questions with an interval by scene "
        "below 0 and p < 0.05 (permutation by scene, Holm over the pairs)"
    )
    wanted = set(STUDY.pairs)
    pairs = {
        f"{trained.label} → {tested.label}": pair
        for trained, tested in matrix.list_pairs()
        if (trained, tested) in wanted
        and (pair := matrix.compare_models("p_nsvqa_exact", "p_nsvqa", trained, tested, OBJECT))
    }
    if not pairs:
        return Finding(says, rule, NOT_MEASURED)
    sure = correct_holm({name: pair.p for name, pair in pairs.items()})
    lower = [name for name, pair in pairs.items() if (pair.drop or 0.0) < 0]
    worse = [name for name in lower if (sure[name] or 0.0) < SURE and (pairs[name].high or 0.0) < 0]
    figures = f"{len(pairs)} of {len(wanted)} pairs: lower in {len(lower)}, significantly in {len(worse)}"
    verdict = FAILS if worse else HOLDS if len(pairs) == len(wanted) else NOT_MEASURED
    return Finding(says, rule, verdict, figures + (f" ({', '.join(worse)})" if worse else ""))


def _check_speed(matrix: TransferMatrix) -> Iterator[Finding]:
    """Speed of the default's rows, on the machine the targets were set for."""
    row = [one for key, one in matrix.entries.items() if key[1] == TrainingSetup() and MACHINE in one.origin.device]
    shown = next((one for (_, trained), one in matrix.trainings.items() if trained == TrainingSetup()), None)
    took = sum_training_seconds(shown) if shown and MACHINE in shown.origin.device else None
    yield Finding(
        f"The training of both parsers took {MINUTES} minutes or less, data included.",
        f"of the default, seed 0, whose results are shown, on an {MACHINE}: making the data and training, of both "
        "parsers, one after the other",
        _decide(None if took is None else took <= 60 * MINUTES),
        "" if took is None else f"{took / 60:.2f} min",
    )
    usual = [one for one in row if one.model in ("nsvqa", "p_nsvqa")]  # by name alone: no condition but the usual ones
    every, soft = (median_throughput(one for one in usual if one.model == name) for name in ("nsvqa", "p_nsvqa"))
    yield Finding(
        f"{IMAGES:,} images or more are parsed per second.",
        f"default row, on an {MACHINE}, box centres, nothing adapted: median over its tests, as nsvqa sees them",
        _decide(None if every is None else every.seen >= IMAGES),
        "" if every is None else f"{every.seen:,.0f} images/s",
    )
    yield Finding(
        f"The whole pipeline of p_nsvqa answers {QUESTIONS:,} questions or more per second.",
        f"default row, on an {MACHINE}: image parsing, question parsing and execution in turn; median over its tests",
        _decide(None if soft is None else soft.answered >= QUESTIONS),
        "" if soft is None else f"{soft.answered:,.0f} questions/s",
    )


def list_differences(matrix: TransferMatrix) -> list[tuple[str, str, str]]:
    accuracy = REPORTED.tables["accuracy"]
    losses = {}
    for model in PAPERS_OWN:
        own, other = (accuracy[REPORTED.find_model(model), "compositionality", "co-0", at] for at in ("co-0", "co-1"))
        losses[model] = other - own
    measured: dict[str, float] = {}  # what the default training loses to another composition of shapes and colours
    for model in MODELS:
        tests = (StudyDomain(), StudyDomain.from_name("co-1"))
        before, after = (matrix.find_score(model, TrainingSetup(), tested, OBJECT) for tested in tests)
        if before and after and before.value is not None and after.value is not None:
            measured[model] = after.value - before.value
    little = all(loss > -LITTLE for loss in measured.values())
    hardly = ": this shift hardly hurts a model trained on the default here (docs/decisions/052)" if little else ""
    width, height = matrix.scale.size
    figures = {
        "width": width,
        "height": height,
        "part_questions": matrix.scale.part_questions,
        "reported": _format_losses(losses),
        "measured": _format_losses(measured) + hardly if measured else "not measured yet",
    }
    return [(row["of"], row["paper"].format(**figures), row["here"].format(**figures)) for row in TEXTS["differences"]]


def _decide(decided: bool | None) -> str:
    return NOT_MEASURED if decided is None else HOLDS if decided else FAILS


def _format_scores(scores: Mapping[str, Score | None]) -> tuple[str, bool]:
    """The figures that are there, and whether all are."""
    known = {name: s.value for name, s in scores.items() if s is not None and s.value is not None}
    lacking = [name for name in scores if name not in known]
    listed = ", ".join(f"{name} {format_percent(value)}" for name, value in known.items())
    return listed + (f"; not measured: {', '.join(lacking)}" if known and lacking else ""), not lacking


def _format_losses(losses: dict[str, float]) -> str:
    shown = {model: f"{100 * loss:+.2f}" for model, loss in losses.items()}
    return ", ".join(f"{model} {text if float(text) else '0.00'} points" for model, text in shown.items())


def _format_degrade(found: DegradeEstimate) -> str:
    ends = "" if found.low is None or found.high is None else f" ({100 * found.low:.2f} to {100 * found.high:.2f})"
    return f"{format_percent(found.value)}{ends}"
