"""Pictures of what image_edit draws: `python -m tools.clevr_hyp_pictures MODEL DATA [OUT]`.

For each kind of action, two test images: before, as the model draws it after the action, and as it truly is. Writes
OUT/clevr_hyp_pictures.png and .md (docs/results, unless OUT is given).
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from PIL import Image

from shiftscope.lang.exec.exact import execute
from shiftscope.lang.program import split_action
from shiftscope.model import ModelOptions, ModelSetting
from shiftscope.models import image_edit
from shiftscope.picture import Picture
from shiftscope.question import Question
from shiftscope.render.raster import render
from shiftscope.scene import Scene
from shiftscope.store.dataset import Dataset, find_schema

EACH = 2  # images for each kind of action
WIDTH, GAP = 320, 6  # of a picture, and between two, in pixels
SPLIT = "test"


def choose_examples(data: Dataset) -> list[tuple[Question, Picture, Scene]]:
    """Of each kind of action the first, each about another image: its question, the picture and the scene after it."""
    images = {image.id: image for image in data.images(SPLIT)}
    found: dict[str, dict[str, Question]] = {}
    for question in data.questions(SPLIT):
        held = found.setdefault(question.note("action_kind"), {})
        if len(held) < EACH:
            held.setdefault(question.scenes[0], question)
    chosen = []
    for kind in sorted(found):
        for name, question in found[kind].items():
            assert question.program is not None
            action = split_action(question.program)[0]
            assert action is not None
            after = execute(action, images[name].scene).worlds[-1].scenes[0]
            chosen.append((question, Picture(images[name].png, name=name), after))
    return chosen


def draw_strips(model: Path, data: Dataset) -> tuple[Image.Image, list[str]]:
    """One row for each example, three pictures wide; and the actions."""
    chosen = choose_examples(data)
    setting = ModelSetting(schema=find_schema(data), options=ModelOptions())
    editor = image_edit.build(str(model), setting)
    drawn = editor.draw([picture for _, picture, _ in chosen], [q.action for q, _, _ in chosen]).cpu().numpy()
    height, width = drawn.shape[1:3]
    true = render([after for _, _, after in chosen], layers=("rgb",), size=(width, height)).rgb
    assert true is not None
    tall = WIDTH * height // width
    sheet = Image.new("RGB", (3 * WIDTH + 2 * GAP, len(chosen) * (tall + GAP) - GAP), "white")
    for row, ((_, picture, _), predicted, after) in enumerate(zip(chosen, drawn, true, strict=True)):
        for column, pixels in enumerate((picture.pixels(), predicted, after)):
            image = Image.fromarray(np.ascontiguousarray(pixels)).resize((WIDTH, tall), Image.Resampling.LANCZOS)
            sheet.paste(image, (column * (WIDTH + GAP), row * (tall + GAP)))
    return sheet, [question.action for question, _, _ in chosen]


def main() -> None:
    model, folder, *rest = map(Path, sys.argv[1:])
    out = rest[0] if rest else Path("docs/results")
    out.mkdir(parents=True, exist_ok=True)
    sheet, actions = draw_strips(model, Dataset.open(folder))
    sheet.save(out / "clevr_hyp_pictures.png", optimize=True)
    lines = [
        "# CLEVR_HYP: pictures after an action, as image_edit draws them",
        "Each row: before the action, as drawn by the model, and as it truly is. Made by `python -m "
        "tools.clevr_hyp_pictures MODEL DATA`; the first test images of each kind of action, not chosen by hand.",
        "![before, predicted, true](clevr_hyp_pictures.png)",
        "\n".join(f"{k}. {action}" for k, action in enumerate(actions, 1)),
    ]
    (out / "clevr_hyp_pictures.md").write_text("\n\n".join(lines) + "\n", "utf-8")
    print(f"wrote {out / 'clevr_hyp_pictures.png'}")


if __name__ == "__main__":
    main()
