"""Findings: what the paper found and what this project set itself, each with its rule, checked on a matrix.

A finding *holds* or *does not hold*; where entries are missing it is *not measured*. Parts of the paper's
findings that speak of FiLM, mDETR or NSCL are not checked: these are not trained here.
"""

from collections.abc import Iterator

from ...metrics.significance import correct_holm
from ...metrics.transfer_matrix import TransferMatrix, median_throughput, sum_training_seconds
from ..study import FAILS, HOLDS, NOT_MEASURED, FactorGrid, Finding
from .reported import REPORTED
from .study import MODELS, OBJECT, STUDY, TEXTS, StudyDomain, TrainingSetup, factor_grid

RATIO = 0.7  # of p_nsvqa_exact's Relative Degrade to p_nsvqa's, at most
LEAST = 0.03  # p_nsvqa's Relative Degrade, from which the ratio counts
SURE = 0.05
LITTLE = 0.02  # a loss of accuracy below this is hardly one
MACHINE = "H200"  # a device's name holds it
MINUTES, IMAGES, QUESTIONS = 8, 3_000, 10_000


def check_paper_findings(matrix: TransferMatrix) -> Iterator[Finding]:
    """The paper's four, factor by factor, as far as they speak of NSVQA and P-NSVQA."""
    small, absolute = (_degrade_of_both(matrix, "redundancy", form) for form in ("tabulated", "absolute"))
    yield Finding(
        "Redundancy: modular models hardly suffer from it (not a blind test, see Table 1, redundancy).",
        "Relative Degrade (tabulated) of nsvqa and of p_nsvqa below 2%",
        _decide(all(v < 0.02 for v in small.values()) if small else None),
        # A mean of losses and gains hides both: the figures without their sign tell.
        _format_listed(small) + (f"; absolute: {_format_listed(absolute)}" if absolute else ""),
    )
    large = _degrade_of_both(matrix, "visual", "tabulated")
    yield Finding(
        "Visual complexity: modular models suffer from it (FiLM and mDETR, reported below 10%, do less).",
        "Relative Degrade (tabulated) of nsvqa and of p_nsvqa above 12%",
        _decide(all(v > 0.12 for v in large.values()) if large else None),
        _format_listed(large),
    )
    for factor, name in (
        ("visual", "Visual complexity"),
        ("distribution", "Concept distribution"),
        ("compositionality", "Compositionality"),
    ):
        for grid in STUDY.grids:
            if grid.factor == factor:
                yield _check_more_robust(matrix, grid, name)


def _check_more_robust(matrix: TransferMatrix, grid: FactorGrid, name: str) -> Finding:
    where = grid.title.removeprefix(grid.factor)
    says = f"{name}{where}: uncertainty makes NSVQA more robust."
    rule = "paired interval of p_nsvqa's Relative Degrade (tabulated) minus nsvqa's is below 0"
    plain, soft = (matrix.measure_degrade(m, grid, "tabulated", OBJECT) for m in MODELS[:2])
    if plain is None or soft is None:
        return Finding(says, rule, NOT_MEASURED)
    change = soft.subtract(plain)
    points = _format_points(change.value, change.low, change.high)
    figures = f"{_format_percent(plain.value)} → {_format_percent(soft.value)}, {points}"
    return Finding(says, rule, _decide(change.high is not None and change.high < 0), figures)


def check_targets(matrix: TransferMatrix) -> Iterator[Finding]:
    """What this project set itself."""
    for model, least in (("p_nsvqa", 0.95), ("nsvqa", 0.92)):
        score = matrix.find_score(model, *STUDY.default, OBJECT)
        value = score.value if score else None
        yield Finding(
            f"{model} reaches an accuracy of {100 * least:.1f}% or more on default.",
            "accuracy on object questions, seed 0",
            _decide(None if value is None else value >= least),
            "" if value is None else _format_percent(value),
        )
    pair = matrix.compare_models("p_nsvqa", "nsvqa", *STUDY.default, OBJECT)
    decided, figures = None, ""
    if pair is not None:
        decided = None if pair.low is None or pair.p is None else pair.low > 0 and pair.p < SURE
        figures = (
            f"{_format_points(pair.drop, pair.low, pair.high)}; only p_nsvqa right {pair.only_first:,}, "
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
    base, ours = (matrix.measure_degrade(m, grid, "printed", OBJECT) for m in MODELS[1:])
    says = f"p_nsvqa_exact is more robust than p_nsvqa: {grid.title}."
    rule = "Relative Degrade (printed) at most 0.7 times p_nsvqa's where that is 3% or more"
    if base is None or ours is None:
        return Finding(says, rule, NOT_MEASURED)
    figures = f"{_format_percent(base.value)} → {_format_percent(ours.value)}, "
    if base.value >= LEAST:
        ratio = ours.divide(base)
        ends = "" if ratio.low is None or ratio.high is None else f" ({ratio.low:.2f} to {ratio.high:.2f})"
        return Finding(says, rule, _decide(ratio.value <= RATIO), f"{figures}ratio {ratio.value:.2f}{ends}")
    change = ours.subtract(base)
    return Finding(
        f"p_nsvqa_exact is no less robust than p_nsvqa: {grid.title}.",
        "elsewhere no worse: paired interval of the difference not above 0",
        _decide(change.low is None or change.low <= 0),
        figures + _format_points(change.value, change.low, change.high),
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
    defaults = [t for trained, t in matrix.trainings.items() if TrainingSetup(seed=trained.seed) == trained]
    trainings = sorted((t for t in defaults if MACHINE in t.origin.device), key=lambda t: t.origin.made)
    times = [sum_training_seconds(one) for one in trainings]
    told = [f"{one.trained.label}: {s / 60:.2f} min" for one, s in zip(trainings, times, strict=True) if s is not None]
    others = f" (the latest; before: {', '.join(told[:-1])})" if len(told) > 1 else ""
    latest = times[-1] if times else None
    yield Finding(
        f"The latest training of both parsers took {MINUTES} minutes or less, data included.",
        f"of the trainings on default, of any seed, on an {MACHINE}, only the latest: making the data and training, "
        "of both parsers, one after the other",
        _decide(None if latest is None else latest <= 60 * MINUTES),
        "" if latest is None else f"{told[-1]}{others}",
    )
    every, soft = median_throughput(row), median_throughput(one for one in row if one.model == "p_nsvqa")
    yield Finding(
        f"{IMAGES:,} images or more are parsed per second.",
        f"default row, on an {MACHINE}: median over its tests",
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
    for model in MODELS[:2]:
        own, other = (accuracy[REPORTED.find_model(model), "compositionality", "co-0", at] for at in ("co-0", "co-1"))
        losses[model] = other - own
    measured: dict[str, float] = {}  # what the default training loses to another composition of shapes and colours
    for model in MODELS:
        tests = (StudyDomain(), StudyDomain.from_name("co-1"))
        before, after = (matrix.find_score(model, TrainingSetup(), tested, OBJECT) for tested in tests)
        if before and after and before.value is not None and after.value is not None:
            measured[model] = after.value - before.value
    little = all(loss > -LITTLE for loss in measured.values())
    hardly = ": this shift hardly hurts a model trained on the default here" if little else ""
    width, height = matrix.scale.size
    figures = {
        "width": width,
        "height": height,
        "part_questions": matrix.scale.part_questions,
        "reported": _format_losses(losses),
        "measured": _format_losses(measured) + hardly if measured else "not measured yet",
    }
    return [(row["of"], row["paper"].format(**figures), row["here"].format(**figures)) for row in TEXTS["differences"]]


def _degrade_of_both(matrix: TransferMatrix, factor: str, form: str) -> dict[str, float]:
    """The figures of nsvqa and p_nsvqa; empty unless both are there."""
    measured = {m: matrix.measure_degrade(m, factor_grid(factor), form, OBJECT) for m in MODELS[:2]}
    known = {m: one.value for m, one in measured.items() if one is not None}
    return known if len(known) == 2 else {}


def _decide(decided: bool | None) -> str:
    return NOT_MEASURED if decided is None else HOLDS if decided else FAILS


def _format_listed(values: dict[str, float]) -> str:
    return ", ".join(f"{model} {_format_percent(value)}" for model, value in values.items())


def _format_losses(losses: dict[str, float]) -> str:
    shown = {model: f"{100 * loss:+.2f}" for model, loss in losses.items()}
    return ", ".join(f"{model} {text if float(text) else '0.00'} points" for model, text in shown.items())


def _format_percent(share: float) -> str:
    return f"{100 * share:.2f}%"


def _format_points(value: float | None, low: float | None, high: float | None) -> str:
    if value is None:
        return ""
    ends = "" if low is None or high is None else f" ({100 * low:+.2f} to {100 * high:+.2f})"
    return f"{100 * value:+.2f} points{ends}"
