"""Toys for the tests of the explorer: small drawn scenes, questions with programs, runs over them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from shiftscope.lang.exec.exact import execute
from shiftscope.lang.text import parse_program
from shiftscope.question import GroundedPhrase, Provenance, Question
from shiftscope.result import Prediction, build_question_record
from shiftscope.store.build_dataset import build_dataset
from shiftscope.store.dataset import Dataset, data_id
from shiftscope.store.image import StoredImage
from shiftscope.store.run_log import RunWriter
from shiftscope.suites.scene_images import render_stored_images
from shiftscope.world import load_world

SIZE = (96, 64)
BASE = "http://127.0.0.1"
HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)> \" ' & ]]> \u202e\x00"
PROGRAMS = {
    "How many things are there?": ("count", "count(scene())"),
    "How many cubes are there?": ("count", "count(filter(scene(), shape=cube))"),
    "How many things are left of a large thing?": ("count", "count(related(filter(scene(), size=large), left))"),
    "Is anything red?": ("exist", "exist(filter(scene(), color=red))"),
}


def draw(world: str, index: int) -> StoredImage:
    """A scene of a world of ours, drawn small."""
    made = load_world(world)
    scene = made.sample(made.rules(size=SIZE), 0, "test", index)
    [image] = render_stored_images([scene], SIZE, parts=bool(scene.schema.part_attributes))
    return image


def ask(image: StoredImage, k: int, text: str, split: str, **more: Any) -> Question:
    kind, program = PROGRAMS[text]
    parsed = parse_program(program)
    answer = execute(parsed, image.scene).answer
    origin = Provenance("toy", split, f"template_{k % 2}", k)
    phrase = (GroundedPhrase(0, 8, tuple(range(len(image.scene.objects)))),)
    return Question(
        f"{image.id}-{k}", text, (image.id,), parsed, answer, (), kind, "", origin, grounding=phrase, **more
    )


def make(spec: Mapping[str, Any], split: str, k: int) -> tuple[list[StoredImage], list[Question]]:
    """A shard of one image; a hostile text is the last question of the first."""
    image = draw(spec["world"], k)
    notes = lambda n: (("factor", "visual"), ("level", n % 2), ("variant", spec.get("variant", "base")))  # noqa: E731
    questions = [ask(image, n, text, split, notes=notes(n)) for n, text in enumerate(PROGRAMS)]
    if spec.get("variant"):
        questions = [replace(q, id=f"{q.id}_v", notes=(*q.notes, ("twin", q.id))) for q in questions]
    if spec.get("action"):
        questions = [replace(q, action=f"{spec['action']} {n}.") for n, q in enumerate(questions)]
    if k == 0 and spec.get("hostile"):
        origin = Provenance("toy", split, HOSTILE, 9)
        questions.append(
            Question(
                f"{HOSTILE}-h",
                HOSTILE,
                (image.id,),
                None,
                HOSTILE,
                (),
                HOSTILE,
                HOSTILE,
                origin,
                (("factor", HOSTILE),),
            )
        )
    return [image], questions


def build(folder: Path, shards: int = 2, world: str = "clevr", **more: Any) -> Dataset:
    return build_dataset(folder, {"suite": "toy", "world": world, **more}, {"test": shards}, make)


def write_run(folder: Path, dataset: Dataset, model: str, wrong: Mapping[str, str], seed: int = 0) -> Path:
    """A run that gives other answers to some questions: by id, an answer, or a status in brackets."""
    spec = {
        "model": model,
        "data": str(dataset.folder),
        "data_id": data_id(dataset),
        "split": "test",
        "conditions": ["as_is"],
        "seed": seed,
    }
    rows = []
    for e in dataset.examples("test"):
        record = build_question_record(e.question, [i.scene for i in e.images])
        given = wrong.get(e.question.id, e.question.answer)
        if isinstance(given, str) and given.startswith("["):
            rows.append((record, Prediction(e.question.id, None, f"raw {HOSTILE}", given.strip("[]"), "no idea")))
        else:
            rows.append((record, Prediction(e.question.id, given, raw=f"it is {given}", confidence=0.75)))
    with RunWriter(folder, spec, len(rows)) as writer:
        writer.add(rows)
        writer.finish()
    return folder


def shown(client: Any, address: str, status: int = 200) -> str:
    """The page at an address."""
    response = client.get(address)
    assert response.status_code == status, response.text[:500]
    return str(response.text)
