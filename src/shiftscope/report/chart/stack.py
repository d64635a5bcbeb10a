"""Stack: one bar divided into named shares, each with its own pattern as well as its colour."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..markup import Html, tag
from .frame import CHAR, frame, words


@dataclass(frozen=True, slots=True)
class Share:
    """A part of the whole; `look` is the class of its colour and pattern."""

    name: str
    value: float  # of 1
    figure: str
    look: str


def stack(label: str, shares: Sequence[Share], *, width: float = 360, height: float = 20) -> Html:
    """The bar; a figure is written inside where it fits, and in the tooltip anyway."""
    parts: list[Html] = []
    x = 0.0
    for share in shares:
        if share.value <= 0:
            continue
        wide = width * share.value
        parts.append(
            tag(
                "rect",
                tag("title", f"{share.name}: {share.figure}"),
                x=x,
                y=1,
                width=max(wide - 1, 0.6),
                height=height - 2,
                class_=f"share {share.look}",
            )
        )
        if len(share.figure) * CHAR + 8 <= wide:
            parts.append(
                words(x + wide / 2, height / 2 + 4, share.figure, at="middle", class_=f"on {share.look}")
            )
        x += wide
    return frame(width, height, label, *parts, class_="small")
