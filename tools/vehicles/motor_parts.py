"""What motorbikes are put together from beside their wheels: lamps, mirrors, cylinders, silencers."""

from __future__ import annotations

from collections.abc import Sequence

from .assembly import Assembly
from .forms import ellipsoid, tube, turned_profile
from .piece import Piece, Point, joined

SIDES = (("left", -1.0), ("right", 1.0))  # a side's name and the sign of its x
GRIP = 0.7  # tone of grips, seats and footrests
MOUTH = 0.3  # tone of the inside of a pipe
METAL = 0.8  # tone of an engine


def lamp(radius: float, depth: float, segments: int = 12) -> Piece:
    """A round lamp that shines forward, its rim in the plane y = 0."""
    profile = [
        (0.0, -depth),
        (0.6 * radius, -0.8 * depth),
        (radius, -0.25 * depth),
        (radius, 0.0),
        (0.84 * radius, 0.02 * depth),
        (0.7 * radius, 0.12 * depth),
        (0.0, 0.25 * depth),
    ]
    return turned_profile(profile, "y", segments)


def mirror(foot: Point, head: Point, half_width: float = 0.07, half_height: float = 0.045) -> Piece:
    """A stalk from the bar, and a glass that looks back."""
    x, y, z = head
    glass = ellipsoid((half_width, 0.02, half_height), 10, 4).moved(x, y, z)
    return joined((tube([foot, (x, y, z - 0.3 * half_height)], 0.012, 5), glass))


def cylinder(radius: float, height: float, fins: int = 4, segments: int = 10) -> Piece:
    """An air-cooled cylinder that stands on z = 0: fins, then a plain head."""
    profile = [(0.0, 0.0)]
    pitch = 0.72 * height / fins
    for k in range(fins):
        z = k * pitch
        profile += [(0.78 * radius, z), (radius, z + 0.35 * pitch), (radius, z + 0.75 * pitch)]
    top = 0.72 * height
    profile += [(0.78 * radius, top), (0.92 * radius, top), (0.92 * radius, 0.9 * height)]
    profile += [(0.6 * radius, height), (0.0, height)]
    return turned_profile(profile, "z", segments)


def silencer(assembly: Assembly, part: str, path: Sequence[Point], pipe: float, can: float, sides: int = 8) -> None:
    """A pipe along a path whose last stretch is thicker, with a dark mouth at its end."""
    *bends, start, end = path
    neck, inside, outside = ([a + t * (b - a) for a, b in zip(start, end, strict=True)] for t in (0.12, 0.9, 1.02))
    radii = [*(pipe for _ in bends), pipe, can, can]
    assembly.add(part, tube([*bends, start, neck, end], radii, sides))
    assembly.add(part, tube([inside, outside], 0.7 * can, sides), tone=MOUTH)
