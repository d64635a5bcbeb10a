"""Inference over possible scenes: the answer that most of the belief gives, among scenes the question fits.

What is believed are independent chances: that each object and part is there, what it is, and on which side
of each other two objects stand. A question is run on the likeliest joint outcomes (exactly the K likeliest of
what it mentions), and where these leave much out, on sampled ones too, which share the rest. A scene in which
the question refers to nothing, or to several, does not count: whoever asked saw that it does. So the answer
is conditioned on what the question presupposes, which the product rules of soft execution can not do.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...scenetable import SceneTable, Terms
from ...schema import Schema
from ..beliefs import Beliefs
from ..soft_world import PAPER, SIDES, Rules
from ..spatial import SpatialLikelihood, unlearned
from . import packed
from .likeliest import at_most_a_word
from .packed import Kinds, Lowered, Lowering, Programs, gathered
from .soft import SoftAnswers, execute_soft

WORLDS = 32  # 16 and 64 answered as well on a trained parser's beliefs, at twice and half the speed
COVER = 0.1  # the likeliest worlds with less of the chance than this get sampled ones beside them
WIDER = (8,)  # times as many worlds for a question that fits none of them; more settle hardly any
ROWS = 1 << 14  # worlds built at a time; bounds the memory


def answer(
    programs: Programs,
    beliefs: Beliefs,
    rows: Iterable[int] | NDArray[np.int64],
    *,
    relation: SpatialLikelihood | None = None,
    worlds: int = WORLDS,
    cover: float = COVER,
    rules: Rules = PAPER,
    lowering: Lowering | None = None,
) -> SoftAnswers:
    """Answer program i of the believed scene `rows[i]`; `belief` is the answer's share of the worlds it fits.

    Where no world fits, more are tried; where none of those does, the soft rules answer, `settled` is False.
    """
    known = at_most_a_word(beliefs.numpy()).padded()
    lower = lowering or Lowering(known.schema, _sides(known.schema))
    scene = np.fromiter(rows, np.int64) if not isinstance(rows, np.ndarray) else rows
    if len(scene) and int(scene.max()) >= len(known):
        raise ValueError("a program names a scene that is not in the beliefs")
    prepared = lower.prepare(programs)
    lowered = prepared.on(scene)
    size = len(lowered)
    results = _Results.of(size)
    inference = _Inference(known, lower, relation or unlearned(known))
    todo = np.arange(size)  # places in `lowered`
    for times in (1, *WIDER):
        inference.run(lowered, todo, worlds * times, cover, results)
        at = lowered.order[todo]
        todo = todo[~results.settled[at] & ~results.all_there_are[at]]
        if not len(todo):
            break
    value, belief, settled, _ = results
    rest = np.flatnonzero(~settled)
    if len(rest):
        soft = execute_soft(prepared.take(rest), known, scene[rest], rules)
        value[rest], belief[rest] = soft.value, soft.belief
    return SoftAnswers(value, belief, settled, lowered.kinds, lower.terms, lower.part_terms)


def _sides(schema: Schema) -> tuple[str, ...]:
    return tuple(name for name in schema.relations if name in SIDES)


class _Results(NamedTuple):
    """For each program: the answer, its share, whether any world fits, and whether there are more worlds."""

    value: NDArray[np.int64]
    belief: NDArray[np.float32]
    settled: NDArray[np.bool_]
    all_there_are: NDArray[np.bool_]  # no other world is worth a thought

    @classmethod
    def of(cls, size: int) -> _Results:
        flags = np.zeros(size, np.bool_)
        return cls(np.zeros(size, np.int64), np.zeros(size, np.float32), flags, flags.copy())


class _Inference:
    """Beliefs as the compiled loop wants them."""

    def __init__(self, beliefs: Beliefs, lower: Lowering, relation: SpatialLikelihood) -> None:
        self.schema, self.lower = beliefs.schema, lower
        self.objects, self.parts = beliefs.exists.shape[1], beliefs.part_exists.shape[1]
        self.beliefs = (
            np.ascontiguousarray(beliefs.exists, np.float64),
            _by_term(beliefs.attributes, lower.terms),
            np.ascontiguousarray(beliefs.part_exists, np.float64),
            np.ascontiguousarray(beliefs.part_owner.clip(0, self.objects - 1), np.int64),
            _by_term(beliefs.part_attributes, lower.part_terms),
            np.ascontiguousarray(relation.beyond(beliefs)),
        )
        sides = [SIDES[name] for name in lower.relations]
        self.vocabulary = (
            _vocabulary(lower.terms),
            _vocabulary(lower.part_terms),
            (
                np.array([axis for axis, _ in sides], np.int64),
                np.array([sign for _, sign in sides], np.int64),
            ),
        )

    def run(
        self, lowered: Lowered, places: NDArray[np.int64], worlds: int, cover: float, results: _Results
    ) -> None:
        step = min(max(1, ROWS // (2 * worlds)), max(len(places), 1))
        room = self._room(2 * worlds * step)
        for i in range(0, len(places), step):
            self._run(lowered, places[i : i + step], worlds, cover, room, results)

    def _run(
        self,
        lowered: Lowered,
        places: NDArray[np.int64],
        worlds: int,
        cover: float,
        table: SceneTable,
        results: _Results,
    ) -> None:
        from ._worlds_loop import tally
        from ._worlds_loop import worlds as build

        count = len(places)
        start = lowered.start.astype(np.int64)
        words, begin = gathered(lowered.words, start[places], start[places + 1])
        weight = np.zeros(2 * worlds * count)
        first_world, mass = np.zeros(count + 1, np.int64), np.zeros(count)
        made = build(
            (words, begin, lowered.scene[places].astype(np.int64)),
            self.beliefs,
            self.vocabulary,
            worlds,
            float(cover),
            (
                *(table.codes, table.masks, table.everything, table.rows),
                *(table.part_codes, table.part_masks, table.owner, table.parts_of),
            ),
            (weight, first_world, mass),
        )
        program = np.repeat(np.arange(count), np.diff(first_world))
        all_words, all_begin = gathered(words, begin[program], begin[program + 1])
        found = packed.run(
            Lowered(
                self.schema,
                all_words,
                all_begin.astype(np.uint64),
                np.arange(made, dtype=np.uint64),
                np.arange(made),
                Kinds((), np.zeros(0, np.int64)),
            ),
            table,
        )
        here = _Results.of(count)
        tally(first_world, weight, found.value, found.reason, here[:3])
        here.all_there_are[:] = mass > 1 - 1e-9
        at = lowered.order[places]
        results.value[at], results.belief[at] = here.value, here.belief
        results.settled[at], results.all_there_are[at] = here.settled, here.all_there_are

    def _room(self, worlds: int) -> SceneTable:
        """A table for that many worlds; every row has room for all objects and parts."""
        n, m, lower = self.objects, self.parts, self.lower
        relations = lower.relations
        return SceneTable(
            schema=self.schema,
            terms=lower.terms,
            part_terms=lower.part_terms,
            relations=relations,
            start=np.arange(worlds + 1) * n,
            codes=np.empty((worlds * n, len(lower.terms.attributes)), np.int16),
            masks=np.empty((worlds, len(lower.terms.names)), np.uint64),
            everything=np.empty(worlds, np.uint64),
            rows=np.empty((worlds * n, len(relations)), np.uint64),
            knows=np.ones((worlds, len(relations)), np.bool_),
            part_start=np.arange(worlds + 1) * m,
            part_codes=np.empty((worlds * m, len(lower.part_terms.attributes)), np.int16),
            part_masks=np.empty((worlds, len(lower.part_terms.names)), np.uint64),
            owner=np.empty(worlds * m, np.int64),
            parts_of=np.empty(worlds * n, np.uint64),
            numbers=np.empty((0, 11)),
            sides=(),
        )


def _by_term(attributes: tuple[NDArray[Any], ...], terms: Terms) -> NDArray[np.float64]:
    """[scene, thing, term] chance of each value, at its code; 0 at the codes of kinds."""
    if not attributes:
        return np.zeros((1, 1, 1))
    found = np.zeros((*attributes[0].shape[:2], len(terms.names)))
    for p, first in zip(attributes, terms.first, strict=True):
        found[:, :, first : first + p.shape[-1]] = p
    return found


def _vocabulary(terms: Terms) -> tuple[NDArray[Any], ...]:
    """[term] its attribute; [term, value] whether it takes that in; [attribute] first value, how many."""
    size = len(terms.names)
    attribute_of = np.zeros(size, np.int64)
    contains = np.eye(size, dtype=np.bool_)
    for column, (attribute, first) in enumerate(zip(terms.attributes, terms.first, strict=True)):
        attribute_of[first : first + len(attribute.terms)] = column
        for kind, members in attribute.kinds:
            for value in members:
                contains[terms.code[attribute.name, kind], terms.code[attribute.name, value]] = True
    counts = np.array([len(a.values) for a in terms.attributes], np.int64)
    return attribute_of, contains, np.array(terms.first, np.int64), counts
