"""Toy data for attacks: scenes of a few objects with noise for pictures, and questions with programs."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from shiftscope import rng
from shiftscope.lang.exec.exact import execute
from shiftscope.lang.text import parse_program
from shiftscope.question import Provenance, Question
from shiftscope.scene import Object, Scene
from shiftscope.schemas.clevr import SCHEMA
from shiftscope.store.build_dataset import build_dataset
from shiftscope.store.dataset import Dataset
from shiftscope.store.image import StoredImage, encode_mask

WIDTH, HEIGHT = 24, 16
MADE_OF = "query_material"
COLORS = SCHEMA.attribute("color").values
SHAPES = SCHEMA.attribute("shape").values
DIRECTIONS = (
    ("left", (-1.0, 0.0, 0.0)),
    ("right", (1.0, 0.0, 0.0)),
    ("front", (0.0, -1.0, 0.0)),
    ("behind", (0.0, 1.0, 0.0)),
)


def toy_dataset(folder: Path, images: int, questions: int, seed: int = 0) -> Dataset:
    """One split `test`, and a `train` of one image, with that many questions an image."""
    spec = {"suite": "toy", "seed": seed, "images": images, "questions": questions}
    build_dataset(folder, spec, {"train": 1, "test": 1}, make)
    return Dataset.open(folder)


def make(spec: Mapping[str, Any], split: str, k: int) -> tuple[list[StoredImage], list[Question]]:
    count = spec["images"] if split == "test" else 1
    shown = [toy_image(f"toy_{split}_{i:06d}", spec["seed"]) for i in range(count)]
    return shown, [q for image in shown for q in toy_questions(image, split, spec["questions"])]


def toy_scene(name: str, seed: int = 0) -> Scene:
    random = rng.derive("toy scene", name, seed)
    objects = tuple(
        Object(
            (
                ("size", ("small", "large")[int(random.integers(2))]),
                ("color", COLORS[int(random.integers(len(COLORS)))]),
                ("material", ("metal", "rubber")[int(random.integers(2))]),
                ("shape", SHAPES[int(random.integers(len(SHAPES)))]),
            ),
            position=(float(i) - 1.5, float(random.uniform(-2, 2)), 0.35),
            rotation=float(random.uniform(0, 360)),
            pixel=(5.0 * i + 2, 8.0, 11.25),
        )
        for i in range(int(random.integers(2, 5)))
    )
    return Scene(objects, directions=DIRECTIONS, schema=SCHEMA, size=(WIDTH, HEIGHT), id=name)


def toy_image(name: str, seed: int = 0) -> StoredImage:
    scene = toy_scene(name, seed)
    mask = np.zeros((HEIGHT, WIDTH), np.uint8)
    for i in range(len(scene.objects)):
        mask[4:12, 5 * i : 5 * i + 4] = i + 1
    count = len(scene.objects)
    boxes = tuple((5 * i, 4, 4, 8) for i in range(count))
    return StoredImage(scene, picture(name, seed), encode_mask(mask), boxes, (32,) * count)


def picture(*path: str | int) -> bytes:
    noise = rng.derive("toy picture", *path).integers(0, 256, (HEIGHT, WIDTH, 3), np.uint8)
    file = io.BytesIO()
    Image.fromarray(noise).save(file, "PNG", compress_level=1)
    return file.getvalue()


def toy_questions(image: StoredImage, split: str, most: int) -> Iterator[Question]:
    """Questions of all kinds that have an answer there."""
    forms = [
        *((f"How many {c} things are there?", f"count(filter(scene(), color={c}))", "count") for c in COLORS),
        *((f"Is there a {s}?", f"exist(filter(scene(), shape={s}))", "exist") for s in SHAPES),
        *(
            (f"What is the {c} thing made of?", f"query(unique(filter(scene(), color={c})), material)", "query")
            for c in COLORS
        ),
    ]
    kept = 0
    for text, program, kind in forms:
        parsed = parse_program(program)
        answer = execute(parsed, image.scene).answer
        if kept == most or not isinstance(answer, bool | int | str):
            continue
        origin = Provenance("clevr", split, "zero_hop.json", 3)
        yield Question(f"{image.id}-{kept}", text, (image.id,), parsed, answer, (), kind, "", origin)
        kept += 1
