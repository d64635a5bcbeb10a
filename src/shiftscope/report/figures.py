"""Figures: the charts of a page as files of their own, SVG and PDF, for papers.

Charts are drawn once, as SVG whose looks are classes of style.css. Here these are resolved, in the light scheme, so
that a file needs no style sheet. No PDF library is needed for what charts are made of: lines, boxes, outlines and
text in Helvetica, which every reader of PDF has.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from html import escape
from importlib.resources import files
from math import cos, radians, sin
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

from ..errors import UserError
from ..files import encode_utf8, write_whole
from .markup import Html, strip_markup
from .page import Section

TITLE_ROOM, LEGEND_ROW, MARGIN = 26.0, 18.0, 8.0  # pixels
TITLE_SIZE, TEXT_SIZE = 12.0, 11.0
FONT = "Helvetica, Arial, sans-serif"
POINT = 0.75  # of a pixel
LONGEST_NAME = 60  # characters of a file's name
_CHART = re.compile(r'<svg class="chart(?: [^"]*)?".*?</svg>', re.DOTALL)
_BLOCK = re.compile(r'<ul class="legend".*?</ul>|<figure.*?</figure>', re.DOTALL)
_ITEM = re.compile(r"<li>(.*?)</li>", re.DOTALL)
_LOOK = re.compile(r'(?<=class=")(?:mark|swatch) [\w -]+(?=")')
_OUTLINE = re.compile(r'<path d="([^"]*)"')
_CAPTION = re.compile(r"<figcaption>(.*?)</figcaption>", re.DOTALL)
_RULE = re.compile(r"([^{}]+)\{([^{}]*)\}")
_MOVE = re.compile(r"translate\(([-\d.]+) ([-\d.]+)\)(?: rotate\(([-\d.]+)\))?")
_STEP = re.compile(r"([MLaz])([^MLaz]*)")

Looks = Mapping[str, str]
KEPT_LOOKS = (
    *("fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-linecap", "opacity"),
    *("font-size", "font-weight"),
)


class LegendItem(NamedTuple):
    """A mark, by its classes and its outline around 6, 6 (a box where it has none), and its name."""

    look: str
    outline: str
    name: str


@dataclass(frozen=True, slots=True)
class Figure:
    """One chart with its title and legend."""

    name: str
    title: str
    svg: str  # the chart alone, as on the page
    legend: tuple[LegendItem, ...] = ()


def list_figures(sections: Iterable[tuple[str, Section]]) -> list[Figure]:
    """The charts of a page, in its order, each with the legend that stands above it or in it."""
    figures: list[Figure] = []
    for name, section in sections:
        legend: tuple[LegendItem, ...] = ()
        for block in _BLOCK.findall(section.body):
            inside = re.search(r'<ul class="legend".*?</ul>', block, re.DOTALL)
            if inside:
                legend = tuple(_read_legend(inside[0]))
            caption = _CAPTION.search(block)
            title = " ".join(strip_markup(Html(caption[1])).replace(" ,", ",").split()) if caption else section.title
            for chart in _CHART.findall(block) if block.startswith("<figure") else ():
                label = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:LONGEST_NAME]
                figures.append(Figure(f"{len(figures) + 1:02d}-{name}-{label}".rstrip("-"), title, chart, legend))
    return figures


def _read_legend(markup: str) -> Iterator[LegendItem]:
    for item in _ITEM.findall(markup):
        look, outline = _LOOK.search(item), _OUTLINE.search(item)
        name = " ".join(strip_markup(Html(item)).split())
        yield LegendItem(look[0] if look else "", outline[1] if outline else "M2 2L10 2L10 10L2 10z", name)


def write_figures(sections: Iterable[tuple[str, Section]], folder: Path) -> list[Path]:
    """Write each chart as NAME.svg and NAME.pdf; those of the same names are replaced."""
    if folder.is_file():
        raise UserError(f"{folder} is a file; give --figures a folder")
    written = []
    for figure in list_figures(sections):
        shapes, width, height = lay_out(figure)
        for ending, content in (
            ("svg", encode_utf8(render_svg(shapes, width, height, figure.title))),
            ("pdf", render_pdf(shapes, width, height)),
        ):
            written.append(folder / f"{figure.name}.{ending}")
            write_whole(written[-1], content)
    return written


@dataclass(frozen=True, slots=True)
class Shape:
    """Something to draw with its looks resolved; text has `text`, everything else an outline."""

    path: tuple[tuple[str, tuple[float, ...]], ...]  # M x y, L x y, C x y x y x y, z
    looks: Looks
    text: str = ""
    turn: float = 0.0  # degrees, of text


def lay_out(figure: Figure) -> tuple[list[Shape], float, float]:
    """The shapes of a figure with title and legend, and its size in pixels."""
    root = ElementTree.fromstring(figure.svg)
    width, tall = (float(side) for side in root.attrib["viewBox"].split()[2:])
    bold = {"fill": read_colors()["--ink"], "font-size": f"{TITLE_SIZE}", "font-weight": "bold"}
    shapes = [Shape((("M", (MARGIN, 16.0)),), bold, figure.title)]
    shapes += _read_shapes(root, TITLE_ROOM)
    x, y = MARGIN, TITLE_ROOM + tall + LEGEND_ROW
    plain = {"fill": read_colors()["--ink"], "font-size": f"{TEXT_SIZE}"}
    for look, outline, name in figure.legend:
        wide = 18 + measure_text(name, TEXT_SIZE) + 18
        if x + wide > width and x > MARGIN:
            x, y = MARGIN, y + LEGEND_ROW
        looks = resolve_looks("path", look.replace("swatch", "share").split())
        mark = Shape(tuple(_read_path(outline)), looks)
        shapes += [_shift(mark, y - 10, x), Shape((("M", (x + 16, y)),), plain, name)]
        x += wide
    return shapes, width, y + MARGIN if figure.legend else TITLE_ROOM + tall


def _read_shapes(root: ElementTree.Element, down: float) -> Iterator[Shape]:
    for one in root.iter():
        of, kind = one.attrib, one.tag
        looks = resolve_looks(kind, of.get("class", "").split())

        def number(name: str, of: Mapping[str, str] = of) -> float:
            return float(of.get(name, 0))

        if kind == "rect":
            x, y, w, h = (number(k) for k in ("x", "y", "width", "height"))
            corners = ((x, y), (x + w, y), (x + w, y + h), (x, y + h))
            yield _shift(Shape((("M", corners[0]), *(("L", c) for c in corners[1:]), ("z", ())), looks), down)
        elif kind == "line":
            ends = (("M", (number("x1"), number("y1"))), ("L", (number("x2"), number("y2"))))
            yield _shift(Shape(ends, {**looks, "fill": "none"}), down)
        elif kind == "path":
            yield _shift(Shape(tuple(_read_path(of["d"])), looks), down)
        elif kind == "text":
            moved = _MOVE.match(of.get("transform", ""))
            at = (float(moved[1]), float(moved[2])) if moved else (number("x"), number("y"))
            looks = {**looks, "text-anchor": of.get("text-anchor", "start")}
            turn = float(moved[3] or 0) if moved else 0.0
            yield _shift(Shape((("M", at),), looks, "".join(one.itertext()), turn), down)


def _shift(shape: Shape, down: float, right: float = 0.0) -> Shape:
    path = tuple((step, tuple(v + (down if k % 2 else right) for k, v in enumerate(at))) for step, at in shape.path)
    return Shape(path, shape.looks, shape.text, shape.turn)


def _read_path(d: str) -> Iterator[tuple[str, tuple[float, ...]]]:
    """Straight lines, and the half circles that round marks are made of."""
    x = y = 0.0
    for step, rest in _STEP.findall(d):
        numbers = [float(n) for n in re.findall(r"-?[\d.]+", rest)]
        if step == "a":
            r, (dx, dy) = numbers[0], numbers[5:7]
            k, up = 0.5522848 * r, r if dx > 0 else -r  # against the clock, as all of ours
            yield "C", (x, y + k * up / r, x + dx / 2 - k * up / r, y + up, x + dx / 2, y + up)
            yield "C", (x + dx / 2 + k * up / r, y + up, x + dx, y + k * up / r, x + dx, y + dy)
            x, y = x + dx, y + dy
        else:
            yield step, tuple(numbers)
            x, y = numbers[-2:] if numbers else (x, y)


@cache
def _read_rules() -> tuple[tuple[str, frozenset[str], Looks], ...]:
    """The rules of the style sheet that concern charts on light pages: the tag, the classes, the looks."""
    css = re.sub(r"/\*.*?\*/", "", files(__package__).joinpath("style.css").read_text("utf-8"), flags=re.DOTALL)
    css = re.sub(r"@media[^{]*\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}", "", css)
    rules = []
    for selectors, looks in _RULE.findall(css):
        read = {k.strip(): v.strip() for k, _, v in (line.partition(":") for line in looks.split(";")) if v}
        for selector in selectors.split(","):
            match = re.fullmatch(r"(?:svg )?(\w*)((?:\.[\w-]+)*)", selector.strip())
            if match and match[1] in ("", "text"):
                rules.append((match[1], frozenset(match[2].split(".")[1:]), read))
            elif selector.strip() == ":root":
                rules.append((":root", frozenset(), read))
    return tuple(rules)


@cache
def read_colors() -> Looks:
    """The colours of the light scheme, by name."""
    return {k: v for tag, _, looks in _read_rules() if tag == ":root" for k, v in looks.items() if k.startswith("--")}


def resolve_looks(tag: str, classes: list[str]) -> dict[str, str]:
    """What the style sheet says of such an element, without variables."""
    fitting = [r for r in _read_rules() if r[0] in ("", tag) and r[1] <= set(classes) and (r[1] or r[0] == tag)]
    found: dict[str, str] = {}
    for _, _, looks in sorted(fitting, key=lambda rule: len(rule[1])):  # stable: of equals, the later wins
        found |= looks
    known = {**read_colors(), **{k: v for k, v in found.items() if k.startswith("--")}}
    resolved = {}
    for key, value in found.items():
        while match := re.search(r"var\((--[\w-]+)\)", value):
            value = value.replace(match[0], known.get(match[1], "#000000"))
        resolved[key] = value
    if "font" in resolved:
        resolved.setdefault("font-size", resolved["font"].split("px")[0])
    return {k: resolved[k].removesuffix("px") for k in KEPT_LOOKS if k in resolved}


def render_svg(shapes: Iterable[Shape], width: float, height: float, title: str) -> str:
    """A file of its own, with attributes in place of classes."""
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}" '
        f'viewBox="0 0 {width:g} {height:g}" font-family="{FONT}">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{width:g}" height="{height:g}" fill="#ffffff"/>',
    ]
    for shape in shapes:
        looks = "".join(f' {k}="{v}"' for k, v in shape.looks.items())
        if shape.text:
            x, y = shape.path[0][1]
            turn = f' transform="rotate({shape.turn:g} {x:g} {y:g})"' if shape.turn else ""
            lines.append(f'<text x="{x:g}" y="{y:g}"{turn}{looks}>{escape(shape.text)}</text>')
        else:
            d = "".join(f"{step}{' '.join(f'{v:.2f}' for v in at)}" for step, at in shape.path)
            lines.append(f'<path d="{d}"{looks}/>')
    return "\n".join([*lines, "</svg>", ""])


# Widths of Helvetica, in thousandths of its size, from the space on; and characters that PDF's text encoding lacks.
_WIDTHS = (
    "278 278 355 556 556 889 667 191 333 333 389 584 278 333 278 278 556 556 556 556 556 556 556 556 556 556 278 278 "
    "584 584 584 556 1015 667 667 722 722 667 611 778 722 278 500 667 556 833 722 778 667 778 722 667 611 722 667 944 "
    "667 667 611 278 278 278 469 556 333 556 556 500 556 556 278 556 556 222 222 500 222 833 556 556 556 556 333 500 "
    "278 556 500 722 500 500 500 334 260 334 584"
)
WIDTHS = {chr(32 + k): int(w) for k, w in enumerate(_WIDTHS.split())} | {"…": 1000, "–": 556, "±": 584, "·": 278}
SYMBOLS = {"−": (0x2D, 549), "→": (0xAE, 987), "≤": (0xA3, 549), "≥": (0xB3, 549)}  # in the font Symbol


def measure_text(text: str, size: float) -> float:
    """How wide a text is in Helvetica."""
    return sum(SYMBOLS[c][1] if c in SYMBOLS else WIDTHS.get(c, 556) for c in text) * size / 1000


def render_pdf(shapes: Iterable[Shape], width: float, height: float) -> bytes:
    """One page of this size. A character that the fonts of every PDF reader lack is a question mark."""
    commands = [f"{POINT:g} 0 0 -{POINT:g} 0 {height * POINT:g} cm"]
    for shape in shapes:
        commands += _draw_text(shape) if shape.text else _draw_outline(shape)
    stream = "\n".join(commands).encode("latin-1")
    fonts = "/F1 3 0 R /F2 4 0 R /F3 5 0 R"
    encoded = "/Encoding /WinAnsiEncoding"
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [6 0 R] /Count 1 >>",
        f"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica {encoded} >>".encode(),
        f"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold {encoded} >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Symbol >>",
        f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {width * POINT:g} {height * POINT:g}] /Contents 7 0 R "
        f"/Resources << /Font << {fonts} >> >> >>".encode(),
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream),
    ]
    body, places = b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n", []
    for number, content in enumerate(objects, 1):
        places.append(len(body))
        body += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    size = len(objects) + 1
    trailer = b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (size, len(body))
    return body + b"xref\n0 %d\n0000000000 65535 f \n" % size + table + trailer


def _draw_outline(shape: Shape) -> Iterator[str]:
    looks = shape.looks
    opacity = float(looks.get("opacity", 1))
    fill, stroke = (None if looks.get(k, "none") == "none" else looks[k] for k in ("fill", "stroke"))
    if fill is None and stroke is None:
        return
    yield "q"
    if fill:
        yield f"{_mix_color(fill, opacity)} rg"
    if stroke:
        yield f"{_mix_color(stroke, opacity)} RG {float(looks.get('stroke-width', 1)):g} w"
        yield f"[{looks.get('stroke-dasharray', '')}] 0 d {1 if looks.get('stroke-linecap') == 'round' else 0} J"
    operators = {"M": "m", "L": "l", "C": "c", "z": "h"}
    for step, at in shape.path:
        yield " ".join([*(f"{v:.3f}" for v in at), operators[step]])
    yield ("B" if stroke else "f") if fill else "S"
    yield "Q"


def _draw_text(shape: Shape) -> Iterator[str]:
    looks, (x, y) = shape.looks, shape.path[0][1]
    size = float(looks.get("font-size", TEXT_SIZE))
    bold = looks.get("font-weight", "") in ("bold", "600", "650")
    wide = measure_text(shape.text, size)
    back = {"middle": wide / 2, "end": wide}.get(looks.get("text-anchor", "start"), 0.0)
    c, s = cos(radians(shape.turn)), sin(radians(shape.turn))
    # The page is upside down, so that its y grows as that of SVG; text is turned back.
    yield f"q {_mix_color(looks.get('fill', '#000000'), 1.0)} rg BT"
    yield f"{c:.4f} {s:.4f} {s:.4f} {-c:.4f} {x - back * c:.3f} {y - back * s:.3f} Tm"
    for symbol, text in _split_fonts(shape.text):
        font = "F3" if symbol else "F2" if bold else "F1"
        data = bytes(SYMBOLS[ch][0] for ch in text) if symbol else text.encode("cp1252", "replace")
        yield f"/{font} {size:g} Tf <{data.hex()}> Tj"
    yield "ET Q"


def _split_fonts(text: str) -> Iterator[tuple[bool, str]]:
    """Runs of characters that are in the font Symbol, or are not."""
    for run in re.findall(f"[{''.join(SYMBOLS)}]+|[^{''.join(SYMBOLS)}]+", text):
        yield run[0] in SYMBOLS, run


def _mix_color(color: str, opacity: float) -> str:
    """A colour on white, as PDF spells it."""
    parts = [int(color[k : k + 2], 16) / 255 for k in (1, 3, 5)] if re.fullmatch("#[0-9a-f]{6}", color) else [0, 0, 0]
    return " ".join(f"{part * opacity + 1 - opacity:.3f}" for part in parts)
