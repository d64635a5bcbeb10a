"""Hypothesis: one or two actions on a scene that can be done, their program, words and outcome."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import NamedTuple

import numpy as np

from ...geometry.camera import camera_of
from ...lang.exec.exact import Undefined, execute
from ...lang.execution_world import ExecutionWorld
from ...lang.program import Node, Program
from ...rng import RandomChoices
from ...scene import Scene, mask_members
from ..clevr.generator import AnswerMismatch
from . import action as actions
from .action import NEW_ONE, ActionText, HypotheticalAction, NewObject, ObjectReference, Pairs
from .proposals import PROPOSERS, ReferableScene, list_references, names_apart
from .scene_arrays import COLUMN, RELATIONS, TERMS, Ints, SceneArrays, build_scene_arrays, encode_action

TRIES = 30
SECOND_TRIES = 4  # second actions proposed after one first
IT = "it"
NO_EDITS: Ints = np.empty((0, 0), np.int64)
# What an action's words are of: something there, nothing any more, no other thing; what a thing looked like that is
# gone or changed, before a row with how it looks now and one with its words; what the thing of the row before is like;
# all of whose things are what the row after it says.
NAMED, GONE, ALONE, LOST, COPIED, EVERY = 1, 2, 4, 8, 16, 32
TOLD_WIDTH = len(COLUMN) + 2  # codes of values, marks, how the thing stands to another one that is named


class InitialScene(NamedTuple):
    """A scene before any action, prepared once for all hypotheses about it."""

    world: ExecutionWorld
    view: ReferableScene


class OutcomeWithout(NamedTuple):
    """What there is with an action left out: the scene, and the edits that led there."""

    stage: SceneArrays
    edits: Ints
    leaves_place_open: bool  # whether these leave a place open


@dataclass(frozen=True, slots=True, eq=False)
class Hypothesis:
    label: str  # the kind of action, or two joined by +
    actions: tuple[HypotheticalAction, ...]
    edits: Ints  # [action, number]: the same for kernels
    stage: SceneArrays  # of the scene after
    lacking: tuple[OutcomeWithout, ...]  # without the action, or with one of two left out, as far as defined
    looks: tuple[list[list[int]], ...]  # of each action: the codes of what it touches, before and after
    told: list[list[int]]  # what the actions' words tell by themselves, see `list_told_rows`
    leaves_place_open: bool
    by_place: bool  # whether some action changes nothing but where things stand


class WordedHypothesis(NamedTuple):
    """A hypothesis in words and as a program, and the world that running it leads to."""

    text: ActionText
    nodes: tuple[Node, ...]  # of the program whose last node is the (last) action
    after: ExecutionWorld


def prepare_scene(scene: Scene) -> InitialScene:
    return InitialScene(ExecutionWorld((scene,)), ReferableScene(build_scene_arrays(scene, camera_of(scene))))


def propose_hypothesis(before: InitialScene, kinds: Sequence[str], dice: RandomChoices) -> Hypothesis | None:
    """One action of each kind given, one after the other; None where none that can be done was found."""
    for _ in range(TRIES * len(kinds)):
        if found := _try_hypothesis(before, tuple(kinds), dice):
            return found
    return None


def _try_hypothesis(before: InitialScene, kinds: tuple[str, ...], dice: RandomChoices) -> Hypothesis | None:
    """A first action, and for two one of a few tried after it."""
    hops = len(kinds)
    proposed = PROPOSERS[kinds[0]](before.view, dice, False, hops)
    if proposed is None or not names_apart(before.view, proposed):
        return None
    first = _apply_action(proposed, before.view.stage)
    if first is None:
        return None
    if hops == 1:
        return _build_hypothesis(before, kinds, (first,), [])
    view = ReferableScene(first.after)
    for _ in range(SECOND_TRIES):
        proposed = PROPOSERS[kinds[1]](view, dice, True, hops)
        if proposed is None or undoes_first(first.action, proposed, view.size):
            continue
        proposed = _refer_in_context(first.action, proposed, before.view, view)
        second = _apply_action(proposed, first.after) if proposed and names_apart(view, proposed) else None
        if second is not None:
            lacking = [OutcomeWithout(first.after, np.array([first.edit]), first.action.leaves_place_open)]
            alone = _resolve_action(before.view, ignore_first(first.action, second.action))  # as its words read then
            if alone is not None:
                edit = encode_action(alone)
                reached = before.view.stage.apply_edit(edit, strict=False)
                if reached is not None:
                    lacking.append(OutcomeWithout(reached, np.array([edit]), alone.leaves_place_open))
            return _build_hypothesis(before, kinds, (first, second), lacking)
    return None


class _AppliedAction(NamedTuple):
    """An action, its edit, and the scene before it and after."""

    action: HypotheticalAction
    edit: Ints
    before: SceneArrays
    after: SceneArrays


def _apply_action(action: HypotheticalAction, before: SceneArrays) -> _AppliedAction | None:
    """The action, where it can be done and what comes of it is sound."""
    edit = encode_action(action)
    after = before.apply_edit(edit)
    return _AppliedAction(action, edit, before, after) if after is not None else None


def _build_hypothesis(
    before: InitialScene, kinds: tuple[str, ...], done: tuple[_AppliedAction, ...], lacking: list[OutcomeWithout]
) -> Hypothesis:
    return Hypothesis(
        _build_label(kinds),
        actions=tuple([d.action for d in done]),
        edits=np.array([d.edit for d in done]),
        stage=done[-1].after,
        lacking=(OutcomeWithout(before.view.stage, NO_EDITS, False), *lacking),
        looks=tuple([_list_touched_codes(d.action, d.before, d.after) for d in done]),
        told=[row for d in done for row in list_told_rows(d, done[0].action)],
        leaves_place_open=any(d.action.leaves_place_open for d in done),
        by_place=any(d.action.op in ("move", "swap") for d in done),
    )


@cache
def _build_label(kinds: tuple[str, ...]) -> str:
    if len(kinds) == 1:
        return kinds[0]
    return "+".join(sorted({k.partition("_")[0] for k in kinds}, key=("add", "remove", "change", "move").index))


def _list_touched_codes(action: HypotheticalAction, before: SceneArrays, after: SceneArrays) -> list[list[int]]:
    """What an action's objects look like, and looked like; questions that it matters to are about these."""
    if action.new is not None:
        return [after.codes[after.n - 1].tolist()]
    touched = [ref.mask for ref in (action.subject, action.anchor if action.op == "swap" else None) if ref]
    found = [i for mask in touched for i in mask_members(mask)]
    looks: list[list[int]] = [before.codes[i].tolist() for i in found]
    return looks + [after.codes[i].tolist() for i in found] if action.op == "change" else looks


def list_told_rows(done: _AppliedAction, first: HypotheticalAction) -> list[list[int]]:
    """Descriptions in the action's text, each as TOLD_WIDTH numbers: what these answer needs no picture.

    `first` is the action that the text begins with: what that says of an object is true of "it" or "the new cube", too.
    """
    rows: list[list[int]] = []
    action = done.action

    def tell(pairs: Pairs, marks: int, relation: int = -1) -> None:
        row = [-1] * len(COLUMN)
        for pair in pairs:
            row[COLUMN[pair[0]]] = TERMS.code[pair]
        rows.append([*row, marks, relation])

    new, there = action.new, RELATIONS.index(action.relation) if action.relation else -1
    if new is not None:
        copied = new.source is not None and not new.attribute
        tell(new.source.pairs if new.source and copied else _leave_out(new.pairs, new.attribute), NAMED, there)
        if new.source is not None:
            tell(new.source.pairs, NAMED | COPIED if copied else NAMED | ALONE | COPIED)
    if action.anchor is not None:
        tell(action.anchor.pairs, NAMED if action.anchor.anchor else NAMED | ALONE, there ^ 1 if there >= 0 else -1)
    if (old := action.subject) is not None:
        changed = dict(action.changes)
        if action.op != "remove":
            if old.many and not old.anchor and not changed.keys() & dict(old.pairs).keys():
                tell(old.pairs, EVERY)
            tell((*_leave_out(_list_said(old, first), *changed), *action.changes), NAMED, there)
        if not old.many and action.op in ("remove", "change"):
            rows.append([*done.before.codes[old.index].tolist(), LOST, -1])
            stays = action.op == "change"
            rows.append([*(done.after.codes[old.index].tolist() if stays else [-1] * len(COLUMN)), 0, -1])
            tell(old.pairs, 0)
        if action.op == "remove" or changed.keys() & dict(old.pairs).keys():
            tell(old.pairs, GONE, RELATIONS.index(old.relation) if old.relation else -1)
        elif old.anchor is None and not old.many:
            tell(old.pairs, ALONE)
    return rows


def _list_said(ref: ObjectReference, first: HypotheticalAction) -> Pairs:
    """All that a text has said of an object by then."""
    if not ref.words:
        return ref.pairs
    if first.new is not None:
        before = first.new.source.pairs if first.new.source else first.new.pairs
    else:
        before = first.subject.pairs if first.subject else ()
    return tuple((dict(before) | dict(first.changes) | dict(ref.pairs)).items())


def _leave_out(pairs: Pairs, *attributes: str) -> Pairs:
    return tuple([p for p in pairs if p[0] not in attributes])


def word_hypothesis(before: InitialScene, hypothesis: Hypothesis, dice: RandomChoices) -> WordedHypothesis:
    """Put it into words and into a program, whose plain execution must lead to the same scene.

    It is executed action by action: programs of one action are of few shapes, and soon all known.
    """
    nodes: tuple[Node, ...] = ()
    after: ExecutionWorld | None = before.world
    for action in hypothesis.actions:
        alone = actions.build_action_nodes(action)
        if after is not None:
            run = execute(Program(alone), after)
            after = None if isinstance(run.answer, Undefined) else run.worlds[-1]
        nodes = actions.build_action_nodes(action, nodes) if nodes else alone
    if after is None or not hypothesis.stage.matches_scene(after.scenes[0]):
        raise AnswerMismatch(f"{hypothesis.actions} on scene {before.world.scenes[0].id}: execution leads elsewhere")
    return WordedHypothesis(actions.word_actions(hypothesis.actions, dice), nodes, after)


def undoes_first(first: HypotheticalAction, second: HypotheticalAction, size: int) -> bool:
    """Whether the second action takes away what the first one added, changed or moved, or does otherwise with it."""
    if second.subject is None or second.subject.many or first.op == "remove":
        return False
    touched = 1 << (size - 1) if first.new is not None else first.subject.mask if first.subject else 0
    again = second.op == "remove" or (first.relation and second.relation) or (first.new and not first.new.source)
    return bool(again and touched & second.subject.mask)


def ignore_first(first: HypotheticalAction, second: HypotheticalAction) -> HypotheticalAction:
    """The second action as it is meant where the first is ignored: "it" is still what the first was about."""
    if second.subject is None or second.subject.words != IT:
        return second
    return replace(second, subject=first.subject)


def _resolve_action(view: ReferableScene, action: HypotheticalAction) -> HypotheticalAction | None:
    """The action as its program reads in another scene; None where that has no such object."""
    new = action.new
    refs: list[ObjectReference | None] = []
    for ref in (action.subject, action.anchor, new.source if new else None):
        if ref is not None:
            assert ref.anchor is None, "the second of two actions points out objects by what they are"
            ref = replace(ref, mask=view.find_matching(ref.pairs))
            if not ref.many and ref.mask.bit_count() != 1:
                return None
        refs.append(ref)
    subject, anchor, source = refs
    if new is not None and source is not None:
        looks = dict(new.pairs)
        for name in (new.attribute,) if new.attribute else looks:
            looks[name] = view.get_value(source.index, name)
        new = NewObject(tuple(looks.items()), source, new.attribute)
    return replace(action, subject=subject, anchor=anchor, new=new)


def _refer_in_context(
    first: HypotheticalAction, second: HypotheticalAction, before: ReferableScene, view: ReferableScene
) -> HypotheticalAction | None:
    """The second action, in which what the first was about is called it or the new one; else None.

    `view` is the scene after the first action; one that takes things away speaks of nothing that is still there. No
    words are used that were true of what it took away or changed, and nothing else is spoken of again.
    """
    lost = first.subject.mask if first.subject and not first.subject.many and first.op in ("remove", "change") else 0
    spoken = [ref.mask for ref in list_references(first) if not ref.many] if first.op != "remove" else []

    def reword_reference(ref: ObjectReference) -> ObjectReference | None:
        if ref.many:
            return ref
        if first.new is not None and ref.index == view.size - 1:
            return replace(ref, words="the copy" if first.form.endswith("copy") else NEW_ONE)
        if ref.mask not in spoken:
            return None if before.find_matching(ref.pairs) & lost else ref
        return replace(ref, words=IT) if first.op == "change" and ref is second.subject else None

    new = second.new
    refs = (second.subject, second.anchor, new.source if new else None)
    said = tuple([reword_reference(ref) if ref else None for ref in refs])
    if said == refs:
        return second
    if said.count(None) > refs.count(None):
        return None
    subject, anchor, source = said
    return replace(second, subject=subject, anchor=anchor, new=replace(new, source=source) if new else None)
