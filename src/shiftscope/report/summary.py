"""Summary: the few figures a reader wants before anything else."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .figure import few_scenes
from .markup import Html, tag
from .measure import accuracy, metric_name
from .number import count, percent, several, spread
from .study import Run, Study, judged


def tiles(study: Study) -> Html:
    """The figures as a list of terms."""
    made = [
        tag("div", tag("dt", name), tag("dd", figure, tag("small", about)))
        for name, figure, about in _tiles(study)
    ]
    return tag("dl", made, class_="tiles")


def _tiles(study: Study) -> Iterator[tuple[str, str, str]]:
    home = study.home()
    for name, run in _ends([r for r in judged(home.runs) if accuracy(r).complete]):
        score = accuracy(run)
        value = score.value or 0.0
        on = f" on {run.test}" if len(home.tests) > 1 else ""
        ends = "too few scenes" if few_scenes(score) else spread(value, score.low, score.high)
        about = f"{run.contender}{on}, {ends}"
        yield f"{name} {metric_name(home)}", f"{percent(value)}%", about.removesuffix(", ")
    asked = sum(len(run.records) for run in study.each)
    about = f"{several(len(home.contenders), 'model')}, {several(len(study.tests), 'test')}"
    yield "Questions put", count(asked), about
    lost = sum(len(run.records) - _answered(run) for run in study.each)
    share = percent(lost / asked if asked else 0.0)
    yield "Without an answer", count(lost), f"{share}% undefined, unreadable, failed or missing"


def _ends(runs: Sequence[Run]) -> list[tuple[str, Run]]:
    """The best run, and the worst where there are several."""
    scored = [r for r in runs if accuracy(r).value is not None]
    ordered = sorted(scored, key=lambda r: accuracy(r).value or 0.0)
    if not ordered:
        return []
    return [("Highest", ordered[-1]), ("Lowest", ordered[0])][: len(ordered)]


def _answered(run: Run) -> int:
    return int(run.records.status.equals("answered").sum())
