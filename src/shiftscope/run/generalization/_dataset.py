"""An exam's questions as a dataset of their own, which can be run, shown and exported like any other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ...canonical import canonical_json
from ...errors import UserError
from ...question import Question
from ...store.about import About
from ...store.dataset import Dataset
from ...store.lock import locked
from ...store.manifest import Manifest, read_manifest, versions_here, write_manifest
from ...store.shard import Shard, Shared, groups, write_shard
from ._frame import Exam

TEST = "test"


def write_exam(folder: Path, exam: Exam, spec: Mapping[str, Any]) -> Dataset:
    """Write the exam's dataset, or open it where it is there; image files are shared with the exam's data."""
    assert exam.questions is not None
    there = read_manifest(folder)
    if there is not None and there.complete:
        if canonical_json(dict(there.spec)) != canonical_json(dict(spec)):
            raise UserError(
                f"{folder} holds the questions of another test; choose another folder for --out, or delete it"
            )
        if all(file.is_whole(folder) for shard in there.shards for file in shard.files):
            return Dataset.open(folder)
    base = Dataset.open(exam.data)
    found = _holders(base, {name for q in exam.questions for name in q.scenes})
    with locked(folder):
        shards = _written(folder, base, exam.questions, found)
        about = About("The questions of a generalization test", f"Made from {base.manifest.about.title}.")
        write_manifest(
            folder, Manifest(dict(spec), ((TEST, len(shards)),), versions_here(), about, tuple(shards))
        )
    return Dataset.open(folder)


def _holders(base: Dataset, wanted: set[str]) -> dict[str, int]:
    """In which of the base's shards each wanted image is."""
    found: dict[str, int] = {}
    for at, shard in enumerate(base.shards()):
        if shard.images is None:
            continue
        for table in groups(base.folder / shard.images.path, ["image_id"]):
            for name in table["image_id"].to_pylist():
                if name in wanted:
                    found.setdefault(name, at)
    lost = wanted - found.keys()
    if lost:
        raise UserError(f"{base.folder}: no image {min(lost)!r} in it")
    return found


def _written(folder: Path, base: Dataset, asked: Sequence[Question], found: Mapping[str, int]) -> list[Shard]:
    """A shard for each of the base's that has a wanted image; questions stand with their first image."""
    inside: dict[int, list[Question]] = {at: [] for at in sorted(set(found.values()))}
    for question in asked:
        inside[found[question.scenes[0]]].append(question)
    shards: list[Shard] = []
    for index, (at, questions) in enumerate(inside.items()):
        file = base.shards()[at].images
        assert file is not None
        shards.append(write_shard(folder, TEST, index, Shared(base.folder, file), questions))
    return shards
