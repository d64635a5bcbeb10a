"""Question sources: a dataset of ours, or the VQA files of an audit with the pictures of a folder."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cached_property
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import Any

from ..errors import UserError, unknown
from ..files import digest_of, file_digest, read_whole
from ..formats import vqa
from ..model import Prompt
from ..picture import Picture
from ..prompt import check_mode, format_prompt
from ..question import Question
from ..records import content_id
from ..registry import SUITES
from ..result import Lineage
from ..scene import Scene
from ..schema import OPEN, Schema
from ..shortcuts import audit_folder
from ..store.dataset import Dataset, data_id, find_schema
from ..store.shard import iterate_row_groups, read_questions
from ..suites import load_suite
from .conditions import DatasetPrompts, EvalExample, Ids, digest_content

FOLDERS = {"train": audit_folder.TRAIN_FOLDER, "val": audit_folder.VAL_FOLDER, "test": audit_folder.TEST_FOLDER}
DIGITS = 12  # of an image's number in the names of COCO's files: 000000000042, COCO_val2014_000000000042
THREADS = 4  # that read pictures
SUFFIXES = (".jpg", ".jpeg", ".png", ".webp")
ANNOTATED = "annotated"  # of a spec: that of the dataset whose questions people validated and reworded


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
        suffix = audit_folder.QUESTIONS_SUFFIX
        files = {split: audit_folder.set_file(self.folder, name, suffix) for split, name in FOLDERS.items()}
        return tuple(split for split, path in files.items() if path.is_file() and path.stat().st_size > len("[]\n"))

    def data_id(self) -> str:
        return content_id([digest for split in self.splits for digest in self._list_digests(split)])

    def lineage(self) -> None:
        """VQA files are a variant of nothing."""

    def schema(self) -> Schema:
        return OPEN

    def questions(self, split: str) -> Iterator[Question]:
        before = self._list_digests(split)
        questions = vqa.read_joined(*self._locate_files(split)).questions
        if self._compute_digests(split) != before:
            raise UserError(f"{self.folder}: the audit changed while it was read; run the same command again")
        yield from questions

    def scenes(self, question: Question) -> Sequence[Scene]:
        return ()

    def prompts(self, split: str, mode: str, joined: bool = False, only: Ids | None = None) -> VqaPrompts:
        """The prompts of a split; `joined` changes none, since VQA files know no actions."""
        check_mode(mode)
        return VqaPrompts(self, split, mode, only)

    def read_picture(self, image: str) -> bytes | None:
        """The image as PNG; None where there is none."""
        path = self.find_picture(image)
        if path is None:
            return None
        from PIL import Image

        buffer = BytesIO()
        try:
            data = read_whole(path)
            with Image.open(BytesIO(data)) as opened:
                opened.convert("RGB").save(buffer, "PNG")
        except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
            raise BrokenImage(f"{path}: cannot be read as an image ({error})") from None
        if path in self._picture_digests and self._picture_digests[path] != digest_of(data):
            raise UserError(f"{path} changed during the run; run the same command again")
        return buffer.getvalue()

    def find_picture(self, image: str) -> Path | None:
        """The file of an image; None where there is none."""
        numbered = image.rjust(DIGITS, "0")
        names = (image, numbered, f"COCO {numbered}")
        return next((self._picture_paths[name] for name in names if name in self._picture_paths), None)

    def digest_pictures(self, images: Iterable[str]) -> dict[str, str]:
        """The file of each image that exists, with the digest of its content; each is read once."""
        paths = {image: path for image in dict.fromkeys(images) if (path := self.find_picture(image)) is not None}
        new = [path for path in dict.fromkeys(paths.values()) if path not in self._picture_digests]
        with ThreadPoolExecutor(THREADS) as threads:
            self._picture_digests |= dict(zip(new, threads.map(_digest_picture, new), strict=True))
        return {image: f"{path.name} {self._picture_digests[path]}" for image, path in paths.items()}

    @cached_property
    def _picture_paths(self) -> dict[str, Path]:
        """The pictures by their names; one of COCO 2014 also under its number, whichever split it is of."""
        found: dict[str, Path] = {}
        for path in sorted(self.images.iterdir()) if self.images else ():
            if path.suffix.lower() in SUFFIXES:
                found.setdefault(path.stem, path)
                if path.stem.startswith("COCO_"):
                    found.setdefault(f"COCO {path.stem.rpartition('_')[2]}", path)
        return found

    def _list_digests(self, split: str) -> tuple[str, str]:
        """Of the questions and the answers, as they were when first read."""
        if split not in self._seen:
            self._seen[split] = self._compute_digests(split)
        return self._seen[split]

    def _compute_digests(self, split: str) -> tuple[str, str]:
        questions, answers = self._locate_files(split)
        return file_digest(questions), file_digest(answers)

    def _locate_files(self, split: str) -> tuple[Path, Path]:
        if split not in self.splits:
            raise unknown("split", split, self.splits, str(self.folder))
        suffixes = (audit_folder.QUESTIONS_SUFFIX, audit_folder.ANSWERS_SUFFIX)
        questions, answers = (audit_folder.set_file(self.folder, FOLDERS[split], suffix) for suffix in suffixes)
        return questions, answers


class BrokenImage(UserError):
    """A file that cannot be read as an image."""


def _digest_picture(path: Path) -> str:
    try:
        return file_digest(path)
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror})") from None


class VqaPrompts:
    """The questions of one split."""

    def __init__(self, source: VqaFiles, split: str, mode: str, only: Ids | None = None) -> None:
        self._source, self._mode = source, mode
        self._questions = tuple(q for q in source.questions(split) if only is None or q.id in only)

    def ids(self, limit: int | None = None) -> list[str]:
        return [q.id for q in self._questions[:limit]]

    @property
    def remedy(self) -> str:
        """What the user can do about missing pictures."""
        images = self._source.images
        return f"add them to {images}" if images else "name the folder of the pictures with --images"

    def missing_pictures(self, limit: int | None = None) -> dict[str, str]:
        """The questions about an image that the folder does not have, each with the first such image."""
        find = self._source.find_picture
        missing = {q.id: [name for name in q.scenes if find(name) is None] for q in self._questions[:limit]}
        return {question: names[0] for question, names in missing.items() if names}

    def pictures(self, limit: int | None = None) -> dict[str, str]:
        """The images of the questions that exist, each with its file and digest."""
        return self._source.digest_pictures(name for q in self._questions[:limit] for name in q.scenes)

    def iter_examples(self, condition: str, limit: int | None = None, done: Ids = frozenset()) -> Iterator[EvalExample]:
        if condition not in ("as_is", "blind"):
            raise UserError(f"condition {condition!r} needs scenes, which VQA files do not have; use as_is or blind")
        blind = condition == "blind"
        for question in (q for q in islice(self._questions, limit) if q.id not in done):
            unanswered = replace(question, answer=None, answers=(), grounding=())
            shown, lacks = ((), "") if blind else self._read_pictures(question)
            text = format_prompt(unanswered, self._mode, blind=blind, scene="", program="")
            prompt = Prompt(question=unanswered, text=text, pictures=shown, condition=condition)
            yield EvalExample(question, (), prompt, lacks, digest_content(question, question.scenes))

    def _read_pictures(self, question: Question) -> tuple[tuple[Picture, ...], str]:
        """The pictures of a question; none, and why, where one of them cannot be shown."""
        pictures = []
        for name in question.scenes:
            try:
                png = self._source.read_picture(name)
            except BrokenImage as error:
                return (), str(error)
            if png is None:
                return (), f"image {name!r} has no picture"
            pictures.append(Picture(png, name=name))
        return tuple(pictures), ""


class DatasetSource:
    """A dataset of ours."""

    def __init__(self, dataset: Dataset) -> None:
        self.dataset = dataset
        self._scenes: dict[str, Scene] = {}

    @property
    def splits(self) -> tuple[str, ...]:
        return self.dataset.splits

    def data_id(self) -> str:
        return data_id(self.dataset)

    def lineage(self) -> Lineage:
        return find_lineage(self.dataset)

    def schema(self) -> Schema:
        return find_schema(self.dataset)

    def questions(self, split: str) -> Iterator[Question]:
        for shard in self.dataset.shards(split):
            if shard.questions:
                self.dataset.check_file(shard.questions)
                yield from read_questions(self.dataset.folder / shard.questions.path)

    def scenes(self, question: Question) -> Sequence[Scene]:
        if not self._scenes:
            files = [shard.images for shard in self.dataset.shards() if shard.images]
            for file in files:
                self.dataset.check_file(file)
            for table in (t for f in files for t in iterate_row_groups(self.dataset.folder / f.path, ["scene"])):
                for text in table["scene"].to_pylist():
                    scene = Scene.from_json(json.loads(text))
                    self._scenes[scene.id] = scene
        return [self._scenes[name] for name in question.scenes]

    def prompts(self, split: str, mode: str, joined: bool = False, only: Ids | None = None) -> DatasetPrompts:
        return DatasetPrompts(self.dataset, split, mode, joined, only)


SplitPrompts = DatasetPrompts | VqaPrompts  # the questions of one split, as a model is asked them
QuestionSource = DatasetSource | VqaFiles  # what can be asked and learned from


def open_source(folder: Path, images: Path | None = None) -> QuestionSource:
    """The dataset or audit in a folder; `images` is the folder of an audit's pictures."""
    if (folder / audit_folder.DATASET_MANIFEST).exists() or not audit_folder.has_audit_traces(folder):
        if images is not None:
            raise UserError(f"{folder} is not an audit: a dataset holds its images; omit --images")
        return DatasetSource(Dataset.open(folder))
    audit_folder.check_audit(folder)
    return VqaFiles(folder, images)


def find_lineage(dataset: Dataset) -> Lineage:
    """What a dataset is a variant of, by the `base_spec` of its suite, or as what people made of another."""
    chain = [dict(dataset.manifest.spec)]
    while (base := _find_base_spec(chain[-1])) != chain[-1]:
        chain.append(base)
    ids = [content_id(spec) for spec in chain]
    return Lineage(ids[0], ids[min(1, len(ids) - 1)], ids[-1])


def _find_base_spec(spec: dict[str, Any]) -> dict[str, Any]:
    if ANNOTATED in spec:
        return dict(spec[ANNOTATED])
    name = str(spec.get("suite", ""))
    return load_suite(name).base_spec(spec) if name in SUITES.names() else spec
