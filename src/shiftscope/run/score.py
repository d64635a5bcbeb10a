"""Score: the figures of a run, or of a results file beside its annotations, without the model."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from .. import json_files, result
from ..answer import read_answer
from ..columns import Column, column_of
from ..errors import UserError
from ..files import read_bytes, resolve_links
from ..formats import read_questions, vqa
from ..metrics import Metric, list_defaults, load_metric
from ..metrics.significance import average_seeds
from ..metrics.slices import select_base_rows
from ..result import AS_IS, MISSING_IMAGE, Prediction, QuestionRecord, RunLog, RunRecords, Score
from ..server_identity import identities_differ
from ..shortcuts import audit_folder
from ..shortcuts.audit import AUDIT_SPLIT, AUDIT_VERSION, SPLIT_NAMES
from ..shortcuts.audit import TEST as IID_TEST
from ..shortcuts.concepts import ANY
from ..store.question_part import explain_difference
from ..store.run_log import SERVER_FIELD, find_differing_fields, read_run
from ..url_path import parse_path
from .question_source import VqaFiles

ID_KEYS = ("question_id", "questionId", "question_index")  # VQA, GQA, CLEVR
ANSWER_KEYS = ("answer", "prediction")
Warn = Callable[[str], None]


@dataclass(frozen=True, slots=True, eq=False)
class ResultsFile:
    """A results file beside its annotations."""

    records: RunRecords
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
    """The figures of a run as it stands; a question without a response is wrong.

    `audit` is the folder of an audit, whose shortcuts the rows are then marked with; a run on an audit's
    own files knows its folder. Rows that the audit does not have are left out, with a warning.
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
    own = None if audit else _find_audit(log, warn)
    records, names = log.records, list(metrics)
    if marks := audit or own:
        records = _mark_audit(log, marks, folder, warn)
    unseen = _score_missing_images(records, by)
    if unseen and not len(select_base_rows(records)):
        return unseen
    if not names and audit:
        names = list_defaults("audit")
    elif not names and own:
        names = [*list_defaults("answers"), *([] if by else list_defaults("audit"))]
    if not metrics and records.replies:
        names = [*(names or list_defaults("annotators" if options else "answers")), *list_defaults("replies")]
    return (*score_records(records, names, by, options), *unseen)


def _score_missing_images(records: RunRecords, by: Sequence[str]) -> tuple[Score, ...]:
    """How right the rows are that were asked without a picture because there is none; apart from all else."""
    rows = records.filter_condition(MISSING_IMAGE)
    if not len(rows) or any("condition" in one.split(",") for one in by):
        return ()
    alone = replace(rows, condition=column_of([AS_IS] * len(rows)))  # or metrics would leave them out
    return tuple(replace(s, slice=(("condition", MISSING_IMAGE),)) for s in score_records(alone))


def _mark_audit(log: RunLog, audit: Path, run: Path, warn: Warn) -> RunRecords:
    """The rows that an audit has, marked with their shortcuts; warns about the others."""
    rows = audit_folder.add_marks(log.records, audit)
    split, column, lacking = dict(log.spec).get("split"), rows.column(AUDIT_SPLIT), rows.question.codes < 0
    if split in column.values and lacking.any():
        # Questions that were not asked yet are of the run's own split; in which OOD sets is not known.
        column = Column(column.values, np.where(lacking, column.values.index(split), column.codes).astype(np.int32))
        rows = replace(rows, facts=tuple((dict(rows.facts) | {AUDIT_SPLIT: column}).items()))
    base = select_base_rows(rows).column(AUDIT_SPLIT)
    unknown = int((base.codes < 0).sum())
    if unknown:
        warn(f"{unknown:,} of the {len(base):,} questions of {run} are not in the audit {audit}; left out")
    for name in SPLIT_NAMES:
        n = int(base.equals(name).sum())
        if n and name != IID_TEST:
            warn(f"{n:,} questions of {run} are of the audit's {name} split, not of its IID test")
    return rows.take(column.codes >= 0) if (column.codes < 0).any() else rows


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
        other = sorted(k for k in find_differing_fields(spec, specs[0]) if k != "seed")
        other += [SERVER_FIELD] * identities_differ(spec.get(SERVER_FIELD) or {}, specs[0].get(SERVER_FIELD) or {})
        if other:
            raise UserError(
                f"{folder} and {folders[0]} are no two seeds of one run: they differ in {', '.join(other)}; "
                "compare such runs with: shiftscope report RUN RUN … --out FILE"
            )
    found: dict[tuple[Any, ...], list[Score]] = {}
    for folder in folders:
        for score in score_run(folder, metrics, by, options, audit, warn):
            found.setdefault((score.metric, score.slice), []).append(score)
    return tuple(average_seeds(scores) for scores in found.values())


def refuse_twice(folders: Sequence[Path]) -> None:
    """No run may stand beside itself, however its folder is spelled."""
    for at, folder in enumerate(folders):
        if resolve_links(folder) in map(resolve_links, folders[:at]):
            raise UserError(f"{folder} is given twice; name each run once")


def score_records(
    records: RunRecords, metrics: Sequence[str] = (), by: Sequence[str] = (), options: Mapping[str, str] | None = None
) -> tuple[Score, ...]:
    """The figures of the metrics named; by default those for the answers that the records have."""
    given = dict(options or {})
    purpose = "annotators" if given and records.has_annotators.any() else "answers"
    chosen = [load_metric(name) for name in metrics or list_defaults(purpose)]
    measures = [(metric, metric.require_measure()) for metric in chosen]
    if not all(name.strip() for one in by for name in one.split(",")):
        raise UserError("--by needs the name of a column, as in --by kind or --by kind,length")
    for option in given:
        if not any(option in metric.options for metric in chosen):
            raise UserError(f"{', '.join(metric.name for metric in chosen)}: takes no --{option}")
    scores: list[Score] = []
    for metric, measure in measures:
        if by and "by" not in metric.options:
            raise UserError(f"{metric.name} cannot be sliced; omit --by or choose another metric")
        used: dict[str, Any] = {k: v for k, v in given.items() if k in metric.options}
        scores += measure(records, **used | ({"by": tuple(by)} if by else {}))
    return tuple(scores)


def compare_runs(metric: Metric, folders: Sequence[Path]) -> tuple[Score, ...]:
    """The figure of a metric that compares several runs of the same questions."""
    assert metric.measure_runs is not None
    if len(folders) != len(metric.runs):
        raise UserError(f"{metric.name} takes {len(metric.runs)} runs: {', '.join(metric.runs)}")
    logs = [read_run(folder) for folder in folders]
    for folder, log, condition in zip(folders, logs, metric.runs.values(), strict=True):
        why = explain_difference(dict(log.spec), dict(logs[0].spec))
        if why:
            raise UserError(
                f"{metric.name} compares runs of the same questions, and beside {folders[0]}, {folder} is {why}"
            )
        if condition and not len(log.records.filter_condition(condition)):
            raise UserError(f"{metric.name} needs the condition {condition}, under which {folder} was not run")
    return (metric.measure_runs(*(log.records for log in logs)),)


def _find_audit(log: RunLog, warn: Warn) -> Path | None:
    """The audit whose files a run was asked about, if it is still there as it was."""
    spec = dict(log.spec)
    folder = parse_path(str(spec.get("data", "")))
    if not audit_folder.is_audit(folder):
        return None
    if VqaFiles(folder).data_id() != spec.get("data_id"):
        warn(f"the audit in {folder} is no longer the one that this run was asked about; no shortcuts scored")
        return None
    describe_audit(folder, warn)
    return folder


def describe_audit(folder: Path, warn: Warn) -> str:
    """Which audit it is; warns where it was made by an earlier version, whose sets are others."""
    found = audit_folder.identify_audit(folder)
    if found.version < AUDIT_VERSION:
        other = "a split drawn by it is another one"
        if found.version < 2:
            other = f"questions with one keyword are in its KWP groups, as with --pairs {ANY}, and {other}"
        warn(
            f"{folder} is an audit of version {found.version}: {other} than that of version {AUDIT_VERSION}; "
            "make it again to compare"
        )
    return str(found)


def read_results(results: Path, annotations: Path, sample: frozenset[str] | None = None) -> ResultsFile:
    """Predictions in an official format beside what they should be: VQA, GQA or CLEVR.

    Annotations may also be the folder of an audit: those of its IID test, marked with their shortcuts. Every
    question counts, answered or not; of a sample that was declared beforehand, every one of its ids.
    """
    audit = annotations if annotations.is_dir() else None
    if audit is not None:
        audit_folder.check_audit(audit)
        annotations = audit_folder.set_file(audit, audit_folder.TEST_FOLDER, audit_folder.ANSWERS_SUFFIX)
    every = list(_read_examples(annotations))
    examples = every if sample is None else [one for one in every if one.question in sample]
    names = {one.question for one in examples}
    if sample is not None and len(examples) < len(sample):
        lost = min(sample - names)
        raise UserError(
            f"{len(sample) - len(examples):,} ids of the sample are of no question of {annotations}, {lost!r} for one"
        )
    predictions = {p.question: p for p in _read_predictions(results)}
    extra = predictions.keys() - names
    elsewhere: tuple[tuple[str, int], ...] = ()
    if audit is not None and extra:
        splits = audit_folder.read_splits(audit)
        counts = Counter(splits.get(name) for name in extra)
        elsewhere = tuple((name, counts[name]) for name in SPLIT_NAMES if counts[name])
    if len(extra) == len(predictions):
        if elsewhere:
            raise UserError(
                f"{results}: none of its predictions is for the IID test of {audit}; {describe_other_splits(elsewhere)}"
            )
        one, other = next(iter(predictions), ""), examples[0].question
        raise UserError(f"{results}: no question of {annotations} is in it; it has {one!r}, the annotations {other!r}")
    records = result.records_of([(one, predictions.get(one.question)) for one in examples])
    if audit:
        records = audit_folder.add_marks(records, audit)
    return ResultsFile(records, len(examples), len(every), len(extra), elsewhere)


def describe_other_splits(elsewhere: Iterable[tuple[str, int]]) -> str:
    """In words: `400 are for its train split, 20 for its val split`."""
    first, *others = (f"{count:,} are for its {split} split" for split, count in elsewhere)
    return ", ".join([first, *(one.replace("are for", "for") for one in others)])


def _read_examples(path: Path) -> Iterator[QuestionRecord]:
    file = json_files.InputFile(path)
    if not vqa.sniff_annotations(file):
        if vqa.sniff_questions(file):
            raise UserError(f"{path}: questions without answers; give the annotations file that goes with it")
        known = False
        for question in read_questions(path):
            known = known or question.answer is not None
            yield result.build_question_record(question)
        if not known:
            raise UserError(f"{path}: its questions have no answers to compare with")
        return
    for one in vqa.read_annotations(path):
        notes = dict(one.notes)
        split = str(notes.get("annotation.split", ""))
        facts = (("kind", one.kind), ("answer_type", notes.get("answer_type", "")), ("split", split))
        known_facts = tuple((name, value) for name, value in facts if value)
        images = (one.image,) if one.image else ()
        yield QuestionRecord(one.question, images, one.answer, one.answers, known_facts)


def _read_predictions(path: Path) -> Iterable[Prediction]:
    data = read_bytes(path)
    if json_files.first_byte(data) != b"[":
        json_files.decode_json(data, path)
        raise UserError(f"{path}: expected a list of results, each with an id and an answer")
    seen: set[str] = set()
    for at, row in enumerate(json_files.iterate_elements(data, None, path)):
        prediction = _parse_prediction(row, f"{path}: result {at}")
        if prediction.question in seen:
            raise UserError(f"{path}: question {prediction.question} appears twice")
        seen.add(prediction.question)
        yield prediction
    if not seen:
        raise UserError(f"{path}: there are no results in it")


def _parse_prediction(row: Any, where: str) -> Prediction:
    """A null answer is undefined, as `shiftscope answer --out` writes it."""
    name = next((row[k] for k in ID_KEYS if k in row), None) if isinstance(row, dict) else None
    key = next((k for k in ANSWER_KEYS if k in row), None) if isinstance(row, dict) else None
    if key is None or isinstance(name, bool) or not isinstance(name, int | str) or name == "":
        raise UserError(f"{where} needs an id ({', '.join(ID_KEYS)}) and an answer ({', '.join(ANSWER_KEYS)})")
    try:
        answer = read_answer(row[key])
    except UserError as error:
        raise UserError(f"{where}: {error}") from None
    if answer is None:
        return Prediction(str(name), status="undefined", reason="null in the file")
    return Prediction(str(name), answer, raw=str(answer))


def describe_sample(log: RunLog) -> str:
    """In words, as in `the first 200 of 5,000 questions`; nothing where all were asked.

    A question of the sample without a response is wrong; questions outside it do not count.
    """
    spec = dict(log.spec)
    if log.questions is None or (log.population is not None and log.questions >= log.population):
        return ""
    part, limit = spec.get("part"), spec.get("limit")
    of = f" of {log.population:,}" if log.population is not None else ""
    if isinstance(part, dict):
        if part.get("name") == spec.get("variant"):  # a part of the diagnostic set
            return f"{log.questions:,}{of} questions"
        first = f"the first {log.questions:,} " if limit and limit < int(part.get("questions", 0)) else ""
        return f"{first}{'of ' if first else ''}{part.get('name')} ({log.questions:,}{of} questions)"
    return f"the first {log.questions:,}{of} questions" if limit else ""
