"""Paraphrase: a question in more natural English, of the same meaning, made from what its template filled in.

Each template has a few other wordings, one of which is chosen by a random path. A paraphrase that somebody
wrote, as the official files have them, goes before any of ours.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ... import rng
from ...question import Notes
from . import _ways_of_many, _ways_of_one
from ._filled import Filled

ANNOTATED = ("rephrase", "paraphrased", "paraphrase")  # what files call a paraphrase
WAYS: Mapping[str, Callable[[Filled], list[str]]] = {**_ways_of_one.WAYS, **_ways_of_many.WAYS}


def annotated(notes: Notes | Mapping[str, Any]) -> str:
    """The paraphrase that a question of a file came with; empty if there is none."""
    known = dict(notes)
    said = (known.get(name) for name in ANNOTATED)
    return next((text.strip() for text in said if isinstance(text, str) and text.strip()), "")


def paraphrase(draft: Filled, *path: str | int, notes: Notes = ()) -> str:
    """The question in other words, a function of draft and path alone; one annotated in the notes wins."""
    if text := annotated(notes):
        return text
    ways = wordings(draft)
    return ways[rng.seed_of("paraphrase", draft.template, *path) % len(ways)]


def wordings(draft: Filled) -> tuple[str, ...]:
    """All the other ways to ask it; at least one, even of a question that is short already."""
    ways = tuple(way[:1].upper() + way[1:] for way in WAYS[draft.template](draft))
    return tuple(way for way in ways if way != draft.text) or ways
