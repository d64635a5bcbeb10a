"""Paired runs: the questions that the runs of two models have in common, with what both score on them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ..columns import ListColumn
from ..errors import UserError
from ..metrics.accuracy import score_rows
from ..result import AS_IS, Bools, Floats, RunLog, RunRecords
from ..store.run_log import PLACES_FIELD, RUN_FILE, SERVER_FIELD, find_differing_fields, read_run
from ..url_path import parse_path

BASE = "base"  # the name of the runs that shift nothing
ANSWER = "answer"  # a fact that follows from the true answer: yes or no, number, word
RUNS_FOLDER = "runs"  # of a diagnosis
# fields of a spec in which runs of one model on the same questions may differ
SEED_FIELDS = {"seed", "limit", "part", "split", "conditions", "variant", "factor", "diagnostic"}
SEED_FIELDS |= {PLACES_FIELD, SERVER_FIELD}

Key = tuple[str, str]  # data, question
Row = tuple[int, int]  # run, row
Pool = dict[Key, list[Row]]  # what was asked → its rows: several where it was asked several times


@dataclass(frozen=True, slots=True, eq=False)
class ComparedRun:
    """A run of one side; its images go by names that are the same only where they show the same place."""

    folder: Path
    log: RunLog
    records: RunRecords

    @property
    def spec(self) -> dict[str, Any]:
        return dict(self.log.spec)

    @property
    def data(self) -> str:
        return str(self.spec.get("data_id") or self.spec.get("data") or "")

    @property
    def diagnostic(self) -> Mapping[str, Any]:
        """The diagnostic set that it is a part of; empty where it is of none."""
        given = self.spec.get("diagnostic")
        return given if isinstance(given, Mapping) else {}

    @property
    def factor(self) -> str:
        """What its data shift, as its spec or all of its questions say."""
        given = self.spec.get("factor") or self.diagnostic.get("part") or self.spec.get("variant")
        if given:
            return str(given)
        for name, column in self.records.facts:
            used = np.unique(column.codes[self.records.question.codes >= 0])
            if name == "variant" and len(used) == 1 and used[0] >= 0:
                return str(column.values[used[0]])
        return BASE

    def count_missing(self, condition: str) -> int:
        return int((self.records.condition.equals(condition) & (self.records.question.codes < 0)).sum())


def find_runs(place: str, other: str = "") -> tuple[Path, ...]:
    """The runs that a folder is or holds: a run's folder, one of several runs, a diagnosis.

    `other` is what it is compared with, to say what to run where it is no folder.
    """
    path = parse_path(place)
    if (path / RUN_FILE).is_file():
        return (path,)
    inside = path / RUNS_FOLDER if (path / RUNS_FOLDER).is_dir() else path
    if found := sorted(one.parent for one in inside.glob(f"*/{RUN_FILE}")):
        return tuple(found)
    if path.exists():
        raise UserError(f"{place}: neither the folder of a run nor of several (no {RUN_FILE} in it or below it)")
    data, split = "DATA", "test"
    if other and parse_path(other).is_dir():
        spec = dict(read_run(find_runs(other)[0]).spec)
        data, split = str(spec.get("data") or data), str(spec.get("split") or split)
    raise UserError(
        f"{place}: no such folder of runs; if it is a model, run it first: "
        f"shiftscope run --model {place} --data {data} --split {split} --out RUN"
    )


def read_side(folders: Sequence[Path]) -> list[ComparedRun]:
    runs = []
    for folder in folders:
        log = read_run(folder)
        spec, images = dict(log.spec), log.records.images
        scope = log.lineage.root if log.lineage else spec.get("data_id") or spec.get("data") or ""
        scoped = ListColumn(tuple(f"{scope} {name}" for name in images.values), images.codes, images.at)
        runs.append(ComparedRun(folder, log, replace(log.records, images=scoped)))
    return runs


@dataclass(frozen=True, slots=True, eq=False)
class PairedRows:
    """Questions with what both models score on them; their records are those of either side."""

    parts: tuple[RunRecords, ...]  # rows of a run each
    factors: tuple[str, ...]  # of the parts
    keys: tuple[Key, ...]
    first: Floats
    second: Floats

    def __len__(self) -> int:
        return len(self.first)

    def select(self, rows: Bools) -> "PairedRows":
        ends = np.cumsum([0, *map(len, self.parts)])
        parts = tuple(part.take(rows[a:b]) for part, a, b in zip(self.parts, ends, ends[1:], strict=False))
        keys = tuple(key for key, kept in zip(self.keys, rows.tolist(), strict=True) if kept)
        return PairedRows(parts, self.factors, keys, self.first[rows], self.second[rows])

    def list_factors(self) -> list[str]:
        return [factor for part, factor in zip(self.parts, self.factors, strict=True) for _ in range(len(part))]

    def list_values(self, name: str) -> list[str | None]:
        """A fact of each question in words; None where it has none."""
        if name == ANSWER:
            return [_describe_answer(truth) for part in self.parts for truth in part.truth.to_list()]
        columns = [(part, dict(part.facts).get(name)) for part in self.parts]
        values = [value for part, c in columns for value in (c.to_list() if c else [None] * len(part))]
        return [None if value is None else str(value) for value in values]


def _describe_answer(truth: str | None) -> str | None:
    if truth is None:
        return None
    return "yes or no" if truth in ("yes", "no") else "number" if truth.isdecimal() else "word"


@dataclass(frozen=True, slots=True, eq=False)
class Pairing:
    """The questions that both sides were asked under one condition, and how they were matched."""

    pairs: PairedRows
    pools: tuple[Pool, Pool]
    condition: str
    by_content: bool
    only_first: int
    only_second: int
    notes: tuple[str, ...]


def pair_sides(one: Sequence[ComparedRun], two: Sequence[ComparedRun], names: tuple[str, str]) -> Pairing:
    """Match by id where the data are the same, else by content; refuse where nothing is common."""
    condition = _find_condition(one, two, names)
    by_content = not {run.data for run in one} & {run.data for run in two}
    sides = (one, two)
    notes: list[str] = []
    pools = pool_rows(one, condition, by_content), pool_rows(two, condition, by_content)
    for side, pool, name in zip(sides, pools, names, strict=True):
        _refuse_several_models(side, pool, name)
    for this, other, name in ((0, 1, names[1]), (1, 0, names[0])):
        notes += _add_missing(pools[this], pools[other], sides[other], condition, name)
    common = [key for key in pools[0] if key in pools[1]]
    if not common:
        raise UserError(_explain_nothing_common(one, two, names))
    _refuse_edited(sides, pools, common, by_content, names)
    pairs = build_pairs(sides, pools, common)
    only = [len(pool) - len(common) for pool in pools]
    if by_content:
        notes.append("the two are runs on different datasets; questions were matched by their content")
    return Pairing(pairs, pools, condition, by_content, only[0], only[1], tuple(notes))


def _add_missing(asked: Pool, pool: Pool, runs: Sequence[ComparedRun], condition: str, name: str) -> Iterator[str]:
    """Add what a side was to be asked and has no response to, which counts as wrong, as in its accuracy.

    Which questions an unfinished run lacks is known only where the other side was asked them.
    """
    for data in dict.fromkeys(run.data for run in runs):
        missing = sum(run.count_missing(condition) for run in runs if run.data == data)
        lacking = [key for key in asked if key[0] == data and key not in pool]
        if missing and len(lacking) <= missing:
            pool.update((key, []) for key in lacking)
            counted = f"{len(lacking):,} of them count as wrong here" if lacking else "none of them is compared"
            yield f"{name} is not finished: {missing:,} questions have no response yet; {counted}"
        elif missing:
            yield f"{name} is not finished: {missing:,} questions have no response yet, and are not compared"


def _find_condition(one: Sequence[ComparedRun], two: Sequence[ComparedRun], names: tuple[str, str]) -> str:
    """As they are, where both were asked so; else the one condition of both."""
    there = [list_conditions(side) for side in (one, two)]
    if all(AS_IS in conditions for conditions in there):
        return AS_IS
    if there[0] == there[1] and len(there[0]) == 1:
        return next(iter(there[0]))
    listed = [", ".join(sorted(conditions)) for conditions in there]
    raise UserError(
        f"{names[0]} was asked under {listed[0]}, {names[1]} under {listed[1]}; run both with --condition {AS_IS}"
    )


def list_conditions(runs: Sequence[ComparedRun]) -> set[str]:
    return {str(condition) for run in runs for condition in run.records.condition.to_list()}


def pool_rows(runs: Sequence[ComparedRun], condition: str, by_content: bool) -> Pool:
    pool: Pool = {}
    for at, run in enumerate(runs):
        records = run.records
        column = records.content if by_content else records.question
        kept = records.condition.equals(condition) & (column.codes >= 0) & records.scorable
        scope = "" if by_content else run.data
        for row in np.flatnonzero(kept).tolist():
            pool.setdefault((scope, str(column[row])), []).append((at, row))
    return pool


def _refuse_several_models(runs: Sequence[ComparedRun], pool: Pool, name: str) -> None:
    """Several runs of the same questions are one model's only where they are its seeds."""
    together = {tuple(sorted({at for at, _ in rows})) for rows in pool.values() if len(rows) > 1}
    for group in together:
        for at in group[1:]:
            one, other = runs[group[0]], runs[at]
            fields = find_differing_fields(one.spec, other.spec)
            if one.data == other.data and (lasting := sorted(set(fields) - SEED_FIELDS)):
                raise UserError(
                    f"{name} holds two runs of the same questions, {one.folder.name} and {other.folder.name}, that "
                    f"differ in {', '.join(lasting)}; give the runs of one model"
                )


def _refuse_edited(
    sides: Sequence[Sequence[ComparedRun]],
    pools: tuple[Pool, Pool],
    common: Sequence[Key],
    by_content: bool,
    names: Any,
) -> None:
    """A question of both has one true answer and one content, or one of the runs is not what it says."""
    other = []
    for key in common:
        rows = [sides[s][at].records for s in (0, 1) for at, _ in pools[s][key][:1]]
        at = [row for s in (0, 1) for _, row in pools[s][key][:1]]
        if len(rows) < 2:
            continue
        truths, contents = ({getattr(r, n)[k] for r, k in zip(rows, at, strict=True)} for n in ("truth", "content"))
        if len(truths) > 1 or (not by_content and len(contents - {None}) > 1):
            other.append(key[1])
    if other:
        raise UserError(
            f"{names[0]} and {names[1]} have other true answers or images for {len(other):,} of their {len(common):,} "
            f"common questions, {other[0]!r} for one: one of them was edited; run it again"
        )


def _explain_nothing_common(one: Sequence[ComparedRun], two: Sequence[ComparedRun], names: tuple[str, str]) -> str:
    def describe(side: Sequence[ComparedRun]) -> str:
        return ", ".join(dict.fromkeys(f"{r.spec.get('data')} ({r.spec.get('split')})" for r in side))

    sets = [{str(r.diagnostic.get("digest") or "") for r in side} for side in (one, two)]
    why = "; they are of different diagnostic sets" if sets[0] != sets[1] else ""
    return (
        f"{names[0]} and {names[1]} have no question in common: the one is about {describe(one)}, the other about "
        f"{describe(two)}{why}; run both on the same data"
    )


def build_pairs(sides: Sequence[Sequence[ComparedRun]], pools: tuple[Pool, Pool], common: Sequence[Key]) -> PairedRows:
    """In the order of the runs whose records stand for the questions: the first side's, else the second's."""

    def score(side: int, key: Key) -> float:
        rows = pools[side][key]  # none: missing, and so wrong
        return sum(float(score_rows(sides[side][at].records).values[row]) for at, row in rows) / max(len(rows), 1)

    def locate(key: Key) -> tuple[int, int, int]:
        side = 0 if pools[0][key] else 1
        return (side, *pools[side][key][0])

    placed = sorted((*locate(key), key) for key in common)
    parts, factors = [], []
    for side, at in dict.fromkeys((s, at) for s, at, _, _ in placed):
        run = sides[side][at]
        parts.append(run.records.take(np.array([row for s, k, row, _ in placed if (s, k) == (side, at)], np.int64)))
        factors.append(run.factor)
    keys = tuple(key for *_, key in placed)
    first, second = (np.array([score(side, key) for key in keys], np.float64) for side in (0, 1))
    return PairedRows(tuple(parts), tuple(factors), keys, first, second)
