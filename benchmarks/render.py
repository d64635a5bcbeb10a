"""How fast CLEVR and Super-CLEVR are sampled, rendered and encoded: `python -m benchmarks.render`.

On a machine that others use too, the time a core was busy is the steadier figure: cores over busy time is
what the machine does when it is free.
"""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from shiftscope.render.png import encode_png
from shiftscope.render.raster import render
from shiftscope.scene import Scene
from shiftscope.store.image import encode_mask
from shiftscope.world import clevr, superclevr

BATCH = 20  # scenes a worker renders at once
WORLDS = {"clevr": ("rgb", "mask"), "superclevr": ("rgb", "mask", "parts", "listed")}  # and the layers a dataset keeps
Done = tuple[float, float, int]  # seconds a core was busy, peak memory in MB, bytes of colour images


def main(images: int = 400) -> None:
    """Print images a second on all cores, and the memory it took, for each world."""
    cores = os.cpu_count() or 1
    print(f"{cores} cores, 480×320, four samples per pixel, shadows on")
    with ProcessPoolExecutor(cores, mp_context=get_context("spawn")) as pool:
        for world, layers in WORLDS.items():
            print(f"\n{world:<50}{'images/s':>10}{'core ms':>10}{'images/s at full load':>24}")
            scenes = _scenes(world, 0, images // 2)
            render(scenes[:20], layers=layers)  # compile, or read the compiled code
            for wanted in (layers, ("mask",)):
                began, busy = time.perf_counter(), time.process_time()
                for first in range(0, len(scenes), BATCH):
                    render(scenes[first : first + BATCH], layers=wanted)
                spent = time.process_time() - busy
                _row(f"rasterise {' + '.join(wanted)}, threads", len(scenes), began, spent, cores)
            list(pool.map(_made, [(world, 0)] * 2 * cores))  # start every worker
            starts = [(world, first) for first in range(0, images, BATCH)]
            works: tuple[tuple[str, Callable[[tuple[str, int]], Done]], ...] = (
                ("sample and reject, processes", _sampled),
                ("sample, reject, render, masks and PNG, processes", _made),
            )
            for name, work in works:
                began = time.perf_counter()
                done = list(pool.map(work, starts))
                _row(name, images, began, sum(busy for busy, _, _ in done), cores)
            print(f"mean size of a colour image {sum(size for _, _, size in done) / images / 1e3:.0f} kB")
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    print(f"\npeak memory: {own:.0f} MB here, {max(peak for _, peak, _ in done):.0f} MB in the largest worker")


def _scenes(world: str, first: int, count: int) -> list[Scene]:
    indices = range(first, first + count)
    if world == "clevr":
        return [clevr.sample_scene(0, "bench", i) for i in indices]
    return [superclevr.sample_scene(0, "bench", i) for i in indices]


def _sampled(job: tuple[str, int]) -> Done:
    busy = time.process_time()
    _scenes(*job, BATCH)
    return time.process_time() - busy, 0.0, 0


def _made(job: tuple[str, int]) -> Done:
    busy = time.process_time()
    images = render(_scenes(*job, BATCH), layers=WORLDS[job[0]], workers=1)
    assert images.rgb is not None and images.mask is not None
    size = sum(len(encode_png(rgb)) for rgb in images.rgb)
    for masks in (images.mask, images.parts, images.listed):
        for mask in () if masks is None else masks:
            encode_mask(mask)
    return time.process_time() - busy, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3, size


def _row(work: str, count: int, began: float, busy: float, cores: int) -> None:
    rate = count / (time.perf_counter() - began)
    print(f"{work:<50}{rate:>10.1f}{busy / count * 1e3:>10.1f}{cores * count / busy:>24.1f}", flush=True)


if __name__ == "__main__":
    main()
