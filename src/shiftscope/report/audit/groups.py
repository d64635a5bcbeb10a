"""Groups: the concepts that make each shortcut, the answers they lead to, and samples behind them."""

from __future__ import annotations

from ...audit.tables import Strong, distribution, strongest
from ..legend import swatches
from ..markup import Html, tag, text
from ..number import count, percent, several
from ..section import Section
from .answers import answers
from .behind import behind
from .evidence import Evidence, called
from .histogram import histogram
from .strength import meter

MOST = 8  # groups a shortcut
LOOKS = (
    ("frequent answer (head)", "is-head"),
    ("rare answer (tail)", "is-tail"),
    ("train, or a balanced group", "is-rest"),
)


def section(shown: Evidence) -> Section | None:
    listed = [(line.shortcut, strongest(shown.audit, line.shortcut, MOST)) for line in shown.lines]
    parts = [_shortcut(shown, name, found) for name, found in listed if found]
    if not parts:
        return None
    lead = (
        "Of each shortcut, the groups of the train split in which guessing pays most: many samples, uneven "
        "answers. Open one for the answers it leads to and for samples behind it."
    )
    return Section("The strongest groups", text([swatches(LOOKS), parts]), lead)


def _shortcut(shown: Evidence, name: str, found: tuple[Strong, ...]) -> Html:
    uneven = int(shown.audit.train[name].imbalanced.sum())
    told = f": {called(name)}. {several(uneven, 'imbalanced group')} in train"
    heading = tag("h3", name, tag("span", told, class_="about"), id=f"groups-{name}")
    names = ("Concept", "Commonest answer", "Its share", "In train", "Answers")
    head = tag("div", [tag("span", one) for one in names], class_="group-head", aria_hidden="true")
    return tag("div", heading, head, [_group(shown, name, one) for one in found], class_="groups")


def _group(shown: Evidence, shortcut: str, one: Strong) -> Html:
    audit = shown.audit
    summary = tag(
        "summary",
        tag("span", one.name, class_="concept"),
        tag("span", one.answer, class_="answer"),
        tag("span", tag("span", f"{percent(one.share, 0)}%"), meter(one.share), class_="share"),
        tag("span", count(one.size), tag("span", " samples", class_="unit"), class_="n"),
        tag("span", count(one.classes), tag("span", " answers", class_="unit"), class_="n"),
        title=f"normalised entropy {one.entropy:.2f}; {count(one.tail)} samples of train in its tail",
    )
    spread = distribution(audit, shortcut, one.concept)
    uneven = bool(audit.test[shortcut].imbalanced[one.concept])
    limit = audit.settings.rare / max(int(audit.test[shortcut].classes[one.concept]), 1) if uneven else None
    inner = [
        tag("div", histogram(spread, limit), answers(spread), class_="spread"),
        behind(audit, shortcut, one.concept),
    ]
    return tag("details", summary, inner, class_="group")
