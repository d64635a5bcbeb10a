"""Markup: HTML and SVG elements whose text is escaped by construction, and the few blocks that pages repeat."""

import re
from collections.abc import Iterable
from html import escape, unescape
from typing import Protocol

# What HTML cannot hold, even escaped: control characters and lone halves of surrogate pairs.
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
_EMPTY = frozenset(("br", "col", "img", "input", "link", "meta", "path", "rect", "line", "circle", "use"))


class Html(str):
    """Text that is markup already. Any other text is escaped when it becomes part of an element."""

    __slots__ = ()


class Drawable(Protocol):
    """What draws itself as markup, such as a table."""

    def __html__(self) -> Html: ...


Child = Html | str | int | None | Drawable | Iterable["Child"]
NOTHING = Html("")


def tag(name: str, /, *children: Child, **attributes: object) -> Html:
    """One element. `class_` and `aria_label` are written as HTML does; None and False leave one out."""
    opened = name
    for key, value in attributes.items():
        if value is not None and value is not False:
            opened += f" {key.rstrip('_').replace('_', '-')}"
        if value is not None and not isinstance(value, bool):
            shown = f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)
            opened += f'="{escape(_FORBIDDEN.sub(chr(0xFFFD), shown))}"'
    if name in _EMPTY and not children:
        return Html(f"<{opened}/>")
    return Html(f"<{opened}>{join_markup(children)}</{name}>")


def join_markup(child: Child) -> Html:
    """Children one after another as markup."""
    if isinstance(child, Html):
        return child
    if child is None:
        return NOTHING
    if isinstance(child, str | int):
        return Html(escape(_FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", str(child)), quote=False))
    if isinstance(child, Iterable):
        return Html("".join(map(join_markup, child)))
    return child.__html__()


def strip_markup(child: Child) -> str:
    """The text alone."""
    return child if type(child) is str else unescape(re.sub(r"<[^>]+>", " ", join_markup(child))).strip()


def shorten_text(text: str, most: int) -> str:
    """Text on one line, cut with an ellipsis after this many characters."""
    flat = " ".join(text.split())
    return flat if len(flat) <= most else f"{flat[:most].rstrip()}…"


def render_note(*children: Child) -> Html:
    """A paragraph in small print."""
    return tag("p", *children, class_="note")


def render_details(summary: Child, *children: Child) -> Html:
    """What is folded until a reader opens it."""
    return tag("details", tag("summary", summary), *children)


def render_figure(title: Child, about: Child, *charts: Child, look: str | None = None) -> Html:
    """Charts under a caption; `about` follows the title in quieter print."""
    return tag("figure", tag("figcaption", title, tag("span", about) if about else None), *charts, class_=look)


def render_charts(figures: Iterable[Html], look: str = "charts pairs") -> Html:
    """Figures beside each other, as many as fit."""
    return tag("div", figures, class_=look)


def render_legend(items: Iterable[Child]) -> Html:
    return tag("ul", [tag("li", item) for item in items], class_="legend", aria_label="Legend")


def render_swatches(looks: Iterable[tuple[str, str]]) -> Html:
    """A legend of the name and look of each share."""
    return render_legend([tag("span", class_=f"swatch {look}"), name] for name, look in looks)


def render_terms(terms: Iterable[tuple[str, Child]]) -> Html:
    """Terms with their explanations."""
    return tag("dl", [(tag("dt", name), tag("dd", about)) for name, about in terms], class_="method")


def render_tiles(tiles: Iterable[tuple[str, str, str]]) -> Html:
    """The few figures a reader wants first: name, figure and a line about it."""
    items = [tag("div", tag("dt", name), tag("dd", figure, tag("small", about))) for name, figure, about in tiles]
    return tag("dl", items, class_="tiles")
