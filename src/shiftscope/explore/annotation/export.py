"""What annotators left: as a run of people's answers, as a dataset of validated and reworded questions, in figures.

A question is kept, as COVR does, where more than half of its judges accept it and none has a remark. Its text is the
first paraphrase of one who accepts it, else its own.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from ...answer import Answer, spell
from ...errors import UserError
from ...folder import refuse_foreign_files
from ...metrics import accuracy
from ...question import Question
from ...questions.answer_space import infer_expected
from ...questions.covr.balance import GENERATED
from ...records import content_id
from ...response import Unread, read_response
from ...result import AS_IS, Prediction, QuestionRecord, Score, build_question_record, records_of
from ...run.question_source import ANNOTATED, DatasetSource, find_lineage
from ...run.replies import combine_replies
from ...run.test import write_test_set
from ...schema import Schema
from ...shift import VARIANT_NOTES
from ...store.card import write_card
from ...store.dataset import Dataset, data_id
from ...store.run_log import RunWriter
from .qualification import QualificationRound, measure_qualification, select_counting
from .store import ACCEPT, Annotation, AnnotationStore

HUMAN = "human"  # the model of a run of people's answers
RUN_FOLDER, DATA_FOLDER = "run", "data"


@dataclass(frozen=True, slots=True)
class ExportedAnnotations:
    """Where things were written, and how many questions each has."""

    run: Path
    answered: int
    data: Path | None  # None: no question was accepted
    kept: int
    dropped: int
    paraphrased: int
    unqualified: tuple[str, ...] = ()  # annotators whose judgements were left out


def parse_human_answer(text: str, question: Question, schema: Schema) -> str | None:
    """What an answer is read as, as a model's would be; None where it cannot be."""
    found = read_response(text, infer_expected(question, schema)) if text.strip() else None
    return None if found is None or isinstance(found, Unread) else spell(found)


def is_kept(judged: Sequence[Annotation]) -> bool:
    """Whether more than half accept a question, and nobody has a remark on it."""
    verdicts = [one.verdict for one in judged if one.verdict]
    return 2 * verdicts.count(ACCEPT) > len(verdicts) and not any(one.comment.strip() for one in judged)


def group_by_question(annotations: Sequence[Annotation]) -> dict[str, list[Annotation]]:
    grouped: dict[str, list[Annotation]] = defaultdict(list)
    for one in annotations:
        grouped[one.question].append(one)
    return dict(grouped)


def build_human_row(record: QuestionRecord, given: Sequence[Annotation]) -> tuple[QuestionRecord, Prediction] | None:
    """The answers of people to one question as a row of a run; several are replies, and their vote counts."""
    answered = [one for one in given if one.answer is not None]
    replies = [_build_prediction(record.question, one) for one in answered]
    if not replies:
        return None
    return record, combine_replies(replies) if len(replies) > 1 else replies[0]


def _build_prediction(question: str, one: Annotation) -> Prediction:
    if one.parsed is None:
        status, reason = ("unreadable", "none found") if one.answer else ("undefined", "could not answer")
        return Prediction(question, None, one.answer or "", status, reason)
    return Prediction(question, _type_answer(one.parsed), one.answer or "")


def _type_answer(text: str) -> Answer:
    """A spelled answer as models give it."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else text


def score_humans(rows: Sequence[tuple[QuestionRecord, Prediction]]) -> tuple[Score, Score | None]:
    """How often the vote is right, and how often a single person is, where several answered."""
    records = records_of(rows)
    vote = accuracy.measure(records)[0]
    singles = [(q, one) for q, p in rows for one in (p.replies or (p,))]
    numbered = [
        (replace(q, question=f"{q.question} {k}"), replace(p, question=f"{q.question} {k}"))
        for k, (q, p) in enumerate(singles)
    ]
    single = accuracy.measure(records_of(numbered))[0] if len(singles) > len(rows) else None
    return vote, single


def export_annotations(store: AnnotationStore, folder: Path, out: Path) -> ExportedAnnotations:
    """Write `OUT/run` and `OUT/data`; the same annotations can be exported again, others need another folder."""
    dataset = Dataset.open(folder)
    about = store.read_about()
    if about.get("data_id") != data_id(dataset):
        raise UserError(f"{store.path} holds annotations of another dataset than {folder}")
    refuse_foreign_files(
        out, "exported annotations", [RUN_FOLDER, DATA_FOLDER], remedy="choose another folder for --export"
    )
    everything, qualification = store.list_annotations(), QualificationRound.from_about(about)
    annotations = select_counting(qualification, everything)
    counted = {one.annotator for one in annotations}
    unqualified = sorted({one.annotator for one in everything} - counted)
    grouped = group_by_question(annotations)
    split = about["split"]
    source = DatasetSource(dataset)
    said: dict[str, Any] = {
        "annotations": content_id(
            [[one.question, one.annotator, one.answer, one.verdict, one.paraphrase, one.comment] for one in annotations]
        )
    }
    if qualification.questions:
        results = measure_qualification(qualification, everything)
        said["qualification"] = asdict(qualification) | {"results": {n: str(r) for n, r in sorted(results.items())}}
    rows, kept, dropped = [], list[Question](), 0
    for question in source.questions(split):
        given = grouped.get(question.id, [])
        record = build_question_record(question, source.scenes(question)) if given else None
        if record is not None and (row := build_human_row(record, given)):
            rows.append(row)
        if any(one.verdict for one in given):
            if is_kept(given):
                kept.append(_reword(question, given))
            else:
                dropped += 1
    if not rows:
        who = "nobody who qualified" if unqualified else "nobody"
        raise UserError(f"{store.path}: {who} has answered a question yet")
    _write_run(dataset, split, rows, said, out / RUN_FOLDER)
    if kept:
        spec = {ANNOTATED: dict(dataset.manifest.spec), "data_id": data_id(dataset), **said}
        title = f"{dataset.manifest.about.title}, validated and reworded by people"
        write_test_set(out / DATA_FOLDER, folder, kept, spec, split=split, title=title)
        write_card(Dataset.open(out / DATA_FOLDER))
    reworded = sum(bool(q.note(GENERATED)) for q in kept)
    return ExportedAnnotations(
        out / RUN_FOLDER,
        len(rows),
        out / DATA_FOLDER if kept else None,
        len(kept),
        dropped,
        reworded,
        tuple(unqualified),
    )


def _reword(question: Question, given: Sequence[Annotation]) -> Question:
    """The question as a variant of itself: in its first accepted paraphrase, where there is one."""
    texts = list(_list_paraphrases(question, given))
    notes: list[tuple[str, Any]] = [n for n in question.notes if n[0] not in (*VARIANT_NOTES, "paraphrase")]
    notes += [("twin", question.id), ("factor", "annotation"), ("variant", "annotated"), ("annotators", len(given))]
    if not texts:
        return replace(question, id=f"{question.id}_annotated", notes=tuple(notes))
    notes += [(GENERATED, question.text), *((("paraphrases", texts),) if len(texts) > 1 else ())]
    return replace(question, id=f"{question.id}_annotated", text=texts[0], notes=tuple(notes), grounding=())


def _list_paraphrases(question: Question, given: Sequence[Annotation]) -> Iterator[str]:
    for one in given:
        words = " ".join(one.paraphrase.split())
        if one.verdict == ACCEPT and words and words != question.text:
            yield words


def _write_run(
    dataset: Dataset, split: str, rows: Sequence[tuple[QuestionRecord, Prediction]], said: dict[str, Any], out: Path
) -> None:
    spec: dict[str, Any] = {
        "model": HUMAN,
        "data": str(dataset.folder.resolve()),
        "data_id": data_id(dataset),
        "split": split,
        "limit": None,
        "conditions": [AS_IS],
        "seed": 0,
        **said,
    }
    population = dataset.count(split)[1]
    with RunWriter(out, spec, len(rows), population=population, lineage=find_lineage(dataset)) as writer:
        if not writer.done:
            writer.add(rows)
        writer.finish([q.question for q, _ in rows])
