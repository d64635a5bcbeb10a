"""Findings: what the paper found and what this project set itself, each with its rule, checked on a matrix.

A finding *holds* or *does not hold*; where entries are missing it is *not measured*. Parts of the paper's
findings that speak of FiLM, mDETR or NSCL are not checked: these are not trained here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ...metrics.significance import correct_holm
from ...metrics.transfer_matrix import TransferMatrix, median_throughput, sum_training_seconds
from .study import MODELS, FactorGrid, StudyDomain, TrainingSetup, factor_grid, list_grids

HOLDS, FAILS, NOT_MEASURED = "holds", "does not hold", "not measured"
RATIO = 0.7  # of p_nsvqa_exact's Relative Degrade to p_nsvqa's, at most
LEAST = 0.03  # p_nsvqa's Relative Degrade, from which the ratio counts
SURE = 0.05
GROUP = "object"
MACHINE = "H200"  # a device's name holds it
MINUTES, IMAGES, QUESTIONS = 8, 3_000, 10_000


@dataclass(frozen=True, slots=True)
class Finding:
    """A sentence, the rule that decides it, what was decided and the figures it rests on."""

    says: str
    rule: str
    verdict: str
    figures: str = ""


def check_paper_findings(matrix: TransferMatrix) -> Iterator[Finding]:
    """The paper's four, factor by factor, as far as they speak of NSVQA and P-NSVQA."""
    small = _degrade_of_both(matrix, "redundancy")
    yield Finding(
        "Redundancy: modular models hardly suffer from it (not a blind test, see Table 1, redundancy).",
        "Relative Degrade (tabulated) of nsvqa and of p_nsvqa below 2%",
        _decide(small and all(v < 0.02 for v in small.values())),
        _format_listed(small) + _describe_absolute(matrix),
    )
    large = _degrade_of_both(matrix, "visual")
    yield Finding(
        "Visual complexity: modular models suffer from it (FiLM and mDETR, reported below 10%, do less).",
        "Relative Degrade (tabulated) of nsvqa and of p_nsvqa above 12%",
        _decide(large and all(v > 0.12 for v in large.values())),
        _format_listed(large),
    )
    for factor, says in (
        ("visual", "Visual complexity: uncertainty makes NSVQA more robust."),
        ("distribution", "Concept distribution: uncertainty makes NSVQA more robust."),
        ("compositionality", "Compositionality: uncertainty makes NSVQA more robust."),
    ):
        for one in [g for g in list_grids() if g.factor == factor]:
            yield _check_more_robust(matrix, one, says)


def _check_more_robust(matrix: TransferMatrix, one: FactorGrid, says: str) -> Finding:
    rule = "paired interval of p_nsvqa's Relative Degrade (tabulated) less nsvqa's lies below 0"
    where = says if one.title == one.factor else f"{says[:-1]} (seen {one.visual})."
    plain, soft = (matrix.measure_degrade(m, one, "tabulated", GROUP) for m in MODELS[:2])
    if plain is None or soft is None:
        return Finding(where, rule, NOT_MEASURED)
    change = soft.subtract(plain)
    verdict = _decide(change.high is not None and change.high < 0)
    points = _format_points(change.value, change.low, change.high)
    figures = f"{_format_percent(plain.value)} → {_format_percent(soft.value)}, {points}"
    return Finding(where, rule, verdict, figures)


def check_targets(matrix: TransferMatrix) -> Iterator[Finding]:
    """What this project set itself."""
    home = TrainingSetup(), StudyDomain()
    for model, least in (("p_nsvqa", 0.95), ("nsvqa", 0.92)):
        score = matrix.find_score(model, *home, GROUP)
        yield Finding(
            f"{model} on default is right for {100 * least:.1f}% or more.",
            "accuracy on object questions, seed 0",
            NOT_MEASURED if score is None or score.value is None else _decide(score.value >= least),
            "" if score is None or score.value is None else _format_percent(score.value),
        )
    found = matrix.compare_models("p_nsvqa", "nsvqa", *home, GROUP)
    yield Finding(
        "p_nsvqa on default is better than nsvqa.",
        "paired interval by scene above 0, and permutation test by scene p < 0.05",
        NOT_MEASURED
        if found is None or found.low is None or found.p is None
        else _decide(found.low > 0 and found.p < SURE),
        ""
        if found is None
        else f"{_format_points(found.drop, found.low, found.high)}; only p_nsvqa right {found.only_first:,}, "
        f"only nsvqa {found.only_second:,}, p = {found.p:.2g}",
    )
    for one in list_grids():
        yield _check_ratio(matrix, one)
    yield _check_no_entry_worse(matrix)
    yield from _check_speed(matrix)


def _check_speed(matrix: TransferMatrix) -> Iterator[Finding]:
    """Speed of the default's rows, on the machine the targets were set for."""
    row = [one for key, one in matrix.entries.items() if key[1] == TrainingSetup() and MACHINE in one.origin.device]
    home = [t for trained, t in matrix.trainings.items() if TrainingSetup(seed=trained.seed) == trained]
    made = sorted((t for t in home if MACHINE in t.origin.device), key=lambda t: t.origin.made)
    took = sum_training_seconds(made[-1]) if made else None
    yield Finding(
        f"Training both parsers takes {MINUTES} minutes or less, data included.",
        f"the latest training on default, of any seed, on an {MACHINE}: making the data and training, of "
        "both parsers, one after the other",
        NOT_MEASURED if took is None else _decide(took <= 60 * MINUTES),
        "" if took is None else f"{took / 60:.2f} min{_describe_slowest(made)}",
    )
    seen = median_throughput(row)
    yield Finding(
        f"{IMAGES:,} images or more are parsed per second.",
        f"default row, on an {MACHINE}: median over its tests",
        NOT_MEASURED if seen is None else _decide(seen.seen >= IMAGES),
        "" if seen is None else f"{seen.seen:,.0f} images/s",
    )
    soft = median_throughput([one for one in row if one.model == "p_nsvqa"])
    yield Finding(
        f"The whole pipeline of p_nsvqa answers {QUESTIONS:,} questions or more per second.",
        f"default row, on an {MACHINE}: seeing, reading, running in turn; median over its tests",
        NOT_MEASURED if soft is None else _decide(soft.answered >= QUESTIONS),
        "" if soft is None else f"{soft.answered:,.0f} questions/s",
    )


def _describe_slowest(made: Sequence[Any]) -> str:
    """The longest of several trainings, in words."""
    known = [took for one in made if (took := sum_training_seconds(one)) is not None]
    return f" (the longest of {len(known)}: {max(known) / 60:.2f} min)" if len(known) > 1 else ""


def _check_ratio(matrix: TransferMatrix, one: FactorGrid) -> Finding:
    base, ours = (matrix.measure_degrade(m, one, "printed", GROUP) for m in MODELS[1:])
    says = f"p_nsvqa_exact is more robust than p_nsvqa: {one.title}."
    rule = "Relative Degrade (printed) at most 0.7 times p_nsvqa's where that is 3% or more"
    if base is None or ours is None:
        return Finding(says, rule, NOT_MEASURED)
    if base.value >= LEAST:
        ratio = ours.divide(base)
        ends = "" if ratio.low is None or ratio.high is None else f" ({ratio.low:.2f} to {ratio.high:.2f})"
        figures = f"{_format_percent(base.value)} → {_format_percent(ours.value)}, ratio {ratio.value:.2f}{ends}"
        return Finding(says, rule, _decide(ratio.value <= RATIO), figures)
    change = ours.subtract(base)
    points = _format_points(change.value, change.low, change.high)
    figures = f"{_format_percent(base.value)} → {_format_percent(ours.value)}, {points}"
    rule = "elsewhere no worse: paired interval of the difference not above 0"
    says = f"p_nsvqa_exact is no less robust than p_nsvqa: {one.title}."
    return Finding(says, rule, _decide(change.low is None or change.low <= 0), figures)


def _check_no_entry_worse(matrix: TransferMatrix) -> Finding:
    """Over the entries of the matrix; others that are stored decide nothing."""
    says = "p_nsvqa_exact is in no entry of the matrix surely worse than p_nsvqa."
    rule = (
        "every entry is there, and none has a lower accuracy on object questions with an interval by scene "
        "below 0 and p < 0.05 (permutation by scene, Holm over the entries)"
    )
    wanted = {(t, at) for one in list_grids() for _, t in one.trained for _, at in one.tested}
    compared = {key: matrix.compare_models("p_nsvqa_exact", "p_nsvqa", *key, GROUP) for key in list_pairs(matrix)}
    found = {key: pair for key, pair in compared.items() if pair and key in wanted}
    if not found:
        return Finding(says, rule, NOT_MEASURED)
    names = {f"{t.label} → {at.label}": (t, at) for t, at in found}
    sure = correct_holm({name: found[key].p for name, key in names.items()})
    lower = [name for name, key in names.items() if (found[key].drop or 0.0) < 0]
    worse = [n for n in lower if (sure[n] or 0.0) < SURE and (found[names[n]].high or 0.0) < 0]
    figures = f"{len(found)} of {len(wanted)} entries: lower in {len(lower)}, surely in {len(worse)}"
    verdict = FAILS if worse else HOLDS if set(found) == wanted else NOT_MEASURED
    return Finding(says, rule, verdict, figures + (f" ({', '.join(worse)})" if worse else ""))


def list_pairs(matrix: TransferMatrix) -> list[tuple[TrainingSetup, StudyDomain]]:
    """The trainings and tests that any model has an entry for, in the order of the factors."""
    grids = list_grids()
    listed = [(t, at) for one in grids for _, t in one.trained for _, at in one.tested]
    there = {(t, at) for _, t, at in matrix.entries}
    rest = sorted(there - set(listed))
    return [pair for pair in dict.fromkeys([*listed, *rest]) if pair in there]


def _degrade_of_both(matrix: TransferMatrix, factor: str, form: str = "tabulated") -> dict[str, float]:
    """The figures of nsvqa and p_nsvqa; empty unless both are there."""
    made = {m: matrix.measure_degrade(m, factor_grid(factor), form, GROUP) for m in MODELS[:2]}
    found = {m: one.value for m, one in made.items() if one is not None}
    return found if len(found) == 2 else {}


def _describe_absolute(matrix: TransferMatrix) -> str:
    """The redundancy's figures without the sign, which a mean of losses and gains does not show."""
    made = _degrade_of_both(matrix, "redundancy", "absolute")
    return f"; absolute: {_format_listed(made)}" if made else ""


def _decide(decided: object) -> str:
    if decided == {}:
        return NOT_MEASURED
    return HOLDS if decided else FAILS


def _format_listed(values: dict[str, float]) -> str:
    return ", ".join(f"{model} {_format_percent(value)}" for model, value in values.items())


def _format_percent(share: float) -> str:
    return f"{100 * share:.2f}%"


def _format_points(value: float | None, low: float | None, high: float | None) -> str:
    if value is None:
        return ""
    ends = "" if low is None or high is None else f" ({100 * low:+.2f} to {100 * high:+.2f})"
    return f"{100 * value:+.2f} points{ends}"
