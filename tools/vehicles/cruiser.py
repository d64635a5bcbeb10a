"""The cruiser: a full-bodied road motorbike with a fairing, a windscreen, three lamps and two exhausts."""

from __future__ import annotations

from .assembly import BODY, Assembly
from .cycle_parts import loop
from .cycle_wheels import Wheel
from .forms import box, disc, ellipsoid, slab, tube
from .motor_parts import GRIP, METAL, SIDES, lamp, mirror, silencer
from .piece import both_sides
from .shells import hull, mudguard, upright

BACK, FRONT = -0.75, 0.74  # y of the axles
REAR = Wheel(radius=0.325, half=0.095, tyre=0.085, rim=0.03, hub=0.06, spokes=5, spoke=0.026, root=1.5, flange=0.0)
FORE = Wheel(radius=0.325, half=0.068, tyre=0.075, rim=0.03, hub=0.055, spokes=5, spoke=0.024, root=1.5, flange=0.0)
SLOT = 0.4  # tone of an opening for air


def cruiser(assembly: Assembly) -> None:
    REAR.put(assembly, "wheel_back", BACK)
    FORE.put(assembly, "wheel_front", FRONT)
    _body(assembly)
    _front(assembly)
    _fairing(assembly)
    _seat_and_tail(assembly)
    _running_gear(assembly)


def _body(assembly: Assembly) -> None:
    """The belly that hides the engine, and the arm that holds the rear wheel."""
    belly = [
        (-0.42, 0.34, 0.62, 0.1),
        (-0.3, 0.22, 0.66, 0.17),
        (0.0, 0.15, 0.7, 0.2),
        (0.24, 0.17, 0.72, 0.2),
        (0.36, 0.27, 0.74, 0.15),
    ]
    assembly.add(BODY, hull(belly, 12, 0.55))
    arm = [(0.12, -0.3, 0.4), (0.13, -0.55, 0.36), (0.13, BACK - 0.04, REAR.radius)]
    assembly.add(BODY, both_sides(tube(arm, (0.05, 0.042, 0.035), 6)))


def _front(assembly: Assembly) -> None:
    axle = (FRONT, FORE.radius)
    assembly.add("fork", both_sides(tube([(0.1, 0.42, 0.95), (0.1, *axle)], 0.036, 6)))
    assembly.add("fork", both_sides(disc(0.13, 0.016, segments=14).moved(0.078, *axle)), tone=METAL)
    assembly.add("fork", box((-0.13, 0.4, 0.86), (0.13, 0.48, 0.9), 0.015))
    assembly.add("fender_front", mudguard((0, *axle), 0.315, 0.09, 35, 170, 0.05, 9))


def _fairing(assembly: Assembly) -> None:
    nose = [
        (0.2, 0.62, 0.86, 0.2),
        (0.36, 0.62, 0.93, 0.235),
        (0.54, 0.66, 0.93, 0.22),
        (0.68, 0.7, 0.88, 0.15),
        (0.76, 0.74, 0.83, 0.07),
    ]
    assembly.add("cover_front", hull(nose, 12, 0.65))
    flank = [
        (0.04, 0.72),
        (0.4, 0.88),
        (0.62, 0.82),
        (0.56, 0.64),
        (0.44, 0.44),
        (0.28, 0.3),
        (0.02, 0.2),
        (0.14, 0.46),
    ]
    vent = [(0.2, 0.62), (0.4, 0.68), (0.37, 0.6), (0.2, 0.54)]
    assembly.add("cover_front", both_sides(slab(flank, 0.15, 0.24, 0.035)))
    for lower in (0.0, 0.13):
        slot = [(y - 0.3 * lower, z - lower) for y, z in vent]
        assembly.add("cover_front", both_sides(slab(slot, 0.2, 0.247, 0.005)), tone=SLOT)
    screen = [(0.88, 0.42, 0.6, 0.17), (0.98, 0.38, 0.5, 0.165), (1.08, 0.35, 0.42, 0.13), (1.14, 0.34, 0.375, 0.07)]
    assembly.add("windscreen", upright(screen, 10, 0.8))
    assembly.add("headlight_center", lamp(0.062, 0.1, 10).moved(0, 0.765, 0.775))
    for side, x in SIDES:
        eye = ellipsoid((0.085, 0.07, 0.055), 12, 6).moved(0.13 * x, 0.67, 0.83)
        assembly.add(f"headlight_{side}", eye)
        assembly.add(f"mirror_{side}", mirror((0.2 * x, 0.42, 0.88), (0.29 * x, 0.38, 1.03), 0.075, 0.045))
        assembly.add(f"handle_{side}", tube([(0.08 * x, 0.37, 0.98), (0.2 * x, 0.34, 0.99)], 0.022, 6))
        assembly.add(f"handle_{side}", tube([(0.18 * x, 0.345, 0.99), (0.33 * x, 0.25, 0.97)], 0.03, 6), tone=GRIP)
    assembly.add("panel", slab([(0.32, 0.9), (0.4, 0.9), (0.42, 1.0), (0.37, 1.0)], -0.11, 0.11, 0.012))


def _seat_and_tail(assembly: Assembly) -> None:
    tank = [
        (-0.12, 0.66, 0.76, 0.1),
        (-0.04, 0.66, 0.88, 0.15),
        (0.14, 0.68, 0.95, 0.185),
        (0.28, 0.7, 0.95, 0.17),
        (0.36, 0.74, 0.9, 0.1),
    ]
    assembly.add("gas_tank", hull(tank, 12, 0.75))
    assembly.add("gas_tank", disc(0.045, 0.03, "z", 10).moved(0, 0.18, 0.955))
    seat = [
        (-0.82, 0.86, 0.93, 0.07),
        (-0.76, 0.84, 0.95, 0.11),
        (-0.5, 0.79, 0.92, 0.13),
        (-0.42, 0.72, 0.83, 0.15),
        (-0.2, 0.68, 0.79, 0.15),
        (-0.06, 0.68, 0.8, 0.1),
    ]
    assembly.add("seat", hull(seat, 10, 0.6), tone=GRIP)
    tail = [
        (-1.02, 0.83, 0.9, 0.06),
        (-0.94, 0.76, 0.91, 0.12),
        (-0.6, 0.66, 0.86, 0.16),
        (-0.3, 0.58, 0.74, 0.17),
        (-0.18, 0.6, 0.7, 0.12),
    ]
    assembly.add("cover_back", hull(tail, 10, 0.65))
    assembly.add("fender_back", mudguard((0, BACK, REAR.radius), 0.335, 0.1, 100, 175, 0.04, 7))
    assembly.add("fender_back", box((-0.03, -1.11, 0.5), (0.03, -1.03, 0.56)))  # holds the plate
    assembly.add("license_plate", box((-0.1, -1.12, 0.48), (0.1, -1.1, 0.6)).turned("x", 12, (0, -1.1, 0.54)))
    for side, x in SIDES:
        assembly.add(f"taillight_{side}", ellipsoid((0.058, 0.055, 0.05), 10, 4).moved(0.075 * x, -0.975, 0.83))


def _running_gear(assembly: Assembly) -> None:
    hub, cog = (BACK, REAR.radius), (-0.28, 0.38)
    assembly.add("drive_chain", loop(hub, 0.11, cog, 0.06, -0.105, 0.016))
    assembly.add("drive_chain", disc(0.105, 0.016, segments=14).moved(-0.105, *hub), tone=METAL)
    for side, x in SIDES:
        path = [(0.14 * x, 0.2, 0.2), (0.17 * x, -0.1, 0.19), (0.2 * x, -0.3, 0.23)]
        silencer(assembly, f"exhaust_{side}_s", [*path, (0.21 * x, -0.4, 0.26), (0.23 * x, -0.98, 0.4)], 0.035, 0.07)
        rest = box((-0.06, -0.03, -0.018), (0.06, 0.03, 0.018), 0.01).moved(0.24 * x, -0.2, 0.36)
        assembly.add(
            f"footrest_{side}_s", rest, tube([(0.12 * x, -0.2, 0.36), (0.2 * x, -0.2, 0.36)], 0.02, 5), tone=GRIP
        )
