"""Examples: for each scene, actions, and for each action questions whose answer it changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from ..ask.asker import image_notes
from ..lang.acted import joined
from ..question import JOINED, Provenance, Question
from ..scene import Scene
from .asker import Asker, Balance, Found, Job, Wish
from .dice import Dice
from .hypothesis import Before, Hypothesis, Told, suppose, tell
from .join import join
from .paraphrase import rephrased
from .ref import ATTRIBUTES
from .stage import Ints, Layout, empty_layout

PLACEMENTS = 20
MOST_PLACEMENTS = 1000
TWO_HOPS = 3  # scenes at most that lack an action of two: without either, and without one or the other
REFUSED = ("refused_unchanged", "refused_elsewhere")  # notes: valid questions dropped before this one
TRIES = 8  # hypotheses looked at for one with enough admissible places


@dataclass(frozen=True, slots=True)
class Plan:
    """How a scene is asked about: which actions, and which questions."""

    kinds: tuple[tuple[str, ...], ...]  # the kinds of each hypothesis: one, or two in turn
    asker: Asker
    mark: str  # of question ids
    wish: Wish  # for the questions about one action
    spare: int = 0  # further hypotheses tried where there are fewer questions about one


class Case(NamedTuple):
    """A hypothesis, where its scenes are in a layout, and which entry of the plan it is for."""

    entry: int
    hypothesis: Hypothesis
    job: Job
    dice: Dice


def ask_about(
    before: Before,
    plan: Plan,
    balance: Balance,
    *,
    seed: int,
    split: str,
    placements: int = PLACEMENTS,
) -> list[Question]:
    """The examples of one scene: a function of it, the plan, seed, split, and the balance so far."""
    scene = before.world.scenes[0]
    best: dict[int, tuple[Case, list[Found]]] = {}
    entries = list(range(len(plan.kinds)))
    full = plan.wish.questions
    for turn in range(1 + plan.spare):
        path = ("clevr_hyp", seed, split, plan.mark, scene.id, turn)
        layout, looks, cases = supposed(before, plan, entries, placements, path)
        found: list[list[Found]] = [[] for _ in cases]
        if cases:
            seeds = [case.dice.word() for case in cases]
            jobs = [case.job for case in cases]
            wish = plan.wish if turn < plan.spare else replace(plan.wish, whole=False)
            for one in plan.asker.find(layout, looks, jobs, seeds, balance, wish):
                found[one.job].append(one)
        for case, mine in zip(cases, found, strict=True):
            if len(mine) > len(best.get(case.entry, ((), ()))[1]):
                best[case.entry] = case, mine
        entries = [e for e in entries if len(best.get(e, ((), ()))[1]) < full]
        if not entries:
            break
    notes = image_notes(scene)
    made: list[Question] = []
    for entry in sorted(best):
        case, mine = best[entry]
        told = tell(before, case.hypothesis, case.dice)
        for one in mine:
            made.append(_question(one, case.hypothesis, told, plan, scene, split, len(made), notes))
    return made


def supposed(
    before: Before, plan: Plan, entries: Sequence[int], placements: int, path: tuple[str | int, ...]
) -> tuple[Layout, Ints, list[Case]]:
    """A hypothesis for each of these entries of the plan, as far as the scene allows, and its scenes.

    These are, for each: the scene after, those with its free places taken elsewhere, those that lack an
    action, and those with the free places of these taken elsewhere. Beside them, what objects that are
    touched look like.
    """
    elsewhere = placements if placements > 1 else 0
    rooms = sum(1 + elsewhere + (1 if len(plan.kinds[e]) == 1 else TWO_HOPS + 2 * elsewhere) for e in entries)
    layout = empty_layout(rooms)
    looks: list[list[int]] = []
    found: list[Case] = []
    at = 0
    for entry in entries:
        dice = Dice(*path, "act", entry)
        for _ in range(TRIES):
            one = suppose(before, plan.kinds[entry], dice)
            if one is None:
                break
            places = elsewhere if one.free else 0
            if places and _elsewhere(before, one.edits, dice, layout, at + 1, places) < places:
                continue
            one.stage.lay(layout, at)
            without = at = at + 1 + places
            for lacking in one.lacking:
                lacking.stage.lay(layout, at)
                at += 1
            for lacking in one.lacking:
                if lacking.free and elsewhere:
                    at += _elsewhere(before, lacking.edits, dice, layout, at, elsewhere)
            placed = at - without - len(one.lacking)
            touched = (len(looks), len(one.looks[0]), len(one.looks[1]) if len(one.looks) > 1 else 0)
            looks += [look for some in one.looks for look in some]
            scenes = (without - 1 - places, places, without, len(one.lacking), placed)
            found.append(Case(entry, one, Job(*scenes, one.by_place, *touched), dice))
            break
    return layout, np.array(looks, np.int64).reshape(-1, len(ATTRIBUTES)), found


def _elsewhere(before: Before, edits: Ints, dice: Dice, layout: Layout, at: int, places: int) -> int:
    """Lay out the outcome of some edits with its free places taken at random; how many times that went."""
    sets, codes, knows = layout
    rows = slice(at, at + places)
    return before.stage.outcomes(edits, dice.word(), (sets[rows], codes[rows], knows[rows]))


def _question(
    found: Found, h: Hypothesis, told: Told, plan: Plan, scene: Scene, split: str, number: int, notes: Any
) -> Question:
    family = plan.asker.families[found.template]
    program = plan.asker.program(found)
    answer = plan.asker.answer(found, program, told.after)
    text = rephrased(plan.asker.text(found), found.dice)
    about: list[tuple[str, Any]] = [("action_kind", h.label), ("placed", "free" if h.free else "told")]
    about += [("logic", family.logic)] if family.logic else []
    about += [(name, n) for name, n in zip(REFUSED, found.refused, strict=True) if n]
    return Question(
        id=f"{scene.id}_{plan.mark}{number}",
        text=text,
        scenes=(scene.id,),
        program=joined(told.nodes, program),
        answer=answer,
        kind=family.kind,
        action=told.said.sentence,
        provenance=Provenance("clevr_hyp", split, family.template.file, family.template.family),
        notes=(*about, (JOINED, join(told.said.clause, text)), *notes),
    )
