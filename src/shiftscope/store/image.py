"""StoredImage: one image as a dataset keeps it, with the scene it shows and where each object is seen."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from ..scene import Scene
from .masks import RunLengths

Box = tuple[int, int, int, int]  # left, top, width, height in pixels; all zero for a hidden object

_SIGNATURE = b"\x89PNG\r\n\x1a\n"


@dataclass(frozen=True, slots=True)
class StoredImage:
    """A scene and its picture. Boxes and visible pixels are one per object, or none where unknown."""

    scene: Scene
    png: bytes = b""  # encoded once; every shard and export copies these bytes; empty: there is no picture
    mask: RunLengths | None = None
    boxes: tuple[Box, ...] = ()
    visible: tuple[int, ...] = ()  # pixels
    part_mask: RunLengths | None = None  # 1, 2, … for the parts that the scene's objects list, in its order

    def __post_init__(self) -> None:
        if self.png and (self.png[:8] != _SIGNATURE or len(self.png) < 24):
            raise ValueError(f"image {self.id!r} is not encoded as PNG")
        if not self.id:
            raise ValueError("a stored image needs a scene with an id")
        for mask in (self.mask, self.part_mask):
            if mask is not None and mask.size != self.size:
                raise ValueError(f"image {self.id!r} is {self.size} pixels, its mask {mask.size}")
        count = len(self.scene.objects)
        for named, what in (("boxes", self.boxes), ("counts of visible pixels", self.visible)):
            if what and len(what) != count:
                raise ValueError(f"image {self.id!r}: {len(what)} {named} for {count} objects")
        listed = sum(len(o.parts) for o in self.scene.objects)
        for named, mask, most in (("object", self.mask, count), ("part", self.part_mask, listed)):
            if mask is not None and max(mask.values, default=0) > most:
                raise ValueError(
                    f"image {self.id!r}: its mask shows {named} {max(mask.values)}, the scene lists {most}"
                )

    @property
    def id(self) -> str:
        """What questions call this image."""
        return self.scene.id

    @property
    def size(self) -> tuple[int, int]:
        """Width and height in pixels, as the PNG header says; of the scene, where there is no picture."""
        if not self.png:
            return self.scene.size or (0, 0)
        width, height = struct.unpack(">II", self.png[16:24])
        return width, height
