"""Levels of a fact that can be compared, and weights that give runs the same mixture of question types.

A variant may lack question types (whole vehicles have no parts to ask about) or have fewer of one. Its
accuracy then differs for that alone, so runs are compared over the types that all have, weighted alike.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ..columns import Column
from ..result import Codes, Floats, RunRecords

MOST_LEVELS = 8  # levels of a number; kinds keep all theirs
EN_DASH = "\N{EN DASH}"


@dataclass(frozen=True, slots=True, eq=False)
class Levels:
    """What a fact is in each row: `names[codes[row]]`, or nothing where the code is -1."""

    names: tuple[str, ...]
    codes: Codes  # [row]
    ordered: bool  # numbers, from small to large


def cut_levels(column: Column, most: int = MOST_LEVELS) -> Levels:
    """Numbers keep their values while there are few of them and become ranges of like size beyond."""
    values = column.values
    if values and all(isinstance(v, int | float) and not isinstance(v, bool) for v in values):
        return _cut_numbers(column, most)
    order = sorted(range(len(values)), key=lambda k: spell_fact(values[k]))
    used = set(np.unique(column.codes).tolist())
    order = [k for k in order if k in used]
    rank = np.full(len(values) + 1, -1, np.int32)
    rank[order] = np.arange(len(order))
    return Levels(tuple(spell_fact(values[k]) for k in order), rank[column.codes], ordered=False)


def concat_columns(columns: Sequence[Column]) -> Column:
    """Columns one below the other, over one list of values."""
    numbers: dict[tuple[type, object], int] = {}
    moved = []
    for column in columns:
        at = [numbers.setdefault((type(v), v), len(numbers)) for v in column.values]
        moved.append(np.array([*at, -1], np.int32)[column.codes])
    values = tuple(key[1] for key in numbers)
    return Column(values, np.concatenate(moved) if moved else np.zeros(0, np.int32))


def spell_fact(value: object) -> str:
    """A fact's value in words."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _cut_numbers(column: Column, most: int) -> Levels:
    codes = column.codes
    known = codes >= 0
    numbers = np.array([*map(float, column.values), np.nan])[codes]
    distinct, counts = np.unique(numbers[known], return_counts=True)
    if not len(distinct):
        return Levels((), np.full(len(codes), -1, np.int32), ordered=True)
    if len(distinct) <= most:
        edges = distinct
    else:
        share = np.cumsum(counts) / counts.sum()
        cuts = {int(np.searchsorted(share, k / most)) + 1 for k in range(1, most)}
        edges = distinct[[0, *sorted(c for c in cuts if c < len(distinct))]]
    placed = np.searchsorted(edges, numbers, side="right") - 1
    ends = [*(distinct[np.searchsorted(distinct, b) - 1] for _, b in pairwise(edges)), distinct[-1]]
    names = tuple(
        EN_DASH.join(spell_fact(int(v) if float(v).is_integer() else float(v)) for v in dict.fromkeys(pair))
        for pair in zip(edges, ends, strict=True)
    )
    return Levels(names, np.where(known, placed, -1).astype(np.int32), ordered=True)


# The question types that several runs share, weighted alike. A type is a template's: the facts `template` and `kind`.

QUESTION_TYPE_FACTS = ("template", "kind")


@dataclass(frozen=True, slots=True, eq=False)
class QuestionTypeMixture:
    """A weight per row for each of several runs; 0 where the row's type is not in all of them."""

    weights: tuple[Floats, ...]
    shared: int  # types that all have
    types: int  # that any has

    @property
    def is_complete(self) -> bool:
        return self.shared == self.types


def reweight_question_types(runs: Sequence[RunRecords]) -> QuestionTypeMixture:
    """Weights that give every run the mixture of the first over the types that all of them have.

    Where rows do not say their type, all count alike.
    """
    names = [name for name in QUESTION_TYPE_FACTS if all(name in dict(r.facts) for r in runs)]
    kinds = np.zeros(sum(map(len, runs)), np.int64)
    for name in names:
        column = concat_columns([dict(r.facts)[name] for r in runs])
        kinds = kinds * (len(column.values) + 1) + column.codes + 1
    _, kind = np.unique(kinds, return_inverse=True)
    edges = np.cumsum([0, *map(len, runs)])
    size = int(kind.max(initial=0)) + 1
    parts = [
        np.where(r.scorable & (r.question.codes >= 0), kind[edges[k] : edges[k + 1]], size) for k, r in enumerate(runs)
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
    return QuestionTypeMixture(tuple(weights), int(shared.sum()), int((counts > 0).any(axis=0).sum()))
