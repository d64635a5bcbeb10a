"""Rows of toy runs in a line each: `run("1 red red", "2 red blue")` is question, truth, answer."""

from __future__ import annotations

from typing import Any

from shiftscope.result import Prediction, QuestionRecord, RunRecords, records_of

NO_ANSWER = ("undefined", "unreadable", "failed", "missing")


def row(
    text: str, *, scene: str = "", condition: str = "as_is", twin: str = "", program: str = "", **more: Any
) -> tuple[QuestionRecord, Prediction | None]:
    """A question with its truth and what was said, which may be a status; `more` are facts of the question."""
    question, truth, said = text.split()
    kept = {name: more.pop(name) for name in ("confidence", "reason", "seconds") if name in more}
    wrote = more.pop("wrote", "")
    asked = QuestionRecord(question, (scene or f"scene {question}",), truth, (), tuple(more.items()), twin, program)
    if said == "missing":
        return asked, None
    if said in NO_ANSWER:
        return asked, Prediction(question, status=said, condition=condition, program=wrote, **kept)
    return asked, Prediction(question, said, condition=condition, program=wrote, **kept)


def run(*texts: str, **more: Any) -> RunRecords:
    return records_of(row(text, **more) for text in texts)


def coins(n: int, right: float, per_scene: int = 1) -> RunRecords:
    """n questions of which a share is right, spread evenly; neighbours share a scene, and then its fate."""
    rows = []
    for k in range(n):
        group = k // per_scene
        hit = int((group + 1) * right) > int(group * right)
        rows.append(row(f"{k} yes {'yes' if hit else 'no'}", scene=f"scene {group}"))
    return records_of(rows)
