"""The dirtbike: a mudguard high above a knobbly wheel, long springs, a high narrow seat."""

from __future__ import annotations

from .assembly import BODY, Assembly
from .cycle_parts import loop
from .cycle_wheels import Wheel
from .forms import box, disc, slab, tube
from .motor_parts import GRIP, METAL, SIDES, cylinder, silencer
from .piece import both_sides
from .shells import hull, shield

BACK, FRONT = -0.70, 0.70  # y of the axles
REAR = Wheel(
    radius=0.335, half=0.065, tyre=0.085, rim=0.025, hub=0.05, spokes=10, spoke=0.009, flange=0.04, knobs=22, knob=0.014
)
FORE = Wheel(
    radius=0.36, half=0.052, tyre=0.075, rim=0.025, hub=0.045, spokes=10, spoke=0.009, flange=0.04, knobs=22, knob=0.014
)
HEAD = (0.43, 0.93)  # where the fork meets the frame, as (y, z)
PIVOT = (-0.14, 0.42)  # of the swinging arm


def dirtbike(assembly: Assembly) -> None:
    REAR.put(assembly, "wheel_back", BACK)
    FORE.put(assembly, "wheel_front", FRONT)
    _frame(assembly)
    _engine(assembly)
    _front(assembly)
    _covers(assembly)


def _frame(assembly: Assembly) -> None:
    y, z = HEAD
    assembly.add(BODY, tube([(0, y + 0.03, z - 0.1), (0, y - 0.02, z + 0.06)], 0.045, 8))
    beam = [(0.04, y, z - 0.02), (0.1, 0.22, 0.8), (0.11, -0.08, 0.62), (0.1, *PIVOT), (0.09, -0.1, 0.27)]
    assembly.add(BODY, both_sides(tube(beam, 0.03, 5)))
    cradle = [(0.03, y, z - 0.08), (0.06, 0.3, 0.5), (0.09, 0.22, 0.27), (0.09, -0.1, 0.27)]
    assembly.add(BODY, both_sides(tube(cradle, 0.024, 5)))
    assembly.add(BODY, both_sides(tube([(0.08, -0.05, 0.66), (0.07, -0.3, 0.84), (0.06, -0.68, 0.88)], 0.02, 6)))
    assembly.add(BODY, both_sides(tube([(0.08, -0.12, 0.5), (0.07, -0.5, 0.82)], 0.018, 6)))
    arm = [(0.09, *PIVOT), (0.1, -0.4, 0.39), (0.1, BACK - 0.03, REAR.radius)]
    assembly.add(BODY, both_sides(tube(arm, (0.04, 0.038, 0.028), 6)))
    assembly.add(BODY, tube([(0, -0.2, 0.4), (0, -0.16, 0.72)], 0.05, 8), tone=METAL)


def _engine(assembly: Assembly) -> None:
    assembly.add("engine", box((-0.11, -0.13, 0.25), (0.11, 0.24, 0.45), 0.04), tone=METAL)
    assembly.add("engine", disc(0.1, 0.27, segments=12, dish=0.01).moved(0, 0.06, 0.36), tone=METAL)
    assembly.add("engine", cylinder(0.115, 0.32, 3, 8).moved(0, 0.14, 0.42).turned("x", -12, (0, 0.14, 0.4)))
    header = [(0.0, 0.29, 0.6), (0.08, 0.36, 0.52), (0.15, 0.24, 0.42), (0.15, 0.0, 0.5), (0.15, -0.2, 0.64)]
    silencer(assembly, "exhaust_right_s", [*header, (0.15, -0.32, 0.7), (0.16, -0.84, 0.84)], 0.03, 0.068)
    cog, hub = (-0.1, 0.36), (BACK, REAR.radius)
    assembly.add("drive_chain", loop(hub, 0.12, cog, 0.05, -0.085, 0.016))
    assembly.add("drive_chain", disc(0.115, 0.014, segments=14).moved(-0.085, *hub), tone=METAL)
    for side, x in SIDES:
        assembly.add(
            f"footrest_{side}_s", box((-0.07, -0.035, -0.02), (0.07, 0.035, 0.02), 0.01).moved(0.2 * x, -0.1, 0.3)
        )
        assembly.add(f"footrest_{side}_s", tube([(0.09 * x, -0.1, 0.3), (0.15 * x, -0.1, 0.3)], 0.018, 5))


def _front(assembly: Assembly) -> None:
    axle = (FRONT, FORE.radius)
    top = (HEAD[0] - 0.06, HEAD[1] + 0.12)
    knee = tuple(t + 0.48 * (a - t) for t, a in zip(top, axle, strict=True))
    assembly.add("fork", both_sides(tube([(0.105, *top), (0.105, *knee)], 0.038, 6)))
    assembly.add("fork", both_sides(tube([(0.105, *knee), (0.105, *axle)], 0.027, 6)))
    assembly.add("fork", both_sides(box((0.08, -0.05, -0.03), (0.13, 0.05, 0.05), 0.015).moved(0, *axle)))
    for t in (0.02, 0.2):
        y, z = (a + t * (b - a) for a, b in zip(top, axle, strict=True))
        assembly.add("fork", box((-0.14, y - 0.045, z - 0.022), (0.14, y + 0.045, z + 0.022), 0.01))
    # the beak: well clear of the tyre
    beak = [
        (0.2, 0.83, 0.85, 0.05),
        (0.34, 0.85, 0.885, 0.085),
        (0.56, 0.855, 0.895, 0.095),
        (0.8, 0.83, 0.865, 0.085),
        (0.96, 0.775, 0.8, 0.055),
        (1.02, 0.745, 0.76, 0.03),
    ]
    assembly.add("fender_front", hull(beak, 8, 0.6))
    for side, x in SIDES:
        rise = [(0, 0.36, 1.07), (0.09 * x, 0.36, 1.07), (0.18 * x, 0.34, 1.15), (0.27 * x, 0.3, 1.17)]
        assembly.add(f"handle_{side}", tube(rise, 0.02, 6))
        assembly.add(f"handle_{side}", tube([(0.25 * x, 0.31, 1.168), (0.37 * x, 0.25, 1.175)], 0.029, 6), tone=GRIP)
        assembly.add(f"handle_{side}", tube([(0, 0.345, 1.13), (0.17 * x, 0.345, 1.14)], 0.026, 6), tone=GRIP)
    plate = [(0.06, 0.0), (0.115, 0.1), (0.12, 0.19), (0.09, 0.23)]
    assembly.add("panel", shield(plate, 0.025, 20, (0, HEAD[0] + 0.08, HEAD[1] - 0.03)))


def _covers(assembly: Assembly) -> None:
    seat = [
        (-0.74, 0.9, 0.965, 0.05),
        (-0.68, 0.88, 0.98, 0.085),
        (-0.4, 0.83, 0.96, 0.1),
        (-0.12, 0.81, 0.92, 0.095),
        (0.1, 0.86, 0.96, 0.08),
        (0.22, 0.93, 1.0, 0.055),
    ]
    assembly.add("seat", hull(seat, 8, 0.6), tone=GRIP)
    tank = [(-0.02, 0.7, 0.82, 0.08), (0.08, 0.7, 0.92, 0.13), (0.24, 0.74, 0.99, 0.14), (0.36, 0.82, 0.98, 0.09)]
    assembly.add("gas_tank", hull(tank, 10, 0.75))
    assembly.add("gas_tank", disc(0.04, 0.05, "z", 10).moved(0, 0.29, 0.995))
    shroud = [(0.06, 0.86), (0.3, 0.95), (0.44, 0.86), (0.4, 0.66), (0.28, 0.55), (0.2, 0.68), (0.0, 0.72)]
    assembly.add("cover_front", both_sides(slab(shroud, 0.12, 0.185, 0.02)))
    tail = [
        (-1.04, 0.965, 0.985, 0.05),
        (-0.95, 0.935, 0.965, 0.085),
        (-0.72, 0.88, 0.915, 0.1),
        (-0.4, 0.8, 0.85, 0.09),
    ]
    assembly.add("cover_back", hull(tail, 8, 0.6))
    plate = [(-0.1, 0.8), (-0.62, 0.89), (-0.6, 0.78), (-0.42, 0.64), (-0.2, 0.6)]
    assembly.add("cover_back", both_sides(slab(plate, 0.07, 0.125, 0.015)))
