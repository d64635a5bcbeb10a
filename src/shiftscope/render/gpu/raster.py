"""The renderer on a GPU: the CPU's maths for a whole batch at once; nothing comes back to the host.

Without a GPU the CPU renderer fills the same tensors.

Triton compiles a kernel anew for every alignment of its arrays and every constant it is given, which takes
longer than thousands of images do. So arrays start at whole steps of ALIGNED bytes; counts are rounded up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache, partial
from typing import TYPE_CHECKING

import numpy as np

from ...errors import UserError
from ...geometry.camera import SIZE
from ...geometry.mesh import bodies_of
from ...geometry.visibility import measure_labels, measure_numbers, name_parts
from ...kernels import Ints
from ...scene import Scene
from .. import Rendered, split_batches
from ..image import srgb_table
from ..lighting import shadow_margin
from ..raster import render
from .pack import LAMPS, DeviceMeshes, GpuScenes, join_packs, pack_batch, pack_scene

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True, slots=True, eq=False)
class GpuImages:
    """Tensors; rows of `boxes` and `visible` beyond an image's objects or listed parts are zero."""

    size: tuple[int, int]  # width, height
    rgb: torch.Tensor | None  # [image, height, width, 3] uint8
    mask: torch.Tensor  # [image, height, width] uint8, object index + 1, 0 for the ground
    parts: torch.Tensor  # [image, height, width] uint8, 1, 2, … for the parts that the scene lists, else 0
    boxes: torch.Tensor  # [image, object, left top width height] int32; zeros if hidden
    visible: torch.Tensor  # [image, object] int32, pixels at whose centre it is seen
    part_boxes: torch.Tensor  # [image, listed part, left top width height] int32
    part_visible: torch.Tensor  # [image, listed part] int32


SENT_FIELDS = tuple(
    f.name for f in fields(GpuScenes) if f.name not in ("size", "meshes", "mesh_of", "image_of", "listed")
)


@dataclass(frozen=True, slots=True)
class GpuTuning:
    """How work is cut up: it changes the speed, never the images."""

    vertices: int = 128  # a program places
    triangles: int = 32  # a program draws, one per lane
    small: int = 16  # pixels in the box of a triangle that its lane draws alone
    cells: tuple[int, int] = (32, 8)  # of the ground a program lights, across and down
    tile: tuple[int, int] = (32, 8)  # pixels a program gathers or resolves
    block: tuple[int, int] = (32, 32)  # pixels a program measures
    samples: int = 128  # a program shades at a time, one per lane
    turns: int = 64  # programs that shade one image
    registers: int = 96  # a lane that shades may use: fewer let more programs run at once


TUNING = GpuTuning()
ALIGNED = 64  # bytes
ROOM = 16  # objects, listed parts and vertices are counted in steps of so many


device_meshes = cache(DeviceMeshes)  # by the device they are on


@cache
def _device_srgb_table(device: str) -> torch.Tensor:
    import torch

    return torch.from_numpy(srgb_table()).to(device)


def _round_up(count: int) -> int:
    return -(-count // ROOM) * ROOM


def _warp_count(lanes: int) -> int:
    """How many groups of 32 lanes run such a program; no more than a GPU allows."""
    return min(max(lanes // 32, 1), 32)


class GpuBatch:
    """One batch on its way through the kernels; each step is a method, so that it can be timed."""

    def __init__(self, packed: GpuScenes, device: str, tuning: GpuTuning = TUNING) -> None:
        import torch

        self.packed, self.device, self.tuning = packed, device, tuning
        self.shelf = device_meshes(device)
        self.shelf.add(packed.meshes)
        rows = self.shelf.body_rows(packed)
        self.count, (self.width, self.height) = len(packed), packed.size
        self.columns, self.rows = (self.width + 1) // 2, (self.height + 1) // 2
        self.margin = shadow_margin(packed.size)
        self.cells = self.columns * self.rows
        self.map_size = (self.columns + 2 * self.margin, self.rows + 2 * self.margin)
        self.total = _round_up(int(rows[:, 1].sum()))
        self.most_vertices, self.most_faces = int(rows[:, 1].max(initial=1)), int(rows[:, 3].max(initial=1))
        self.most = (int(np.diff(packed.first).max()), int(packed.listed.max()))  # objects, listed parts
        # one copy for all that travels
        arrays = {"bodies": rows, **{name: getattr(packed, name) for name in SENT_FIELDS}}
        flat = np.zeros(sum(-(-a.nbytes // ALIGNED) * ALIGNED for a in arrays.values()), np.uint8)
        places, at = {}, 0
        for name, array in arrays.items():
            places[name] = at
            flat[at : at + array.nbytes] = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
            at += -(-array.nbytes // ALIGNED) * ALIGNED
        sent = torch.from_numpy(flat)
        if device != "cpu":
            sent = sent.pin_memory().to(device, non_blocking=True)
        parts = {name: sent[places[name] : places[name] + a.nbytes] for name, a in arrays.items()}
        self.on = {name: part.view(getattr(torch, str(arrays[name].dtype))) for name, part in parts.items()}
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

    def _allocate(self, *shape: int, kind: str = "float32", zero: bool = False) -> torch.Tensor:
        import torch

        make = torch.zeros if zero else torch.empty
        return make(shape, dtype=getattr(torch, kind), device=self.device)

    def place(self) -> None:
        """Every vertex in the world, as the camera and each lamp see it."""
        from .visibility import place_vertices

        self.points = self._allocate(self.total, 8)
        self.snapped = self._allocate(LAMPS + 1, self.total, 4, kind="int32")
        step = self.tuning.vertices
        constants = {"LAMPS": LAMPS, "BLOCK": step, "enable_fp_fusion": False}
        place_vertices[(len(self.packed.mesh_of), -(-self.most_vertices // step))](
            *(self.shelf.vertices, self.shelf.normals, self.on["bodies"], self.on["poses"]),
            *(self.on["cameras"], self.on["lamps"], self.points, self.snapped, self.total, self.margin),
            **constants,
        )

    def draw_camera(self, fine: bool = True) -> None:
        """The visibility buffers of the camera, at four samples per pixel and at its centre."""
        pixels = self.width * self.height
        self.fine = self._allocate(self.count * pixels * 4 if fine else 1, kind="int64", zero=True)
        self.centre = self._allocate(self.count * pixels, kind="int64", zero=True)
        self._draw(1, (self.width, self.height), (self.fine, self.centre, self.centre), LIT=False, EVERY=fine)

    def draw_shadows(self) -> None:
        """The shadow map of every lamp."""
        wide, high = self.map_size
        self.maps = self._allocate(self.count * LAMPS * wide * high, kind="int32", zero=True)
        self._draw(LAMPS, self.map_size, (self.maps, self.maps, self.maps), LIT=True, EVERY=False)

    def _draw(self, views: int, size: tuple[int, int], out: tuple[torch.Tensor, ...], **what: bool) -> None:
        from .visibility import draw_triangles

        step = self.tuning.triangles
        constants = {"LAMPS": LAMPS, "MOST": self.tuning.small, "BLOCK": step, "num_warps": _warp_count(step)}
        draw_triangles[(len(self.packed.mesh_of), -(-self.most_faces // step), views)](
            *(self.shelf.triangles, self.on["bodies"], self.snapped, self.total, *size, *out), **constants, **what
        )

    def measure(self) -> None:
        """Masks, boxes and visible pixels."""
        from .visibility import measure_masks

        self.mask = self._allocate(self.count, self.height, self.width, kind="uint8")
        self.parts = self._allocate(self.count, self.height, self.width, kind="uint8")
        objects, parts = map(_round_up, self.most)
        self.seen = self._allocate(self.count, objects + parts, 5, kind="int32")
        self.seen[:, :, 0] = 0
        self.seen[:, :, 1:3] = 1 << 20
        self.seen[:, :, 3:] = -1
        grid, shape = self._tiles(self.tuning.block)
        measure_masks[grid](
            *(self.centre, self.shelf.part_of, self.on["bodies"], self.on["first"], self.on["labels"]),
            *(self.mask, self.parts, self.seen, self.width, self.height),
            **{"OBJECTS": objects, "LABELS": objects + parts} | shape,
        )

    def light_ground(self) -> None:
        """The light on the ground, its shadows softened."""
        from .shading import blur, light_ground, read_shadow_maps

        grid, shape = self._tiles(self.tuning.cells, coarse=True)
        lit = (self.count * LAMPS, grid[1])
        planes = self._allocate(6, self.count * LAMPS * self.cells)
        covered, reach, size = planes[:3], planes[3:], (self.columns, self.rows)
        read_shadow_maps[lit](
            *(self.maps, self.views, self.on["lamps"], covered[0], reach[0], *size, self.margin), LAMPS=LAMPS, **shape
        )
        for level, step_x, step_y in ((1, 2, 1), (2, 4, 2)):
            planes_of = (covered[level - 1], reach[level - 1], covered[level], reach[level])
            blur[lit](*planes_of, *size, STEP_X=step_x, STEP_Y=step_y, **shape)
        self.light = self._allocate(self.count, self.rows, self.columns, 4)
        light_ground[grid](
            *(self.views, self.on["lamps"], self.on["lumps"], self.on["windows"], self.on["lump_first"]),
            *(*covered, reach[2], self.light, *size),
            **{"LAMPS": LAMPS} | shape,
        )
        self.rim = self.light[:, -1, :, :3].mean(dim=1)

    def gather(self) -> None:
        """The list of samples to shade."""
        from .paint import gather_samples

        self.todo = self._allocate(self.count * self.width * self.height * 4, kind="int32")
        self.counts = self._allocate(self.count, kind="int32", zero=True)
        on, (grid, shape) = self.on, self._tiles(self.tuning.tile)
        gather_samples[grid](
            *(self.fine, on["bodies"], self.shelf.facets, self.shelf.part_of, on["traits"], on["first"]),
            *(self.todo, self.counts, self.width, self.height),
            **shape,
        )

    def shade(self) -> None:
        """The light of each sample on the list."""
        from .paint import shade

        on, tuning = self.on, self.tuning
        constants = {"LAMPS": LAMPS, "TURNS": tuning.turns, "BLOCK": tuning.samples, "maxnreg": tuning.registers}
        shade[(self.count, tuning.turns)](
            *(self.fine, self.todo, self.counts, self.points, self.shelf.triangles, self.shelf.part_of),
            *(on["bodies"], on["first"], self.views, on["lamps"], on["stand_ins"], on["blocks"]),
            *(on["block_first"], on["frames"], on["looks"], self.maps, self.light, self.rim),
            *(self.width, self.height, self.columns, self.rows, self.margin),
            num_warps=_warp_count(tuning.samples),
            **constants,
        )

    def resolve(self) -> None:
        """The pixels."""
        from .paint import resolve

        self.rgb = self._allocate(self.count, self.height, self.width, 3, kind="uint8")
        grid, shape = self._tiles(self.tuning.tile)
        resolve[grid](
            *(self.fine, self.light, _device_srgb_table(self.device), self.rgb),
            *(self.width, self.height, self.columns, self.rows),
            **shape,
        )

    def _tiles(self, tile: tuple[int, int], coarse: bool = False) -> tuple[tuple[int, int], dict[str, int]]:
        """The grid of tiles over every image, or over its ground at half the resolution; and their shape."""
        width, height = (self.columns, self.rows) if coarse else (self.width, self.height)
        across, down = tile
        return (self.count, -(-width // across) * -(-height // down)), {"ACROSS": across, "DOWN": down}

    def images(self, rgb: bool = True) -> GpuImages:
        import torch

        visible, low, high = self.seen[:, :, 0], self.seen[:, :, 1:3], self.seen[:, :, 3:]
        boxes = (torch.cat([low, high - low + 1], dim=2) * (visible > 0).unsqueeze(2)).to(torch.int32)
        objects, parts = self.most
        first = _round_up(objects)  # of the parts
        own = slice(objects), slice(first, first + parts)
        counted = (rows[:, some] for some in own for rows in (boxes, visible))
        return GpuImages(self.packed.size, self.rgb if rgb else None, self.mask, self.parts, *counted)


def render_batch_on_cpu(
    scenes: Sequence[Scene], size: tuple[int, int] = SIZE, *, workers: int | None = None
) -> GpuImages:
    """What `render_batch` returns, its tensors in main memory."""
    import torch
    from torch.nn.utils.rnn import pad_sequence

    images = render(scenes, size, ("rgb", "mask", "listed"), workers)
    assert images.rgb is not None and images.mask is not None and images.listed is not None
    listed = [sum(len(o.parts) for o in s.objects) for s in scenes]
    boxes, visible = zip(*map(measure_labels, images.listed, listed), strict=True)
    counted = (images.boxes, images.visible, boxes, visible)
    padded = (pad_sequence([torch.from_numpy(row) for row in rows], batch_first=True) for rows in counted)
    return GpuImages(size, *map(torch.from_numpy, (images.rgb, images.mask, images.listed)), *padded)


def render_batch(
    scenes: Sequence[Scene] | GpuScenes,
    size: tuple[int, int] = SIZE,
    device: str = "cuda",
    *,
    rgb: bool = True,
    tuning: GpuTuning = TUNING,
) -> GpuImages:
    """Images, masks and boxes of the scenes, on the device; without `rgb` masks and boxes alone.

    A packed batch has its own size. Working memory is about 90 bytes per pixel: 4 GB for 256 images.
    """
    check_device(device)
    packed = scenes if isinstance(scenes, GpuScenes) else pack_batch(scenes, size)
    return GpuBatch(packed, device, tuning).render(rgb)


@dataclass(frozen=True, slots=True)
class GpuRenderer:
    """Draws on a GPU and brings the images back."""

    device: str
    layers: tuple[str, ...] = ("rgb", "mask", "parts", "listed")
    batch: int = 256

    def __post_init__(self) -> None:
        check_device(self.device)

    def render(self, scenes: Sequence[Scene], layers: Sequence[str], size: tuple[int, int]) -> Iterator[Rendered]:
        for batch in split_batches(scenes, size):
            made = render_batch(batch, size, self.device, rgb="rgb" in layers)
            tensors = {"rgb": made.rgb, "mask": made.mask, "listed": made.parts}
            if "parts" in layers:
                tensors["parts"] = render_batch(pack_batch(batch, size, True), size, self.device, rgb=False).parts
            planes = {name: plane.cpu().numpy() for name, plane in tensors.items() if plane is not None}
            boxes, visible = made.boxes.cpu().numpy(), made.visible.cpu().numpy()
            for i, scene in enumerate(batch):
                n = len(scene.objects)
                drawn = {name: planes[name][i] if name in layers else None for name in self.layers}
                counted: tuple[tuple[Ints, ...], tuple[Ints, ...]] = ((), ())
                if drawn["parts"] is not None:
                    names = name_parts(bodies_of(scene))
                    counted = measure_numbers(planes["mask"][i], drawn["parts"], [len(own) for own in names])
                yield Rendered(
                    **drawn,
                    depth=None,
                    normal=None,
                    boxes=boxes[i, :n],
                    visible=visible[i, :n],
                    part_boxes=counted[0],
                    part_visible=counted[1],
                )

    def pack(self, scenes: Sequence[Scene], size: tuple[int, int]) -> tuple[GpuScenes, Scene]:
        """The scenes without meshes, which do not travel, and an object for each mesh, in their order."""
        packed = join_packs([pack_scene(scene, size) for scene in scenes])
        objects = [thing for scene in scenes for thing in scene.objects]
        _, first = np.unique(packed.mesh_of, return_index=True)
        return replace(packed, meshes=()), Scene(tuple(objects[i] for i in first), schema=scenes[0].schema)

    def render_packs(self, packs: Sequence[tuple[GpuScenes, Scene]], size: tuple[int, int]) -> GpuImages:
        whole = [replace(packed, meshes=tuple(b.mesh for b in bodies_of(shown))) for packed, shown in packs]
        return render_batch(whole[0] if len(whole) == 1 else join_packs(whole), device=self.device)


def check_device(device: str) -> None:
    """Refuse a device that Triton cannot run on, saying what is missing."""
    missing = _find_missing(device.partition(":")[0])
    if missing:
        raise UserError(f"cannot render on {device!r}: {missing}; the CPU renderer needs no GPU (--device cpu)")


@cache
def _find_missing(kind: str) -> str:
    try:
        import torch
    except ImportError:
        return "torch is not installed (pip install 'shiftscope[models]')"
    try:
        import triton  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        return "Triton is not installed (it comes with torch for CUDA)"
    if kind == "cpu" and triton.knobs.runtime.interpret:
        return ""  # slow, for tests
    if kind != "cuda":
        return "only CUDA devices are known"
    return "" if torch.cuda.is_available() else "torch finds no GPU here"
