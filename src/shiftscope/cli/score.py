"""Score a run again without its model, or a results file in an official format beside its annotations."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from ..errors import UserError, warn
from ._console import print_json, print_table

if TYPE_CHECKING:
    from ..result import JudgeUse, Score


def command(
    runs: Annotated[
        list[Path],
        typer.Argument(help="A run's folder (several: seeds of one model), or a results file: VQA, GQA, CLEVR."),
    ],
    annotations: Annotated[
        Path | None,
        typer.Option("--annotations", "--questions", help="True answers for a results file: annotations, questions."),
    ] = None,
    audit: Annotated[Path | None, typer.Option(help="Folder of an audit: score its IID test and its OOD sets.")] = None,
    sample: Annotated[
        str,
        typer.Option(
            help="The questions that a results file should answer, if not all: a JSON file of ids, or "
            "FOLDER:PART of shiftscope split. Those without a response count as wrong."
        ),
    ] = "",
    metric: Annotated[list[str] | None, typer.Option(help="Metric (shiftscope list metrics); may be repeated.")] = None,
    by: Annotated[list[str] | None, typer.Option(help="Also per kind, template, …; a comma crosses two.")] = None,
    normalise: Annotated[
        Literal["official", "always", "never"] | None,
        typer.Option(help="VQA accuracy: normalise where annotators differ, always, or never (exact match)."),
    ] = None,
    form: Annotated[
        Literal["official", "thirds"] | None, typer.Option(help="vqa_accuracy: averaged over annotators, or thirds.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object per figure.")] = False,
) -> None:
    """Compute figures with their counts and 95% intervals, in percent."""
    from ..metrics import list_defaults, load_metric
    from ..run import score as scoring
    from ..run.notes import list_run_notes
    from ..store.question_part import read_part
    from ..store.run_log import read_run

    run, declared = runs[0], ""
    judges: tuple[JudgeUse, ...] = ()
    notes: tuple[tuple[str, str], ...] = ()
    if audit is not None and not audit.is_dir():
        kind = "a file" if audit.exists() else "no folder"
        raise UserError(f"{audit} is {kind}; --audit takes the folder that shiftscope audit made, --annotations a file")
    options = {k: v for k, v in (("normalise", normalise), ("form", form)) if v is not None}
    if run.is_dir():
        if annotations is not None:
            raise UserError(f"{run} is a run, which has its answers; omit --annotations")
        if sample:
            raise UserError(f"{run} is a run, which has its questions; omit --sample")
        single = load_metric(metric[0]) if metric and len(metric) == 1 else None
        if single is not None and single.measure_runs is not None and single.runs:
            _print_scores(scoring.compare_runs(single, runs), as_json)
            return
        chosen = (metric or (), by or (), options, audit, warn)
        scores = scoring.score_seeds(runs, *chosen) if len(runs) > 1 else scoring.score_run(run, *chosen)
        logs = [read_run(one) for one in runs]
        declared, judges = scoring.describe_sample(logs[0]), tuple(log.judge for log in logs if log.judge)
        notes = tuple(note for log in logs for note in list_run_notes(log)) if not metric else ()
    else:
        if not run.exists():
            raise UserError(f"{run}: no such run or results file")
        if len(runs) > 1:
            raise UserError(f"{run} is a results file; several at once must be runs that differ in their seed")
        if annotations is not None and audit is not None:
            raise UserError("an audit knows its annotations; give --audit or --annotations, not both")
        annotations = annotations or audit
        if annotations is None:
            raise UserError(f"{run} is a file; give the true answers with --annotations FILE or --audit DIR")
        part = read_part(sample) if sample else None
        results = scoring.read_results(run, annotations, part.ids if part else None)
        declared = f"{sample} ({results.asked:,} of {results.population:,} questions)" if part else ""
        measured = metric or (list_defaults("audit") if annotations.is_dir() else ())
        scores = scoring.score_records(results.records, measured, by or (), options)
        if results.extra:
            test = "the IID test of " if annotations.is_dir() else ""
            note = f"{results.extra:,} predictions in {run} are for questions not in {test}{annotations}"
            warn(f"{note}: {scoring.describe_other_splits(results.elsewhere)}" if results.elsewhere else note)
    identity = scoring.describe_audit(audit, warn) if audit is not None else ""
    _print_scores(scores, as_json, declared, identity, judges)
    for term, sentence in notes if not as_json else ():
        print(f"{term}: {sentence}")


def _score_to_json(score: Score, sample: str, audit: str, judges: tuple[JudgeUse, ...]) -> dict[str, Any]:
    from ..metrics.slices import WITHOUT_ANSWER, to_percent

    data: dict[str, Any] = {
        "metric": score.metric,
        "value": to_percent(score.value),
        "n": score.n,
        "low": to_percent(score.low),
        "high": to_percent(score.high),
        "answered": to_percent(score.response_rate),
        **{name: getattr(score, name) for name in WITHOUT_ANSWER},
    }
    data |= {"form": score.form} if score.form else {}
    data |= {"scenes": score.scenes} if score.scenes is not None else {}
    data |= {"too_few_scenes": True} if _has_few_scenes(score) else {}
    data |= {"sample": sample} if sample else {}
    data |= {"audit": audit} if audit else {}
    data |= {"judge": [asdict(judge) for judge in judges]} if judges else {}
    return data | ({"slice": dict(score.slice)} if score.slice else {})


def _has_few_scenes(score: Score) -> bool:
    from ..metrics.intervals import FEW_SCENES

    return score.low is not None and score.scenes is not None and score.scenes < FEW_SCENES


def _print_scores(
    scores: tuple[Score, ...], as_json: bool, sample: str = "", audit: str = "", judges: tuple[JudgeUse, ...] = ()
) -> None:
    from ..metrics.slices import WITHOUT_ANSWER

    if as_json:
        for score in scores:
            print_json(_score_to_json(score, sample, audit, judges))
        return
    apart = [n for n in WITHOUT_ANSWER if any(getattr(s, n) for s in scores)]
    sliced = any(s.slice for s in scores)
    rows = []
    for s in scores:
        named = f"{s.metric} ({s.form})" if s.form else s.metric
        where = [", ".join(f"{name} {value}" for name, value in s.slice)] if sliced else []
        interval = "" if s.low is None or s.high is None else f"{100 * s.low:.2f} to {100 * s.high:.2f}"
        value = "nothing to score" if s.value is None else f"{100 * s.value:.2f}"
        answered = "" if s.response_rate is None else f"{100 * min(s.response_rate, 1 if s.complete else 0.9999):.2f}"
        scenes = "" if s.scenes is None else f"{s.scenes:,}{' (too few)' if _has_few_scenes(s) else ''}"
        rows.append([named, *where, value, interval, s.n, answered, scenes, *(getattr(s, n) for n in apart)])
    heads = ("metric", *(["of"] if sliced else []), "%", "95% interval", "n", "answered %", "scenes")
    print_table((*heads, *apart), rows)
    if sample:
        print(f"sample: {sample}")
    if audit:
        print(f"audit: {audit}")
    for judge in judges:
        print(f"judge: {judge}")
    if any(_has_few_scenes(s) for s in scores):
        print("too few scenes: an interval over fewer than ten scenes means little, however many questions there are")
    if apart and any(s.missing or s.failed for s in scores):
        print("missing and failed responses count as wrong, and such runs are not ranked")
