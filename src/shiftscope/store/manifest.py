"""Manifest: what a dataset is made of: its spec, the versions its bytes depend on, every shard's hash."""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from .. import __version__
from ..canonical import canonical_json, read_json
from ..errors import UserError
from ..whole import read_whole, utf8, write_whole
from .about import UNTITLED, About
from .shard import Shard, count_in

NAME = "manifest.json"
FORMAT = 1
LIBRARIES = ("numba", "numpy", "pillow", "pyarrow")  # images and Parquet files depend on these


@dataclass(frozen=True, slots=True)
class Manifest:
    """The plan of a dataset and the shards that are done, in the plan's order once complete."""

    spec: Mapping[str, Any]
    plan: tuple[tuple[str, int], ...]  # split, number of shards
    made_with: tuple[tuple[str, str], ...]  # shiftscope, libraries and machine, with their versions
    about: About = UNTITLED
    shards: tuple[Shard, ...] = ()

    @property
    def jobs(self) -> tuple[tuple[str, int], ...]:
        """Every shard of the plan: split and index."""
        return tuple((split, k) for split, count in self.plan for k in range(count))

    @property
    def complete(self) -> bool:
        planned = sum(count for _, count in self.plan)
        return len(self.shards) == planned and {(s.split, s.index) for s in self.shards} == set(self.jobs)

    def count(self, split: str) -> tuple[int, int]:
        """How many images and questions a split has."""
        shards = [s for s in self.shards if s.split == split]
        images = sum(s.images.rows for s in shards if s.images)
        return images, sum(s.questions.rows for s in shards if s.questions)

    def to_json(self) -> dict[str, Any]:
        splits = {}
        for split, shards in self.plan:
            images, questions = self.count(split)
            splits[split] = {"shards": shards, "images": images, "questions": questions}
        return {
            "format": FORMAT,
            "complete": self.complete,
            "made_with": dict(self.made_with),
            "about": self.about.to_json(),
            "spec": dict(self.spec),
            "splits": splits,
            "shards": [s.to_json() for s in self.shards],
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Manifest:
        texts = (*data["about"].values(), *data["made_with"].values())
        if not isinstance(data["spec"], dict) or not all(isinstance(text, str) for text in texts):
            raise TypeError("no manifest")
        return cls(
            spec=data["spec"],
            plan=tuple((name, count_in(split, "shards")) for name, split in data["splits"].items()),
            made_with=tuple(data["made_with"].items()),
            about=About(**data["about"]),
            shards=tuple(map(Shard.from_json, data["shards"])),
        )


def versions_here() -> tuple[tuple[str, str], ...]:
    """What the bytes of a shard made here depend on besides its spec."""
    found = [("shiftscope", __version__), ("machine", platform.machine())]
    for name in LIBRARIES:
        try:
            found.append((name, version(name)))
        except PackageNotFoundError:
            continue
    return tuple(found)


def write_manifest(folder: Path, manifest: Manifest) -> None:
    text = json.dumps(manifest.to_json(), ensure_ascii=False, allow_nan=False, indent=1)
    write_whole(folder / NAME, utf8(f"{text}\n"))


def read_manifest(folder: Path) -> Manifest | None:
    """The manifest of a folder, or None where there is none."""
    path = folder / NAME
    try:
        data = read_json(read_whole(path))
        if data["format"] != FORMAT:
            raise UserError(
                f"{path}: format {data['format']} is not the {FORMAT} this version reads; upgrade it"
            )
        return Manifest.from_json(data)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise UserError(f"{path}: not a manifest; make the dataset again in another folder") from None


def refuse_changed(folder: Path, there: Manifest, here: Manifest) -> None:
    """A folder keeps to one spec."""
    old = {**there.spec, "shards": dict(there.plan)}
    new = {**here.spec, "shards": dict(here.plan)}
    if canonical_json(old) == canonical_json(new):
        return
    changed = [k for k in {**old, **new} if canonical_json(old.get(k)) != canonical_json(new.get(k))]
    listed = ", ".join(f"{k} {_short(old.get(k))} there, {_short(new.get(k))} here" for k in changed[:3])
    raise UserError(
        f"{folder} holds a dataset with another spec ({listed}); choose another folder, or delete it"
    )


def refuse_other_versions(folder: Path, there: Manifest, here: Manifest) -> None:
    """A dataset is made with one set of versions, or its bytes could not be told in advance."""
    old, new = dict(there.made_with), dict(here.made_with)
    changed = [k for k in {**old, **new} if old.get(k) != new.get(k)]
    if changed:
        listed = ", ".join(f"{k} {old.get(k, 'none')} there, {new.get(k, 'none')} here" for k in changed[:3])
        raise UserError(
            f"{folder} was begun with other versions ({listed}) and needs more shards; use those versions, "
            "or make the dataset in another folder"
        )


def _short(value: Any) -> str:
    text = canonical_json(value)
    return text if len(text) <= 40 else f"{text[:37]}..."
