"""Score: the figures of a run, or of a results file beside its annotations, without the model."""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ..answer import read_answer
from ..audit.folder import check_audit, is_audit
from ..audit.layout import ANSWERS, TEST, file_of
from ..audit.marks import marked, splits_of
from ..audit.split import AUDIT_SPLIT, NAMES
from ..audit.split import TEST as IID_TEST
from ..catalog import METRICS
from ..errors import UserError
from ..formats import _json, vqa
from ..formats._any import read_questions
from ..metrics._shares import base_rows
from ..metrics._statistics import across_seeds
from ..models._server import differ
from ..result import (
    AS_IS,
    MISSING_IMAGE,
    Asked,
    Column,
    Prediction,
    Records,
    RunLog,
    Score,
    asked_of,
    column_of,
    records_of,
)
from ..store.runlog import SERVER, differing, read_run
from ..whole import real
from .vqa_files import VqaFiles

IDS = ("question_id", "questionId", "question_index")  # VQA, GQA, CLEVR
SAID = ("answer", "prediction")
SHORTCUTS = "shortcut_gap"  # what is measured where an audit is given and nothing is named
Warn = Callable[[str], None]


@dataclass(frozen=True, slots=True, eq=False)
class Results:
    """A results file beside its annotations."""

    records: Records
    asked: int  # questions that were to be answered
    population: int  # that the annotations have
    extra: int  # predictions for questions that the annotations do not have
    elsewhere: tuple[tuple[str, int], ...] = ()  # how many of them are for other splits of the audit


def score_run(
    folder: Path,
    metrics: Sequence[str] = (),
    by: Sequence[str] = (),
    options: Mapping[str, str] | None = None,
    audit: Path | None = None,
    warn: Warn = lambda sentence: None,
) -> tuple[Score, ...]:
    """The figures of a run as it stands; a question that was to be asked and has no reply is not right.

    `audit` is the folder of an audit, whose shortcuts the rows are then marked with; a run on an audit's
    own files knows its folder. Rows that the audit does not have are left out, which `warn` is told.
    """
    log = read_run(folder)
    if log.missing_images:
        warn(
            f"{log.missing_images:,} questions of {folder} had no picture and were asked without one, as the "
            "condition missing_image: they are in no figure but their own"
        )
    lacking = int((log.records.question.codes < 0).sum())
    if lacking and by:
        warn(f"{folder} is not finished: {lacking:,} questions were not asked yet, and are in no slice")
    own = None if audit else _own_audit(log, warn)
    records, names = log.records, list(metrics)
    if marks := audit or own:
        records = _audited(records, marks, folder, str(dict(log.spec).get("split") or ""), warn)
    unseen = _without_pictures(records, by)
    if unseen and not len(base_rows(records)):
        return unseen
    if not names and audit:
        names = [SHORTCUTS]
    elif not names and own:
        names = ["accuracy"] if by else ["accuracy", SHORTCUTS]
    return (*score_records(records, names, by, options), *unseen)


def _without_pictures(records: Records, by: Sequence[str]) -> tuple[Score, ...]:
    """How right the rows are that were asked without a picture because there is none; apart from all else."""
    rows = records.under(MISSING_IMAGE)
    if not len(rows) or any("condition" in one.split(",") for one in by):
        return ()
    alone = replace(rows, condition=column_of([AS_IS] * len(rows)))  # or metrics would leave them out
    return tuple(replace(s, slice=(("condition", MISSING_IMAGE),)) for s in score_records(alone))


def _audited(records: Records, audit: Path, run: Path, split: str, warn: Warn) -> Records:
    """The rows that an audit has, marked with their shortcuts; says what the others are.

    Questions that were not asked yet are of the run's own split; in which OOD sets is not known.
    """
    rows = _placed(marked(records, audit), split)
    column = rows.column(AUDIT_SPLIT)
    base = base_rows(rows).column(AUDIT_SPLIT)
    unknown = int((base.codes < 0).sum())
    if unknown:
        warn(f"{unknown:,} of the {len(base):,} questions of {run} are not in the audit {audit}; left out")
    for name in NAMES:
        n = int(base.equals(name).sum())
        if n and name != IID_TEST:
            warn(f"{n:,} questions of {run} are of the audit's {name} split, not of its IID test")
    return rows.take(column.codes >= 0) if (column.codes < 0).any() else rows


def _placed(rows: Records, split: str) -> Records:
    lacking = rows.question.codes < 0
    column = rows.column(AUDIT_SPLIT)
    if split not in column.values or not lacking.any():
        return rows
    codes = np.where(lacking, column.values.index(split), column.codes).astype(np.int32)
    facts = [(name, Column(c.values, codes) if name == AUDIT_SPLIT else c) for name, c in rows.facts]
    return replace(rows, facts=tuple(facts))


def score_seeds(
    folders: Sequence[Path],
    metrics: Sequence[str] = (),
    by: Sequence[str] = (),
    options: Mapping[str, str] | None = None,
    audit: Path | None = None,
    warn: Warn = lambda sentence: None,
) -> tuple[Score, ...]:
    """The figures of several seeds of one model: means, with intervals over seeds."""
    refuse_twice(folders)
    specs = [dict(read_run(folder).spec) for folder in folders]
    for folder, spec in zip(folders, specs, strict=True):
        other = sorted(k for k in differing(spec, specs[0]) if k != "seed")
        other += [SERVER] * differ(spec.get(SERVER) or {}, specs[0].get(SERVER) or {})
        if other:
            raise UserError(
                f"{folder} and {folders[0]} are no two seeds of one run: they differ in {', '.join(other)}; "
                "compare such runs with: shiftscope report RUN RUN … --out FILE"
            )
    found: dict[tuple[Any, ...], list[Score]] = {}
    for folder in folders:
        for score in score_run(folder, metrics, by, options, audit, warn):
            found.setdefault((score.metric, score.slice), []).append(score)
    return tuple(across_seeds(scores) for scores in found.values())


def refuse_twice(folders: Sequence[Path]) -> None:
    """No run may stand beside itself, however its folder is spelled."""
    seen: dict[Path, Path] = {}
    for folder in folders:
        if real(folder) in seen:
            raise UserError(f"{folder} is given twice; name each run once")
        seen[real(folder)] = folder


def score_records(
    records: Records,
    metrics: Sequence[str] = (),
    by: Sequence[str] = (),
    options: Mapping[str, str] | None = None,
) -> tuple[Score, ...]:
    """The figures of the metrics named; VQA accuracy where there are several annotators, else accuracy."""
    given = dict(options or {})
    names = list(metrics) or ["vqa_accuracy" if given and records.annotated.any() else "accuracy"]
    if not all(name.strip() for one in by for name in one.split(",")):
        raise UserError("--by needs the name of a column, as in --by kind or --by kind,length")
    measures = [(name, _measure(name)) for name in names]
    takes = {name: set(inspect.signature(measure).parameters) for name, measure in measures}
    for option in given:
        if not any(option in known for known in takes.values()):
            raise UserError(f"{', '.join(names)}: takes no --{option}")
    made: list[Score] = []
    for name, measure in measures:
        chosen: dict[str, Any] = {k: v for k, v in given.items() if k in takes[name]}
        if by:
            if "by" not in takes[name]:
                raise UserError(f"{name} can not be sliced; leave --by away or choose another metric")
            chosen["by"] = tuple(by)
        made += measure(records, **chosen)
    return tuple(made)


def _measure(name: str) -> Any:
    module = METRICS.load(name)
    if not hasattr(module, "measure"):
        raise UserError(f"{name} compares several runs; see it with: shiftscope report RUN RUN … --out FILE")
    return module.measure


def _own_audit(log: RunLog, warn: Warn) -> Path | None:
    """The audit whose files a run was asked about, if it is still there as it was."""
    spec = dict(log.spec)
    folder = Path(str(spec.get("data", "")))
    if not is_audit(folder):
        return None
    if VqaFiles(folder).data_id() != spec.get("data_id"):
        warn(f"the audit in {folder} is no longer the one that this run was asked about; no shortcuts scored")
        return None
    return folder


def read_results(results: Path, annotations: Path, sample: frozenset[str] | None = None) -> Results:
    """Predictions in an official format beside what they should be: VQA, GQA or CLEVR.

    Annotations may also be the folder of an audit: those of its IID test, marked with their shortcuts. Every
    question counts, answered or not; of a sample that was declared beforehand, every one of its ids.
    """
    audit = annotations if annotations.is_dir() else None
    if audit is not None:
        check_audit(audit)
        annotations = file_of(audit, TEST, ANSWERS)
    every = list(_asked(annotations))
    asked = every if sample is None else [a for a in every if a.question in sample]
    if sample is not None and len(asked) < len(sample):
        lost = min(sample - {a.question for a in asked})
        raise UserError(
            f"{len(sample) - len(asked):,} ids of the sample are of no question of {annotations}, {lost!r} "
            "for one"
        )
    said = {p.question: p for p in _predictions(results)}
    rows = [(a, said.get(a.question)) for a in asked]
    found = sum(p is not None for _, p in rows)
    elsewhere = _elsewhere(said, asked, audit) if audit is not None and found < len(said) else ()
    if not found and elsewhere:
        raise UserError(
            f"{results}: none of its predictions is for the IID test of {audit}; {named(elsewhere)}"
        )
    if not found:
        one, other = next(iter(said), ""), asked[0].question
        raise UserError(
            f"{results}: no question of {annotations} is in it; it has {one!r}, the annotations {other!r}"
        )
    records = records_of(rows)
    if audit:
        records = marked(records, audit)
    return Results(records, len(asked), len(every), len(said) - found, elsewhere)


def _elsewhere(said: Iterable[str], asked: Iterable[Asked], audit: Path) -> tuple[tuple[str, int], ...]:
    """How many predictions are for questions of the audit's other splits."""
    split = splits_of(audit)
    counts = Counter(split.get(one) for one in set(said) - {a.question for a in asked})
    return tuple((name, counts[name]) for name in NAMES if counts[name])


def named(elsewhere: Iterable[tuple[str, int]]) -> str:
    """In words: `400 are for its train split, 20 for its val split`."""
    first, *others = (f"{count:,} are for its {split} split" for split, count in elsewhere)
    return ", ".join([first, *(one.replace("are for", "for") for one in others)])


def _asked(path: Path) -> Iterator[Asked]:
    sample = _json.outline(_json.read_bytes(path), path)
    if not vqa.sniff_annotations(sample):
        if vqa.sniff_questions(sample):
            raise UserError(f"{path}: questions without answers; give the annotations file that goes with it")
        known = False
        for question in read_questions(path):
            known = known or question.answer is not None
            yield asked_of(question)
        if not known:
            raise UserError(f"{path}: its questions have no answers to compare with")
        return
    for one in vqa.read_annotations(path):
        notes = dict(one.notes)
        facts = [("kind", one.kind), ("answer_type", notes.get("answer_type", ""))]
        facts += [("split", str(notes.get("annotation.split", "")))]
        yield Asked(
            one.question,
            (one.image,) if one.image else (),
            one.answer,
            one.answers,
            tuple((name, value) for name, value in facts if value),
        )


def _predictions(path: Path) -> Iterable[Prediction]:
    data = _json.read_bytes(path)
    if data[:64].lstrip()[:1] != b"[":
        _json.decode(data, path)
        raise UserError(f"{path}: expected a list of results, each with an id and an answer")
    seen: set[str] = set()
    for at, row in enumerate(_json.elements(data, None, path)):
        prediction = _prediction(row, f"{path}: result {at}")
        if prediction.question in seen:
            raise UserError(f"{path}: question {prediction.question} appears twice")
        seen.add(prediction.question)
        yield prediction
    if not seen:
        raise UserError(f"{path}: there are no results in it")


def _prediction(row: Any, where: str) -> Prediction:
    """A null answer is undefined, as `shiftscope answer --out` writes it."""
    name = next((row[k] for k in IDS if k in row), None) if isinstance(row, dict) else None
    key = next((k for k in SAID if k in row), None) if isinstance(row, dict) else None
    if key is None or isinstance(name, bool) or not isinstance(name, int | str) or name == "":
        raise UserError(f"{where} needs an id ({', '.join(IDS)}) and what was said ({', '.join(SAID)})")
    try:
        answer = read_answer(row[key])
    except UserError as error:
        raise UserError(f"{where}: {error}") from None
    if answer is None:
        return Prediction(str(name), status="undefined", reason="null in the file")
    return Prediction(str(name), answer, raw=str(answer))
