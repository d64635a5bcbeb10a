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
    png: bytes  # encoded once; every shard and export copies these bytes
    mask: RunLengths | None = None
    boxes: tuple[Box, ...] = ()
    visible: tuple[int, ...] = ()  # pixels

    def __post_init__(self) -> None:
        if self.png[:8] != _SIGNATURE or len(self.png) < 24:
            raise ValueError(f"image {self.id!r} is not encoded as PNG")
        if not self.id:
            raise ValueError("a stored image needs a scene with an id")
        if self.mask is not None and self.mask.size != self.size:
            raise ValueError(f"image {self.id!r} is {self.size} pixels, its mask {self.mask.size}")
        for what in (self.boxes, self.visible):
            if what and len(what) != len(self.scene.objects):
                raise ValueError(
                    f"image {self.id!r}: {len(what)} boxes for {len(self.scene.objects)} objects"
                )

    @property
    def id(self) -> str:
        """What questions call this image."""
        return self.scene.id

    @property
    def size(self) -> tuple[int, int]:
        """Width and height in pixels, as the PNG header says."""
        width, height = struct.unpack(">II", self.png[16:24])
        return width, height
