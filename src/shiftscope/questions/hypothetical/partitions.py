"""Partitions: the examples of a run of scenes for each of the paper's four partitions.

original     five actions per image, five kinds of questions per action
balanced     as many questions for each of the 27 answers
two_actions  three of six pairs of actions per image, five kinds of questions per pair (2HopT_A)
two_parts    three actions per image, five questions with "and", "or" and "not" per action (2HopQ_H)

An example is an action on a scene and a question whose answer the action changes.
"""

import gc
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache, wraps
from itertools import combinations, islice
from typing import Any, NamedTuple, ParamSpec

import numpy as np

from ...lang.program import Program
from ...question import JOINED, Notes, Provenance, Question
from ...rng import RandomChoices
from ...scene import Scene
from ..clevr.generator import build_image_notes
from .action import ATTRIBUTES, KINDS, join_question
from .generator import (
    ANSWERS,
    EVERY_OTHER,
    AnswerBalance,
    OutcomeJob,
    OutcomeMatch,
    OutcomeQuestioner,
    SearchLimits,
    get_generator,
    number_answer,
)
from .hypothesis import (
    TOLD_WIDTH,
    Hypothesis,
    InitialScene,
    WordedHypothesis,
    prepare_scene,
    propose_hypothesis,
    word_hypothesis,
)
from .scene_arrays import Ints, OutcomeLayout, create_layout

PLACEMENTS = 20
MOST_PLACEMENTS = 1000
TWO_HOPS = 3  # scenes at most that lack an action of two: without either, and without one or the other
REFUSED = ("refused_unchanged", "refused_elsewhere")  # notes: valid questions dropped before this one
PLACED = (("placed", "told"), ("placed", "free"))  # by whether a place is left open
DEFINED = (("before", "undefined"), ("before", "defined"))


@dataclass(frozen=True, slots=True)
class ExamplePlan:
    """What is asked about a scene: which actions, and which questions."""

    kinds: tuple[tuple[str, ...], ...]  # the kinds of each hypothesis: one, or two in turn
    generator: OutcomeQuestioner
    mark: str  # of question ids
    wish: SearchLimits  # for the questions about one action
    spare: int = 0  # further hypotheses tried where there are fewer questions about one


class PlannedHypothesis(NamedTuple):
    """A hypothesis, where its scenes are in a layout, and which entry of the plan it is for."""

    entry: int
    hypothesis: Hypothesis
    job: OutcomeJob
    dice: RandomChoices


KnownHypotheses = dict[int, tuple[Hypothesis, WordedHypothesis]]  # by entry of a plan


def generate_examples(
    before: InitialScene,
    plan: ExamplePlan,
    balance: AnswerBalance,
    *,
    seed: int,
    split: str,
    placements: int,
    entries: Sequence[int] = (),
    known: KnownHypotheses | None = None,
) -> list[Question]:
    """The examples of one scene: a function of it, the plan, seed, split, and the balance so far.

    Of the plan's entries all, or those given; `known` are hypotheses to ask about again, and gets those asked about.
    """
    scene = before.world.scenes[0]
    best: dict[int, tuple[PlannedHypothesis, list[OutcomeMatch]]] = {}
    entries = entries or range(len(plan.kinds))
    known = {} if known is None else known
    full = plan.wish.questions
    for turn in range(1 + plan.spare):
        path = ("clevr_hyp", seed, split, plan.mark, scene.id, turn)
        layout, looks, told, cases = build_hypotheses(before, plan, entries, placements, path, known)
        found: list[list[OutcomeMatch]] = [[] for _ in cases]
        if cases:
            seeds = [case.dice.draw_bits() for case in cases]
            jobs = [case.job for case in cases]
            last = turn == plan.spare and plan.wish.whole
            wish = replace(plan.wish, whole=False) if last else plan.wish
            for match in plan.generator.find_matches(layout, looks, told, jobs, seeds, balance, wish):
                found[match.job].append(match)
        for case, mine in zip(cases, found, strict=True):
            if len(mine) > len(best.get(case.entry, ((), ()))[1]):
                best[case.entry] = case, mine
        entries = [e for e in entries if len(best.get(e, ((), ()))[1]) < full]
        if not entries:
            break
    questions: list[Question] = []
    image = build_image_notes(scene)
    for _, (case, mine) in sorted(best.items()):
        _, worded = known.get(case.entry) or (None, word_hypothesis(before, case.hypothesis, case.dice))
        known[case.entry] = case.hypothesis, worded
        about = ("action_kind", case.hypothesis.label), PLACED[case.hypothesis.leaves_place_open]
        for match in mine:
            name = f"{scene.id}_{plan.mark}{len(questions)}"
            questions.append(_build_question(name, match, about, worded, plan.generator, split, image))
    return questions


def build_hypotheses(
    before: InitialScene,
    plan: ExamplePlan,
    entries: Sequence[int],
    placements: int,
    path: tuple[str | int, ...],
    known: KnownHypotheses | None = None,
) -> tuple[OutcomeLayout, Ints, Ints, list[PlannedHypothesis]]:
    """A hypothesis for each of these entries of the plan, as far as the scene allows, and its scenes.

    These are, for each: the scene after, those with its free places taken elsewhere, those that lack an action, and
    those with the free places of these taken elsewhere. Beside them, what objects that are touched look like, and
    what the actions tell by themselves.
    """

    def sample_elsewhere(edits: Ints, at: int, places: int) -> int:
        """Lay out the outcome of some edits with its free places taken elsewhere, so many times."""
        (sets, codes, knows), rows = layout, slice(at, at + places)
        before.view.stage.sample_outcomes(edits, dice.draw_bits(), (sets[rows], codes[rows], knows[rows]))
        return places

    elsewhere = placements if placements > 1 else 0
    rooms = sum(1 + elsewhere + (1 if len(plan.kinds[e]) == 1 else TWO_HOPS + 2 * elsewhere) for e in entries)
    layout = create_layout(rooms)
    looks: list[list[int]] = []
    told: list[list[int]] = []
    found: list[PlannedHypothesis] = []
    at = 0
    for entry in entries:
        dice = RandomChoices(*path, "act", entry)
        old, _ = (known or {}).get(entry, (None, None))
        one = old or propose_hypothesis(before, plan.kinds[entry], dice)
        if one is None:
            continue
        places = sample_elsewhere(one.edits, at + 1, elsewhere) if one.leaves_place_open and elsewhere else 0
        one.stage.write_row(layout, at)
        without = at = at + 1 + places
        for lacking in one.lacking:
            lacking.stage.write_row(layout, at)
            at += 1
        for lacking in one.lacking:
            if lacking.leaves_place_open and elsewhere:
                at += sample_elsewhere(lacking.edits, at, elsewhere)
        placed = at - without - len(one.lacking)
        touched = (len(looks), len(one.looks[0]), len(one.looks[1]) if len(one.looks) > 1 else 0)
        looks += [look for some in one.looks for look in some]
        tells = (len(told), len(one.told))
        told += one.told
        scenes = (without - 1 - places, places, without, len(one.lacking), placed)
        found.append(PlannedHypothesis(entry, one, OutcomeJob(*scenes, one.by_place, *touched, *tells), dice))
    return layout, _stack(looks, len(ATTRIBUTES)), _stack(told, TOLD_WIDTH), found


def _stack(rows: list[list[int]], width: int) -> Ints:
    return np.array(rows, np.int64).reshape(-1, width)


def _build_question(
    name: str,
    found: OutcomeMatch,
    action: Notes,
    worded: WordedHypothesis,
    generator: OutcomeQuestioner,
    split: str,
    image: Notes,
) -> Question:
    family = generator.families[found.template]
    program = generator.programs[found.template].build_after(found.values, worded.nodes)
    answer = generator.check_answer(found, program, len(worded.nodes), worded.after)
    text, wording = generator.word_question(found)
    about: list[tuple[str, Any]] = [*action]
    if family.logic:
        about.append(("logic", family.logic))
    about += DEFINED[found.defined], ("wording", wording), ("action_wording", worded.text.wording)
    for note, n in zip(REFUSED, found.refused, strict=True):
        if n:
            about.append((note, n))
    about.append((JOINED, join_question(worded.text.clause, text)))
    return Question(
        id=name,
        text=text,
        scenes=(worded.after.scenes[0].id,),
        program=program,
        answer=answer,
        kind=family.kind,
        action=worded.text.sentence,
        provenance=_build_provenance(split, family.template.file, family.template.family),
        notes=(*about, *image),
    )


@lru_cache(maxsize=4096)
def _build_provenance(split: str, file: str, family: int) -> Provenance:
    return Provenance("clevr_hyp", split, file, family)


# The four partitions.

Scenes = Sequence[Scene]
Arguments = ParamSpec("Arguments")
BATCH = 250  # examples
PAIRS = tuple(combinations(("add", "remove", "change", "move"), 2))
MOVES = ("move_in_plane", "move_on_top")
HYPOTHESES = 3  # per image of a two-hop set
EVERY = tuple((kind,) for kind in KINDS)
SPARE = 3  # further actions tried where too few questions can be asked about one
RARE = np.array([4 <= number <= 9 for number in range(ANSWERS)])  # answers that only some scenes allow
NUMBERS = np.where(RARE, np.arange(ANSWERS), 0)  # as many objects as these must be there
QUESTIONS = 5  # per action
# Some kinds cannot be asked about some actions.
TWO_HOP_LIMITS = SearchLimits(QUESTIONS, per_slot=3, persistence=100, rounds=2)
BALANCED_LIMITS = SearchLimits(3, per_slot=3, persistence=60, rounds=2)
ROUNDS = 6  # over the scenes, to find what answers are still missing
PATIENT_ROUNDS = 2  # of them, those in which no action gets more questions than its share
MOST_ASKED = 20  # questions about one action in the rounds after
ACTIONS_TRIED = 3  # in one round, for an action that can be asked about
EVERY_KIND = range(len(KINDS))
IN_PLANE_KIND = KINDS.index("move_in_plane")  # asked about first, since the fewest answers depend on it


def pause_garbage_collection(ask: Callable[Arguments, Iterator[Question]]) -> Callable[Arguments, Iterator[Question]]:
    """Let what yields examples make a batch of them at a time, with no look for garbage before the next.

    Examples are many objects and no cycles; looking for these takes a tenth of the time.
    """

    def make_batch(questions: Iterator[Question]) -> list[Question]:
        was = gc.isenabled()
        gc.disable()
        try:
            return list(islice(questions, BATCH))
        finally:
            if was:
                gc.enable()

    @wraps(ask)
    def generate(*given: Arguments.args, **named: Arguments.kwargs) -> Iterator[Question]:
        questions = ask(*given, **named)
        while batch := make_batch(questions):
            yield from batch

    return generate


@pause_garbage_collection
def generate_original(
    scenes: Scenes, first: int, seed: int, split: str, placements: int, defined: int = EVERY_OTHER
) -> Iterator[Question]:
    """25 examples per scene, as far as the scene allows; answers are kept from leading too far."""
    limits = SearchLimits(QUESTIONS, whole=True, defined=defined)
    plan = ExamplePlan(EVERY, get_generator(), "o", limits, spare=1)
    balance = plan.generator.create_balance()
    for scene in scenes:
        yield from generate_examples(prepare_scene(scene), plan, balance, seed=seed, split=split, placements=placements)


@pause_garbage_collection
def generate_balanced(
    scenes: Scenes, first: int, seed: int, split: str, placements: int, defined: int = EVERY_OTHER
) -> Iterator[Question]:
    """Half an example of each answer per scene, spread over all five actions; what few scenes allow may come short."""
    maker = _BalancedMaker(scenes, first, seed, split, placements, defined)
    for turn in range(ROUNDS):
        for number in range(len(scenes)):
            yield from maker.ask_scene(number, turn)
            if not maker.left.any():
                return


class _BalancedMaker:
    """Asks about the same five actions of each scene again and again until each answer is there as often."""

    def __init__(self, scenes: Scenes, first: int, seed: int, split: str, placements: int, defined: int) -> None:
        self.scenes, self.generator, self.defined = scenes, get_generator(), defined
        self.balance = self.generator.create_balance()
        self.each = (first + len(scenes)) // 2 - first // 2  # of an answer
        self.left = np.full(ANSWERS, self.each, np.int64)
        self.before: dict[int, InitialScene] = {}
        self.known: list[KnownHypotheses] = [{} for _ in scenes]
        self.asked: list[list[set[Program]]] = [[set() for _ in KINDS] for _ in scenes]
        self.tried: Counter[int] = Counter()  # how often new actions were looked for
        self.how: dict[str, Any] = {"seed": seed, "split": split, "placements": placements}

    def ask_scene(self, number: int, turn: int) -> Iterator[Question]:
        """Ask about all actions of a scene that have room for more; one that has no question gives way to another."""
        wanted = self.list_wanted(number, turn)
        if not wanted.any():
            return
        share = ANSWERS * (number + 1) // 10 - ANSWERS * number // 10  # two or three, so that all answers find place
        most = share if turn < PATIENT_ROUNDS else MOST_ASKED
        sizes = [len(programs) for programs in self.asked[number]]
        order = sorted(EVERY_KIND, key=lambda k: (sizes[k], (IN_PLANE_KIND - k) % len(EVERY)))
        order = [k for k in order if sizes[k] < most]
        for _ in range(ACTIONS_TRIED):
            if order:
                room = most - max(len(self.asked[number][k]) for k in order)
                yield from self.ask_actions(number, order, turn, room, wanted)
            order = [k for k in order if not self.asked[number][k]]

    def list_wanted(self, number: int, turn: int) -> Ints:
        """How many of each answer are still to be found in a scene."""
        # Even over the scenes, but for a first round that takes what is rare where it finds it.
        due = self.left - self.each + -(-self.each * (number + 1) // len(self.scenes)) if turn == 0 else self.left
        allowed = len(self.scenes[number].objects) + 1 >= NUMBERS  # no action adds more than one
        return np.where(allowed, np.minimum(self.left, np.where(RARE, self.left, due + 1)), 0).clip(0)

    def ask_actions(self, number: int, entries: list[int], turn: int, room: int, wanted: Ints) -> Iterator[Question]:
        if number not in self.before:
            self.before[number] = prepare_scene(self.scenes[number])
        self.tried[number] += 1
        limits = _limit_balanced(room, self.defined)
        plan = ExamplePlan(EVERY, self.generator, f"b{self.tried[number]}_", limits)
        self.balance.wanted[:] = wanted
        for question in generate_examples(
            self.before[number], plan, self.balance, entries=entries, known=self.known[number], **self.how
        ):
            assert question.program is not None and question.answer is not None
            programs = self.asked[number][KINDS.index(question.note("action_kind"))]
            size = len(programs)
            programs.add(question.program)
            if len(programs) > size:
                answer = number_answer(question.answer)
                self.left[answer] -= 1
                wanted[answer] -= 1
                yield question


@cache
def _limit_balanced(room: int, defined: int) -> SearchLimits:
    return replace(BALANCED_LIMITS, questions=room, per_slot=room, defined=defined)


@pause_garbage_collection
def generate_two_actions(
    scenes: Scenes, first: int, seed: int, split: str, placements: int, defined: int = EVERY_OTHER
) -> Iterator[Question]:
    """15 examples per scene: the pairs take turns, either of a pair may come first."""
    generator, limits = get_generator(), replace(TWO_HOP_LIMITS, defined=defined)
    balance = generator.create_balance()
    for number, scene in enumerate(scenes, first):
        dice = RandomChoices("clevr_hyp", seed, split, "pairs", scene.id)
        kinds = []
        for turn in range(HYPOTHESES):
            pair = dice.shuffle(PAIRS[(HYPOTHESES * number + turn) % len(PAIRS)])
            kinds.append(tuple(dice.pick(MOVES) if kind == "move" else kind for kind in pair))
        plan = ExamplePlan(tuple(kinds), generator, "a", limits, spare=SPARE)
        yield from generate_examples(prepare_scene(scene), plan, balance, seed=seed, split=split, placements=placements)


@pause_garbage_collection
def generate_two_parts(
    scenes: Scenes, first: int, seed: int, split: str, placements: int, defined: int = EVERY_OTHER
) -> Iterator[Question]:
    """15 examples per scene: the actions take turns."""
    generator, limits = get_generator(two_hop=True), replace(TWO_HOP_LIMITS, defined=defined)
    balance = generator.create_balance()
    for number, scene in enumerate(scenes, first):
        kinds = tuple(EVERY[(HYPOTHESES * number + turn) % len(EVERY)] for turn in range(HYPOTHESES))
        plan = ExamplePlan(kinds, generator, "q", limits, spare=SPARE)
        yield from generate_examples(prepare_scene(scene), plan, balance, seed=seed, split=split, placements=placements)
