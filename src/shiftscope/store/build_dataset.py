"""Build: make a dataset shard by shard, so that a kill at any moment loses at most the shards under way."""

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from ..errors import UserError
from ..executor import LocalExecutor, Progress
from ..files import remove_partial_files
from ..folder import lock_folder, open_folder, refuse_foreign_files
from ..question import Question
from . import manifest as manifests
from .dataset import CardSection, Dataset
from .image import StoredImage
from .manifest import DEFAULT_INFO, JOURNAL_FILE, MANIFEST_FILE, DatasetInfo, Manifest, read_manifest, write_manifest
from .shard import DamagedFile, Shard, SharedImages, write_shard

ShardRecords = tuple[Sequence[StoredImage] | SharedImages, Sequence[Question]]
MakeShard = Callable[[Mapping[str, Any], str, int], ShardRecords]
ShardKey = tuple[str, int]  # split, index

WORK_FOLDER = ".work"  # a hidden folder, beside what is built, of what is needed to build it
_SPLIT_NAME = re.compile(r"\w+(\.\w+)*")  # what Hugging Face takes as the name of a split


class BuildStopped(UserError):
    """The user stopped the work; what is done is kept."""

    exit_code = 130


def build_dataset(
    folder: Path,
    spec: Mapping[str, Any],
    jobs: Mapping[str, int],
    make_shard: MakeShard,
    *,
    workers: int = 1,
    repair: bool = False,
    progress: Progress | None = None,
    about: DatasetInfo = DEFAULT_INFO,
    section: CardSection | None = None,
    held: bool = False,
) -> Dataset:
    """Make the dataset, or what is missing of it; the bytes do not depend on `workers`.

    `jobs` says how many shards each split has. `make_shard(spec, split, k)` must be a function at the top
    level of a module and depend on nothing else. `spec` is plain JSON data. `section` writes a section of the
    card. `held`: the caller holds the folder already.
    """
    plan = Manifest(dict(spec), tuple(jobs.items()), manifests.list_versions(), about)
    for split, count in plan.plan:
        if not _SPLIT_NAME.fullmatch(split):
            raise UserError(f"split {split!r} cannot be named so: letters, digits and _ only, as in 'val_hard'")
        if count < 0:
            raise UserError(f"split {split!r} cannot have {count} shards")
    if not plan.jobs:
        raise UserError("there is nothing to make: no split has any shards")
    refuse_foreign_folder(folder)
    with nullcontext() if held else lock_folder(folder):
        refuse_foreign_folder(folder)
        try:
            dataset, changed = _build_missing(folder, plan, make_shard, workers, repair, progress)
            if changed or not (folder / "README.md").is_file():
                from .card import write_card

                write_card(dataset, section)
                write_manifest(folder, dataset.manifest)
            open_folder(folder).remove(JOURNAL_FILE)
            return dataset
        except KeyboardInterrupt:
            remove_partial_files(folder)
            raise BuildStopped(
                f"stopped; {len(_list_recorded(folder))} of {len(plan.jobs)} shards are done and kept in {folder}: "
                "run the same command again to resume"
            ) from None


def _build_missing(
    folder: Path, plan: Manifest, make_shard: MakeShard, workers: int, repair: bool, progress: Progress | None
) -> tuple[Dataset, bool]:
    """The dataset with all its shards, and whether its card and manifest are to be written anew."""
    there = read_manifest(folder)
    known = _list_recorded(folder)
    if there is not None and known:
        manifests.refuse_changed(folder, there, plan)
    else:  # nothing was made yet: a build that failed at once binds nobody
        there = None
        write_manifest(folder, plan)
    shards = _list_intact(folder, known, repair)
    todo = [job for job in plan.jobs if job not in shards]
    if there is not None and todo:
        manifests.refuse_other_versions(folder, there, plan)

    def report_progress() -> None:
        if progress is not None:
            images = sum(s.images.rows for s in shards.values() if s.images)
            questions = sum(s.questions.rows for s in shards.values() if s.questions)
            progress(len(shards), len(plan.jobs), f"{images:,} images, {questions:,} questions")

    report_progress()
    task = partial(_make_shard, folder, plan.spec, make_shard)
    with closing(LocalExecutor(workers).map_unordered(task, [(job, known.get(job)) for job in todo])) as made:
        for shard in made:
            manifests.append_shard(folder, shard)
            shards[shard.split, shard.index] = shard
            report_progress()
    finished = replace(there or plan, about=plan.about, shards=tuple(shards[job] for job in plan.jobs))
    return Dataset(folder, finished, made=len(todo)), bool(todo) or repair or finished != there


def _list_recorded(folder: Path) -> dict[ShardKey, Shard]:
    """The shards on record, finished in this build or an earlier one."""
    there = read_manifest(folder)
    recorded = (*(there.shards if there else ()), *manifests.read_journal(folder))
    return {(shard.split, shard.index): shard for shard in recorded}


def _make_shard(
    folder: Path, spec: Mapping[str, Any], make_shard: MakeShard, job: tuple[ShardKey, Shard | None]
) -> Shard:
    (split, k), before = job
    images, questions = make_shard(spec, split, k)
    return write_shard(folder, split, k, images, questions, before)


def refuse_foreign_folder(folder: Path) -> None:
    """Refuse what is neither a new or empty folder nor one that a build began."""
    refuse_foreign_files(folder, "dataset", [MANIFEST_FILE], ignore=[WORK_FOLDER])


def _list_intact(folder: Path, known: Mapping[ShardKey, Shard], repair: bool) -> dict[ShardKey, Shard]:
    """The shards whose files are what was recorded; a missing file is simply made again."""
    whole = {}
    for key, shard in known.items():
        bad = [f for f in shard.files if not f.is_whole(folder)]
        changed = [f.path for f in bad if (folder / f.path).exists()]
        if changed and not repair:
            raise DamagedFile(
                f"{folder / changed[0]} is not what was written there; run the same command again with "
                "--repair to remake it"
            )
        if not bad:
            whole[key] = shard
    return whole
