"""Samples of an audit from questions and scenes, without files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from shiftscope.answer import spell
from shiftscope.question import Question
from shiftscope.question_table import QuestionTable, add_objects, collect_objects, encode_column
from shiftscope.scene import Scene


def samples_of(
    questions: Iterable[Question], scenes: Iterable[Scene] | None = None, splits: Sequence[str] | None = None
) -> QuestionTable:
    """All of them must have an answer; without scenes, no objects are known."""
    asked = list(questions)
    samples = QuestionTable(
        source="shiftscope",
        ids=tuple(q.id for q in asked),
        images=encode_column([q.scenes[0] if q.scenes else None for q in asked]),
        texts=encode_column([q.text for q in asked]),
        answers=encode_column([spell(q.answer) for q in asked if q.answer is not None]),
        types=encode_column([q.kind or None for q in asked]) if any(q.kind for q in asked) else None,
        splits=None if splits is None else encode_column(splits),
    )
    return samples if scenes is None else add_objects(samples, [collect_objects(scenes)])
