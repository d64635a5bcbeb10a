"""Recovering the camera of an official file, which stores only where object centres fell in the image."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from ..errors import UserError
from ..scene import Scene
from .camera import SIZE, Camera

Floats = npt.NDArray[np.float64]

DEPTH_WEIGHT = 1000.0  # depths are stored exactly, pixels are rounded: a pixel counts as 0.001 units of depth
GOOD_FIT = 1.5  # pixels; beyond it the camera may not look at the origin, and the target is fitted too


def fit_camera(scene: Scene) -> Camera:
    """The camera whose projections fall closest to the stored pixels, by damped least squares."""
    seen = [o for o in scene.objects if o.position is not None and o.pixel is not None]
    if not seen:
        raise UserError(f"no camera fits scene {scene.id!r}: no object has both a position and a pixel")
    points = np.array([o.position for o in seen])
    pixels = np.array([o.pixel for o in seen])
    size = scene.size or SIZE
    weights = np.array([1.0, 1.0, DEPTH_WEIGHT])

    def camera(p: Floats) -> Camera:
        x, y, z, *target = p.tolist()
        return Camera((x, y, z), (target[0], target[1], target[2]) if target else (0.0, 0.0, 0.0))

    def error(p: Floats) -> Floats:
        off: Floats = (camera(p).project(points, size) - pixels) * weights
        return off.ravel()

    try:
        with np.errstate(all="ignore"):
            best = least_squares(error, np.array(Camera().position))
            if len(seen) > 2 and np.abs(error(best)).max() > GOOD_FIT:
                wider = least_squares(error, np.concatenate([best, np.zeros(3)]))
                if np.abs(error(wider)).max() < np.abs(error(best)).max() / 2:
                    best = wider
            if np.isfinite(error(best)).all():
                return camera(best)
    except (np.linalg.LinAlgError, ZeroDivisionError):
        pass
    raise UserError(f"no camera fits scene {scene.id!r}: its pixels do not go with its positions")


def least_squares(error: Callable[[Floats], Floats], start: Floats, steps: int = 40) -> Floats:
    """Levenberg–Marquardt with a numeric Jacobian; for a handful of parameters."""
    point, damping = start, 1e-3
    residual = error(point)
    for _ in range(steps):
        columns = [(error(point + step) - residual) / 1e-6 for step in np.eye(len(point)) * 1e-6]
        jacobian = np.stack(columns, axis=1)
        normal = jacobian.T @ jacobian
        change = np.linalg.solve(normal + damping * np.diag(np.diag(normal) + 1e-9), -jacobian.T @ residual)
        moved = error(point + change)
        if moved @ moved < residual @ residual:
            point, residual, damping = point + change, moved, damping / 5
            if np.abs(change).max() < 1e-7:
                break
        else:
            damping *= 5
            if damping > 1e8:
                break
    return point
