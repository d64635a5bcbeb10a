"""mDETR: each question as a caption of its picture, its phrases tied to boxes by `tokens_positive`.

`images/SPLIT/ID.png` and `annotations/SPLIT.json` are what mDETR's `clevr_img_path` and `clevr_ann_path` point to: an
"image" is a question with its `caption` and `answer`; an annotation a box with the spans of the caption that refer to
it, several where several do. Category 1 is an object, 2 a part.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from ...answer import spell
from ...errors import UserError
from ...executor import Progress
from ...question import Question
from ...scene import Box
from ..dataset import Dataset, has_grounding
from ..image import StoredImage
from . import count_records, name_picture, write_lists, write_picture

OBJECT, PART = 1, 2
CATEGORIES = [
    {"supercategory": "object", "id": OBJECT, "name": "object"},
    {"supercategory": "object", "id": PART, "name": "part"},
]
HEAD: dict[str, Any] = {"info": [], "licenses": [], "categories": CATEGORIES}
Thing = tuple[int, str]  # an object, or with a name a part of it


class PictureBoxes(NamedTuple):
    file: str
    size: tuple[int, int]
    boxes: dict[Thing, Box]  # of what is seen


def write(dataset: Dataset, out: Path, progress: Progress) -> None:
    """Write the files of every split; numbers run on from one to the next."""
    if not has_grounding(dataset):
        raise UserError(f"{dataset.folder}: its questions have no grounding; make it again with this version")
    report_step = count_records(dataset, progress)
    known: dict[str, PictureBoxes] = {}
    next_image, next_box = 0, 0

    def iterate_captions(split: str) -> Iterator[dict[str, Any]]:
        for number, question in enumerate(dataset.questions(split), next_image):
            shown = _find_picture(dataset, question, known)
            answer = {} if question.answer is None else {"answer": spell(question.answer)}
            row = {"id": number, "file_name": shown.file, "width": shown.size[0], "height": shown.size[1]}
            yield row | {"caption": question.text} | answer | {"question_id": question.id}
            report_step()

    def iterate_boxes(split: str) -> Iterator[dict[str, Any]]:
        nonlocal next_image, next_box
        for question in dataset.questions(split):
            for row in _ground_boxes(question, known[question.scenes[0]].boxes):
                yield {"id": next_box, "image_id": next_image} | row
                next_box += 1
            next_image += 1

    for split in dataset.splits:
        known.clear()
        for image in dataset.images(split):
            known[image.id] = _locate_things(dataset, image)
            write_picture(dataset, split, out / "images" / split / known[image.id].file, image.png)
            report_step()
        if dataset.count(split)[1]:
            lists = {"images": iterate_captions(split), "annotations": iterate_boxes(split)}
            write_lists(out / "annotations" / f"{split}.json", HEAD, lists)


def _find_picture(dataset: Dataset, question: Question, known: dict[str, PictureBoxes]) -> PictureBoxes:
    if len(question.scenes) != 1 or question.scenes[0] not in known:
        raise UserError(f"{dataset.folder}: question {question.id} is not about one image of its split")
    return known[question.scenes[0]]


def _locate_things(dataset: Dataset, image: StoredImage) -> PictureBoxes:
    """Where the objects and the parts that the scene lists are seen."""
    objects = image.scene.objects
    if not image.boxes and any(thing.box is None for thing in objects):
        raise UserError(f"{dataset.folder}: image {image.id!r} has no boxes; make the dataset with images")
    things = [(i, name) for i, thing in enumerate(objects) for name in ("", *(part.name for part in thing.parts))]
    boxes = {which: box for which in things if (box := image.find_box(*which))}
    return PictureBoxes(name_picture(image.id), image.size, boxes)


def _ground_boxes(question: Question, boxes: dict[Thing, Box]) -> Iterator[dict[str, Any]]:
    """One annotation for each box that the question refers to, in the order of the text."""
    spans: dict[Thing, list[list[int]]] = {}
    for phrase in question.grounding:
        for which in (*((i, "") for i in phrase.objects), *phrase.parts):
            spans.setdefault(which, []).append([phrase.start, phrase.end])
    for which, tokens in spans.items():
        if box := boxes.get(which):
            left, top, width, height = box
            row = {"bbox": [left, top, width, height], "area": width * height, "iscrowd": 0}
            yield row | {"category_id": PART if which[1] else OBJECT, "tokens_positive": tokens}
