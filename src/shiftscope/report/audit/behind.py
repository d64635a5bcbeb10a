"""Behind: a few samples of a group, some with a frequent answer and some with a rare one."""

from __future__ import annotations

import numpy as np

from ...audit.audit import Audit
from ...audit.groups import HEAD, TAIL, Groups
from ...audit.samples import Rows
from ...audit.tables import PARTS
from ..markup import Html, tag
from .histogram import LOOK

EACH = 3  # of the head, and of the tail
LETTERS = 160


def behind(audit: Audit, shortcut: str, concept: int) -> Html:
    """Samples of the IID test; of train, where the test has none of the group in head or tail."""
    where, found = "IID test", _samples(audit.test[shortcut], concept)
    if not found:
        where, found = "train split", _samples(audit.train[shortcut], concept)
    listed = [_sample(audit, row, PARTS[part]) for row, part in found]
    return tag("div", tag("p", f"Samples of the {where}", class_="facts"), tag("ul", listed), class_="behind")


def _samples(groups: Groups, concept: int) -> list[tuple[int, int]]:
    mine = groups.labels.codes[groups.rows] == concept
    made = []
    for part in (HEAD, TAIL):
        made += [(row, part) for row in _some(groups.rows[mine & (groups.part == part)])]
    return made


def _some(rows: Rows) -> list[int]:
    """A few, evenly over all of them."""
    places = np.unique(np.linspace(0, len(rows) - 1, min(EACH, len(rows))).round().astype(int))
    return [int(row) for row in rows[places]]


def _sample(audit: Audit, row: int, part: str) -> Html:
    samples = audit.samples
    text, image = str(samples.texts[row]), samples.images[row]
    named = f"{samples.ids[row]}" if image is None else f"{samples.ids[row]}, image {image}"
    return tag(
        "li",
        tag("span", part, class_=f"part {LOOK[part]}"),
        tag("span", _cut(text) or "(no question)", class_="asked"),
        tag("b", _cut(str(samples.answers[row])) or "(empty)"),
        tag("span", f"id {named}", class_="id"),
    )


def _cut(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= LETTERS else f"{flat[:LETTERS].rstrip()}…"
