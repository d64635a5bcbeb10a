"""Worst slices: slices of the examples, by one fact or two, where a model does worse than elsewhere.

Every slice with enough examples is tested against the rest, with the examples of one scene taken together;
p-values are corrected (Holm) for the number of slices searched.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...metrics.accuracy import score_rows
from ...metrics.intervals import student_p_value
from ...result import OPTIONS, Bools, Codes, Floats
from ..markup import Child, join_markup, render_note, tag
from ..measure import Levels, cut_levels, describe_dropped_variants, drop_variants, pool_runs
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
    values: Floats, cluster: Codes, facts: Mapping[str, Levels], most: int = 8, fewest: int = FEWEST
) -> SliceSearch:
    """The slices with the lowest mean of `values`; rows that are not a number are left out."""
    keep = np.isfinite(values)
    y = values[keep]
    if len(y) < 2 * fewest or y.min() == y.max():
        return SliceSearch((), 0)
    _, scene = np.unique(cluster[keep], return_inverse=True)
    known = {name: Levels(f.names, f.codes[keep], f.ordered) for name, f in facts.items()}
    slices = list(_tabulate_slices(y, scene, known, fewest))
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
    y: Floats, scene: npt.NDArray[np.int64], facts: Mapping[str, Levels], fewest: int
) -> Iterator[_Slice]:
    e = y - y.mean()
    scenes = int(scene.max()) + 1
    e_of_scene = np.bincount(scene, e, scenes)
    around = e_of_scene[scene]
    every = float(e_of_scene @ e_of_scene)
    for names in (*combinations(facts, 1), *combinations(facts, 2)):
        used = tuple(facts[name] for name in names)
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
NAMES = {
    "kind": "question type",
    "length": "words",
    "objects": "objects",
    "steps": "program steps",
    "truth": "true answer",
    "correct_option": "position of the true option",
}
MOST_LEVELS = 5  # of a number
MOST_VALUES = 40  # a fact of more values than this names examples, not slices


def section(report: ReportRuns) -> Section | None:
    besides, report = describe_dropped_variants(report.select_in_domain()), drop_variants(report.select_in_domain())
    ranked = dict.fromkeys(r.contender for r in select_ranked(report.runs))
    searches = {contender: search_slices(pool_runs(report.select_contender(contender))) for contender in ranked}
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


def search_slices(run: ReportRun) -> SliceSearch:
    """The worst slices of a run by its facts; questions without a known answer are left out."""
    scored = score_rows(run.records)
    values = np.where(scored.scorable, scored.values, np.nan)
    columns = (*run.records.facts, ("truth", run.records.truth))
    facts = {name: cut_levels(column, MOST_LEVELS) for name, column in columns if name not in SKIPPED}
    telling = {name: cut for name, cut in facts.items() if 2 <= len(cut.names) <= MOST_VALUES}
    return find_worst_slices(values, run.records.cluster.codes, telling)


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
        facts = [tag("span", f"{NAMES.get(name, name)} ", tag("b", level)) for name, level in one.facts]
        cells = [
            TableCell(facts[0] if len(facts) == 1 else join_markup([facts[0], " and ", facts[1]])),
            count_cell(one.n),
            TableCell(format_percent(one.inside), one.inside),
            TableCell(format_percent(one.outside), one.outside),
            TableCell(format_points(one.inside - one.outside), one.inside - one.outside, class_="mark-worse"),
            TableCell(format_p(one.chance), one.chance),
        ]
        rows.append(cells)
    note = render_note(f"{count_noun(search.searched, 'slice')} searched.")
    return [tag("h3", render_model_name(report, contender)), Table("Worst slices", heads, rows), note]
