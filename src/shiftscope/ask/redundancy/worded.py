"""Worded: a changed program in the words of a template of its shape.

Where no template has the shape, relations are taken off until one has, and are put back into its texts.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ...errors import UserError
from ...scenetable import Terms
from ..asker import Asker
from ..dress import ProgramMaker
from ..lower import EMPTY_SLOT
from ..template import Template
from ..wording import Wording
from .drop import relations
from .shape import NO_SLOT, NOTHING, Place, places_of, shape_of, steps_without, tree_of
from .splice import Graft, spliced
from .step import RELATIONS, Step, steps


class Fitted(NamedTuple):
    """A template ready to word the programs of its shape."""

    template: Template
    program: ProgramMaker
    text: Wording
    places: tuple[Place, ...]  # one a step


class Words:
    """The templates of an asker by shape; those made here are kept for the next question."""

    def __init__(self, asker: Asker) -> None:
        self.vocabulary = asker.lowered.vocabulary
        self.schema = self.vocabulary.schema
        self.code = Terms.of(self.schema.attributes).code
        self.relation = {name: code for code, name in enumerate(self.schema.relations)}
        self.own = [Fitted(f.template, f.program, f.text, places_of(f.template)) for f in asker.families]
        self.number: dict[tuple[str, int | None], int] = {
            (f.template.file, f.template.family): n for n, f in enumerate(self.own)
        }
        trees = [tree_of(f.template) for f in self.own]
        self.about_parts = [any(s.on_parts for s in steps(tree)) for tree in trees]
        self.relates = [bool(relations(tree)) for tree in trees]  # only these have a relation to drop
        self._by_shape: dict[str, list[int]] = {}
        for number, tree in enumerate(trees):
            self._by_shape.setdefault(shape_of(tree), []).append(number)
        self._made: dict[tuple[int, tuple[Graft, ...]], Fitted] = {}

    def fit(self, last: Step, like: int) -> tuple[Fitted, list[int]]:
        """A template for the tree, that of number `like` where it fits, and the codes of its slots."""
        for cut in _cuts(last):
            left = steps_without(last, cut)
            numbers = self._by_shape.get(shape_of(last, cut), ())
            for number in (like, *numbers) if like in numbers else numbers:
                fitted = self.own[number]
                if not all(map(_takes, fitted.places, left)):
                    continue
                if cut:
                    fitted = self._with_relations(number, left, cut)
                    left = steps(last)
                return fitted, self._codes(fitted, left)
        raise UserError(f"no template says anything of the shape {shape_of(last)}")

    def _with_relations(self, number: int, left: list[Step], cut: frozenset[int]) -> Fitted:
        fitted = self.own[number]
        grafts = tuple(
            Graft(place.node, _chain(step), _joined(step))
            for place, step in zip(fitted.places, left, strict=True)
            if id(step) in cut
        )
        made = self._made.get((number, grafts))
        if made is None:
            template = spliced(fitted.template, grafts, self.schema)
            text = Wording(template, self.vocabulary, fitted.text.lexicon)
            text.rivals = fitted.text.rivals  # "other" still tells the same two descriptions apart
            made = Fitted(template, ProgramMaker(template, self.vocabulary), text, places_of(template))
            self._made[number, grafts] = made
        return made

    def _codes(self, fitted: Fitted, listed: list[Step]) -> list[int]:
        codes = [EMPTY_SLOT] * len(fitted.template.params)
        for place, step in zip(fitted.places, listed, strict=True):
            if place.relation != NO_SLOT:
                codes[place.relation] = self.relation[step.params[0]]
            for word in step.words:
                codes[place.words[word.attribute]] = self.code[word.attribute, word.value]
        return codes


def _takes(place: Place, step: Step) -> bool:
    """Whether the template has a place for each of the step's words, and they fill those it needs."""
    named: set[str] = set()
    for word in step.words:
        if word.op != "filter" or word.attribute not in place.words or word.attribute in named:
            return False
        named.add(word.attribute)
    return place.needed <= named


def _cuts(last: Step) -> Iterator[frozenset[int]]:
    """Relations to take off, in turn: those that were added, so that the rest reads as before; none; all."""
    related = [s for s in steps(last) if s.op in RELATIONS and not s.loose]
    added = frozenset(id(s) for s in related if s.inputs[0].inputs[0].added)
    if added:
        yield added
    yield NOTHING
    yield frozenset(id(s) for s in related)


def _joined(step: Step) -> bool:
    """Whether it is said in one breath with another by "and" or "or", where a second "that is" misleads."""
    above = step.above
    while above is not None and above.op not in ("union", "intersect"):
        above = above.above
    return above is not None


def _chain(step: Step) -> int:
    """How many relations follow each other from here."""
    length = 0
    while step.op in RELATIONS:
        length, step = length + 1, step.inputs[0].inputs[0]
    return length
