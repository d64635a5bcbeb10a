"""Any known file: which family it is of is told from its content, never from its name."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from ..errors import UserError
from ..question import Question
from ..scene import Scene
from ..schema import Schema
from . import _json, clevr, coco, covr, gqa, imsitu, visual_genome, vqa, vqa_cp, yolo

SCENE_FAMILIES: tuple[ModuleType, ...] = (clevr, coco, gqa, imsitu)
QUESTION_FAMILIES: tuple[ModuleType, ...] = (clevr, gqa, vqa_cp, vqa)


def read_scenes(path: Path) -> list[Scene]:
    """The scenes of a file or folder of any family."""
    return list(each_scene(path))


def each_scene(path: Path) -> Iterator[Scene]:
    """The same, one at a time where the family allows it."""
    if path.is_dir():
        if any(path.glob("*.json*")):
            return iter(clevr.read_scenes(path))
        if yolo.sniff(path):
            return iter(yolo.read_scenes(path))
        raise UserError(f"{path}: no scene files that ShiftScope knows in this folder")
    data = _json.read_bytes(path)
    if visual_genome.sniff(data):
        return visual_genome.read_scenes(path)
    sample = _json.outline(data, path)
    for family in SCENE_FAMILIES:
        if family.sniff_scenes(sample):
            scenes: Iterator[Scene] = iter(family.read_scenes(path))
            return scenes
    raise UserError(
        f"{path}: no scenes that ShiftScope knows: expected CLEVR, GQA, COCO, imSitu or "
        f"Visual Genome, came {_what(sample)}"
    )


def read_questions(path: Path, schema: Schema | None = None) -> Iterator[Question]:
    """The questions of a file of any family, one at a time; a schema tells what COVR's words are."""
    data = _json.read_bytes(path)
    if covr.sniff(data):
        return covr.read_questions(path, schema)
    sample = _json.outline(data, path)
    for family in QUESTION_FAMILIES:
        if family.sniff_questions(sample):
            questions: Iterator[Question] = family.read_questions(path)
            return questions
    raise UserError(
        f"{path}: no questions that ShiftScope knows: expected CLEVR, GQA, VQA or COVR, came {_what(sample)}"
    )


def _what(sample: Any) -> str:
    if isinstance(sample, dict):
        return (
            f"an object with {', '.join(repr(k) for k in list(sample)[:4])}" if sample else "an empty object"
        )
    if isinstance(sample, list):
        first = sample[0] if sample else None
        if isinstance(first, dict):
            return f"a list of objects with {', '.join(repr(k) for k in list(first)[:4])}"
        return f"a list of {type(first).__name__}" if sample else "an empty list"
    return f"a single {type(sample).__name__}"
