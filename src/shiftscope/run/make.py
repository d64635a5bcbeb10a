"""Make a dataset of a suite: resumable, in shards, on all cores."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ..catalog import SUITES
from ..store.build import MakeShard, Progress, build, refuse_foreign
from ..store.dataset import Dataset
from ..store.lock import locked
from ..whole import digest_of, file_digest


def make(
    suite: str,
    order: Any,
    out: Path,
    *,
    workers: int | None = None,
    repair: bool = False,
    progress: Progress | None = None,
    make_shard: MakeShard | None = None,
) -> Dataset:
    """The dataset that a suite's order describes; goes on where an earlier run in that folder stopped.

    `make_shard` makes the same shards as the suite's own from what is there already.
    """
    if suite == "covr":  # made in stages
        from .make_covr import make_covr

        return make_covr(order, out, workers=workers, repair=repair, bar=partial(_same, progress))[0]
    module = SUITES.load(suite)
    if not out.exists() and hasattr(module, "rehearse"):
        module.rehearse(order)
    return build(
        out,
        order.spec(),
        order.jobs(),
        make_shard or module.make_shard,
        workers=workers or os.cpu_count() or 1,
        repair=repair,
        progress=progress,
        about=module.ABOUT,
        passage=getattr(module, "passage", None),
    )


def _same(progress: Progress | None, name: str) -> AbstractContextManager[Progress | None]:
    return nullcontext(progress)


def make_given(
    order: Any,
    scenes: Path,
    out: Path,
    *,
    pictured: bool,
    own_size: bool = False,
    workers: int | None = None,
    repair: bool = False,
    progress: Progress | None = None,
) -> Dataset:
    """Questions, and if wanted pictures, of a user's own Super-CLEVR scenes, in one split.

    With `own_size` each is rendered at the size that its file gives, not at the order's.
    """
    from ..suites import _superclevr_given as given
    from ..suites import superclevr

    refuse_foreign(out)
    with locked(out), TemporaryDirectory() as spool:
        count = given.lay_out(scenes, Path(spool), order.shard, workers or os.cpu_count() or 1)
        spec = replace(order, images=count).spec() | (given.OWN_SIZE if own_size else {})
        return build(
            out,
            spec | {superclevr.GIVEN: _content(scenes), superclevr.PICTURED: pictured},
            {superclevr.GIVEN: -(-count // order.shard)},
            partial(given.make_given_shard, Path(spool), pictured),
            workers=workers or os.cpu_count() or 1,
            repair=repair,
            progress=progress,
            about=superclevr.ABOUT,
            passage=superclevr.passage,
            held=True,
        )


def make_supposed(
    order: Any,
    scenes: Path,
    out: Path,
    *,
    workers: int | None = None,
    repair: bool = False,
    progress: Progress | None = None,
    most: int | None = None,
) -> tuple[Dataset, int]:
    """A CLEVR_HYP dataset about a user's own scenes, and how many of them did not do.

    With `most` it is about the first so many that do.
    """
    from ..suites import clevr_hyp

    refuse_foreign(out)
    if not out.exists():
        clevr_hyp.rehearse(order)
    with locked(out), TemporaryDirectory() as spool:
        count, left_out = clevr_hyp.lay_out(scenes, Path(spool), order, most)
        order = replace(order, images=count)
        made = build(
            out,
            order.spec() | {clevr_hyp.GIVEN: _content(scenes)},
            order.jobs(),
            partial(clevr_hyp.make_given_shard, Path(spool)),
            workers=workers or os.cpu_count() or 1,
            repair=repair,
            progress=progress,
            about=clevr_hyp.ABOUT,
            passage=clevr_hyp.passage,
            held=True,
        )
        return made, left_out


def _content(path: Path) -> str:
    """A digest that changes with any of the scenes' files."""
    files = sorted(path.glob("*.json*")) if path.is_dir() else [path]
    return digest_of("".join(map(file_digest, files)).encode())[:32]
