"""The wheels of two-wheelers: a tyre, a rim, spokes from the rim to a hub, knobs where the ground is soft."""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, pi, sin

from .assembly import Assembly
from .forms import box, disc, tube, turned_profile
from .piece import Piece

THICK = 0.01  # a spoke of this radius shows its sides
RUBBER = 0.45  # tone of a tyre: dark, yet still of the wheel's colour


@dataclass(frozen=True, slots=True)
class Wheel:
    """Measures in metres. Spokes are thicker and fewer than in life, so that they are seen from afar."""

    radius: float  # to the ground
    half: float  # of the tyre's width
    tyre: float  # height of the tyre's section
    rim: float  # depth of the rim
    hub: float  # radius of the hub
    spokes: int = 10
    spoke: float = 0.006  # radius of a spoke at the rim
    root: float = 1.0  # how much thicker it is at the hub
    flange: float = 0.03  # how far from the middle a spoke begins, in turns left and right
    knobs: int = 0  # blocks of the tread
    knob: float = 0.012  # how far they stand out
    segments: int = 22

    def put(self, assembly: Assembly, part: str, y: float) -> None:
        """Stand it on the ground."""
        place = {"y": y, "z": self.radius}
        assembly.add(part, self._tyre().moved(**place), tone=RUBBER)
        for piece in (self._rim(), *self._spokes()):
            assembly.add(part, piece.moved(**place))
        hub = disc(self.hub, 2 * self.flange + 0.02, segments=8, dish=0.01)
        assembly.add(part, hub.moved(**place))
        for knob in self._knobs():
            assembly.add(part, knob.moved(**place), tone=RUBBER)

    @property
    def tread(self) -> float:
        return self.knob if self.knobs else 0.0

    def _tyre(self) -> Piece:
        r, h, w = self.radius - self.tread, self.tyre, self.half
        lower = [(r - h, -0.7 * w), (r - 0.5 * h, -w), (r, -0.45 * w)]
        return turned_profile([*lower, *((a, -b) for a, b in reversed(lower))], "x", self.segments)

    def _rim(self) -> Piece:
        seat = self.radius - self.tread - self.tyre  # where the tyre ends
        w = 0.7 * self.half
        profile = [(seat, w), (seat - self.rim, 0.7 * w), (seat - self.rim, -0.7 * w), (seat, -w)]
        return turned_profile(profile, "x", self.segments)

    def _spokes(self) -> list[Piece]:
        outer = self.radius - self.tread - self.tyre - 0.7 * self.rim
        sides = 4 if self.spoke >= THICK else 3
        spokes = []
        for k in range(self.spokes):
            a, side = 2 * pi * (k + 0.5) / self.spokes, self.flange * (-1) ** k
            start = (side, 0.8 * self.hub * cos(a), 0.8 * self.hub * sin(a))
            stop = (0.0, outer * cos(a), outer * sin(a))
            spokes.append(tube([start, stop], (self.root * self.spoke, self.spoke), sides))
        return spokes

    def _knobs(self) -> list[Piece]:
        w, r = self.half, self.radius
        size = 0.5 * pi * r / self.knobs if self.knobs else 0.0
        knobs = []
        for k in range(self.knobs):
            near, far = (-0.9 * w, 0.15 * w) if k % 2 else (-0.15 * w, 0.9 * w)
            block = box((near, -size, r - 0.02 - self.knob), (far, size, r))
            knobs.append(block.turned("x", 360 * k / self.knobs))
        return knobs
