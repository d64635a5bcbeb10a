"""VQA-CP v2: VQA's questions split anew; bare lists whose rows name the COCO split their image is from.

The rows are VQA's with the field `coco_split` (train2014, val2014), kept as a note of the question, so that
writing them with `vqa` gives back what was read. Its annotations are read as VQA's. Which file is the train
split and which the test, the files do not say: `shiftscope audit --train FILE --test FILE` does.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..errors import UserError
from ..question import Question
from . import vqa

SOURCE = "vqa_cp"
SPLIT = "coco_split"


def sniff_questions(data: Any) -> bool:
    """Whether this JSON value holds VQA-CP questions."""
    return isinstance(data, list) and vqa.sniff_questions(data) and SPLIT in data[0]


def read_questions(path: Path) -> Iterator[Question]:
    """The questions of a file, one at a time, without their answers."""
    for question in vqa.read_questions(path):
        if question.note(SPLIT) is None:
            raise UserError(f"{path}: question {question.id} does not say which COCO split its image is from")
        yield replace(question, provenance=replace(question.provenance, source=SOURCE))
