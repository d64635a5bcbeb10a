"""Grid: contenders against parts of the questions, each compared with the best of its part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ..result import Score
from .figure import figure
from .legend import signed
from .level import levels
from .markup import Html
from .measure import accuracy_by, corrected, paired
from .number import count
from .pool import pooled
from .study import Run, Study, judged
from .table import Cell, Head, table

MOST_ACROSS = 8  # contenders side by side; more of them stand below each other
MOST_PARTS = 30

Key = tuple[str, str]  # contender, and test, kind or template


def best(study: Study, scores: Mapping[str, Score]) -> str | None:
    """The contender to beat among those that are ranked, which lack no reply; of equals, the first."""
    pool = dict.fromkeys(r.contender for r in judged(study.runs))
    known = [
        (v, -study.series(c), c)
        for c in pool
        if c in scores and (v := scores[c].value) is not None and scores[c].complete
    ]
    return max(known)[2] if known else None


def by_fact(whole: Study, fact: str, caption: str, noun: str, counted: bool = False) -> Html | None:
    """All tests together that all were asked, cut by a fact; None where it is not told, or says nothing.

    Over tests that only some were asked, contenders would be compared on different questions.
    """
    study = common_tests(whole)
    if study is None:
        return None
    scores: dict[Key, Score] = {}
    parts: dict[Key, Run] = {}
    for contender in study.contenders:
        run = pooled(study.of(contender))
        column = dict(run.records.facts).get(fact)
        if column is None:
            return None
        cut = levels(column)
        for k, (name, score) in enumerate(zip(cut.names, accuracy_by(run, fact, cut), strict=True)):
            if score is not None:
                scores[contender, name] = score
                parts[contender, name] = replace(run, records=run.records.take(cut.codes == k))
    names = sorted({name for _, name in scores})
    if not 2 <= len(names) <= MOST_PARTS:
        return None
    return grid(study, caption, noun, names, scores, parts, counted)


def common_tests(study: Study) -> Study | None:
    """The runs about tests that all contenders were asked; None where there are none."""
    asked = [{r.test for r in study.of(c)} for c in study.contenders]
    shared = set.intersection(*asked) if asked else set()
    return Study(tuple(r for r in study.runs if r.test in shared)) if shared else None


def grid(
    study: Study,
    caption: str,
    noun: str,
    slices: Sequence[str],
    scores: Mapping[Key, Score],
    runs: Mapping[Key, Run],
    counted: bool = False,
) -> Html:
    """Contenders against slices, each compared with the best of its slice; Holm over the whole table.

    `counted` adds how many questions a slice has, where slices are rows.
    """
    tops = {s: best(study, {c: scores[c, s] for c in study.contenders if (c, s) in scores}) for s in slices}
    ranked = {r.contender for r in judged(study.runs)}
    chances = corrected(
        {
            (c, s): difference(run, runs[top, s])
            for (c, s), run in runs.items()
            if (top := tops[s]) is not None and c != top and c in ranked and scores[c, s].complete
        }
    )

    def cell(contender: str, one: str) -> Cell:
        score, top = scores.get((contender, one)), scores.get((tops[one] or "", one))
        behind = None
        if score and top and score.value is not None and top.value is not None:
            behind = score.value - top.value
        return figure(score, best=contender == tops[one], p=chances.get((contender, one)), behind=behind)

    if len(study.contenders) <= MOST_ACROSS:
        heads = [Head(noun), *(Head(signed(study, c), numeric=True) for c in study.contenders)]
        rows = [[Cell(s), *(cell(c, s) for c in study.contenders)] for s in slices]
        if counted:
            heads.append(Head("Questions", numeric=True))
            sizes = [max(score.n for (_, s), score in scores.items() if s == one) for one in slices]
            for row, n in zip(rows, sizes, strict=True):
                row.append(Cell(count(n), float(n)))
    else:
        heads = [Head("Model"), *(Head(s, numeric=True) for s in slices)]
        rows = [[Cell(signed(study, c), c), *(cell(c, s) for s in slices)] for c in study.contenders]
    return table(heads, [rows], caption=caption)


def difference(run: Run, other: Run) -> float | None:
    """The p-value of the difference of two runs on the same questions, not yet corrected; none of seeds."""
    if run.seeds or other.seeds:
        return None
    made = paired(run.records, other.records)
    return made.p if made else None
