"""Build: make a dataset shard by shard, so that a kill at any moment loses at most the shards under way."""

import re
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import UserError
from ..executor import ONE_PROCESS, Executor, Progress, Sealed, is_worker
from ..files import remove_partial_files
from ..folder import lock_folder, open_folder, refuse_foreign_files
from ..question import Question
from . import manifest as manifests
from .dataset import CardSection, Dataset
from .image import StoredImage
from .manifest import DEFAULT_INFO, JOURNAL_FILE, MANIFEST_FILE, DatasetInfo, Manifest, read_manifest, write_manifest
from .shard import DamagedFile, EncodedShard, Shard, SharedImages, encode_shard, store_shard

ShardRecords = tuple[Sequence[StoredImage] | SharedImages, Sequence[Question]]
MakeShard = Callable[
    ..., ShardRecords
]  # of the spec, split and index; and of its images, where these are there already
MakeImages = Callable[[Mapping[str, Any], str, int, range], Sequence[StoredImage]]  # by their places in the shard
ShardKey = tuple[str, int]  # split, index
ImagePiece = Sequence[StoredImage] | Sealed[Sequence[StoredImage]]  # sealed on its way between workers

PIECE = 8  # images that are made together on a CPU
FEW = 16  # images that are made sooner than another process starts
PIECED = 2  # shards per worker of a cluster, the last ones, that are made in pieces; those before go as a whole

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
    counts: Mapping[ShardKey, int] | None = None,
    make_images: MakeImages | None = None,
    piece: int = PIECE,
    on_gpu: bool = False,
    executor: Executor = ONE_PROCESS,
    repair: bool = False,
    progress: Progress | None = None,
    about: DatasetInfo = DEFAULT_INFO,
    section: CardSection | None = None,
    held: bool = False,
) -> Dataset:
    """Make the dataset, or what is missing of it; the bytes do not depend on the executor.

    `jobs` says how many shards each split has. `make_shard(spec, split, k)` must be a function at the top
    level of a module and depend on nothing else. `spec` is plain JSON data. Where `counts` tells how many images
    a shard has, `make_images` makes them a few at a time, in any process, and `make_shard` gets them besides.
    `on_gpu`: that needs a GPU of the cluster. `section` writes a section of the card. `held`: the caller holds the
    folder already.
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
            rest = counts or {}, piece, on_gpu, executor.shares_disk
            work = _ShardWork(folder, plan.spec, make_shard, make_images, *rest)
            dataset, changed = _build_missing(work, plan, executor, repair, progress)
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


class _ShardJob(NamedTuple):
    """Some images of a shard, or, without places, all that is left to do for it."""

    key: ShardKey
    places: range | None = None
    pieces: Sequence[ImagePiece] = ()  # its images, made before
    before: Shard | None = None  # as it was recorded once


@dataclass(frozen=True, slots=True)
class _ShardWork:
    """What workers need to know."""

    folder: Path
    spec: Mapping[str, Any]
    make_shard: MakeShard
    make_images: MakeImages | None
    counts: Mapping[ShardKey, int]
    piece: int
    on_gpu: bool
    writes: bool  # else the shard goes to the process that began it all, which writes it

    def __call__(self, job: _ShardJob) -> Shard | EncodedShard | ImagePiece:
        if job.places is not None:
            assert self.make_images is not None
            images = self.make_images(self.spec, *job.key, job.places)
            return Sealed(images) if is_worker() else images
        opened = (piece.open() if isinstance(piece, Sealed) else piece for piece in job.pieces)
        made = ([image for some in opened for image in some],) if job.pieces else ()
        encoded = encode_shard(*job.key, *self.make_shard(self.spec, *job.key, *made))
        return store_shard(self.folder, encoded, job.before) if self.writes else encoded

    def needs_gpu(self, job: _ShardJob) -> bool:
        return self.on_gpu and not job.pieces

    def weigh(self, key: ShardKey) -> int:
        """How much a shard adds to the progress: its images, where they are counted."""
        return self.counts.get(key, 1)


def _build_missing(
    work: _ShardWork, plan: Manifest, executor: Executor, repair: bool, progress: Progress | None
) -> tuple[Dataset, bool]:
    """The dataset with all its shards, and whether its card and manifest are to be written anew."""
    folder = work.folder
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
    steps = sum(map(work.weigh, plan.jobs))

    def report_progress(waiting: int = 0) -> None:
        if progress is not None:
            images = sum(s.images.rows for s in shards.values() if s.images) + waiting
            questions = sum(s.questions.rows for s in shards.values() if s.questions)
            done = sum(map(work.weigh, shards)) + waiting
            progress(done, steps, f"{images:,} images, {questions:,} questions")

    report_progress()
    with closing(_make_shards(work, todo, known, executor)) as made:
        for shard, waiting in made:
            if shard is not None:
                manifests.append_shard(folder, shard)
                shards[shard.split, shard.index] = shard
            report_progress(waiting)
    finished = replace(there or plan, about=plan.about, shards=tuple(shards[job] for job in plan.jobs))
    return Dataset(folder, finished, made=len(todo)), bool(todo) or repair or finished != there


def _make_shards(
    work: _ShardWork, todo: Sequence[ShardKey], known: Mapping[ShardKey, Shard], executor: Executor
) -> Generator[tuple[Shard | None, int], None, None]:
    """Each finished shard, or None for some images of one; and how many images wait for the rest of their shard."""
    waiting: dict[ShardKey, dict[range, ImagePiece]] = {}  # by their places
    urgent: deque[_ShardJob] = deque()
    counts, whole = [work.counts.get(key) for key in todo], 0
    if not executor.shares_disk:  # a piece travels to the driver and back, a shard only once
        whole = 0 if work.on_gpu or not todo else max(0, len(todo) - PIECED * executor.workers)
    elif None not in counts and sum(count or 0 for count in counts) <= FEW:
        executor = executor.limit(1)
    jobs = _list_jobs(work, todo, known, whole)
    with closing(executor.map_growing(work, jobs, urgent, work.needs_gpu)) as made:
        for job, result in made:
            if isinstance(result, EncodedShard):
                result = store_shard(work.folder, result, job.before)
            if isinstance(result, Shard):
                waiting.pop(job.key, None)
                yield result, _count_waiting(waiting)
                continue
            pieces = waiting.setdefault(job.key, {})
            assert job.places is not None
            pieces[job.places] = result
            if sum(map(len, pieces)) == work.counts[job.key]:
                in_order = [pieces[places] for places in sorted(pieces, key=lambda places: places.start)]
                urgent.append(_ShardJob(job.key, pieces=in_order, before=known.get(job.key)))
            yield None, _count_waiting(waiting)


def _count_waiting(waiting: Mapping[ShardKey, Mapping[range, ImagePiece]]) -> int:
    return sum(len(places) for pieces in waiting.values() for places in pieces)


def _list_jobs(
    work: _ShardWork, todo: Sequence[ShardKey], known: Mapping[ShardKey, Shard], whole: int
) -> Iterator[_ShardJob]:
    """The first `whole` shards as a job each, and those that follow in pieces."""
    for k, key in enumerate(todo):
        count = work.counts.get(key)
        if not count or k < whole:
            yield _ShardJob(key, before=known.get(key))
            continue
        for first in range(0, count, work.piece):
            yield _ShardJob(key, range(first, min(first + work.piece, count)))


def _list_recorded(folder: Path) -> dict[ShardKey, Shard]:
    """The shards on record, finished in this build or an earlier one."""
    there = read_manifest(folder)
    recorded = (*(there.shards if there else ()), *manifests.read_journal(folder))
    return {(shard.split, shard.index): shard for shard in recorded}


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
