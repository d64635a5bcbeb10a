"""Hypothesis: one or two actions on a scene that can be done, their program, words and outcome."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache

from ..catalog import Catalog
from ..geometry.camera import Camera, camera_of
from ..lang.exec.exact import Undefined, execute
from ..lang.program import Node, Program
from ..lang.world import World
from ..scene import Scene
from .action import Action, program_nodes
from .dice import Dice
from .ref import Ref
from .say import Said, say, word
from .stage import Stage, stage_of
from .view import View

PROPOSALS = Catalog("kind of action", "shiftscope.act.propose")
TRIES = 30
IT = "it"


@dataclass(frozen=True, slots=True, eq=False)
class Before:
    """A scene as it is, looked at once for all that is supposed about it."""

    view: View
    stage: Stage
    camera: Camera

    @property
    def scene(self) -> Scene:
        return self.view.scene


@dataclass(frozen=True, slots=True, eq=False)
class Hypothesis:
    """What is supposed to be done, and what comes of it."""

    label: str  # the kind of action, or two joined by +
    actions: tuple[Action, ...]
    nodes: tuple[Node, ...]  # of the program whose last node is the (last) action
    said: Said
    after: World
    stage: Stage  # of the scene after
    lacking: tuple[Scene, ...]  # the scene without the action, or with one of two left out, as far as defined

    @property
    def free(self) -> bool:
        """Whether some place is left open."""
        return any(a.free for a in self.actions)

    @property
    def in_place(self) -> bool:
        """Whether nothing changes but where things stand."""
        return all(a.op in ("move", "swap") for a in self.actions)


def look_at(scene: Scene) -> Before:
    """The scene before anything is done."""
    camera = camera_of(scene)
    return Before(View(World((scene,))), stage_of(scene, camera), camera)


def suppose(before: Before, kinds: Sequence[str], dice: Dice) -> Hypothesis | None:
    """One action of each kind given, one after the other; None where none that can be done was found."""
    for _ in range(TRIES * len(kinds) ** 2):
        found = _supposed(before, tuple(kinds), dice)
        if found is not None:
            return found
    return None


def _supposed(before: Before, kinds: tuple[str, ...], dice: Dice) -> Hypothesis | None:
    view, stage = before.view, before.stage
    nodes: tuple[Node, ...] = ()
    actions: list[Action] = []
    states = [before.view.world]
    for number, kind in enumerate(kinds):
        action = _proposer(kind)(view, dice, number > 0, len(kinds))
        if action is None:
            return None
        made = program_nodes(action, nodes)
        if number:
            if undone(actions[-1], action, view.size):
                return None
            action = _in_context(actions[-1], action, view, dice)
        after = outcome(made, states[0])
        if after is None or not is_true(action, after.scenes[0], number_of(action, after.scenes[0])):
            return None
        stage = stage_of(after.scenes[0], before.camera, states[-1].scenes[0])
        if not stage.is_sound():
            return None
        actions.append(action)
        states.append(after)
        nodes, view = made, View(after)
    lacking = [s.scenes[0] for s in states[:-1]]
    if len(actions) == 2:
        alone = outcome(program_nodes(without(*actions)), states[0])
        lacking += [alone.scenes[0]] if alone is not None else []
        stage = stage_of(states[-1].scenes[0], before.camera, before.scene)
    return Hypothesis(
        "+".join(sorted({_family(k) for k in kinds}, key=_ORDER.index)) if len(kinds) > 1 else kinds[0],
        tuple(actions),
        nodes,
        say(tuple(actions), dice),
        states[-1],
        stage,
        tuple(lacking),
    )


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


def number_of(action: Action, after: Scene) -> int:
    """The object that an action put somewhere, by its number in the scene after."""
    if action.new is not None:
        return len(after.objects) - 1
    return action.subject.index if action.subject else -1


def is_true(action: Action, after: Scene, mover: int) -> bool:
    """Whether the relation that an action states holds in the scene after it."""
    if not action.relation or action.anchor is None:
        return True
    rows = after.relation(action.relation)
    return rows is not None and bool(rows[action.anchor.index] >> mover & 1)


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
    return replace(second, subject=subject)
