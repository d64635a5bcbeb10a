"""ScenePosterior: a distribution over scenes, as a scene parser outputs it, and its matching to true scenes.

Many scenes of one closed schema, as arrays of NumPy or of torch. Objects are matched by their boxes, parts by
their object and their name.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import UserError
from ..scene_table import ABSENT, SceneTable, Terms
from ..schema import Schema
from .arrays import Array, get_namespace, make_index, to_numpy


@dataclass(frozen=True, slots=True, eq=False)
class ScenePosterior:
    """Objects and parts that may be there, and what they may be; rows beyond a scene's own have `exists` 0.

    A distribution of zeros says that the thing has no value of the attribute.
    """

    schema: Schema
    size: tuple[int, int]  # width and height of the images, in pixels
    exists: Array  # [scene, object] probability that there is such an object
    attributes: tuple[Array, ...]  # for each attribute of the schema [scene, object, value], summing to 1
    boxes: Array  # [scene, object, left top width height] in pixels
    part_exists: Array  # [scene, part]
    part_owner: Array  # [scene, part] int64, the object it belongs to
    part_attributes: tuple[Array, ...]  # for each part attribute of the schema [scene, part, value]
    places: Array | None = None  # [scene, object, 2] how far right and front on the ground, world units
    resting: Array | None = None  # [scene, object, object] how surely the second rests on the first; None: none does

    def __len__(self) -> int:
        return int(self.exists.shape[0])

    def map_arrays(self, change: Callable[[Array], Array]) -> "ScenePosterior":
        """The same with every array changed alike."""
        return self.map_fields((*OBJECT_FIELDS, *PART_FIELDS), change)

    def list_arrays(self) -> list[Array]:
        """Every array, in the order in which `map_arrays` visits them."""
        fields = [getattr(self, name) for name in (*OBJECT_FIELDS, *PART_FIELDS)]
        return [a for held in fields if held is not None for a in (held if isinstance(held, tuple) else (held,))]

    def map_fields(self, names: Sequence[str], change: Callable[[Array], Array]) -> "ScenePosterior":
        """The same with the arrays of some fields changed alike."""
        changed: dict[str, Any] = {}
        for name in names:
            held = getattr(self, name)
            if held is not None:
                changed[name] = tuple(map(change, held)) if isinstance(held, tuple) else change(held)
        return replace(self, **changed)

    def take(self, rows: Any) -> "ScenePosterior":
        """Some of the scenes, by a slice or by their numbers."""
        chosen = rows if isinstance(rows, slice) else make_index(self.exists, rows)
        return self.map_arrays(lambda array: array[chosen])

    def to_numpy(self) -> "ScenePosterior":
        return self.map_arrays(to_numpy)

    def to(self, device: Any) -> "ScenePosterior":
        """As torch tensors on that device."""
        import torch

        return self.map_arrays(lambda array: torch.as_tensor(array).to(device))

    def pad(self) -> "ScenePosterior":
        """With room for at least one object and one part per scene, as argmax needs."""
        found = self if self.exists.shape[1] else self.map_fields(OBJECT_FIELDS, _append_empty_row)
        return found if found.part_exists.shape[1] else found.map_fields(PART_FIELDS, _append_empty_row)


OBJECT_FIELDS = ("exists", "attributes", "boxes", "places", "resting")
PART_FIELDS = ("part_exists", "part_owner", "part_attributes")


def _append_empty_row(array: Array) -> Array:
    """A row of zeros for each scene, of which the array has none yet."""
    shape = (array.shape[0], 1, *array.shape[2:])
    return np.zeros(shape, array.dtype) if isinstance(array, np.ndarray) else array.new_zeros(shape)


def build_certain_posterior(table: SceneTable) -> ScenePosterior:
    """The posterior of a perfect parser: every object exists, every value has probability 1."""
    sizes = {side["size"] for side in table.sides} - {None}
    if len(sizes) > 1:
        raise UserError("scenes of several image sizes do not fit one ScenePosterior")
    objects = _PaddedRows(table.start)
    parts = _PaddedRows(table.part_start)
    return ScenePosterior(
        schema=table.schema,
        size=next(iter(sizes), (640, 480)),
        exists=objects.scatter(np.ones(len(table.codes), np.float32)),
        attributes=_build_distributions(objects, table.codes, table.terms),
        boxes=objects.scatter(table.numbers[:, 7:11].astype(np.float32)),
        part_exists=parts.scatter(np.ones(len(table.part_codes), np.float32)),
        part_owner=parts.scatter(table.owner),
        part_attributes=_build_distributions(parts, table.part_codes, table.part_terms),
        places=_compute_places(objects, table),
    )


class _PaddedRows:
    """Where the things of a table stand in padded arrays."""

    def __init__(self, start: np.ndarray) -> None:
        counts = np.diff(start)
        self.scenes, self.width = len(counts), int(counts.max(initial=0))
        self.scene = np.repeat(np.arange(self.scenes), counts)
        self.local = np.arange(start[-1]) - start[self.scene]

    def scatter(self, values: np.ndarray) -> np.ndarray:
        found = np.zeros((self.scenes, self.width, *values.shape[1:]), values.dtype)
        found[self.scene, self.local] = values
        return found


def _build_distributions(rows: _PaddedRows, codes: np.ndarray, terms: Terms) -> tuple[np.ndarray, ...]:
    found = []
    for column, (attribute, first) in enumerate(zip(terms.attributes, terms.first, strict=True)):
        sure = np.zeros((len(codes), len(attribute.values)), np.float32)
        given = np.flatnonzero(codes[:, column] != ABSENT)
        sure[given, codes[given, column] - first] = 1
        found.append(rows.scatter(sure))
    return tuple(found)


def _compute_places(rows: _PaddedRows, table: SceneTable) -> np.ndarray | None:
    """How far right and front each object stands; None where a scene does not tell."""
    axes = []
    for side in table.sides:
        directions = dict(side["directions"])
        if "right" not in directions or "front" not in directions:
            return None
        axes.append((directions["right"], directions["front"]))
    positions = table.numbers[:, :3]
    if np.isnan(positions).any():
        return None
    along = np.asarray(axes, np.float64).reshape(len(table), 2, 3)[rows.scene]
    return rows.scatter(np.einsum("oax,ox->oa", along, positions))


def concatenate_posteriors(pieces: Sequence[ScenePosterior]) -> ScenePosterior:
    """Posteriors of one width, one after the other, in NumPy or torch."""
    columns = iter(zip(*(piece.list_arrays() for piece in pieces), strict=True))
    return pieces[0].map_arrays(lambda array: get_namespace(array).concatenate(next(columns)))


NONE = -1


@dataclass(frozen=True, slots=True, eq=False)
class SceneMatch:
    """Numbers of the true things within their scene; −1 for what is none of them. Each is given once."""

    objects: NDArray[np.int64]  # [scene, object]
    parts: NDArray[np.int64]  # [scene, part]


def match_to_truth(posterior: ScenePosterior, truth: SceneTable, overlap: float = 0.5) -> SceneMatch:
    """Pair off best overlaps first (intersection over union, `overlap` at least), then parts by names."""
    known, true = posterior.to_numpy(), build_certain_posterior(truth)
    both = (known.exists > 0)[:, :, None] & (true.exists > 0)[:, None, :]
    objects = _pair_off(np.where(both, _compute_iou(known.boxes, true.boxes), 0), overlap)
    if not known.part_exists.size or not true.part_exists.size:
        return SceneMatch(objects, np.full(known.part_exists.shape, NONE, np.int64))
    owner = np.take_along_axis(objects, known.part_owner.clip(0, objects.shape[1] - 1), 1)
    of_one = (owner[:, :, None] == true.part_owner[:, None, :]) & (owner[:, :, None] != NONE)
    there = (known.part_exists > 0)[:, :, None] & (true.part_exists > 0)[:, None, :]
    name = [a.name for a in known.schema.part_attributes].index("name")
    likely = known.part_attributes[name] @ true.part_attributes[name].swapaxes(1, 2)
    return SceneMatch(objects, _pair_off(np.where(of_one & there, likely, 0), 1e-6))


def _compute_iou(some: NDArray[np.float32], others: NDArray[np.float32]) -> NDArray[np.float32]:
    """[scene, one, other] intersection over union of boxes given as left, top, width, height."""
    a, b = some[:, :, None, :], others[:, None, :, :]
    low = np.maximum(a[..., :2], b[..., :2])
    high = np.minimum(a[..., :2] + a[..., 2:], b[..., :2] + b[..., 2:])
    shared = np.prod(np.maximum(high - low, 0), -1)
    either = np.prod(a[..., 2:], -1) + np.prod(b[..., 2:], -1) - shared
    return np.asarray(shared / np.maximum(either, 1e-9), np.float32)


def _pair_off(score: NDArray[np.float32], least: float) -> NDArray[np.int64]:
    """[scene, one] the other it is paired with: greatest scores first, each once, none below `least`."""
    left = score.astype(np.float32, copy=True)
    scenes = np.arange(len(left))
    found = np.full(left.shape[:2], NONE, np.int64)
    for _ in range(min(left.shape[1:])):
        best = left.reshape(len(left), -1).argmax(1)
        one, other = best // left.shape[2], best % left.shape[2]
        good = left[scenes, one, other] >= least
        if not good.any():
            break
        found[scenes[good], one[good]] = other[good]
        left[scenes, one, :] = -1
        left[scenes, :, other] = -1
    return found
