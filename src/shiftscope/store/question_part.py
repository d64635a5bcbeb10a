"""Part of a split: some questions of a dataset by id, from `shiftscope split` or a JSON file."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import UserError, unknown
from ..files import read_bytes, read_whole
from ..question import Question
from ..records import content_id, read_json

MANIFEST = "split.json"
FORMAT = 1
EARLY = "val_without"  # the part of a split that training is stopped early by


@dataclass(frozen=True, slots=True)
class QuestionPart:
    """The questions of a part, and the split of the dataset that they are from."""

    name: str
    ids: frozenset[str]
    split: str = ""  # unknown where a file only lists ids
    data_id: str = ""
    early: frozenset[str] | None = None  # what to stop early by, where the part is one to train on
    place: str = ""  # where it was read from, as `--part` takes it

    def spec(self) -> dict[str, Any]:
        early = {"early": content_id(sorted(self.early))} if self.early is not None else {}
        return {"name": self.name, "questions": len(self.ids), "ids": content_id(sorted(self.ids))} | early

    def select(self, split: str, questions: Iterable[Question]) -> Iterator[Question]:
        """Those of a split to learn from: of train the part's, of val the ones to stop early by."""
        kept = {"train": self.ids, "val": self.early}.get(split)
        return (q for q in questions if kept is None or q.id in kept)

    def check(self, data_id: str, split: str, there: Iterable[str]) -> None:
        """Refuse to be taken for a part of other data."""
        if self.data_id and self.data_id != data_id:
            raise UserError(f"part {self.name} is of another dataset; make the split again from this one")
        if self.split and self.split != split:
            raise UserError(f"part {self.name} is of the split {self.split!r}, not of {split!r}")
        if lacking := self.ids.difference(there):
            many = f"{len(lacking):,} questions that split {split!r} has not, {min(lacking)!r} for one"
            raise UserError(f"part {self.name} lists {many}")


def explain_difference(one: Mapping[str, Any], other: Mapping[str, Any]) -> str:
    """Why two runs, by their specs, are not of the same questions; nothing where they are.

    Ids alone do not decide: two datasets often share them.
    """
    if one.get("data_id") != other.get("data_id"):
        return "of another dataset"
    if one.get("split") != other.get("split"):
        return f"of the split {one.get('split')!r}, not of {other.get('split')!r}"
    parts = [spec.get("part") or {} for spec in (one, other)]
    if all(parts) and parts[0].get("ids") != parts[1].get("ids"):
        return f"of the part {parts[0].get('name')}, not of {parts[1].get('name')}"
    return ""


def read_part(text: str) -> QuestionPart:
    """What `FOLDER:PART` names, or the ids of a JSON file: a list, or an object with a list `ids`."""
    start, _, name = text.rpartition(":")
    folder = Path(start)
    if start and (folder / MANIFEST).is_file():
        about = read_split_manifest(folder)
        parts, place = about["parts"], f"{folder.resolve()}:{name}"
        if name not in parts:
            raise unknown("part", name, parts, str(folder))
        ids = _read_ids(folder / f"{name}.json")
        if len(ids) != parts[name]["questions"]:
            raise UserError(
                f"{folder / name}.json has {len(ids):,} questions, {parts[name]['questions']:,} were written; "
                "make the split again"
            )
        trained = name.startswith("train") and EARLY in parts
        early = _read_ids(folder / f"{EARLY}.json") if trained else None
        return QuestionPart(f"{about['name']}:{name}", ids, parts[name]["split"], str(about["data_id"]), early, place)
    path = Path(text)
    if (path / MANIFEST).is_file():
        listed = ", ".join(read_split_manifest(path)["parts"])
        raise UserError(f"{text} holds several parts; name one, as in {text}:test_comp (there are {listed})")
    if path.is_dir() or not path.exists():
        raise UserError(f"{text}: neither FOLDER:PART of a shiftscope split nor a JSON file of ids")
    return QuestionPart(path.stem, _read_ids(path), place=str(path.resolve()))


def read_split_manifest(folder: Path) -> dict[str, Any]:
    path = folder / MANIFEST
    try:
        found: dict[str, Any] = read_json(read_whole(path))
        if found["format"] != FORMAT:
            raise UserError(f"{path}: format {found['format']} is not the {FORMAT} this version reads")
        about = (found["name"], found["data_id"], *(part["split"] for part in found["parts"].values()))
        counts = [part["questions"] for part in found["parts"].values()]
        if not all(isinstance(text, str) and text for text in about) or {*map(type, counts)} - {int}:
            raise ValueError
        return found
    except OSError:
        raise UserError(f"{folder} is no folder that shiftscope split made: there is no {MANIFEST}") from None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise UserError(f"{path}: not what shiftscope split writes; make the split again") from None


def _read_ids(path: Path) -> frozenset[str]:
    if not path.is_file():
        raise UserError(f"{path}: cannot be read (there is no such file)")
    try:
        found = read_json(read_bytes(path))
    except ValueError:
        found = None
    listed = found.get("ids") if isinstance(found, dict) else found
    if not isinstance(listed, list) or not all(isinstance(i, str | int) for i in listed):
        raise UserError(f"{path}: expected a JSON list of question ids, or an object with a list 'ids'")
    if not listed:
        raise UserError(f"{path}: there are no ids in it")
    return frozenset(map(str, listed))
