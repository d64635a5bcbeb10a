"""Concept distributions: how often vehicles are of each shape, colour and material, and which go together.

A scene's concepts are drawn through the inverse of the cumulative distribution, always in the order below, so
that two distributions given the same random numbers differ as little as they can.

The named distributions are bal, slt and long, and head, tail and oppo for testing only; a user's own is read
from an .npz or .csv file.

Super-CLEVR (Li et al., 2023): *bal* is even; in *slt* and *long* a concept of rank r has a share proportional
to a^-r, a = 1.3 and 2. *head* and *tail* are even over the commonest and the rarest concepts of *long*, and
*oppo* is *long* the other way round.

The official files decide where the paper's sentences leave room (docs/decisions/012). The rank of a shape is its
category's plus its own within the category; *oppo* reverses the list of shapes, not their ranks.
"""

import csv
import io
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from io import BytesIO
from itertools import accumulate
from math import isfinite
from pathlib import Path
from typing import Any, Self

from ...errors import UserError, unknown
from ...files import read_bytes, read_whole
from ...schemas.superclevr import CATEGORIES, SCHEMA

# From the commonest to the rarest of the long-tailed distribution, as the official files list them.
SHAPES = (
    *("jet", "fighter", "suv", "articulated", "biplane", "wagon", "airliner", "minivan", "regular"),
    *("chopper", "double", "sedan", "dirtbike", "road", "school", "truck", "scooter", "utility"),
    *("mountain", "cruiser", "tandem"),
)
COLORS = SCHEMA.attribute("color").values  # gray first, yellow last
MATERIALS = SCHEMA.attribute("material").values  # rubber, metal
ATTRIBUTE_VALUES = {"shape": SHAPES, "color": COLORS, "material": MATERIALS}

Shares = tuple[float, ...]


@dataclass(frozen=True, slots=True)
class ConceptDistribution:
    """Shares in the order of SHAPES, COLORS and MATERIALS; `together` gives each shape its own colours."""

    shape: Shares = (1 / len(SHAPES),) * len(SHAPES)
    color: Shares = (1 / len(COLORS),) * len(COLORS)
    material: Shares = (1 / len(MATERIALS),) * len(MATERIALS)
    together: tuple[Shares, ...] | None = None  # [shape, color]

    def choose_concepts(self, shape: float, color: float, material: float) -> tuple[str, str, str]:
        """The concepts three numbers from 0 to 1 stand for."""
        k = inverse_cdf(self.shape, shape)
        colors = self.color if self.together is None else self.together[k]
        return SHAPES[k], COLORS[inverse_cdf(colors, color)], self.choose_material(material)

    def choose_shapes(self, numbers: Iterable[float]) -> list[str]:
        bounds = _find_bounds(self.shape)
        return [SHAPES[bisect_right(bounds, number)] for number in numbers]

    def choose_material(self, number: float) -> str:
        return MATERIALS[inverse_cdf(self.material, number)]

    def choose_part_color(self, of: str, first: float, second: float) -> str:
        """A part's colour: as often as colours are, but never that of its vehicle.

        The second number is used only where the first hits the vehicle's colour, so that a vehicle of another
        colour keeps the colours of its parts wherever it can. Where there is no other colour, all are even.
        """
        found = COLORS[inverse_cdf(self.color, first)]
        if found != of:
            return found
        return COLORS[inverse_cdf(_leave_out(self.color, of), second)]

    def to_json(self) -> dict[str, Any]:
        together = [dict(zip(COLORS, row, strict=True)) for row in self.together or ()]
        return self._name_shares() | ({"together": dict(zip(SHAPES, together, strict=True))} if together else {})

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        found = {name: tuple(data[name][value] for value in values) for name, values in ATTRIBUTE_VALUES.items()}
        rows = data.get("together")
        together = rows and tuple(tuple(rows[s][c] for c in COLORS) for s in SHAPES)
        return cls(**found, together=together)

    def _name_shares(self) -> dict[str, dict[str, float]]:
        return {name: dict(zip(values, getattr(self, name), strict=True)) for name, values in ATTRIBUTE_VALUES.items()}

    def frequencies(self) -> dict[str, dict[str, float]]:
        """The share of each value; a colour over all shapes where shapes have their own."""
        found = self._name_shares()
        if self.together is not None:
            found["color"] = {
                color: sum(share * row[k] for share, row in zip(self.shape, self.together, strict=True))
                for k, color in enumerate(COLORS)
            }
        return found


BALANCED = ConceptDistribution()


def inverse_cdf(shares: Shares, at: float) -> int:
    """Where a number from 0 to 1 falls when the shares are laid side by side; never on a share of 0."""
    return bisect_right(_find_bounds(shares), at)


@lru_cache(maxsize=1 << 10)
def _find_bounds(shares: Shares) -> Shares:
    """Where each share ends, but the last that is not 0: what lies beyond, for sums of shares are rounded, is its."""
    last = max((k for k, share in enumerate(shares) if share > 0.0), default=0)
    return tuple(accumulate(shares[:last]))


@lru_cache(maxsize=1 << 10)
def _leave_out(shares: Shares, color: str) -> Shares:
    """The shares of the other colours; where there is no other, all are even."""
    rest = [0.0 if name == color else share for name, share in zip(COLORS, shares, strict=True)]
    if not (total := sum(rest)):
        rest = [0.0 if name == color else 1.0 for name in COLORS]
        total = sum(rest)
    return tuple(share / total for share in rest)


def category_of(shape: str) -> tuple[str, int]:
    """The category of a shape, and its place there."""
    return next((category, models.index(shape)) for category, models in CATEGORIES if shape in models)


# The named distributions.

DISTRIBUTIONS = ("bal", "slt", "long", "head", "tail", "oppo")
CATEGORY_RANKS = {
    "slt": ("car", "aeroplane", "bus", "motorbike", "bicycle"),
    "long": ("aeroplane", "car", "bus", "motorbike", "bicycle"),
}
BASES = {"slt": 1.3, "long": 2.0}
HEAD = (11, 4, 1)  # shapes, colours and materials; as many in the tail
REVERSED = {"oppo": "long", "tail": "head"}  # each is the other the other way round


@cache
def distribution(variant: str) -> ConceptDistribution:
    """How often each concept occurs in a variant."""
    if variant == "bal":
        return BALANCED
    if variant in BASES:
        base, categories = BASES[variant], CATEGORY_RANKS[variant]
        ranks = [categories.index(category) + k for category, k in map(category_of, SHAPES)]
        colors, materials = power_shares(base, range(len(COLORS))), power_shares(base, range(len(MATERIALS)))
        return ConceptDistribution(power_shares(base, ranks), colors, materials)
    if variant == "head":
        shape, color, material = (
            (1.0 / few,) * few + (0.0,) * (len(values) - few)
            for few, values in zip(HEAD, ATTRIBUTE_VALUES.values(), strict=True)
        )
        return ConceptDistribution(shape, color, material)
    if variant in REVERSED:
        other = distribution(REVERSED[variant])
        return ConceptDistribution(other.shape[::-1], other.color[::-1], other.material[::-1])
    raise unknown("concept distribution", variant, DISTRIBUTIONS)


def power_shares(base: float, ranks: Iterable[int]) -> tuple[float, ...]:
    """Shares proportional to base^-rank, by division alone: every machine finds the same."""
    found = []
    for rank in ranks:
        share = 1.0
        for _ in range(rank):
            share /= base
        found.append(share)
    total = sum(found)
    return tuple(share / total for share in found)


# Concept files: a user's own distribution of shapes, colours and materials, or of colours for each shape.

TOLERANCE = 1e-6  # by which shares may miss a sum of 1
ATTRIBUTE_OF = {value: name for name, values in ATTRIBUTE_VALUES.items() for value in values}
HEADINGS = ("share", "shares", "dist", "probability", "frequency", "weight", "value")  # of the second column
LARGEST = 64 << 20  # bytes of an .npz, unpacked
EXTRA = "addi"  # a shape that some official tools name and no scene has: it may have a share of 0


def read_concept_file(path: Path, base: ConceptDistribution = BALANCED) -> ConceptDistribution:
    """A user's own distribution or matrix: an .npz as the official ones are, or a .csv.

    An .npz holds `names` and `dist`: one share a name, or a matrix [shape, color] with the shapes' names and
    then the colours'. A .csv has lines `red,0.5`, perhaps under a heading `name,share`, or a first line of
    colours and then a line a shape. What a file does not speak of is as in `base`.
    """
    if path.is_dir():
        raise UserError(f"{path}: a folder; a distribution is an .npz or a .csv file")
    if not path.exists():
        raise UserError(f"{path}: no such file")
    read = {".npz": _read_npz, ".csv": _read_csv}.get(path.suffix)
    if read is None:
        raise UserError(f"{path}: a distribution is an .npz or a .csv file")
    table = read(path)
    if isinstance(table, dict):
        return _replace_shares(path, table, base)
    return replace(base, together=_parse_matrix(path, *table))


ConceptTable = dict[str, float] | tuple[list[str], list[str], list[list[float]]]  # rows, columns, shares


def _read_npz(path: Path) -> ConceptTable:
    import zipfile
    import zlib

    import numpy as np

    try:
        with BytesIO(read_whole(path)) as opened:
            file = np.load(opened, allow_pickle=False)
            if not isinstance(file, np.lib.npyio.NpzFile):
                raise ValueError("a single array")
            if "names" not in file or "dist" not in file:
                raise UserError(f"{path}: needs the arrays names and dist, has {', '.join(sorted(file))}")
            members = file.zip.infolist() if file.zip else []
            if sum(int(member.file_size) for member in members) > LARGEST:
                raise UserError(f"{path}: it unpacks to more than {LARGEST >> 20} MB; a distribution is small")
            given, dist = file["names"].ravel(), file["dist"]
        if dist.dtype.kind not in "iuf" or given.dtype.kind not in "US":
            raise ValueError("no numbers, or no names")
        names = [n.decode("utf-8") if isinstance(n, bytes) else str(n) for n in given.tolist()]
    except (ValueError, OSError, EOFError, RuntimeError, MemoryError, zipfile.BadZipFile, zlib.error):
        raise UserError(f"{path}: not an .npz file of plain numbers and names") from None
    shares = dist.astype(np.float64)
    if not names:
        raise UserError(f"{path}: it names nothing")
    if shares.ndim == 1 and len(shares) == len(names):
        return _collect_unique(path, zip(names, shares.tolist(), strict=True))
    if shares.ndim == 2 and sum(shares.shape) == len(names):
        return names[: len(shares)], names[len(shares) :], shares.tolist()
    raise UserError(f"{path}: {len(names)} names do not go with shares of shape {list(shares.shape)}")


def _read_csv(path: Path) -> ConceptTable:
    try:
        text = read_bytes(path).decode()
        rows = csv.reader(io.StringIO(text, newline=""))
        lines = [[cell.strip() for cell in line] for line in rows if any(line)]
    except (UnicodeDecodeError, csv.Error):
        raise UserError(f"{path}: not a text file of comma-separated cells") from None
    if not lines:
        raise UserError(f"{path}: the file is empty")
    heading, *rest = lines
    for line in lines:
        if len(line) == 1:
            raise UserError(f"{path}: the line {line[0]!r} has one cell; a line is like red,0.5 with a comma")
    if len(heading) > 2 or heading[1] in COLORS:
        for line in rest:
            if len(line) != len(heading):
                raise UserError(f"{path}: the line of {line[0]!r} has {len(line)} cells, not {len(heading)}")
        shares = [[_parse_number(path, c) for c in line[1:]] for line in rest]
        return [line[0] for line in rest], heading[1:], shares
    for line in rest:
        if len(line) != 2:
            raise UserError(f"{path}: the line of {line[0]!r} has {len(line)} cells, not 2")
    if heading[1].lower() in HEADINGS:
        lines = rest
    if not lines:
        raise UserError(f"{path}: there is nothing below the heading")
    return _collect_unique(path, ((name, _parse_number(path, share)) for name, share in lines))


def _parse_number(path: Path, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise UserError(f"{path}: {text!r} is not a number") from None


def _collect_unique(path: Path, pairs: Iterable[tuple[str, float]]) -> dict[str, float]:
    found: dict[str, float] = {}
    for name, share in pairs:
        if name in found:
            raise UserError(f"{path}: {name!r} stands there twice")
        found[name] = share
    return found


def _replace_shares(path: Path, table: dict[str, float], base: ConceptDistribution) -> ConceptDistribution:
    """The attributes whose values the table names are replaced, each as a whole."""
    found: dict[str, dict[str, float]] = {}
    for name, share in table.items():
        if name == EXTRA and share == 0:
            continue
        if name == EXTRA:
            raise UserError(f"{path}: {EXTRA} has a share of {share:g}, but no vehicle is one; it can have 0")
        if name not in ATTRIBUTE_OF:
            raise unknown("shape, color or material", name, ATTRIBUTE_OF, str(path))
        found.setdefault(ATTRIBUTE_OF[name], {})[name] = share
    shares = {a: _check_shares(path, a, [row.get(v, 0.0) for v in ATTRIBUTE_VALUES[a]]) for a, row in found.items()}
    return replace(base, **shares)  # type: ignore[arg-type]


def _parse_matrix(path: Path, rows: list[str], columns: list[str], shares: list[list[float]]) -> tuple[Shares, ...]:
    for what, given, known in (("shape", rows, SHAPES), ("color", columns, COLORS)):
        for name in given:
            if name not in known:
                raise unknown(what, name, known, str(path))
        if len(set(given)) < len(given) or len(given) < len(known):
            missing = sorted(set(known) - set(given))
            why = f"{missing[0]!r} is missing" if missing else "one stands there twice"
            raise UserError(f"{path}: needs every {what} once; {why}")
    by_name = dict(zip(rows, shares, strict=True))
    return tuple(_check_shares(path, shape, [by_name[shape][columns.index(c)] for c in COLORS]) for shape in SHAPES)


def _check_shares(path: Path, what: str, shares: list[float]) -> Shares:
    for share in shares:
        if not isfinite(share) or share < 0:
            raise UserError(f"{path}: a share of {what} is {share}, which is no share; it must be 0 or more")
    total = sum(shares)
    if abs(total - 1) > TOLERANCE:
        raise UserError(f"{path}: the shares of {what} sum to {total:.6g}, not to 1")
    return tuple(share / total for share in shares)
