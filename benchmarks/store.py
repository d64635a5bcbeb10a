"""Speed of the store: shards written, read and verified, with pictures of CLEVR's size given as PNG bytes."""

from __future__ import annotations

import io
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from PIL import Image

from shiftscope import rng
from shiftscope.lang.text import parse_program
from shiftscope.question import Provenance, Question
from shiftscope.scene import Object, Scene
from shiftscope.schemas.clevr import SCHEMA
from shiftscope.store.image import Mask, StoredImage, decode_mask, encode_mask
from shiftscope.store.shard import read_images, read_questions, write_shard

SIZE = (480, 320)
IMAGES = 200
QUESTIONS = 10  # an image
OBJECTS = 6


def main() -> None:
    pictures = [_picture(k) for k in range(IMAGES)]
    images = [_image(k, *picture) for k, picture in enumerate(pictures)]
    questions = [_question(image, n) for image in images for n in range(QUESTIONS)]
    masks = [mask for _, mask in pictures]
    runs = [encode_mask(mask) for mask in masks]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shard = write_shard(folder, "warm", 0, images[:8], questions[:8])
        seconds = _seconds(lambda: write_shard(folder, "all", 0, images, questions))
        shard = write_shard(folder, "all", 0, images, questions)
        assert shard.images and shard.questions
        files = folder / shard.images.path, folder / shard.questions.path
        png = sum(len(i.png) for i in images) / IMAGES
        print(f"write a shard with {QUESTIONS} questions per image: {IMAGES / seconds:,.0f} images/s")
        only = _seconds(lambda: write_shard(folder, "images", 0, images, []))
        print(f"write a shard of images alone: {IMAGES / only:,.0f} images/s")
        print(f"read the images back: {IMAGES / _seconds(lambda: list(read_images(files[0]))):,.0f} images/s")
        asked = len(questions) / _seconds(lambda: list(read_questions(files[1])))
        print(f"read the questions back: {asked:,.0f} questions/s")
        verified = _seconds(lambda: [f.is_whole(folder) for f in shard.files])
        print(f"verify: {sum(f.bytes for f in shard.files) / verified / 1e6:,.0f} MB/s")
        print(f"bytes per image: {png:,.0f} of PNG, {shard.images.bytes / IMAGES - png:,.0f} of all else")
        print(f"bytes per question: {shard.questions.bytes / len(questions):,.0f}")
    print(f"encode a mask: {len(masks) / _seconds(lambda: [encode_mask(m) for m in masks]):,.0f}/s")
    print(f"decode a mask: {len(runs) / _seconds(lambda: [decode_mask(r) for r in runs]):,.0f}/s")


def _seconds(work: Callable[[], object]) -> float:
    """The quicker of three."""
    times = []
    for _ in range(3):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def _picture(k: int) -> tuple[bytes, Mask]:
    """Discs on a ground with a little noise: about as hard to compress as a rendered scene."""
    random = rng.derive("benchmark", "store", k)
    y, x = np.mgrid[: SIZE[1], : SIZE[0]]
    mask = np.zeros(x.shape, np.uint8)
    for i in range(OBJECTS):
        cx, cy, r = random.integers(40, 440), random.integers(40, 280), random.integers(15, 60)
        mask[(x - cx) ** 2 + (y - cy) ** 2 < r * r] = i + 1
    colors = random.integers(40, 216, (OBJECTS + 1, 3))
    shade = 20 * np.sin(x / 50 + y / 70)[..., None] + random.integers(-3, 4, (*x.shape, 1))
    file = io.BytesIO()
    Image.fromarray(np.clip(colors[mask] + shade, 0, 255).astype(np.uint8)).save(file, "PNG", compress_level=1)
    return file.getvalue(), mask


def _image(k: int, png: bytes, mask: Mask) -> StoredImage:
    random = rng.derive("benchmark", "store", "scene", k)
    things = []
    for _ in range(OBJECTS):
        x, y, depth = (float(v) for v in random.uniform(-3, 3, 3))
        pairs = tuple((a.name, a.values[random.integers(len(a.values))]) for a in SCHEMA.attributes)
        things.append(Object(pairs, position=(x, y, 0.35), rotation=x * 100, pixel=(x * 70, y * 50, depth)))
    directions = tuple((n, (0.6, 0.8, 0.0)) for n in SCHEMA.relations)
    scene = Scene(tuple(things), directions=directions, schema=SCHEMA, size=SIZE, id=f"benchmark_{k:06d}")
    counts = np.bincount(mask.ravel(), minlength=OBJECTS + 1)[1:]
    boxes = tuple((k, k, k + i, k + i) for i in range(OBJECTS))
    return StoredImage(scene, png, encode_mask(mask), boxes, tuple(map(int, counts)))


def _question(image: StoredImage, n: int) -> Question:
    random = rng.derive("benchmark", "store", image.id, n)
    size, color, material, shape = (a.values[random.integers(len(a.values))] for a in SCHEMA.attributes)
    side = SCHEMA.relations[random.integers(4)]
    one = f"unique(filter(scene(), color={color}, size={size}))"
    program = parse_program(f"count(filter(relate({one}, {side}), shape={shape}, material={material}))")
    text = f"How many {material} {shape}s are on the {side} side of the {size} {color} thing?"
    origin = Provenance("clevr", "train", "one_hop.json", n)
    return Question(f"{image.id}-{n}", text, (image.id,), program, n % 4, kind="count", provenance=origin)


if __name__ == "__main__":
    main()
