"""COVR's own files: questions a line each with their programs, the pictures, and the scene graphs.

`SPLIT.jsonl`, `images/SPLIT/ID.png`, `scenes/SPLIT.json`; programs are in the original operations.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from ...errors import UserError
from ...formats import clevr, gqa
from ...formats.covr import FORM, question_to
from ...question import Question
from ...scene import Scene
from ..dataset import Dataset

_UNFIT = re.compile(r"[^\w.-]")  # in the name of a file
REPHRASED = "rephrase"  # what the release calls a paraphrase


def write(dataset: Dataset, out: Path, progress: Callable[[int, int, str], None], *, form: str = "") -> None:
    """Write the files of every split; one record is in memory at a time."""
    first = next(dataset.images(), None)
    schema = first.scene.schema if first else None
    total = sum(sum(dataset.count(split)) for split in dataset.splits)
    done = 0

    def tick() -> None:
        nonlocal done
        done += 1
        if done % 100 == 0 or done == total:
            progress(done, total, "images and questions")

    for split in dataset.splits:
        images, questions = dataset.count(split)
        if images:
            (out / "scenes").mkdir(exist_ok=True)
            with (out / "scenes" / f"{split}.json").open("w", encoding="utf-8") as file:
                file.writelines(_scenes(dataset, split, out / "images" / split, tick))
        if questions:
            with (out / f"{split}.jsonl").open("w", encoding="utf-8") as file:
                for question in dataset.questions(split):
                    row = question_to(official(question, form), schema)
                    file.write(json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n")
                    tick()


def official(question: Question, form: str = "") -> Question:
    """The question with the release's names for its fields."""
    if question.program is None:
        raise UserError(f"question {question.id} has no program; COVR's files need one")
    notes: list[tuple[str, Any]] = [
        (REPHRASED if name == "paraphrase" else name, value) for name, value in question.notes if name != FORM
    ]
    return replace(question, notes=(*notes, *(((FORM, form),) if form else ())))


def _scenes(dataset: Dataset, split: str, folder: Path, tick: Callable[[], None]) -> Iterator[str]:
    """A file of scenes piece by piece, in GQA's form or in CLEVR's; pictures are written on the way."""
    closed = None
    for image in dataset.images(split):
        if closed is None:
            closed = image.scene.schema.closed
            yield '{"scenes": [\n' if closed else "{\n"
        else:
            yield ",\n"
        if image.png:
            folder.mkdir(parents=True, exist_ok=True)
            path = folder / f"{_UNFIT.sub('_', image.id)}.png"
            if path.exists():
                raise UserError(f"{dataset.folder}: two images of {split} would both be called {path.name}")
            path.write_bytes(image.png)
        yield _scene(image.scene)
        tick()
    yield "\n]}\n" if closed else "\n}\n"


def _scene(scene: Scene) -> str:
    if not scene.schema.closed:
        return f"{json.dumps(scene.id)}: {json.dumps(gqa.scene_to(scene), ensure_ascii=False)}"
    notes = tuple(note for note in scene.notes if note[0] in clevr.STAGING)
    named = replace(scene, notes=(("image_filename", f"{scene.id}.png"), *notes))
    return json.dumps(clevr.scene_to(named), ensure_ascii=False)
