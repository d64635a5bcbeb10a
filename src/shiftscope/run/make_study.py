"""A study: every variant of a suite, each made from its base, so that what twins share is made once."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from ..canonical import read_json
from ..errors import UserError
from ..store.build import Progress
from ..store.dataset import Dataset
from ..store.lock import contents, locked
from ..suites import superclevr
from ..suites._superclevr_variants import DEFAULT, VARIANTS
from ..suites.superclevr import Order
from ..whole import read_whole, write_whole
from .make import make

NAME = "study.json"
FORMAT = 1


@dataclass(frozen=True, slots=True)
class Member:
    """One dataset of a study: DIR/NAME, a twin of DIR/BASE."""

    name: str
    base: str | None  # None for the default
    factor: str
    test_only: bool

    def to_json(self) -> dict[str, Any]:
        found = {"folder": self.name, "base": self.base, "factor": self.factor, "test_only": self.test_only}
        return {"variant": self.name} | {k: v for k, v in found.items() if v}


def plan(order: Order, visual: str = "mid") -> list[tuple[Member, Order]]:
    """Every variant with what it is made from, bases before their twins.

    `visual` is the level at which the variants of the other factors, and so their base, are seen.
    """
    found = []
    for name, variant in VARIANTS.items():
        level = variant.visual if variant.factor in ("", "visual") else visual
        own = replace(order, variant=name, visual=level)
        base = None if name == DEFAULT else own.base().variant
        found.append((Member(name, base, variant.factor, variant.test_only), own))
    return found


Bar = Callable[[str], AbstractContextManager[Progress | None]]


def make_study(
    order: Order,
    out: Path,
    *,
    visual: str = "mid",
    workers: int | None = None,
    repair: bool = False,
    bar: Bar = lambda name: nullcontext(),
) -> Iterator[tuple[Member, Dataset]]:
    """All variants under a folder, one after the other; goes on where an earlier run stopped.

    At the end `study.json` names the twins. `bar` gives what is to be told of a variant's progress.
    """
    members = plan(order, visual)
    _refuse_other(out)
    with locked(out):
        yield from _made(members, out, workers, repair, bar)
        listed = [m.to_json() for m, _ in members]
        data = {"format": FORMAT, "suite": "superclevr", "order": members[0][1].spec(), "variants": listed}
        write_whole(out / NAME, (json.dumps(data, indent=1) + "\n").encode())


def _made(
    members: list[tuple[Member, Order]], out: Path, workers: int | None, repair: bool, bar: Bar
) -> Iterator[tuple[Member, Dataset]]:
    for member, own in members:
        shards = partial(superclevr.make_twin_shard, out / member.base) if member.base else None
        with bar(member.name) as progress:
            folder = out / member.name
            made = make(
                *("superclevr", own, folder),
                workers=workers,
                repair=repair,
                progress=progress,
                make_shard=shards,
            )
        yield member, made


def _refuse_other(out: Path) -> None:
    """A new or empty folder, or one that a study began."""
    if out.exists() and not out.is_dir():
        raise UserError(f"{out} is a file; choose another folder for the study")
    other = {*(contents(out) if out.is_dir() else [])} - {*VARIANTS, NAME}
    if other:
        raise UserError(f"{out} holds something else than a study ({min(other)}); choose another folder")


def read_study(folder: Path) -> list[Member]:
    """The datasets of a finished study."""
    path = folder / NAME
    if not path.is_file():
        raise UserError(f"{folder}: no finished study there (no {NAME}); make it with --study")
    try:
        data = read_json(read_whole(path))
        if data["format"] != FORMAT:
            raise UserError(f"{path}: format {data['format']} is not the {FORMAT} this version reads")
        found = [
            Member(v["variant"], v.get("base"), v.get("factor", ""), v.get("test_only", False))
            for v in data["variants"]
        ]
        known = {m.name for m in found}
        if not all(m.name in VARIANTS and (m.base is None or m.base in known) for m in found):
            raise KeyError(NAME)
        return found
    except (ValueError, KeyError, TypeError, AttributeError):
        raise UserError(f"{path}: not a study; make it again with --study") from None
