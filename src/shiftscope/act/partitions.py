"""Partitions: the examples of a run of scenes for each of the paper's four partitions.

original     five actions an image, five kinds of questions an action
balanced     as many questions for each of the 27 answers
two_actions  three of six pairs of actions an image, five kinds of questions a pair (2HopT_A)
two_parts    three actions an image, five questions with "and", "or" and "not" an action (2HopQ_H)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np

from ..question import Question
from ..scene import Scene
from .action import KINDS
from .asker import ANSWERS, Wish, asker_of_kinds, asker_of_logic
from .dice import Dice
from .examples import Plan, ask_about
from .hypothesis import look_at

PAIRS = tuple(combinations(("add", "remove", "change", "move"), 2))
MOVES = ("move_in_plane", "move_on_top")
HYPOTHESES = 3  # an image of a two-hop set
EVERY = tuple((kind,) for kind in KINDS)
ROUNDS = 6  # over the scenes, to find what answers are still missing
SPARE = 3  # further actions tried where too few questions can be asked about one
RARE = np.array([4 <= number <= 9 for number in range(ANSWERS)])  # answers that only some scenes allow
NUMBERS = np.where(RARE, np.arange(ANSWERS), 0)  # as many objects as these must be there
QUESTIONS = 5  # an action
LEAST = 6  # answers that must be due for another action to be thought of
TWO_HOPS = Wish(QUESTIONS, per_slot=3, persistence=100)  # some kinds can not be asked about some actions
WANTED = Wish(20, per_slot=8, persistence=60, rounds=2)  # as many as have an answer that is wanted


def original(
    scenes: Sequence[Scene], first: int, seed: int, split: str, placements: int
) -> Iterator[Question]:
    """25 examples a scene, as far as the scene allows; answers are kept from leading too far."""
    plan = Plan(EVERY, asker_of_kinds(), "o", Wish(QUESTIONS, whole=True), spare=1)
    balance = plan.asker.balance()
    for scene in scenes:
        yield from ask_about(look_at(scene), plan, balance, seed=seed, split=split, placements=placements)


def balanced(
    scenes: Sequence[Scene], first: int, seed: int, split: str, placements: int
) -> Iterator[Question]:
    """Half an example of each answer a scene; an answer that too few scenes allow comes short."""
    asker = asker_of_kinds()
    balance = asker.balance()
    each = (first + len(scenes)) // 2 - first // 2
    left = np.full(ANSWERS, each, np.int64)
    for turn in range(ROUNDS):
        for number, scene in enumerate(scenes):
            # Even over the scenes, but for a first round that takes what is rare where it finds it.
            due = left - each + -(-each * (number + 1) // len(scenes)) if turn == 0 else left
            allowed = len(scene.objects) + 1 >= NUMBERS  # no action adds more than one
            before = look_at(scene)
            for k in range(len(KINDS)):  # none always comes first
                wanted = np.where(allowed, np.minimum(left, np.where(RARE, left, due + 1)), 0)
                if np.minimum(wanted, due).clip(0).sum() < (LEAST if turn == 0 else 1):
                    break
                balance.wanted[:] = wanted
                plan = Plan((EVERY[(number + k) % len(EVERY)],), asker, f"b{turn}{k}_", WANTED)
                yield from ask_about(before, plan, balance, seed=seed, split=split, placements=placements)
                used = wanted - balance.wanted
                left, due = left - used, due - used
        if not left.any():
            return


def two_actions(
    scenes: Sequence[Scene], first: int, seed: int, split: str, placements: int
) -> Iterator[Question]:
    """15 examples a scene: the pairs take turns, either of a pair may come first."""
    asker = asker_of_kinds()
    balance = asker.balance()
    for number, scene in enumerate(scenes, first):
        dice = Dice("clevr_hyp", seed, split, "pairs", scene.id)
        kinds = []
        for turn in range(HYPOTHESES):
            pair = dice.shuffled(PAIRS[(HYPOTHESES * number + turn) % len(PAIRS)])
            kinds.append(tuple(dice.pick(MOVES) if kind == "move" else kind for kind in pair))
        plan = Plan(tuple(kinds), asker, "a", TWO_HOPS, spare=SPARE)
        yield from ask_about(look_at(scene), plan, balance, seed=seed, split=split, placements=placements)


def two_parts(
    scenes: Sequence[Scene], first: int, seed: int, split: str, placements: int
) -> Iterator[Question]:
    """15 examples a scene: the actions take turns."""
    asker = asker_of_logic()
    balance = asker.balance()
    for number, scene in enumerate(scenes, first):
        kinds = tuple(EVERY[(HYPOTHESES * number + turn) % len(EVERY)] for turn in range(HYPOTHESES))
        plan = Plan(kinds, asker, "q", TWO_HOPS, spare=SPARE)
        yield from ask_about(look_at(scene), plan, balance, seed=seed, split=split, placements=placements)
