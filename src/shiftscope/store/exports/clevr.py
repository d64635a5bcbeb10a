"""CLEVR's own layout: a folder of pictures, a scene file and a question file for each split.

`images/SPLIT/ID.png`, `scenes/CLEVR_SPLIT_scenes.json`, `questions/CLEVR_SPLIT_questions.json`.
"""

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from ... import __version__
from ...answer import spell
from ...errors import UserError
from ...executor import Progress
from ...formats.clevr import STAGING, format_question, format_scene
from ...question import Question
from ...scene import Relation, Scene
from ..dataset import Dataset
from . import count_records, write_picture

QUESTIONS_OPTIONAL = True
CountStep = Callable[[], None]
ImageNames = dict[str, tuple[int, str]]  # image id → index, file name without ending


def write(dataset: Dataset, out: Path, progress: Progress) -> None:
    """Write the files of every split; one record is in memory at a time."""
    report_step = count_records(dataset, progress)
    known: ImageNames = {}
    for split in dataset.splits:
        info = {"split": split, "version": f"ShiftScope {__version__}"}
        names: ImageNames = {}
        if dataset.count(split)[0]:
            path = out / "scenes" / f"CLEVR_{split}_scenes.json"
            _write_list(
                path, info, "scenes", _iterate_scenes(dataset, split, out / "images" / split, names, report_step)
            )
            known |= names
        else:  # it asks about the images of splits before it
            names = known
        if dataset.count(split)[1]:
            path = out / "questions" / f"CLEVR_{split}_questions.json"
            _write_list(path, info, "questions", _iterate_questions(dataset, split, names, report_step))


def _iterate_scenes(
    dataset: Dataset, split: str, folder: Path, names: ImageNames, tick: CountStep
) -> Iterable[dict[str, Any]]:
    """Writes each picture on the way, and notes what it is called."""
    folder.mkdir(parents=True)
    for index, image in enumerate(dataset.images(split)):
        stem = re.sub(r"[^\w-]", "_", image.id)
        path = folder / f"{stem}.png"
        write_picture(dataset, split, path, image.png)
        names[image.id] = index, stem
        kept = tuple(note for note in image.scene.notes if note[0] in STAGING)
        notes = (("image_index", index), ("image_filename", path.name), ("split", split), *kept)
        yield format_scene(replace(image.scene, notes=notes, relations=_list_relations(image.scene)))
        tick()


def _list_relations(scene: Scene) -> tuple[Relation, ...]:
    """Official files spell out the relations that geometry gives."""
    given = {r.name for r in scene.relations}
    derived = [(name, scene.relation(name)) for name in scene.schema.relations if name not in given]
    return scene.relations + tuple(Relation(name, rows) for name, rows in derived if rows is not None)


def _iterate_questions(dataset: Dataset, split: str, names: ImageNames, tick: CountStep) -> Iterable[dict[str, Any]]:
    for number, question in enumerate(dataset.questions(split)):
        yield format_question(_to_official(question, split, names, number))
        tick()


def _to_official(question: Question, split: str, names: ImageNames, number: int) -> Question:
    """The question with the fields of a released file, its answer spelled as there: yes, no, 3."""
    if len(question.scenes) != 1 or question.scenes[0] not in names:
        raise UserError(f"question {question.id}: CLEVR files ask about one image of the split; export it with --to hf")
    index, stem = names[question.scenes[0]]
    notes = (
        *(("image_filename", f"{stem}.png"), ("image_index", index)),
        *(("image", stem), ("question_index", number)),
    )
    return replace(
        question,
        notes=notes,
        answer=None if question.answer is None else spell(question.answer),
        provenance=replace(question.provenance, split=split),
    )


def _write_list(path: Path, info: dict[str, Any], key: str, items: Iterable[dict[str, Any]]) -> None:
    """An official file, item by item: a corpus need not fit in memory."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8") as file:
        file.write(f'{{"info": {json.dumps(info)}, "{key}": [')
        for k, item in enumerate(items):
            file.write(("," if k else "") + "\n" + json.dumps(item, ensure_ascii=False, allow_nan=False))
        file.write("\n]}\n")
