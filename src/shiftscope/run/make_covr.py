"""Make a COVR dataset: read and index graphs, ask all that can be asked, choose, write; resumable in between.

What needs all images is a pass of its own: each stage has a folder named by the hash of what it depends on,
in a hidden folder inside the dataset's that is removed at the end.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from ..canonical import content_id
from ..errors import UserError
from ..graph.ask.statistics import Figures, described, figures
from ..store.build import WORK, Progress, Stopped, build
from ..store.dataset import Dataset
from ..store.lock import contents, locked
from ..store.manifest import Manifest, read_manifest, refuse_changed
from ..suites import _reported_covr as paper
from ..suites import covr
from ..suites._covr_candidates import Asking, ask_all, checked, choose, is_asked, sources
from ..suites._covr_graphs import DONE, SPLITS, Graphs, given, index_all, lay_out, of_world, stage_file
from ..suites._covr_inputs import Inputs, Judges, schema_of, spelled, spelled_pictures
from ..suites._covr_lessons import Taught, Teaching, taught_before, teach
from ..suites.covr import Order, Work
from ..whole import read_whole, write_whole, writing
from .checked import YIELD, checked_by
from .seeing import Named, seeing_named

Bar = Callable[[str], AbstractContextManager[Progress | None]]
REWORDED = (  # on the card
    "Scenes of an open vocabulary are stored in the words that questions use: what a file calls `wears` or "
    "`has on` is `wearing`. "
)


class Yield(NamedTuple):
    """What came of the graphs: how many there were, and how many questions could be asked about them."""

    graphs: dict[str, int]  # split →
    sources: dict[str, int]  # split → how many of them were asked about, the others shown beside them
    left_out: dict[str, int]  # why → how many graphs
    asked: dict[str, dict[str, int]]  # split → template → candidates
    checked: dict[str, int]  # what the verifier judged and dropped, and how; empty without one

    def to_json(self) -> dict[str, Any]:
        return self._asdict()


def order_of(
    graphs: Sequence[Path], held_out: Sequence[Path], images: Path | None, overlap: Sequence[str], **rest: Any
) -> tuple[Order, Inputs]:
    """The order of a dataset from these files, and where they are."""
    inputs = Inputs(tuple(graphs), tuple(held_out), images)
    schema = schema_of(graphs[0])
    judges = Judges.named(overlap, schema)
    if rest.get("verify"):
        if schema.closed:
            raise UserError(f"{graphs[0]}: {schema.name} scenes are complete; leave out --verify")
        seeing_named(rest["verify"], tried=True, trusted=bool(rest.get("trust_remote_code")))
    order = Order(
        world="",
        graphs=tuple(map(spelled, graphs)),
        val=tuple(map(spelled, held_out)),
        images=spelled_pictures(images) if images else "",
        overlap=tuple(judges.spelled()),
        **rest,
    )
    return order, Inputs(inputs.graphs, inputs.held_out, images, judges)


def make_covr(
    order: Order,
    out: Path,
    inputs: Inputs | None = None,
    *,
    workers: int | None = None,
    repair: bool = False,
    bar: Bar = lambda name: nullcontext(),
    cache: Path | None = None,
    use_cache: bool = True,
) -> tuple[Dataset, Yield]:
    """The dataset, or what is missing of it, and what came of its graphs; the same for any `workers`.

    `cache` and `use_cache` are for a verifier behind an endpoint, as for `evaluate`.
    """
    there = _finished(out, order.spec()) if not repair else None
    if there is not None:
        return there
    _refuse_foreign(out)
    work = out / WORK
    with locked(out):
        _refuse_foreign(out)
        with writing(out):
            work.mkdir(exist_ok=True)
        try:
            seeing = None
            if order.verify and not order.world:
                trusted = order.trust_remote_code
                seeing = seeing_named(order.verify, trusted=trusted, cache=cache, use_cache=use_cache)
            many = workers or os.cpu_count() or 1
            return _make(order, out, work, inputs or Inputs(), seeing, many, repair, bar)
        except UserError:
            _clear(work)
            raise


def _clear(work: Path) -> None:
    """Remove graphs that were read in part, for they are read anew, and the folder if that was all."""
    for folder in work.glob("graphs-*"):
        if not (folder / DONE).exists():
            shutil.rmtree(folder)
    if work.is_dir() and not any(work.iterdir()):
        work.rmdir()


def _make(
    order: Order,
    out: Path,
    work: Path,
    inputs: Inputs,
    seeing: Named | None,
    workers: int,
    repair: bool,
    bar: Bar,
) -> tuple[Dataset, Yield]:
    try:
        graphs = _graphs(order, work, inputs, workers, bar)
        taught, asking = _prepared(order, work, graphs, inputs, seeing, workers, bar)
        with bar("asking, 25 images at a time") as progress:
            ask_all(asking, workers, progress or _silent, taught)
        picked = work / f"chosen-{_hash(asking.folder.name, order.questions)}"
        asked = choose(asking, picked, order.wanted())
    except KeyboardInterrupt:
        raise Stopped(
            f"stopped; what is done is kept in {work}: run the same command again to go on"
        ) from None
    with stage_file(graphs / "about.json") as path:
        about = json.loads(path.read_bytes())
    counted = {split: len(Graphs(graphs, split)) for split in SPLITS}
    judged = checked(asking) | ({"lessons": taught.lessons} if taught else {})
    found = Yield(counted, {split: len(sources(asking, split)) for split in SPLITS}, about, asked, judged)
    todo = Work(asking, picked)
    counts = {split: covr.kept(todo, split) for split in SPLITS}
    _refuse_nothing(found, counts)
    with bar("writing shards") as progress:
        dataset = build(
            out,
            order.spec(),
            order.jobs(counts),
            partial(covr.make_shard, todo),
            workers=workers,
            repair=repair,
            progress=progress,
            about=covr.ABOUT,
            passage=partial(passage, found),
            held=True,
        )
    write_whole(out / YIELD, (json.dumps(found.to_json(), indent=1) + "\n").encode())
    shutil.rmtree(work)
    return dataset, found


def _graphs(order: Order, work: Path, inputs: Inputs, workers: int, bar: Bar) -> Path:
    """The folder of the first stage, made if it is not there."""
    ours, theirs = (
        ("world", "n", "size", "share", "seed"),
        ("graphs", "val", "images", "share", "keep_spatial"),
    )
    spec = order.spec()
    folder = work / f"graphs-{_hash({name: spec[name] for name in (ours if order.world else theirs)})}"
    if (folder / DONE).exists():
        return folder
    about = dict.fromkeys(("repeated", "empty", "without_picture"), 0)
    with bar("making scenes" if order.world else "reading graphs") as progress:
        tell = progress or _silent
        if order.world:
            counts = order.scene_counts()
            lines = of_world(partial(covr.world_scene, order), counts, workers, tell)
        else:
            lines = given(inputs, order.share, tell, about)
        lay_out(lines, folder, about)
    with bar("indexing"):
        index_all(folder, order.keep_spatial, workers)
    return folder


def _prepared(
    order: Order, work: Path, graphs: Path, inputs: Inputs, seeing: Named | None, workers: int, bar: Bar
) -> tuple[Taught | None, Asking]:
    """Who checks, taught if it is to be and something is still to be asked; and what to ask."""
    if seeing is None or not seeing.learns:
        return None, _asking(order, work, graphs, inputs, seeing)
    folder = work / f"verifier-{_hash(graphs.name, order.seed, order.overlap, order.verify)}"
    before = taught_before(folder)
    if before is not None:
        asking = _asking(order, work, graphs, inputs, seeing, before.voice)
        if is_asked(asking):
            return before, asking
    with bar("teaching the verifier") as progress:
        taught = teach(Teaching(graphs, folder, inputs, order.seed), seeing, workers, progress or _silent)
    return taught, _asking(order, work, graphs, inputs, seeing, taught.voice)


def _asking(
    order: Order, work: Path, graphs: Path, inputs: Inputs, seeing: Named | None, voice: str = ""
) -> Asking:
    """What to ask; what other models checked has another folder."""
    names = ("seed", "easy_distractors", "paraphrased", "overlap", "verify", "subgraphs")
    most = tuple(order.asked_about().items())
    server = seeing.identify() if seeing else {}
    known: list[Any] = [graphs.name, most, {name: order.spec().get(name) for name in names}]
    folder = work / f"asked-{_hash(*known, *filter(None, (voice, server)))}"
    easy, paraphrased = order.easy_distractors, order.paraphrased
    rest = easy, paraphrased, order.subgraphs, most, seeing
    return Asking(graphs, folder, inputs, order.seed, *rest)


def _hash(*data: Any) -> str:
    return content_id([covr.VERSION, *data])[:16]


def _finished(out: Path, spec: Mapping[str, Any]) -> tuple[Dataset, Yield] | None:
    """The dataset if it is there and whole; a folder with another one is refused before any work."""
    there = read_manifest(out)
    if there is None:
        return None
    if there.shards or not (out / WORK).is_dir():
        refuse_changed(out, there, Manifest(dict(spec), there.plan, there.made_with))
    if not there.complete or not (out / YIELD).is_file():
        return None
    dataset = Dataset(out, there, made=0)
    dataset.verify()
    return dataset, read_yield(out)


def read_yield(out: Path) -> Yield:
    """What came of a finished dataset's graphs."""
    try:
        return Yield(**json.loads(read_whole(out / YIELD)))
    except (OSError, ValueError, TypeError) as error:
        raise UserError(f"{out / YIELD}: can not be read ({error}); make the dataset again") from None


def _refuse_foreign(out: Path) -> None:
    others = contents(out) if out.is_dir() else []
    if others and not {*others} & {"manifest.json", WORK}:
        raise UserError(f"{out} is not empty and holds no dataset ({others[0]}); choose another folder")


def _refuse_nothing(found: Yield, counts: Mapping[str, int]) -> None:
    if any(counts.values()):
        return
    there = sum(found.graphs.values())
    came = {name: sum(found.asked[split][name] for split in SPLITS) for name in found.asked["train"]}
    listed = ", ".join(f"{name} {n}" for name, n in came.items())
    raise UserError(
        f"too few images: the {there:,} graphs ({', '.join(f'{s} {n:,}' for s, n in found.graphs.items())}) "
        f"gave no question to keep ({listed}); related images are needed in each split"
    )


def statistics(dataset: Dataset) -> list[Figures]:
    """The figures of every split, from its questions."""
    return [figures(split, dataset.questions(split)) for split in dataset.splits]


def passage(found: Yield, dataset: Dataset) -> str:
    """For the card: where the questions come from, and their statistics."""
    spec = dataset.manifest.spec
    origin, reported = _origin(found, spec, dataset.splits), _reported(bool(spec["paraphrased"]))
    return "\n".join([*origin, "", described(statistics(dataset), found.asked), "", reported])


def _reported(paraphrased: bool) -> str:
    """The paper's figures for its own data, to compare with."""
    counted = [f"{name} {values[0]:,}" for name, values in paper.STATISTICS.items()]
    shares = [(model, paper.accuracy(model, "test", paraphrased=paraphrased)) for model in paper.MODELS]
    accuracies = [f"{model} {share:.1%}" for model, share in shares if share is not None]
    return (
        f"For the paper's own data, *{paper.SOURCE}*: in train {', '.join(counted)} (Table 3); accuracy on "
        f"test {', '.join(accuracies)} (Table 6)."
    )


def lacking(found: Yield, splits: Sequence[str]) -> list[str]:
    """A sentence for each split that got no question."""
    return [
        f"No question for {split}, which has {found.graphs[split]:,} graph{'s' * (found.graphs[split] != 1)}."
        for split in SPLITS
        if split not in splits
    ]


def _origin(found: Yield, spec: Mapping[str, Any], splits: Sequence[str]) -> list[str]:
    graphs = ", ".join(f"{split} {n:,}" for split, n in found.graphs.items())
    candidates = sum(n for counts in found.asked.values() for n in counts.values())
    lines = [
        f"Made from {sum(found.graphs.values()):,} scene graphs ({graphs}); about pieces of "
        f"{sum(found.sources.values()):,} of them {candidates:,} questions could be asked. "
        "An image is in one split only, and no words of `val` are asked in `test`.",
        f"Which words exclude which is told by {', '.join(spec.get('overlap', ['schema']))}. "
        + ("Distractors are random images. " if spec["easy_distractors"] else "")
        + ("Questions are told in other words. " if spec["paraphrased"] else "")
        + (REWORDED if "graphs" in spec else "")
        + checked_by(spec, found.checked),
    ]
    lines += lacking(found, splits)
    if any(found.left_out.values()):
        listed = ", ".join(f"{n:,} {why.replace('_', ' ')}" for why, n in found.left_out.items() if n)
        lines.append(f"Graphs left out: {listed}.")
    return lines


def _silent(done: int, total: int, what: str) -> None:
    pass
