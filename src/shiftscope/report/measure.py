"""Measures that sections share: levels of a fact, mixtures of question types, accuracies, runs pooled.

A variant may lack question types (whole vehicles have no parts to ask about) or have fewer of one. Its
accuracy then differs for that alone, so runs are compared over the types that all have, weighted alike.
"""

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np

from ..columns import Column, ListColumn
from ..metrics import accuracy as accuracy_metric
from ..metrics import significance
from ..metrics.accuracy import score_rows
from ..metrics.intervals import SceneClusters
from ..metrics.slices import make_scores
from ..result import Codes, Floats, RunRecords, Score
from .number_format import count_noun
from .runs import ReportRun, ReportRuns

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
    """A fact's value in words: part_values.json, a file of templates, is part values; partquery_color asks a part's."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        words = value.removesuffix(".json").replace("_", " ")
        return words.replace("partquery partname", "query part name").replace("partquery", "query part")
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


SIGNIFICANCE = 0.05  # a chance below this, after correction, is marked as significant
K = TypeVar("K", bound=Hashable)


@lru_cache(maxsize=2048)
def measure_accuracy(run: ReportRun) -> Score:
    """The accuracy of a run, over seeds where there are several."""
    if run.seeds:
        return significance.average_seeds([measure_accuracy(one) for one in run.seeds])
    return accuracy_metric.measure(run.records)[0]


def describe_metric(report: ReportRuns) -> str:
    """What `accuracy` is in these runs, in words."""
    scores = map(measure_accuracy, report.runs)
    names = (f"VQA accuracy ({s.form} form)" if s.metric == "vqa_accuracy" else "Accuracy" for s in scores)
    return " or ".join(dict.fromkeys(names)) or "Accuracy"


def measure_weighted_accuracy(run: ReportRun, mixture: Mapping[int, Floats]) -> Score:
    """The accuracy of a run whose rows weigh differently: the weights of each of its seeds, by id."""
    if run.seeds:
        return significance.average_seeds([measure_weighted_accuracy(one, mixture) for one in run.seeds])
    weights = mixture[id(run)]
    scored = score_rows(run.records)
    estimate = SceneClusters.from_records(run.records).estimate_shares(scored.values * weights, weights)
    (score,) = make_scores("accuracy", estimate, run.records, weights > 0, form=scored.form)
    return score


def measure_accuracy_by(run: ReportRun, name: str, cut: Levels) -> tuple[Score | None, ...]:
    """The accuracy in each level, in the order of the levels; None where there is no row."""
    column = Column(tuple(range(len(cut.names))), cut.codes)
    records = replace(run.records, facts=((name, column),))
    scores = {dict(s.slice)[name]: s for s in accuracy_metric.measure(records, (name,))[1:]}
    return tuple(scores.get(k) for k in range(len(cut.names)))


def compute_p_value(run: ReportRun, other: ReportRun) -> float | None:
    """The p-value of the difference of two runs on their common questions, over scenes and seeds; not yet corrected."""
    test = significance.compare_seeds([one.records for one in run.each], [one.records for one in other.each])
    return test.p if test.n else None


def correct_p_values(chances: Mapping[K, float | None]) -> dict[K, float]:
    """Holm's correction over all of them; what has no chance is left out."""
    keys = [key for key, p in chances.items() if p is not None]
    corrected = significance.correct_holm({str(k): chances[key] for k, key in enumerate(keys)})
    return {key: p for k, key in enumerate(keys) if (p := corrected[str(k)]) is not None}


@lru_cache(maxsize=2048)
def detectable_drop(run: ReportRun) -> float | None:
    """The smallest drop that a second set of this size would show; None where none would, or unknown."""
    score = measure_accuracy(run)
    if score.value is None or run.seeds:
        return None
    least = significance.smallest_detectable_drop(significance.effective_sample_size(run.records), score.value)
    return least if 0 < least < 1 else None


POOLED_COLUMNS = ("question", "content", "condition", "status", "reason", "twin")
POOLED_NUMBERS = ("program_right", "action_right", "seconds", "cost", "confidence")


def pool_runs(runs: Sequence[ReportRun]) -> ReportRun:
    """One run of all rows of a contender's runs and seeds, with the test they come from as a fact.

    Questions go by names that say what data they are of, so that only the same are taken as the same. Facts that
    a run lacks are nothing there.
    """
    whole = [(one, len(run.each) > 1) for run in runs for one in run.each]
    parts = [_qualify_names(one, of_seeds) for one, of_seeds in whole]
    if len(parts) == 1:
        return replace(runs[0], records=parts[0])
    names = sorted({name for r in parts for name, _ in r.facts})
    facts = [
        (name, concat_columns([dict(r.facts).get(name) or Column((), np.full(len(r), -1, np.int32)) for r in parts]))
        for name in names
    ]
    tests = concat_columns([Column((run.test,), np.zeros(len(run.records), np.int32)) for run, _ in whole])
    truth, answer = _concat_two([r.truth for r in parts], [r.answer for r in parts])
    flat = [Column(r.answers.values, r.answers.codes) for r in parts]
    literal, answers = _concat_two([r.literal for r in parts], flat)
    images = concat_columns([Column(r.images.values, r.images.codes) for r in parts])
    numbers: dict[str, Any] = {name: np.concatenate([getattr(r, name) for r in parts]) for name in POOLED_NUMBERS}
    plain: dict[str, Any] = {name: concat_columns([getattr(r, name) for r in parts]) for name in POOLED_COLUMNS}
    records = RunRecords(
        **plain,
        images=_concat_lists(images, [r.images for r in parts]),
        truth=truth,
        answer=answer,
        literal=literal,
        answers=_concat_lists(answers, [r.answers for r in parts]),
        **numbers,
        facts=(*((n, c) for n, c in facts if n != "test"), ("test", tests)),
    )
    return replace(runs[0], records=records, test="all tests" if len(runs) > 1 else runs[0].test, seeds=())


def pool_seeds(runs: Sequence[ReportRun]) -> ReportRun:
    """As `pool_runs`, with one pooled run per seed that all of these have as its seeds.

    The rows are those of the first seed, where there are several.
    """
    by_seed = [{one.seed: one for one in run.each} for run in runs]
    shared = [seed for seed in by_seed[0] if all(seed in known for known in by_seed)]
    if all(len(run.each) == 1 for run in runs) or not shared:
        return pool_runs(runs)
    pooled = tuple(pool_runs([known[seed] for known in by_seed]) for seed in shared)
    return replace(pooled[0], seeds=pooled if len(pooled) > 1 else ())


def list_own_questions(run: ReportRun, pooled: Collection[str]) -> frozenset[str]:
    """Which of a run's questions are among these, that go by their names in `pool_runs`."""
    one = run.each[0]
    names = _qualify_names(one, len(run.each) > 1).question.values
    return frozenset(own for own, name in zip(one.records.question.values, names, strict=True) if name in pooled)


def keep_questions(run: ReportRun, names: Collection[str]) -> ReportRun:
    """The same run with these questions alone, in all its seeds."""
    question = run.records.question
    kept = np.array([*(name in names for name in question.values), False], np.bool_)[question.codes]
    return replace(run, records=run.records.take(kept), seeds=tuple(keep_questions(one, names) for one in run.seeds))


def include_conditions(run: ReportRun) -> ReportRun:
    """The same run with its rows under all conditions, of all its seeds."""
    return replace(run, records=run.log.records, seeds=tuple(map(include_conditions, run.seeds)))


def read_conditions(run: ReportRun) -> RunRecords:
    """The rows of a run under all conditions, of all its seeds."""
    return pool_runs([include_conditions(run)]).records if run.seeds else run.log.records


def _concat_two(left: Sequence[Column], right: Sequence[Column]) -> tuple[Column, Column]:
    """Two groups of columns over one list of values, so that equal codes are equal values."""
    both = concat_columns([*left, *right])
    size = sum(len(c) for c in left)
    return Column(both.values, both.codes[:size]), Column(both.values, both.codes[size:])


def _concat_lists(flat: Column, parts: Sequence[ListColumn]) -> ListColumn:
    """One below the other, from all their entries."""
    sizes = np.concatenate([part.lengths for part in parts])
    return ListColumn(flat.values, flat.codes, np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64))


def _qualify_names(run: ReportRun, of_seeds: bool) -> RunRecords:
    """Its rows under names of their own; those of a seed pair with no other run's."""
    scope = f"{run.question_set_id} {run.contender}, seed {run.seed}" if of_seeds else run.question_set_id
    question, twin = (
        Column(tuple(f"{scope}: {name}" for name in column.values), column.codes)
        for column in (run.records.question, run.records.twin)
    )
    return replace(run.records, question=question, twin=twin, data="")  # the names say which data


# A generalization test puts questions and their variants in one run; together they do not measure the model on the
# data. Variants whose originals are in another run are a test of their own, and stay.


def drop_variants(report: ReportRuns) -> ReportRuns:
    """The same runs, each without variants of its own questions."""
    return ReportRuns(tuple(_drop_run_variants(run) for run in report.runs))


def describe_dropped_variants(report: ReportRuns) -> str:
    """How many variants were left out, as a sentence for a lead; nothing where there are none."""
    most = max((len(run.records) - len(_drop_run_variants(run).records) for run in report.runs), default=0)
    if not most:
        return ""
    return f" The {count_noun(most, 'variant')} of these questions that a test adds do not count here."


def _drop_run_variants(run: ReportRun) -> ReportRun:
    questions = run.records.question.to_list()
    known = frozenset(questions)
    pairs = zip(run.records.twin.to_list(), questions, strict=True)
    # A twin in a dataset of its own may have the name of its original, which then is not in this run.
    beside = np.array([twin is not None and twin in known and twin != q for twin, q in pairs], np.bool_)
    if not beside.any():
        return run
    whole = run.log.questions
    log = replace(run.log, questions=None if whole is None else whole - int(beside.sum()))
    seeds = tuple(_drop_run_variants(one) for one in run.seeds)
    return replace(run, log=log, records=run.records.take(~beside), seeds=seeds)
