"""A toy dataset about several images at once, shaped like COVR: three templates, one to five images a question."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import store_toys
from shiftscope.lang.exec.exact import execute
from shiftscope.lang.text import parse_program
from shiftscope.question import Provenance, Question
from shiftscope.store.build_dataset import build_dataset
from shiftscope.store.dataset import Dataset
from toy import scene, thing

SPEC = {"suite": "several", "seed": 0}
PER_SHARD = 8
COLORS = ("red", "blue", "green")
TEMPLATES = (  # template, kind, words, program; {} is a colour
    ("count", "how many", "How many {} cubes are there?", "count(filter(filter(scene(), color={}), shape=cube))"),
    (
        "count_group_by",
        "how many",
        "How many images have a {} cube?",
        "count(images(filter(filter(scene(), color={}), shape=cube)))",
    ),
    (
        "choose_attr",
        "or",
        "Is the large cube {} or gray?",
        "choose(unique(filter(filter(scene(), size=large), shape=cube)), color, {}, gray)",
    ),
    (
        "verify_quant",
        "true/false",
        "Are all cubes {}?",
        "all(filter(scene(), shape=cube), verify(it(), color={}))",
    ),
)  # fmt: skip


def make(spec, split, k):
    """Cubes of one colour in each image, one of them large in the first."""
    images = []
    for i in range(PER_SHARD):
        color = COLORS[(i + k) % 3] if i else "gray" if k % 2 else COLORS[k % 3]
        cubes = [thing(f"{'large' if i == 0 else 'small'} {color} metal cube")]
        cubes += [thing(f"small {color} rubber cube", 1 + n) for n in range(i % 3)]
        picture = store_toys.picture("several", split, k, i, size=(60, 40))
        images.append(replace(store_toys.stored("x", 0), scene=scene(*cubes, name=f"{split}_{k}_{i}"), png=picture, mask=None))  # fmt: skip
    questions = []
    for n, (template, kind, words, program) in enumerate(TEMPLATES):
        for c, color in enumerate(COLORS):
            shown = [images[0], *images[1 + (n + c) % 3 : 1 + (n + c) % 3 + (n + c + k) % 5]]
            meant = parse_program(program.format(*[color] * program.count("{}")))
            answer = execute(meant, [image.scene for image in shown]).answer
            if not isinstance(answer, bool | int | str):
                continue
            questions.append(
                Question(
                    f"{split}-{k}-{template}-{color}",
                    words.format(color),
                    tuple(image.id for image in shown),
                    meant,
                    answer,
                    (),
                    kind,
                    "",
                    Provenance("covr", split, template),
                )
            )
    return images, questions


def dataset(folder: Path, shards: int = 6) -> Dataset:
    return build_dataset(folder, SPEC, {"train": shards, "test": shards}, make)
