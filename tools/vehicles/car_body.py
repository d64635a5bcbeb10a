"""What all cars have: a hull of named panels, wheels, bumpers, lights, mirrors, plates, door handles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .assembly import BODY, GLASS, Assembly
from .forms import box
from .hull import GAP, TRIM, Arch, Section
from .trim import lamps_into
from .wheels import add_wheel

SEAM, PANEL, WAIST, BELT, CANT, EDGE, RIM, TOP = range(4, 12)  # of half a section, after SILL
CREVICE = 0.035  # width of the gap around a door
WELL_DEPTH = 0.30

Span = tuple[float, float]
XZ = tuple[float, float]


def section(
    y: float,
    width: float,
    sill: float,
    waist: float,
    belt: XZ,
    cant: XZ,
    edge: XZ,
    top: float,
    bow: float = 0.0,
    tuck: float = 0.05,
) -> Section:
    """Half a car's section. `width` is half the widest; `belt` is below the side windows, `cant` above them,
    `edge` the rim of the roof; where there is no cabin these lie across the hood, the deck or the bed.
    """
    inner = min(width - WELL_DEPTH, 0.9 * width)
    half = (
        (0.0, sill),
        (inner, sill),
        (inner, sill),
        (width - tuck, sill),
        (width - 0.5 * tuck, sill + 0.08),
        (width - 0.4 * tuck, sill + 0.08 + CREVICE),
        (width, waist),
        belt,
        cant,
        edge,
        (0.94 * edge[0], edge[1] + 0.06 * (top - edge[1])),
        (0.0, top),
    )
    return Section(y, half, bow)


@dataclass(frozen=True, slots=True)
class Panels:
    """What the cells of a car's hull belong to: spans of y, from the tail's side to the nose's."""

    hood: Span
    windscreen: Span
    roof: Span
    back_window: Span
    trunk: Span  # what lies on top of the tail; the flat of the tail is named apart
    doors: tuple[tuple[str, Span], ...]
    side_windows: tuple[Span, ...]
    arches: tuple[Arch, ...]
    trimmed: bool = False  # dark trim along the sills and around the arches
    bed: Span | None = None

    def cuts(self) -> tuple[float, ...]:
        """Stations at which something begins or ends."""
        seams = {y + d for _, door in self.doors for y in door for d in (-CREVICE / 2, CREVICE / 2)}
        rest = (self.hood, self.windscreen, self.roof, self.back_window, self.trunk, *self.side_windows)
        return tuple(sorted(seams | {y for span in rest for y in span}))

    def name(self, y: float, column: int, side: str) -> str:
        """Whose is the cell above point `column` of the half section, at y."""
        if column >= CANT:
            return self._above(y, column)
        if column == BELT:
            return GLASS if any(_within(y, s) for s in self.side_windows) else BODY
        for door, span in self.doors:
            if column < SEAM:
                break
            if any(abs(y - end) < CREVICE / 2 for end in span):
                return GAP
            if _within(y, span):
                return GAP if column == SEAM else f"{door}_{side}_door"
        arched = any(a.top(y) for a in self.arches)
        return TRIM if self.trimmed and column < (PANEL if arched else SEAM) else BODY

    def _above(self, y: float, column: int) -> str:
        if self.bed and _within(y, self.bed):
            return TRIM
        if _within(y, self.roof):
            return "roof"
        if column == CANT:
            return BODY
        if _within(y, self.windscreen) or _within(y, self.back_window):
            return GLASS
        if _within(y, self.hood):
            return GAP if column == EDGE else "hood"
        if _within(y, self.trunk):
            return GAP if column == EDGE and not self.bed else "trunk"
        return GAP if self.windscreen[1] < y < self.hood[0] else BODY


def _within(y: float, span: Span) -> bool:
    return span[0] < y < span[1]


def add_wheels(
    assembly: Assembly,
    front: float,
    back: float,
    half_track: float,
    radius: float,
    width: float = 0.22,
    rim: float = 0.66,
    spokes: int = 5,
) -> None:
    """Four wheels whose outer faces stand `half_track` from the middle."""
    for where, y in (("front", front), ("back", back)):
        for side, x in (("left", -half_track), ("right", half_track)):
            add_wheel(assembly, f"{where}_{side}_wheel", (x, y), radius, width, rim, spokes)


def add_mirrors(assembly: Assembly, at: tuple[float, float, float], out: float, high: float = 0.14) -> None:
    """Door mirrors: `at` is where the right one leaves the body, `out` how far from the middle it reaches."""
    x, y, z = at
    housing = box((out - 0.17, y - 0.06, z), (out, y + 0.07, z + high), 0.03)
    arm = box((x - 0.05, y - 0.03, z), (out - 0.1, y + 0.03, z + 0.05))
    for side, pieces in (("right", (housing, arm)), ("left", (housing.mirrored(), arm.mirrored()))):
        assembly.add(f"{side}_mirror", *pieces)


def add_handles(assembly: Assembly, doors: Sequence[tuple[str, float]], x: float, z: float) -> None:
    """Door handles: for each door ("front", "back") the y of its handle's middle."""
    for door, y in doors:
        handle = box((x - 0.04, y - 0.10, z), (x + 0.025, y + 0.10, z + 0.045))
        assembly.add(f"{door}_right_door", handle, tone=0.45)
        assembly.add(f"{door}_left_door", handle.mirrored(), tone=0.45)


def add_plate(assembly: Assembly, part: str, y: float, z: float) -> None:
    """A licence plate whose outer face is at y: a light plate in a dark frame."""
    back = y - 0.05 if y > 0 else y + 0.05
    rim = y - 0.012 if y > 0 else y + 0.012
    assembly.add(BODY, box((-0.27, min(back, rim), z - 0.085), (0.27, max(back, rim), z + 0.085)), tone=0.3)
    assembly.add(part, box((-0.24, min(back, y), z - 0.06), (0.24, max(back, y), z + 0.06)))


def add_lamps(assembly: Assembly, which: str, plan: Sequence[XZ], low: float, high: float) -> None:
    """Both lamps of an end ("head" or "tail") round its corners."""
    lamps_into(assembly, (f"left_{which}_light", f"right_{which}_light"), plan, (low, high), which == "head")
