"""Teach a verifier on the graphs it is to check: five models; one that never saw an image judges it.

A stage of its own. A taught model is kept as Python pickles it; one that is there is not taught again.
"""

from __future__ import annotations

import inspect
import json
import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import lru_cache, partial
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
from ..whole import write_whole
from ._covr_graphs import DONE, SPLITS, Graphs
from ._covr_inputs import Inputs
from ._covr_verifier import Pictures, Seeing, phrase

BLOCK = 25  # images whose lessons are looked for at a time
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


def teach(teaching: Teaching, seeing: Seeing, workers: int, tell: Told) -> None:
    """Teach the models that are not there yet."""
    if (teaching.folder / DONE).exists():
        return
    tasks = list(_tasks(teaching, workers))
    counted = f"{len(tasks):,} lessons"
    fold = dealt(teaching.graphs, teaching.seed)
    for k in range(FOLDS):
        tell(k, FOLDS, counted)
        path = _model_path(teaching.folder, k)
        if not path.exists():
            mine = [task for task in tasks if fold[task.picture] != k]
            write_whole(path, _taught(teaching, seeing, mine, k))
    tell(FOLDS, FOLDS, counted)
    write_whole(teaching.folder / DONE, json.dumps({"lessons": len(tasks)}).encode())


def taught_seers(graphs: Graphs, folder: Path, seed: int) -> Folds:
    """The five models, and which of them is to judge each image of a split."""
    fold = dealt(graphs.folder, seed)
    seers: list[Seer] = [pickle.loads(_model_path(folder, k).read_bytes()) for k in range(FOLDS)]
    return Folds({image: fold[picture] for image, picture in graphs.picture_of.items()}, seers)


def lesson_count(folder: Path) -> int:
    return int(json.loads((folder / DONE).read_bytes())["lessons"])


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


def _taught(teaching: Teaching, seeing: Seeing, tasks: Sequence[Task], k: int) -> bytes:
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
    try:
        return pickle.dumps(learner)
    except (pickle.PicklingError, TypeError, AttributeError) as error:
        raise UserError(f"--verify: what was taught can not be pickled ({error})") from None


def _model_path(folder: Path, k: int) -> Path:
    return folder / f"{k}.pickle"
