"""Examples: for each scene, actions, and for each action questions whose answer it changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..ask.asker import image_notes
from ..lang.acted import joined
from ..question import JOINED, Provenance, Question
from ..rng import seed_of
from ..scene import Scene
from .asker import Asker, Balance, Found, Job
from .dice import Dice
from .hypothesis import Before, Hypothesis, look_at, suppose
from .join import join
from .paraphrase import rephrased
from .stage import Layout, clear, edits_of, empty_layout, lay_scene, stage_of

PLACEMENTS = 20
MOST_PLACEMENTS = 1000
LACKING = 3  # scenes at most that lack an action: without either, and without one or the other
REFUSED = ("refused_unchanged", "refused_elsewhere")  # notes: valid questions dropped before this one
TRIES = 8  # hypotheses looked at for one with enough admissible places


@dataclass(frozen=True, slots=True)
class Plan:
    """How a scene is asked about: which actions, and which questions."""

    kinds: tuple[tuple[str, ...], ...]  # the kinds of each hypothesis: one, or two in turn
    asker: Asker
    mark: str  # of question ids
    per_slot: int = 1
    spare: int = 0  # further hypotheses tried where one leaves a slot empty


class Case(NamedTuple):
    """A hypothesis, where its scenes are in a layout, and which entry of the plan it is for."""

    entry: int
    hypothesis: Hypothesis
    job: Job


def ask_about(
    scene: Scene,
    plan: Plan,
    balance: Balance,
    *,
    seed: int,
    split: str,
    placements: int = PLACEMENTS,
) -> list[Question]:
    """The examples of one scene: a function of it, the plan, seed, split, and the balance so far."""
    before = look_at(scene)
    best: dict[int, tuple[Hypothesis, list[Found]]] = {}
    entries = list(range(len(plan.kinds)))
    for turn in range(1 + plan.spare):
        path = ("clevr_hyp", seed, split, plan.mark, scene.id, turn)
        layout, cases = supposed(before, plan, entries, placements, path)
        if cases:
            seeds = [seed_of(*path, "ask", case.entry) for case in cases]
            jobs = [case.job for case in cases]
            listed = plan.asker.find(layout, jobs, seeds, balance, per_slot=plan.per_slot)
            for number, case in enumerate(cases):
                found = [one for one in listed if one.job == number]
                if len(found) > len(best.get(case.entry, ((), ()))[1]):
                    best[case.entry] = case.hypothesis, found
        full = plan.asker.slots * plan.per_slot
        entries = [e for e in entries if len(best.get(e, ((), ()))[1]) < full]
        if not entries:
            break
    notes = image_notes(scene)
    kept = [(one, best[entry][0]) for entry in sorted(best) for one in best[entry][1]]
    return [_question(one, h, plan, scene, split, number, notes) for number, (one, h) in enumerate(kept)]


def supposed(
    before: Before, plan: Plan, entries: Sequence[int], placements: int, path: tuple[str | int, ...]
) -> tuple[Layout, list[Case]]:
    """A hypothesis for each of these entries of the plan, as far as the scene allows, and its scenes.

    These are, for each: the scene after, those with its free places taken elsewhere, and those that lack
    an action.
    """
    elsewhere = placements if placements > 1 else 0
    layout = empty_layout(len(entries) * (1 + elsewhere + LACKING))
    found: list[Case] = []
    at = 0
    for entry in entries:
        dice = Dice(*path, "act", entry)
        for again in range(TRIES):
            one = suppose(before, plan.kinds[entry], dice)
            if one is None:
                break
            places = elsewhere if one.free else 0
            rows = slice(at + 1, at + 1 + places)
            room = (layout[0][rows], layout[1][rows], layout[2][rows])
            where = (*path, "place", entry, again)
            if places and not before.stage.outcomes(edits_of(one.actions), where, room):
                clear(room)
                continue
            lay_scene(one.after.scenes[0], one.stage, layout, at, one.stage.fresh())
            job = Job(at, places, at + 1 + places, len(one.lacking), one.in_place)
            at = job.without
            for scene in one.lacking:
                stage = before.stage if scene is before.scene else stage_of(scene, before.camera)
                lay_scene(scene, stage, layout, at)
                at += 1
            found.append(Case(entry, one, job))
            break
    return layout, found


def _question(
    found: Found, h: Hypothesis, plan: Plan, scene: Scene, split: str, number: int, notes: Any
) -> Question:
    family = plan.asker.families[found.template]
    program = plan.asker.program(found)
    answer = plan.asker.answer(found, program, h.after)
    text = rephrased(plan.asker.text(found), found.dice)
    about: list[tuple[str, Any]] = [("action_kind", h.label), ("placed", "free" if h.free else "told")]
    about += [("logic", family.logic)] if family.logic else []
    about += [(name, n) for name, n in zip(REFUSED, found.refused, strict=True) if n]
    return Question(
        id=f"{scene.id}_{plan.mark}{number}",
        text=text,
        scenes=(scene.id,),
        program=joined(h.nodes, program),
        answer=answer,
        kind=family.kind,
        action=h.said.sentence,
        provenance=Provenance("clevr_hyp", split, family.template.file, family.template.family),
        notes=(*about, (JOINED, join(h.said.clause, text)), *notes),
    )
