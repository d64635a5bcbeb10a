"""Stage: a scene as arrays that actions are played on: sound or not, and free places taken elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from ..ask.layout import ALL_OBJECTS, EXTRA, FOCUS, ROWS
from ..bits import members
from ..errors import UserError
from ..geometry.angle import unit_circle
from ..geometry.camera import SIZE as IMAGE
from ..geometry.camera import Camera, camera_of
from ..rng import seed_of
from ..scene import Scene
from ..scenetable import ABSENT, WORD, Terms
from ..schemas.clevr import SCHEMA
from .action import Action
from .ref import ATTRIBUTES, IN_PLANE, Pairs

TERMS = Terms.of(SCHEMA.attributes)
COLUMN = {a: TERMS.index(a) for a in ATTRIBUTES}
LARGE, CUBE, BALL = TERMS.code["size", "large"], TERMS.code["shape", "cube"], TERMS.code["shape", "sphere"]
RELATIONS = (*IN_PLANE, "on", "below")  # what questions about outcomes may use
EVERYTHING = len(TERMS.names) + ALL_OBJECTS  # where a row of sets holds all objects
FIRST_ROW = len(TERMS.names) + EXTRA + ROWS  # and the first relation
WIDTH = FIRST_ROW + WORD * len(RELATIONS)

Floats = npt.NDArray[np.float64]
Layout = tuple[npt.NDArray[np.uint64], npt.NDArray[np.int64], npt.NDArray[np.bool_]]


def empty_layout(rows: int) -> Layout:
    """Room for the sets, codes and known relations of so many scenes."""
    return (
        np.zeros((rows, WIDTH), np.uint64),
        np.full((rows, 2 * WORD, len(ATTRIBUTES)), ABSENT, np.int64),
        np.zeros((rows, len(RELATIONS)), np.bool_),
    )


def clear(layout: Layout) -> None:
    """Empty it again."""
    for array, blank in zip(layout, (0, ABSENT, False), strict=True):
        array.fill(blank)


@dataclass(frozen=True, slots=True, eq=False)
class Stage:
    """A scene in arrays, and the eye that looks at it."""

    n: int
    body: Floats  # [object, number], see `_rows`
    codes: npt.NDArray[np.int64]
    under: npt.NDArray[np.int64]
    directions: Floats  # [relation of the plane, xyz]
    camera: Floats  # as kernels take it
    frame: Floats  # width and height of the image

    def outcomes(self, edits: npt.NDArray[np.int64], path: tuple[str | int, ...], layout: Layout) -> bool:
        """Fill the layout with outcomes whose free places are taken at random; False where too few are."""
        from ._rows import outcomes

        state = np.array([seed_of(*path) & 0xFFFFFFFFFFFFFFFF], np.uint64)
        return bool(
            outcomes(
                *(self.n, self.body, self.codes, self.under, edits, self.directions),
                *(self.camera, self.frame, LARGE, CUBE, BALL, EVERYTHING, FIRST_ROW, state),
                *layout,
            )
        )

    def fresh(self) -> int:
        """The objects that are new, moved or changed."""
        from ._rows import FRESH

        return sum(1 << i for i in range(self.n) if self.body[i, FRESH])

    def is_sound(self) -> bool:
        """Whether nothing overlaps and all that is new or moved is seen whole."""
        from ._rows import sound

        return bool(sound(self.n, self.body, self.under, self.camera, self.frame))


def check_scene(scene: Scene) -> None:
    """Refuse a scene that nothing can be supposed about."""
    from ._rows import MOST

    if any(o.position is None for o in scene.objects) or not scene.directions:
        raise UserError(f"scene {scene.id!r} has no positions or directions, which actions need")
    if len(scene.objects) > MOST:
        raise UserError(f"scene {scene.id!r} has {len(scene.objects)} objects; actions take up to {MOST}")


def stage_of(scene: Scene, camera: Camera | None = None, before: Scene | None = None) -> Stage:
    """The arrays of a scene; with `before`, what is not as it was there counts as new."""
    from ._rows import MOST, NUMBERS

    check_scene(scene)
    n = len(scene.objects)
    same = {id(o) for o in before.objects} if before else set()  # an edit leaves what it does not touch
    rows, looks = [], []
    for o in scene.objects:
        assert o.position is not None
        x, y, z = o.position
        look, outline, reach = _outline(o.attributes)
        rows.append((x, y, *outline, *_turn(o.rotation or 0.0), z, float(id(o) not in same), reach))
        looks.append(look)
    body, codes = np.zeros((MOST, NUMBERS)), np.zeros((MOST, len(ATTRIBUTES)), np.int64)
    # Shaped, since an action may leave nothing: no row does not tell how wide it would be.
    body[:n] = np.reshape(rows, (n, NUMBERS))
    codes[:n] = np.reshape(np.array(looks, np.int64), (n, len(ATTRIBUTES)))
    under = np.full(MOST, -1, np.int64)
    for i, row in enumerate(scene.relation("on") or ()):
        under[list(members(row))] = i
    known = dict(scene.directions)
    size = scene.size or IMAGE
    return Stage(
        *(n, body, codes, under),
        directions=np.array([known[r] for r in IN_PLANE]),
        camera=(camera or camera_of(scene)).packed(size),
        frame=np.array(size, np.float64),
    )


@lru_cache(maxsize=4096)
def _outline(attributes: Pairs) -> tuple[tuple[int, ...], tuple[float, float, float], float]:
    """The codes of what an object is, half sides and roundness of its footprint, and the ball around it."""
    from ._rows import MOST, NUMBERS, REACH, shape_up

    found = {COLUMN[pair[0]]: TERMS.code[pair] for pair in attributes}
    look = tuple(found[c] for c in range(len(ATTRIBUTES)))
    body, codes = np.zeros((MOST, NUMBERS)), np.zeros((MOST, len(ATTRIBUTES)), np.int64)
    codes[0] = look
    shape_up(body, codes, 0, LARGE, CUBE, BALL)
    half, _, roundness = body[0, 2:5].tolist()
    return look, (half, half, roundness), float(body[0, REACH])


@lru_cache(maxsize=4096)
def _turn(degrees: float) -> tuple[float, float]:
    return unit_circle(degrees)


def lay_scene(scene: Scene, stage: Stage, layout: Layout, row: int, focus: int = 0) -> None:
    """One scene as the search wants it; relations as the scene itself tells them."""
    from ._rows import lay

    sets, codes, knows = layout
    lay(
        *(stage.n, stage.body, stage.codes, stage.under, stage.directions, EVERYTHING, FIRST_ROW),
        *(sets[row], codes[row], knows[row]),
    )
    sets[row, len(TERMS.names) + FOCUS] = focus
    for r, name in enumerate(IN_PLANE):
        found = scene.relation(name)
        if found is not None:
            sets[row, FIRST_ROW + WORD * r : FIRST_ROW + WORD * r + stage.n] = found


def edits_of(actions: Sequence[Action]) -> npt.NDArray[np.int64]:
    """The actions as rows for the kernels."""
    from . import _rows as k

    rows = np.full((len(actions), k.FIELDS), -1, np.int64)
    for row, action in zip(rows, actions, strict=True):
        row[k.DIRECTION] = IN_PLANE.index(action.relation) if action.relation in IN_PLANE else 0
        row[k.OBJECT] = action.subject.index if action.subject else -1
        row[k.ANCHOR] = action.anchor.index if action.anchor else -1
        if action.new is not None:
            row[k.OP] = k.ADD
            for pair in action.new.pairs:
                row[k.NEW + COLUMN[pair[0]]] = TERMS.code[pair]
        elif action.op == "remove":
            row[k.OP], row[k.SET] = k.REMOVE, action.subject.mask if action.subject else 0
        elif action.op == "change":
            row[k.OP], row[k.SET] = k.CHANGE, action.subject.mask if action.subject else 0
            row[k.COLUMN] = COLUMN[action.attribute]
            row[k.CODE] = TERMS.code[action.attribute, action.value]
        elif action.op == "swap":
            row[k.OP] = k.SWAP
        else:
            row[k.OP] = k.PUT_ON if action.relation == "on" else k.MOVE
    return rows
