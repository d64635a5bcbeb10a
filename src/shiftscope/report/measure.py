"""Measures that sections share: accuracies, paired comparisons, runs pooled, variants left out."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, TypeVar

import numpy as np

from ..columns import Column, ListColumn
from ..errors import UserError
from ..metrics import accuracy as accuracy_metric
from ..metrics.accuracy import score_rows
from ..metrics.intervals import SceneClusters
from ..metrics.significance import (
    average_seeds,
    compare_models,
    correct_holm,
    effective_sample_size,
    smallest_detectable_drop,
)
from ..metrics.slices import make_scores
from ..result import Floats, RunRecords, Score
from .mixture import Levels, concat_columns
from .number_format import count_noun
from .runs import ReportRun, ReportRuns

SIGNIFICANCE = 0.05  # a chance below this, after correction, is marked as significant
K = TypeVar("K", bound=Hashable)


@lru_cache(maxsize=2048)
def measure_accuracy(run: ReportRun) -> Score:
    """The accuracy of a run, over seeds where there are several."""
    if run.seeds:
        return average_seeds([measure_accuracy(one) for one in run.seeds])
    return accuracy_metric.measure(run.records)[0]


def describe_metric(report: ReportRuns) -> str:
    """What `accuracy` is in these runs, in words."""
    scores = map(measure_accuracy, report.runs)
    names = (f"VQA accuracy ({s.form} form)" if s.metric == "vqa_accuracy" else "Accuracy" for s in scores)
    return " or ".join(dict.fromkeys(names)) or "Accuracy"


def measure_weighted_accuracy(run: ReportRun, mixture: Mapping[int, Floats]) -> Score:
    """The accuracy of a run whose rows weigh differently: the weights of each of its seeds, by id."""
    if run.seeds:
        return average_seeds([measure_weighted_accuracy(one, mixture) for one in run.seeds])
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
    """The p-value of the difference of two runs on their common questions, not yet corrected; none of seeds."""
    if run.seeds or other.seeds:
        return None
    test = compare_models(run.records, other.records)
    return test.p if test.n else None


def correct_p_values(chances: Mapping[K, float | None]) -> dict[K, float]:
    """Holm's correction over all of them; what has no chance is left out."""
    keys = [key for key, p in chances.items() if p is not None]
    try:
        corrected = correct_holm({str(k): chances[key] for k, key in enumerate(keys)}) if keys else {}
    except UserError:  # the libraries for it are an extra: no mark rather than no page
        return {}
    return {key: p for k, key in enumerate(keys) if (p := corrected[str(k)]) is not None}


@lru_cache(maxsize=2048)
def detectable_drop(run: ReportRun) -> float | None:
    """The smallest drop that a second set of this size would show; None where none would, or unknown."""
    score = measure_accuracy(run)
    if score.value is None or run.seeds:
        return None
    try:
        least = smallest_detectable_drop(effective_sample_size(run.records), score.value)
    except UserError:
        return None
    return least if 0 < least < 1 else None


def has_statistics_extra() -> bool:
    """Whether the libraries for paired tests are installed."""
    try:
        correct_holm({"any": 0.5})
    except UserError:
        return False
    return True


POOLED_COLUMNS = ("question", "content", "condition", "status", "reason", "twin")
POOLED_NUMBERS = ("program_right", "seconds", "cost", "confidence")


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
    scope = f"{run.question_set_id} {run.contender}, seed {run.spec.get('seed')}" if of_seeds else run.question_set_id
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
