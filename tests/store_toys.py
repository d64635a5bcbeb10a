"""Toy shards for the tests of the store: noise pictures, two or three objects, a few questions."""

from __future__ import annotations

import io
import json
import os
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from shiftscope import rng
from shiftscope.executor import LocalExecutor
from shiftscope.lang.text import parse_program
from shiftscope.question import Provenance, Question
from shiftscope.scene import Object, Scene
from shiftscope.schemas.clevr import SCHEMA
from shiftscope.store.build_dataset import build_dataset
from shiftscope.store.image import StoredImage, encode_mask
from shiftscope.url_path import parse_path

SPEC = {"suite": "toy", "seed": 0, "images_per_shard": 3}
JOBS = {"train": 4, "val": 2, "test": 2}
DIRECTIONS = (("left", (-1.0, 0.0, 0.0)), ("right", (1.0, 0.0, 0.0)))


def picture(*path: str | int, size: tuple[int, int] = (24, 16)) -> bytes:
    noise = rng.derive(*path).integers(0, 256, (size[1], size[0], 3), np.uint8)
    file = io.BytesIO()
    Image.fromarray(noise).save(file, "PNG", compress_level=1)
    return file.getvalue()


def scene(name: str, count: int) -> Scene:
    colors = SCHEMA.attribute("color").values
    objects = tuple(
        Object(
            (("size", "small"), ("color", colors[i]), ("material", "metal"), ("shape", "cube")),
            position=(i - 0.1, 0.5, 0.35),
            rotation=0.0,
            pixel=(8.0 * i, 4.0, 11.25),
        )
        for i in range(count)
    )
    return Scene(objects, directions=DIRECTIONS, schema=SCHEMA, size=(24, 16), id=name, notes=(("world", "toy"),))


def stored(name: str, count: int = 2) -> StoredImage:
    mask = np.zeros((16, 24), np.uint8)
    for i in range(count):
        mask[4 + i : 8, 8 * i : 8 * i + 3] = i + 1
    boxes = tuple((8 * i, 4 + i, 3, 4 - i) for i in range(count))
    return StoredImage(
        scene(name, count), picture(name), encode_mask(mask), boxes, tuple(3 * (4 - i) for i in range(count))
    )


def questions(image: StoredImage, split: str) -> list[Question]:
    count = len(image.scene.objects)
    origin = Provenance("clevr", split, "zero_hop.json", 3)
    how_many = parse_program("count(filter(scene(), shape=cube))")
    any_red = parse_program("exist(filter(scene(), color=red))")
    color = parse_program("query(unique(filter(scene(), color=gray)), color)")
    return [
        Question(f"{image.id}-0", "How many cubes are there?", (image.id,), how_many, count, (), "count", "", origin),
        Question(f"{image.id}-1", "Is anything red?", (image.id,), any_red, True, (), "exist", "", origin),
        Question(f"{image.id}-2", "What color is it?", (image.id,), color, "gray", (), "query_color", "", origin),
    ]


def make(spec: Mapping[str, Any], split: str, k: int) -> tuple[list[StoredImage], list[Question]]:
    size = spec["images_per_shard"]
    images = [stored(f"toy_{split}_{i:06d}", 2 + i % 2) for i in range(k * size, (k + 1) * size)]
    return images, [q for image in images for q in questions(image, split)]


def make_images(spec: Mapping[str, Any], split: str, k: int, places: range) -> list[StoredImage]:
    numbers = [k * spec["images_per_shard"] + i for i in places]
    return [stored(f"toy_{split}_{i:06d}", 2 + i % 2) for i in numbers]


def make_from_images(
    spec: Mapping[str, Any], split: str, k: int, images: list[StoredImage]
) -> tuple[list[StoredImage], list[Question]]:
    return images, [q for image in images for q in questions(image, split)]


def make_or_hang(spec: Mapping[str, Any], split: str, k: int) -> tuple[list[StoredImage], list[Question]]:
    """Stops at the shards that TOYS_HANG names, until the file that TOYS_RELEASE names is there."""
    if f"{split}/{k}" in os.environ["TOYS_HANG"].split():
        while not Path(os.environ["TOYS_RELEASE"]).exists():
            time.sleep(0.01)
    return make(spec, split, k)


def content(folder: Path) -> dict[str, bytes]:
    """Every file of a folder, hidden ones too."""
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def main() -> None:
    """FOLDER WORKERS [JOBS]: build the toy dataset, and hang on the way."""
    folder, workers, *given = sys.argv[1:]
    jobs = json.loads(given[0]) if given else JOBS
    build_dataset(parse_path(folder), SPEC, jobs, make_or_hang, executor=LocalExecutor(int(workers)))


if __name__ == "__main__":
    try:
        main()
    except Exception as error:
        print(f"{type(error).__name__}: {error}")
        sys.exit(2)
