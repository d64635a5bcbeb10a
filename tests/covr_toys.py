"""A toy dataset of questions over several scene graphs, and about single ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from graphs import RELATIONS, WORDS, random_graph
from shiftscope.english.inflection import plural
from shiftscope.lang.exec.exact import Undefined, execute
from shiftscope.lang.text import parse_program
from shiftscope.question import Provenance, Question
from shiftscope.rng import derive
from shiftscope.scene import Scene
from shiftscope.store.dataset import Dataset
from shiftscope.store.image import StoredImage
from shiftscope.store.manifest import Manifest, list_versions, write_manifest
from shiftscope.store.shard import write_shard

NAMES = ("man", "woman", "dog", "cat", "ball", "hat", "cup", "table")
TESTS = {"at_least": "at least", "at_most": "at most", "equal": "exactly"}
QUANTIFIERS = {"all": "All", "some": "Some", "none": "No"}


def asked(
    name: str, text: str, program: str, scenes: Mapping[str, Scene], images: Iterable[str], template: str = ""
) -> Question:
    """A question with the answer that its program gives."""
    meant = parse_program(program)
    answer = execute(meant, [scenes[i] for i in images]).answer
    assert not isinstance(answer, Undefined), (text, answer)
    return Question(name, text, tuple(images), meant, answer, provenance=Provenance("covr", template=template))


def scenes_of(count: int) -> dict[str, Scene]:
    return {f"{k}": random_graph(3, k, NAMES) for k in range(count)}


def _worded(draw, k: int, scenes: Mapping[str, Scene], split: str) -> Question | None:
    """Question k: any of the kinds that tests are made from, and others."""

    def pick(options):
        return options[int(draw.integers(len(options)))]

    name, word, test, number = pick(NAMES), pick(WORDS), pick(tuple(TESTS)), int(draw.integers(1, 4))
    images = [str(i) for i in draw.choice(len(scenes), int(draw.integers(2, 6)), replace=False)]
    found, many = f"find({name})", plural(name)
    if draw.random() < 0.4:
        found, many = f"filter({found}, attribute={word})", f"{word} {many}"
    said = f"{TESTS[test]} {number} {many}"
    kept = f"count(keys(keep(group({found}), {test}, {number})))"
    outer, least = pick(tuple(TESTS)), int(draw.integers(1, 3))
    quantifier, other, relation = pick(tuple(QUANTIFIERS)), pick(NAMES), pick(RELATIONS)
    pose = pick(WORDS)
    body = f'exist(intersect(it(), related(find({other}), "{relation}")))'
    kinds = [
        ("count_group_by", f"How many images contain {said}?", kept),
        (
            "verify_count_group_by",
            f"There {'is' if least == 1 else 'are'} {TESTS[outer]} {least} image{'s' * (least > 1)} that contain {said}",
            f"{outer}({kept}, {least})",
        ),
        ("verify_count", f"There are {said}", f"{test}(count({found}), {number})"),
        ("verify_quant", f"{QUANTIFIERS[quantifier]} {many} are {pose}", f"{quantifier}({found}, verify(it(), attribute={pose}))"),
        ("verify_quant", f"{QUANTIFIERS[quantifier]} {many} are {relation} a {other}", f"{quantifier}({found}, {body})"),
        ("count", f"How many {many} are there?", f"count({found})"),
        ("one image", f"Is there a {name}?", f"exist(find({name}))"),
    ]  # fmt: skip
    template, text, program = pick(kinds)
    if template == "one image":
        images = images[:1]
    return asked(f"{split}_{k}", text, program, scenes, images, template)


def questions_of(count: int, scenes: Mapping[str, Scene], split: str = "test") -> list[Question]:
    return [_worded(derive("toy covr", split, k), k, scenes, split) for k in range(count)]


def dataset(
    folder: Path, questions: Mapping[str, list[Question]], scenes: Mapping[str, Scene], shards: int = 2
) -> Dataset:
    """Written as it is; the images are spread over shards of each split, those of the first split first."""
    first = next(iter(questions))
    written = []
    for split, listed in questions.items():
        images = [StoredImage(scene) for scene in scenes.values()] if split == first else []
        written += [write_shard(folder, split, k, images[k::shards], listed[k::shards]) for k in range(shards)]
    plan = tuple((split, shards) for split in questions)
    write_manifest(folder, Manifest({"suite": "toy covr"}, plan, list_versions(), shards=tuple(written)))
    return Dataset.open(folder)
