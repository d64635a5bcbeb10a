"""COCO instances: pictures, and for each split the boxes and masks of all objects and of all their parts.

`images/SPLIT/ID.png`, `annotations/instances_SPLIT.json`. Masks are uncompressed run lengths, column by column, as
pycocotools reads them; `area` is how many pixels are visible, and what none is visible of is left out. A part's
annotation names that of its object in `part_of`.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from ... import __version__
from ...english.synonyms import noun_attribute
from ...errors import UserError
from ...executor import Progress
from ..dataset import Dataset, find_schema
from ..image import ImageBox, Mask, StoredImage, decode_mask
from ..shard import open_parquet, read_columns
from . import count_records, name_picture, write_lists, write_picture

QUESTIONS_OPTIONAL = True
OBJECT, PART = "object", "part"
Categories = dict[tuple[str, str], int]  # supercategory and name


def write(dataset: Dataset, out: Path, progress: Progress) -> None:
    """Write the files of every split."""
    noun = noun_attribute(find_schema(dataset).attributes)
    categories = _list_categories(dataset, noun)
    listed = [{"id": i, "name": name, "supercategory": kind} for (kind, name), i in categories.items()]
    head = {"info": {"version": f"ShiftScope {__version__}"}, "licenses": [], "categories": listed}
    report_step = count_records(dataset, progress, questions=False)
    numbers: dict[str, int] = {}
    next_id = 1

    def iterate_images(split: str) -> Iterator[dict[str, Any]]:
        for image in dataset.images(split):
            name = name_picture(image.id)
            write_picture(dataset, split, out / "images" / split / name, image.png)
            numbers[image.id] = len(numbers) + 1
            width, height = image.size
            yield {"id": numbers[image.id], "file_name": name, "width": width, "height": height}
            report_step()

    def iterate_annotations(split: str) -> Iterator[dict[str, Any]]:
        nonlocal next_id
        for image in dataset.images(split):
            for row in _annotate(dataset, image, noun, categories, numbers[image.id], next_id):
                next_id = row["id"] + 1
                yield row

    for split in dataset.splits:
        if dataset.count(split)[0]:
            lists = {"images": iterate_images(split), "annotations": iterate_annotations(split)}
            write_lists(out / "annotations" / f"instances_{split}.json", head, lists)


def _list_categories(dataset: Dataset, noun: str) -> Categories:
    """Every value of the noun and every name of a part, numbered from 1: the same in all splits."""
    schema = find_schema(dataset)
    if not schema.closed:
        raise UserError(f"{dataset.folder}: objects of an open vocabulary have no list of categories")
    parts: set[str] = set()
    for shard in dataset.shards():
        if shard.images:
            path = dataset.folder / shard.images.path
            with open_parquet(path) as file:
                there = "every_part_names" in file.schema_arrow.names
            rows = read_columns(path, ["every_part_names"])["every_part_names"].to_pylist() if there else ()
            parts.update(name for row in rows for own in row or () for name in own)
    names = [(OBJECT, value) for value in schema.attribute(noun).values] + [(PART, name) for name in sorted(parts)]
    return {name: i for i, name in enumerate(names, 1)}


def _annotate(
    dataset: Dataset, image: StoredImage, noun: str, categories: Categories, image_id: int, next_id: int
) -> Iterator[dict[str, Any]]:
    """The annotations of an image, objects each before their parts."""
    if image.mask is None or not image.boxes:
        raise UserError(f"{dataset.folder}: image {image.id!r} has no masks; make the dataset with images")
    mask = decode_mask(image.mask)
    numbers = decode_mask(image.parts.mask) if image.parts else None

    def build(kind: str, name: str, box: ImageBox, pixels: int, shown: Mask) -> dict[str, Any]:
        nonlocal next_id
        next_id += 1
        known = {"id": next_id - 1, "image_id": image_id, "category_id": categories[kind, name], "iscrowd": 0}
        return known | {"bbox": list(box), "area": pixels, "segmentation": encode_coco_mask(shown)}

    for i, thing in enumerate(image.scene.objects):
        if not image.visible[i]:
            continue
        own = mask == i + 1
        row = build(OBJECT, thing.values(noun)[0], image.boxes[i], image.visible[i], own)
        yield row | {"object": i}
        if image.parts is None or numbers is None:
            continue
        for k, name in enumerate(image.parts.names[i]):
            if pixels := image.parts.visible[i][k]:
                shown = own & (numbers == k + 1)
                part = build(PART, name, image.parts.boxes[i][k], pixels, shown)
                yield part | {"object": i, "part_of": row["id"]}


def encode_coco_mask(shown: Mask) -> dict[str, Any]:
    """Lengths of runs down the columns, the first of them outside."""
    flat = shown.ravel(order="F")
    changes = np.flatnonzero(flat[1:] != flat[:-1]) + 1
    counts = np.diff([0, *changes.tolist(), flat.size]).tolist()
    return {"size": list(shown.shape), "counts": [0, *counts] if flat[0] else counts}
