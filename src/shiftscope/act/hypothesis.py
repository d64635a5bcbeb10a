"""Hypothesis: one or two actions on a scene that can be done, their program, words and outcome."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import NamedTuple

import numpy as np

from ..ask.asker import Mismatch
from ..bits import members
from ..catalog import Catalog
from ..geometry.camera import camera_of
from ..lang.exec.exact import Undefined, execute
from ..lang.program import Node, Program
from ..lang.world import World
from ..scene import Scene
from .action import Action, New, program_nodes
from .dice import Dice
from .ref import Ref
from .say import Said, say, word
from .stage import Ints, Stage, edit_of, stage_of
from .view import View

PROPOSALS = Catalog("kind of action", "shiftscope.act.propose")
TRIES = 30
SECOND_TRIES = 4  # second actions proposed after one first
IT = "it"
NO_EDITS: Ints = np.empty((0, 0), np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class Before:
    """A scene as it is, looked at once for all that is supposed about it."""

    world: World
    view: View

    @property
    def stage(self) -> Stage:
        return self.view.stage


class Lacking(NamedTuple):
    """What there is with an action left out: the scene, and the edits that led there."""

    stage: Stage
    edits: Ints
    free: bool  # whether these leave a place open


@dataclass(frozen=True, slots=True, eq=False)
class Hypothesis:
    """What is supposed to be done, and what comes of it."""

    label: str  # the kind of action, or two joined by +
    actions: tuple[Action, ...]
    edits: Ints  # [action, number]: the same for kernels
    stage: Stage  # of the scene after
    lacking: tuple[Lacking, ...]  # without the action, or with one of two left out, as far as defined
    looks: tuple[list[list[int]], ...]  # of each action: the codes of what it touches, before and after

    @property
    def free(self) -> bool:
        """Whether some place is left open."""
        return any(a.free for a in self.actions)

    @property
    def by_place(self) -> bool:
        """Whether some action changes nothing but where things stand."""
        return any(a.op in ("move", "swap") for a in self.actions)


class Told(NamedTuple):
    """A hypothesis in words and as a program, and the world that running it leads to."""

    said: Said
    nodes: tuple[Node, ...]  # of the program whose last node is the (last) action
    after: World


def look_at(scene: Scene) -> Before:
    """The scene before anything is done."""
    return Before(World((scene,)), View(stage_of(scene, camera_of(scene))))


def suppose(before: Before, kinds: Sequence[str], dice: Dice) -> Hypothesis | None:
    """One action of each kind given, one after the other; None where none that can be done was found."""
    for _ in range(TRIES * len(kinds)):
        found = _supposed(before, tuple(kinds), dice)
        if found is not None:
            return found
    return None


def _supposed(before: Before, kinds: tuple[str, ...], dice: Dice) -> Hypothesis | None:
    """A first action, and where two are asked for one of a few tried after it."""
    hops = len(kinds)
    first = _proposer(kinds[0])(before.view, dice, False, hops)
    done = _done(first, before.stage) if first else None
    if done is None:
        return None
    if hops == 1:
        return _hypothesis(before, kinds, (done,), ())
    view = View(done.after)
    for _ in range(SECOND_TRIES):
        second = _proposer(kinds[1])(view, dice, True, hops)
        if second is None or undone(done.action, second, view.size):
            continue
        then = _done(_in_context(done.action, second, view, dice), done.after)
        if then is not None:
            return _two_hops(before, kinds, done, then)
    return None


class _Done(NamedTuple):
    """An action, its edit, and the scene before it and after."""

    action: Action
    edit: Ints
    before: Stage
    after: Stage


def _done(action: Action, before: Stage) -> _Done | None:
    """The action, where it can be done and what comes of it is sound."""
    edit = edit_of(action)
    after = before.play(edit)
    return _Done(action, edit, before, after) if after is not None else None


def _two_hops(before: Before, kinds: tuple[str, ...], first: _Done, second: _Done) -> Hypothesis:
    """Two actions, with what there is where either is left out, the second as its words read then."""
    lacking = [Lacking(first.after, np.array([first.edit]), first.action.free)]
    alone = _found_in(before.view, without(first.action, second.action))
    if alone is not None:
        edit = edit_of(alone)
        reached = before.stage.play(edit, strict=False)
        lacking += [Lacking(reached, np.array([edit]), alone.free)] if reached is not None else []
    return _hypothesis(before, kinds, (first, second), tuple(lacking))


def _hypothesis(
    before: Before, kinds: tuple[str, ...], done: tuple[_Done, ...], lacking: tuple[Lacking, ...]
) -> Hypothesis:
    return Hypothesis(
        _label(kinds),
        actions=tuple([d.action for d in done]),
        edits=np.array([d.edit for d in done]),
        stage=done[-1].after,
        lacking=(Lacking(before.stage, NO_EDITS, False), *lacking),
        looks=tuple([_looks(d.action, d.before, d.after) for d in done]),
    )


@cache
def _label(kinds: tuple[str, ...]) -> str:
    if len(kinds) == 1:
        return kinds[0]
    return "+".join(sorted({_family(k) for k in kinds}, key=_ORDER.index))


def _looks(action: Action, before: Stage, after: Stage) -> list[list[int]]:
    """What an action's objects look like, and looked like; questions that it matters to are about these."""
    if action.new is not None:
        return [after.codes[after.n - 1].tolist()]
    touched = [ref.mask for ref in (action.subject, action.anchor if action.op == "swap" else None) if ref]
    found = [i for mask in touched for i in members(mask)]
    looks: list[list[int]] = before.codes[found].tolist()
    return looks + after.codes[found].tolist() if action.op == "change" else looks


def tell(before: Before, hypothesis: Hypothesis, dice: Dice) -> Told:
    """Put it into words and into a program, whose plain execution must lead to the same scene.

    It is executed action by action: programs of one action are of few shapes, and soon all known.
    """
    nodes: tuple[Node, ...] = ()
    after: World | None = before.world
    for action in hypothesis.actions:
        alone = program_nodes(action)
        after = outcome(alone, after) if after else None
        nodes = program_nodes(action, nodes) if nodes else alone
    if after is None or not hypothesis.stage.is_of(after.scenes[0]):
        raise Mismatch(
            f"{hypothesis.actions} on scene {before.world.scenes[0].id}: execution leads elsewhere"
        )
    return Told(say(hypothesis.actions, dice), nodes, after)


@cache
def _proposer(kind: str) -> Callable[[View, Dice, bool, int], Action | None]:
    propose: Callable[[View, Dice, bool, int], Action | None] = PROPOSALS.load(kind).propose
    return propose


_ORDER = ("add", "remove", "change", "move")


def _family(kind: str) -> str:
    return kind.partition("_")[0]


def outcome(nodes: tuple[Node, ...], world: World) -> World | None:
    """The world after the action that the nodes end in; None where it can not be done."""
    run = execute(Program(nodes), world)
    return None if isinstance(run.answer, Undefined) else run.worlds[-1]


def undone(first: Action, second: Action, size: int) -> bool:
    """Whether the second action takes away just what the first one added, changed or moved."""
    if second.op != "remove" or second.subject is None or second.subject.many:
        return False
    touched = 1 << (size - 1) if first.new is not None else first.subject.mask if first.subject else 0
    return first.op != "remove" and bool(touched & second.subject.mask)


def without(first: Action, second: Action) -> Action:
    """The second action as it is meant where the first is ignored: "it" is still what the first was about."""
    if second.subject is None or second.subject.said != IT:
        return second
    return replace(second, subject=first.subject)


def _found_in(view: View, action: Action) -> Action | None:
    """The action as its program reads in another scene; None where that has no such object."""
    subject, anchor, new = action.subject, action.anchor, action.new
    source = new.source if new else None
    refs = [_meant(view, ref) for ref in (subject, anchor, source)]
    if any(ref is not None and not ref.many and ref.mask.bit_count() != 1 for ref in refs):
        return None
    subject, anchor, source = refs
    if new is not None and source is not None:
        looks = dict(new.pairs)
        for name in (new.attribute,) if new.attribute else looks:
            looks[name] = view.value(source.index, name)
        new = New(tuple(looks.items()), source, new.attribute)
    told = (action.relation, new, action.attribute, action.value)
    return Action(action.kind, action.op, subject, anchor, *told)


def _meant(view: View, ref: Ref | None) -> Ref | None:
    """The same words, with the objects that they are true of here."""
    if ref is None:
        return None
    assert ref.anchor is None, "the second of two actions points out objects by what they are"
    return Ref(ref.pairs, view.fits(ref.pairs), many=ref.many, said=ref.said)


def _in_context(first: Action, second: Action, view: View, dice: Dice) -> Action:
    """The second action, in which what the first was about is called it, or the new one."""

    def told(ref: Ref | None) -> Ref | None:
        if ref is None or ref.many or ref.anchor is not None:
            return ref
        if first.new is not None and ref.index == view.size - 1:
            shape = dict(first.new.pairs)["shape"]
            what = "the copy" if first.form.endswith("copy") else f"the new {word(shape, dice)}"
            return replace(ref, said=what)
        single = first.op == "change" and first.subject is not None and not first.subject.many
        if single and first.subject is not None and first.subject.anchor is None:
            return replace(ref, said=IT) if ref.mask == first.subject.mask else ref
        return ref

    subject = told(second.subject)
    return second if subject is second.subject else replace(second, subject=subject)
