"""Compare: what changed from one model to another, by their runs on the same questions, and whether a drop is sure.

A change is the mean difference of paired scores, the second less the first, with a 95% interval clustered by scene.
Its p-value comes from exchanging the two models' answers scene by scene. A drop beyond a threshold is *sure* where
the upper end of the interval lies below it and the one-sided test against the threshold has p < 0.025: for the
overall change as it is, for factors and slices after Holm's correction over all of them. So overall and all other
rows together each raise a false alarm in at most 2.5% of comparisons.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..errors import UserError
from ..files import resolve_links
from ..metrics.intervals import FEW_SCENES, SceneClusters, cluster_runs
from ..metrics.significance import correct_holm, run_paired_test, sign_flip_test
from ..metrics.slices import WITHOUT_ANSWER
from ..result import MISSING_IMAGE, Floats
from ..store.run_log import find_differing_fields
from ..url_path import parse_path
from .paired_runs import (
    ANSWER,
    ComparedRun,
    Key,
    PairedRows,
    Pairing,
    build_pairs,
    find_runs,
    list_conditions,
    pair_sides,
    pool_rows,
    read_side,
)
from .question_source import open_source

SURE = 0.025  # one-sided chance of a false alarm: of the overall change, and once more of all other rows together
FEWEST = 30  # questions of a slice; one of fewer, or of fewer than FEW_SCENES scenes, is not looked at
MOST_VALUES = 40  # a fact of more values than this names questions, not slices
POWER_FACTOR = 1.959964 + 1.281552  # standard errors that a drop must measure to be sure in 9 of 10 comparisons
OVERALL, FACTOR, CONDITION = "overall", "factor", "condition"
SLICES = ("kind", ANSWER, "about")
# fields of a spec that tell models and data apart; that others differ is mentioned
OWN_FIELDS = ("model", "model_id", "sources", "weights", "data", "data_id", "variant", "factor", "split", "diagnostic")

Sides = tuple[list[ComparedRun], list[ComparedRun]]


@dataclass(frozen=True, slots=True)
class AccuracyChange:
    """How a part of the questions changed from the first model to the second, in shares of 1."""

    group: str  # overall, factor, condition, or the fact that a slice goes by
    name: str
    n: int
    scenes: int
    first: float  # accuracy
    second: float
    change: float  # second less first
    low: float
    high: float
    better: int  # questions on which the second scores higher
    worse: int
    p: float  # of a change so far from none, two-sided
    p_drop: float  # of a drop so far beyond the threshold, one-sided
    fails: bool = False

    @property
    def direction(self) -> str:
        """better or worse where that is sure, else nothing; p must be corrected by then."""
        if self.p >= 2 * SURE or self.scenes < FEW_SCENES:
            return ""
        return "better" if self.low > 0 else "worse" if self.high < 0 else ""


@dataclass(frozen=True, slots=True)
class PartingExample:
    """A question that one model is right about and the other is not."""

    question: str
    images: tuple[str, ...]
    truth: str
    first: str  # its answer, or why there is none
    second: str
    better: bool  # whether the second scores higher
    factor: str = ""
    text: str = ""  # nothing where the dataset is not there


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two models on the questions that both were asked."""

    first: str
    second: str
    changes: tuple[AccuracyChange, ...]  # overall first
    threshold: float | None  # in shares of 1
    common: int  # questions
    only_first: int
    only_second: int
    detectable: float  # the overall drop that would be sure in 9 of 10 comparisons of this size
    examples: tuple[PartingExample, ...]
    notes: tuple[str, ...]

    @property
    def overall(self) -> AccuracyChange:
        return self.changes[0]

    @property
    def failing(self) -> tuple[AccuracyChange, ...]:
        return tuple(one for one in self.changes if one.fails)


def measure_change(
    group: str, name: str, first: Floats, second: Floats, scenes: SceneClusters, threshold: float = 0.0
) -> AccuracyChange:
    """The change over some questions, which must be one at least; p-values are not corrected yet."""
    test = run_paired_test(first, second, scenes)
    assert test.drop is not None and test.low is not None and test.high is not None and test.p is not None
    beyond = scenes.sum_by_scene(second - first - threshold)
    p = sign_flip_test(beyond) / 2
    return AccuracyChange(
        *(group, name, test.n, test.scenes, float(first.mean()), float(second.mean())),
        *(0.0 - test.drop, 0.0 - test.high, 0.0 - test.low, test.only_second, test.only_first),
        *(test.p, p if beyond.sum() < 0 else 1 - p),
    )


def settle_changes(changes: Sequence[AccuracyChange], threshold: float | None) -> tuple[AccuracyChange, ...]:
    """With p-values corrected by Holm over all but the overall change, and what fails marked.

    Rows under another condition are looked at, but fail nothing: to answer worse without the image is no fault.
    """
    others = {str(k): one for k, one in enumerate(changes) if one.group != OVERALL}
    guarded = {k: one for k, one in others.items() if one.group != CONDITION}
    p = correct_holm({k: one.p for k, one in others.items()})
    p_drop = correct_holm({k: one.p_drop for k, one in guarded.items()})
    settled = []
    for k, one in enumerate(changes):
        one = replace(one, p=p.get(str(k)) or one.p, p_drop=p_drop.get(str(k)) or one.p_drop)  # 0 stays 0
        beyond = threshold is not None and one.high < threshold and one.p_drop < SURE
        settled.append(replace(one, fails=beyond and one.group != CONDITION and one.scenes >= FEW_SCENES))
    return tuple(settled)


def compare(
    first: str, second: str, *, threshold: float | None = None, by: Sequence[str] = SLICES, examples: int = 3
) -> Comparison:
    """Compare the runs in two folders; `threshold` is a share of 1, below 0 or 0, `examples` how many each way."""
    folders = find_runs(first, second), find_runs(second, first)
    if set(map(resolve_links, folders[0])) & set(map(resolve_links, folders[1])):
        raise UserError(f"{first} and {second} hold the same run; compare two")
    sides = read_side(folders[0]), read_side(folders[1])
    pairing = pair_sides(*sides, (first, second))
    pairs, changes = pairing.pairs, []
    changes.append(_measure(pairs, OVERALL, "all questions", threshold))
    changes += _measure_factors(pairs, threshold)
    changes += _measure_slices(pairs, by, threshold)
    changes += _measure_conditions(sides, pairing, threshold)
    names = _name_sides(sides, (first, second))
    return Comparison(
        *names,
        settle_changes(changes, threshold),
        threshold,
        *(len(pairs), pairing.only_first, pairing.only_second),
        _estimate_detectable(pairs, threshold or 0.0),
        _pick_examples(sides, pairing, examples),
        (*pairing.notes, *_describe_sides(sides, pairing, names)),
    )


def _measure(pairs: PairedRows, group: str, name: str, threshold: float | None) -> AccuracyChange:
    return measure_change(group, name, pairs.first, pairs.second, cluster_runs(pairs.parts), threshold or 0.0)


def find_detectable_drop(
    churn: float, design: float, n: float, threshold: float = 0.0, errors: float = POWER_FACTOR
) -> float:
    """The drop that n questions show to be beyond the threshold in 9 of 10 comparisons, by the normal distribution.

    `churn` is the share of questions that only one is right on without the drop, `design` the factor by which
    questions that share scenes raise the variance.
    """
    drop = 0.5  # from 0 it would not move where there is no churn
    for _ in range(50):
        drop = errors * math.sqrt(max(0.0, churn + drop - drop**2) * design / n) - threshold
    return min(drop, 1.0)


def _estimate_detectable(pairs: PairedRows, threshold: float) -> float:
    change = pairs.second - pairs.first
    off = change - change.mean()
    whole = float((off**2).sum())
    sums = cluster_runs(pairs.parts).sum_by_scene(off)
    design = max(1.0, float((sums**2).sum()) / whole) if whole > 0 else 1.0
    churn = float((change**2).mean() - abs(change.mean()))
    return find_detectable_drop(max(churn, 0.0), design, len(pairs), threshold)


def _measure_factors(pairs: PairedRows, threshold: float | None) -> Iterator[AccuracyChange]:
    of = np.array(pairs.list_factors(), object)
    names = list(dict.fromkeys(of.tolist()))
    if len(names) > 1:
        yield from (_measure(pairs.select(of == name), FACTOR, name, threshold) for name in names)


def _measure_slices(pairs: PairedRows, by: Sequence[str], threshold: float | None) -> Iterator[AccuracyChange]:
    """Slices with enough questions and scenes, by facts of two values at least; each set of questions once."""
    seen: set[bytes] = set()
    known = {ANSWER, *(name for part in pairs.parts for name, _ in part.facts)}
    for fact in by:
        if fact not in known:
            if by is SLICES:
                continue
            raise UserError(f"no question has the fact {fact!r}; there are {', '.join(sorted(known))}")
        values = np.array(pairs.list_values(fact), object)
        counts = Counter(v for v in values.tolist() if v is not None)
        if not 1 < len(counts) <= MOST_VALUES:
            continue
        for value in sorted(v for v, n in counts.items() if n >= FEWEST):
            rows = np.equal(values, value)
            inside = pairs.select(rows)
            if rows.tobytes() not in seen and cluster_runs(inside.parts).count >= FEW_SCENES:
                seen.add(rows.tobytes())
                yield _measure(inside, fact, value, threshold)


def _measure_conditions(sides: Sides, pairing: Pairing, threshold: float | None) -> Iterator[AccuracyChange]:
    """What changed under the other conditions that both were asked under."""
    for condition in sorted(
        (list_conditions(sides[0]) & list_conditions(sides[1])) - {pairing.condition, MISSING_IMAGE}
    ):
        pools = pool_rows(sides[0], condition, pairing.by_content), pool_rows(sides[1], condition, pairing.by_content)
        common = [key for key in pools[0] if key in pools[1]]
        if common:
            yield _measure(build_pairs(sides, pools, common), CONDITION, condition, threshold)


def _name_sides(sides: Sides, places: tuple[str, str]) -> tuple[str, str]:
    """By model, and by folder where that is the same."""
    models = [str(side[0].spec.get("model") or "model") for side in sides]
    if models[0] != models[1]:
        return models[0], models[1]
    return f"{models[0]} ({places[0]})", f"{models[1]} ({places[1]})"


def _describe_sides(sides: Sides, pairing: Pairing, names: tuple[str, str]) -> Iterator[str]:
    """What a reader must know: responses that are not there, repeated questions, parts of one side, other settings."""
    pairs, without = pairing.pairs, np.zeros(len(pairing.pairs), bool)
    for side, pool, name in zip(sides, pairing.pools, names, strict=True):
        counts: Counter[str] = Counter()
        for k, key in enumerate(pairs.keys):
            statuses = [str(side[at].records.status[row]) for at, row in pool[key]] or ["missing"]
            counts.update(s for s in statuses if s in WITHOUT_ANSWER)
            without[k] |= "failed" in statuses or "missing" in statuses
        if counts:
            listed = ", ".join(f"{counts[s]:,} {_STATUS_WORDS.get(s, s)}" for s in WITHOUT_ANSWER if counts[s])
            yield f"{name} has no answer to some questions, which count as wrong: {listed}"
        if repeated := sum(len(pool[key]) > 1 for key in pairs.keys):
            held = "their mean counts; intervals and p-values are over scenes, not over seeds, and hold for these seeds"
            yield f"{name} was asked {repeated:,} questions several times (by seeds, or in rows that repeat): {held}"
        unseen = sum(int(run.records.condition.equals(MISSING_IMAGE).sum()) for run in side)
        if unseen:
            yield f"{name} was asked {unseen:,} questions without their image, which is missing; they are left out"
    if without.any() and not without.all():
        rest = _measure(pairs.select(~without), OVERALL, "", None)
        value, low, high = (
            f"{100 * v:+.1f}".replace("-", "\N{MINUS SIGN}") for v in (rest.change, rest.low, rest.high)
        )
        where = f"on the {rest.n:,} questions to which neither response failed or is missing"
        yield f"{where}, the change is {value} points ({low} to {high})"
    tests = [{(run.data, str(run.spec.get("split"))): run.factor for run in side} for side in sides]
    for this, other, name in ((tests[0], tests[1], names[0]), (tests[1], tests[0], names[1])):
        alone = sorted({this[key] for key in this.keys() - other.keys()})
        if alone and not pairing.by_content:
            yield f"only {name} was run on {', '.join(alone)}, which is not compared"
    specs: list[Mapping[str, Any]] = [side[0].spec for side in sides]
    fields = [f for f in find_differing_fields(*specs) if f not in OWN_FIELDS]
    if fields:
        yield f"besides the model, the runs differ in {', '.join(fields)}"


_STATUS_WORDS = {"unreadable": "unparseable"}


def _pick_examples(sides: Sides, pairing: Pairing, most: int) -> tuple[PartingExample, ...]:
    """Questions that only one is right about, what got worse first; spread over the scenes."""
    pairs, picked = pairing.pairs, []
    change, scenes = pairs.second - pairs.first, [c for part in pairs.parts for c in part.cluster.to_list()]
    factors = pairs.list_factors()
    for better in (False, True):
        rows = np.flatnonzero(change > 0 if better else change < 0).tolist()
        apart = sorted({scenes[r]: r for r in reversed(rows)}.values())  # the first of each scene
        rows = apart if len(apart) >= most else rows
        rows = rows[:: max(len(rows) // most, 1)][:most] if most else []
        picked += [_build_example(sides, pairing, pairs.keys[row], better, factors[row]) for row in rows]
    texts = _read_texts([run for side in sides for run in side], {(one[0], one[1].question) for one in picked})
    return tuple(replace(one, text=texts.get((data, one.question), "")) for data, one in picked)


def _build_example(sides: Sides, pairing: Pairing, key: Key, better: bool, factor: str) -> tuple[str, PartingExample]:
    """With the data that it is of."""
    answers: list[str] = []
    for side, pool in zip(sides, pairing.pools, strict=True):
        given = [(side[at].records.answer[row] or side[at].records.status[row]) for at, row in pool[key]] or ["missing"]
        answers.append(", ".join(dict.fromkeys(map(str, given))))
    which = 0 if pairing.pools[0][key] else 1
    at, row = pairing.pools[which][key][0]
    run = sides[which][at]
    images, records = run.log.records.images, run.records
    shown = tuple(images.values[c] for c in images.codes[images.at[row] : images.at[row + 1]].tolist())
    truth = records.truth[row]
    if truth is None:
        told = records.answers
        most = Counter(told.values[c] for c in told.codes[told.at[row] : told.at[row + 1]].tolist())
        truth = most.most_common(1)[0][0] if most else ""
    return run.data, PartingExample(
        str(records.question[row]), shown, str(truth), answers[0], answers[1], better, factor
    )


def _read_texts(runs: Sequence[ComparedRun], wanted: set[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """The questions' texts, where their dataset is still there as it was."""
    found: dict[tuple[str, str], str] = {}
    for run in runs:
        ids = {name for data, name in wanted if data == run.data and (data, name) not in found}
        if not ids:
            continue
        try:
            source = open_source(parse_path(str(run.spec.get("data"))))
            if source.data_id() != run.data:
                continue
            for question in source.questions(str(run.spec.get("split") or "test")):
                if question.id in ids:
                    found[run.data, question.id] = f"{question.action} {question.text}".strip()
                    ids.discard(question.id)
                if not ids:
                    break
        except (UserError, OSError):
            continue
    return found
