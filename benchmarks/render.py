"""How fast CLEVR's world is sampled, rendered and encoded: `python -m benchmarks.render`.

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

from shiftscope.render.png import png
from shiftscope.render.raster import render
from shiftscope.scene import Scene
from shiftscope.world.clevr import scene

BATCH = 20  # scenes a worker renders at once
Done = tuple[float, float, int]  # seconds a core was busy, peak memory in MB, bytes of colour images


def main(images: int = 400) -> None:
    """Print images a second on all cores, and the memory it took."""
    cores = os.cpu_count() or 1
    scenes = _scenes(0, images // 2)
    render(scenes[:2])  # compile, or read the compiled code
    print(f"{cores} cores, 480×320, four samples a pixel, shadows on\n")
    print(f"{'work':<50}{'images/s':>10}{'core ms':>10}{'images/s if free':>18}")
    for layers in (("rgb", "mask"), ("mask",)):
        began, busy = time.perf_counter(), time.process_time()
        for first in range(0, len(scenes), BATCH):
            render(scenes[first : first + BATCH], layers=layers)
        _row(
            f"rasterise {' + '.join(layers)}, threads", len(scenes), began, time.process_time() - busy, cores
        )
    with ProcessPoolExecutor(cores, mp_context=get_context("spawn")) as pool:
        list(pool.map(_made, [0] * 2 * cores))  # start every worker
        starts = range(0, images, BATCH)
        works: tuple[tuple[str, Callable[[int], Done]], ...] = (
            ("sample and reject, processes", _sampled),
            ("sample, reject, render, mask and PNG, processes", _made),
        )
        for name, work in works:
            began = time.perf_counter()
            done = list(pool.map(work, starts))
            _row(name, images, began, sum(busy for busy, _, _ in done), cores)
    print(f"\nmean size of a colour image {sum(size for _, _, size in done) / images / 1e3:.0f} kB")
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    print(f"peak memory: {own:.0f} MB here, {max(peak for _, peak, _ in done):.0f} MB in the largest worker")


def _scenes(first: int, count: int) -> list[Scene]:
    return [scene(0, "bench", i) for i in range(first, first + count)]


def _sampled(first: int) -> Done:
    busy = time.process_time()
    _scenes(first, BATCH)
    return time.process_time() - busy, 0.0, 0


def _made(first: int) -> Done:
    busy = time.process_time()
    images = render(_scenes(first, BATCH), workers=1)
    assert images.rgb is not None
    assert images.mask is not None
    size = sum(len(png(rgb)) for rgb in images.rgb)
    for mask in images.mask:
        png(mask)
    return time.process_time() - busy, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3, size


def _row(work: str, count: int, began: float, busy: float, cores: int) -> None:
    rate = count / (time.perf_counter() - began)
    print(f"{work:<50}{rate:>10.1f}{busy / count * 1e3:>10.1f}{cores * count / busy:>18.1f}", flush=True)


if __name__ == "__main__":
    main()
