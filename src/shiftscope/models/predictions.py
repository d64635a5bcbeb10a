"""A file of predictions: CLEVR, GQA or VQA results, or ours; JSON or one JSON object a line."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .. import json_files as _json
from ..answer import read_answer
from ..errors import UserError
from ..files import digest_of, file_digest, read_bytes
from ..model import ModelSetting, ModelTraits, Prompt, Response
from ..question import Question
from ..result import MISSING
from ..url_path import parse_path

ID_KEYS = ("question_index", "questionId", "question_id", "question", "qid")  # CLEVR, GQA, VQA, ours, COVR
ANSWER_KEYS = ("prediction", "answer", "raw")
TRAITS = ModelTraits(target="predictions:FILE", reads=frozenset(), stored=True, answers_blind=False)
NOTES = ("question_index", "question_id", "questionId", "qid")  # what the data's own file called a question


@dataclass(frozen=True, slots=True)
class PredictionsFile:
    """Responses by the id of their question; a question that the file does not answer has a missing one."""

    responses: Mapping[str, Response]
    name: str = "the file"
    digest: str = ""  # of the file's content

    def predict(self, batch: Sequence[Prompt]) -> list[Response]:
        return [self.responses.get(self._find_id(p.question) or "", Response(status=MISSING)) for p in batch]

    def _find_id(self, question: Question) -> str | None:
        names = (question.id, *(str(question.note(n)) for n in NOTES))
        return next((name for name in names if name in self.responses), None)

    def identity(self, before: Mapping[str, Any]) -> dict[str, Any]:
        return {"model_id": {Path(self.name).name: self.digest}} if self.digest else {}

    def check_questions(
        self, questions: Sequence[Question], asked: frozenset[str], where: str, warn: Callable[[str], None]
    ) -> None:
        """Refuse a file that answers none of the questions asked; warn of answers to no question of the split."""
        if len(self.list_unknown_ids([q for q in questions if q.id in asked])) == len(self.responses):
            raise UserError(f"{self.name} answers none of the {len(asked)} questions of {where}")
        if strange := self.list_unknown_ids(questions):
            warn(
                f"{len(strange)} of the {len(self.responses)} ids in {self.name} belong to no question of {where}, "
                f"{strange[0]!r} for one"
            )

    def list_unknown_ids(self, questions: Iterable[Question]) -> list[str]:
        """The ids in the file that are of none of the questions."""
        known = {self._find_id(question) for question in questions}
        return [name for name in self.responses if name not in known]


def build(target: str, setting: ModelSetting) -> PredictionsFile:
    path = parse_path(target)
    if not path.exists() or path.is_dir():
        raise UserError(f"{path}: no such file of predictions")
    data = read_bytes(path)
    responses: dict[str, Response] = {}
    for at, (name, given) in enumerate(_read_pairs(data, path)):
        if name in responses:
            raise UserError(f"{path}: question {name} appears twice")
        try:
            answer = read_answer(given)
        except UserError as error:
            raise UserError(f"{path}: entry {at}: {error}") from None
        if answer is None:
            responses[name] = Response(status="undefined", reason="null in the file")
        else:  # text is parsed like a model's response; a typed answer is taken as it is
            responses[name] = Response(raw=str(given), answer=None if isinstance(answer, str) else answer)
    if not responses:
        raise UserError(f"{path}: there are no predictions in it")
    return PredictionsFile(responses, str(path), digest_of(data))


def digest_target(target: str) -> str:
    return file_digest(parse_path(target))


def _read_pairs(data: bytes, path: Path) -> Iterable[tuple[str, Any]]:
    rows: Any = _read_lines(data, path) or _json.decode_json(data, path)
    if isinstance(rows, dict) and isinstance(rows.get("predictions"), list):
        rows = rows["predictions"]
    if isinstance(rows, dict) and any(k in rows for k in ID_KEYS) and any(k in rows for k in ANSWER_KEYS):
        rows = [rows]
    if isinstance(rows, dict):
        yield from _json.iterate_entries(data, path)  # which refuses an id that stands twice
        return
    if not isinstance(rows, list):
        raise UserError(f"{path}: expected a list of predictions or an object, got {type(rows).__name__}")
    for at, row in enumerate(rows):
        where = f"{path}: entry {at}"
        name = next((row[k] for k in ID_KEYS if k in row), None) if isinstance(row, dict) else None
        key = next((k for k in ANSWER_KEYS if k in row), None) if isinstance(row, dict) else None
        if name is None or key is None:
            raise UserError(f"{where} needs an id ({', '.join(ID_KEYS)}) and a prediction ({', '.join(ANSWER_KEYS)})")
        if isinstance(name, bool) or not isinstance(name, str | int):
            raise UserError(f"{where}: an id must be text or a whole number, not {name!r}")
        yield str(name), row[key]


def _read_lines(data: bytes, path: Path) -> list[Any]:
    """The objects of a file with one a line, or nothing; a broken line is named by its number."""
    lines = [(at, line) for at, line in enumerate(data.splitlines(), 1) if line.strip()]
    if len(lines) < 2 or not lines[0][1].lstrip().startswith(b"{"):
        return []
    if not _is_whole_json(lines[0][1]) and (
        any(not line.lstrip().startswith(b"{") for _, line in lines) or _is_whole_json(data)
    ):
        return []
    return [_json.decode_json(line, Path(f"{path}, line {at}")) for at, line in lines]


def _is_whole_json(data: bytes) -> bool:
    try:
        json.loads(data)
    except (ValueError, RecursionError):
        return False
    return True
