"""Spread training: the parts of a study trained at once on a cluster's GPUs, or CPUs where it has none.

Nodes need no shared disk: a training's files travel with it, there and back, and the driver keeps them. A training
that is lost with its node begins again from what the driver has.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from ...errors import UserError
from ...executor import Executor
from ...folder import open_folder
from ...train.loop import TrainingPaused
from ...train.train import show_no_progress
from ...trained_folder import MODEL_FILE
from .part_training import make_training_data, train_part

BASE = "base"  # a node's folder of what a part stands on


class PartJob(NamedTuple):
    """A part to train, what is there of it, and how long it may take."""

    part: Any
    files: Mapping[str, bytes]
    base: Mapping[str, bytes]  # files of what it stands on; none where it stands on nothing
    minutes: float | None


class PartOutcome(NamedTuple):
    """A trained part as files; of a paused one, its checkpoint."""

    files: Mapping[str, bytes]
    paused: bool


def spread_training(
    suite: str,
    parts: Sequence[Any],
    folder: Path,
    executor: Executor,
    *,
    device: str,
    command: str,
    end: float | None,
    find_base: Callable[[Any], Path | None] = lambda part: None,
) -> Iterator[PartOutcome]:
    """Train the parts and keep each in the folder as it comes; `end` is a time of `time.monotonic`.

    `find_base` names the folder of what a part stands on, which is trained by then.
    """
    on_gpu = device != "cpu" and executor.gpus > 0
    if device.startswith("cuda") and not on_gpu:
        raise UserError("no node of the cluster has a GPU; omit --device")
    task = partial(_train_there, suite, "cuda" if on_gpu else "cpu", command)
    jobs = _list_jobs(parts, folder, end, find_base)
    with closing(executor.map_replicated(_build_nothing, task, jobs, on_gpu=on_gpu)) as trained:
        for job, outcome in trained:
            _write_files(folder / job.part.name, outcome.files)
            yield outcome


def _list_jobs(
    parts: Sequence[Any], folder: Path, end: float | None, find_base: Callable[[Any], Path | None]
) -> Iterator[PartJob]:
    for part in parts:
        left = None if end is None else (end - time.monotonic()) / 60
        if left is not None and left <= 0:
            return
        base = find_base(part)
        yield PartJob(part, _read_files(folder / part.name), _read_files(base) if base else {}, left)


def _build_nothing() -> None:
    """A training brings all that it needs."""


def _train_there(suite: str, device: str, command: str, _: None, job: PartJob) -> PartOutcome:
    with TemporaryDirectory() as name:
        folder = Path(name)
        _write_files(folder / job.part.name, job.files)
        _write_files(folder / BASE, job.base)
        (data,) = make_training_data(suite, [job.part], device=device, workers=1)
        given: dict[str, Any] = {"device": device, "command": command, "minutes": job.minutes}
        given |= {"base": folder / BASE} if job.base else {}
        try:
            train_part(suite, job.part, data, folder, **given, bar=show_no_progress)
        except TrainingPaused:
            return PartOutcome(_read_files(folder / job.part.name), paused=True)
        return PartOutcome(_read_files(folder / job.part.name), paused=False)


def _read_files(folder: Path) -> dict[str, bytes]:
    paths = [path for path in sorted(folder.rglob("*")) if path.is_file() and not path.name.startswith(".")]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def _write_files(folder: Path, files: Mapping[str, bytes]) -> None:
    """These files and no others; the one that says all is there comes last."""
    kept = open_folder(folder)
    for name in sorted(files, key=lambda name: (name == MODEL_FILE, name)):
        kept.write_whole(name, files[name])
    for name in _read_files(folder).keys() - files.keys():  # the checkpoint of what is finished now
        kept.remove(name)
    for empty in [path for path in folder.rglob("*") if path.is_dir() and not any(path.iterdir())]:
        kept.remove(empty.relative_to(folder).as_posix())
