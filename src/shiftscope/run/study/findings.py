"""Findings: what the paper found and what this project set itself, each with its rule, checked on a board.

A finding *holds* or *does not hold*; where cells are missing it is *not measured*. Parts of the paper's
findings that speak of FiLM, mDETR or NSCL are not checked: these are not trained here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ...metrics._statistics import holm
from .board import Board
from .cell import Training
from .matrix import MODELS, Domain, Grid, Trained, every_grid, grid
from .pace import pace, training_seconds

HOLDS, FAILS, OPEN = "holds", "does not hold", "not measured"
RATIO = 0.7  # of p_nsvqa_exact's Relative Degrade to p_nsvqa's, at most
LEAST = 0.03  # p_nsvqa's Relative Degrade, from which the ratio is asked for
SURE = 0.05
SORT = "object"
MACHINE = "H200"  # a device's name holds it
MINUTES, IMAGES, QUESTIONS = 8, 3_000, 10_000


@dataclass(frozen=True, slots=True)
class Finding:
    """A sentence, the rule that decides it, what was decided and the figures it rests on."""

    says: str
    rule: str
    verdict: str
    figures: str = ""


def paper_findings(board: Board) -> Iterator[Finding]:
    """The paper's four, factor by factor, as far as they speak of NSVQA and P-NSVQA."""
    small = _both(board, "redundancy")
    yield Finding(
        "Redundancy: modular models hardly suffer from it (not a blind test, see Table 1, redundancy).",
        "Relative Degrade (tabulated) of nsvqa and of p_nsvqa below 2%",
        _verdict(small and all(v < 0.02 for v in small.values())),
        _listed(small) + _unsigned(board),
    )
    large = _both(board, "visual")
    yield Finding(
        "Visual complexity: modular models suffer from it (FiLM and mDETR, reported below 10%, do less).",
        "Relative Degrade (tabulated) of nsvqa and of p_nsvqa above 12%",
        _verdict(large and all(v > 0.12 for v in large.values())),
        _listed(large),
    )
    for factor, says in (
        ("visual", "Visual complexity: uncertainty makes NSVQA more robust."),
        ("distribution", "Concept distribution: uncertainty makes NSVQA more robust."),
        ("compositionality", "Compositionality: uncertainty makes NSVQA more robust."),
    ):
        for one in [g for g in every_grid() if g.factor == factor]:
            yield _more_robust(board, one, says)


def _more_robust(board: Board, one: Grid, says: str) -> Finding:
    rule = "paired interval of p_nsvqa's Relative Degrade (tabulated) less nsvqa's lies below 0"
    where = says if one.title == one.factor else f"{says[:-1]} (seen {one.visual})."
    plain, soft = (board.degrade(m, one, "tabulated", SORT) for m in MODELS[:2])
    if plain is None or soft is None:
        return Finding(where, rule, OPEN)
    value, low, high = soft.against(plain)
    verdict = _verdict(high is not None and high < 0)
    told = f"{_percent(plain.value)} → {_percent(soft.value)}, {_points(value, low, high)}"
    return Finding(where, rule, verdict, told)


def targets(board: Board) -> Iterator[Finding]:
    """What this project set itself."""
    home = Trained(), Domain()
    for model, least in (("p_nsvqa", 0.95), ("nsvqa", 0.92)):
        score = board.score(model, *home, SORT)
        yield Finding(
            f"{model} on default is right for {100 * least:.1f}% or more.",
            "accuracy on object questions, seed 0",
            OPEN if score is None or score.value is None else _verdict(score.value >= least),
            "" if score is None or score.value is None else _percent(score.value),
        )
    found = board.compare("p_nsvqa", "nsvqa", *home, SORT)
    yield Finding(
        "p_nsvqa on default is better than nsvqa.",
        "paired interval by scene above 0, and permutation test by scene p < 0.05",
        OPEN
        if found is None or found.low is None or found.p is None
        else _verdict(found.low > 0 and found.p < SURE),
        ""
        if found is None
        else f"{_points(found.drop, found.low, found.high)}; only p_nsvqa right {found.only_first:,}, "
        f"only nsvqa {found.only_second:,}, p = {found.p:.2g}",
    )
    for one in every_grid():
        yield _ratio(board, one)
    yield _no_cell_worse(board)
    yield from _fast_enough(board)


def _fast_enough(board: Board) -> Iterator[Finding]:
    """Speed is asked of the default's rows, on the machine the targets were set for."""
    row = [cell for key, cell in board.cells.items() if key[1] == Trained() and MACHINE in cell.origin.device]
    home = [t for trained, t in board.trainings.items() if Trained(seed=trained.seed) == trained]
    made = sorted((t for t in home if MACHINE in t.origin.device), key=lambda t: t.origin.made)
    took = training_seconds(made[-1]) if made else None
    yield Finding(
        f"Training both parsers takes {MINUTES} minutes or less, data included.",
        f"the latest training on default, of any seed, on an {MACHINE}: making the data and training, of "
        "both parsers, one after the other",
        OPEN if took is None else _verdict(took <= 60 * MINUTES),
        "" if took is None else f"{took / 60:.2f} min{_slowest(made)}",
    )
    seen = pace(row)
    yield Finding(
        f"{IMAGES:,} images or more are parsed a second.",
        f"default row, on an {MACHINE}: median over its tests",
        OPEN if seen is None else _verdict(seen.seen >= IMAGES),
        "" if seen is None else f"{seen.seen:,.0f} images/s",
    )
    soft = pace([cell for cell in row if cell.model == "p_nsvqa"])
    yield Finding(
        f"The whole pipeline of p_nsvqa answers {QUESTIONS:,} questions or more a second.",
        f"default row, on an {MACHINE}: seeing, reading, running in turn; median over its tests",
        OPEN if soft is None else _verdict(soft.answered >= QUESTIONS),
        "" if soft is None else f"{soft.answered:,.0f} questions/s",
    )


def _slowest(made: Sequence[Training]) -> str:
    """The longest of several trainings, in words."""
    known = [took for one in made if (took := training_seconds(one)) is not None]
    return f" (the longest of {len(known)}: {max(known) / 60:.2f} min)" if len(known) > 1 else ""


def _ratio(board: Board, one: Grid) -> Finding:
    base, ours = (board.degrade(m, one, "printed", SORT) for m in MODELS[1:])
    says = f"p_nsvqa_exact is more robust than p_nsvqa: {one.title}."
    rule = "Relative Degrade (printed) at most 0.7 times p_nsvqa's where that is 3% or more"
    if base is None or ours is None:
        return Finding(says, rule, OPEN)
    if base.value >= LEAST:
        value, low, high = ours.over(base)
        ends = "" if low is None or high is None else f" ({low:.2f} to {high:.2f})"
        told = f"{_percent(base.value)} → {_percent(ours.value)}, ratio {value:.2f}{ends}"
        return Finding(says, rule, _verdict(value <= RATIO), told)
    value, low, high = ours.against(base)
    told = f"{_percent(base.value)} → {_percent(ours.value)}, {_points(value, low, high)}"
    rule = "elsewhere no worse: paired interval of the difference not above 0"
    says = f"p_nsvqa_exact is no less robust than p_nsvqa: {one.title}."
    return Finding(says, rule, _verdict(low is None or low <= 0), told)


def _no_cell_worse(board: Board) -> Finding:
    """Over the cells of the matrix; others that are stored decide nothing."""
    says = "p_nsvqa_exact is in no cell of the matrix surely worse than p_nsvqa."
    rule = (
        "every cell is there, and none has a lower accuracy on object questions with an interval by scene "
        "below 0 and p < 0.05 (permutation by scene, Holm over the cells)"
    )
    wanted = {(t, at) for one in every_grid() for _, t in one.trained for _, at in one.tested}
    compared = {key: board.compare("p_nsvqa_exact", "p_nsvqa", *key, SORT) for key in pairs(board)}
    found = {key: pair for key, pair in compared.items() if pair and key in wanted}
    if not found:
        return Finding(says, rule, OPEN)
    names = {f"{t.label} → {at.label}": (t, at) for t, at in found}
    sure = holm({name: found[key].p for name, key in names.items()})
    lower = [name for name, key in names.items() if (found[key].drop or 0.0) < 0]
    worse = [n for n in lower if (sure[n] or 0.0) < SURE and (found[names[n]].high or 0.0) < 0]
    told = f"{len(found)} of {len(wanted)} cells: lower in {len(lower)}, surely in {len(worse)}"
    verdict = FAILS if worse else HOLDS if set(found) == wanted else OPEN
    return Finding(says, rule, verdict, told + (f" ({', '.join(worse)})" if worse else ""))


def pairs(board: Board) -> list[tuple[Trained, Domain]]:
    """The trainings and tests that any model has a cell for, in the order of the factors."""
    grids = every_grid()
    listed = [(t, at) for one in grids for _, t in one.trained for _, at in one.tested]
    there = {(t, at) for _, t, at in board.cells}
    rest = sorted(there - set(listed))
    return [pair for pair in dict.fromkeys([*listed, *rest]) if pair in there]


def _both(board: Board, factor: str, form: str = "tabulated") -> dict[str, float]:
    """The figures of nsvqa and p_nsvqa; empty unless both are there."""
    made = {m: board.degrade(m, grid(factor), form, SORT) for m in MODELS[:2]}
    found = {m: one.value for m, one in made.items() if one is not None}
    return found if len(found) == 2 else {}


def _unsigned(board: Board) -> str:
    """The redundancy's figures without the sign, which a mean of losses and gains does not show."""
    made = _both(board, "redundancy", "absolute")
    return f"; absolute: {_listed(made)}" if made else ""


def _verdict(decided: object) -> str:
    if decided == {}:
        return OPEN
    return HOLDS if decided else FAILS


def _listed(values: dict[str, float]) -> str:
    return ", ".join(f"{model} {_percent(value)}" for model, value in values.items())


def _percent(share: float) -> str:
    return f"{100 * share:.2f}%"


def _points(value: float | None, low: float | None, high: float | None) -> str:
    if value is None:
        return ""
    ends = "" if low is None or high is None else f" ({100 * low:+.2f} to {100 * high:+.2f})"
    return f"{100 * value:+.2f} points{ends}"
