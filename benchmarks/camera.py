"""Recovering the camera of a scene file: how far projected centres land from the stored ones.

`python -m benchmarks.camera SCENES` takes an official file or folder; without one, sampled scenes are fitted.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.table import row
from shiftscope.formats.clevr import read_scenes
from shiftscope.geometry.camera import SIZE, fit_camera
from shiftscope.scene import Scene
from shiftscope.world import clevr as world

SAMPLED = 100


def main() -> None:
    scenes = read_scenes(Path(sys.argv[1])) if len(sys.argv) > 1 else _sampled()
    off: list[float] = []
    for scene in scenes:
        points = np.array([o.position for o in scene.objects])
        stored = np.array([o.pixel for o in scene.objects])[:, :2]
        found = fit_camera(scene).project(points, scene.size or SIZE)[:, :2]
        off += np.linalg.norm(found - stored, axis=1).tolist()
    print(f"camera, {len(scenes)} scenes, {len(off)} objects")
    row("projected centres from the stored ones, median", f"{np.median(off):.2f} px", "2 px")
    row("  largest", f"{max(off):.2f} px", "-")


def _sampled() -> list[Scene]:
    """Scenes whose camera is forgotten, so that it has to be recovered."""
    return [replace(world.sample_scene(0, "fit", i), notes=()) for i in range(SAMPLED)]


if __name__ == "__main__":
    main()
