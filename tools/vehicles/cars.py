"""The cars: sedan, wagon, minivan, SUV and pickup."""

from __future__ import annotations

from .assembly import BODY, GLASS, Assembly
from .car_body import WAIST, Panels, add_handles, add_lamps, add_mirrors, add_plate, add_wheels, section
from .forms import box, tube
from .hull import Arch, Hull
from .piece import both_sides
from .trim import wrapped


def _tailgate(y: float, column: int, side: str) -> str:
    """The flat of a tail: the gate or lid down to its waist."""
    return "trunk" if column >= WAIST else BODY


def _plain(y: float, column: int, side: str) -> str:
    return BODY


def sedan(assembly: Assembly) -> None:
    """Three boxes: hood, cabin, and a boot of its own."""
    front, back, radius, sill = 1.45, -1.36, 0.33, 0.20
    arches = Arch(back, radius, radius + 0.055), Arch(front, radius, radius + 0.055)
    panels = Panels(
        hood=(1.06, 2.20),
        windscreen=(0.37, 1.02),
        roof=(-0.92, 0.34),
        back_window=(-1.60, -0.95),
        trunk=(-2.30, -1.66),
        doors=(("front", (-0.30, 0.86)), ("back", (-1.20, -0.30))),
        side_windows=((-1.22, -0.34), (-0.26, 0.76)),
        arches=arches,
    )
    hull = Hull(
        (
            section(-2.30, 0.74, 0.28, 0.62, (0.70, 0.88), (0.62, 0.955), (0.50, 0.985), 1.00, bow=-0.10),
            section(-2.18, 0.80, 0.24, 0.64, (0.765, 0.92), (0.68, 0.99), (0.56, 1.01), 1.025, bow=-0.10),
            section(-1.62, 0.85, sill, 0.66, (0.82, 0.935), (0.72, 1.01), (0.61, 1.035), 1.05, bow=-0.12),
            section(-0.92, 0.86, sill, 0.66, (0.83, 0.93), (0.635, 1.355), (0.54, 1.405), 1.43, bow=-0.06),
            section(-0.25, 0.86, sill, 0.66, (0.83, 0.92), (0.65, 1.375), (0.55, 1.425), 1.45),
            section(0.34, 0.86, sill, 0.66, (0.83, 0.91), (0.635, 1.335), (0.545, 1.385), 1.415, bow=0.06),
            section(1.02, 0.855, sill, 0.66, (0.825, 0.90), (0.76, 0.955), (0.67, 0.975), 0.995, bow=0.13),
            section(1.70, 0.84, sill, 0.64, (0.80, 0.84), (0.72, 0.90), (0.60, 0.92), 0.935, bow=0.13),
            section(2.16, 0.78, 0.24, 0.56, (0.73, 0.74), (0.65, 0.80), (0.53, 0.82), 0.83, bow=0.13),
            section(2.26, 0.72, 0.28, 0.52, (0.67, 0.66), (0.60, 0.70), (0.50, 0.715), 0.72, bow=0.13),
        ),
        arches,
        panels.cuts(),
        raised=WAIST,
    )
    hull.add_to(assembly, panels.name, _tailgate, _plain)
    add_wheels(assembly, front, back, 0.85, radius)
    add_mirrors(assembly, (0.80, 0.74, 0.93), 0.945)
    add_handles(assembly, (("front", -0.14), ("back", -1.0)), 0.85, 0.78)
    nose, tail = hull.plan((2.26, 2.16, 1.90), WAIST), hull.plan((-2.30, -2.18, -1.80), WAIST)
    assembly.add("front_bumper", wrapped(nose, 0.20, 0.46, 0.04))
    assembly.add("back_bumper", wrapped(tail, 0.24, 0.52, 0.04))
    assembly.add(BODY, wrapped(nose, 0.46, 0.64, 0.008, 0.0), tone=0.3)
    add_lamps(assembly, "head", hull.plan((2.26, 2.16, 2.0), WAIST, 0.6), 0.50, 0.63)
    add_lamps(assembly, "tail", hull.plan((-2.30, -2.18, -2.05), WAIST, 0.6), 0.64, 0.82)
    add_plate(assembly, "front_license_plate", 2.45, 0.36)
    add_plate(assembly, "back_license_plate", -2.42, 0.70)


def wagon(assembly: Assembly) -> None:
    """Low and long, its roof running on to the tail."""
    front, back, radius, sill = 1.45, -1.36, 0.33, 0.19
    arches = Arch(back, radius, radius + 0.055), Arch(front, radius, radius + 0.055)
    panels = Panels(
        hood=(1.10, 2.20),
        windscreen=(0.41, 1.06),
        roof=(-2.06, 0.38),
        back_window=(-2.26, -2.12),
        trunk=(-2.34, -2.06),
        doors=(("front", (-0.26, 0.90)), ("back", (-1.20, -0.26))),
        side_windows=((-1.98, -1.22), (-1.12, -0.30), (-0.22, 0.80)),
        arches=arches,
    )
    hull = Hull(
        (
            section(-2.34, 0.80, 0.26, 0.62, (0.77, 0.88), (0.72, 0.90), (0.66, 0.91), 0.92, bow=-0.06),
            section(-2.24, 0.86, 0.22, 0.64, (0.83, 0.90), (0.75, 1.04), (0.66, 1.06), 1.07, bow=-0.06),
            section(-2.06, 0.89, sill, 0.65, (0.865, 0.91), (0.70, 1.28), (0.60, 1.335), 1.36, bow=-0.05),
            section(-0.90, 0.915, sill, 0.66, (0.885, 0.91), (0.70, 1.33), (0.60, 1.38), 1.41),
            section(-0.25, 0.915, sill, 0.66, (0.885, 0.90), (0.70, 1.335), (0.60, 1.385), 1.415),
            section(0.38, 0.915, sill, 0.66, (0.885, 0.895), (0.685, 1.30), (0.59, 1.35), 1.38, bow=0.06),
            section(1.06, 0.91, sill, 0.66, (0.88, 0.885), (0.80, 0.94), (0.71, 0.96), 0.98, bow=0.13),
            section(1.70, 0.895, sill, 0.64, (0.85, 0.83), (0.76, 0.885), (0.64, 0.905), 0.92, bow=0.13),
            section(2.16, 0.83, 0.24, 0.56, (0.77, 0.73), (0.68, 0.785), (0.56, 0.805), 0.815, bow=0.13),
            section(2.26, 0.77, 0.28, 0.52, (0.71, 0.65), (0.63, 0.69), (0.53, 0.705), 0.71, bow=0.13),
        ),
        arches,
        panels.cuts(),
        raised=WAIST,
    )
    hull.add_to(assembly, panels.name, _tailgate, _plain)
    add_wheels(assembly, front, back, 0.905, radius, spokes=6)
    add_mirrors(assembly, (0.85, 0.78, 0.92), 1.025)
    add_handles(assembly, (("front", -0.10), ("back", -1.0)), 0.905, 0.77)
    nose, tail = hull.plan((2.26, 2.16, 1.90), WAIST), hull.plan((-2.34, -2.24, -1.80), WAIST)
    assembly.add("front_bumper", wrapped(nose, 0.19, 0.46, 0.04))
    assembly.add("back_bumper", wrapped(tail, 0.22, 0.52, 0.04))
    assembly.add(BODY, wrapped(nose, 0.46, 0.63, 0.008, 0.0), tone=0.3)
    add_lamps(assembly, "head", hull.plan((2.26, 2.16, 2.0), WAIST, 0.6), 0.50, 0.62)
    add_lamps(assembly, "tail", hull.plan((-2.34, -2.24, -2.12), WAIST, 0.7), 0.62, 0.90)
    add_plate(assembly, "front_license_plate", 2.45, 0.35)
    add_plate(assembly, "back_license_plate", -2.44, 0.70)
    rail = tube([(0.66, -1.95, 1.33), (0.66, -1.8, 1.42), (0.66, 0.05, 1.44), (0.66, 0.2, 1.34)], 0.02, 5)
    assembly.add(BODY, both_sides(rail), tone=0.5)


def minivan(assembly: Assembly) -> None:
    """One tall box: a short hood in line with a long windscreen."""
    front, back, radius, sill = 1.55, -1.45, 0.34, 0.21
    arches = Arch(back, radius, radius + 0.055), Arch(front, radius, radius + 0.055)
    panels = Panels(
        hood=(1.74, 2.26),
        windscreen=(0.68, 1.68),
        roof=(-2.10, 0.64),
        back_window=(-2.30, -2.14),
        trunk=(-2.40, -2.10),
        doors=(("front", (0.02, 1.10)), ("back", (-1.02, 0.02))),
        side_windows=((-2.0, -1.12), (-0.94, -0.04), (0.08, 0.88), (0.96, 1.36)),
        arches=arches,
    )
    hull = Hull(
        (
            section(-2.40, 0.86, 0.26, 0.70, (0.84, 1.05), (0.80, 1.09), (0.72, 1.10), 1.11, bow=-0.06),
            section(-2.30, 0.91, 0.24, 0.72, (0.89, 1.08), (0.84, 1.24), (0.73, 1.26), 1.27, bow=-0.06),
            section(-2.10, 0.94, sill, 0.75, (0.92, 1.08), (0.79, 1.76), (0.68, 1.84), 1.87, bow=-0.05),
            section(-0.80, 0.955, sill, 0.75, (0.93, 1.08), (0.79, 1.81), (0.67, 1.90), 1.94),
            section(0.00, 0.955, sill, 0.75, (0.93, 1.07), (0.79, 1.80), (0.67, 1.89), 1.93),
            section(0.64, 0.955, sill, 0.75, (0.93, 1.06), (0.775, 1.72), (0.66, 1.81), 1.85, bow=0.08),
            section(1.68, 0.94, sill, 0.75, (0.89, 1.00), (0.80, 1.07), (0.71, 1.09), 1.10, bow=0.16),
            section(2.10, 0.87, 0.24, 0.66, (0.82, 0.84), (0.73, 0.90), (0.62, 0.92), 0.93, bow=0.17),
            section(2.28, 0.79, 0.27, 0.60, (0.74, 0.72), (0.66, 0.755), (0.55, 0.765), 0.77, bow=0.17),
        ),
        arches,
        panels.cuts(),
        raised=WAIST,
    )
    hull.add_to(assembly, panels.name, _tailgate, _plain)
    add_wheels(assembly, front, back, 0.945, radius, spokes=7)
    add_mirrors(assembly, (0.88, 1.02, 1.08), 1.075, 0.18)
    add_handles(assembly, (("front", 0.18), ("back", -0.14)), 0.94, 0.90)
    track = box((0.90, -1.95, 0.95), (0.952, -1.05, 0.99))
    assembly.add(BODY, both_sides(track), tone=0.3)  # that the sliding doors run in
    nose, tail = hull.plan((2.28, 2.10, 2.02), WAIST), hull.plan((-2.40, -2.30, -1.90), WAIST)
    assembly.add("front_bumper", wrapped(nose, 0.20, 0.50, 0.04))
    assembly.add("back_bumper", wrapped(tail, 0.22, 0.56, 0.05))
    assembly.add(BODY, wrapped(nose, 0.50, 0.60, 0.01, 0.0), tone=0.3)
    add_lamps(assembly, "head", hull.plan((2.28, 2.10, 1.98), WAIST, 0.55), 0.60, 0.76)
    add_lamps(assembly, "tail", hull.plan((-2.40, -2.30, -2.2), WAIST, 0.75), 0.72, 1.04)
    add_plate(assembly, "front_license_plate", 2.52, 0.36)
    add_plate(assembly, "back_license_plate", -2.51, 0.78)


def suv(assembly: Assembly) -> None:
    """Tall and rounded on big wheels: a sloping hood and tail, a glass roof, low rails beside it."""
    front, back, radius, sill = 1.42, -1.38, 0.385, 0.32
    arches = Arch(back, radius, radius + 0.06), Arch(front, radius, radius + 0.06)
    panels = Panels(
        hood=(1.12, 2.14),
        windscreen=(0.34, 1.02),
        roof=(-1.92, 0.30),
        back_window=(-2.16, -1.96),
        trunk=(-2.26, -1.92),
        doors=(("front", (-0.28, 0.84)), ("back", (-1.16, -0.28))),
        side_windows=((-1.80, -1.22), (-1.12, -0.34), (-0.22, 0.70)),
        arches=arches,
    )
    hull = Hull(
        (
            section(-2.26, 0.80, 0.40, 0.80, (0.78, 1.00), (0.72, 1.06), (0.62, 1.08), 1.09, bow=-0.08),
            section(-2.16, 0.86, 0.36, 0.82, (0.84, 1.05), (0.76, 1.22), (0.64, 1.25), 1.26, bow=-0.08),
            section(-1.92, 0.90, sill, 0.84, (0.865, 1.08), (0.72, 1.53), (0.61, 1.60), 1.62, bow=-0.06),
            section(-0.70, 0.915, sill, 0.84, (0.88, 1.07), (0.72, 1.61), (0.61, 1.68), 1.71),
            section(-0.10, 0.915, sill, 0.84, (0.88, 1.06), (0.72, 1.61), (0.61, 1.675), 1.705),
            section(0.30, 0.915, sill, 0.84, (0.88, 1.05), (0.705, 1.555), (0.605, 1.62), 1.65, bow=0.07),
            section(1.06, 0.905, sill, 0.84, (0.87, 1.02), (0.79, 1.08), (0.69, 1.10), 1.12, bow=0.13),
            section(1.72, 0.89, sill, 0.80, (0.85, 0.95), (0.76, 1.01), (0.64, 1.035), 1.05, bow=0.14),
            section(2.10, 0.83, 0.36, 0.72, (0.78, 0.85), (0.70, 0.91), (0.59, 0.93), 0.94, bow=0.14),
            section(2.20, 0.77, 0.40, 0.66, (0.72, 0.76), (0.64, 0.81), (0.54, 0.825), 0.83, bow=0.14),
        ),
        arches,
        panels.cuts(),
        raised=WAIST,
        lip=0.03,
    )
    hull.add_to(assembly, panels.name, _tailgate, _plain)
    add_wheels(assembly, front, back, 0.905, radius, 0.25)
    add_mirrors(assembly, (0.85, 0.76, 1.05), 0.995, 0.17)
    add_handles(assembly, (("front", -0.10), ("back", -0.98)), 0.905, 0.93)
    nose, tail = hull.plan((2.20, 2.10, 1.90), WAIST), hull.plan((-2.26, -2.16, -1.84), WAIST)
    assembly.add("front_bumper", wrapped(nose, 0.31, 0.60, 0.05))
    assembly.add("back_bumper", wrapped(tail, 0.34, 0.64, 0.05))
    assembly.add(BODY, wrapped(nose, 0.40, 0.47, 0.056, 0.0), tone=0.3)
    grille = box((0.03, 2.1, 0.63), (0.32, 2.352, 0.79), 0.01)
    bars = [box((x - 0.014, 2.2, 0.64), (x + 0.014, 2.36, 0.78)) for x in (0.09, 0.145, 0.2, 0.255)]
    assembly.add(BODY, both_sides(grille), tone=0.3)
    assembly.add(BODY, *(both_sides(bar) for bar in bars))
    add_lamps(assembly, "head", hull.plan((2.20, 2.10, 1.96), WAIST, 0.5), 0.64, 0.78)
    add_lamps(assembly, "tail", hull.plan((-2.26, -2.16, -2.02), WAIST, 0.72), 0.78, 1.02)
    assembly.add(GLASS, box((-0.44, -0.92, 1.6), (0.44, -0.08, 1.72), 0.015))
    rail = tube([(0.66, -1.8, 1.58), (0.66, -1.7, 1.69), (0.66, -0.05, 1.725), (0.66, 0.1, 1.63)], 0.022, 6)
    assembly.add(BODY, both_sides(rail), tone=0.5)


def truck(assembly: Assembly) -> None:
    """A pickup: a cab with two doors, and an open bed behind it."""
    front, back, radius, sill = 1.62, -1.52, 0.38, 0.32
    arches = Arch(back, radius, radius + 0.06), Arch(front, radius, radius + 0.06)
    rail = 1.00  # height of the bed's sides
    bed, gate = -0.52, -2.58  # the front and the back of the bed
    panels = Panels(
        hood=(1.10, 2.42),
        windscreen=(0.54, 1.02),
        roof=(-0.38, 0.50),
        back_window=(-0.49, -0.42),
        trunk=(gate - 0.06, gate),
        doors=(("front", (-0.30, 0.96)),),
        side_windows=((-0.26, 0.80),),
        arches=arches,
        bed=(gate, bed),
    )
    bed_half = ((0.90, rail), (0.82, rail), (0.79, 0.62), 0.62)
    gate_half = ((0.90, rail), (0.82, rail), (0.74, rail), rail)
    hull = Hull(
        (
            section(gate - 0.06, 0.91, 0.40, 0.72, *gate_half),
            section(gate, 0.92, 0.38, 0.72, *gate_half),
            section(gate + 0.004, 0.92, 0.38, 0.72, *bed_half),
            section(bed, 0.93, sill, 0.74, *bed_half),
            section(bed + 0.004, 0.93, sill, 0.74, (0.90, rail), (0.84, 1.03), (0.74, 1.04), 1.04),
            section(-0.38, 0.93, sill, 0.74, (0.90, 1.01), (0.74, 1.54), (0.64, 1.605), 1.63, bow=-0.02),
            section(0.10, 0.93, sill, 0.74, (0.90, 1.01), (0.75, 1.57), (0.64, 1.635), 1.665),
            section(0.50, 0.93, sill, 0.74, (0.90, 1.00), (0.74, 1.53), (0.64, 1.60), 1.635, bow=0.05),
            section(1.05, 0.93, sill, 0.74, (0.90, 1.00), (0.83, 1.055), (0.73, 1.075), 1.085, bow=0.10),
            section(1.90, 0.915, sill, 0.74, (0.88, 0.97), (0.80, 1.03), (0.68, 1.05), 1.06, bow=0.10),
            section(2.42, 0.87, 0.38, 0.70, (0.83, 0.90), (0.75, 0.97), (0.64, 0.99), 1.00, bow=0.10),
            section(2.50, 0.83, 0.40, 0.68, (0.79, 0.84), (0.72, 0.89), (0.62, 0.90), 0.91, bow=0.10),
        ),
        arches,
        panels.cuts(),
        raised=WAIST,
    )
    hull.add_to(assembly, panels.name, _tailgate, _plain)
    wheel_box = box((0.58, back - 0.46, 0.5), (0.81, back + 0.46, 0.86), 0.04)
    assembly.add(BODY, both_sides(wheel_box), tone=0.5)
    add_wheels(assembly, front, back, 0.925, radius, 0.25, rim=0.62, spokes=6)
    add_mirrors(assembly, (0.87, 0.82, 1.02), 1.06, 0.2)
    add_handles(assembly, (("front", -0.14),), 0.92, 0.86)
    nose, tail = hull.plan((2.50, 2.42, 2.14), WAIST), hull.plan((gate - 0.06, gate, -2.1), WAIST)
    assembly.add("front_bumper", wrapped(nose, 0.34, 0.60, 0.07))
    assembly.add("back_bumper", wrapped(tail, 0.36, 0.58, 0.09))
    grille = box((-0.56, 2.4, 0.62), (0.56, 2.622, 0.84), 0.01)
    assembly.add(BODY, grille, tone=0.3)
    assembly.add(BODY, box((-0.57, 2.45, 0.70), (0.57, 2.64, 0.75)))
    add_lamps(assembly, "head", hull.plan((2.50, 2.42, 2.34), WAIST, 0.72), 0.64, 0.84)
    add_lamps(assembly, "tail", hull.plan((gate - 0.06, gate, gate + 0.08), WAIST, 0.86), 0.66, 0.96)
    add_plate(assembly, "front_license_plate", 2.69, 0.47)


MODELS = {"suv": suv, "wagon": wagon, "minivan": minivan, "sedan": sedan, "truck": truck}
