"""Teach a verifier on the graphs it is to check: five models; one that never saw an image judges it.

What was taught stays in memory: a file of it would have to be a pickle, which runs what is in it. After a
restart the models are taught again, from the same lessons and seeds. How they judge some of the lessons is
written down, so that what other models asked is not gone on with.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import lru_cache, partial
from multiprocessing.reduction import ForkingPickler
from pathlib import Path
from typing import Any, NamedTuple

from .. import rng
from ..errors import UserError
from ..graph.ask.say import sayable
from ..graph.index import load
from ..graph.lessons import hidden, lessons
from ..graph.related import Related
from ..graph.verify import FOLDS, Folds, Picture, Seer, folds, masked, told
from ..scene import Box
from ..store.workers import in_order
from ..whole import digest_of, write_whole
from ._covr_graphs import DONE, SPLITS, Graphs
from ._covr_inputs import Inputs
from ._covr_verifier import Pictures, Seeing, phrase

BLOCK = 25  # images whose lessons are looked for at a time
TRIED = 50  # lessons that tell models apart
EACH = 10  # subgraphs of an image
MOST = 500_000  # over all images; then there are fewer of each
LEAST = 20  # lessons for one model
Told = Callable[[int, int, str], None]


@dataclass(frozen=True, slots=True)
class Teaching:
    """What the lessons depend on, and where the models go."""

    graphs: Path
    folder: Path
    inputs: Inputs
    seed: int


@dataclass(frozen=True, slots=True, eq=False)
class Taught:
    """The five models, on how many lessons they were taught, and a digest of how they judge some of these."""

    seers: tuple[Seer, ...]
    lessons: int
    voice: str


class Task(NamedTuple):
    """A text, the picture it is about, and whether it is true of it."""

    split: str
    image: str
    picture: str  # that the image is, or is a region of
    text: str
    truth: bool
    hidden: tuple[Box, ...]  # painted over


class Shown(Sequence[Picture]):
    """The pictures of tasks, each opened when it is looked at."""

    def __init__(self, inputs: Inputs, graphs: Path, tasks: Sequence[Task]) -> None:
        self._tasks = tasks
        self._pictures = {split: Pictures(inputs, Graphs(graphs, split)) for split in SPLITS}

    def __len__(self) -> int:
        return len(self._tasks)

    def __getitem__(self, k: Any) -> Any:
        if isinstance(k, slice):
            return [self[i] for i in range(*k.indices(len(self)))]
        task = self._tasks[k]
        return masked(self._pictures[task.split].picture(task.image), task.hidden)


def teach(teaching: Teaching, seeing: Seeing, workers: int, tell: Told) -> Taught:
    """Teach the models; the folder keeps what tells them from others."""
    tasks = list(_tasks(teaching, workers))
    counted = f"{len(tasks):,} lessons"
    fold = dealt(teaching.graphs, teaching.seed)
    seers = []
    for k in range(FOLDS):
        tell(k, FOLDS, counted)
        seers.append(_taught(teaching, seeing, [task for task in tasks if fold[task.picture] != k], k))
    if workers > 1:
        _refuse_unsendable(seers)
    tell(FOLDS, FOLDS, counted)
    made = Taught(tuple(seers), len(tasks), _voice(teaching, seers, tasks[:TRIED]))
    write_whole(teaching.folder / DONE, json.dumps({"lessons": made.lessons, "voice": made.voice}).encode())
    return made


def taught_before(folder: Path) -> Taught | None:
    """What is known of the models that were taught for this folder, without them."""
    try:
        found = json.loads((folder / DONE).read_bytes())
        return Taught((), int(found["lessons"]), str(found["voice"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def taught_seers(graphs: Graphs, taught: Taught, seed: int) -> Folds:
    """The five models, and which of them is to judge each image of a split."""
    fold = dealt(graphs.folder, seed)
    return Folds({image: fold[picture] for image, picture in graphs.picture_of.items()}, list(taught.seers))


def dealt(graphs: Path, seed: int) -> Mapping[str, int]:
    """The fold of each picture of all splits; regions of one picture go together."""
    return folds((name for split in SPLITS for name in Graphs(graphs, split).pictures), seed).fold


def _tasks(teaching: Teaching, workers: int) -> Iterator[Task]:
    """All lessons, those about one image together, images in a drawn order."""
    counts = {split: len(Graphs(teaching.graphs, split)) for split in SPLITS}
    each = max(1, min(EACH, MOST // max(1, sum(counts.values()))))
    blocks = [(split, k, each) for split in SPLITS for k in range(-(-counts[split] // BLOCK))]
    found: list[Task] = []
    with closing(in_order(partial(_block, teaching), blocks, min(workers, len(blocks)), 4 * workers)) as made:
        for block in made:
            found += block
    drawn = {name: rng.seed_of("taught", teaching.seed, name) for name in {task.image for task in found}}
    return iter(sorted(found, key=lambda task: (drawn[task.image], task)))


def _block(teaching: Teaching, block: tuple[str, int, int]) -> list[Task]:
    """The lessons from a block of images, about them and about their distractors."""
    split, k, each = block
    graphs, related = _related(teaching, split)
    made = []
    for number in range(k * BLOCK, min((k + 1) * BLOCK, len(graphs))):
        for lesson in lessons(related, number, teaching.seed, most=each, sayable=sayable):
            image = graphs.ids[lesson.graph]
            things = graphs.scene(lesson.graph).objects
            names = [next(iter(o.values("name")), "") for o in things]
            boxes = hidden(lesson, names, [o.box for o in things], teaching.seed, image)
            picture = graphs.pictures[lesson.graph]
            made.append(Task(split, image, picture, phrase(lesson.subgraph), lesson.truth, boxes))
    return made


@lru_cache(maxsize=1)
def _related(teaching: Teaching, split: str) -> tuple[Graphs, Related]:
    graphs = Graphs(teaching.graphs, split)
    index = load(graphs.index_path)
    return graphs, Related(index, teaching.inputs.judges.overlap(index.graphs.schema))


def _taught(teaching: Teaching, seeing: Seeing, tasks: Sequence[Task], k: int) -> Seer:
    if len(tasks) < LEAST:
        raise UserError(f"--verify: the graphs give {len(tasks)} lessons, too few to teach a verifier")
    learner: Any = seeing.make()
    texts, truths = [task.text for task in tasks], [task.truth for task in tasks]
    seed = rng.seed_of("verifier", teaching.seed, k) % (1 << 31)
    more = {"seed": seed} if "seed" in inspect.signature(learner.fit).parameters else {}
    try:
        learner.fit(texts, Shown(teaching.inputs, teaching.graphs, tasks), truths, **more)
    except UserError:
        raise
    except Exception as error:
        raise UserError(f"--verify: the model stopped with {told(error)} while it was taught") from error
    seer: Seer = learner
    return seer


def _voice(teaching: Teaching, seers: Sequence[Seer], tasks: Sequence[Task]) -> str:
    shown = Shown(teaching.inputs, teaching.graphs, tasks)
    try:
        said = [[round(float(p), 4) for p in s.probability([t.text for t in tasks], shown[:])] for s in seers]
    except UserError:
        raise
    except Exception as error:
        raise UserError(f"--verify: the model stopped with {told(error)} at what it was taught") from error
    return digest_of(repr(said).encode())[:16]


def _refuse_unsendable(seers: Sequence[Seer]) -> None:
    """Other processes get a copy of what was taught."""
    try:
        for seer in seers:
            ForkingPickler.dumps(seer)
    except Exception as error:
        raise UserError(
            f"--verify: what was taught can not be sent to other processes ({told(error)}); use --workers 1"
        ) from None
