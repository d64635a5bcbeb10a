"""The four aeroplanes: an airliner, a business jet, a fighter and a biplane."""

from __future__ import annotations

from .airframe import Station, fan, fin, fuselage, glazed_fuselage, leg, nacelle, panes, propeller, wheel, wing
from .assembly import BODY, GLASS, Assembly
from .forms import box, ellipsoid, skin, tube, turned_profile
from .piece import Piece, Point, both_sides, joined

TYRE = 0.4  # how dark tyres are within their part's colour


def airliner(assembly: Assembly) -> None:
    """A long tube with swept low wings, an engine under each, and a row of windows."""
    hull: list[Station] = [
        (-19.0, 0.15, 0.25, 1.25),
        (-17.6, 0.5, 0.65, 1.1),
        (-14.5, 1.15, 1.3, 0.7),
        (-10.0, 1.85, 1.85, 0.2),
        (-6.0, 2.05, 2.05, 0.0),
        (10.0, 2.05, 2.05, 0.0),
        (13.2, 2.0, 2.0, 0.0),
        (14.6, 1.85, 1.8, -0.12),
        (15.5, 1.66, 1.55, -0.26),
        (16.5, 1.36, 1.2, -0.45),
        (17.6, 0.86, 0.75, -0.66),
        (18.3, 0.35, 0.32, -0.76),
        (18.5, 0.1, 0.1, -0.78),
    ]
    sides = 20
    # the windscreen: two rows of panes high on the nose
    cells, lids = glazed_fuselage(
        hull, sides, lambda i, j: GLASS if i == 8 and (1 <= j <= 4 or 15 <= j <= 18) else BODY
    )
    assembly.add_named({k: p.moved(z=3.9) for k, p in cells.items()})
    assembly.add(BODY, lids.moved(z=3.9))
    windows = [y * 1.3 - 9.0 for y in range(17) if not 1.4 < y * 1.3 - 9.0 < 2.0]
    assembly.add(GLASS, panes(hull, windows, 0.55, (0.7, 0.85), 0.05).moved(z=3.9))
    assembly.add("door_left_s", joined([_door(hull, y, -1).moved(z=3.9) for y in (12.2, -11.4)]))
    assembly.add("door_right_s", joined([_door(hull, y, 1).moved(z=3.9) for y in (12.2, -11.4)]))
    right = wing((1.2, 1.2, 2.6), (16.6, -6.6, 3.6), (7.4, 1.9), 0.12, bend=0.7)
    _pair(assembly, "wing", right)
    tip = fin((16.4, -6.7, 4.2), (16.9, -7.4, 6.0), (1.7, 0.8), 0.08)
    _pair(assembly, "wing", tip)
    engine = nacelle((5.6, 3.6, 1.75), 1.25, 4.6)
    pylon = box((5.45, 0.2, 2.4), (5.75, 3.8, 3.1))
    _pair(assembly, "engine", joined((engine, pylon)))
    assembly.add("propeller", both_sides(fan((5.6, 4.75, 1.75), 0.9)), tone=0.5)
    assembly.add("fin", fin((0.0, -15.2, 4.9), (0.0, -18.4, 11.6), (5.6, 2.3), 0.1))
    _pair(assembly, "tailplane", wing((0.3, -16.2, 5.0), (6.4, -18.3, 5.7), (3.6, 1.4), 0.1))
    _gear(assembly, (0.0, 13.0, 1.0), 0.75, 0.35)
    _gear(assembly, (2.7, -1.6, 1.2), 0.95, 0.45)


def jet(assembly: Assembly) -> None:
    """A business jet: a short tube with engines on its tail, a T-tail and a few round windows."""
    hull: list[Station] = [
        (-7.2, 0.1, 0.16, 0.55),
        (-6.4, 0.34, 0.42, 0.5),
        (-4.6, 0.78, 0.82, 0.24),
        (-2.6, 1.06, 1.06, 0.04),
        (-1.0, 1.12, 1.12, 0.0),
        (3.8, 1.12, 1.12, 0.0),
        (4.5, 1.08, 1.1, -0.01),
        (5.1, 0.98, 0.98, -0.08),
        (5.8, 0.83, 0.74, -0.26),
        (6.9, 0.56, 0.48, -0.44),
        (7.8, 0.24, 0.22, -0.55),
        (8.1, 0.06, 0.06, -0.58),
    ]
    cells, lids = glazed_fuselage(hull, 20, lambda i, j: GLASS if i == 7 and (1 <= j <= 4 or 15 <= j <= 18) else BODY)
    lift = 2.05
    assembly.add_named({k: p.moved(z=lift) for k, p in cells.items()})
    assembly.add(BODY, lids.moved(z=lift))
    assembly.add(GLASS, panes(hull, [-1.0, 0.15, 1.3, 2.45], 0.36, (0.62, 0.62), 0.04, round_=True).moved(z=lift))
    assembly.add("door_left_s", _door(hull, 3.75, -1, 0.95, 1.0).moved(z=lift))
    right = wing((0.6, 0.4, 1.35), (9.6, -2.2, 2.0), (3.6, 1.2), 0.13, bend=0.2)
    _pair(assembly, "wing", right)
    _pair(assembly, "wing", fin((9.5, -2.3, 2.15), (9.75, -2.75, 3.3), (1.15, 0.55), 0.09))
    engine = nacelle((1.72, -3.6, 2.75), 0.64, 2.9)
    stub = box((0.7, -4.4, 2.6), (1.4, -2.9, 2.85), 0.05)
    _pair(assembly, "engine", joined((engine, stub)))
    assembly.add("propeller", both_sides(fan((1.72, -2.87, 2.75), 0.46)), tone=0.5)
    assembly.add("fin", fin((0.0, -5.4, 2.6), (0.0, -7.5, 5.5), (3.2, 1.9), 0.1))
    _pair(assembly, "tailplane", wing((0.0, -7.5, 5.5), (3.7, -8.2, 5.6), (1.9, 0.9), 0.1))
    _gear(assembly, (0.0, 5.6, 0.9), 0.42, 0.26)
    _gear(assembly, (1.6, -0.6, 0.9), 0.5, 0.3)


def fighter(assembly: Assembly) -> None:
    """A pointed nose, a bubble canopy, swept cropped wings and two tail fins over two jet pipes."""
    hull: list[Station] = [
        (-7.6, 1.45, 0.46, 0.0),
        (-5.0, 1.7, 0.62, 0.0),
        (-1.0, 1.66, 0.74, 0.0),
        (1.8, 1.5, 0.76, 0.02),
        (3.2, 0.95, 0.74, 0.04),
        (5.6, 0.66, 0.66, 0.0),
        (7.6, 0.45, 0.44, -0.08),
        (9.0, 0.16, 0.16, -0.16),
        (9.7, 0.03, 0.03, -0.18),
    ]
    lift = 1.05
    assembly.add(BODY, fuselage(hull, 32).moved(z=lift))
    assembly.add(GLASS, ellipsoid((0.46, 1.9, 0.62), 24, 12).moved(y=4.1, z=lift + 0.62))
    assembly.add(BODY, both_sides(_intake()))
    right = skin(
        [_blade(1.3, -6.4, 3.0, lift, 0.34), _blade(4.0, -6.2, -0.9, lift, 0.2), _blade(7.8, -5.9, -4.2, lift, 0.1)],
        ends=True,
    )
    strake = skin([_blade(0.5, 1.5, 6.2, lift + 0.05, 0.16), _blade(1.7, 1.5, 2.7, lift, 0.12)], ends=True)
    _pair(assembly, "wing", joined((right, strake)))
    _pair(assembly, "wing", tube([(7.86, -6.7, lift), (7.86, -3.2, lift)], [0.13, 0.1], 6))
    tail = skin([_blade(1.4, -9.6, -6.0, lift, 0.2), _blade(4.3, -9.9, -8.0, lift, 0.08)], ends=True)
    _pair(assembly, "tailplane", tail)
    slanted = fin((1.25, -6.4, lift + 0.2), (2.15, -8.0, lift + 3.1), (3.4, 1.4), 0.06)
    assembly.add("fin", both_sides(slanted))
    pipe = turned_profile(
        [(0.0, -1.0), (0.5, -1.1), (0.62, -1.5), (0.72, -1.5), (0.82, 0.0), (0.6, 0.6), (0.0, 0.6)], "y", 24
    )
    _pair(assembly, "engine", pipe.moved(0.78, -7.7, lift))


def biplane(assembly: Assembly) -> None:
    """Two wings one above the other with struts between, an open cockpit, a propeller, two fixed wheels."""
    hull: list[Station] = [
        (-3.6, 0.05, 0.1, 0.32),
        (-2.6, 0.18, 0.24, 0.24),
        (-0.6, 0.4, 0.46, 0.06),
        (0.8, 0.5, 0.54, 0.0),
        (2.0, 0.52, 0.54, 0.0),
        (2.9, 0.5, 0.5, -0.02),
        (3.0, 0.3, 0.3, -0.02),
    ]
    lift = 1.35
    assembly.add(BODY, fuselage(hull, 18).moved(z=lift))
    cowl = turned_profile([(0.0, 0.0), (0.56, 0.0), (0.6, 0.25), (0.56, 0.62), (0.36, 0.7), (0.0, 0.66)], "y", 18)
    assembly.add(BODY, cowl.moved(0.0, 2.55, lift - 0.02))
    assembly.add(GLASS, ellipsoid((0.3, 0.42, 0.16), 14, 6).moved(y=-0.1, z=lift + 0.46))
    assembly.add(GLASS, box((-0.26, 0.42, lift + 0.5), (0.26, 0.47, lift + 0.78)))
    upper = wing((0.0, 1.55, lift + 1.6), (4.55, 1.45, lift + 1.8), (1.25, 1.1), 0.11)
    lower = wing((0.3, 0.95, lift - 0.36), (4.1, 0.9, lift - 0.12), (1.15, 1.0), 0.11)
    struts = [
        tube([(x, y, lift - 0.25), (x + 0.1, y + 0.5, lift + 1.73)], 0.06, 6) for x, y in ((2.7, 1.2), (2.75, 0.65))
    ]
    _pair(assembly, "wing", joined((upper, lower, *struts)))
    cabane = [tube([(0.35, y, lift + 0.4), (0.5, y + 0.2, lift + 1.6)], 0.055, 6) for y in (0.75, 1.6)]
    assembly.add(BODY, both_sides(joined(cabane)))
    assembly.add("propeller", propeller((0.0, 3.35, lift - 0.02), 1.2, 2, 0.17), tone=0.6)
    assembly.add("fin", fin((0.0, -3.15, lift + 0.4), (0.0, -3.5, lift + 1.5), (1.2, 0.85), 0.09))
    _pair(assembly, "tailplane", wing((0.05, -3.1, lift + 0.38), (1.7, -3.25, lift + 0.42), (1.05, 0.8), 0.09))
    tyre, plate = wheel((0.95, 1.9, 0.42), 0.42, 0.2, segments=20)
    assembly.add("wheel_front", both_sides(tyre), tone=TYRE)
    assembly.add("wheel_front", both_sides(plate))
    legs = [leg((0.35, y, lift - 0.4), (0.92, 1.9, 0.42), 0.055) for y in (2.35, 1.5)]
    axle = tube([(-0.95, 1.9, 0.42), (0.95, 1.9, 0.42)], 0.05, 6)
    assembly.add(BODY, both_sides(joined(legs)), axle)
    assembly.add(BODY, leg((0.0, -3.2, lift + 0.2), (0.0, -3.45, lift - 0.35), 0.06))


def _pair(assembly: Assembly, part: str, right: Piece) -> None:
    """The same on both sides, each side a part of its own."""
    assembly.add(f"{part}_right", right)
    assembly.add(f"{part}_left", right.mirrored())


def _gear(assembly: Assembly, top: Point, radius: float, width: float) -> None:
    """A leg with a wheel on either side of its foot, below `top`: in the middle, or on both sides behind."""
    x, y, z = top
    names = ("wheel_front",) if x == 0 else ("wheel_back_right", "wheel_back_left")
    for name, side in zip(names, (1, -1), strict=False):
        for offset in (-0.7, 0.7):
            tyre, plate = wheel((side * x + offset * width, y, radius), radius, width * 0.9)
            assembly.add(name, tyre, tone=TYRE)
            assembly.add(name, plate)
        assembly.add(name, leg((side * x, y, z + radius), (side * x, y, radius), 0.28 * radius))


def _door(hull: list[Station], y: float, side: int, long: float = 0.95, high: float = 1.75) -> Piece:
    """A door in one flank, standing a little out of the hull."""
    outer = panes(hull, [y], 0.25 * high, (long, high), 0.06)
    half = len(outer.triangles) // 2
    rows = outer.triangles[:half] if side > 0 else outer.triangles[half:]
    return Piece(outer.vertices, rows)


def _blade(x: float, back: float, front: float, z: float, thick: float) -> list[Point]:
    """A thin six-cornered section of a fighter's wing at x, counter-clockwise seen from its tip."""
    near, far = front - 0.16 * (front - back), back + 0.25 * (front - back)
    return [
        (x, front, z),
        (x, near, z + thick / 2),
        (x, far, z + thick / 2),
        (x, back, z),
        (x, far, z - thick / 2),
        (x, near, z - thick / 2),
    ]


def _intake() -> Piece:
    """The box-shaped mouth beside the cockpit."""
    rings = []
    for y, low, high, inner, outer in (
        (-1.0, 0.55, 1.55, 0.9, 1.6),
        (2.2, 0.5, 1.6, 0.85, 1.72),
        (3.6, 0.52, 1.56, 0.9, 1.68),
        (3.3, 0.62, 1.46, 1.0, 1.58),
        (2.4, 0.75, 1.3, 1.15, 1.4),
    ):
        rings.append([(inner, y, low), (inner, y, high), (outer, y, high), (outer, y, low)])
    return skin([list(r) for r in rings], ends=True)


MODELS = {"jet": jet, "fighter": fighter, "biplane": biplane, "airliner": airliner}
