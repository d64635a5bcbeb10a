"""How fast and how faithful the GPU renderer is: `python -m benchmarks.gpu [--check 64] [--batch 256]`.

First its images against the CPU's, then images a second, step by step. Needs a CUDA device; with
TRITON_INTERPRET=1 and `--device cpu --size 96x64 --check 1 --batch 0` the comparison alone runs anywhere.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from multiprocessing import get_context
from typing import Any

import numpy as np

from shiftscope.errors import UserError
from shiftscope.render.gpu.pack import pack_batch
from shiftscope.render.gpu.raster import TUNING, GpuBatch, GpuTuning, check_device, render_batch
from shiftscope.render.image import RenderedImages
from shiftscope.render.raster import render
from shiftscope.scene import Scene

INTERPRETED = GpuTuning(
    vertices=8192, triangles=4096, cells=(64, 32), strip=(64, 32), tile=(128, 64), samples=4096, turns=1
)


def main(argv: Sequence[str] | None = None) -> None:
    """Print how many pixels agree and how many images a second are drawn."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", type=int, default=64, help="scenes of each world to compare")
    parser.add_argument("--batch", type=int, default=256, help="images drawn at once; 0: compare only")
    parser.add_argument("--feed", type=int, default=0, help="images to feed, made by all cores")
    parser.add_argument("--make", type=int, default=0, help="images of a dataset to make, with 20 questions each")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--size", default="480x320")
    parser.add_argument("--worlds", default="superclevr,clevr")
    parser.add_argument("--tuning", action="append", default=[], help="such as runs=1,tile=16x8,tile_warps=4")
    args = parser.parse_args(argv)
    try:
        check_device(args.device)
    except UserError as error:
        print(error)
        return
    width, height = (int(x) for x in args.size.split("x"))
    tuning = TUNING if args.device != "cpu" else INTERPRETED
    if args.feed:
        _feed(args.feed, args.device)
    if args.make:
        _make(args.make, args.device)
    for world in args.worlds.split(","):
        scenes = _scenes(world, max(args.check, args.batch))
        if args.check:
            _compare(world, scenes[: args.check], (width, height), args.device, tuning)
        for change in ["", *args.tuning] if args.batch else ():
            _time(world, scenes[: args.batch], (width, height), args.device, _changed(tuning, change), change)


def _feed(images: int, device: str) -> None:
    """Batches with ten questions an image of each sort, from worlds made as they are drawn.

    Counted from when so many have come as are made ahead: the workers end their first blocks all at once, and what
    comes then was made before.
    """
    from shiftscope.suites.superclevr.suite import SuperclevrSpec
    from shiftscope.train.feed import BLOCKS_AHEAD, Feed, SuiteSource

    cores, shard = os.cpu_count() or 1, 250
    ahead = BLOCKS_AHEAD * cores * shard
    spec = SuperclevrSpec(images=(ahead + images) * 3 // 2, shard=shard, visual="mid")
    source = SuiteSource("superclevr", spec, device=device)
    began, come, seen = 0.0, 0, 0
    for batch in Feed(source, 500, device, cores):
        come += len(batch.images.mask)
        if began:
            seen += len(batch.images.mask)
        elif come >= ahead:
            began = time.perf_counter()
    rate = seen / (time.perf_counter() - began)
    asked = sum(map(len, batch.questions)) // len(batch.questions)
    print(f"feed: {seen} images, {asked} questions each, {cores} cores: {rate:,.0f} images/s", flush=True)


def _make(images: int, device: str) -> None:
    """A dataset on disk, start-up included; the second time kernels need not be compiled."""
    for turn in ("first", "again"):
        with tempfile.TemporaryDirectory() as folder:
            command = ["make", "superclevr", "--images", str(images), "--device", device, "--out", f"{folder}/data"]
            began = time.perf_counter()
            subprocess.run([sys.executable, "-m", "shiftscope", *command, "--json"], check=True, capture_output=True)
            spent = time.perf_counter() - began
        rate = images / spent
        print(f"make, {turn}: {images} images, 20 questions each: {spent:.1f} s, {rate:,.0f} images/s", flush=True)


def _changed(tuning: GpuTuning, change: str) -> GpuTuning:
    new: dict[str, Any] = {}
    for item in filter(None, change.split(",")):
        name, _, value = item.partition("=")
        numbers = tuple(int(x) for x in value.split("x"))
        new[name] = numbers if len(numbers) > 1 else numbers[0]
    return replace(tuning, **new)


def _scene(world: str, index: int) -> Scene:
    if world == "clevr":
        from shiftscope.world import clevr

        return clevr.sample_scene(0, "bench", index)
    from shiftscope.world import superclevr

    return superclevr.sample_scene(0, "bench", index, superclevr.SuperClevrRules(visual="hard"))


def _scenes(world: str, count: int) -> list[Scene]:
    if count < 8:
        return [_scene(world, i) for i in range(count)]
    with ProcessPoolExecutor(os.cpu_count(), mp_context=get_context("spawn")) as pool:
        return list(pool.map(partial(_scene, world), range(count), chunksize=8))


def _compare(world: str, scenes: Sequence[Scene], size: tuple[int, int], device: str, tuning: GpuTuning) -> None:
    """Pixels, masks and boxes against the CPU's."""
    cpu = render(scenes, size, ("rgb", "mask", "listed"))
    gpu = render_batch(scenes, size, device, tuning=tuning)
    assert cpu.rgb is not None and cpu.mask is not None and cpu.listed is not None and gpu.rgb is not None
    off = np.abs(gpu.rgb.cpu().numpy().astype(int) - cpu.rgb.astype(int)).max(axis=3)
    worst = np.unravel_index(int(off.argmax()), off.shape)
    print(f"{world}: {len(scenes)} scenes against the CPU")
    print(f"  pixels within 1/255    {100 * np.mean(off <= 1):9.4f} %   equal {100 * np.mean(off == 0):.2f} %")
    print(f"  worst difference       {off.max():9d}     at image, row, column {[int(i) for i in worst]}")
    print(f"  masks equal            {100 * np.mean(gpu.mask.cpu().numpy() == cpu.mask):9.4f} %")
    print(f"  part masks equal       {100 * np.mean(gpu.parts.cpu().numpy() == cpu.listed):9.4f} %")
    print(f"  boxes and counts equal {_same_boxes(cpu, gpu.boxes.cpu().numpy(), gpu.visible.cpu().numpy())}")


def _same_boxes(cpu: RenderedImages, boxes: Any, visible: Any) -> bool:
    return all(
        np.array_equal(boxes[i, : len(b)], b) and np.array_equal(visible[i, : len(b)], v)
        for i, (b, v) in enumerate(zip(cpu.boxes, cpu.visible, strict=True))
    )


def _time(
    world: str, scenes: Sequence[Scene], size: tuple[int, int], device: str, tuning: GpuTuning, change: str
) -> None:
    """Images a second, all of it and step by step."""
    began = time.perf_counter()
    packed = pack_batch(scenes, size)
    packing = time.perf_counter() - began
    triangles = int(sum(len(packed.meshes[m].triangles) for m in packed.mesh_of)) / len(scenes)
    print(f"{world}: {len(scenes)} images of {size[0]}×{size[1]}, {triangles:,.0f} triangles each; {change}")
    print(f"  packing on the host, one core {len(scenes) / packing:>12,.0f} images/s")
    batch = GpuBatch(packed, device, tuning)
    _row("all, each batch sent", _seconds(lambda: render_batch(packed, device=device, tuning=tuning), 4), scenes)
    _row("all", _seconds(batch.render, 4), scenes)
    _row("masks and boxes alone", _seconds(lambda: batch.render(False), 4), scenes)
    spent: dict[str, list[float]] = {}
    for _ in range(5):
        for name, step in batch.steps():
            spent.setdefault(name, []).append(_seconds(step, 1, 1))
    for name, times in spent.items():
        _row(f"  {name}", float(np.median(times)), scenes)


def _row(name: str, seconds: float, scenes: Sequence[Scene]) -> None:
    n = len(scenes)
    print(f"  {name:<30}{n / seconds:>12,.0f} images/s {1e6 * seconds / n:8.2f} µs", flush=True)


def _seconds(step: Callable[[], Any], times: int, repeats: int = 5) -> float:
    """The time of a step by the device's clock: the median of some runs of several in a row."""
    import torch

    spent = []
    for _ in range(repeats):
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        for _ in range(times):
            step()
        end.record()
        torch.cuda.synchronize()
        spent.append(start.elapsed_time(end) / 1e3 / times)
    return float(np.median(spent))


if __name__ == "__main__":
    main()
