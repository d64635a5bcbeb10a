"""The VQA files of an audit as questions to be asked, with the pictures of a folder where one is given."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
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
from ..whole import digest_of, file_digest, read_whole
from .conditions import Item, content_of
from .prompts import check_mode, prompt_text

FOLDERS = {"train": TRAIN, "val": VAL, "test": TEST}
DIGITS = 12  # of an image's number in the names of COCO's files: 000000000042, COCO_val2014_000000000042
THREADS = 4  # that read pictures to tell their content
SUFFIXES = (".jpg", ".jpeg", ".png", ".webp")


class VqaFiles:
    """Training, Val and IID-Test of an audit's folder, under the names train, val and test."""

    def __init__(self, folder: Path, images: Path | None = None) -> None:
        if images is not None and not images.is_dir():
            raise UserError(f"{images}: no such folder of images")
        self.folder, self.images = folder, images
        self._picture_digests: dict[Path, str] = {}  # of the pictures that a run depends on
        self._seen: dict[str, tuple[str, str]] = {}

    @property
    def splits(self) -> tuple[str, ...]:
        """Those that have questions: a given split may lack a val."""
        files = {s: file_of(self.folder, name, QUESTIONS) for s, name in FOLDERS.items()}
        return tuple(s for s, path in files.items() if path.is_file() and path.stat().st_size > len("[]\n"))

    def data_id(self) -> str:
        return content_id([digest for split in self.splits for digest in self._digests(split)])

    def lineage(self) -> None:
        """It is a variant of nothing that is known."""

    def schema(self) -> Schema:
        return OPEN

    def questions(self, split: str) -> Iterator[Question]:
        before = self._digests(split)
        found = vqa.read(self._file(split, QUESTIONS), self._file(split, ANSWERS)).questions
        if self._digests_now(split) != before:
            raise UserError(f"{self.folder}: the audit changes while it is read; run the same command again")
        yield from found

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
        path = self.path(image)
        if path is None:
            return None
        from PIL import Image

        buffer = BytesIO()
        broken = (OSError, SyntaxError, ValueError, Image.DecompressionBombError)
        try:
            data = read_whole(path)
            with Image.open(BytesIO(data)) as opened:
                opened.convert("RGB").save(buffer, "PNG")
        except broken as error:
            raise Unreadable(f"{path}: not an image that can be read ({error})") from None
        if path in self._picture_digests and self._picture_digests[path] != digest_of(data):
            raise UserError(f"{path} changed while it was asked about; run the same command again")
        return buffer.getvalue()

    def path(self, image: str) -> Path | None:
        """The file of an image; None where the folder has it not, or there is no folder."""
        numbered = image.rjust(DIGITS, "0")
        names = (image, numbered, f"COCO {numbered}")
        return next((self._paths[name] for name in names if name in self._paths), None)

    def picture_digests(self, images: Iterable[str]) -> dict[str, str]:
        """The file of each image that there is, with the digest of its content; each is read once."""
        paths = {image: path for image in dict.fromkeys(images) if (path := self.path(image)) is not None}
        new = [path for path in dict.fromkeys(paths.values()) if path not in self._picture_digests]
        with ThreadPoolExecutor(THREADS) as threads:
            self._picture_digests |= dict(zip(new, threads.map(_digest, new), strict=True))
        return {image: f"{path.name} {self._picture_digests[path]}" for image, path in paths.items()}

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

    def _digests(self, split: str) -> tuple[str, str]:
        """Of the questions and the answers, as they were when first looked at."""
        if split not in self._seen:
            self._seen[split] = self._digests_now(split)
        return self._seen[split]

    def _digests_now(self, split: str) -> tuple[str, str]:
        return file_digest(self._file(split, QUESTIONS)), file_digest(self._file(split, ANSWERS))

    def _file(self, split: str, what: str) -> Path:
        if split not in self.splits:
            raise unknown("split", split, self.splits, str(self.folder))
        return file_of(self.folder, FOLDERS[split], what)


class Unreadable(UserError):
    """A picture that is no picture."""


def _digest(path: Path) -> str:
    try:
        return file_digest(path)
    except OSError as error:
        raise UserError(f"{path}: can not be read ({error.strerror})") from None


class VqaPrompts:
    """The questions of one split."""

    def __init__(self, source: VqaFiles, split: str, mode: str, only: frozenset[str] | None = None) -> None:
        self._source, self._mode = source, mode
        self._questions = tuple(q for q in source.questions(split) if only is None or q.id in only)

    def ids(self, limit: int | None = None) -> list[str]:
        return [q.id for q in self._questions[:limit]]

    @property
    def remedy(self) -> str:
        """What to do where pictures are missing."""
        images = self._source.images
        return f"add them to {images}" if images else "name the folder of the pictures with --images"

    def lacking(self, limit: int | None = None) -> dict[str, str]:
        """The questions asked about an image that the folder has not, each with the first such image."""
        found: dict[str, str] = {}
        for question in self._questions[:limit]:
            missing = next((name for name in question.scenes if self._source.path(name) is None), None)
            if missing is not None:
                found[question.id] = missing
        return found

    def pictures(self, limit: int | None = None) -> dict[str, str]:
        """The images that are asked about and there, each with its file and the digest of that."""
        return self._source.picture_digests(name for q in self._questions[:limit] for name in q.scenes)

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
        shown, lacks = ((), "") if blind else self._shown(question)
        text = prompt_text(asked, self._mode, blind=blind, scene="", program="")
        prompt = Prompt(question=asked, text=text, images=shown, condition=condition)
        return Item(question, (), prompt, lacks, content_of(question, question.scenes))

    def _shown(self, question: Question) -> tuple[tuple[bytes, ...], str]:
        """The pictures of a question; none, and why, where one of them can not be shown."""
        found = []
        for name in question.scenes:
            try:
                picture = self._source.picture(name)
            except Unreadable as error:
                return (), str(error)
            if picture is None:
                return (), f"image {name!r} has no picture"
            found.append(picture)
        return tuple(found), ""
