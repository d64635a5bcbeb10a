"""Score: the figures of a run, or of a results file beside its annotations, without the model."""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

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
from ..result import AS_IS, Asked, Prediction, Records, RunLog, Score, asked_of, records_of
from ..store.runlog import read_run

IDS = ("question_id", "questionId", "question_index")  # VQA, GQA, CLEVR
SAID = ("answer", "prediction")
SHORTCUTS = "shortcut_gap"  # what is measured where an audit is given and nothing is named
Warn = Callable[[str], None]


@dataclass(frozen=True, slots=True, eq=False)
class Results:
    """A results file beside its annotations."""

    records: Records
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
    """The figures of a run as it stands; questions not asked yet are missing.

    `audit` is the folder of an audit, whose shortcuts the rows are then marked with; a run on an audit's
    own files knows its folder. Rows that the audit does not have are left out, which `warn` is told.
    """
    log = read_run(folder)
    lacking = _lacking(log)
    audit = audit or _own_audit(log)
    records = _audited(log.records, audit, folder, warn) if audit else log.records
    scores = score_records(records, metrics or ([SHORTCUTS] if audit else []), by, options)
    whole = ((), *((("split", name),) for name in NAMES))
    return tuple(replace(s, missing=s.missing + lacking) if s.slice in whole else s for s in scores)


def _audited(records: Records, audit: Path, run: Path, warn: Warn) -> Records:
    """The rows that an audit has, marked with their shortcuts; says what the others are."""
    rows = marked(records, audit)
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
    specs = [_without_spelling(dict(read_run(folder).spec)) for folder in folders]
    for folder, spec in zip(folders, specs, strict=True):
        other = sorted(k for k in {*spec, *specs[0]} if k != "seed" and spec.get(k) != specs[0].get(k))
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
        if folder.resolve() in seen:
            raise UserError(f"{folder} is given twice; name each run once")
        seen[folder.resolve()] = folder


def _without_spelling(spec: dict[str, Any]) -> dict[str, Any]:
    """The same data may lie under another path: its id tells, where there is one."""
    return {k: v for k, v in spec.items() if k != "data" or not spec.get("data_id")}


def score_records(
    records: Records,
    metrics: Sequence[str] = (),
    by: Sequence[str] = (),
    options: Mapping[str, str] | None = None,
) -> tuple[Score, ...]:
    """The figures of the metrics named; VQA accuracy where there are several annotators, else accuracy."""
    names = list(metrics) or ["vqa_accuracy" if len(records.answers) else "accuracy"]
    given = dict(options or {})
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


def _own_audit(log: RunLog) -> Path | None:
    folder = Path(str(dict(log.spec).get("data", "")))
    return folder if is_audit(folder) else None


def _lacking(log: RunLog) -> int:
    """Questions that were to be asked and are not there yet."""
    if log.questions is None:
        return 0
    rows = log.records.condition.equals(AS_IS)
    return max(0, log.questions - int(rows.sum())) if rows.any() else 0


def read_results(results: Path, annotations: Path) -> Results:
    """Predictions in an official format beside what they should be: VQA, GQA or CLEVR.

    Annotations may also be the folder of an audit: those of its IID test, marked with their shortcuts.
    """
    audit = annotations if annotations.is_dir() else None
    if audit is not None:
        check_audit(audit)
        annotations = file_of(audit, TEST, ANSWERS)
    asked = list(_asked(annotations))
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
    return Results(marked(records, audit) if audit else records, len(said) - found, elsewhere)


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
