"""StoredImage: one image as a dataset keeps it, with the scene it shows and its masks as exact run lengths."""

import struct
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..scene import Box, Scene

Mask = npt.NDArray[np.uint8]  # [height, width], object index + 1, 0 for the ground
LENGTH_DTYPE = np.dtype("<i4")


@dataclass(frozen=True, slots=True)
class RunLengths:
    """A mask read left to right, top to bottom: run k is `lengths[k]` pixels of `values[k]`.

    Held as bytes, so that it compares, hashes and travels between processes as a plain value.
    """

    values: bytes  # uint8
    lengths: bytes  # int32, little-endian
    width: int

    @property
    def size(self) -> tuple[int, int]:
        pixels = int(np.frombuffer(self.lengths, LENGTH_DTYPE).sum())
        return self.width, pixels // self.width if self.width else 0


def encode_mask(mask: Mask) -> RunLengths:
    if mask.dtype != np.uint8 or mask.ndim != 2:
        raise ValueError(f"a mask is a uint8 image of two dimensions, not {mask.dtype} of {mask.ndim}")
    flat = mask.ravel()
    if not flat.size:
        return RunLengths(b"", b"", mask.shape[1])
    starts = np.append(0, np.flatnonzero(flat[1:] != flat[:-1]) + 1)
    lengths = np.diff(starts, append=flat.size).astype(LENGTH_DTYPE)
    return RunLengths(flat[starts].tobytes(), lengths.tobytes(), mask.shape[1])


def decode_mask(runs: RunLengths) -> Mask:
    values = np.frombuffer(runs.values, np.uint8)
    lengths = np.frombuffer(runs.lengths, LENGTH_DTYPE)
    return np.repeat(values, lengths).reshape(-1, runs.width)


ImageBox = tuple[int, int, int, int]  # left, top, width, height in pixels; all zero for a hidden object

_PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"


@dataclass(frozen=True, slots=True)
class StoredParts:
    """Every part of every object, also those that the scene does not list: the mask shows 1, 2, … in each object."""

    mask: RunLengths  # which object's, the mask of objects tells
    names: tuple[tuple[str, ...], ...]  # per object
    boxes: tuple[tuple[ImageBox, ...], ...]  # per object and part
    visible: tuple[tuple[int, ...], ...]  # pixels, per object and part

    def __post_init__(self) -> None:
        sizes = [len(own) for own in self.names]
        if any([len(own) for own in what] != sizes for what in (self.boxes, self.visible)):
            raise ValueError("a part needs a name, a box and a count of visible pixels")


@dataclass(frozen=True, slots=True)
class StoredImage:
    """A scene and its picture. Boxes and visible pixels are one per object, or none where unknown."""

    scene: Scene
    png: bytes = b""  # encoded once; every shard and export copies these bytes; empty: there is no picture
    mask: RunLengths | None = None
    boxes: tuple[ImageBox, ...] = ()
    visible: tuple[int, ...] = ()  # pixels
    part_mask: RunLengths | None = None  # 1, 2, … for the parts that the scene's objects list, in its order
    parts: StoredParts | None = None

    def __post_init__(self) -> None:
        if self.png and (self.png[:8] != _PNG_SIGNATURE or len(self.png) < 24):
            raise ValueError(f"image {self.id!r} is not encoded as PNG")
        if not self.id:
            raise ValueError("a stored image needs a scene with an id")
        for mask in (self.mask, self.part_mask, self.parts.mask if self.parts else None):
            if mask is not None and mask.size != self.size:
                raise ValueError(f"image {self.id!r} is {self.size} pixels, its mask {mask.size}")
        count = len(self.scene.objects)
        for named, what in (("boxes", self.boxes), ("counts of visible pixels", self.visible)):
            if what and len(what) != count:
                raise ValueError(f"image {self.id!r}: {len(what)} {named} for {count} objects")
        if self.parts and len(self.parts.names) != count:
            raise ValueError(f"image {self.id!r}: parts of {len(self.parts.names)} objects, the scene lists {count}")
        listed = sum(len(o.parts) for o in self.scene.objects)
        for named, mask, most in (("object", self.mask, count), ("part", self.part_mask, listed)):
            if mask is not None and max(mask.values, default=0) > most:
                shown = max(mask.values)
                raise ValueError(f"image {self.id!r}: its mask shows {named} {shown}, the scene lists {most}")

    @property
    def id(self) -> str:
        return self.scene.id

    def find_box(self, i: int, part: str = "") -> Box | None:
        """Where object i, or one of its parts, is seen; None where it is hidden or nobody knows."""
        thing = self.scene.objects[i]
        box: Box | None = self.boxes[i] if self.boxes else thing.box
        if part and self.parts and part in self.parts.names[i]:
            box = self.parts.boxes[i][self.parts.names[i].index(part)]
        elif part:
            box = next((p.box for p in thing.parts if p.name == part), None)
        return box if box and box[2] else None

    @property
    def size(self) -> tuple[int, int]:
        """Width and height in pixels, as the PNG header says; of the scene, where there is no picture."""
        if not self.png:
            return self.scene.size or (0, 0)
        width, height = struct.unpack(">II", self.png[16:24])
        return width, height
