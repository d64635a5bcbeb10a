"""Score a run again without its model, or a results file in an official format beside its annotations."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import UserError
from ._console import json_line, table

if TYPE_CHECKING:
    from ..result import Score


GENERALIZATION = "generalization_score"


class Normalise(StrEnum):
    OFFICIAL = "official"
    ALWAYS = "always"


class Form(StrEnum):
    OFFICIAL = "official"
    THIRDS = "thirds"


def command(
    runs: Annotated[
        list[Path],
        typer.Argument(
            help="A run's folder (several: seeds of one model), or a results file: VQA, GQA, CLEVR."
        ),
    ],
    annotations: Annotated[
        Path | None,
        typer.Option(
            "--annotations", "--questions", help="What a results file should say: VQA annotations, questions."
        ),
    ] = None,
    audit: Annotated[
        Path | None,
        typer.Option(help="Folder of an audit: score its IID test and all its OOD sets at once."),
    ] = None,
    sample: Annotated[
        str,
        typer.Option(
            help="The questions that a results file was to answer, where not all: a JSON file of ids, or "
            "FOLDER:PART of shiftscope split. Of these, what lacks a reply counts as wrong."
        ),
    ] = "",
    metric: Annotated[
        list[str] | None, typer.Option(help="What to measure (shiftscope list metrics); repeat for several.")
    ] = None,
    by: Annotated[
        list[str] | None,
        typer.Option(help="Also for each value of this: kind, template, length, …; crossed with a comma."),
    ] = None,
    normalise: Annotated[
        Normalise | None, typer.Option(help="vqa_accuracy: official (where annotators differ) or always.")
    ] = None,
    form: Annotated[
        Form | None, typer.Option(help="vqa_accuracy: official (averaged over annotators) or thirds.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a figure.")] = False,
) -> None:
    """Compute figures with their counts and 95% intervals, in percent."""
    from ..run.part import read_part
    from ..run.sample import sample_of
    from ..run.score import SHORTCUTS, named, read_results, score_records, score_run, score_seeds
    from ..store.runlog import read_run

    run, told = runs[0], ""
    if audit is not None and not audit.is_dir():
        kind = "a file" if audit.exists() else "no folder"
        raise UserError(
            f"{audit} is {kind}; --audit takes the folder that shiftscope audit made, --annotations a file"
        )
    options = {k: v.value for k, v in (("normalise", normalise), ("form", form)) if v is not None}
    if run.is_dir():
        if annotations is not None:
            raise UserError(f"{run} is a run, which knows its answers; leave --annotations away")
        if sample:
            raise UserError(f"{run} is a run, which knows what it was to be asked; leave --sample away")
        if metric == [GENERALIZATION]:
            _show(_three(runs), as_json)
            return
        chosen = (metric or (), by or (), options, audit)
        if len(runs) > 1:
            scores = score_seeds(runs, *chosen, warn=_warn)
        else:
            scores = score_run(run, *chosen, warn=_warn)
        told = sample_of(read_run(run))
    else:
        if not run.exists():
            raise UserError(f"{run}: no such run or results file")
        if len(runs) > 1:
            raise UserError(
                f"{run} is a results file; several at once must be runs that differ in their seed"
            )
        if annotations is not None and audit is not None:
            raise UserError("an audit knows its annotations; give --audit or --annotations, not both")
        annotations = annotations or audit
        if annotations is None:
            raise UserError(
                f"{run} is a file; say what it should hold with --annotations FILE or --audit DIR"
            )
        part = read_part(sample) if sample else None
        results = read_results(run, annotations, part.ids if part else None)
        told = f"{sample} ({results.asked:,} of {results.population:,} questions)" if part else ""
        measured = metric or ([SHORTCUTS] if annotations.is_dir() else ())
        scores = score_records(results.records, measured, by or (), options)
        if results.extra:
            test = "the IID test of " if annotations.is_dir() else ""
            note = f"{results.extra:,} predictions in {run} are for questions not in {test}{annotations}"
            _warn(f"{note}: {named(results.elsewhere)}" if results.elsewhere else note)
    _show(scores, as_json, told)


def _warn(sentence: str) -> None:
    print(f"shiftscope: {sentence}", file=sys.stderr)


def _three(runs: list[Path]) -> tuple[Score, ...]:
    """The generalization score, which compares three runs over the same questions."""
    from ..metrics.generalization_score import measure_runs
    from ..result import AS_IS
    from ..run.part import other_questions
    from ..store.runlog import read_run

    if len(runs) != 3:
        raise UserError(f"{GENERALIZATION} takes three runs: the model, a text-only one, and the upper bound")
    logs = [read_run(run) for run in runs]
    specs = [dict(log.spec) for log in logs]
    for run, log, spec in zip(runs, logs, specs, strict=True):
        why = other_questions(spec, specs[0])
        if why:
            raise UserError(
                f"{GENERALIZATION} compares runs of the same questions, and beside {runs[0]}, {run} is {why}"
            )
        if run != runs[1] and not len(log.records.under(AS_IS)):
            raise UserError(f"{run} was not asked with its images; only the text-only run may be asked so")
    return (measure_runs(*(log.records for log in logs)),)


def _show(scores: tuple[Score, ...], as_json: bool, sample: str = "") -> None:
    if as_json:
        for score in scores:
            json_line(_data(score, sample))
        return
    _table(scores, sample)


def _data(score: Score, sample: str) -> dict[str, Any]:
    data: dict[str, Any] = {
        "metric": score.metric,
        "value": _percent(score.value),
        "n": score.n,
        "low": _percent(score.low),
        "high": _percent(score.high),
        "answered": _percent(score.answered),
        "missing": score.missing,
        "undefined": score.undefined,
        "unreadable": score.unreadable,
        "failed": score.failed,
    }
    data |= {"form": score.form} if score.form else {}
    data |= {"scenes": score.scenes} if score.scenes is not None else {}
    data |= {"too_few_scenes": True} if _few(score) else {}
    data |= {"sample": sample} if sample else {}
    return data | ({"slice": dict(score.slice)} if score.slice else {})


def _percent(share: float | None) -> float | None:
    return None if share is None else round(100 * share, 10)


def _few(score: Score) -> bool:
    from ..metrics._interval import FEW_SCENES

    return score.low is not None and score.scenes is not None and score.scenes < FEW_SCENES


def _table(scores: tuple[Score, ...], sample: str) -> None:
    apart = [
        n for n in ("missing", "undefined", "unreadable", "failed") if any(getattr(s, n) for s in scores)
    ]
    sliced = any(s.slice for s in scores)
    rows = []
    for s in scores:
        named = f"{s.metric} ({s.form})" if s.form else s.metric
        where = [", ".join(f"{name} {value}" for name, value in s.slice)] if sliced else []
        interval = "" if s.low is None or s.high is None else f"{100 * s.low:.2f} to {100 * s.high:.2f}"
        value = "nothing to score" if s.value is None else f"{100 * s.value:.2f}"
        told = "" if s.answered is None else f"{100 * min(s.answered, 1 if s.complete else 0.9999):.2f}"
        scenes = "" if s.scenes is None else f"{s.scenes:,}{' (too few)' if _few(s) else ''}"
        rows.append([named, *where, value, interval, s.n, told, scenes, *(getattr(s, n) for n in apart)])
    heads = ("metric", *(["of"] if sliced else []), "%", "95% interval", "n", "answered %", "scenes")
    table((*heads, *apart), rows)
    if sample:
        print(f"a sample: {sample}")
    if any(_few(s) for s in scores):
        print("too few scenes: an interval that rests on fewer than ten tells little, however many questions")
    if apart and any(s.missing or s.failed for s in scores):
        print("what is missing or failed counts as wrong, and such runs are not ranked")
