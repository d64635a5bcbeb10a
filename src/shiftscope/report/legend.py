"""Legends: which sign is which contender, which swatch which share."""

from __future__ import annotations

from collections.abc import Iterable

from .chart.mark import legend_mark
from .markup import Html, tag
from .study import Study

LONG = 30  # letters that a column of names has room for


def contenders(study: Study, shown: Iterable[str]) -> Html:
    """The signs of these contenders."""
    listed = [tag("li", signed(study, name)) for name in shown]
    return tag("ul", listed, class_="legend", aria_label="Legend")


def signed(study: Study, contender: str) -> Html:
    """A contender's name after its sign; another name stands alone."""
    sign = legend_mark(study.series(contender)) if contender in study.contenders else None
    return tag("span", sign, contender, class_="name", title=contender if len(contender) > LONG else None)


def swatches(looks: Iterable[tuple[str, str]]) -> Html:
    """Name and look of each share."""
    listed = [tag("li", tag("span", class_=f"swatch {look}"), name) for name, look in looks]
    return tag("ul", listed, class_="legend", aria_label="Legend")
