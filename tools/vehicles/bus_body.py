"""What all buses have: a box of a hull, panes and doors on its flat sides, wheels, lamps, mirrors, plates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .assembly import BODY, GLASS, Assembly
from .forms import box, tube
from .hull import LEFT, Section
from .piece import Piece
from .trim import lamps_into, wrapped
from .wheels import add_wheel

WAIST, CANT, EDGE = range(4, 7)  # of half a section, after SILL; then the roof's three
PROUD = 0.012  # how far each layer stands from the one under it: hull, gap, door, pane
WELL_DEPTH = 0.42

Span = tuple[float, float]
BACK_WHEELS = "wheel_back_left", "wheel_back_right"
FRONT_WHEELS = "wheel_front_left", "wheel_front_right"


@dataclass(frozen=True, slots=True)
class Shell:
    """The measures of a bus's section: half its width, and heights."""

    width: float
    sill: float
    waist: float  # above the wheel arches
    edge: float  # where the roof begins to bend in
    top: float

    def section(self, y: float, inset: float = 0.0, drop: float = 0.0, bow: float = 0.0) -> Section:
        """Its section at y; `inset` and `drop` make it narrower and lower, for the rounded ends."""
        x, edge, top = self.width - inset, self.edge - drop, self.top - drop
        inner = self.width - WELL_DEPTH
        half = (
            (0.0, self.sill),
            (inner, self.sill),
            (inner, self.sill),
            (x, self.sill),
            (x, self.waist),
            (x, edge - 0.08),  # keeps the shading of the bend out of the flat side
            (x, edge),
            (0.93 * x, edge + 0.50 * (top - edge)),
            (0.76 * x, edge + 0.83 * (top - edge)),
            (0.0, top),
        )
        return Section(y, half, bow)

    def pane(self, side: str, span: Span, low: float, high: float, layer: int = 1) -> Piece:
        """A slab on the side, of which `layer` says how far it stands out."""
        inside = self.width - 0.03
        piece = box((inside, span[0], low), (self.width + layer * PROUD, span[1], high))
        seen = (piece.vertices[piece.triangles, 0] > inside).any(axis=1)
        piece = Piece(piece.vertices, piece.triangles[seen])
        return piece.mirrored() if side == LEFT else piece


def roof_or_body(y: float, column: int, side: str) -> str:
    """Whose a cell of a bus's hull is."""
    return "roof" if column >= EDGE else BODY


def bays(start: float, end: float, count: int, pillar: float = 0.12) -> list[Span]:
    """`count` windows between two places, with pillars between them."""
    pitch = (end - start + pillar) / count
    return [(start + k * pitch, start + (k + 1) * pitch - pillar) for k in range(count)]


def add_windows(assembly: Assembly, shell: Shell, side: str, spans: Sequence[Span], low: float, high: float) -> None:
    assembly.add(GLASS, *(shell.pane(side, span, low, high) for span in spans))


def add_door(assembly: Assembly, shell: Shell, part: str, span: Span, low: float, high: float, leaves: int = 2) -> None:
    """A door: a dark gap all round, one or two leaves, a tall pane in each. Its side is in its name."""
    side = part.rsplit("_", 1)[1]
    start, end = span
    gap, frame = 0.06, 0.11
    assembly.add(BODY, shell.pane(side, span, low - gap, high + gap, 1), tone=0.22)
    pane_low = low + 0.26 * (high - low)
    for a, b in bays(start + gap, end - gap, leaves, pillar=0.04):
        assembly.add(part, shell.pane(side, (a, b), low, high, 2))
        assembly.add(GLASS, shell.pane(side, (a + frame, b - frame), pane_low, high - frame, 3))


def add_axle(assembly: Assembly, parts: tuple[str, str], y: float, half_track: float, radius: float) -> None:
    """The left and the right wheel of an axle, named in that order."""
    for part, x in zip(parts, (-half_track, half_track), strict=True):
        add_wheel(assembly, part, (x, y), radius, 0.34, rim=0.62, spokes=0)


def add_lamps(assembly: Assembly, which: str, plan: Sequence[tuple[float, float]], low: float, high: float) -> None:
    """Both lamps of an end ("head" or "tail") round its corners."""
    lamps_into(assembly, (f"{which}_light_left", f"{which}_light_right"), plan, (low, high), which == "head")


def add_mirrors(assembly: Assembly, shell: Shell, y: float, z: float, out: float) -> None:
    """Tall mirrors hung before the front's corners at y, their tops at z, `out` from the middle at most."""
    housing = box((out - 0.20, y + 0.10, z - 0.50), (out, y + 0.26, z - 0.02), 0.03)
    arm = tube(
        [(shell.width - 0.12, y - 0.15, z), (out - 0.1, y + 0.18, z + 0.02), (out - 0.1, y + 0.18, z - 0.1)], 0.035, 5
    )
    assembly.add("mirror_right", housing, arm)
    assembly.add("mirror_left", housing.mirrored(), arm.mirrored())


def add_plate(assembly: Assembly, part: str, y: float, z: float) -> None:
    """A licence plate whose outer face is at y: a light plate in a dark frame."""
    inward = -1 if y > 0 else 1
    for part_, out, wide, high, tone in ((BODY, 0.012, 0.40, 0.145, 0.25), (part, 0.0, 0.35, 0.105, 1.0)):
        near, far = sorted((y + inward * 0.06, y + inward * out))
        assembly.add(part_, box((-wide, near, z - high), (wide, far, z + high)), tone=tone)


def add_face(assembly: Assembly, plan: Sequence[tuple[float, float]], screen: Span, sign: Span) -> None:
    """The windscreen round the front, and the dark sign over it that says where the bus goes."""
    assembly.add(GLASS, wrapped(plan, *screen, PROUD, 0.0))
    assembly.add(BODY, wrapped(plan, *sign, PROUD, 0.0), tone=0.25)
    middle = plan[0][1]
    low, high = sign[0] + 0.25 * (sign[1] - sign[0]), sign[1] - 0.25 * (sign[1] - sign[0])
    assembly.add(BODY, box((-0.55, middle - 0.1, low), (0.55, middle + 2 * PROUD, high)))


def add_tail(
    assembly: Assembly, y: float, half: float, lid: tuple[float, float], window: tuple[float, float] | None
) -> None:
    """The flat back: an engine lid with slats, and a window above it."""
    assembly.add(BODY, box((-half - 0.04, y - 0.012, lid[0] - 0.04), (half + 0.04, y + 0.1, lid[1] + 0.04)), tone=0.25)
    assembly.add("trunk", box((-half, y - 0.035, lid[0]), (half, y + 0.1, lid[1])))
    pitch = (lid[1] - lid[0]) / 4
    slats = [lid[0] + pitch * (k + 0.75) for k in range(3)]
    assembly.add(
        "trunk", *(box((-0.7 * half, y - 0.047, z), (0.7 * half, y, z + 0.3 * pitch)) for z in slats), tone=0.35
    )
    if window:
        assembly.add(GLASS, box((-half, y - 0.02, window[0]), (half, y + 0.1, window[1])))
