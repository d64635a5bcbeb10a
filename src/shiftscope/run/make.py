"""Make a dataset of a suite, and find data by name: a folder, or a suite's default dataset, made once and kept."""

from contextlib import nullcontext
from pathlib import Path
from typing import Any

from ..errors import UserError, did_you_mean
from ..executor import Progress
from ..files import find_cache_folder
from ..records import content_id
from ..registry import SUITES
from ..store.dataset import Dataset, refuse_study
from ..store.shard import DamagedFile
from ..suites import load_suite
from ..url_path import parse_path


def make(
    suite: str,
    spec: Any,
    out: Path,
    *,
    inputs: Any = None,
    workers: int | None = None,
    repair: bool = False,
    progress: Progress | None = None,
) -> Dataset:
    """The dataset that a suite's spec describes; resumes where an earlier run in that folder stopped."""
    made = load_suite(suite).make(
        spec, out, inputs, workers=workers, repair=repair, bar=lambda name: nullcontext(progress)
    )
    return made.dataset


def resolve_data(name: str, progress: Progress | None = None) -> Path:
    """The folder itself, or the suite's dataset, made in the user's cache if it is not there yet."""
    folder = parse_path(name)
    refuse_study(folder)
    if folder.exists() or "/" in name:
        return folder
    suites = SUITES.names()
    if name not in suites:
        raise UserError(f"{name}: no such folder, nor a suite of that name{did_you_mean(name, suites)}")
    spec = load_suite(name).spec()
    target = find_cache_folder() / "data" / f"{name}-{content_id(spec.spec())[:12]}"
    try:
        make(name, spec, target, progress=progress)
    except DamagedFile:  # it is ours alone, and whoever names a suite has no --repair to give
        make(name, spec, target, repair=True, progress=progress)
    return target
