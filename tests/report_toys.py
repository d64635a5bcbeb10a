"""Toy studies for the tests of the report: a handful of questions, answers written out."""

from __future__ import annotations

from pathlib import Path

import store_toys
from shiftscope.report.markup import Html
from shiftscope.report.page import SECTIONS
from shiftscope.report.runs import ReportRuns, arrange_runs
from shiftscope.result import (
    AS_IS,
    CONDITIONS,
    Lineage,
    Prediction,
    QuestionRecord,
    RunLog,
    add_missing_rows,
    build_question_record,
    records_of,
)
from shiftscope.store.build_dataset import build_dataset
from shiftscope.store.dataset import data_id
from shiftscope.store.run_log import RunWriter


def asked(name, truth="yes", scene="", twin="", **facts):
    return QuestionRecord(name, (scene or f"scene of {name}",), truth, facts=tuple(facts.items()), twin=twin)


def log(rows, questions=None, lineage=None, population=None, **spec):
    """A log of (question, answer) pairs; a status in brackets, such as "[unreadable]", stands for no answer.

    `lineage` is what the data are called, and their base.
    """
    records = records_of([(q, _said(q, answer)) for q, answer in rows])
    if questions is not None:
        records = add_missing_rows(records, {AS_IS: questions - len(records)})
    made = Lineage(*lineage, "root") if lineage else None
    named = tuple(({"model": "toy", "data": "toys"} | spec).items())
    return RunLog(named, records, questions, population=population, lineage=made)


def _said(question, answer, condition=AS_IS):
    if answer is None:
        return None
    if isinstance(answer, tuple):
        answer, condition = answer
    if answer.startswith("["):
        return Prediction(question.question, None, status=answer.strip("[]"), condition=condition)
    return Prediction(question.question, answer, condition=condition)


def study(*logs, data: Path | None = None) -> ReportRuns:
    return arrange_runs([(one, None) for one in logs], data)


def body(name: str, of: ReportRuns) -> Html | None:
    """What a section shows of a study, or None where it is absent."""
    made = SECTIONS.load(name).section(of)
    return made.body if made else None


TEN = [asked(f"q{k}", "yes" if k % 2 else "no", kind="exist" if k < 5 else "count", length=5 + k) for k in range(10)]


def right(first, questions=TEN):
    """Right about the first so many of the questions, wrong about the others."""
    return [(q, str(q.truth) if k < first else "wrong") for k, q in enumerate(questions)]


def write_runs(folder: Path) -> list[Path]:
    """Two models on the toy dataset, base and twin, as `shiftscope run` would leave them."""
    dataset = build_dataset(folder / "data", store_toys.SPEC, {"test": 8}, store_toys.make)
    examples = list(dataset.examples("test"))
    runs = []
    for model, every in (("film", 2), ("nsvqa", 5)):
        for variant in ("base", "hard"):
            rows = []
            for k, e in enumerate(examples):
                twin = e.question.id if variant == "hard" else ""
                about = build_question_record(e.question, [i.scene for i in e.images], twin, (("variant", variant),))
                wrong = k % every == 0 or (variant == "hard" and k % 3 == 0)
                rows += [(about, _toy_reply(e.question, k, wrong, condition)) for condition in CONDITIONS]
            spec = {
                "model": model,
                "data": str(dataset.folder),
                "data_id": data_id(dataset),
                "split": "test",
                "conditions": [AS_IS],
                "seed": 0,
            }
            runs.append(folder / f"{model}_{variant}")
            with RunWriter(runs[-1], spec, len(examples)) as writer:
                writer.add(rows)
                writer.finish()
    return runs


def _toy_reply(question, k, wrong, condition):
    """Wrong answers are mended by the scene in words or by the program, in turn; one is not readable."""
    if k == 7:
        return Prediction(question.id, None, "no <idea>", "unreadable", "nothing to read", condition=condition)
    mended = condition == ("scene_text" if k % 4 else "program_text")
    answer = "brown" if (wrong and not mended) or condition == "blind" else question.answer
    return Prediction(question.id, answer, seconds=0.01, confidence=0.8, condition=condition)
