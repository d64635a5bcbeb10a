"""A file of predictions: CLEVR, GQA or VQA results, or ours; JSON or one JSON object a line."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..answer import read_answer
from ..errors import UserError
from ..formats import _json
from ..question import Question
from ..result import MISSING
from ..whole import digest_of
from ._model import Prompt, Reply, Setting

IDS = ("question_index", "questionId", "question_id", "question", "qid")  # CLEVR, GQA, VQA, ours, COVR
SAID = ("prediction", "answer", "raw")
LOOKS = False  # at no picture
NOTES = ("question_index", "question_id", "questionId", "qid")  # what the data's own file called a question


@dataclass(frozen=True, slots=True)
class Predictions:
    """Replies by the id of their question; a question that the file does not answer has a missing one."""

    replies: Mapping[str, Reply]
    name: str = "the file"
    digest: str = ""  # of the file's content

    def predict(self, batch: Sequence[Prompt]) -> list[Reply]:
        return [self._reply(p.question) for p in batch]

    def _reply(self, question: Question) -> Reply:
        name = self._id(question)
        return Reply(status=MISSING) if name is None else self.replies[name]

    def _id(self, question: Question) -> str | None:
        names = (question.id, *(str(question.note(n)) for n in NOTES))
        return next((name for name in names if name in self.replies), None)

    def identity(self, before: Mapping[str, Any]) -> dict[str, Any]:
        return {"model_id": {Path(self.name).name: self.digest}} if self.digest else {}

    def unknown(self, questions: Iterable[Question]) -> list[str]:
        """The ids in the file that are of none of the questions."""
        known = {self._id(question) for question in questions}
        return [name for name in self.replies if name not in known]


def build(target: str, setting: Setting) -> Predictions:
    path = Path(target)
    if not path.exists() or path.is_dir():
        raise UserError(f"{path}: no such file of predictions")
    data = _json.read_bytes(path)
    replies: dict[str, Reply] = {}
    for at, (name, said) in enumerate(_pairs(data, path)):
        if name in replies:
            raise UserError(f"{path}: question {name} appears twice")
        replies[name] = _reply(said, f"{path}: entry {at}")
    if not replies:
        raise UserError(f"{path}: there are no predictions in it")
    return Predictions(replies, str(path), digest_of(data))


def _reply(said: Any, where: str) -> Reply:
    """Text is read like a model's reply; what is typed already is taken as it is; null is undefined."""
    try:
        answer = read_answer(said)
    except UserError as error:
        raise UserError(f"{where}: {error}") from None
    if answer is None:
        return Reply(status="undefined", reason="null in the file")
    return Reply(raw=answer) if isinstance(answer, str) else Reply(raw=str(said), answer=answer)


def _pairs(data: bytes, path: Path) -> Iterable[tuple[str, Any]]:
    rows: Any = _lines(data, path) or _json.decode(data, path)
    if isinstance(rows, dict) and isinstance(rows.get("predictions"), list):
        rows = rows["predictions"]
    if isinstance(rows, dict) and any(k in rows for k in IDS) and any(k in rows for k in SAID):
        rows = [rows]
    if isinstance(rows, dict):
        yield from _json.entries(data, path)  # which refuses an id that stands twice
        return
    if not isinstance(rows, list):
        raise UserError(f"{path}: expected a list of predictions or an object, came {type(rows).__name__}")
    for at, row in enumerate(rows):
        yield _pair(row, f"{path}: entry {at}")


def _pair(row: Any, where: str) -> tuple[str, Any]:
    name = next((row[k] for k in IDS if k in row), None) if isinstance(row, dict) else None
    key = next((k for k in SAID if k in row), None) if isinstance(row, dict) else None
    if name is None or key is None:
        raise UserError(f"{where} needs an id ({', '.join(IDS)}) and what was said ({', '.join(SAID)})")
    if isinstance(name, bool) or not isinstance(name, str | int):
        raise UserError(f"{where}: an id must be text or a whole number, not {name!r}")
    return str(name), row[key]


def _lines(data: bytes, path: Path) -> list[Any]:
    """The objects of a file with one a line, or nothing; a broken line is named by its number."""
    lines = [(at, line) for at, line in enumerate(data.splitlines(), 1) if line.strip()]
    if len(lines) < 2 or not lines[0][1].lstrip().startswith(b"{"):
        return []
    if not _whole(lines[0][1]) and (
        any(not line.lstrip().startswith(b"{") for _, line in lines) or _whole(data)
    ):
        return []
    return [_json.decode(line, Path(f"{path}, line {at}")) for at, line in lines]


def _whole(data: bytes) -> bool:
    try:
        json.loads(data)
    except (ValueError, RecursionError):
        return False
    return True
