"""Manifest: what a dataset is made of: its spec, card texts, versions, and every shard's hash.

The journal lists the shards finished since the build began, one line each, until the manifest takes them in.
"""

import json
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from shlex import quote
from typing import Any, Self

from .. import __version__
from ..errors import UserError
from ..files import encode_utf8
from ..folder import open_folder
from ..records import canonical_json, read_json
from ..render.png import load_deflate
from .shard import Shard, ShardFile, get_count


@dataclass(frozen=True, slots=True)
class DatasetInfo:
    """A title, a sentence or two, a licence, a language, and the files of others that the data were made from."""

    title: str = "A ShiftScope dataset"
    summary: str = "Images, scenes, and questions with programs and answers."
    license: str = "cc-by-4.0"  # as Hugging Face spells it
    language: str = "en"
    sources: str = ""  # a Markdown list, each with its licence; empty where all was generated


DEFAULT_INFO = DatasetInfo()
OTHER_LICENSE = "other"  # to Hugging Face, none of those that it lists

MANIFEST_FILE = "manifest.json"
MANIFEST_FORMAT = 1
LIBRARIES = ("numba", "numpy", "pillow", "pyarrow")  # images and Parquet files depend on these, and on what packs PNG


@dataclass(frozen=True, slots=True)
class Manifest:
    """The plan of a dataset and the shards that are done, in the plan's order once complete."""

    spec: Mapping[str, Any]
    plan: tuple[tuple[str, int], ...]  # split, number of shards
    made_with: tuple[tuple[str, str], ...]  # shiftscope, libraries and machine, with their versions
    about: DatasetInfo = DEFAULT_INFO
    shards: tuple[Shard, ...] = ()

    @property
    def jobs(self) -> tuple[tuple[str, int], ...]:
        """Every shard of the plan: split and index."""
        return tuple((split, k) for split, count in self.plan for k in range(count))

    @property
    def files(self) -> tuple[ShardFile, ...]:
        return tuple(file for shard in self.shards for file in shard.files)

    @property
    def complete(self) -> bool:
        planned = sum(count for _, count in self.plan)  # a damaged manifest may plan more jobs than fit in memory
        return len(self.shards) == planned and {(s.split, s.index) for s in self.shards} == set(self.jobs)

    def count(self, split: str) -> tuple[int, int]:
        """How many images and questions a split has."""
        shards = [s for s in self.shards if s.split == split]
        images = sum(s.images.rows for s in shards if s.images)
        return images, sum(s.questions.rows for s in shards if s.questions)

    def to_json(self) -> dict[str, Any]:
        keys = ("shards", "images", "questions")
        splits = {split: dict(zip(keys, (n, *self.count(split)), strict=True)) for split, n in self.plan}
        return {
            "format": MANIFEST_FORMAT,
            "complete": self.complete,
            "made_with": dict(self.made_with),
            "about": asdict(self.about),
            "spec": dict(self.spec),
            "splits": splits,
            "shards": [s.to_json() for s in self.shards],
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Self:
        texts = (*data["about"].values(), *data["made_with"].values())
        if not isinstance(data["spec"], dict) or not all(isinstance(text, str) for text in texts):
            raise TypeError("no manifest")
        return cls(
            spec=data["spec"],
            plan=tuple((name, get_count(split, "shards")) for name, split in data["splits"].items()),
            made_with=tuple(data["made_with"].items()),
            about=DatasetInfo(**data["about"]),
            shards=tuple(map(Shard.from_json, data["shards"])),
        )


def list_versions() -> tuple[tuple[str, str], ...]:
    """What the bytes of a shard made here depend on besides its spec."""
    found = [("shiftscope", __version__), ("machine", platform.machine())]
    for name in LIBRARIES:
        try:
            found.append((name, version(name)))
        except PackageNotFoundError:
            continue
    return (*found, ("png", load_deflate()[0]))


def describe_versions(*, images: bool) -> dict[str, str]:
    """The same for machines that work together; without images, only what Parquet files depend on."""
    found = dict(list_versions())
    return found if images else {name: found[name] for name in ("shiftscope", "pyarrow") if name in found}


def write_manifest(folder: Path, manifest: Manifest) -> None:
    text = json.dumps(manifest.to_json(), ensure_ascii=False, allow_nan=False, indent=1)
    open_folder(folder).write_whole(MANIFEST_FILE, encode_utf8(f"{text}\n"))


def read_manifest(folder: Path) -> Manifest | None:
    path = folder / MANIFEST_FILE
    try:
        data = read_json(open_folder(folder).read(MANIFEST_FILE))
        if (given := data["format"]) != MANIFEST_FORMAT:
            raise UserError(f"{path}: format {given} is not the {MANIFEST_FORMAT} this version reads; upgrade it")
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
    listed = describe_changes(old, new, changed)
    raise UserError(f"{folder} holds a dataset with another spec ({listed}); choose another folder, or delete it")


def refuse_other_versions(folder: Path, there: Manifest, here: Manifest) -> None:
    """A dataset is made with one set of versions, or its bytes would not be reproducible."""
    old, new = dict(there.made_with), dict(here.made_with)
    if changed := [k for k in {**old, **new} if old.get(k) != new.get(k)]:
        listed = ", ".join(f"{k} {old.get(k, 'none')} there, {new.get(k, 'none')} here" for k in changed[:3])
        raise UserError(
            f"{folder} was begun with other versions ({listed}) and needs more shards; use those versions, "
            "or make the dataset in another folder"
        )


def describe_changes(old: Mapping[str, Any], new: Mapping[str, Any], changed: Sequence[str]) -> str:
    """The first fields that changed, as in `size 480 there, 240 here`."""

    def shorten(value: Any) -> str:
        text = canonical_json(value)
        return text if len(text) <= 40 else f"{text[:37]}..."

    return ", ".join(f"{k} {shorten(old.get(k))} there, {shorten(new.get(k))} here" for k in changed[:3])


JOURNAL_FILE = ".journal.jsonl"


def append_shard(folder: Path, shard: Shard) -> None:
    """Add a finished shard to the journal; once this returns, a kill does not lose it."""
    line = json.dumps(shard.to_json(), separators=(",", ":"))
    open_folder(folder).append_line(JOURNAL_FILE, line.encode())


def read_journal(folder: Path) -> list[Shard]:
    """The shards of the journal; a line cut short by a kill ends it and is cut off."""
    files = open_folder(folder)
    try:
        data = files.read(JOURNAL_FILE)
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return []
    lines = data[: data.rfind(b"\n") + 1].splitlines(keepends=True)
    shards = []
    for line in lines:
        try:
            shards.append(Shard.from_json(json.loads(line)))
        except (ValueError, KeyError, TypeError):
            break
    good = sum(map(len, lines[: len(shards)]))
    if good < len(data):
        files.truncate(JOURNAL_FILE, good)
    return shards


@dataclass(frozen=True, slots=True)
class MakeCommand:
    """The options of `shiftscope make SUITE` that make a dataset again, and what a user needs for them."""

    options: Mapping[str, Any]  # by their names on the command line; None and False are left out
    needs: tuple[str, ...] = ()  # files of the user's own, in words
    why_not: str = ""  # where the command would make something else


def format_size_option(size: Sequence[int] | None) -> str:
    """As `--size` takes it."""
    return "x".join(map(str, size)) if size else ""


def format_command(verb: str, options: Mapping[str, Any], needs: Sequence[str] = ()) -> str:
    """`shiftscope make clevr --images 4 …`, ready for a shell; what it needs follows as a comment."""
    words = [verb]
    for name, value in options.items():
        for one in value if isinstance(value, list | tuple) else [value]:
            if one is True:
                words.append(f"--{name}")
            elif one not in (None, "") and one is not False:
                words += [f"--{name}", quote(str(one))]
    return " ".join(words) + (f"  # {', '.join(needs)}" if needs else "")
