"""Soft execution of actions: the scene posterior itself is edited, as surely as the action refers to each object.

Sets are probabilities of being in them, by the rules of Super-CLEVR's appendix E (`lang/ops`); one object is the
likeliest. What is removed becomes less likely to exist, what is changed is partly changed; a place that words leave
open is found as in the likeliest scene. The question is then executed softly on what came out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...edit import ON, RADIUS, AddObject, Edit, ImpossibleEdit, MoveObject
from ...lang.exec.soft import execute_soft
from ...lang.execution_world import PAPER, SIDES, SoftRules
from ...lang.posterior_calibration import BY_PLACES, SpatialLikelihood
from ...lang.program import Node, Program, ProgramError
from ...lang.scene_posterior import ScenePosterior, build_certain_posterior
from ...model import Response
from ...scene import Object, Pairs, Relation, Scene
from ...scene_table import pack_scenes
from ...schema import Schema
from ..nsvqa.neuro_symbolic import respond_surely
from .outcome import describe_outcome
from .parsed_scenes import DIRECTIONS, ParsedObjects, take_objects
from .parsed_scenes import SIDES as GROUND

Floats = NDArray[np.float64]
FOUND = "found"  # the likeliest thing: (number, how surely)


class SoftState(NamedTuple):
    """A posterior of one scene that actions are done to, object by object."""

    objects: ParsedObjects
    resting: Floats  # [object, object] how surely the second rests on the first
    heights: Floats  # [object] of their middles above the ground; NaN: as their size says


class SoftEditor:
    """Does actions to states of one image."""

    def __init__(self, relation: SpatialLikelihood) -> None:
        self.relation = relation

    def act(self, state: SoftState, action: Program) -> SoftState:
        """The state after one action or several; an ImpossibleEdit where the likeliest scene does not allow it."""
        values: list[Any] = []
        for n in action.nodes:
            inputs = [values[j] for j in n.inputs]
            if n.op in _EDITS:
                state = _EDITS[n.op](state, inputs, n)
                values.append(_detect(state))
            else:
                values.append(self._evaluate(state, n, inputs))
        return state

    def _evaluate(self, state: SoftState, n: Node, inputs: Sequence[Any]) -> Any:
        held = state.objects
        names = [a.name for a in held.schema.attributes]
        match n.op:
            case "scene":
                return _detect(state)
            case "filter":
                at = names.index(n.params[0])
                value = held.schema.attributes[at].values.index(n.params[1])
                return _members(state, inputs[0]) * held.attributes[at][:, value]
            case "unique":
                among = _members(state, inputs[0])
                return FOUND, int(among.argmax()) if len(among) else -1
            case "relate":
                return self._relate(state, _one(inputs[0]), n.params[0])
            case "thing":
                pairs = dict(zip(n.params[::2], n.params[1::2], strict=True))
                return [np.array([float(v == pairs.get(a.name)) for v in a.values]) for a in held.schema.attributes]
            case "copy":
                return [a[_one(inputs[0])] for a in held.attributes]
            case "inherit":
                made = list(inputs[0])
                at = names.index(n.params[0])
                made[at] = held.attributes[at][_one(inputs[1])]
                return made
        raise ProgramError(f"soft actions do not cover {n.op}")

    def _relate(self, state: SoftState, one: int, relation: str) -> Floats:
        if relation == ON:
            return np.asarray(state.resting[one] * _detect(state), np.float64)
        axis, sign = SIDES[relation]
        beyond = self.relation.compute_probabilities(build_posterior(state))[0, axis]
        row = beyond[one] if sign > 0 else beyond[:, one]
        found: Floats = row * _detect(state)
        return found


def _detect(state: SoftState) -> Floats:
    return (state.objects.exists > PAPER.detected).astype(np.float64)


def _members(state: SoftState, value: Any) -> Floats:
    """[object] how surely each is in a set, or is the one thing."""
    if isinstance(value, tuple):
        return np.asarray(np.eye(len(state.objects.exists))[_one(value)], np.float64)
    found: Floats = value
    return found


def _one(value: Any) -> int:
    if not isinstance(value, tuple) or value[1] < 0:
        raise ImpossibleEdit("there is no object to act on")
    return int(value[1])


def _remove(state: SoftState, inputs: Sequence[Any], n: Node) -> SoftState:
    held = state.objects
    return state._replace(objects=held._replace(exists=held.exists * (1 - _members(state, inputs[1]))))


def _change(state: SoftState, inputs: Sequence[Any], n: Node) -> SoftState:
    held, share = state.objects, _members(state, inputs[0])[:, None]
    pairs = dict(zip(n.params[::2], n.params[1::2], strict=True))
    attributes = []
    for attribute, chances in zip(held.schema.attributes, held.attributes, strict=True):
        if attribute.name in pairs:
            new = np.array([float(v == pairs[attribute.name]) for v in attribute.values])
            chances = (1 - share) * chances + share * new
        attributes.append(chances)
    return state._replace(objects=held._replace(attributes=tuple(attributes)))


def _add(state: SoftState, inputs: Sequence[Any], n: Node) -> SoftState:
    held, looks = state.objects, inputs[1]
    anchor = _one(inputs[2]) if len(inputs) > 2 else None
    relation = n.params[0] if n.params else ""
    pairs = _list_likeliest(held.schema, looks)
    place, height = _place(state, lambda number: AddObject(Object(pairs), relation, number(anchor)), None)
    count = len(held.exists)
    resting = np.pad(state.resting, ((0, 1), (0, 1)))
    if relation == ON and anchor is not None:
        resting[anchor, count] = 1.0
    grown = held._replace(
        exists=np.append(held.exists, 1.0),
        attributes=tuple(np.vstack([a, p]) for a, p in zip(held.attributes, looks, strict=True)),
        places=np.vstack([held.places, place]),
        boxes=np.vstack([held.boxes, np.full((1, 4), np.nan)]),
    )
    return SoftState(grown, resting, np.append(state.heights, height))


def _move(state: SoftState, inputs: Sequence[Any], n: Node) -> SoftState:
    held, mover, anchor, relation = state.objects, _one(inputs[1]), _one(inputs[2]), n.params[0]
    place, height = _place(state, lambda number: MoveObject(number(mover), relation, number(anchor)), mover)
    places, heights, resting = held.places.copy(), state.heights.copy(), state.resting.copy()
    places[mover], heights[mover] = place, height
    resting[:, mover] = 0.0
    if relation == ON:
        resting[anchor, mover] = 1.0
    return SoftState(held._replace(places=places), resting, heights)


def _swap(state: SoftState, inputs: Sequence[Any], n: Node) -> SoftState:
    held, one, other = state.objects, _one(inputs[1]), _one(inputs[2])
    if one == other:
        raise ImpossibleEdit("an object cannot change places with itself")
    places = held.places.copy()
    places[[one, other]] = places[[other, one]]
    return state._replace(objects=held._replace(places=places))


_EDITS: dict[str, Any] = {
    "add": _add,
    "add_beside": _add,
    "remove": _remove,
    "change": _change,
    "move": _move,
    "swap": _swap,
}


def _place(state: SoftState, edit: Any, moved: int | None) -> tuple[Floats, float]:
    """Where an edit of the likeliest scene puts the new object, or the moved one: on the ground, and how high."""
    kept = [i for i, exists in enumerate(_detect(state).tolist()) if exists]
    number = {i: k for k, i in enumerate(kept)}

    def find(i: int | None) -> int | None:
        if i is not None and i not in number:
            raise ImpossibleEdit("the object is not there")
        return None if i is None else number[i]

    made: Edit = edit(find)
    after = made.apply(build_scene(state))
    position = after.objects[len(kept) if moved is None else number[moved]].position
    assert position is not None
    return GROUND @ np.array(position[:2]), position[2]


def build_scene(state: SoftState) -> Scene:
    """The likeliest scene: what is detected, as it most likely is."""
    held = state.objects
    kept = np.flatnonzero(_detect(state)).tolist()
    objects = []
    for i in kept:
        pairs = _list_likeliest(held.schema, [a[i] for a in held.attributes])
        x, y = (held.places[i] @ GROUND).tolist()
        height = state.heights[i]
        if np.isnan(height):
            height = RADIUS.get(dict(pairs).get("size", ""), RADIUS["large"])
        objects.append(Object(pairs, position=(x, y, float(height)), rotation=0.0))
    pairs_on = [(kept.index(j), kept.index(i)) for i in kept for j in kept if state.resting[i, j] > 0.5]
    stacked = (Relation.of(ON, pairs_on, len(kept)),) if pairs_on else ()
    return Scene(tuple(objects), stacked, DIRECTIONS, schema=held.schema, size=held.size)


def _list_likeliest(schema: Schema, chances: Sequence[Floats]) -> Pairs:
    """The likeliest values of one object; none of an attribute of which no value has any chance."""
    each = zip(schema.attributes, chances, strict=True)
    return tuple((a.name, a.values[int(p.argmax())]) for a, p in each if p.max() > 0)


def build_posterior(state: SoftState) -> ScenePosterior:
    held = state.objects
    return ScenePosterior(
        replace(held.schema, relations=(*held.schema.relations, ON)),
        held.size,
        held.exists[None].astype(np.float32),
        tuple(a[None].astype(np.float32) for a in held.attributes),
        held.boxes[None].astype(np.float32),
        *(np.zeros((1, 0), np.float32), np.zeros((1, 0), np.int64), ()),
        places=held.places[None],
        resting=state.resting[None].astype(np.float32),
    )


class SoftExecutor:
    """Answers by soft rules; what it was asked last of an image is remembered."""

    def __init__(self, relation: SpatialLikelihood | None) -> None:
        self.relation = relation or BY_PLACES
        self._last: tuple[Any, dict[Any, Any]] = (None, {})

    def respond(self, key: Any, seen: Any, action: Program | None, question: Program) -> Response:
        if self._last[0] is None or self._last[0] != key:
            self._last = (key, {})
        outcomes, known = self._last[1], isinstance(seen, Scene)
        relation = BY_PLACES if known else self.relation
        if action not in outcomes:
            try:
                state = start_state(seen)
                outcomes[action] = SoftEditor(relation).act(state, action) if action is not None else state
            except (ImpossibleEdit, ProgramError) as error:
                outcomes[action] = str(error)
        after = outcomes[action]
        if isinstance(after, str):
            return Response(status="undefined", reason=after)
        try:
            found = execute_soft([question], build_posterior(after), [0], SoftRules(spatial=relation))
        except ProgramError as error:
            return Response(status="undefined", reason=str(error))
        return replace(respond_surely(found)[0], trace=describe_outcome(build_scene(after)))


def start_state(seen: Any) -> SoftState:
    """Of an image's parsed objects, or of a scene that is known."""
    held: ParsedObjects = seen
    if isinstance(seen, Scene):
        boxed = tuple(o if o.box else replace(o, box=(0.0, 0.0, 1.0, 1.0)) for o in seen.objects)
        size = seen.size or (480, 320)
        held = take_objects(build_certain_posterior(pack_scenes([replace(seen, objects=boxed, size=size)])), 0)
    count = len(held.exists)
    return SoftState(held, np.zeros((count, count)), np.full(count, np.nan))
