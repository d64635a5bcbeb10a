"""Make a dataset of a suite: resumable, in shards, on all cores."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from ..catalog import SUITES
from ..store.build import Progress, build
from ..store.dataset import Dataset


def make(
    suite: str,
    order: Any,
    out: Path,
    *,
    workers: int | None = None,
    repair: bool = False,
    progress: Progress | None = None,
) -> Dataset:
    """The dataset that a suite's order describes; goes on where an earlier run in that folder stopped."""
    module = SUITES.load(suite)
    return build(
        out,
        order.spec(),
        order.jobs(),
        module.make_shard,
        workers=workers or os.cpu_count() or 1,
        repair=repair,
        progress=progress,
        about=module.ABOUT,
    )
