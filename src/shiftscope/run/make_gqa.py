"""Make questions about one image each, in GQA's manner: read graphs, deal them into splits, ask, write."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ..errors import UserError
from ..store.build import Progress, build, refuse_foreign
from ..store.dataset import Dataset
from ..store.lock import locked
from ..suites import gqa
from ..suites._covr_graphs import SPLITS, Graphs, given, lay_out
from ..suites._covr_inputs import Inputs, Judges, schema_of, spelled, spelled_pictures
from ..suites.gqa import Order, Work

Bar = Callable[[str], AbstractContextManager[Progress | None]]


def order_of(
    graphs: Sequence[Path], images: Path | None, overlap: Sequence[str], **rest: Any
) -> tuple[Order, Inputs]:
    """The order of a dataset from these files, and where they are."""
    Inputs(tuple(graphs), images=images)  # they are there
    schema = schema_of(graphs[0])
    if schema.closed:
        raise UserError(f"{graphs[0]}: {schema.name} scenes have no graph of named relations to ask about")
    judges = Judges.named(overlap or ["schema"], schema)
    order = Order(
        graphs=tuple(map(spelled, graphs)),
        images=spelled_pictures(images) if images else "",
        overlap=tuple(judges.spelled()),
        **rest,
    )
    return order, Inputs(tuple(graphs), images=images, judges=judges)


def make_gqa(
    order: Order,
    out: Path,
    inputs: Inputs,
    *,
    workers: int | None = None,
    repair: bool = False,
    bar: Bar = lambda name: nullcontext(),
) -> tuple[Dataset, dict[str, int]]:
    """The dataset, and why how many graphs were left out; the same for any `workers`."""
    about = dict.fromkeys(("repeated", "empty", "without_picture"), 0)
    refuse_foreign(out)
    with locked(out), TemporaryDirectory() as spool:
        folder = Path(spool)
        with bar("reading graphs") as progress:
            lay_out(given(inputs, order.share, progress or _silent, about), folder, about)
        gqa.lay_out_words(folder)
        counts = {split: len(Graphs(folder, split)) for split in SPLITS}
        with bar("asking") as progress:
            made = build(
                out,
                order.spec(),
                order.jobs(counts),
                partial(gqa.make_shard, Work(folder, inputs)),
                workers=workers or os.cpu_count() or 1,
                repair=repair,
                progress=progress,
                about=gqa.ABOUT,
                held=True,
            )
    if not len(made):
        raise UserError(
            f"{sum(counts.values()):,} graphs were read, and none says anything that can be asked"
        )
    return made, about


def _silent(done: int, total: int, what: str) -> None:
    pass
