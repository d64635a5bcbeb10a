"""Build: make a dataset shard by shard, so that a kill at any moment loses at most the shards under way."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import UserError
from ..question import Question
from ..whole import sweep
from . import journal
from .about import UNTITLED, About
from .dataset import Dataset
from .image import StoredImage
from .lock import contents, locked
from .manifest import (
    Manifest,
    read_manifest,
    refuse_changed,
    refuse_other_versions,
    versions_here,
    write_manifest,
)
from .shard import Damaged, Shard, Shared, write_shard
from .workers import run_all

if TYPE_CHECKING:
    from .card import Passage

Made = tuple[Sequence[StoredImage] | Shared, Sequence[Question]]
MakeShard = Callable[[Mapping[str, Any], str, int], Made]
Progress = Callable[[int, int, str], None]  # done, of how many, what was counted
Key = tuple[str, int]  # split, index

WORK = ".work"  # a hidden folder, beside what is built, of what is needed to build it
_SPLIT = re.compile(r"\w+(\.\w+)*")  # what Hugging Face takes as the name of a split


class Stopped(UserError):
    """The user stopped the work; what is done is kept."""

    exit_code = 130


def build(
    folder: Path,
    spec: Mapping[str, Any],
    jobs: Mapping[str, int],
    make_shard: MakeShard,
    *,
    workers: int = 1,
    repair: bool = False,
    progress: Progress | None = None,
    about: About = UNTITLED,
    passage: Passage | None = None,
    held: bool = False,
) -> Dataset:
    """Make the dataset, or what is missing of it; the bytes do not depend on `workers`.

    `jobs` says how many shards each split has. `make_shard(spec, split, k)` must be a function at the top
    level of a module and depend on nothing else. `spec` is plain JSON data. `passage` writes a part of the
    card. `held`: the caller holds the folder already.
    """
    plan = Manifest(dict(spec), tuple(jobs.items()), versions_here(), about)
    _check_plan(plan)
    refuse_foreign(folder)
    with nullcontext() if held else locked(folder):
        refuse_foreign(folder)
        try:
            return _complete(folder, plan, make_shard, workers, repair, progress, passage)
        except KeyboardInterrupt:
            sweep(folder)
            raise Stopped(
                f"stopped; {len(_known(folder))} of {len(plan.jobs)} shards are done and kept in {folder}: "
                "run the same command again to go on"
            ) from None


def _complete(
    folder: Path,
    plan: Manifest,
    make_shard: MakeShard,
    workers: int,
    repair: bool,
    progress: Progress | None,
    passage: Passage | None,
) -> Dataset:
    there = read_manifest(folder)
    known = _known(folder)
    if there is not None and known:
        refuse_changed(folder, there, plan)
    else:  # nothing was made yet: an order that failed at once binds nobody
        there = None
        write_manifest(folder, plan)
    shards = _whole(folder, known, repair)
    todo = [job for job in plan.jobs if job not in shards]
    if there is not None and todo:
        refuse_other_versions(folder, there, plan)
    tell = _teller(shards, len(plan.jobs), progress)
    tell()
    orders = [(job, known.get(job)) for job in todo]
    with closing(run_all(partial(_make, folder, plan.spec, make_shard), orders, workers)) as made:
        for shard in made:
            journal.record(folder, shard)
            shards[shard.split, shard.index] = shard
            tell()
    finished = replace(there or plan, about=plan.about, shards=tuple(shards[job] for job in plan.jobs))
    dataset = Dataset(folder, finished, made=len(todo))
    if todo or repair or finished != there or not (folder / "README.md").is_file():
        from .card import write_card  # with all that an audit needs, which workers do without

        write_card(dataset, passage)
        write_manifest(folder, finished)
    journal.close(folder)
    return dataset


def _known(folder: Path) -> dict[Key, Shard]:
    """The shards on record, finished in this build or an earlier one."""
    there = read_manifest(folder)
    recorded = (*(there.shards if there else ()), *journal.recorded(folder))
    return {(shard.split, shard.index): shard for shard in recorded}


def _make(
    folder: Path, spec: Mapping[str, Any], make_shard: MakeShard, order: tuple[Key, Shard | None]
) -> Shard:
    (split, k), before = order
    images, questions = make_shard(spec, split, k)
    return write_shard(folder, split, k, images, questions, before)


def _check_plan(plan: Manifest) -> None:
    for split, count in plan.plan:
        if not _SPLIT.fullmatch(split):
            raise UserError(
                f"split {split!r} can not be named so: letters, digits and _ only, as in 'val_hard'"
            )
        if count < 0:
            raise UserError(f"split {split!r} can not have {count} shards")
    if not plan.jobs:
        raise UserError("there is nothing to make: no split has any shards")


def refuse_foreign(folder: Path) -> None:
    """Refuse what is neither a new or empty folder nor one that a build began."""
    if not folder.is_dir():
        if folder.exists():
            raise UserError(f"{folder}: can not be used as a folder (it is a file)")
        return
    found = {*contents(folder)} - {WORK}
    if found and "manifest.json" not in found:
        raise UserError(f"{folder} is not empty and holds no dataset ({min(found)}); choose another folder")


def _whole(folder: Path, known: Mapping[Key, Shard], repair: bool) -> dict[Key, Shard]:
    """The shards whose files are what was recorded; a missing file is simply made again."""
    whole = {}
    for key, shard in known.items():
        bad = [f for f in shard.files if not f.is_whole(folder)]
        changed = [f.path for f in bad if (folder / f.path).exists()]
        if changed and not repair:
            raise Damaged(
                f"{folder / changed[0]} is not what was written there; run the same command again with "
                "--repair to remake it"
            )
        if not bad:
            whole[key] = shard
    return whole


def _teller(shards: Mapping[Key, Shard], total: int, progress: Progress | None) -> Callable[[], None]:
    def tell() -> None:
        if progress is not None:
            images = sum(s.images.rows for s in shards.values() if s.images)
            questions = sum(s.questions.rows for s in shards.values() if s.questions)
            progress(len(shards), total, f"{images:,} images, {questions:,} questions")

    return tell
