"""Worst slices: slices of the examples, by one fact or two, where a model does worse than elsewhere.

Every slice with enough examples is tested against the rest, with the examples of one scene taken together;
p-values are corrected (Holm) for the number of slices searched.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
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


@dataclass(frozen=True, slots=True)
class WorstSlice:
    """A slice: what holds in it, the accuracy inside and outside."""

    facts: tuple[tuple[str, str], ...]
    n: int
    inside: float
    outside: float
    chance: float  # p-value, corrected for the search


@dataclass(frozen=True, slots=True)
class SliceSearch:
    """What a search found, worst first, and how many slices it looked at."""

    slices: tuple[WorstSlice, ...]
    searched: int


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
    worse = sorted(
        (student_p_value(one.z, float(one.scenes - 1)), one.z, k) for k, one in enumerate(slices) if one.z < 0
    )
    chosen: list[tuple[WorstSlice, Bools]] = []
    largest = 0.0  # Holm: a corrected chance is never smaller than that of a stronger finding
    for place, (p, _, k) in enumerate(worse):
        largest = max(largest, min(1.0, (len(slices) - place) * p))
        if largest > SIGNIFICANCE or len(chosen) == most:
            break
        found, cell = slices[k], slices[k].cell
        labels: list[tuple[str, str]] = []
        for name, levels in zip(reversed(found.names), reversed(found.levels), strict=True):
            cell, level = divmod(cell, len(levels.names))
            labels.insert(0, (name, levels.names[level]))
        one = WorstSlice(tuple(labels), found.n, found.inside, found.outside, largest)
        rows = np.equal(_cross_levels(found.levels)[0], found.cell)
        # Mostly the same examples as a slice named before say nothing new, unless clearly worse inside it.
        if not any(
            int((rows & others).sum()) > SHARED * min(one.n, other.n) and one.inside > other.inside - EXTRA
            for other, others in chosen
        ):
            chosen.append((one, rows))
    return SliceSearch(tuple(one for one, _ in chosen), len(slices))


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
        pairs, where = np.unique(size, return_inverse=True)  # scenes that have a row in a cell
        spread = np.bincount(pairs % cells, minlength=cells)
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
        columns: list[Any] = [column[picked].tolist() for column in (n, inside, outside, z, spread)]
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
    columns = (*run.records.facts, ("truth", run.records.truth), (NUMBER, _read_numbers(run.records.truth)))
    facts = {name: cut_levels(column, MOST_LEVELS) for name, column in columns if name not in SKIPPED}
    telling = {name: cut for name, cut in facts.items() if 2 <= len(cut.names) <= MOST_VALUES}
    steps = [(name, step) for name, column in columns if name not in SKIPPED for step in _list_steps(column)]
    alone = [*steps, *find_mentions(runs).items()]
    return find_worst_slices(values, run.records.cluster.codes, telling, alone=alone)


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
