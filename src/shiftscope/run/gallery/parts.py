"""Parts of each vehicle: all named, each in a colour of its own, numbered where a view shows enough of it."""

from __future__ import annotations

from collections.abc import Sequence
from colorsys import hsv_to_rgb
from dataclasses import replace
from typing import Any

import numpy as np

from ...geometry.body import Body, Look
from ...geometry.seen import named_parts, see
from ...geometry.stage import stage_of
from .portrait import BACK, CATEGORY, FRONT, filling, portrait, standing
from .sheet import GAP, PALE, Picture, font

VIEW = (330, 230)
PANELS = 3  # in a row
COLUMNS = 4  # of names under a panel
LINE = 16
TITLE = 26
LEAST = 12  # pixels a part must show to be numbered in a view


def parts(shapes: Sequence[str]) -> Any:
    """A panel a model: from the front, from behind, and the names."""
    from PIL import Image

    panels = [_panel(shape) for shape in shapes]
    rows = [panels[k : k + PANELS] for k in range(0, len(panels), PANELS)]
    tall = [max(p.height for p in row) for row in rows]
    wide = 2 * VIEW[0] + GAP
    across = min(PANELS, len(panels))
    sheet = Image.new("RGB", (across * (wide + 3 * GAP) - 3 * GAP, sum(tall)), "white")
    for r, row in enumerate(rows):
        for c, panel in enumerate(row):
            sheet.paste(panel, (c * (wide + 3 * GAP), sum(tall[:r])))
    return sheet


def _panel(shape: str) -> Any:
    from PIL import Image, ImageDraw

    names = named_parts(standing(shape, "large", "gray", "rubber").mesh)
    lines = -(-len(names) // COLUMNS)
    panel = Image.new("RGB", (2 * VIEW[0] + GAP, TITLE + VIEW[1] + lines * LINE + 18), "white")
    draw = ImageDraw.Draw(panel)
    draw.text((2, TITLE / 2), shape, "black", font(17), anchor="lm")
    draw.text((10 + font(17).getlength(shape), TITLE / 2 + 1), CATEGORY[shape], PALE, font(13), anchor="lm")
    for k, turn in enumerate((FRONT, BACK)):
        picture, places = _view(shape, names, turn)
        left = k * (VIEW[0] + GAP)
        panel.paste(Image.fromarray(picture), (left, TITLE))
        for number, (x, y) in places.items():
            at = (left + x, TITLE + y)
            draw.text(at, str(number), "black", font(11), anchor="mm", stroke_width=2, stroke_fill="white")
    for k, name in enumerate(names):
        column, line = divmod(k, lines)
        x, y = column * (panel.width // COLUMNS) + 2, TITLE + VIEW[1] + 6 + line * LINE
        draw.rectangle((x, y + 2, x + 11, y + 13), fill=color_of(k))
        draw.text((x + 17, y + 8), f"{k + 1} {name}", "black", font(12), anchor="lm")
    return panel


def _view(shape: str, names: tuple[str, ...], turn: float) -> tuple[Picture, dict[int, tuple[float, float]]]:
    """The picture, and where each numbered part is seen."""
    shown = _highlighted(standing(shape, "large", "gray", "rubber", turn=turn), names)
    camera = filling(shown, VIEW)
    surfaces = shown.mesh.parts
    labels = np.array([names.index(p) + 1 if p in names else 0 for p in surfaces], np.uint8)
    seen = see(stage_of((shown,)), camera, VIEW, labels)
    assert seen.parts is not None
    places = {}
    for number in range(1, len(names) + 1):
        ys, xs = np.nonzero(seen.parts == number)
        if len(ys) >= LEAST:
            # the pixel nearest to the middle of them: on the part even where that is bent
            near = int(np.argmin((xs - xs.mean()) ** 2 + (ys - ys.mean()) ** 2))
            places[number] = (float(xs[near]), float(ys[near]))
    return portrait(shown, camera, VIEW), places


def _highlighted(body: Body, names: tuple[str, ...]) -> Body:
    """The body pale, each part in its own colour, darker where the mesh is."""
    looks = []
    for name, tone, look in zip(body.mesh.parts, body.mesh.tones, body.looks, strict=True):
        if name in names:
            r, g, b = (round(c * (0.4 + 0.6 * tone)) for c in color_of(names.index(name)))
            looks.append(Look((r, g, b), "rubber"))
        else:
            looks.append(Look((150, 150, 150), "rubber") if name == body.mesh.parts[0] else look)
    return replace(body, looks=tuple(looks))


def color_of(k: int) -> tuple[int, int, int]:
    """Colours of which neighbours in the list differ plainly."""
    r, g, b = hsv_to_rgb(k * 0.381966 % 1.0, (0.9, 0.55, 0.8)[k % 3], (0.95, 0.95, 0.6)[k % 3])
    return (round(255 * r), round(255 * g), round(255 * b))
