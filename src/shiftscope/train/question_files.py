"""Questions to train on without any picture: the sets of an audit, or VQA files of questions and of annotations."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from ..errors import UserError
from ..files import file_digest
from ..formats import vqa
from ..json_files import InputFile
from ..question import Question
from ..scene import Scene
from ..schema import OPEN, Schema
from ..shortcuts import audit_folder

TRAIN, VAL = "train", "val"
FOLDERS = {TRAIN: audit_folder.TRAIN_FOLDER, VAL: audit_folder.VAL_FOLDER}
WORDS_ONLY = "no pictures: the language side only"  # as a training on such files calls itself


@dataclass(frozen=True, slots=True)
class QuestionFilesData:
    """Questions with their answers, by split the file of each; models see no image of them."""

    size: ClassVar[tuple[int, int]] = (0, 0)
    name: str
    files: tuple[tuple[str, Path, Path], ...]  # split, questions, annotations

    @property
    def variant(self) -> str:
        return f"{self.name} ({WORDS_ONLY})"

    @property
    def schema(self) -> Schema:
        return OPEN

    def to_json(self) -> dict[str, Any]:
        return {split: [file_digest(questions), file_digest(answers)] for split, questions, answers in self.files}

    def count(self, split: str) -> int:
        """Images that are asked about."""
        return len(self.read(split)[0])

    def read(self, split: str) -> tuple[list[Scene], list[Question]]:
        """The questions of a split that have an answer, and for each image an empty scene of its name."""
        paths = next((questions, answers) for name, questions, answers in self.files if name == split)
        questions = [q for q in vqa.read_joined(*paths).questions if q.answer is not None]
        names = dict.fromkeys(name for q in questions for name in q.scenes)
        return [Scene(objects=(), id=name) for name in names], questions


def open_audit_questions(folder: Path) -> QuestionFilesData:
    """Training and Val of an audit."""
    audit_folder.check_audit(folder)
    suffixes = (audit_folder.QUESTIONS_SUFFIX, audit_folder.ANSWERS_SUFFIX)
    files = []
    for split, name in FOLDERS.items():
        questions, answers = (audit_folder.set_file(folder, name, suffix) for suffix in suffixes)
        if not questions.is_file():
            raise UserError(f"{folder}: the audit has no {name}, and training needs {TRAIN} and {VAL}")
        files.append((split, questions, answers))
    return QuestionFilesData(folder.resolve().name, tuple(files))


def open_question_files(text: str) -> QuestionFilesData:
    """Files between commas: the questions to learn from and those to choose by, and the annotations of each."""
    paths = [Path(name) for name in text.split(",")]
    for path in paths:
        if not path.is_file():
            raise UserError(f"{path}: no such file")
    annotations = [path for path in paths if vqa.sniff_annotations(InputFile(path))]
    questions = [path for path in paths if path not in annotations and vqa.sniff_questions(InputFile(path))]
    if not len(questions) == len(annotations) == 2 or len(paths) != 4:
        raise UserError(
            f"--data {text}: expected two files of questions (to learn from, to choose by) and two of "
            f"annotations in the same order, got {len(questions)} and {len(annotations)} of {len(paths)}"
        )
    rows = zip((TRAIN, VAL), questions, annotations, strict=True)
    return QuestionFilesData(questions[0].stem, tuple(rows))
