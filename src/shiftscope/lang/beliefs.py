"""Beliefs: what is believed of many scenes of one closed schema, as arrays of NumPy or of torch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..errors import UserError
from ..scenetable import ABSENT, SceneTable, Terms
from ..schema import Schema
from .arrays import Array, namespace, to_numpy, whole


@dataclass(frozen=True, slots=True, eq=False)
class Beliefs:
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

    def __len__(self) -> int:
        return int(self.exists.shape[0])

    def each(self, change: Callable[[Array], Array]) -> Beliefs:
        """The same with every array changed alike."""
        return replace(
            self,
            exists=change(self.exists),
            attributes=tuple(map(change, self.attributes)),
            boxes=change(self.boxes),
            part_exists=change(self.part_exists),
            part_owner=change(self.part_owner),
            part_attributes=tuple(map(change, self.part_attributes)),
            places=None if self.places is None else change(self.places),
        )

    def take(self, rows: Any) -> Beliefs:
        """Some of the scenes, by a slice or by their numbers."""
        chosen = rows if isinstance(rows, slice) else whole(self.exists, rows)
        return self.each(lambda array: array[chosen])

    def numpy(self) -> Beliefs:
        return self.each(to_numpy)

    def to(self, device: Any) -> Beliefs:
        """As torch tensors on that device."""
        import torch

        return self.each(lambda array: torch.as_tensor(array).to(device))

    def padded(self) -> Beliefs:
        """With room for at least one object and one part a scene, as argmax needs."""
        found = self
        if not found.exists.shape[1]:
            found = replace(
                found,
                exists=_widened(found.exists),
                attributes=tuple(map(_widened, found.attributes)),
                boxes=_widened(found.boxes),
                places=None if found.places is None else _widened(found.places),
            )
        if not found.part_exists.shape[1]:
            found = replace(
                found,
                part_exists=_widened(found.part_exists),
                part_owner=_widened(found.part_owner),
                part_attributes=tuple(map(_widened, found.part_attributes)),
            )
        return found


def _widened(array: Array) -> Array:
    """One more row of nothing in each scene."""
    xp = namespace(array)
    more = xp.zeros_like(array[:, :1]) if array.shape[1] else None
    if more is None:
        shape = (array.shape[0], 1, *array.shape[2:])
        more = np.zeros(shape, array.dtype) if xp is np else array.new_zeros(shape)
    return xp.concatenate([array, more], 1)


def certain(table: SceneTable) -> Beliefs:
    """What one believes who knows the scenes: every object there is, every value at probability 1."""
    sizes = {side["size"] for side in table.sides} - {None}
    if len(sizes) > 1:
        raise UserError("scenes of several image sizes do not go into one Beliefs")
    objects = _Rows(table.start)
    parts = _Rows(table.part_start)
    return Beliefs(
        schema=table.schema,
        size=next(iter(sizes), (640, 480)),
        exists=objects.placed(np.ones(len(table.codes), np.float32)),
        attributes=_distributions(objects, table.codes, table.terms),
        boxes=objects.placed(table.numbers[:, 7:11].astype(np.float32)),
        part_exists=parts.placed(np.ones(len(table.part_codes), np.float32)),
        part_owner=parts.placed(table.owner),
        part_attributes=_distributions(parts, table.part_codes, table.part_terms),
        places=_places(objects, table),
    )


class _Rows:
    """Where the things of a table stand in padded arrays."""

    def __init__(self, start: np.ndarray) -> None:
        counts = np.diff(start)
        self.scenes, self.width = len(counts), int(counts.max(initial=0))
        self.scene = np.repeat(np.arange(self.scenes), counts)
        self.local = np.arange(start[-1]) - start[self.scene]

    def placed(self, values: np.ndarray) -> np.ndarray:
        found = np.zeros((self.scenes, self.width, *values.shape[1:]), values.dtype)
        found[self.scene, self.local] = values
        return found


def _distributions(rows: _Rows, codes: np.ndarray, terms: Terms) -> tuple[np.ndarray, ...]:
    found = []
    for column, (attribute, first) in enumerate(zip(terms.attributes, terms.first, strict=True)):
        sure = np.zeros((len(codes), len(attribute.values)), np.float32)
        given = np.flatnonzero(codes[:, column] != ABSENT)
        sure[given, codes[given, column] - first] = 1
        found.append(rows.placed(sure))
    return tuple(found)


def _places(rows: _Rows, table: SceneTable) -> np.ndarray | None:
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
    return rows.placed(np.einsum("oax,ox->oa", along, positions))


def joined(pieces: Sequence[Beliefs]) -> Beliefs:
    """Beliefs of one width, one after the other, in NumPy or torch."""
    columns = iter(zip(*(_arrays(piece) for piece in pieces), strict=True))
    return pieces[0].each(lambda array: namespace(array).concatenate(next(columns)))


def _arrays(beliefs: Beliefs) -> list[Array]:
    """Every array, in the order that `each` takes them."""
    found: list[Array] = []

    def keep(array: Array) -> Array:
        found.append(array)
        return array

    beliefs.each(keep)
    return found
