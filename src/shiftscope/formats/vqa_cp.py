"""VQA-CP v2: VQA's questions split anew; bare lists whose rows name the COCO split their image is from.

The rows are VQA's with the field `coco_split` (train2014, val2014), kept as a note of the question, so that
writing them with `vqa` gives back what was read. Its annotations are read as VQA's. Which file is the train
split and which the test, the files do not say: `shiftscope audit --train FILE --test FILE` does.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from ..errors import UserError
from ..json_files import InputFile
from ..question import Question
from . import vqa

SOURCE = "vqa_cp"
REFINES = "vqa"  # whose files these are too
COCO_SPLIT = "coco_split"


def sniff_questions(file: InputFile) -> bool:
    return isinstance(file.outline, list) and vqa.sniff_questions(file) and COCO_SPLIT in file.first_row("")


def read_questions(path: Path) -> Iterator[Question]:
    """The questions of a file, one at a time, without their answers."""
    for question in vqa.read_questions(path):
        if question.note(COCO_SPLIT) is None:
            raise UserError(f"{path}: question {question.id} does not say which COCO split its image is from")
        yield replace(question, provenance=replace(question.provenance, source=SOURCE))
