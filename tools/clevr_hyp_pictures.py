"""Pictures of what image_edit draws: `python -m tools.clevr_hyp_pictures MODEL DATA [OUT]`.

For each kind of action, two test images: before, as the model draws it after the action, and as it truly is, with the
action above. Writes OUT/clevr_hyp_pictures.png and .md (docs/results, unless OUT is given).
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from shiftscope.model import ModelOptions, ModelSetting
from shiftscope.models import image_edit
from shiftscope.picture import Picture
from shiftscope.question import Question
from shiftscope.render.raster import render
from shiftscope.run.conditions import run_action
from shiftscope.scene import Scene
from shiftscope.store.dataset import Dataset, find_schema

EACH = 2  # images for each kind of action
WIDTH, GAP = 320, 6  # of a picture, and between two, in pixels
LINE = 22  # height of a line of text
COLUMNS = ("before", "as image_edit draws it", "as it truly is")
SPLIT = "test"

Example = tuple[Question, Picture, Scene]  # a question with an action, the picture before and the scene after it


def choose_examples(data: Dataset) -> list[Example]:
    """Of each kind of action the first, each about another image."""
    images = {image.id: image for image in data.images(SPLIT)}
    found: dict[str, dict[str, Question]] = {}
    for question in data.questions(SPLIT):
        held = found.setdefault(question.note("action_kind"), {})
        if len(held) < EACH:
            held.setdefault(question.scenes[0], question)
    chosen = []
    for kind in sorted(found):
        for name, question in found[kind].items():
            after = run_action(question, images[name].scene)
            chosen.append((question, Picture(images[name].png, name=name), after))
    return chosen


def draw_strips(editor: image_edit.ImageEditModel, chosen: Sequence[Example]) -> list[Image.Image]:
    """One for each example, three pictures wide."""
    drawn = editor.draw([picture for _, picture, _ in chosen], [q.action for q, _, _ in chosen]).cpu().numpy()
    height, width = drawn.shape[1:3]
    true = render([after for _, _, after in chosen], layers=("rgb",), size=(width, height)).rgb
    assert true is not None
    tall = WIDTH * height // width
    strips = []
    for (_, picture, _), predicted, after in zip(chosen, drawn, true, strict=True):
        strip = Image.new("RGB", (3 * WIDTH + 2 * GAP, tall), "white")
        for column, pixels in enumerate((picture.pixels(), predicted, after)):
            image = Image.fromarray(np.ascontiguousarray(pixels)).resize((WIDTH, tall), Image.Resampling.LANCZOS)
            strip.paste(image, (column * (WIDTH + GAP), 0))
        strips.append(strip)
    return strips


def stack_strips(strips: Sequence[Image.Image], actions: Sequence[str]) -> Image.Image:
    """The strips below each other, what the columns are on top, and above each strip its action."""
    width, tall = strips[0].size
    step = LINE + tall + GAP
    sheet = Image.new("RGB", (width, LINE + len(strips) * step), "white")
    pen, font = ImageDraw.Draw(sheet), ImageFont.load_default(15)
    for column, words in enumerate(COLUMNS):
        pen.text((column * (WIDTH + GAP) + WIDTH // 2, LINE // 2), words, fill="dimgray", font=font, anchor="mm")
    for row, (strip, action) in enumerate(zip(strips, actions, strict=True)):
        top = LINE + row * step
        pen.text((2, top + LINE // 2), action, fill="black", font=font, anchor="lm")
        sheet.paste(strip, (0, top + LINE))
    return sheet


def write_page(strips: Sequence[Image.Image], actions: Sequence[str], weights: str, out: Path) -> None:
    stack_strips(strips, actions).save(out / "clevr_hyp_pictures.png", optimize=True)
    lines = [
        "# CLEVR_HYP: pictures after an action, as image_edit draws them",
        "Each row: before the action, as drawn by the model, and as it truly is; the first test images of each kind of "
        f"action, not chosen by hand. Weights {weights[:8]}, drawn by `python -m tools.clevr_hyp_pictures MODEL DATA`. "
        "How often the scene is right is in [clevr_hyp.md](clevr_hyp.md), as outcome accuracy.",
        "![before, predicted, true](clevr_hyp_pictures.png)",
        "\n".join(f"{k}. {action}" for k, action in enumerate(actions, 1)),
    ]
    (out / "clevr_hyp_pictures.md").write_text("\n\n".join(lines) + "\n", "utf-8")


def main() -> None:
    model, folder, *rest = map(Path, sys.argv[1:])
    out = rest[0] if rest else Path("docs/results")
    out.mkdir(parents=True, exist_ok=True)
    data = Dataset.open(folder)
    chosen = choose_examples(data)
    editor = image_edit.build(str(model), ModelSetting(schema=find_schema(data), options=ModelOptions()))
    write_page(draw_strips(editor, chosen), [question.action for question, _, _ in chosen], editor.trained.id(), out)
    print(f"wrote {out / 'clevr_hyp_pictures.png'}")


if __name__ == "__main__":
    main()
