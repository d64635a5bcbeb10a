"""Two toy datasets that call the same things differently: one says bird of what the other's scenes call a parrot."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from shiftscope.lang.program import Program
from shiftscope.lang.text import parse_program
from shiftscope.model import ModelSetting, Prompt, Response
from shiftscope.question import Provenance, Question
from shiftscope.result import program_text
from shiftscope.scene import Object, Scene
from shiftscope.schema import Attribute, Schema
from shiftscope.store.build_dataset import build_dataset
from shiftscope.store.dataset import Dataset
from shiftscope.store.image import StoredImage

SCENES = 6
WORLD = Schema("birds", (Attribute("color", ("red", "green", "blue")),), closed=False)


def scene(name: str, called: str, color: str) -> Scene:
    bird = Object((("name", called), ("color", color)), id="1")
    return Scene((bird, Object((("name", "tree"),), id="2")), schema=WORLD, id=name, size=(8, 8))


def pointing(text: str, **ids: str) -> Program:
    """A program whose names point at objects: pointing("…", bird="1")."""
    meant = parse_program(text)
    nodes = [
        type(n)(n.op, n.inputs, n.params, (("id", ids[n.params[0]]),) if n.op == "find" and n.params[0] in ids else ())
        for n in meant.nodes
    ]  # fmt: skip
    return Program(tuple(nodes))


def questions(image: str, split: str, color: str, third: str) -> list[Question]:
    bird = {"bird": "1"} if split == "train" else {}
    asked = (
        ("color", "What color is the bird?", "query(unique(find(bird)), color)", color, "query"),
        ("there", "Is there a bird?", "exist(find(bird))", True, "exist"),
        ("cat", "Is there a cat?", "exist(find(cat))", False, "exist"),
        ("many", "How many trees are there?", "count(find(tree))", 1, "count"),
        ("name", f"What is the {third}?", "query(unique(find(tree)), name)", third, "query"),
    )
    return [
        Question(
            f"{image}-{name}", text, (image,), pointing(program, **bird), answer, (), kind, "",
            Provenance("birds", split, name),
        )
        for name, text, program, answer, kind in asked
    ]  # fmt: skip


def make(spec, split, k):
    """The third question's answer is one that only this dataset has."""
    colors = ("red", "green") if spec["called"] == "parrot" else ("red", "blue", "green")
    images, asked = [], []
    for i in range(SCENES):
        name, color = f"{spec['called']}_{split}_{i}", colors[i % len(colors)]
        images.append(StoredImage(scene(name, spec["called"], color)))
        asked += questions(name, split, color, spec["third"])
    return images, asked


def dataset(folder: Path, called: str, third: str) -> Dataset:
    spec = {"suite": "birds", "called": called, "third": third}
    return build_dataset(folder, spec, {"train": 1, "test": 1}, make)


class Reader:
    """Reads every question rightly, sees nothing: it says red, or yes, and tells its program."""

    looks = False

    def __init__(self, setting: ModelSetting) -> None:
        pass

    def predict(self, batch: Sequence[Prompt]) -> list[Response]:
        return [
            Response(
                answer=True if p.question.kind == "exist" else "red",
                program=program_text(p.question.program) if p.question.program else "",
            )
            for p in batch
        ]
