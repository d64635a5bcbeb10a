"""How much of its accuracy a model loses when tested on another variant than it was trained on.

Super-CLEVR (Li et al., 2023). The paper prints one form, footnotes another and tabulates a third; see
docs/decisions/008-relative-degrade.md. With A(i, j) the accuracy of the model trained on i and tested on j:

*printed*     the mean of the six (A(i, i) − A(i, j)) / A(i, i); for the concept distribution the mean over
              the trained models k of ((head − tail) + (long − oppo)) / (2 · A(k, k)).
*footnote*    the same, but the concept distribution over 2 · A(k, bal).
*tabulated*   for each trained model its two drops are added, not averaged, then the mean over the models;
              the concept distribution is over A(k, bal), undivided by 2.
*absolute*    as tabulated, but a trained model that gains on the other variants counts by how much, without
              its sign. These are the figures of the paper's Table 2, all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np

from ..errors import UserError, unknown
from ..result import Floats, Records, Score
from ._resample import Resampling, interval, shared_clusters
from ._shares import APART, base_rows, known
from .accuracy import row_scores

FORMS = ("printed", "footnote", "tabulated", "absolute")
SUMMED = ("tabulated", "absolute")
VARIANTS = {
    "visual": ("easy", "mid", "hard"),
    "redundancy": ("rd-", "rd", "rd+"),
    "distribution": ("bal", "slt", "long"),
    "compositionality": ("co-0", "co-1", "co-2"),
}
DEFAULT = "default"  # Super-CLEVR's default data are mid, rd, bal and co-0 at once
BASES = {"visual": "mid", "redundancy": "rd", "distribution": "bal", "compositionality": "co-0"}
Cell = tuple[str, str]  # trained on, tested on
_Number = TypeVar("_Number", float, Floats)


def level_of(name: str, factor: str) -> str:
    """What a variant is called within a factor: the default data are the factor's base there."""
    return BASES[factor] if name == DEFAULT else name


def relative_degrade(accuracy: Mapping[Cell, _Number], factor: str, form: str = "tabulated") -> _Number:
    """The figure of one factor, as a share, from the accuracies of models on its variants."""
    if factor not in VARIANTS:
        raise unknown("factor", factor, VARIANTS)
    if form not in FORMS:
        raise unknown("form of Relative Degrade", form, FORMS)

    def cell(trained: str, tested: str) -> _Number:
        if (trained, tested) not in accuracy:
            raise UserError(
                f"Relative Degrade of {factor}, {form} form: no accuracy of the model trained on "
                f"{trained!r} and tested on {tested!r}"
            )
        return accuracy[trained, tested]

    try:
        made = _distribution(cell, form) if factor == "distribution" else _pairs(cell, VARIANTS[factor])
    except ZeroDivisionError:
        raise UserError(
            f"Relative Degrade of {factor}: a model that is never right in its own domain has nothing to lose"
        ) from None
    return _mean(made, form)


def _pairs(cell: Callable[[str, str], _Number], variants: tuple[str, ...]) -> list[_Number]:
    made = []
    for i in variants:
        one, two = (cell(i, i) - cell(i, j) for j in variants if j != i)
        made.append((one + two) / cell(i, i))
    return made


def _distribution(cell: Callable[[str, str], _Number], form: str) -> list[_Number]:
    made = []
    for k in VARIANTS["distribution"]:
        drop = (cell(k, "head") - cell(k, "tail")) + (cell(k, "long") - cell(k, "oppo"))
        made.append(drop / cell(k, k if form == "printed" else "bal"))
    return made


def _mean(drops: list[_Number], form: str) -> _Number:
    """Over the trained models, each of which has two drops added up."""
    sized = [abs(drop) for drop in drops] if form == "absolute" else drops
    total = sum(sized[1:], start=sized[0])
    return total / (len(drops) if form in SUMMED else 2 * len(drops))


def measure_runs(runs: Mapping[Cell, Records], factor: str, form: str = "tabulated") -> Score:
    """The figure of one factor from the runs themselves; scenes that runs share are resampled together."""
    if not runs:
        raise UserError(f"Relative Degrade of {factor} needs runs on its variants; there are none")
    cells = sorted(runs)
    rows = [base_rows(runs[cell]) for cell in cells]
    clusters = shared_clusters([r.cluster for r in rows])
    everything = Resampling(np.concatenate(clusters))
    edges = np.cumsum([0, *map(len, rows)])
    values: dict[Cell, float] = {}
    replicates: dict[Cell, Floats] = {}
    scored = [row_scores(r) for r in rows]
    for k, cell in enumerate(cells):
        hits, among = np.zeros((2, edges[-1]))
        among[edges[k] : edges[k + 1]] = scored[k].scorable
        hits[edges[k] : edges[k + 1]] = scored[k].values * scored[k].scorable
        if not among.any():
            raise UserError(f"the run trained on {cell[0]!r} and tested on {cell[1]!r} has nothing to score")
        values[cell] = float(hits.sum() / among.sum())
        with np.errstate(invalid="ignore", divide="ignore"):
            replicates[cell] = everything.sums(hits)[:, 0] / everything.sums(among)[:, 0]
    value = relative_degrade(values, factor, form)
    with np.errstate(invalid="ignore", divide="ignore"):
        low, high = interval(relative_degrade(replicates, factor, form)[:, None], value, everything.clusters)
    counts: dict[str, Any] = {
        name: sum(int((r.status.equals(name) & s.scorable).sum()) for r, s in zip(rows, scored, strict=True))
        for name in APART
    }
    return Score(
        f"relative_degrade.{form}",
        value,
        sum(int(s.scorable.sum()) for s in scored),
        known(low[0]),
        known(high[0]),
        slice=(("factor", factor),),
        scenes=everything.clusters,
        **counts,
    )
