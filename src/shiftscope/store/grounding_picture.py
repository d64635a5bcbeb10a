"""A question drawn under its picture: each phrase in a colour of its own, as are the boxes of what it refers to."""

import re
from collections.abc import Sequence
from io import BytesIO
from itertools import pairwise
from typing import Any, NamedTuple

from ..question import Question
from ..render.image import load_font
from ..scene import Box
from .image import StoredImage

COLORS = ((214, 39, 40), (31, 119, 180), (44, 160, 44), (148, 103, 189), (255, 127, 14), (227, 60, 180), (0, 150, 160))
INK = (40, 40, 40)
TEXT_SIZE, LINE_HEIGHT, MARGIN = 18, 26, 12
WIDEST = 960  # pictures are enlarged to at most so many pixels


class PhraseBoxes(NamedTuple):
    """A phrase of a text, `text[start:end]`, and the boxes of what it refers to."""

    start: int
    end: int
    boxes: Sequence[Box]


def draw_question(question: Question, image: StoredImage) -> bytes:
    """A question and its image as a PNG; a phrase that nothing fits is struck through."""
    phrases = []
    for phrase in question.grounding:
        found = (image.find_box(*which) for which in (*((i, "") for i in phrase.objects), *phrase.parts))
        phrases.append(PhraseBoxes(phrase.start, phrase.end, [box for box in found if box]))
    return _draw_phrases(image.png, question.text, phrases)


def _draw_phrases(png: bytes, text: str, phrases: Sequence[PhraseBoxes]) -> bytes:
    from PIL import Image, ImageDraw

    with Image.open(BytesIO(png)) as opened:
        picture = opened.convert("RGB")
    scale = max(1, WIDEST // picture.width)
    width, height = picture.width * scale, picture.height * scale
    font = load_font(TEXT_SIZE)
    lines = _wrap_words(text, font, width - 2 * MARGIN)
    sheet = Image.new("RGB", (width, height + len(lines) * LINE_HEIGHT + 2 * MARGIN), "white")
    sheet.paste(picture.resize((width, height)))
    draw = ImageDraw.Draw(sheet)
    drawn: dict[Box, int] = {}  # how often, for several phrases may refer to one thing
    for k, phrase in enumerate(phrases):
        for box in phrase.boxes:
            room = 3 * drawn.get(box, 0)
            drawn[box] = drawn.get(box, 0) + 1
            left, top, wide, high = (scale * v for v in box)
            corners = (left - room, top - room, left + wide + room - 1, top + high + room - 1)
            draw.rectangle(corners, outline=COLORS[k % len(COLORS)], width=2)
    for row, line in enumerate(lines):
        x, y = float(MARGIN), height + MARGIN + row * LINE_HEIGHT
        for start, end in line:
            x += _write_run(draw, (x, y), text, (start, end), phrases, font)
    buffer = BytesIO()
    sheet.save(buffer, "PNG", optimize=True)
    return buffer.getvalue()


def _wrap_words(text: str, font: Any, width: int) -> list[list[tuple[int, int]]]:
    """Lines of words, each with the space after it, as places in the text."""
    lines: list[list[tuple[int, int]]] = [[]]
    for word in re.finditer(r"\S+\s*", text):
        begins = lines[-1][0][0] if lines[-1] else word.start()
        if lines[-1] and font.getlength(text[begins : word.end()].rstrip()) > width:
            lines.append([])
        lines[-1].append(word.span())
    return lines


def _write_run(
    draw: Any, at: tuple[float, float], text: str, span: tuple[int, int], phrases: Sequence[PhraseBoxes], font: Any
) -> float:
    """Write a word letter group by letter group, each in the colour of its phrase; how wide it is."""
    start, end = span
    cuts = sorted({start, end, *(c for p in phrases for c in (p.start, p.end) if start < c < end)})
    x, y = at
    for a, b in pairwise(cuts):
        k = next((k for k, p in enumerate(phrases) if p.start <= a < p.end), None)
        color = INK if k is None else COLORS[k % len(COLORS)]
        draw.text((x, y), text[a:b], color, font)
        long = font.getlength(text[a:b])
        if k is not None:
            visible = font.getlength(text[a : min(b, phrases[k].end)])
            level = y + TEXT_SIZE + 3 if phrases[k].boxes else y + TEXT_SIZE / 2 + 3
            draw.line((x, level, x + visible, level), color, 2)
        x += long
    return x - at[0]
