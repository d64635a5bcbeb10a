"""COVR's own files: questions a line each with their programs, the pictures, and the scene graphs.

`SPLIT.jsonl`, `images/SPLIT/ID.png`, `scenes/SPLIT.json`; programs are in the original operations.
"""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from ...errors import UserError
from ...executor import Progress
from ...formats import clevr, gqa
from ...formats.covr import FORM, format_question
from ...schema import Schema
from ..dataset import Dataset
from . import count_records, write_picture

_UNSAFE_CHARACTERS = re.compile(r"[^\w.-]")  # in the name of a file
REPHRASED = "rephrase"  # what the release calls a paraphrase


def write(dataset: Dataset, out: Path, progress: Progress, *, form: str = "") -> None:
    """Write the files of every split; one record is in memory at a time."""
    schema = _find_schema(dataset)
    report_step = count_records(dataset, progress)
    for split in dataset.splits:
        images, questions = dataset.count(split)
        if images:
            (out / "scenes").mkdir(exist_ok=True)
            with (out / "scenes" / f"{split}.json").open("w", encoding="utf-8") as file:
                file.writelines(_iterate_scene_json(dataset, split, out / "images" / split, report_step))
        if questions:
            with (out / f"{split}.jsonl").open("w", encoding="utf-8") as file:
                for question in dataset.questions(split):
                    if question.program is None:
                        raise UserError(f"question {question.id} has no program; COVR's files need one")
                    named = ((REPHRASED if name == "paraphrase" else name, value) for name, value in question.notes)
                    notes = (*(note for note in named if note[0] != FORM), *([(FORM, form)] if form else []))
                    row = format_question(replace(question, notes=notes), schema)
                    file.write(json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n")
                    report_step()


def _find_schema(dataset: Dataset) -> Schema | None:
    """The scenes' schema; of an open one only the names that occur, since programs list those that they accept."""
    schema: Schema | None = None
    names: set[str] = set()
    for image in dataset.images():
        schema = schema or image.scene.schema
        if schema.closed:
            return schema
        names.update(name for thing in image.scene.objects for name in thing.values("name"))
    if schema is None:
        return None
    attributes = []
    for attribute in schema.attributes:
        present = ((kind, tuple(name for name in members if name in names)) for kind, members in attribute.kinds)
        attributes.append(replace(attribute, kinds=tuple((kind, found) for kind, found in present if found)))
    return replace(schema, attributes=tuple(attributes))


def _iterate_scene_json(dataset: Dataset, split: str, folder: Path, report_step: Callable[[], None]) -> Iterator[str]:
    """A file of scenes piece by piece, in GQA's form or in CLEVR's; pictures are written on the way."""
    closed = None
    for image in dataset.images(split):
        if closed is None:
            closed = image.scene.schema.closed
            yield '{"scenes": [\n' if closed else "{\n"
        else:
            yield ",\n"
        write_picture(dataset, split, folder / f"{_UNSAFE_CHARACTERS.sub('_', image.id)}.png", image.png)
        scene = image.scene
        if scene.schema.closed:
            notes = tuple(note for note in scene.notes if note[0] in clevr.STAGING)
            named = replace(scene, notes=(("image_filename", f"{scene.id}.png"), *notes))
            yield json.dumps(clevr.format_scene(named), ensure_ascii=False)
        else:
            yield f"{json.dumps(scene.id)}: {json.dumps(gqa.format_scene(scene), ensure_ascii=False)}"
        report_step()
    yield "\n]}\n" if closed else "\n}\n"
