"""Attribution: in which stage wrong answers arise, from asking the same under other conditions."""

from __future__ import annotations

from ...errors import UserError
from ...metrics import accuracy as accuracy_metric
from ...metrics.attribution import STAGES, TOTAL, measure, measure_drop
from ...result import CONDITIONS, MISSING_IMAGE, Score
from ..chart.stack import Share, stack
from ..figure import change, figure
from ..legend import signed, swatches
from ..markup import Child, Html, text
from ..number import count, percent
from ..section import Section
from ..study import Run, Study
from ..table import Cell, Head, table
from ..twins import twin_runs

PLACE = 40
LOOKS = {
    "no_reply": "part-5",
    "format": "part-2",
    "language_prior": "part-1",
    "perception": "wrong",
    "parsing": "part-3",
    "reasoning": "part-4",
    "unexplained": "part-5",
}
SAID = {
    "no_reply": "nothing came back",
    "format": "no answer could be read",
    "language_prior": "the same answer comes without the right image",
    "perception": "right once the scene is given in words",
    "parsing": "right once the program is given",
    "reasoning": "wrong even so",
    "unexplained": "not asked under every condition",
}


def section(study: Study) -> Section | None:
    runs = sorted(
        (r for r in study.runs if len(set(r.conditions) - {MISSING_IMAGE}) > 1),
        key=lambda r: (study.contenders.index(r.contender), study.tests.index(r.test)),
    )
    staged = {run: scores for run in runs if (scores := _stages(run))}
    if not staged:
        return None
    used = [s for s in STAGES if any(scores[s].value for scores in staged.values())]
    looks = [(f"{named(s)}: {SAID[s]}", LOOKS[s]) for s in used]
    parts: list[Child] = [
        swatches(looks),
        _table(study, staged, used),
        _drops(study),
        _conditions(study, runs),
    ]
    lead = (
        "Of all questions, the share that goes wrong in each stage: the same questions were asked again with "
        "one stage taken away or done for the model, and what mends an answer names the stage."
    )
    return Section("Why it goes wrong", text(parts), lead)


def named(stage: str) -> str:
    return stage.replace("_", " ")


def _stages(run: Run) -> dict[str, Score]:
    try:
        return {str(dict(s.slice)["stage"]): s for s in measure(run.log.records)}
    except UserError:  # nothing asked as it is
        return {}


def _table(study: Study, staged: dict[Run, dict[str, Score]], used: list[str]) -> Html:
    several = len(study.tests) > 1
    heads = [
        Head("Model"),
        *([Head("Test")] if several else []),
        Head("Of all questions", sortable=False),
        *(Head(named(s), numeric=True, title=SAID[s]) for s in used),
        Head("wrong in all", numeric=True),
    ]
    rows = [
        [
            Cell(signed(study, run.contender), run.contender),
            *([Cell(run.test)] if several else []),
            Cell(_bar(run, scores), class_="pick"),
            *(figure(scores[s]) for s in used),
            figure(scores[TOTAL]),
        ]
        for run, scores in staged.items()
    ]
    return table(heads, [rows], caption="Wrong answers by stage, % of all questions")


def _bar(run: Run, scores: dict[str, Score]) -> Html:
    shares = [
        Share("right", 1 - (scores[TOTAL].value or 0.0), percent(1 - (scores[TOTAL].value or 0.0)), "right")
    ]
    shares += [Share(named(s), scores[s].value or 0.0, percent(scores[s].value), LOOKS[s]) for s in STAGES]
    said = ", ".join(f"{s.name} {s.figure}" for s in shares if s.value)
    return stack(f"{run.contender}: {said}", shares, width=240)


def _drops(study: Study) -> Html | None:
    """How a drop between twins divides into stages, where both were asked under several conditions."""
    found = []
    for twins in twin_runs(study):
        base, shifted = twins.base, twins.shifted
        if base is not shifted and min(len({*r.conditions} - {MISSING_IMAGE}) for r in (base, shifted)) > 1:
            scores = measure_drop(shifted.log.records, base.log.records)
            found.append((base, shifted, {str(dict(s.slice)["stage"]): s for s in scores}))
    if not found:
        return None
    used = [s for s in (*STAGES, TOTAL) if any(scores[s].value for _, _, scores in found)]
    rows = [
        [
            Cell(signed(study, base.contender), base.contender),
            Cell(f"{base.test} → {shifted.test}", class_="short"),
            *(_more(scores[s]) for s in used),
        ]
        for base, shifted, scores in found
    ]
    heads = [Head("Model"), Head("Shift"), *(Head(named(s), numeric=True) for s in used)]
    return table(heads, [rows], caption="The drop from base to twin, divided: more wrong answers, in points")


def _more(score: Score) -> Cell:
    return change(score.value, score.low, score.high, None, f"n = {count(score.n)}")


def _conditions(study: Study, runs: list[Run]) -> Html:
    """Accuracy under each condition."""
    asked = [c for c in (*CONDITIONS, MISSING_IMAGE) if any(c in r.conditions for r in runs)]
    several = len(study.tests) > 1
    rows = []
    for run in runs:
        found = {
            str(dict(s.slice)["condition"]): s
            for s in accuracy_metric.measure(run.log.records, ("condition",))[1:]
        }
        rows.append(
            [
                Cell(signed(study, run.contender), run.contender),
                *([Cell(run.test)] if several else []),
                *(figure(found.get(c)) for c in asked),
            ]
        )
    heads = [
        Head("Model"),
        *([Head("Test")] if several else []),
        *(Head(named(c), numeric=True) for c in asked),
    ]
    return table(heads, [rows], caption="Accuracy under each condition")
