"""What the scene parser learns from, without torch so that any worker can make it: labels as arrays."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ...errors import UserError
from ...scene import Object, Pairs, Scene
from ...schema import Attribute

if TYPE_CHECKING:
    import torch

Array: TypeAlias = Any  # numpy.ndarray or torch.Tensor; one Labels holds one kind, on one device
NONE = -1
SIDES = ("right", "front")  # the directions along which places are given
ROUND, PARTS_ROUND = 2, 32  # rows come in multiples of these, on which a step's random numbers depend
EMPTY: dict[str, tuple[Any, float]] = {  # the kind of each array, and what stands in rows of nothing
    "boxes": (np.float32, 0.0),
    "attributes": (np.int16, NONE),
    "places": (np.float32, math.nan),
    "part_boxes": (np.float32, 0.0),
    "part_attributes": (np.int16, NONE),
    "owners": (np.int16, NONE),
}


@dataclass(frozen=True, slots=True, eq=False)
class SceneLabels:
    """Rows beyond an image's own objects or parts are empty boxes with codes and owners of −1."""

    boxes: Array  # [image, object, left top width height] float32, what is visible, in pixels
    attributes: Array  # [image, object, attribute] int16, the number of the value, or −1
    places: Array  # [image, object, 2] float32, how far right and front, world units; NaN where not known
    part_boxes: Array  # [image, part, left top width height] float32
    part_attributes: Array  # [image, part, part attribute] int16
    owners: Array  # [image, part] int16, the object it belongs to

    def __len__(self) -> int:
        return len(self.boxes)

    def take(self, rows: Any) -> SceneLabels:
        """The labels of some images: a slice, or an array of numbers, of the kind that the labels are."""
        return SceneLabels(*(getattr(self, f.name)[rows] for f in fields(self)))

    def to_tensors(self, device: str | torch.device = "cpu") -> SceneLabels:
        """The same as torch tensors on that device."""
        import torch

        return SceneLabels(*(torch.as_tensor(getattr(self, f.name)).to(device) for f in fields(self)))


def label_scenes(scenes: Iterable[Scene]) -> SceneLabels:
    """The labels of scenes of one closed schema, padded to the most objects and parts among them, rounded up.

    A schema with parts has rows for them even if no scene has any.
    """
    listed = tuple(scenes)
    if not listed:
        raise UserError("there are no scenes to label")
    schema = listed[0].schema
    if not schema.closed:
        raise UserError(f"scene {listed[0].id!r} has an open vocabulary: a scene parser needs a closed one")
    of_object, of_part = AttributeCoder(schema.attributes), AttributeCoder(schema.part_attributes)
    boxes, codes, places = [], [], []
    part_boxes, part_codes, owners = [], [], []
    for scene in listed:
        if scene.schema is not schema and scene.schema != schema:
            raise UserError(f"scene {scene.id!r} is in {scene.schema.name}, others in {schema.name}: label them apart")
        directions = dict(scene.directions)
        axes = [directions.get(side) for side in SIDES]
        for i, thing in enumerate(scene.objects):
            if thing.box is None:
                raise UserError(f"scene {scene.id!r}: object {i} has no box, so it cannot be learned from")
            boxes.append(thing.box)
            codes.append(of_object.encode("", thing.attributes, scene))
            places.append(_project_position(thing, axes))
            for part in thing.parts:
                if part.box is None:
                    raise UserError(f"scene {scene.id!r}: part {part.name!r} of object {i} has no box")
                part_boxes.append(part.box)
                part_codes.append(of_part.encode(part.name, part.attributes, scene))
                owners.append(i)
    here = _mark_rows([len(s.objects) for s in listed], ROUND, least=1)
    parts = _mark_rows(
        [sum(len(o.parts) for o in s.objects) for s in listed], PARTS_ROUND, least=1 if schema.part_attributes else 0
    )
    width, part_width = len(schema.attributes), len(schema.part_attributes)
    return SceneLabels(
        _fill_rows("boxes", boxes, here, 4),
        _fill_rows("attributes", codes, here, width),
        _fill_rows("places", places, here, 2),
        _fill_rows("part_boxes", part_boxes, parts, 4),
        _fill_rows("part_attributes", part_codes, parts, part_width),
        _fill_rows("owners", owners, parts),
    )


def join_labels(several: Sequence[SceneLabels]) -> SceneLabels:
    """Labels of NumPy arrays as one, in order, padded to the most rows among them."""

    def concatenate(name: str) -> Array:
        arrays = [getattr(labels, name) for labels in several]
        kind, empty = EMPTY[name]
        images, rows = sum(map(len, arrays)), max(a.shape[1] for a in arrays)
        out = np.full((images, rows, *arrays[0].shape[2:]), empty, kind)
        first = 0
        for array in arrays:
            out[first : first + len(array), : array.shape[1]] = array
            first += len(array)
        return out

    if not several:
        raise UserError("there are no labels to join")
    return SceneLabels(*(concatenate(f.name) for f in fields(SceneLabels)))


class AttributeCoder:
    """Numbers for the values of attributes; what was met before is remembered."""

    def __init__(self, attributes: tuple[Attribute, ...]) -> None:
        self._known = {(a.name, v): (c, k) for c, a in enumerate(attributes) for k, v in enumerate(a.values)}
        self._width = len(attributes)
        self._rows: dict[tuple[str, Pairs], tuple[int, ...]] = {}

    def encode(self, name: str, pairs: Pairs, scene: Scene) -> tuple[int, ...]:
        """One number an attribute, −1 where it has no value; a part's name is an attribute too."""
        row = self._rows.get((name, pairs))
        if row is None:
            codes = [NONE] * self._width
            for pair in (("name", name), *pairs) if name else pairs:
                if pair not in self._known:
                    raise UserError(
                        f"scene {scene.id!r}: {pair[0]} {pair[1]!r} is not in the schema {scene.schema.name}"
                    )
                column, code = self._known[pair]
                codes[column] = code
            row = self._rows[name, pairs] = tuple(codes)
        return row


def _project_position(thing: Object, axes: Sequence[Any]) -> tuple[float, ...]:
    if thing.position is None or None in axes:
        return (math.nan,) * 2
    x, y, z = thing.position
    return tuple(x * a + y * b + z * c for a, b, c in axes)


def _mark_rows(counts: Sequence[int], step: int, least: int = 0) -> npt.NDArray[np.bool_]:
    """[image, row] whether something stands there; rows are a multiple of `step`."""
    most = max(least, *counts)
    return np.arange(most + -most % step) < np.array(counts)[:, None]


def _fill_rows(name: str, values: Sequence[Any], there: npt.NDArray[np.bool_], *cell: int) -> Array:
    """What stands in the rows that are there, image by image; nothing in the others."""
    kind, empty = EMPTY[name]
    out = np.full((*there.shape, *cell), empty, kind)
    if values:
        out[there] = values
    return out
