"""The school bus: a hood before the windscreen, many small windows, rails along the sides, a stop sign."""

from __future__ import annotations

from .assembly import BODY, GLASS, Assembly
from .bus_body import (
    BACK_WHEELS,
    FRONT_WHEELS,
    WAIST,
    Shell,
    add_axle,
    add_door,
    add_lamps,
    add_mirrors,
    add_plate,
    add_windows,
    bays,
    roof_or_body,
)
from .forms import box, disc
from .hull import LEFT, RIGHT, Arch, Hull, Section
from .piece import both_sides
from .trim import wrapped


def school(assembly: Assembly) -> None:
    """Metres: ten long, two wide."""
    shell = Shell(width=0.96, sill=0.44, waist=1.04, edge=2.06, top=2.54)
    nose, wall, tail, radius = 5.02, 3.62, -4.95, 0.45
    front, back = 4.22, -2.75
    arches = Arch(back, radius, radius + 0.06), Arch(front, radius, radius + 0.06)
    hull = Hull(
        (
            shell.section(tail, inset=0.05, drop=0.10, bow=-0.03),
            shell.section(tail + 0.12, bow=-0.03),
            shell.section(wall - 0.12),
            shell.section(wall, inset=0.05, drop=0.08),
            _hood(wall + 0.004, 0.91, 0.66, 1.48),
            _hood(nose - 0.30, 0.87, 0.56, 1.38),
            _hood(nose, 0.78, 0.50, 1.26, bow=0.05),
        ),
        arches,
        (),
        raised=WAIST,
    )
    hull.add_to(assembly, lambda y, c, s: roof_or_body(y, c, s) if y < wall else BODY, roof_or_body, lambda *_: BODY)
    low, high = 1.40, 1.96
    add_windows(assembly, shell, LEFT, bays(-4.80, -0.50, 6, 0.1), low, high)
    add_windows(assembly, shell, LEFT, bays(0.58, 3.40, 4, 0.1), low, high)
    add_windows(assembly, shell, RIGHT, bays(-4.80, 2.42, 10, 0.1), low, high)
    add_door(assembly, shell, "door_front_right", (2.54, 3.48), 0.52, 2.02)
    add_door(assembly, shell, "door_mid_left", (-0.42, 0.50), 0.60, 2.02, leaves=1)
    for side, end in ((LEFT, 3.5), (RIGHT, 2.5)):
        for z in (1.06, 1.28, 2.03):
            assembly.add(BODY, shell.pane(side, (tail + 0.12, end), z, z + 0.045), tone=0.3)
    add_axle(assembly, FRONT_WHEELS, front, 0.89, radius)
    add_axle(assembly, BACK_WHEELS, back, 0.95, radius)
    ends = hull.plan((nose, nose - 0.2), WAIST), hull.plan((tail, tail + 0.12, tail + 0.5), WAIST)
    assembly.add("bumper_front", wrapped(ends[0], 0.42, 0.70, 0.10, 0.03))
    assembly.add("bumper_back", wrapped(ends[1], 0.42, 0.70, 0.07, 0.03))
    _add_school_face(assembly, wall, nose)
    _add_school_tail(assembly, tail - 0.03)
    add_lamps(assembly, "tail", hull.plan((tail, tail + 0.04), WAIST, 0.8), 0.82, 1.02)
    add_plate(assembly, "license_plate_front", nose + 0.19, 0.56)
    add_plate(assembly, "license_plate_back", tail - 0.13, 0.56)
    add_mirrors(assembly, shell, wall - 0.05, 2.02, 1.08)
    sign = disc(0.26, 0.03, "x", 8).turned("x", 22.5).moved(-shell.width - 0.06, 2.2, 1.12)
    assembly.add(BODY, sign, tone=0.45)
    hinge = box((-shell.width - 0.06, 2.30, 1.05), (-shell.width + 0.05, 2.36, 1.19))
    assembly.add(BODY, hinge, tone=0.3)


def _hood(y: float, fender: float, bonnet: float, top: float, bow: float = 0.0) -> Section:
    """Half a section before the windscreen: a fender over the wheel, the bonnet standing up between them."""
    sill, inner = 0.44, 0.45
    half = (
        (0.0, sill),
        (inner, sill),
        (inner, sill),
        (fender, sill),
        (fender, 1.00),
        (bonnet + 0.04, 1.07),
        (bonnet, top - 0.16),
        (bonnet - 0.04, top - 0.08),
        (bonnet - 0.14, top - 0.03),
        (0.0, top),
    )
    return Section(y, half, bow)


def _add_school_face(assembly: Assembly, wall: float, nose: float) -> None:
    """Windscreen in two halves, warning lamps and a sign over it; grille and round lamps at the nose."""
    pane = box((0.04, wall - 0.1, 1.50), (0.84, wall + 0.02, 2.02))
    assembly.add(GLASS, both_sides(pane))
    assembly.add(BODY, box((-0.36, wall - 0.2, 2.16), (0.36, wall + 0.03, 2.36)), tone=0.25)
    assembly.add(BODY, box((-0.30, wall - 0.2, 2.21), (0.30, wall + 0.045, 2.31)))
    _add_warning_lamps(assembly, wall, 1.0)
    assembly.add(BODY, box((-0.44, nose - 0.1, 0.76), (0.44, nose + 0.065, 1.16), 0.02), tone=0.25)
    slats = [box((-0.40, nose, z), (0.40, nose + 0.085, z + 0.04)) for z in (0.83, 0.94, 1.05)]
    assembly.add(BODY, *slats)
    for side, x in (("left", -0.61), ("right", 0.61)):
        assembly.add(BODY, disc(0.15, 0.2, "y", 14).moved(x, nose - 0.05, 0.86), tone=0.25)
        assembly.add(f"head_light_{side}", disc(0.115, 0.2, "y", 14, dish=0.03).moved(x, nose - 0.03, 0.86))


def _add_school_tail(assembly: Assembly, y: float) -> None:
    """The flat back: two windows, and warning lamps above."""
    pane = box((0.05, y - 0.03, 1.40), (0.72, y + 0.1, 1.98))
    assembly.add(GLASS, both_sides(pane))
    rail = box((-0.84, y - 0.015, 1.14), (0.84, y + 0.1, 1.19))
    assembly.add(BODY, rail, tone=0.3)
    _add_warning_lamps(assembly, y, -1.0)


def _add_warning_lamps(assembly: Assembly, y: float, facing: float) -> None:
    for x in (-0.56, 0.56):
        assembly.add(BODY, disc(0.13, 0.14, "y", 12).moved(x, y - facing * 0.03, 2.24), tone=0.25)
        assembly.add(BODY, disc(0.08, 0.14, "y", 10).moved(x, y, 2.24))
