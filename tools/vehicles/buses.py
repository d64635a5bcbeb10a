"""The buses: regular, articulated, double-decker and school bus."""

from __future__ import annotations

from .articulated_bus import articulated
from .assembly import GLASS, Assembly
from .bus_body import (
    BACK_WHEELS,
    FRONT_WHEELS,
    WAIST,
    Shell,
    add_axle,
    add_door,
    add_face,
    add_lamps,
    add_mirrors,
    add_plate,
    add_tail,
    add_windows,
    bays,
    roof_or_body,
)
from .forms import box
from .hull import LEFT, RIGHT, Arch, Hull
from .school_bus import school
from .trim import wrapped


def regular(assembly: Assembly) -> None:
    """A city bus: one deck, large windows, three doors on the right."""
    shell = Shell(width=1.32, sill=0.30, waist=1.10, edge=2.58, top=2.90)
    nose, tail, radius = 5.40, -5.45, 0.48
    front, back = 2.75, -2.75
    arches = Arch(back, radius, radius + 0.07), Arch(front, radius, radius + 0.07)
    hull = Hull(
        (
            shell.section(tail, inset=0.06, drop=0.08, bow=-0.04),
            shell.section(tail + 0.12, bow=-0.04),
            shell.section(nose - 0.45, bow=0.12),
            shell.section(nose - 0.14, inset=0.04, drop=0.03, bow=0.12),
            shell.section(nose, inset=0.16, drop=0.14, bow=0.12),
        ),
        arches,
        (),
        raised=WAIST,
    )
    hull.add_to(assembly, roof_or_body, roof_or_body, roof_or_body)
    low, high = 1.18, 2.28
    add_windows(assembly, shell, LEFT, bays(-5.25, 4.70, 7), low, high)
    for start, end, count in ((-3.30, -0.95, 2), (0.95, 3.30, 2)):
        add_windows(assembly, shell, RIGHT, bays(start, end, count), low, high)
    for part, y in (("door_front_right", 4.15), ("door_mid_right", 0.0), ("door_back_right", -4.25)):
        add_door(assembly, shell, part, (y - 0.72, y + 0.72), 0.42, 2.30)
    add_face(assembly, hull.plan((nose, nose - 0.14, nose - 0.40), WAIST), (1.12, 2.26), (2.30, 2.58))
    add_axle(assembly, FRONT_WHEELS, front, 1.31, radius)
    add_axle(assembly, BACK_WHEELS, back, 1.31, radius)
    ends = (hull.plan((nose, nose - 0.14, nose - 0.6), WAIST), hull.plan((tail, tail + 0.12, tail + 0.5), WAIST))
    assembly.add("bumper_front", wrapped(ends[0], 0.28, 0.60, 0.05, 0.04))
    assembly.add("bumper_back", wrapped(ends[1], 0.28, 0.60, 0.05, 0.04))
    add_lamps(assembly, "head", hull.plan((nose, nose - 0.1), WAIST, 0.62), 0.72, 0.92)
    add_lamps(assembly, "tail", hull.plan((tail, tail + 0.04), WAIST, 0.84), 0.74, 1.30)
    add_plate(assembly, "license_plate_front", nose + 0.19, 0.44)
    add_plate(assembly, "license_plate_back", tail - 0.12, 0.44)
    add_tail(assembly, tail - 0.05, 0.98, (0.68, 1.32), (1.50, 2.30))
    add_mirrors(assembly, shell, nose, 2.36, 1.56)
    for y in (-2.6, 1.8):
        assembly.add("roof", box((-0.75, y - 1.0, 2.7), (0.75, y + 1.0, 3.02), 0.08))


def double(assembly: Assembly) -> None:
    """A double-decker: two rows of windows, doors on both sides."""
    shell = Shell(width=1.11, sill=0.26, waist=1.00, edge=3.22, top=3.49)
    nose, tail, radius = 5.20, -5.25, 0.43
    front, back = 2.95, -2.85
    arches = Arch(back, radius, radius + 0.06), Arch(front, radius, radius + 0.06)
    hull = Hull(
        (
            shell.section(tail, inset=0.05, drop=0.10, bow=-0.04),
            shell.section(tail + 0.12, bow=-0.04),
            shell.section(nose - 0.45, bow=0.12),
            shell.section(nose - 0.14, inset=0.03, drop=0.03, bow=0.12),
            shell.section(nose, inset=0.12, drop=0.14, bow=0.12),
        ),
        arches,
        (),
        raised=WAIST,
    )
    hull.add_to(assembly, roof_or_body, roof_or_body, roof_or_body)
    lower, upper = (1.06, 1.78), (2.24, 3.00)
    doors = (("door_front", 4.28, 0.55), ("door_mid", 0.55, 0.65))
    for side in (LEFT, RIGHT):
        add_windows(assembly, shell, side, bays(-5.0, 4.85, 7), *upper)
        for start, end, count in ((-4.95, -0.30, 3), (1.38, 3.56, 2)):
            add_windows(assembly, shell, side, bays(start, end, count), *lower)
        for part, y, half in doors:
            add_door(assembly, shell, f"{part}_{side}", (y - half, y + half), 0.38, 1.82)
    face = hull.plan((nose, nose - 0.14, nose - 0.30), WAIST)
    add_face(assembly, face, (0.98, 1.78), (1.84, 2.12))
    assembly.add(GLASS, wrapped(face, *upper, 0.012, 0.0))
    add_axle(assembly, FRONT_WHEELS, front, 1.10, radius)
    add_axle(assembly, BACK_WHEELS, back, 1.10, radius)
    ends = (hull.plan((nose, nose - 0.14, nose - 0.32), WAIST), hull.plan((tail, tail + 0.12, tail + 0.5), WAIST))
    assembly.add("bumper_front", wrapped(ends[0], 0.24, 0.54, 0.05, 0.04))
    assembly.add("bumper_back", wrapped(ends[1], 0.24, 0.54, 0.05, 0.04))
    add_lamps(assembly, "head", hull.plan((nose, nose - 0.1), WAIST, 0.6), 0.64, 0.83)
    add_lamps(assembly, "tail", hull.plan((tail, tail + 0.04), WAIST, 0.82), 0.70, 1.30)
    add_plate(assembly, "license_plate_front", nose + 0.19, 0.39)
    add_plate(assembly, "license_plate_back", tail - 0.12, 0.39)
    add_tail(assembly, tail - 0.05, 0.80, (0.64, 1.50), upper)
    add_mirrors(assembly, shell, nose, 1.86, 1.23)


MODELS = {"articulated": articulated, "regular": regular, "double": double, "school": school}
