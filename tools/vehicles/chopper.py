"""The chopper: a long raked fork, a high wide bar, a teardrop tank, a low seat, a fat rear wheel."""

from __future__ import annotations

from .assembly import BODY, Assembly
from .cycle_parts import loop
from .cycle_wheels import Wheel
from .forms import box, disc, ellipsoid, slab, tube
from .motor_parts import GRIP, METAL, SIDES, cylinder, lamp, mirror, silencer
from .piece import both_sides
from .shells import hull, mudguard, shield

BACK, FRONT = -0.87, 0.86  # y of the axles
FAT = Wheel(radius=0.33, half=0.125, tyre=0.1, rim=0.035, hub=0.06, spokes=8, spoke=0.018, flange=0.06)
SLIM = Wheel(radius=0.36, half=0.055, tyre=0.065, rim=0.03, hub=0.045, spokes=12, spoke=0.009, flange=0.04)
HEAD = (0.42, 0.82)  # where the fork meets the frame, as (y, z)
CRANK = (-0.1, 0.33)  # the engine's shaft


def chopper(assembly: Assembly) -> None:
    FAT.put(assembly, "wheel_back", BACK)
    SLIM.put(assembly, "wheel_front", FRONT)
    _frame(assembly)
    _engine(assembly)
    _front(assembly)
    _rider(assembly)


def _frame(assembly: Assembly) -> None:
    """A hardtail: from the head one line runs down to the rear axle."""
    spine = [(0, *HEAD), (0, 0.3, 0.8), (0, -0.28, 0.5)]
    assembly.add(BODY, tube(spine, 0.035, 6))
    assembly.add(
        BODY, both_sides(tube([(0.03, -0.22, 0.53), (0.155, -0.55, 0.42), (0.16, BACK, FAT.radius)], 0.026, 6))
    )
    cradle = [(0.03, 0.39, 0.76), (0.08, 0.26, 0.24), (0.09, 0.18, 0.17), (0.12, -0.4, 0.17), (0.16, BACK, FAT.radius)]
    assembly.add(BODY, both_sides(tube(cradle, 0.026, 6)))
    assembly.add(BODY, tube([(0, 0.385, 0.76), (0, 0.455, 0.9)], 0.05, 8))
    # the side of the belly between seat and axle: oil tank and battery
    assembly.add(BODY, slab([(-0.5, 0.22), (-0.28, 0.22), (-0.28, 0.5), (-0.42, 0.46)], -0.1, 0.1, 0.025))


def _engine(assembly: Assembly) -> None:
    y, z = CRANK
    assembly.add("engine", disc(0.15, 0.2, segments=12).moved(0, y, z), tone=METAL)
    assembly.add("engine", box((-0.09, y - 0.2, z - 0.13), (0.09, y + 0.14, z + 0.02), 0.03), tone=METAL)
    for lean in (-24.0, 24.0):
        one = cylinder(0.11, 0.3, 3, 8).moved(0, y, z + 0.07).turned("x", lean, (0, y, z))
        assembly.add("engine", one)
    assembly.add("engine", disc(0.075, 0.05, segments=10, dish=0.01).moved(0.13, y + 0.02, z + 0.25), tone=METAL)
    for low, start in ((0.2, y + 0.24), (0.28, y - 0.06)):
        bends = [(0.1, start, 0.5), (0.19, start + 0.02, 0.42), (0.2, start - 0.1, low + 0.01)]
        path = [*bends, (0.2, -0.4, low), (0.21, -0.98 - 0.3 * (low - 0.2), low + 0.02)]
        silencer(assembly, "exhaust_right_s", path, 0.034, 0.043, 7)
    assembly.add("drive_chain", loop((BACK, FAT.radius), 0.13, (y - 0.05, z), 0.08, -0.15, 0.02))
    assembly.add("drive_chain", disc(0.12, 0.02, segments=12).moved(-0.15, BACK, FAT.radius), tone=METAL)
    assembly.add("drive_chain", disc(0.1, 0.05, segments=12).moved(-0.14, y - 0.05, z), tone=METAL)


def _front(assembly: Assembly) -> None:
    axle = (FRONT, SLIM.radius)
    knee = tuple(h + 0.5 * (a - h) for h, a in zip(HEAD, axle, strict=True))
    top = (HEAD[0] - 0.07, HEAD[1] + 0.085)
    assembly.add("fork", both_sides(tube([(0.1, *top), (0.1, *knee)], 0.026, 6)))
    assembly.add("fork", both_sides(tube([(0.1, *knee), (0.1, *axle)], 0.038, 6)))
    for y, z in ((HEAD[0] + 0.02, HEAD[1] - 0.02), (HEAD[0] - 0.05, HEAD[1] + 0.075)):
        assembly.add("fork", box((-0.13, y - 0.035, z - 0.02), (0.13, y + 0.035, z + 0.02), 0.01))
    assembly.add("fender_front", mudguard((0, *axle), 0.372, 0.07, 82, 158, 0.028, 7))
    assembly.add("headlight_center", lamp(0.1, 0.17).turned("x", -8).moved(0, HEAD[0] + 0.19, HEAD[1] - 0.04))
    assembly.add("headlight_center", box((-0.03, HEAD[0], HEAD[1] - 0.08), (0.03, HEAD[0] + 0.08, HEAD[1])))
    screen = [(0.09, 0.0), (0.13, 0.06), (0.12, 0.14), (0.07, 0.19)]
    assembly.add("windscreen", shield(screen, 0.02, 32, (0, HEAD[0] + 0.14, HEAD[1] + 0.07)))
    assembly.add("panel", disc(0.06, 0.05, "z", 12).turned("x", 30).moved(0, HEAD[0] - 0.04, HEAD[1] + 0.14))
    for side, x in SIDES:
        ape = [
            (0, 0.36, 0.92),
            (0.09 * x, 0.36, 0.93),
            (0.22 * x, 0.34, 1.12),
            (0.29 * x, 0.27, 1.16),
            (0.31 * x, 0.2, 1.15),
        ]
        assembly.add(f"handle_{side}", tube(ape, 0.02, 6))
        assembly.add(f"handle_{side}", tube([(0.305 * x, 0.22, 1.152), (0.34 * x, 0.04, 1.11)], 0.03, 6), tone=GRIP)
        assembly.add(f"mirror_{side}", mirror((0.29 * x, 0.26, 1.155), (0.285 * x, 0.34, 1.17), 0.075, 0.042))


def _rider(assembly: Assembly) -> None:
    tank = [
        (-0.24, 0.54, 0.58, 0.03),
        (-0.18, 0.53, 0.64, 0.08),
        (-0.04, 0.58, 0.76, 0.14),
        (0.12, 0.64, 0.86, 0.175),
        (0.24, 0.7, 0.9, 0.165),
        (0.33, 0.75, 0.88, 0.11),
        (0.37, 0.78, 0.84, 0.04),
    ]
    assembly.add("gas_tank", hull(tank, 10, 0.85))
    assembly.add("gas_tank", disc(0.04, 0.03, "z", 10).turned("x", -15).moved(0, 0.14, 0.875))
    seat = [
        (-0.72, 0.74, 0.8, 0.08),
        (-0.66, 0.63, 0.79, 0.12),
        (-0.58, 0.53, 0.63, 0.15),
        (-0.42, 0.46, 0.56, 0.165),
        (-0.26, 0.49, 0.59, 0.11),
        (-0.18, 0.54, 0.61, 0.05),
    ]
    assembly.add("seat", hull(seat, 10, 0.7), tone=GRIP)
    assembly.add("fender_back", mudguard((0, BACK, FAT.radius), 0.3, 0.15, 55, 195, 0.075, 11))
    assembly.add("taillight_center", ellipsoid((0.06, 0.04, 0.045), 10, 4).moved(0, BACK - 0.375, 0.42))
    for side, x in SIDES:
        assembly.add(f"footrest_{side}_s", tube([(0.07 * x, 0.28, 0.25), (0.13 * x, 0.32, 0.26)], 0.018, 5), tone=GRIP)
        assembly.add(f"footrest_{side}_s", tube([(0.13 * x, 0.32, 0.26), (0.28 * x, 0.32, 0.27)], 0.032, 6), tone=GRIP)
