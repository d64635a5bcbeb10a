"""The bicycles: road, utility, mountain and tandem.

Tubes and tyres are up to twice as thick as in life: a small bicycle is some forty pixels long.
"""

from __future__ import annotations

from .assembly import BODY, Assembly
from .cycle_parts import bar, drive, pair, rotor, saddle
from .cycle_wheels import Wheel
from .forms import box, disc, ellipsoid, tube
from .shells import mudguard

SEAT = 0.45  # the tandem's two, which are no part of their own and must be told from its frame
DARK = 0.7  # tone of saddles and grips


def road(assembly: Assembly) -> None:
    """Thin tyres, a diamond frame, a handlebar that drops."""
    wheel = Wheel(radius=0.345, half=0.026, tyre=0.036, rim=0.03, hub=0.028, spokes=12, spoke=0.0055, segments=28)
    back, front, axle = -0.5, 0.5, wheel.radius
    bottom, seat = (-0.09, 0.28), (-0.25, 0.79)
    crown, head = (0.355, 0.70), (0.315, 0.84)
    wheel.put(assembly, "wheel_back", back)
    wheel.put(assembly, "wheel_front", front)

    tube_radius = 0.022
    assembly.add(BODY, bar([(0, *bottom), (0, *seat), (0, seat[0] - 0.02, 0.86)], tube_radius))
    assembly.add(BODY, bar([(0, *seat), (0, head[0] + 0.01, head[1] - 0.03)], tube_radius))
    assembly.add(BODY, bar([(0, *bottom), (0, crown[0] - 0.005, crown[1] + 0.02)], 0.026))
    assembly.add(BODY, bar([(0, *crown), (0, *head)], 0.03))
    assembly.add(BODY, *pair([(0.02, *bottom), (0.05, back, axle)], 0.015))
    assembly.add(BODY, *pair([(0.018, seat[0], seat[1] - 0.03), (0.05, back, axle)], 0.014))
    assembly.add(BODY, disc(0.04, 0.09, segments=10).moved(0, *bottom))
    assembly.add(BODY, bar([(0, head[0], head[1]), (0, 0.31, 0.88), (0, 0.42, 0.9)], 0.02))

    assembly.add("fork", *pair([(0.0, *crown), (0.045, 0.37, 0.665), (0.05, 0.44, 0.48), (0.05, front, axle)], 0.018))
    assembly.add("saddle", saddle(-0.28, 0.92), tone=DARK)
    for side, x in (("left", -1.0), ("right", 1.0)):
        top, reach = 0.9, 0.42
        half = [
            (0, reach, top),
            (0.13 * x, reach, top),
            (0.175 * x, reach + 0.03, top),
            (0.185 * x, reach + 0.1, top - 0.01),
            (0.185 * x, reach + 0.125, top - 0.06),
            (0.185 * x, reach + 0.1, top - 0.125),
            (0.185 * x, reach - 0.02, top - 0.15),
        ]
        assembly.add(f"handle_{side}", bar(half, 0.019))
        hood = [(0.185 * x, reach + 0.07, top), (0.185 * x, reach + 0.125, top + 0.03)]
        lever = [(0.185 * x, reach + 0.14, top + 0.02), (0.185 * x, reach + 0.16, top - 0.08)]
        assembly.add("brake_system", tube(hood, (0.022, 0.018), 5), tube(lever, 0.011, 4))
    for y, z in ((crown[0] + 0.035, crown[1]), (-0.29, 0.655)):
        assembly.add("brake_system", bar([(-0.045, y, z - 0.03), (0, y, z + 0.03), (0.045, y, z - 0.03)], 0.017))
    drive(assembly, bottom, (back, axle))


def utility(assembly: Assembly) -> None:
    """A low step, upright bars, mudguards, a carrier and a stand."""
    wheel = Wheel(radius=0.345, half=0.034, tyre=0.045, rim=0.024, hub=0.034, spokes=12, spoke=0.006, segments=28)
    back, front, axle = -0.515, 0.52, wheel.radius
    bottom, seat = (-0.08, 0.28), (-0.25, 0.76)
    crown, head = (0.375, 0.735), (0.315, 0.93)
    wheel.put(assembly, "wheel_back", back)
    wheel.put(assembly, "wheel_front", front)

    assembly.add(BODY, bar([(0, *bottom), (0, *seat), (0, seat[0] - 0.04, 0.88)], 0.024))
    sweep = [(0, *crown), (0, 0.27, 0.55), (0, 0.12, 0.38), (0, -0.02, 0.3), (0, *bottom)]
    assembly.add(BODY, bar(sweep, 0.028))
    upper = [(0, 0.345, 0.83), (0, 0.22, 0.66), (0, 0.06, 0.5), (0, -0.15, 0.46)]
    assembly.add(BODY, bar(upper, 0.022))
    assembly.add(BODY, bar([(0, *crown), (0, *head)], 0.032))
    assembly.add(BODY, *pair([(0.02, *bottom), (0.055, back, axle)], 0.017))
    assembly.add(BODY, *pair([(0.02, -0.22, 0.68), (0.055, back, axle)], 0.016))
    assembly.add(BODY, disc(0.042, 0.09, segments=10).moved(0, *bottom))
    assembly.add(BODY, bar([(0, *head), (0, 0.29, 1.05), (0, 0.32, 1.09)], 0.022))

    assembly.add("fork", *pair([(0.0, *crown), (0.055, 0.385, 0.7), (0.058, 0.45, 0.48), (0.058, front, axle)], 0.02))
    assembly.add("saddle", saddle(-0.31, 0.95, 0.28, 0.11), tone=DARK)
    for side, x in (("left", -1.0), ("right", 1.0)):
        sweep_back = [(0, 0.32, 1.09), (0.1 * x, 0.33, 1.13), (0.23 * x, 0.28, 1.15), (0.28 * x, 0.2, 1.15)]
        assembly.add(f"handle_{side}", bar(sweep_back, 0.018))
        grip = [(0.28 * x, 0.2, 1.15), (0.305 * x, 0.06, 1.14)]
        assembly.add(f"handle_{side}", bar(grip, 0.025), tone=DARK)
        lever = [(0.24 * x, 0.29, 1.13), (0.305 * x, 0.2, 1.1), (0.32 * x, 0.1, 1.1)]
        assembly.add("brake_system", tube(lever, 0.012, 4))
    for y, z in ((0.41, 0.71), (-0.32, 0.66)):
        assembly.add("brake_system", bar([(-0.055, y, z - 0.04), (0, y, z + 0.04), (0.055, y, z - 0.04)], 0.018))
    assembly.add("fender_back", mudguard((0, back, axle), 0.365, 0.05, 40, 215, 0.025, 12))
    assembly.add("fender_front", mudguard((0, front, axle), 0.365, 0.05, 15, 190, 0.025, 12))
    _carrier(assembly, back)
    stand = [(-0.03, -0.2, 0.27), (-0.06, -0.22, 0.25), (-0.2, -0.27, 0.02), (-0.23, -0.25, 0.012)]
    assembly.add("side_stand", bar(stand, 0.017))
    drive(assembly, bottom, (back, axle))


def _carrier(assembly: Assembly, back: float) -> None:
    """A rack over the back wheel, its legs standing on the axle."""
    top, near, far, half = 0.77, back + 0.22, back - 0.2, 0.085
    frame = [(half, near, top), (half, far, top), (-half, far, top), (-half, near, top)]
    assembly.add("carrier", tube(frame, 0.014, 6, closed=True))
    assembly.add("carrier", bar([(0, near, top), (0, far, top)], 0.013))
    for y in (back + 0.1, back - 0.07):
        assembly.add("carrier", bar([(-half, y, top), (half, y, top)], 0.013))
    for foot in (back + 0.03, back - 0.12):
        assembly.add("carrier", *pair([(0.065, back, 0.345), (half, foot, top)], 0.012))


def mountain(assembly: Assembly) -> None:
    """Fat knobbly tyres, a sloping frame, a flat wide bar and a fork with springs."""
    wheel = Wheel(
        radius=0.35,
        half=0.046,
        tyre=0.06,
        rim=0.024,
        hub=0.038,
        spokes=10,
        spoke=0.007,
        knobs=36,
        knob=0.008,
        segments=24,
    )
    back, front, axle = -0.525, 0.525, wheel.radius
    bottom, seat = (-0.1, 0.32), (-0.25, 0.72)
    crown, head = (0.345, 0.78), (0.305, 0.9)
    wheel.put(assembly, "wheel_back", back)
    wheel.put(assembly, "wheel_front", front)

    assembly.add(BODY, bar([(0, *bottom), (0, *seat), (0, seat[0] - 0.07, 0.92)], 0.026))
    assembly.add(BODY, bar([(0, seat[0] + 0.01, seat[1] - 0.04), (0, head[0], head[1] - 0.05)], 0.028))
    assembly.add(BODY, bar([(0, *bottom), (0, 0.25, 0.7), (0, crown[0] - 0.01, crown[1] + 0.02)], 0.036))
    assembly.add(BODY, bar([(0, *crown), (0, *head)], 0.038))
    assembly.add(BODY, *pair([(0.025, *bottom), (0.075, back + 0.2, axle), (0.07, back, axle)], 0.019))
    assembly.add(BODY, *pair([(0.02, seat[0], seat[1] - 0.04), (0.07, back + 0.14, 0.53), (0.07, back, axle)], 0.018))
    assembly.add(BODY, disc(0.046, 0.1, segments=10).moved(0, *bottom))
    assembly.add(BODY, bar([(0, *head), (0, 0.295, 0.95), (0, 0.37, 0.97)], 0.026))

    foot = (front, axle)
    middle = tuple(c + 0.5 * (f - c) for c, f in zip(crown, foot, strict=True))
    assembly.add("fork", *pair([(0.085, crown[0] + 0.01, crown[1] + 0.03), (0.085, *middle)], 0.022))
    assembly.add("fork", *pair([(0.085, *middle), (0.085, *foot)], 0.033))
    assembly.add("fork", bar([(-0.1, crown[0] + 0.01, crown[1]), (0.1, crown[0] + 0.01, crown[1])], 0.03))
    arch = [(0.085, *middle), (0.06, middle[0] + 0.07, middle[1] + 0.1), (0, middle[0] + 0.07, middle[1] + 0.13)]
    assembly.add("fork", *pair(arch, 0.02))
    assembly.add("saddle", saddle(-0.33, 0.985, 0.28, 0.075), tone=DARK)
    for side, x in (("left", -1.0), ("right", 1.0)):
        assembly.add(f"handle_{side}", bar([(0, 0.37, 0.97), (0.1 * x, 0.37, 0.99), (0.22 * x, 0.35, 1.0)], 0.02))
        assembly.add(f"handle_{side}", bar([(0.21 * x, 0.352, 1.0), (0.335 * x, 0.33, 1.0)], 0.027), tone=DARK)
        lever = [(0.17 * x, 0.37, 0.985), (0.2 * x, 0.43, 0.97), (0.31 * x, 0.42, 0.965)]
        assembly.add("brake_system", tube(lever, 0.012, 4))
    for y in (back, front):
        assembly.add("brake_system", *rotor(0.095, -0.06, y, axle))
    drive(assembly, bottom, (back, axle), ring=0.085, cog=0.065)


def tandem(assembly: Assembly) -> None:
    """Two saddles and two handlebars, one behind the other, on a long frame."""
    wheel = Wheel(radius=0.345, half=0.034, tyre=0.045, rim=0.026, hub=0.032, spokes=12, spoke=0.006, segments=28)
    back, front, axle = -0.855, 0.855, wheel.radius
    stoker, captain = (-0.40, 0.28), (0.32, 0.28)  # their bottom brackets, as (y, z)
    lean, saddle_post, height = 0.165, 0.86, 0.77
    crown, head = (0.70, 0.735), (0.655, 0.9)
    wheel.put(assembly, "wheel_back", back)
    wheel.put(assembly, "wheel_front", front)

    for y, z in (stoker, captain):
        post = y - lean - 0.035
        assembly.add(BODY, bar([(0, y, z), (0, y - lean, height), (0, post, saddle_post)], 0.025))
        assembly.add(BODY, disc(0.042, 0.09, segments=10).moved(0, y, z))
        assembly.add(BODY, saddle(post - 0.02, 0.95, 0.32, 0.115), tone=SEAT)
    back_top, front_top = stoker[0] - lean, captain[0] - lean
    assembly.add(BODY, bar([(0, back_top + 0.01, height - 0.03), (0, front_top, height - 0.02)], 0.025))
    assembly.add(BODY, bar([(0, front_top, height - 0.02), (0, head[0] + 0.01, head[1] - 0.05)], 0.025))
    assembly.add(BODY, bar([(0, *stoker), (0, *captain)], 0.03))
    assembly.add(BODY, bar([(0, *captain), (0, crown[0] - 0.005, crown[1] + 0.02)], 0.03))
    assembly.add(BODY, bar([(0, *stoker), (0, front_top + 0.01, height - 0.06)], 0.02))
    assembly.add(BODY, bar([(0, *crown), (0, *head)], 0.034))
    assembly.add(BODY, *pair([(0.02, *stoker), (0.055, back, axle)], 0.017))
    assembly.add(BODY, *pair([(0.02, back_top, height - 0.05), (0.055, back, axle)], 0.017))
    _raised_bar(assembly, *head, forward=0.05)
    _raised_bar(assembly, front_top - 0.02, height, forward=-0.1)
    drive(assembly, stoker, (back, axle), into=BODY)
    drive(assembly, captain, stoker, cog=0.09, into=BODY)

    assembly.add("fork", *pair([(0.0, *crown), (0.055, 0.71, 0.7), (0.058, 0.775, 0.48), (0.058, front, axle)], 0.021))
    assembly.add("fender_back", mudguard((0, back, axle), 0.365, 0.052, 45, 215, 0.025, 12))
    assembly.add("fender_front", mudguard((0, front, axle), 0.365, 0.052, 15, 190, 0.025, 12))
    lamp = ellipsoid((0.05, 0.035, 0.05), 10, 6).moved(0, back - 0.385, 0.5)
    assembly.add("rearlight", lamp, box((-0.02, back - 0.38, 0.47), (0.02, back - 0.34, 0.53)))


def _raised_bar(assembly: Assembly, y: float, z: float, forward: float) -> None:
    """A handlebar on a stem, its ends swept back to the rider."""
    top = 1.02
    assembly.add(BODY, bar([(0, y, z - 0.02), (0, y - 0.02, z + 0.06), (0, y + forward, top - 0.05)], 0.02))
    for x in (-1.0, 1.0):
        half = [
            (0, y + forward, top - 0.05),
            (0.09 * x, y + forward, top - 0.03),
            (0.18 * x, y + forward - 0.05, top),
            (0.195 * x, y + forward - 0.12, top),
        ]
        assembly.add(BODY, bar(half, 0.018))
        assembly.add(BODY, bar([half[-1], (0.2 * x, y + forward - 0.23, top - 0.01)], 0.025), tone=DARK)


MODELS = {"road": road, "utility": utility, "mountain": mountain, "tandem": tandem}
