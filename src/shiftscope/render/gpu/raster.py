"""The renderer on a GPU: the CPU's maths for a whole batch at once; nothing comes back to the host.

Without a GPU the CPU renderer fills the same tensors.

Triton compiles a kernel anew for every alignment of its arrays and every constant it is given, which takes
longer than thousands of images do. So arrays start at whole steps of ALIGNED bytes; counts are rounded up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache, partial
from itertools import accumulate, pairwise
from math import prod
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...errors import UserError
from ...executor import call_in_parent, is_worker
from ...geometry.camera import SIZE
from ...geometry.layout import Layout, measure_layouts
from ...geometry.mesh import bodies_of
from ...geometry.visibility import Visibility, measure_labels, name_parts
from ...kernels import Bytes, Ints
from ...scene import Object, Scene
from ...schema import Schema
from ...shared_memory import CAN_SHARE, BlockAddress, SharedBlock, align, open_block, view_arrays
from .. import BATCH_PIXELS, Rendered, split_batches
from ..image import srgb_table
from ..lighting import shadow_margin
from ..raster import render
from .pack import LAMPS, DeviceMeshes, GpuScenes, join_packs, pack_batch, pack_layouts

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


@dataclass(frozen=True, slots=True, eq=False)
class GpuParts:
    """Of objects and all their parts, listed or not; those of an image's objects follow each other."""

    plane: torch.Tensor  # [image, height, width] uint8, 1, 2, … for the parts of the object there, else 0
    boxes: torch.Tensor  # [image, object, left top width height] int32
    visible: torch.Tensor  # [image, object] int32
    part_boxes: torch.Tensor  # [image, part, left top width height] int32
    part_visible: torch.Tensor  # [image, part] int32


KEPT_FIELDS = ("size", "meshes", "mesh_of", "image_of", "listed", "numbered")  # on the host
SENT_FIELDS = tuple(f.name for f in fields(GpuScenes) if f.name not in KEPT_FIELDS)


@dataclass(frozen=True, slots=True)
class GpuTuning:
    """How work is cut up: it changes the speed, never the images."""

    vertices: int = 128  # a program places
    triangles: int = 32  # a program draws at a time, one per lane
    runs: int = 2  # how often it does, of the largest body
    cells: tuple[int, int] = (32, 8)  # of the ground a program lights, across and down
    ground_warps: int = 4  # that light them
    strip: tuple[int, int] = (64, 16)  # cells of the ground whose shadows a program blurs, across and down
    lumps: int = 128  # that a program looks through at once for those near its cells
    tile: tuple[int, int] = (32, 8)  # pixels a program clears, measures, gathers or resolves
    tile_warps: int = 4  # that do so
    measure_warps: int = 1  # that measure them
    samples: int = 128  # a program shades at a time, one per lane
    turns: int = 64  # programs that shade one image
    registers: int = 96  # a lane that shades may use: fewer let more programs run at once


TUNING = GpuTuning()
ALIGNED = 64  # bytes
WORTHWHILE = 8  # layouts: fewer are seen sooner on the CPU
MARKED = 256  # tiles looked at by one program
ROOM = 16  # objects, listed parts and vertices are counted in steps of so many


device_meshes = cache(DeviceMeshes)  # by the device they are on


@cache
def _device_srgb_table(device: str) -> torch.Tensor:
    import torch

    return torch.from_numpy(srgb_table()).to(device)


@cache
def _side_stream(device: str) -> Any:
    import torch

    return torch.cuda.Stream(device)  # type: ignore[no-untyped-call]


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
        self.most_objects = int(np.diff(packed.first).max())
        # one copy for all that travels
        bounds = self.shelf.body_bounds(packed)
        arrays = {"bodies": rows, "bounds": bounds, **{name: getattr(packed, name) for name in SENT_FIELDS}}
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
        if rgb and self.device != "cpu":
            self._paint_side_by_side()
        else:
            for _, step in self.steps(rgb):
                step()
        return self.images(rgb)

    def _paint_side_by_side(self) -> None:
        """The steps of `steps`, in two streams: buffers are cleared while vertices are placed, shadows and
        ground made while the camera's view is drawn.

        Each stream waits for the other before it reads what that wrote, and a batch begins when the one before
        is done with its memory.
        """
        import torch

        main, side = torch.cuda.current_stream(self.device), _side_stream(self.device)
        side.wait_stream(main)
        with torch.cuda.stream(side):
            self.clear()
        self.place()
        main.wait_stream(side)
        side.wait_stream(main)
        with torch.cuda.stream(side):
            self.draw_shadows()
            self.light_ground()
        self.draw_camera()
        self.measure()
        self.gather()
        main.wait_stream(side)
        self.shade()
        self.resolve()

    def steps(self, rgb: bool = True) -> tuple[tuple[str, Callable[[], None]], ...]:
        """What is to be done, in this order."""
        seen = (
            ("clear buffers", partial(self.clear, rgb)),
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

        lamps = LAMPS if len(self.packed.lamps) else 0
        self.points = self._allocate(self.total, 8)
        self.snapped = self._allocate(lamps + 1, self.total, 4, kind="int32")
        step = self.tuning.vertices
        constants = {"LAMPS": lamps, "BLOCK": step, "enable_fp_fusion": False}
        place_vertices[(len(self.packed.mesh_of), -(-self.most_vertices // step))](
            *(self.shelf.vertices, self.shelf.normals, self.on["bodies"], self.on["poses"]),
            *(self.on["cameras"], self.on["lamps"], self.points, self.snapped, self.total, self.margin),
            **constants,
        )

    def clear(self, fine: bool = True) -> None:
        """Empty visibility buffers; only tiles that a body may be seen in are written or read."""
        from .visibility import clear_tiles, mark_tiles

        pixels = self.width * self.height
        self.centre = self._allocate(self.count * pixels, kind="int64")
        self.fine = self._allocate(self.count * pixels * 4 if fine else 1, kind="int64")
        on, size, (grid, shape) = self.on, (self.width, self.height), self._tiles(self.tuning.tile)
        self.busy = self._allocate(*grid, kind="int32")
        mark_tiles[(self.count, -(-grid[1] // MARKED))](
            *(on["bounds"], on["poses"], on["first"], self.views, self.busy, *size), BLOCK=MARKED, **shape
        )
        clear_tiles[grid](
            *(self.fine, self.centre, self.busy, *size), **{"EVERY": fine, "num_warps": self.tuning.tile_warps} | shape
        )

    def draw_camera(self, fine: bool = True) -> None:
        """The visibility buffers of the camera, at four samples per pixel and at its centre."""
        self._draw(1, (self.width, self.height), (self.fine, self.centre, self.centre), LIT=False, EVERY=fine)

    def draw_shadows(self) -> None:
        """The shadow map of every lamp."""
        wide, high = self.map_size
        self.maps = self._allocate(self.count * LAMPS * wide * high, kind="int32", zero=True)
        self._draw(LAMPS, self.map_size, (self.maps, self.maps, self.maps), LIT=True, EVERY=False)

    def _draw(self, views: int, size: tuple[int, int], out: tuple[torch.Tensor, ...], **what: bool) -> None:
        from .visibility import draw_triangles

        step = self.tuning.triangles
        draw_triangles[(len(self.packed.mesh_of), -(-self.most_faces // (step * self.tuning.runs)), views)](
            *(self.shelf.triangles, self.on["bodies"], self.snapped, self.total, *size, *out),
            num_warps=_warp_count(step),
            LAMPS=LAMPS,
            BLOCK=step,
            **what,
        )

    def measure(self) -> None:
        """Masks, boxes and visible pixels, of objects and of the parts that scenes list."""
        self.mask, self.parts, self.seen = self._measure("labels", int(self.packed.listed.max()))

    def measure_parts(self) -> GpuParts:
        """The same of all parts, once the camera's view is drawn."""
        count = int(self.packed.numbered.max())
        _, plane, seen = self._measure("numbers", count)
        objects = _measure_boxes(seen[:, : self.most_objects])
        return GpuParts(plane, *objects, *_measure_boxes(seen[:, _round_up(self.most_objects) :][:, :count]))

    def count_parts(self) -> GpuParts:
        """Nothing but that."""
        self.clear(fine=False)
        self.place()
        self.draw_camera(fine=False)
        return self.measure_parts()

    def _measure(self, labels: str, count: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        from .visibility import measure_masks

        mask, plane = (self._allocate(self.count, self.height, self.width, kind="uint8") for _ in range(2))
        objects, parts = map(_round_up, (self.most_objects, count))
        seen = self._allocate(self.count, objects + parts, 5, kind="int32")
        seen[:, :, 0] = 0
        seen[:, :, 1:3] = 1 << 20
        seen[:, :, 3:] = -1
        grid, shape = self._tiles(self.tuning.tile)
        measure_masks[grid](
            *(self.centre, self.busy, self.shelf.part_of, self.on["bodies"], self.on["first"], self.on[labels]),
            *(self.on["number_first"], mask, plane, seen, self.width, self.height),
            num_warps=self.tuning.measure_warps,
            **{"OBJECTS": objects, "LABELS": objects + parts, "NUMBERED": labels == "numbers"} | shape,
        )
        return mask, plane, seen

    def light_ground(self) -> None:
        """The light on the ground, its shadows softened."""
        from .shading import blur, light_ground, read_shadow_maps

        tuning, size = self.tuning, (self.columns, self.rows)
        planes = self._allocate(3, self.count * self.cells * 2 * LAMPS, kind="float16")
        shape = dict(zip(("ACROSS", "DOWN"), tuning.strip, strict=True))
        shape |= {"LAMPS": LAMPS, "num_warps": _warp_count(tuning.strip[0])}
        read_shadow_maps[self._strips(1)](
            *(self.maps, self.views, self.on["lamps"], planes[0], *size, self.margin), **shape
        )
        for level, step_x, step_y in ((1, 2, 1), (2, 4, 2)):
            blur[self._strips(step_y)](
                *(planes[level - 1], planes[level], *size), STEP_X=step_x, STEP_Y=step_y, **shape
            )
        self.light = self._allocate(self.count, self.rows, self.columns, 4)
        grid, shape = self._tiles(tuning.cells, coarse=True)
        light_ground[grid](
            *(self.views, self.on["lamps"], self.on["lumps"], self.on["windows"], self.on["lump_first"]),
            *(*planes, self.light, *size),
            **{"MANY": tuning.lumps, "LAMPS": LAMPS, "num_warps": tuning.ground_warps} | shape,
        )
        self.rim = self.light[:, -1, :, :3].mean(dim=1)

    def gather(self) -> None:
        """The list of samples to shade."""
        from .paint import gather_samples

        self.todo = self._allocate(self.count * self.width * self.height * 4, kind="int32")
        self.counts = self._allocate(self.count, kind="int32", zero=True)
        on, (grid, shape) = self.on, self._tiles(self.tuning.tile)
        gather_samples[grid](
            *(self.fine, self.busy, on["bodies"], self.shelf.facets, self.shelf.part_of, on["traits"], on["first"]),
            *(self.todo, self.counts, self.width, self.height),
            num_warps=self.tuning.tile_warps,
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
            *(self.fine, self.busy, self.light, _device_srgb_table(self.device), self.rgb),
            *(self.width, self.height, self.columns, self.rows),
            num_warps=self.tuning.tile_warps,
            **shape,
        )

    def _tiles(self, tile: tuple[int, int], coarse: bool = False) -> tuple[tuple[int, int], dict[str, int]]:
        """The grid of tiles over every image, or over its ground at half the resolution; and their shape."""
        width, height = (self.columns, self.rows) if coarse else (self.width, self.height)
        across, down = tile
        return (self.count, -(-width // across) * -(-height // down)), {"ACROSS": across, "DOWN": down}

    def _strips(self, step: int) -> tuple[int, int]:
        """The grid of strips over the ground of every image, their rows so far apart."""
        across, down = self.tuning.strip
        return self.count, -(-self.columns // across) * -(-self.rows // (step * down)) * step

    def images(self, rgb: bool = True) -> GpuImages:
        boxes, visible = _measure_boxes(self.seen)
        first = _round_up(self.most_objects)  # of the parts
        own = slice(self.most_objects), slice(first, first + int(self.packed.listed.max()))
        counted = (rows[:, some] for some in own for rows in (boxes, visible))
        return GpuImages(self.packed.size, self.rgb if rgb else None, self.mask, self.parts, *counted)


def _measure_boxes(seen: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Boxes and visible pixels from [image, label, pixels left top right bottom]."""
    import torch

    visible, low, high = seen[:, :, 0], seen[:, :, 1:3], seen[:, :, 3:]
    boxes = (torch.cat([low, high - low + 1], dim=2) * (visible > 0).unsqueeze(2)).to(torch.int32)
    return boxes, visible


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


class TravellingScenes(NamedTuple):
    """Packed scenes without meshes, which do not travel, and for each mesh a scene of one object that has it."""

    packed: GpuScenes
    shown: tuple[Scene, ...]

    def unpack(self) -> GpuScenes:
        return replace(self.packed, meshes=tuple(bodies_of(scene)[0].mesh for scene in self.shown))


def pack_to_travel(scenes: Sequence[Scene], size: tuple[int, int]) -> TravellingScenes:
    things = [(thing, scene.schema) for scene in scenes for thing in scene.objects]
    return _leave_meshes(pack_batch(scenes, size), things)


def _leave_meshes(packed: GpuScenes, things: Sequence[tuple[Object, Schema]]) -> TravellingScenes:
    _, first = np.unique(packed.mesh_of, return_index=True)
    shown = tuple(Scene((thing,), schema=schema) for thing, schema in (things[i] for i in first))
    return TravellingScenes(replace(packed, meshes=()), shown)


class HostImages(NamedTuple):
    """A batch in main memory."""

    planes: dict[str, Bytes]  # [image, height, width] and for `rgb` 3, by layer; empty where a block holds them
    boxes: Ints  # [image, object, left top width height]
    visible: Ints  # [image, object]
    part_boxes: Ints  # [image, part, left top width height], of all parts, where these were requested
    part_visible: Ints  # [image, part]


_drawing = Lock()  # workers ask in threads of their own
_block = cache(SharedBlock)  # a worker's


def draw_to_host(
    device: str, scenes: TravellingScenes, layers: Sequence[str], block: BlockAddress | None = None
) -> HostImages:
    """What only the process that holds the GPU can do; the planes are written to the block that is given."""
    with _drawing:
        batch = GpuBatch(scenes.unpack(), device)
        made = batch.render("rgb" in layers)
        tensors = {"rgb": made.rgb, "mask": made.mask, "listed": made.parts}
        counted = [made.boxes, made.visible, made.boxes[:, :0], made.visible[:, :0]]
        if "parts" in layers:
            parts = batch.measure_parts()
            tensors["parts"] = parts.plane
            counted[2:] = [parts.part_boxes, parts.part_visible]
        planes = {name: plane for name in layers if (plane := tensors[name]) is not None}
        here = _bring_back([*planes.values(), *counted])
    arrays = dict(zip(planes, here, strict=False))
    if block is not None:
        targets = view_arrays(open_block(block), [array.shape for array in arrays.values()])
        for target, array in zip(targets, arrays.values(), strict=True):
            np.copyto(target, array)
        arrays = {}
    boxes, visible, part_boxes, part_visible = here[len(planes) :]
    return HostImages(arrays, boxes, visible, part_boxes, part_visible)


def _draw_shared(device: str, scenes: Sequence[Scene], layers: Sequence[str], size: tuple[int, int]) -> HostImages:
    """The same for a worker, whose parent draws; the planes are its own until it asks again."""
    packed = pack_to_travel(scenes, size)
    if not is_worker() or not CAN_SHARE:
        return call_in_parent(draw_to_host, device, packed, layers)
    plane = (len(scenes), size[1], size[0])
    shapes = [(*plane, 3) if layer == "rgb" else plane for layer in layers]
    block = _block()
    address = block.reserve(sum(align(prod(shape)) for shape in shapes))
    made = call_in_parent(draw_to_host, device, packed, layers, address)
    return made._replace(planes=dict(zip(layers, block.view(shapes), strict=True)))


def count_to_host(device: str, scenes: TravellingScenes) -> list[Ints]:
    """Boxes and visible pixels of objects and of all parts, as `HostImages` has them."""
    with _drawing:
        made = GpuBatch(scenes.unpack(), device).count_parts()
        return _bring_back([made.boxes, made.visible, made.part_boxes, made.part_visible])


def _measure_on_gpu(device: str, layouts: Sequence[Layout]) -> Iterator[Visibility]:
    packed = pack_layouts(layouts)
    things = [(thing, layout.schema) for layout in layouts for thing in layout.objects]
    found = call_in_parent(count_to_host, device, _leave_meshes(packed, things))
    for i, layout in enumerate(layouts):
        n, (first, last) = len(layout.objects), packed.first[i : i + 2]
        ends = [*packed.number_first[first:last].tolist(), int(packed.numbered[i])]
        boxes, visible, part_boxes, part_visible = (rows[i] for rows in found)
        own = [slice(*pair) for pair in pairwise(ends)]
        yield Visibility(
            mask=np.empty((0, 0), np.uint8),
            boxes=boxes[:n],
            visible=visible[:n],
            parts=None,
            part_boxes=tuple(part_boxes[of] for of in own),
            part_visible=tuple(part_visible[of] for of in own),
            numbers=None,
        )


def _bring_back(tensors: Sequence[torch.Tensor]) -> list[Any]:
    """Arrays; memory that the GPU writes to by itself is kept by torch and used again."""
    import torch

    if tensors[0].device.type == "cpu":
        return [tensor.numpy() for tensor in tensors]
    here = [torch.empty(t.shape, dtype=t.dtype, pin_memory=True).copy_(t, non_blocking=True) for t in tensors]
    torch.cuda.synchronize(tensors[0].device)
    return [tensor.numpy() for tensor in here]


@dataclass(frozen=True, slots=True)
class GpuRenderer:
    """Draws on a GPU and brings the images back; in a worker its parent draws, so that one process holds the GPU."""

    device: str
    layers: tuple[str, ...] = ("rgb", "mask", "parts", "listed")
    batch: int = 256

    def __post_init__(self) -> None:
        if not is_worker():
            check_device(self.device)

    def render(self, scenes: Sequence[Scene], layers: Sequence[str], size: tuple[int, int]) -> Iterator[Rendered]:
        for some in split_batches(scenes, size, 4 * BATCH_PIXELS):
            made = _draw_shared(self.device, some, tuple(layers), size)
            for i, scene in enumerate(some):
                n = len(scene.objects)
                starts = [0, *accumulate(map(len, name_parts(bodies_of(scene))))] if "parts" in layers else []
                own = [slice(*ends) for ends in pairwise(starts)]
                yield Rendered(
                    **{name: made.planes[name][i] if name in made.planes else None for name in self.layers},
                    depth=None,
                    normal=None,
                    boxes=made.boxes[i, :n],
                    visible=made.visible[i, :n],
                    part_boxes=tuple(made.part_boxes[i, of] for of in own),
                    part_visible=tuple(made.part_visible[i, of] for of in own),
                )

    def measure(self, layouts: Sequence[Layout]) -> Sequence[Visibility]:
        if len(layouts) < WORTHWHILE:
            return measure_layouts(layouts)
        return list(_measure_on_gpu(self.device, layouts))

    def pack(self, scenes: Sequence[Scene], size: tuple[int, int]) -> TravellingScenes:
        return pack_to_travel(scenes, size)

    def render_packs(self, packs: Sequence[TravellingScenes], size: tuple[int, int]) -> GpuImages:
        whole = [one.unpack() for one in packs]
        with _drawing:
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
        import triton
    except ImportError:
        return "Triton is not installed (it comes with torch for CUDA)"
    if kind == "cpu" and triton.knobs.runtime.interpret:
        return ""  # slow, for tests
    if kind != "cuda":
        return "only CUDA devices are known"
    return "" if torch.cuda.is_available() else "torch finds no GPU here"
