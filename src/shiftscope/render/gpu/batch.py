"""Batch: packed scenes on their way through the kernels, step by step.

Triton compiles a kernel anew for every alignment of its arrays and every constant it is given, which takes
longer than thousands of images do. So arrays start at whole steps of ALIGNED bytes; counts are rounded up.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ..color import encoding
from ..shadow import margin_of
from .images import GpuImages
from .pack import LAMPS, Packed
from .shelf import Shelf

if TYPE_CHECKING:
    import torch


SENT = tuple(
    f.name for f in fields(Packed) if f.name not in ("size", "meshes", "mesh_of", "image_of", "listed")
)


@dataclass(frozen=True, slots=True)
class Tuning:
    """How work is cut up: it changes the speed, never the images."""

    vertices: int = 128  # a program places
    triangles: int = 32  # a program draws, one a lane
    small: int = 16  # pixels in the box of a triangle that its lane draws alone
    cells: tuple[int, int] = (32, 8)  # of the ground a program lights, across and down
    tile: tuple[int, int] = (32, 8)  # pixels a program gathers or resolves
    block: tuple[int, int] = (32, 32)  # pixels a program measures
    samples: int = 128  # a program shades at a time, one a lane
    turns: int = 64  # programs that shade one image
    registers: int = 96  # a lane that shades may use: fewer let more programs run at once


TUNING = Tuning()
ALIGNED = 64  # bytes
ROOM = 16  # objects, listed parts and vertices are counted in steps of so many


@cache
def shelf(device: str) -> Shelf:
    """The meshes on that device."""
    return Shelf(device)


@cache
def _table(device: str) -> torch.Tensor:
    import torch

    return torch.from_numpy(encoding()).to(device)


def _room(count: int) -> int:
    return -(-count // ROOM) * ROOM


def _warps(lanes: int) -> int:
    """How many groups of 32 lanes run such a program; no more than a GPU allows."""
    return min(max(lanes // 32, 1), 32)


class Batch:
    """One batch on its way through the kernels; each step is a method, so that it can be timed."""

    def __init__(self, packed: Packed, device: str, tuning: Tuning = TUNING) -> None:
        import torch

        self.packed, self.device, self.tuning = packed, device, tuning
        self.shelf = shelf(device)
        self.shelf.add(packed.meshes)
        rows = self.shelf.rows(packed)
        self.count, (self.width, self.height) = len(packed), packed.size
        self.columns, self.rows = (self.width + 1) // 2, (self.height + 1) // 2
        self.margin = margin_of(packed.size)
        self.cells = self.columns * self.rows
        self.map_size = (self.columns + 2 * self.margin, self.rows + 2 * self.margin)
        self.total = _room(int(rows[:, 1].sum()))
        self.most_vertices, self.most_faces = int(rows[:, 1].max(initial=1)), int(rows[:, 3].max(initial=1))
        self.most = (int(np.diff(packed.first).max()), int(packed.listed.max()))  # objects, listed parts
        # one copy for all that travels
        arrays = {"bodies": rows, **{name: getattr(packed, name) for name in SENT}}
        flat = np.zeros(sum(-(-a.nbytes // ALIGNED) * ALIGNED for a in arrays.values()), np.uint8)
        places, at = {}, 0
        for name, array in arrays.items():
            places[name] = at
            flat[at : at + array.nbytes] = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
            at += -(-array.nbytes // ALIGNED) * ALIGNED
        sent = torch.from_numpy(flat)
        if device != "cpu":
            sent = sent.pin_memory().to(device, non_blocking=True)
        kinds = {
            "int32": torch.int32,
            "float32": torch.float32,
            "float64": torch.float64,
            "uint8": torch.uint8,
        }
        self.on = {
            name: sent[places[name] : places[name] + a.nbytes].view(kinds[str(a.dtype)])
            for name, a in arrays.items()
        }

        self.views = self.on["cameras"].to(torch.float32)  # for light; the exact ones decide what is seen

    def render(self, rgb: bool = True) -> GpuImages:
        for _, step in self.steps(rgb):
            step()
        return self.images(rgb)

    def steps(self, rgb: bool = True) -> tuple[tuple[str, Callable[[], None]], ...]:
        """What is to be done, in this order."""
        seen = (
            ("place vertices", self.place),
            ("draw what the camera sees", partial(self.draw_camera, rgb)),
            ("measure masks", self.measure),
        )
        painted = (
            ("draw shadows", self.draw_shadows),
            ("light the ground", self.light_ground),
            ("gather samples", self.gather),
            ("shade them", self.shade),
            ("resolve pixels", self.resolve),
        )
        return seen + painted if rgb else seen

    def _new(self, *shape: int, kind: str = "float32", zero: bool = False) -> torch.Tensor:
        import torch

        make = torch.zeros if zero else torch.empty
        return make(shape, dtype=getattr(torch, kind), device=self.device)

    def place(self) -> None:
        """Every vertex in the world, as the camera and each lamp see it."""
        from .place import place

        self.points = self._new(self.total, 8)
        self.snapped = self._new(LAMPS + 1, self.total, 4, kind="int32")
        step = self.tuning.vertices
        place[(len(self.packed.mesh_of), -(-self.most_vertices // step))](
            *(self.shelf.vertices, self.shelf.normals, self.on["bodies"], self.on["poses"]),
            *(self.on["cameras"], self.on["lamps"], self.points, self.snapped, self.total, self.margin),
            LAMPS=LAMPS,
            BLOCK=step,
            enable_fp_fusion=False,
        )

    def draw_camera(self, fine: bool = True) -> None:
        """The visibility buffers of the camera, at four samples a pixel and at its centre."""
        pixels = self.width * self.height
        self.fine = self._new(self.count * pixels * 4 if fine else 1, kind="int64", zero=True)
        self.centre = self._new(self.count * pixels, kind="int64", zero=True)
        self._draw(1, (self.width, self.height), self.fine, self.centre, self.centre, False, fine)

    def draw_shadows(self) -> None:
        """The shadow map of every lamp."""
        wide, high = self.map_size
        self.maps = self._new(self.count * LAMPS * wide * high, kind="int32", zero=True)
        self._draw(LAMPS, self.map_size, self.maps, self.maps, self.maps, True, False)

    def _draw(self, views: int, size: tuple[int, int], *rest: Any) -> None:
        from .draw import draw

        fine, centre, maps, lit, every = rest
        step = self.tuning.triangles
        draw[(len(self.packed.mesh_of), -(-self.most_faces // step), views)](
            *(self.shelf.triangles, self.on["bodies"], self.snapped, self.total, *size, fine, centre, maps),
            LIT=lit,
            EVERY=every,
            LAMPS=LAMPS,
            MOST=self.tuning.small,
            BLOCK=step,
            num_warps=_warps(step),
        )

    def measure(self) -> None:
        """Masks, boxes and visible pixels."""
        from .measure import measure

        self.mask = self._new(self.count, self.height, self.width, kind="uint8")
        self.parts = self._new(self.count, self.height, self.width, kind="uint8")
        objects, parts = map(_room, self.most)
        self.seen = self._new(self.count, objects + parts, 5, kind="int32")
        self.seen[:, :, 0] = 0
        self.seen[:, :, 1:3] = 1 << 20
        self.seen[:, :, 3:] = -1
        across, down = self.tuning.block
        measure[self._tiles(self.tuning.block)](
            *(self.centre, self.shelf.part_of, self.on["bodies"], self.on["first"], self.on["labels"]),
            *(self.mask, self.parts, self.seen, self.width, self.height),
            OBJECTS=objects,
            LABELS=objects + parts,
            ACROSS=across,
            DOWN=down,
        )

    def light_ground(self) -> None:
        """The light on the ground, its shadows softened."""
        from .ground import blur, light, read

        across, down = self.tuning.cells
        grid = self._tiles(self.tuning.cells, coarse=True)
        lit = (self.count * LAMPS, grid[1])
        planes = self._new(6, self.count * LAMPS * self.cells)
        covered, reach, size = planes[:3], planes[3:], (self.columns, self.rows)
        read[lit](
            *(self.maps, self.views, self.on["lamps"], covered[0], reach[0], *size, self.margin),
            LAMPS=LAMPS,
            ACROSS=across,
            DOWN=down,
        )
        for level, step_x, step_y in ((1, 2, 1), (2, 4, 2)):
            blur[lit](
                *(covered[level - 1], reach[level - 1], covered[level], reach[level], *size),
                STEP_X=step_x,
                STEP_Y=step_y,
                ACROSS=across,
                DOWN=down,
            )
        self.light = self._new(self.count, self.rows, self.columns, 4)
        light[grid](
            *(self.views, self.on["lamps"], self.on["lumps"], self.on["windows"], self.on["lump_first"]),
            *(*covered, reach[2], self.light, *size),
            LAMPS=LAMPS,
            ACROSS=across,
            DOWN=down,
        )
        self.rim = self.light[:, -1, :, :3].mean(dim=1)

    def gather(self) -> None:
        """The list of samples to shade."""
        from .gather import gather

        self.todo = self._new(self.count * self.width * self.height * 4, kind="int32")
        self.counts = self._new(self.count, kind="int32", zero=True)
        on, (across, down) = self.on, self.tuning.tile
        gather[self._tiles(self.tuning.tile)](
            *(self.fine, on["bodies"], self.shelf.facets, self.shelf.part_of, on["traits"], on["first"]),
            *(self.todo, self.counts, self.width, self.height),
            ACROSS=across,
            DOWN=down,
        )

    def shade(self) -> None:
        """The light of each sample on the list."""
        from .shade import shade

        on, turns = self.on, self.tuning.turns
        shade[(self.count, turns)](
            *(self.fine, self.todo, self.counts, self.points, self.shelf.triangles, self.shelf.part_of),
            *(on["bodies"], on["first"], self.views, on["lamps"], on["stand_ins"], on["blocks"]),
            *(on["block_first"], on["frames"], on["looks"], self.maps, self.light, self.rim),
            *(self.width, self.height, self.columns, self.rows, self.margin),
            LAMPS=LAMPS,
            TURNS=turns,
            BLOCK=self.tuning.samples,
            num_warps=_warps(self.tuning.samples),
            maxnreg=self.tuning.registers,
        )

    def resolve(self) -> None:
        """The pixels."""
        from .resolve import resolve

        self.rgb = self._new(self.count, self.height, self.width, 3, kind="uint8")
        across, down = self.tuning.tile
        resolve[self._tiles(self.tuning.tile)](
            *(self.fine, self.light, _table(self.device), self.rgb),
            *(self.width, self.height, self.columns, self.rows),
            ACROSS=across,
            DOWN=down,
        )

    def _tiles(self, tile: tuple[int, int], coarse: bool = False) -> tuple[int, int]:
        """The grid of tiles over every image, or over its ground at half the resolution."""
        width, height = (self.columns, self.rows) if coarse else (self.width, self.height)
        return self.count, -(-width // tile[0]) * -(-height // tile[1])

    def images(self, rgb: bool = True) -> GpuImages:
        import torch

        visible, low, high = self.seen[:, :, 0], self.seen[:, :, 1:3], self.seen[:, :, 3:]
        boxes = torch.cat([low, high - low + 1], dim=2) * (visible > 0).unsqueeze(2)
        objects, parts = self.most
        first = _room(objects)  # of the parts
        return GpuImages(
            size=self.packed.size,
            rgb=self.rgb if rgb else None,
            mask=self.mask,
            parts=self.parts,
            boxes=boxes[:, :objects].to(torch.int32),
            visible=visible[:, :objects],
            part_boxes=boxes[:, first : first + parts].to(torch.int32),
            part_visible=visible[:, first : first + parts],
        )
