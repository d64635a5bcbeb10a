"""Camera: from world units to pixels, and the camera of a scene, noted or fitted to its pixel coordinates.

CLEVR's camera stands near (7.48, −6.51, 5.34), always looks at the origin, and its position is jittered.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from math import hypot, sqrt
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from ..errors import UserError
from ..scene import Scene, Vector

BASE_POSITION: Vector = (7.4811, -6.5076, 5.3437)
SIZE = (480, 320)  # CLEVR's images, width and height
SMALLEST, LARGEST = 16, 8192  # sides of an image, in pixels
FARTHEST = 1e6  # units of a scene; anything beyond is a slip
FOCAL = 35.0 / 32.0  # lens over sensor width: focal length in image widths


@dataclass(frozen=True, slots=True)
class Camera:
    """An upright pinhole camera with square pixels; y grows downward in the image."""

    position: Vector = BASE_POSITION
    target: Vector = (0.0, 0.0, 0.0)
    focal: float = FOCAL  # in image widths

    def frame(self) -> tuple[Vector, Vector, Vector]:
        """Unit vectors to the right, up, and backward (away from what is seen)."""
        (x, y, z), (tx, ty, tz) = self.position, self.target
        back = normalize((x - tx, y - ty, z - tz))
        right = normalize((-back[1], back[0], 0.0))
        up = (
            back[1] * right[2] - back[2] * right[1],
            back[2] * right[0] - back[0] * right[2],
            back[0] * right[1] - back[1] * right[0],
        )
        return right, up, back

    def directions(self) -> tuple[tuple[str, Vector], ...]:
        """CLEVR's six directions as this camera sees them, the four horizontal ones in the ground plane."""
        (rx, ry, _), _, (bx, by, _) = self.frame()
        fx, fy, _ = normalize((bx, by, 0.0))
        return (
            ("left", (-rx, -ry, 0.0)),
            ("right", (rx, ry, 0.0)),
            ("behind", (-fx, -fy, 0.0)),
            ("front", (fx, fy, 0.0)),
            ("above", (0.0, 0.0, 1.0)),
            ("below", (0.0, 0.0, -1.0)),
        )

    def project(self, points: npt.ArrayLike, size: tuple[float, float] = SIZE) -> npt.NDArray[np.float64]:
        """[n, 3] world points to [n, 3]: x and y in pixels, and the depth along the view axis."""
        given = np.asarray(points, np.float64).reshape(-1, 3)
        offset = given - np.array(self.position)
        x, y, z = (offset[:, 0] * v[0] + offset[:, 1] * v[1] + offset[:, 2] * v[2] for v in self.frame())
        scale = self.focal * size[0] / -z
        return np.stack([size[0] / 2 + scale * x, size[1] / 2 - scale * y, -z], axis=1)

    def matrix(self, size: tuple[float, float] = SIZE) -> npt.NDArray[np.float64]:
        """[3, 4]: from homogeneous world points to x and y in pixels times the depth, and the depth."""
        right, up, back = (np.array(v) for v in self.frame())
        focal, x, y = self.focal * size[0], size[0] / 2, size[1] / 2
        turned = np.stack([focal * right - x * back, -focal * up - y * back, -back])
        return np.concatenate([turned, -turned @ np.array(self.position)[:, None]], axis=1)

    def pack(self, size: tuple[int, int]) -> npt.NDArray[np.float64]:
        """The 15 numbers kernels take: position, right, up, back, focal length and centre in pixels."""
        numbers = (self.position, *self.frame(), (self.focal * size[0], size[0] / 2, size[1] / 2))
        return np.array([x for vector in numbers for x in vector])


def normalize(vector: Iterable[float]) -> Vector:
    """The vector at length 1."""
    x, y, z = vector
    length = sqrt(x * x + y * y + z * z)
    return (x / length, y / length, z / length)


def check_size(size: tuple[int, int]) -> None:
    """Refuse an image too small to see anything on, or too large to hold."""
    if min(size) < SMALLEST or max(size) > LARGEST:
        raise UserError(
            f"an image of {size[0]}×{size[1]} pixels cannot be drawn; sides go from {SMALLEST} to {LARGEST}"
        )


def read_size(text: str, named: Mapping[str, tuple[int, int]] = MappingProxyType({})) -> tuple[int, int]:
    """Width and height in pixels from a text such as `480x320`, or from a name that stands for them."""
    if text in named:
        return named[text]
    match = re.fullmatch(r"(\d{1,5})[x×](\d{1,5})", text)
    if match is None:
        also = "".join(f", or {name!r} for {width}x{height}" for name, (width, height) in named.items())
        raise UserError(f"{text!r} is not a size; write width and height as in 480x320{also}")
    size = int(match[1]), int(match[2])
    check_size(size)
    return size


def camera_of(scene: Scene) -> Camera:
    """The camera of a scene: noted by its maker, else fitted to its pixel coordinates, else CLEVR's own."""
    noted = scene.note("camera")
    if noted is None and scene.note("frame") == "camera":  # its y axis is the way that the camera looks
        noted = (0.0, -hypot(*BASE_POSITION[:2]), BASE_POSITION[2])
    if noted is not None:
        x, y, z = (float(v) for v in noted)
        if x == y == 0:
            raise UserError(f"scene {scene.id!r}: a camera right above the origin is not upright")
        check_place((x, y, z), "its camera", scene)
        if z <= 0:
            raise UserError(f"scene {scene.id!r}: its camera stands at {z:g}, not above the ground")
        return Camera((x, y, z))
    return fit_camera(scene).camera if can_fit(scene) else Camera()


def can_fit(scene: Scene) -> bool:
    """Whether an object has both a position and a pixel, so that the camera can be fitted."""
    return any(o.pixel is not None and o.position is not None for o in scene.objects)


def check_place(place: Iterable[float], what: str, scene: Scene) -> None:
    """Refuse what stands so far off that kernels would count beyond their numbers, or nowhere."""
    if not all(-FARTHEST <= value <= FARTHEST for value in place):
        raise UserError(f"scene {scene.id!r}: {what} stands nowhere, or further off than {FARTHEST:,.0f}")


# The fit. A released scene does not say how large its image was, and a wrong size makes a wrong camera.

Doubles = npt.NDArray[np.float64]
USUAL_SIZES = (SIZE, (320, 240), (640, 480), (224, 224))  # the release, the generator's default, Super-CLEVR, features
STEPS = (32, 20, 16, 8, 4, 2, 1)  # the sides of an image of no usual size are multiples of one of these
DEPTH_WEIGHT = 1000.0  # depths are stored exactly, pixels are rounded: a pixel counts as 0.001 units of depth
EXACT_FIT = 0.6  # pixels; the right size is at most 0.5 off, since pixels are rounded
GOOD_FIT = 1.5  # of the usual sizes, the wrong ones are more than 10 off
LOOSE_FIT = 0.02  # image widths; further off, the picture would be wrong
JITTER = 1.0  # how far CLEVR's camera is from its place along each axis, and some more


@dataclass(frozen=True, slots=True)
class CameraFit:
    """A camera, the size of the image whose pixels it explains, and how far off the worst of them is."""

    camera: Camera
    size: tuple[int, int]
    pixels_off: float

    @property
    def good(self) -> bool:
        return self.pixels_off <= GOOD_FIT

    @property
    def off_by(self) -> float:
        """In image widths, so that sizes compare."""
        return self.pixels_off / self.size[0]


def fit_camera(scene: Scene, sizes: Sequence[tuple[int, int]] = ()) -> CameraFit:
    """The camera and image size whose projections fall closest to the stored pixels.

    Tries the scene's own size or, where it has none, the usual ones, `sizes` and, should none of these fit, the
    size that would. Refuses where nothing fits. A fit that is not `good` is some pixels off.
    """
    points, pixels = _list_pixels(scene)
    tried = [scene.size] if scene.size else list(dict.fromkeys((*USUAL_SIZES, *sizes)))
    # One place fits many sizes, but all except its own with a camera that is far from CLEVR's.
    places = len(np.unique(points, axis=0))
    alone = places == 1 and not scene.size
    fits = []
    for fit in filter(None, (_fit_at(points, pixels, size) for size in tried)):
        if not alone or _is_near(fit.camera):
            fits.append(fit)
            if fit.good:
                break
    else:
        fits += _fit_free_size(points, pixels) if places > 2 and not scene.size else []
    fits.sort(key=lambda fit: fit.off_by)
    best = fits[0] if fits else None
    if best is None or best.off_by > LOOSE_FIT:
        off = f"; {best.size[0]}×{best.size[1]} is closest, and {best.pixels_off:.0f} pixels off" if best else ""
        listed = ", ".join(f"{w}×{h}" for w, h in tried)
        why = f"its pixel_coords do not go with its 3d_coords in an image of {listed}{off}"
    elif not best.good and any(other.off_by < 2 * best.off_by for other in fits[1:]):
        why = "its pixel_coords do not tell how large its image is"
    else:
        return best
    raise UserError(f"no camera fits scene {scene.id!r}: {why}; without pixel_coords it is seen by CLEVR's own")


def _list_pixels(scene: Scene) -> tuple[Doubles, Doubles]:
    seen = [o for o in scene.objects if o.position is not None and o.pixel is not None]
    if not seen:
        raise UserError(f"no camera fits scene {scene.id!r}: no object has both a position and a pixel")
    return np.array([o.position for o in seen]), np.array([o.pixel for o in seen])


def _is_near(camera: Camera) -> bool:
    return all(abs(a - b) <= JITTER for a, b in zip(camera.position, BASE_POSITION, strict=True))


def _fit_at(points: Doubles, pixels: Doubles, size: tuple[int, int]) -> CameraFit | None:
    """The camera at that size, which looks at the origin, or elsewhere if that explains much more."""
    focal = FOCAL * max(size) / size[0]  # Blender's sensor spans the longer side

    def build_camera(p: Doubles) -> Camera:
        x, y, z, *target = p.tolist()
        return Camera((x, y, z), (target[0], target[1], target[2]) if target else (0.0, 0.0, 0.0), focal)

    def compute_residuals(p: Doubles) -> Doubles:
        return _weigh(build_camera(p).project(points, size) - pixels)

    try:
        with np.errstate(all="ignore"):
            best = least_squares(compute_residuals, np.array(BASE_POSITION))
            if len(points) > 2 and np.abs(compute_residuals(best)).max() > GOOD_FIT:
                wider = least_squares(compute_residuals, np.concatenate([best, np.zeros(3)]))
                if np.abs(compute_residuals(wider)).max() < np.abs(compute_residuals(best)).max() / 2:
                    best = wider
            off = np.abs(compute_residuals(best).reshape(-1, 3)[:, :2]).max()
    except (np.linalg.LinAlgError, ZeroDivisionError):
        return None
    return CameraFit(build_camera(best), size, float(off)) if np.isfinite(off) else None


def _weigh(off: Doubles) -> Doubles:
    weighed: Doubles = off * (1.0, 1.0, DEPTH_WEIGHT)
    return weighed.ravel()


def _fit_free_size(points: Doubles, pixels: Doubles) -> list[CameraFit]:
    """An exact fit at an unusual size, if there is one: its sides are estimated, then as round as they can be."""

    def compute_residuals(p: Doubles) -> Doubles:
        x, y, z, *sides = p.tolist()
        focal = FOCAL * max(sides) / sides[0]
        return _weigh(Camera((x, y, z), focal=focal).project(points, (sides[0], sides[1])) - pixels)

    try:
        with np.errstate(all="ignore"):
            *_, width, height = least_squares(compute_residuals, np.array([*BASE_POSITION, *SIZE])).tolist()
    except (np.linalg.LinAlgError, ZeroDivisionError):
        return []
    if not all(SMALLEST <= side <= LARGEST for side in (width, height)):
        return []
    rounded = ((round(width / step) * step, round(height / step) * step) for step in STEPS)
    fits = (_fit_at(points, pixels, size) for size in dict.fromkeys(rounded) if min(size) >= SMALLEST)
    return list(islice((fit for fit in fits if fit and fit.pixels_off <= EXACT_FIT), 1))


def least_squares(error: Callable[[Doubles], Doubles], start: Doubles, steps: int = 40) -> Doubles:
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
