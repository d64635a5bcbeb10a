"""Markup: HTML and SVG elements whose text is escaped by construction."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape

# What HTML can not hold, even escaped: control characters and lone halves of surrogate pairs.
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
_EMPTY = frozenset(("br", "col", "img", "input", "link", "meta", "path", "rect", "line", "circle", "use"))


class Html(str):
    """Text that is markup already. Any other text is escaped when it becomes part of an element."""

    __slots__ = ()


Child = Html | str | int | None | Iterable["Child"]
NOTHING = Html("")


def tag(name: str, /, *children: Child, **attributes: object) -> Html:
    """One element. `class_` and `aria_label` are written as HTML does; None and False leave one out."""
    opened = name + "".join(_attribute(key, value) for key, value in attributes.items())
    if name in _EMPTY and not children:
        return Html(f"<{opened}/>")
    return Html(f"<{opened}>{text(children)}</{name}>")


def text(child: Child) -> Html:
    """Children one after another as markup."""
    if isinstance(child, Html):
        return child
    if child is None:
        return NOTHING
    if isinstance(child, str | int):
        return Html(escape(_FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", str(child)), quote=False))
    return Html("".join(map(text, child)))


def _attribute(key: str, value: object) -> str:
    if value is None or value is False:
        return ""
    name = key.rstrip("_").replace("_", "-")
    if value is True:
        return f" {name}"
    shown = f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)
    return f' {name}="{escape(_FORBIDDEN.sub(chr(0xFFFD), shown))}"'
