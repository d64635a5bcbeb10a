"""CLEVR's own layout: a folder of pictures, a scene file and a question file for each split.

`images/SPLIT/ID.png`, `scenes/CLEVR_SPLIT_scenes.json`, `questions/CLEVR_SPLIT_questions.json`.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from ... import __version__
from ...answer import spell
from ...errors import UserError
from ...executor import Progress
from ...formats.clevr import RADIANS, STAGING, format_question, format_scene, spell_official_answer
from ...scene import Object, Relation
from ..dataset import Dataset, find_schema
from . import count_records, name_picture, write_lists, write_picture

QUESTIONS_OPTIONAL = True
ImageNames = dict[str, tuple[int, str]]  # image id → index, file name without ending


def write(dataset: Dataset, out: Path, progress: Progress) -> None:
    """Write the files of every split; one record is in memory at a time."""
    report_step = count_records(dataset, progress)
    known: ImageNames = {}
    for split in dataset.splits:
        images, questions = dataset.count(split)
        names: ImageNames = {} if images else known  # without images, it asks about those of splits before it
        if images:
            scenes = _iterate_scenes(dataset, split, out / "images" / split, names, report_step)
            _write_list(dataset, out, split, "scenes", scenes)
            known |= names
        if questions:
            _write_list(dataset, out, split, "questions", _iterate_questions(dataset, split, names, report_step))


def _iterate_scenes(
    dataset: Dataset, split: str, folder: Path, names: ImageNames, report_step: Callable[[], None]
) -> Iterable[dict[str, Any]]:
    """Writes each picture on the way, and notes what it is called."""
    folder.mkdir(parents=True)
    for index, image in enumerate(dataset.images(split)):
        scene = image.scene
        path = folder / name_picture(image.id)
        write_picture(dataset, split, path, image.png)
        names[image.id] = index, path.stem
        kept = tuple(note for note in scene.notes if note[0] in (*STAGING, RADIANS))
        notes = (("image_index", index), ("image_filename", path.name), ("split", split), *kept)
        given = {r.name for r in scene.relations}  # official files also spell out the relations that geometry gives
        derived = [(name, scene.relation(name)) for name in scene.schema.relations if name not in given]
        relations = scene.relations + tuple(Relation(name, rows) for name, rows in derived if rows is not None)
        objects = _name_missing_textures(scene.objects)
        yield format_scene(replace(scene, notes=notes, relations=relations, objects=objects))
        report_step()


def _name_missing_textures(objects: tuple[Object, ...]) -> tuple[Object, ...]:
    """Where anything is textured, what is not says so: else the official renderer draws a texture at random."""
    if not any(o.texture or any(part.texture for part in o.parts) for o in objects):
        return objects
    return tuple(
        replace(
            o,
            texture=o.texture or "none",
            parts=tuple(replace(part, texture=part.texture or "none") for part in o.parts),
        )
        for o in objects
    )


def _iterate_questions(
    dataset: Dataset, split: str, names: ImageNames, report_step: Callable[[], None]
) -> Iterable[dict[str, Any]]:
    """The questions with the fields of a released file, their answers spelled as there: yes, no, 3."""
    schema = find_schema(dataset)
    for number, question in enumerate(dataset.questions(split)):
        if len(question.scenes) != 1 or question.scenes[0] not in names:
            raise UserError(
                f"question {question.id}: CLEVR files ask about one image of the split; export it with --to hf"
            )
        index, stem = names[question.scenes[0]]
        answer = None if question.answer is None else spell_official_answer(spell(question.answer), schema)
        place = (("image_filename", f"{stem}.png"), ("image_index", index), ("image", stem), ("question_index", number))
        origin = replace(question.provenance, split=split)
        yield format_question(replace(question, notes=place, answer=answer, provenance=origin))
        report_step()


def _write_list(dataset: Dataset, out: Path, split: str, key: str, items: Iterable[dict[str, Any]]) -> None:
    """An official file."""
    about = dataset.manifest.about
    info = {"split": split, "version": f"ShiftScope {__version__}", "license": about.license}
    info |= {"sources": about.sources} if about.sources else {}
    write_lists(out / key / f"CLEVR_{split}_{key}.json", {"info": info}, {key: items})
