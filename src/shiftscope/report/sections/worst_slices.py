"""Worst slices: slices of the examples, by one fact or two, where a model does worse than elsewhere.

Every slice with enough examples is tested against the rest, with the examples of one scene taken together;
p-values are corrected (Holm) for the number of slices searched. Those that hold are ordered by how well they tell
wrong answers from right ones: where all counts above three are wrong, these come before counts as such.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from math import exp, log
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...columns import Column
from ...metrics.accuracy import score_rows
from ...metrics.intervals import student_p_value
from ...result import OPTIONS, Bools, Codes, Floats
from ..markup import Child, render_note, tag
from ..measure import EN_DASH, Levels, cut_levels, describe_dropped_variants, drop_variants, pool_runs, spell_fact
from ..mentions import MENTIONS, find_mentions
from ..number_format import count_noun, format_p, format_percent, format_points
from ..page import Section
from ..runs import ReportRun, ReportRuns, select_ranked
from ..score_table import render_model_name
from ..table import Table, TableCell, TableHead, count_cell, numeric

FEWEST = 30  # examples in a slice, and outside it
FEWEST_SCENES = 10  # that a slice must spread over
SIGNIFICANCE = 0.05  # chance, after correction
SHARED = 0.5  # of the smaller slice: more than this in common with a worse one says nothing new
EXTRA = 0.05  # by which a slice inside one already named must be worse to be named too
KEPT = 0.5  # of its difference, that a slice must keep without the examples of those already named


@dataclass(frozen=True, slots=True)
class WorstSlice:
    """A slice: what holds in it, the accuracy inside and outside."""

    facts: tuple[tuple[str, str], ...]
    n: int
    inside: float
    outside: float
    chance: float  # p-value, corrected for the search


@dataclass(frozen=True, slots=True, eq=False)
class SliceSearch:
    """What a search found, worst first, and how many slices it looked at."""

    slices: tuple[WorstSlice, ...]
    searched: int
    rows: tuple[npt.NDArray[np.int64], ...] = ()  # of each slice


class _Slice(NamedTuple):
    """A combination of levels of one fact or two, with the figures that rank it."""

    names: tuple[str, ...]
    levels: tuple[Levels, ...]
    cell: int  # which combination
    n: int
    inside: float
    outside: float
    z: float
    scenes: int
    most: int  # examples of one scene


def find_worst_slices(
    values: Floats,
    cluster: Codes,
    facts: Mapping[str, Levels],
    most: int = 8,
    fewest: int = FEWEST,
    alone: Sequence[tuple[str, Levels]] = (),
) -> SliceSearch:
    """The slices with the lowest mean of `values`; rows that are not a number are left out.

    Slices go by one fact or two, those by what is in `alone` by one.
    """
    keep = np.isfinite(values)
    y = values[keep]
    if len(y) < 2 * fewest or y.min() == y.max():
        return SliceSearch((), 0)
    _, scene = np.unique(cluster[keep], return_inverse=True)
    known = [(name, Levels(f.names, f.codes[keep], f.ordered)) for name, f in (*facts.items(), *alone)]
    crossed = (*combinations(known, 1), *combinations(known[: len(facts)], 2))
    slices = list(_tabulate_slices(y, scene, crossed, fewest))
    mean = float(y.mean())
    worse = sorted((_compute_p_value(one, mean), one.z, k) for k, one in enumerate(slices) if one.z < 0)
    sure: list[tuple[int, float]] = []
    largest = 0.0  # Holm: a corrected chance is never smaller than that of a stronger finding
    for place, (p, _, k) in enumerate(worse):
        largest = max(largest, min(1.0, (len(slices) - place) * p))
        if largest > SIGNIFICANCE:
            break
        sure.append((k, largest))
    sure.sort(key=lambda pair: -_measure_gain(slices[pair[0]], len(y), mean))
    chosen: list[tuple[WorstSlice, Bools]] = []
    for k, chance in sure:
        if len(chosen) == most:
            break
        found, cell = slices[k], slices[k].cell
        labels: list[tuple[str, str]] = []
        for name, levels in zip(reversed(found.names), reversed(found.levels), strict=True):
            cell, level = divmod(cell, len(levels.names))
            labels.insert(0, (name, levels.names[level]))
        one = WorstSlice(tuple(labels), found.n, found.inside, found.outside, chance)
        rows = np.equal(_cross_levels(found.levels)[0], found.cell)
        if _says_more(one, rows, chosen, y, fewest):
            chosen.append((one, rows))
    kept = np.flatnonzero(keep)
    return SliceSearch(tuple(one for one, _ in chosen), len(slices), tuple(kept[rows] for _, rows in chosen))


def _says_more(
    one: WorstSlice, rows: Bools, chosen: Sequence[tuple[WorstSlice, Bools]], y: Floats, fewest: int
) -> bool:
    """Whether a slice is worse besides having examples of those that were chosen before.

    Beside these it must keep half of its difference. Where they leave too few examples to tell, it must be clearly
    worse than what it is mostly a part of.
    """
    left = ~np.logical_or.reduce([others for _, others in chosen]) if chosen else np.ones(len(y), np.bool_)
    if int((rows & left).sum()) < fewest or not (~rows & left).any():
        return not any(
            int((rows & others).sum()) > SHARED * min(one.n, other.n) and one.inside > other.inside - EXTRA
            for other, others in chosen
        )
    gap = float(y[~rows & left].mean() - y[rows & left].mean())
    return gap > KEPT * (one.outside - one.inside)


def _compute_p_value(one: _Slice, mean: float) -> float:
    """The smaller of two chances, doubled: Student's, and a bound that also knows a few scenes that all go wrong.

    Were scenes as good inside as everywhere, the mean of n examples would be so low with a chance of at most
    exp(−n/m · KL(inside, mean)), where m is the most examples of one scene, however these go together (Hoeffding).
    Student's t does not get beyond the root of the number of scenes.
    """
    bound = exp(-one.n / one.most * _diverge(one.inside, mean))
    return min(1.0, 2 * min(student_p_value(one.z, float(one.scenes - 1)), bound))


def _diverge(share: float, other: float) -> float:
    """Kullback and Leibler's divergence of two shares; the other is neither 0 nor 1."""
    return sum(p * log(p / q) for p, q in ((share, other), (1 - share, 1 - other)) if p > 0)


def _measure_gain(one: _Slice, n: int, mean: float) -> float:
    """The log-likelihood that is gained where the slice and the rest have an accuracy each, not one together."""
    return one.n * _diverge(one.inside, mean) + (n - one.n) * _diverge(one.outside, mean)


def _tabulate_slices(
    y: Floats, scene: npt.NDArray[np.int64], facts: Iterable[tuple[tuple[str, Levels], ...]], fewest: int
) -> Iterator[_Slice]:
    e = y - y.mean()
    scenes = int(scene.max()) + 1
    e_of_scene = np.bincount(scene, e, scenes)
    around = e_of_scene[scene]
    every = float(e_of_scene @ e_of_scene)
    for crossed in facts:
        names, used = tuple(name for name, _ in crossed), tuple(levels for _, levels in crossed)
        code, cells = _cross_levels(used)
        there = code >= 0
        at = code[there]
        n = np.bincount(at, minlength=cells)
        size = scene[there] * cells + at
        pairs, where, together = np.unique(size, return_inverse=True, return_counts=True)  # scenes with a row in a cell
        spread = np.bincount(pairs % cells, minlength=cells)
        most = np.zeros(cells, np.int64)
        np.maximum.at(most, pairs % cells, together)
        ok = (n >= fewest) & (len(y) - n >= fewest) & (spread >= FEWEST_SCENES)
        if len(names) == 2:  # a slice that is as large as one by a single fact was searched already
            first, second = (np.bincount(f.codes[f.codes >= 0], minlength=len(f.names)) for f in used)
            ok &= (n < np.repeat(first, len(second))) & (n < np.tile(second, len(first)))
        if not ok.any():
            continue
        total = np.bincount(at, y[there], cells)
        squares = np.bincount(pairs % cells, np.bincount(where, e[there]) ** 2, cells)
        cross = np.bincount(at, (e * around)[there], cells)
        with np.errstate(divide="ignore", invalid="ignore"):
            inside, outside = total / n, (y.sum() - total) / (len(y) - n)
            b = 1 / (len(y) - n)
            a = 1 / n + b
            z = (inside - outside) / np.sqrt(a * a * squares - 2 * a * b * cross + b * b * every)
        picked = np.flatnonzero(ok & np.isfinite(z))
        # Few scenes spread less than they should, and Student's t has longer tails than the normal.
        z = z * np.sqrt(np.maximum(spread - 1, 0) / np.maximum(spread, 1))
        columns: list[Any] = [column[picked].tolist() for column in (n, inside, outside, z, spread, most)]
        yield from (_Slice(names, used, *figures) for figures in zip(picked.tolist(), *columns, strict=True))


def _cross_levels(used: tuple[Levels, ...]) -> tuple[npt.NDArray[np.int64], int]:
    """The combination of levels in each row, and how many there can be."""
    code = used[0].codes.astype(np.int64)
    cells = len(used[0].names)
    for other in used[1:]:
        code = np.where((code >= 0) & (other.codes >= 0), code * len(other.names) + other.codes, -1)
        cells *= len(other.names)
    return code, cells


PLACES = {"report": 60}
SKIPPED = ("split", "family", "variant", OPTIONS)  # the same for all, or a template or test by another name
TEST = "test"  # the fact of pooled runs
NUMBER = "number"  # a fact that is derived here: a true answer that is a number
LONGEST_NUMBER = 9  # digits
PHRASES = {  # how a slice is worded: questions …
    "kind": "of type {}",
    "length": "of {} words",
    "objects": "about {} objects",
    "steps": "of {} program steps",
    "images": "about {} images",
    "truth": "whose answer is {}",
    NUMBER: "whose answer is a number, {}",
    "about": "about {}",
    "template": "of template {}",
    "action": "after an action of type {}",
    "test": "in test {}",
    "correct_option": "whose true option is number {}",
}
MOST_LEVELS = 5  # of a number
MOST_STEPS = 12  # of a number of which so many or more are looked at
MOST_VALUES = 40  # a fact of more values than this names examples, not slices


def section(report: ReportRuns) -> Section | None:
    besides, report = describe_dropped_variants(report.select_in_domain()), drop_variants(report.select_in_domain())
    ranked = dict.fromkeys(r.contender for r in select_ranked(report.runs))
    searches = {contender: search_slices(report.select_contender(contender)) for contender in ranked}
    if not any(one.searched for one in searches.values()):
        return None
    parts = [part for contender, one in searches.items() if one.slices for part in _build_table(report, contender, one)]
    none = [
        f"{contender} ({count_noun(one.searched, 'slice')})" for contender, one in searches.items() if not one.slices
    ]
    if none:
        parts.append(tag("p", "No slice stands out more than by chance: ", ", ".join(none), ".", class_="quiet"))
    lead = (
        f"All slices by one fact or two that hold at least {FEWEST} examples were compared with the rest; "
        "the p-values are corrected for the number of slices searched, and a slice that is mostly another "
        f"one is left out.{besides}"
    )
    return Section("Worst slices", parts, lead)


@lru_cache(maxsize=64)
def search_slices(runs: tuple[ReportRun, ...]) -> SliceSearch:
    """The worst slices of a model's runs by their facts and words; questions without a known answer are left out."""
    run = pool_runs(runs)
    scored = score_rows(run.records)
    values = np.where(scored.scorable, scored.values, np.nan)
    telling, alone = _build_levels(runs)
    return find_worst_slices(values, run.records.cluster.codes, telling, alone=alone)


@lru_cache(maxsize=64)
def _build_levels(runs: tuple[ReportRun, ...]) -> tuple[dict[str, Levels], list[tuple[str, Levels]]]:
    """What slices go by: facts that are crossed, and those that stand alone; over the rows of all runs."""
    run = pool_runs(runs)
    columns = (*run.records.facts, ("truth", run.records.truth), (NUMBER, _read_numbers(run.records.truth)))
    test = dict(run.records.facts).get(TEST)
    columns = tuple((n, c) for n, c in columns if n not in SKIPPED and not (test and n != TEST and _follows(c, test)))
    facts = {name: cut_levels(column, MOST_LEVELS) for name, column in columns}
    telling = {name: cut for name, cut in facts.items() if 2 <= len(cut.names) <= MOST_VALUES}
    steps = [(name, step) for name, column in columns for step in _list_steps(column)]
    return telling, [*steps, *find_mentions(runs).items()]


def find_slice_rows(runs: tuple[ReportRun, ...], one: WorstSlice) -> Bools:
    """The rows of a slice that `search_slices` found in these runs, which lie below each other."""
    telling, alone = _build_levels(runs)
    known = [*telling.items(), *alone]
    rows = []
    for wanted, level in one.facts:
        cut = next(cut for name, cut in known if name == wanted and level in cut.names)
        rows.append(cut.codes == cut.names.index(level))
    inside: Bools = np.logical_and.reduce(rows)
    return inside


def _follows(column: Column, test: Column) -> bool:
    """Whether the test says what a fact is, which then is the test by another name: the level of a factor."""
    pairs = np.unique(np.stack([test.codes, column.codes]), axis=1)
    return bool(pairs.shape[1] == len(np.unique(test.codes)) > 1)


def _list_steps(column: Column) -> Iterator[Levels]:
    """For numbers: so many or more."""
    cut = cut_levels(column, MOST_STEPS)
    for k, name in enumerate(cut.names) if cut.ordered else ():
        if 1 < k < len(cut.names) - 1:  # beyond, it is a level of its own, or all but one
            codes = np.where(cut.codes >= k, 0, -1).astype(np.int32)
            yield Levels((f"{name.split(EN_DASH)[0]} or more",), codes, ordered=False)


def _read_numbers(truth: Column) -> Column:
    """The answers that are whole numbers, as numbers."""
    numbers = [
        int(v) if isinstance(v, str) and v.isdecimal() and len(v) <= LONGEST_NUMBER else None for v in truth.values
    ]
    values = tuple(sorted({n for n in numbers if n is not None}))
    place = np.array([*(-1 if n is None else values.index(n) for n in numbers), -1], np.int32)
    return Column(values, place[truth.codes])


def describe_slice(one: WorstSlice) -> str:
    """A slice in words: questions of type count, about 8–10 objects."""
    phrases = []
    for name, level in one.facts:
        if name.startswith(MENTIONS):
            phrases.append(f"that mention {name.removeprefix(MENTIONS)}")
        else:
            phrase = PHRASES.get(name)
            phrases.append(phrase.replace("{}", level) if phrase else f"with {spell_fact(name)} {level}")
    return f"questions {', '.join(phrases)}"


def _build_table(report: ReportRuns, contender: str, search: SliceSearch) -> list[Child]:
    heads = [
        TableHead("Slice"),
        numeric("Examples"),
        numeric("Accuracy there"),
        numeric("Elsewhere"),
        numeric("Difference"),
        numeric("p (Holm)", f"corrected for {search.searched} slices"),
    ]
    rows = []
    for one in search.slices:
        words = describe_slice(one)
        cells = [
            TableCell(words[:1].upper() + words[1:]),
            count_cell(one.n),
            TableCell(format_percent(one.inside), one.inside),
            TableCell(format_percent(one.outside), one.outside),
            TableCell(format_points(one.inside - one.outside), one.inside - one.outside, class_="mark-worse"),
            TableCell(format_p(one.chance), one.chance),
        ]
        rows.append(cells)
    note = render_note(f"{count_noun(search.searched, 'slice')} searched.")
    return [tag("h3", render_model_name(report, contender)), Table("Worst slices", heads, rows), note]
