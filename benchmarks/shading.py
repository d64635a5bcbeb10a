"""Where an image's time goes, and how much pictures change: `python -m benchmarks.shading [--save F] [--against F]`.

Times are those of a core, in milliseconds an image at 480×320, the least of a few rounds: others may use the machine
too. `--save` keeps the layers of the images; `--against` counts the pixels that differ from those kept.
"""

from __future__ import annotations

import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from shiftscope.geometry import mesh, visibility
from shiftscope.render import lighting, paint, raster, reflect, surface
from shiftscope.render.png import encode_png
from shiftscope.scene import Scene
from shiftscope.store.image import encode_mask
from shiftscope.world import clevr, superclevr

LAYERS = {"superclevr": ("rgb", "mask", "parts", "listed"), "clevr": ("rgb", "mask")}
SAMPLE: dict[str, Callable[..., Any]] = {"superclevr": superclevr.sample_scene, "clevr": clevr.sample_scene}
COUNT, ROUNDS = 24, 3
TIMED = {  # where each step is looked up by its caller
    raster: ("build_scene_mesh", "measure_visibility", "paint_image"),
    visibility: ("draw_buffer",),
    paint: (
        *("RenderSetup", "snap", "draw_triangles", "gather_samples", "locate_samples", "encode_srgb"),
        *("_paint_ground", "_paint_surfaces", "_blend_samples"),
    ),
    lighting: (
        *("draw_shadow_map", "soften_shadow", "add_lamp_light", "darken_ground", "project_ground"),
        "upsample_light",
    ),
    surface: ("shine", "fill_ambient_light", "apply_texture"),
    reflect: ("add_reflections",),
}


@contextmanager
def timed_steps(spent: dict[str, float]) -> Iterator[None]:
    """Every step of TIMED adds the time that its thread was busy."""
    kept = [(module, name, getattr(module, name)) for module, names in TIMED.items() for name in names]
    for module, name, step in kept:
        setattr(module, name, _timed(f"{module.__name__.rpartition('.')[2]}.{name}", step, spent))
    try:
        yield
    finally:
        for module, name, step in kept:
            setattr(module, name, step)


def _timed(label: str, step: Callable[..., Any], spent: dict[str, float]) -> Callable[..., Any]:
    def run(*args: Any, **options: Any) -> Any:
        began = time.thread_time()
        try:
            return step(*args, **options)
        finally:
            spent[label] += time.thread_time() - began

    return run


def _sample_scenes(world: str) -> list[Scene]:
    return [SAMPLE[world](0, "bench", i) for i in range(COUNT)]


def main(arguments: Sequence[str]) -> None:
    """Print the table, save and compare."""
    options = dict(zip(arguments[::2], arguments[1::2], strict=True))
    kept: dict[str, Any] = {}
    for world, layers in LAYERS.items():
        best: dict[str, float] = {}
        for _ in range(ROUNDS):
            spent: dict[str, float] = defaultdict(float)
            sample = _timed(
                "sample and reject", lambda w=world: [SAMPLE[w](0, "bench", i) for i in range(COUNT)], spent
            )
            scenes = sample()
            whole = _timed("render", lambda s=scenes, la=layers: raster.render(s, layers=la, workers=1), spent)
            made = whole()
            png = _timed("encode_png", lambda m=made: sum(len(encode_png(rgb)) for rgb in m.rgb), spent)
            size = png()
            masks = [m for m in (made.mask, made.parts, made.listed) if m is not None]
            _timed("encode_mask", lambda ms=masks: [encode_mask(one) for m in ms for one in m], spent)()
            with timed_steps(spent):
                raster.render(scenes, layers=layers, workers=1)
            for label, seconds in spent.items():
                best[label] = min(best.get(label, 1e9), seconds)
        triangles = np.mean([len(mesh.build_scene_mesh(mesh.bodies_of(s)).triangles) for s in scenes])
        print(f"\n{world}: {triangles:.0f} triangles, {size / COUNT / 1e3:.0f} kB an image; ms of a core an image")
        for label, seconds in best.items():
            print(f"  {label:<34}{1e3 * seconds / COUNT:8.2f}")
        total = sum(best[name] for name in ("sample and reject", "render", "encode_png", "encode_mask"))
        print(f"  {'all':<34}{1e3 * total / COUNT:8.2f}", flush=True)
        kept |= {f"{world}.{layer}": getattr(made, layer) for layer in layers}
        kept |= {f"{world}.boxes": np.concatenate(made.boxes), f"{world}.visible": np.concatenate(made.visible)}
    if "--save" in options:
        np.savez_compressed(Path(options["--save"]), **kept)
    if "--against" in options:
        compare(dict(np.load(options["--against"])), kept)


def compare(old: dict[str, Any], new: dict[str, Any]) -> None:
    """How many pixels differ by more than so many of 255 steps; what is integer must not differ at all."""
    for name, plane in new.items():
        if not name.endswith(".rgb"):
            print(f"{name}: {'the same' if np.array_equal(old[name], plane) else 'DIFFERENT'}")
            continue
        off = np.abs(old[name].astype(np.int16) - plane).max(axis=-1)
        shares = ", ".join(f">{k}: {100 * (off > k).mean():.3f}%" for k in (0, 1, 2, 4, 8, 16))
        print(f"{name}: pixels that differ by {shares}; most {off.max()}, mean {off.mean():.4f}")


if __name__ == "__main__":
    main(sys.argv[1:])
