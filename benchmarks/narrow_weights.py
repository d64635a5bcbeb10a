"""What narrowing CLEVR's parsers costs: `python -m benchmarks.narrow_weights BEFORE AFTER`, two trained folders.

On the first images of the validation split by which the shipped parsers were chosen, with ten questions each: exact
scenes (all objects right), exact programs, right answers of each model, and how many of these differ between the two.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.table import table
from shiftscope.answer import is_same_answer
from shiftscope.model import ModelOptions, ModelSetting, Prompt
from shiftscope.models import nsvqa, p_nsvqa, p_nsvqa_exact
from shiftscope.models.nsvqa.labels import label_scenes
from shiftscope.models.nsvqa.neuro_symbolic import CPU_IMAGES, NsvqaParsers, load_parsers
from shiftscope.models.nsvqa.scene_parser.decode import measure
from shiftscope.models.nsvqa.scene_parser.loss import SceneParserBatch
from shiftscope.models.nsvqa.trained_model import TrainedModel
from shiftscope.picture import Picture, stack
from shiftscope.scene import Scene
from shiftscope.suites.clevr.suite import SUITE, ClevrSpec

TRAINED_ON = 28_570  # images over all splits, of the data that the shipped parsers were trained and chosen on
MODELS = (nsvqa, p_nsvqa, p_nsvqa_exact)


def main() -> None:
    """Print a table: what was right before and after, and what differs."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("folders", nargs=2, type=Path, metavar=("BEFORE", "AFTER"))
    options.add_argument("--images", type=int, default=300)
    given = options.parse_args()
    prompts, scenes = _ask(given.images)
    before, after = (_measure(folder, prompts, scenes) for folder in given.folders)
    rows: list[list[Any]] = []
    for what, (old, old_said) in before.items():
        new, new_said = after[what]
        differ = sum(a != b for a, b in zip(old_said, new_said, strict=True)) if old_said else ""
        rows.append([what, *(f"{right:,} of {of:,}" for right, of in (old, new)), differ])
    table(f"{len(scenes)} images, {len(prompts):,} questions", ("right", "before", "after", "differ"), rows)


def _ask(images: int) -> tuple[list[Prompt], list[Scene]]:
    spec = ClevrSpec(images=TRAINED_ON)
    prompts: list[Prompt] = []
    scenes: list[Scene] = []
    for k in range(-(-images // spec.shard)):
        stored, questions = SUITE.make_shard(spec.spec(), "val", k)
        stored = stored[: images - len(scenes)]
        shown = {image.id: Picture(image.png, name=image.id) for image in stored}
        prompts += [Prompt(q, pictures=(shown[q.scenes[0]],)) for q in questions if q.scenes[0] in shown]
        scenes += [image.scene for image in stored]
    return prompts, scenes


Measured = dict[str, tuple[tuple[int, int], list[Any]]]  # right, of how many, and what was said of each


def _measure(folder: Path, prompts: list[Prompt], scenes: list[Scene]) -> Measured:
    parsers = load_parsers(TrainedModel.read(folder), "cpu")
    pictures = list(dict.fromkeys(p.pictures[0] for p in prompts))
    found: Measured = {f"scenes: {name}": (pair, []) for name, pair in _see(parsers, pictures, scenes).items()}
    programs = parsers.parse_questions([p.question.text for p in prompts])
    true = [p.question.program.canonicalize() for p in prompts if p.question.program]
    exact = sum(a.canonicalize() == b for a, b in zip(programs, true, strict=True))
    found["programs: exact"] = (exact, len(true)), programs
    for module in MODELS:
        model = module.build(
            str(folder), ModelSetting(schema=parsers.trained.schema, options=ModelOptions(device="cpu"))
        )
        said = [r.answer for r in model.predict(prompts)]
        right = sum(a is not None and is_same_answer(a, p.question.answer) for a, p in zip(said, prompts, strict=True))
        found[f"answers: {module.__name__.rpartition('.')[2]}"] = (right, len(prompts)), said
    return found


def _see(parsers: NsvqaParsers, pictures: list[Picture], scenes: list[Scene]) -> dict[str, tuple[int, int]]:
    labels, counts = label_scenes(scenes).to_tensors("cpu"), {}
    for start in range(0, len(pictures), CPU_IMAGES):
        rows = slice(start, start + CPU_IMAGES)
        batch = SceneParserBatch(stack(pictures[rows], "cpu", parsers.trained.size), labels.take(rows))
        for name, pair in parsers.apply(measure, batch).items():
            counts[name] = counts.get(name, np.zeros(2, np.int64)) + np.array([int(n) for n in pair])
    return {name: (int(right), int(of)) for name, (right, of) in counts.items()}


if __name__ == "__main__":
    main()
