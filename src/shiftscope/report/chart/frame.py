"""Frame: the SVG element around a chart, its grid and its labels."""

from __future__ import annotations

from ..markup import Child, Html, tag

TEXT = 11.0  # pixels, the size of labels
CHAR = 6.1  # pixels a character of that size takes, about


def frame(width: float, height: float, label: str, *marks: Child, class_: str = "") -> Html:
    """A chart of this size; `label` is what a screen reader says of it."""
    return tag(
        "svg",
        *marks,
        class_=f"chart {class_}".strip(),
        viewBox=f"0 0 {width:g} {height:g}",
        width=width,
        height=height,
        role="img",
        aria_label=label,
    )


def words(x: float, y: float, content: str, *, at: str = "start", class_: str | None = None) -> Html:
    """A label; `at` is where x lies in it: start, middle or end."""
    return tag("text", content, x=x, y=y, text_anchor=None if at == "start" else at, class_=class_)


def rule(x1: float, y1: float, x2: float, y2: float, class_: str = "grid") -> Html:
    return tag("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=class_)


def shortened(label: str, width: float) -> str:
    """The label, cut with an ellipsis where it would be wider than this many pixels."""
    fits = max(int(width / CHAR), 2)
    return label if len(label) <= fits else f"{label[: fits - 1].rstrip()}…"
