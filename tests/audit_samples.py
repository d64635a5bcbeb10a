"""Samples of an audit from questions and scenes, without files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from shiftscope.answer import spell
from shiftscope.audit.objects import objects_of, with_objects
from shiftscope.audit.samples import Samples, coded
from shiftscope.question import Question
from shiftscope.scene import Scene


def samples_of(
    questions: Iterable[Question], scenes: Iterable[Scene] | None = None, splits: Sequence[str] | None = None
) -> Samples:
    """All of them must have an answer; without scenes, no objects are known."""
    asked = list(questions)
    samples = Samples(
        source="shiftscope",
        ids=tuple(q.id for q in asked),
        images=coded([q.scenes[0] if q.scenes else None for q in asked]),
        texts=coded([q.text for q in asked]),
        answers=coded([spell(q.answer) for q in asked if q.answer is not None]),
        types=coded([q.kind or None for q in asked]) if any(q.kind for q in asked) else None,
        splits=None if splits is None else coded(splits),
    )
    return samples if scenes is None else with_objects(samples, [objects_of(scenes)])
