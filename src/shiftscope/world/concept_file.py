"""Concept files: a user's own distribution of shapes, colours and materials, or of colours for each shape."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from dataclasses import replace
from io import BytesIO
from math import isfinite
from pathlib import Path

from ..errors import UserError, unknown
from ..formats import _json
from ..whole import read_whole
from .concepts import BALANCED, COLORS, NAMES, SHAPES, Concepts, Shares

TOLERANCE = 1e-6  # by which shares may miss a sum of 1
KNOWN = {value: name for name, values in NAMES.items() for value in values}
HEADINGS = ("share", "shares", "dist", "probability", "frequency", "weight", "value")  # of the second column
LARGEST = 64 << 20  # bytes of an .npz, unpacked
EXTRA = "addi"  # a shape that some official tools name and no scene has: it may have a share of 0


def read_concepts(path: Path, base: Concepts = BALANCED) -> Concepts:
    """A user's own distribution or matrix: an .npz as the official ones are, or a .csv.

    An .npz holds `names` and `dist`: one share a name, or a matrix [shape, color] with the shapes' names and
    then the colours'. A .csv has lines `red,0.5`, perhaps under a heading `name,share`, or a first line of
    colours and then a line a shape. What a file does not speak of is as in `base`.
    """
    table = _read(path)
    if isinstance(table, dict):
        return _with_shares(path, table, base)
    return replace(base, together=_matrix(path, *table))


Table = dict[str, float] | tuple[list[str], list[str], list[list[float]]]  # rows, columns, shares


def _read(path: Path) -> Table:
    if path.is_dir():
        raise UserError(f"{path}: a folder; a distribution is an .npz or a .csv file")
    if not path.exists():
        raise UserError(f"{path}: no such file")
    if path.suffix == ".npz":
        return _read_npz(path)
    if path.suffix == ".csv":
        return _read_csv(path)
    raise UserError(f"{path}: a distribution is an .npz or a .csv file")


def _read_npz(path: Path) -> Table:
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
                raise UserError(
                    f"{path}: it unpacks to more than {LARGEST >> 20} MB; a distribution is small"
                )
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
        return _once(path, zip(names, shares.tolist(), strict=True))
    if shares.ndim == 2 and sum(shares.shape) == len(names):
        return names[: len(shares)], names[len(shares) :], shares.tolist()
    raise UserError(f"{path}: {len(names)} names do not go with shares of shape {list(shares.shape)}")


def _read_csv(path: Path) -> Table:
    try:
        text = _json.read_bytes(path).decode()
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
        shares = [[_number(path, c) for c in line[1:]] for line in rest]
        return [line[0] for line in rest], heading[1:], shares
    for line in rest:
        if len(line) != 2:
            raise UserError(f"{path}: the line of {line[0]!r} has {len(line)} cells, not 2")
    if heading[1].lower() in HEADINGS:
        lines = rest
    if not lines:
        raise UserError(f"{path}: there is nothing below the heading")
    return _once(path, ((name, _number(path, share)) for name, share in lines))


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _number(path: Path, text: str) -> float:
    if not _is_number(text):
        raise UserError(f"{path}: {text!r} is not a number")
    return float(text)


def _once(path: Path, pairs: Iterable[tuple[str, float]]) -> dict[str, float]:
    found: dict[str, float] = {}
    for name, share in pairs:
        if name in found:
            raise UserError(f"{path}: {name!r} stands there twice")
        found[name] = share
    return found


def _with_shares(path: Path, table: dict[str, float], base: Concepts) -> Concepts:
    """The attributes whose values the table names are replaced, each as a whole."""
    found: dict[str, dict[str, float]] = {}
    for name, share in table.items():
        if name == EXTRA and share == 0:
            continue
        if name == EXTRA:
            raise UserError(f"{path}: {EXTRA} has a share of {share:g}, but no vehicle is one; it can have 0")
        if name not in KNOWN:
            raise unknown("shape, color or material", name, KNOWN, str(path))
        found.setdefault(KNOWN[name], {})[name] = share
    shares = {a: _checked(path, a, [row.get(v, 0.0) for v in NAMES[a]]) for a, row in found.items()}
    return replace(
        base,
        shape=shares.get("shape", base.shape),
        color=shares.get("color", base.color),
        material=shares.get("material", base.material),
    )


def _matrix(path: Path, rows: list[str], columns: list[str], shares: list[list[float]]) -> tuple[Shares, ...]:
    for what, given, known in (("shape", rows, SHAPES), ("color", columns, COLORS)):
        for name in given:
            if name not in known:
                raise unknown(what, name, known, str(path))
        if len(set(given)) < len(given) or len(given) < len(known):
            missing = sorted(set(known) - set(given))
            why = f"{missing[0]!r} is missing" if missing else "one stands there twice"
            raise UserError(f"{path}: needs every {what} once; {why}")
    by_name = dict(zip(rows, shares, strict=True))
    return tuple(
        _checked(path, shape, [by_name[shape][columns.index(c)] for c in COLORS]) for shape in SHAPES
    )


def _checked(path: Path, what: str, shares: list[float]) -> Shares:
    for share in shares:
        if not isfinite(share) or share < 0:
            raise UserError(f"{path}: a share of {what} is {share}, which is no share; it must be 0 or more")
    total = sum(shares)
    if abs(total - 1) > TOLERANCE:
        raise UserError(f"{path}: the shares of {what} sum to {total:.6g}, not to 1")
    return tuple(share / total for share in shares)
