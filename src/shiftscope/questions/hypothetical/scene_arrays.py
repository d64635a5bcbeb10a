"""Scene arrays: a scene as arrays that actions are applied to, validly or not, with free places resampled."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Self

import numpy as np
import numpy.typing as npt

from ...edit import spiral
from ...errors import UserError
from ...geometry.camera import SIZE as IMAGE
from ...geometry.camera import Camera, camera_of
from ...geometry.mesh import unit_circle
from ...scene import Scene, mask_members
from ...scene_table import WORD, Terms
from ...schemas.clevr import SCHEMA
from ..clevr.packed_scenes import ALL_OBJECTS, EXTRA, ROWS
from .action import ATTRIBUTES, IN_PLANE, HypotheticalAction, Pairs

Z, FRESH, REACH = 7, 8, 9  # columns of a body, besides those of its footprint
NUMBERS = 10
MOST = 16  # objects
TERMS = Terms.of(SCHEMA.attributes)
COLUMN = {a: TERMS.index(a) for a in ATTRIBUTES}
LARGE, CUBE, BALL = TERMS.code["size", "large"], TERMS.code["shape", "cube"], TERMS.code["shape", "sphere"]
RELATIONS = (*IN_PLANE, "on", "below")  # what questions about outcomes may use
EVERYTHING = len(TERMS.names) + ALL_OBJECTS  # where a row of sets holds all objects
FIRST_ROW = len(TERMS.names) + EXTRA + ROWS  # and the first relation
WIDTH = FIRST_ROW + WORD * len(RELATIONS)
_DIRECTION = {name: number for number, name in enumerate(IN_PLANE)}

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
OutcomeLayout = tuple[npt.NDArray[np.uint64], Ints, npt.NDArray[np.bool_]]
MARKS = np.array([LARGE, CUBE, BALL, EVERYTHING, FIRST_ROW], np.int64)


def create_layout(rows: int) -> OutcomeLayout:
    """Room for the sets, codes and known relations of so many scenes; each row is to be laid out."""
    return (
        np.empty((rows, WIDTH), np.uint64),
        np.empty((rows, MOST, len(ATTRIBUTES)), np.int64),
        np.empty((rows, len(RELATIONS)), np.bool_),
    )


@dataclass(frozen=True, slots=True, eq=False)
class SceneArrays:
    """A scene in arrays, and the eye that looks at it, which is the same whatever is done to the scene."""

    n: int
    body: Floats  # [object, number], see `_rows`
    codes: Ints
    under: Ints
    sets: npt.NDArray[np.uint64]  # a row of a layout
    knows: npt.NDArray[np.bool_]  # [relation]
    eye: tuple[Floats, Floats, Floats]  # directions [relation of the plane, xyz], camera, width and height

    def apply_edit(self, edit: Ints, *, strict: bool = True) -> Self | None:
        """What `edit.apply` makes of it; None where it cannot be done, or is not sound but `strict`."""
        from .action_kernels import apply_edit

        body, codes, under = self.body.copy(), self.codes.copy(), self.under.copy()
        sets, knows = self.sets.copy(), self.knows.copy()
        scene = (self.n, body, codes, under, sets, knows)
        n = apply_edit(*scene, edit, *self.eye, spiral(), MARKS, strict)
        return type(self)(n, body, codes, under, sets, knows, self.eye) if n >= 0 else None

    def sample_outcomes(self, edits: Ints, seed: int, layout: OutcomeLayout) -> None:
        """Fill the rows of the layout with outcomes whose free places are taken elsewhere."""
        from .action_kernels import sample_outcomes

        scene, state = (self.n, self.body, self.codes, self.under), np.array([seed], np.uint64)
        sample_outcomes(*scene, edits, self.eye[0], MARKS, state, *layout)

    def write_row(self, layout: OutcomeLayout, row: int) -> None:
        sets, codes, knows = layout
        sets[row], codes[row], knows[row] = self.sets, self.codes, self.knows

    def relation_rows(self, relation: str) -> list[int]:
        """Which objects are in that relation to each."""
        first = FIRST_ROW + WORD * RELATIONS.index(relation)
        return list(self.sets[first : first + self.n].tolist())

    def matches_scene(self, scene: Scene) -> bool:
        """Whether the scene is just what stands here: objects, places and how they stand to each other."""
        if self.n != len(scene.objects):
            return False
        rows = zip(self.codes[: self.n].tolist(), self.body[: self.n].tolist(), strict=True)
        for o, (look, body) in zip(scene.objects, rows, strict=True):
            if _compute_outline(o.attributes)[0] != tuple(look) or o.position != (body[0], body[1], body[Z]):
                return False
        stands = self.sets[FIRST_ROW:].reshape(len(RELATIONS), WORD)[:-1, : self.n].tolist()
        known = [scene.relation(name) for name in RELATIONS[:-1]]
        return bool(stands == [list(rows or (0,) * self.n) for rows in known])


def check_scene(scene: Scene) -> None:
    """Refuse a scene on which no action can be done."""
    if any(o.position is None for o in scene.objects) or not scene.directions:
        raise UserError(f"scene {scene.id!r} has no positions or directions, which actions need")
    if len(scene.objects) > MOST:
        raise UserError(f"scene {scene.id!r} has {len(scene.objects)} objects; actions take up to {MOST}")


def build_scene_arrays(scene: Scene, camera: Camera | None = None) -> SceneArrays:
    """The arrays of a scene; relations as the scene itself tells them."""
    from .action_kernels import fill_scene_sets

    check_scene(scene)
    n = len(scene.objects)
    rows: list[float] = []
    looks: list[int] = []
    for o in scene.objects:
        assert o.position is not None
        x, y, z = o.position
        look, outline, reach = _compute_outline(o.attributes)
        rows += (x, y, *outline, *_compute_rotation(o.rotation or 0.0), z, 0.0, reach)
        looks += look
    body, codes = np.zeros((MOST, NUMBERS)), np.zeros((MOST, len(ATTRIBUTES)), np.int64)
    body.reshape(-1)[: len(rows)] = rows
    codes.reshape(-1)[: len(looks)] = looks
    under = np.full(MOST, -1, np.int64)
    for i, row in enumerate(scene.relation("on") or ()):
        under[list(mask_members(row))] = i
    known, size = dict(scene.directions), scene.size or IMAGE
    directions = np.array([known[r] for r in IN_PLANE])
    eye = directions, (camera or camera_of(scene)).pack(size), np.array(size, np.float64)
    sets, knows = np.zeros(WIDTH, np.uint64), np.zeros(len(RELATIONS), np.bool_)
    fill_scene_sets(n, body, codes, under, directions, MARKS, sets, codes, knows)
    stored = {r.name: r.rows for r in scene.relations}
    for r, name in enumerate(IN_PLANE):
        if name in stored:
            sets[FIRST_ROW + WORD * r : FIRST_ROW + WORD * r + n] = stored[name]
    return SceneArrays(n, body, codes, under, sets, knows, eye)


@lru_cache(maxsize=4096)
def _compute_outline(attributes: Pairs) -> tuple[tuple[int, ...], tuple[float, float, float], float]:
    """The codes of what an object is, half sides and roundness of its footprint, and the ball around it."""
    from .action_kernels import update_outline

    found = {COLUMN[pair[0]]: TERMS.code[pair] for pair in attributes}
    look = tuple(found[c] for c in range(len(ATTRIBUTES)))
    body, codes = np.zeros((MOST, NUMBERS)), np.zeros((MOST, len(ATTRIBUTES)), np.int64)
    codes[0] = look
    update_outline(body, codes, 0, MARKS)
    half, _, roundness = body[0, 2:5].tolist()
    return look, (half, half, roundness), float(body[0, REACH])


_compute_rotation = lru_cache(maxsize=4096)(unit_circle)


def encode_action(action: HypotheticalAction) -> Ints:
    from . import action_kernels as k

    row = [-1] * k.FIELDS
    row[k.DIRECTION] = _DIRECTION.get(action.relation, 0)
    subject = action.subject
    row[k.OBJECT] = subject.index if subject else -1
    row[k.ANCHOR] = action.anchor.index if action.anchor else -1
    for pair in action.new.pairs if action.new else action.changes:
        row[k.NEW + COLUMN[pair[0]]] = TERMS.code[pair]
    if action.new is not None:
        row[k.OP] = k.ADD
    elif action.op in ("remove", "change"):
        row[k.OP] = k.REMOVE if action.op == "remove" else k.CHANGE
        row[k.SET] = subject.mask if subject else 0
    else:
        row[k.OP] = k.SWAP if action.op == "swap" else k.PUT_ON if action.relation == "on" else k.MOVE
    return np.array(row, np.int64)
