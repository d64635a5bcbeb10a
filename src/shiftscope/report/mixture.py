"""Mixture: the kinds of question that several runs share, weighed alike, so that only accuracy differs.

A variant may lack kinds of question (whole vehicles have no parts to ask about) or have fewer of one (where
nearly all is metal, little can be asked about materials). Its accuracy then differs for that alone. A kind is
what one template asks in one way: the facts `template` and `kind`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..result import Floats, Records
from .level import joined

KIND = ("template", "kind")


@dataclass(frozen=True, slots=True, eq=False)
class Mixture:
    """A weight a row for each of several runs; 0 where the row's kind is not in all of them."""

    weights: tuple[Floats, ...]
    shared: int  # kinds that all have
    kinds: int  # that any has

    @property
    def whole(self) -> bool:
        """Whether all have the same kinds."""
        return self.shared == self.kinds


def mix(runs: Sequence[Records]) -> Mixture:
    """Weights that give every run the mixture of the first over the kinds that all of them have.

    Where rows do not tell their kind, all count alike.
    """
    names = [name for name in KIND if all(name in dict(r.facts) for r in runs)]
    kinds = np.zeros(sum(map(len, runs)), np.int64)
    for name in names:
        column = joined([dict(r.facts)[name] for r in runs])
        kinds = kinds * (len(column.values) + 1) + column.codes + 1
    _, kind = np.unique(kinds, return_inverse=True)
    edges = np.cumsum([0, *map(len, runs)])
    size = int(kind.max(initial=0)) + 1
    parts = [
        np.where(r.scorable & (r.question.codes >= 0), kind[edges[k] : edges[k + 1]], size)
        for k, r in enumerate(runs)
    ]
    counts = np.array([np.bincount(part, minlength=size + 1)[:size] for part in parts], np.float64)
    shared = (counts > 0).all(axis=0)
    wanted = counts[0] / max(counts[0][shared].sum(), 1)
    weights = []
    for records, part, count in zip(runs, parts, counts, strict=True):
        own = count[shared].sum()
        with np.errstate(divide="ignore", invalid="ignore"):
            per_kind = np.append(np.where(shared, own * wanted / count, 0.0), 0.0)
        unknown = records.question.codes < 0  # not there, so wrong, and of any kind
        weights.append(np.where(unknown & records.scorable, own / max(count.sum(), 1), per_kind[part]))
    return Mixture(tuple(weights), int(shared.sum()), int((counts > 0).any(axis=0).sum()))
