"""Asker: families of questions bound to the outcomes of actions; finds, words and checks them."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..answer import Answer
from ..ask.asker import Mismatch
from ..ask.dress import Key, ProgramMaker
from ..ask.lexicon import Lexicon
from ..ask.lower import EMPTY_SLOT, lower
from ..ask.wording import Wording
from ..lang.exec.exact import execute
from ..lang.program import Node, Program, node
from ..lang.world import World
from .stage import TERMS, Layout
from .templates import AFTER, SAID, Family, five_kinds, logical

MOST_COUNTED = 9  # so that there are 27 answers
ATTEMPTS = 12  # fillings tried for a template before the next is
PATIENCE = 3  # valid questions of a template whose answers do not do, before the next is tried
NO, YES, FIRST_TERM = 10, 11, 12  # numbers of answers: 0 to 9 are counts
ANSWERS = FIRST_TERM + len(TERMS.names)
NO_LIMIT = 1 << 60

Ints = npt.NDArray[np.int64]


class Job(NamedTuple):
    """An outcome to ask about, as rows of a layout."""

    after: int  # the scene after the action
    places: int  # how many follow it in which a free place was taken elsewhere
    without: int  # the first scene that lacks an action
    lacking: int  # how many of those there are
    placed: int  # how many follow them in which a free place was taken elsewhere
    by_place: bool  # some action changes nothing but where things stand
    look: int  # where, among the looks, there are those of what the action touched
    mine: int  # how many
    others: int  # and how many after them of what another action touched


class Found(NamedTuple):
    """One question that the search came up with."""

    job: int
    template: int
    code: int  # a number, a truth or a term's code
    values: list[int]  # codes of the slots
    dice: int  # random bits for the wording
    refused: list[int]  # before it: for an answer that the action does not change, that a place decides


@dataclass(frozen=True, slots=True)
class Wish:
    """How many questions are wanted about one action, and how hard to look for them."""

    questions: int  # at most
    per_slot: int = 1
    whole: bool = False  # an action that some slot stays empty for is of no use
    persistence: int = 200  # questions of a slot whose answers do not do, before it stays empty
    rounds: int = 3  # over the templates of a slot; from the second on, also answers that already lead


@dataclass(slots=True)
class Balance:
    """How often families, answers and slots were used so far, and how many of each answer are wanted."""

    counts: Ints
    uses: Ints
    taken: Ints
    wanted: Ints = field(default_factory=lambda: np.full(ANSWERS, NO_LIMIT, np.int64))
    refused: Ints = field(default_factory=lambda: np.zeros(2, np.int64))


class Asker:
    """Families bound to the vocabulary of outcomes."""

    def __init__(self, families: tuple[Family, ...]) -> None:
        self.families = families
        templates = tuple(f.template for f in families)
        self.lowered = lower(templates, AFTER, SAID)
        words = self.lowered.vocabulary
        lexicon = Lexicon(AFTER, SAID)
        self.programs = [_Maker(t, words) for t in templates]
        self.texts = [Wording(t, words, lexicon) for t in templates]
        self.slots = 1 + max(f.slot for f in families)
        self._slot_of = np.array([f.slot for f in families], np.int64)
        ends = [t.nodes[-1].meaning for t in templates]
        self._numbers = np.array(
            [FIRST_TERM if e.op == "query" else 0 if "count" in (e.op, e.tail) else NO for e in ends]
        )

    def balance(self) -> Balance:
        """Nothing used yet, and no limit to any answer."""
        most = max(2, int(self.lowered.answers[:, 1].max()))
        each = len(self.families)
        return Balance(*(np.zeros(shape, np.int64) for shape in ((each, most + 1), (each,), (self.slots,))))

    def find(
        self,
        layout: Layout,
        looks: Ints,
        jobs: list[Job],
        seeds: list[int],
        balance: Balance,
        wish: Wish,
    ) -> list[Found]:
        """Questions about each job's outcome whose answer depends on what was done and on no free place."""
        from ..ask._search import search_after

        low, words = self.lowered, self.lowered.vocabulary
        most = len(jobs) * wish.questions
        found = (
            np.zeros(most, np.int64),
            np.zeros(most, np.int64),
            np.zeros(most, np.int64),
            np.full((most, low.initial.shape[1]), EMPTY_SLOT, np.int64),
            np.zeros(most, np.uint64),
            np.zeros((most, 2), np.int64),
        )
        size = search_after(
            (
                *(wish.questions, wish.per_slot, self.slots, wish.rounds, ATTEMPTS, PATIENCE),
                *(wish.persistence, MOST_COUNTED, wish.whole),
            ),
            np.array(seeds, np.uint64),
            low.arrays(),
            layout,
            (words.offers, words.covers, words.value),
            np.array(jobs, np.int64),
            looks,
            self._slot_of,
            self._numbers,
            balance.wanted,
            balance.counts,
            balance.uses,
            balance.taken,
            found,
            balance.refused,
        )
        return [Found(*row) for row in zip(*(column[:size].tolist() for column in found), strict=True)]

    def program(self, found: Found) -> Program:
        """The question's program, starting from `scene`."""
        return self.programs[found.template](found.values)

    def text(self, found: Found) -> str:
        return self.texts[found.template](found.values, found.dice)

    def answer(self, found: Found, program: Program, after: World) -> Answer:
        """The answer, computed again by the plain executor on the scene after the action."""
        family = self.families[found.template]
        number = int(self._numbers[found.template])
        said: Answer = found.code
        if number == FIRST_TERM:
            said = TERMS.names[found.code]
        elif number == NO:
            said = bool(found.code)
        exact = execute(program, after).answer
        if type(exact) is not type(said) or exact != said:
            scene = after.scenes[0].id
            raise Mismatch(
                f"{family.template.where} on scene {scene}: search says {said!r}, execution {exact!r}"
            )
        return said

    def number(self, found: Found) -> int:
        """The answer's number among the 27."""
        return int(self._numbers[found.template]) + found.code


class _Maker(ProgramMaker):
    """Programs in which "below" is what an object is on."""

    def _node(self, key: Key) -> Node:
        made = super()._node(key)
        if made.op == "relate" and made.params == ("below",):
            return node("related", made.inputs, ("on", "object"))
        return made


@cache
def asker_of_kinds() -> Asker:
    return Asker(five_kinds())


@cache
def asker_of_logic() -> Asker:
    return Asker(logical())
