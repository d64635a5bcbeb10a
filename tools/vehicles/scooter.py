"""The scooter: a floor to step through, a shield before the legs, small wheels, a rear that is all cover."""

from __future__ import annotations

from .assembly import BODY, Assembly
from .cycle_wheels import Wheel
from .forms import box, ellipsoid, slab, tube
from .motor_parts import GRIP, METAL, SIDES, lamp, mirror, silencer
from .piece import both_sides
from .shells import hull, mudguard, upright

BACK, FRONT = -0.60, 0.63  # y of the axles
WHEEL = Wheel(
    radius=0.235, half=0.062, tyre=0.075, rim=0.03, hub=0.045, spokes=5, spoke=0.02, root=1.4, flange=0.0, segments=20
)
COLUMN = (0.40, 0.95)  # top of the steering column, as (y, z)


def scooter(assembly: Assembly) -> None:
    WHEEL.put(assembly, "wheel_back", BACK)
    WHEEL.put(assembly, "wheel_front", FRONT)
    _body(assembly)
    _rear(assembly)
    _front(assembly)
    _bar(assembly)


def _body(assembly: Assembly) -> None:
    """The floor, bent up into the shield in front and into the seat's foot behind."""
    floor = [
        (-0.42, 0.24, 0.34, 0.1),
        (-0.28, 0.2, 0.325, 0.19),
        (0.22, 0.2, 0.31, 0.2),
        (0.34, 0.22, 0.36, 0.18),
        (0.4, 0.26, 0.42, 0.1),
    ]
    assembly.add(BODY, hull(floor, 10, 0.4))
    assembly.add(BODY, tube([(0, 0.3, 0.3), (0, 0.4, 0.5), (0, *COLUMN)], 0.05, 8))


def _rear(assembly: Assembly) -> None:
    cover = [
        (-0.96, 0.64, 0.72, 0.05),
        (-0.9, 0.56, 0.76, 0.12),
        (-0.72, 0.42, 0.77, 0.19),
        (-0.45, 0.3, 0.76, 0.215),
        (-0.25, 0.27, 0.74, 0.19),
        (-0.14, 0.29, 0.7, 0.14),
        (-0.1, 0.33, 0.6, 0.1),
    ]
    assembly.add("cover_back", hull(cover, 12, 0.65))
    seat = [
        (-0.88, 0.76, 0.83, 0.09),
        (-0.8, 0.75, 0.87, 0.145),
        (-0.56, 0.74, 0.87, 0.165),
        (-0.46, 0.74, 0.82, 0.165),
        (-0.22, 0.72, 0.8, 0.15),
        (-0.08, 0.7, 0.78, 0.09),
    ]
    assembly.add("seat", hull(seat, 10, 0.6), tone=GRIP)
    lamp_at = ellipsoid((0.085, 0.04, 0.04), 10, 6).moved(0, -0.95, 0.68)
    assembly.add("taillight_center", lamp_at)
    assembly.add("fender_back", mudguard((0, BACK, WHEEL.radius), 0.25, 0.085, 95, 200, 0.03, 8))
    assembly.add("engine", box((-0.13, -0.62, 0.17), (0.1, -0.28, 0.34), 0.04), tone=METAL)
    case = [(-0.72, 0.18), (-0.68, 0.29), (-0.56, 0.31), (-0.2, 0.29), (-0.14, 0.23), (-0.2, 0.16), (-0.6, 0.15)]
    assembly.add("drive_chain", slab(case, 0.1, 0.19, 0.025), tone=METAL)
    header = [(-0.1, -0.2, 0.2), (-0.16, -0.25, 0.17), (-0.17, -0.4, 0.22)]
    silencer(assembly, "exhaust_left_s", [*header, (-0.17, -0.48, 0.23), (-0.18, -0.9, 0.32)], 0.028, 0.065)


def _front(assembly: Assembly) -> None:
    axle = (FRONT, WHEEL.radius)
    assembly.add("fork", both_sides(tube([(0.03, 0.47, 0.62), (0.085, 0.53, 0.5), (0.095, *axle)], 0.03, 6)))
    assembly.add(BODY, mudguard((0, *axle), 0.235, 0.095, 30, 165, 0.055, 9))
    shield = [
        (0.3, 0.26, 0.42, 0.14),
        (0.4, 0.33, 0.47, 0.2),
        (0.55, 0.36, 0.52, 0.235),
        (0.75, 0.36, 0.5, 0.225),
        (0.9, 0.36, 0.46, 0.14),
        (0.96, 0.37, 0.43, 0.07),
    ]
    assembly.add("cover_front", upright(shield, 12, 0.75))


def _bar(assembly: Assembly) -> None:
    y, _ = COLUMN
    cowl = [
        (y - 0.07, 0.96, 1.03, 0.07),
        (y - 0.02, 0.93, 1.06, 0.12),
        (y + 0.08, 0.92, 1.06, 0.12),
        (y + 0.14, 0.94, 1.02, 0.08),
    ]
    assembly.add("panel", hull(cowl, 10, 0.7))
    assembly.add("headlight_center", lamp(0.085, 0.12).turned("x", -8).moved(0, y + 0.17, 0.985))
    for side, x in SIDES:
        assembly.add(
            f"handle_{side}",
            tube([(0.05 * x, y, 1.0), (0.17 * x, y - 0.01, 1.01), (0.24 * x, y - 0.03, 1.01)], 0.025, 6),
        )
        assembly.add(
            f"handle_{side}", tube([(0.2 * x, y - 0.02, 1.01), (0.335 * x, y - 0.07, 1.0)], 0.032, 6), tone=GRIP
        )
        assembly.add(f"mirror_{side}", mirror((0.18 * x, y, 1.0), (0.335 * x, y + 0.02, 1.15), 0.085, 0.05))
