"""The VQA files of an audit as questions to be asked, with the pictures of a folder where one is given."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from io import BytesIO
from itertools import islice
from pathlib import Path

from ..audit.layout import ANSWERS, QUESTIONS, TEST, TRAIN, VAL, file_of
from ..canonical import content_id
from ..errors import UserError, unknown
from ..formats import vqa
from ..models._model import Prompt
from ..question import Question
from ..scene import Scene
from ..schema import OPEN, Schema
from ..whole import file_digest
from .conditions import Item
from .prompts import check_mode, prompt_text

FOLDERS = {"train": TRAIN, "val": VAL, "test": TEST}
DIGITS = 12  # of an image's number in the names of COCO's files: 000000000042, COCO_val2014_000000000042
SUFFIXES = (".jpg", ".jpeg", ".png", ".webp")


class VqaFiles:
    """Training, Val and IID-Test of an audit's folder, under the names train, val and test."""

    def __init__(self, folder: Path, images: Path | None = None) -> None:
        if images is not None and not images.is_dir():
            raise UserError(f"{images}: no such folder of images")
        self.folder, self.images = folder, images

    @property
    def splits(self) -> tuple[str, ...]:
        """Those that have questions: a given split may lack a val."""
        files = {s: file_of(self.folder, name, QUESTIONS) for s, name in FOLDERS.items()}
        return tuple(s for s, path in files.items() if path.is_file() and path.stat().st_size > len("[]\n"))

    def data_id(self) -> str:
        files = [self._file(split, what) for split in self.splits for what in (QUESTIONS, ANSWERS)]
        return content_id([file_digest(path) for path in files])

    def schema(self) -> Schema:
        return OPEN

    def questions(self, split: str) -> Iterator[Question]:
        yield from vqa.read(self._file(split, QUESTIONS), self._file(split, ANSWERS)).questions

    def scenes(self, question: Question) -> Sequence[Scene]:
        return ()

    def prompts(
        self, split: str, mode: str, joined: bool = False, only: frozenset[str] | None = None
    ) -> VqaPrompts:
        """The prompts of a split; `joined` changes none, since VQA files know no actions."""
        check_mode(mode)
        return VqaPrompts(self, split, mode, only)

    def picture(self, image: str) -> bytes | None:
        """The image as PNG; None where the folder has it not, or there is no folder."""
        if self.images is None:
            return None
        numbered = image.rjust(DIGITS, "0")
        names = (image, numbered, f"COCO {numbered}")
        path = next((self._paths[name] for name in names if name in self._paths), None)
        if path is None:
            return None
        from PIL import Image, UnidentifiedImageError

        buffer = BytesIO()
        try:
            with Image.open(path) as opened:
                opened.convert("RGB").save(buffer, "PNG")
        except (OSError, UnidentifiedImageError) as error:
            raise UserError(f"{path}: not an image that can be read ({error})") from None
        return buffer.getvalue()

    @cached_property
    def _paths(self) -> dict[str, Path]:
        """The pictures by their names; one of COCO 2014 also under its number, whichever split it is of."""
        found: dict[str, Path] = {}
        for path in sorted(self.images.iterdir()) if self.images else ():
            if path.suffix.lower() in SUFFIXES:
                found.setdefault(path.stem, path)
                if path.stem.startswith("COCO_"):
                    found.setdefault(f"COCO {path.stem.rpartition('_')[2]}", path)
        return found

    def _file(self, split: str, what: str) -> Path:
        if split not in self.splits:
            raise unknown("split", split, self.splits, str(self.folder))
        return file_of(self.folder, FOLDERS[split], what)


class VqaPrompts:
    """The questions of one split."""

    def __init__(self, source: VqaFiles, split: str, mode: str, only: frozenset[str] | None = None) -> None:
        self._source, self._mode = source, mode
        self._questions = tuple(q for q in source.questions(split) if only is None or q.id in only)

    def ids(self, limit: int | None = None) -> list[str]:
        return [q.id for q in self._questions[:limit]]

    def items(
        self, condition: str, limit: int | None = None, done: frozenset[str] = frozenset()
    ) -> Iterator[Item]:
        if condition not in ("as_is", "blind"):
            raise UserError(
                f"condition {condition!r} needs scenes, which VQA files have not; use as_is or blind"
            )
        for question in islice(self._questions, limit):
            if question.id not in done:
                yield self._item(question, condition)

    def _item(self, question: Question, condition: str) -> Item:
        asked = replace(question, answer=None, answers=())
        blind = condition == "blind"
        shown = () if blind else tuple(p for name in question.scenes if (p := self._source.picture(name)))
        text = prompt_text(asked, self._mode, blind=blind, scene="", program="")
        return Item(question, (), Prompt(question=asked, text=text, images=shown, condition=condition))
