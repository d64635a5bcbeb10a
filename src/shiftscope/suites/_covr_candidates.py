"""The second and third stage of a COVR dataset: all questions that can be asked, and those that are kept.

Candidates are made in blocks of source images, each a function of the index, the seed and the block; a block
that is on disk is not made again. Choosing looks at a few bytes of each.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import rng
from ..errors import UserError
from ..graph.ask.asker import Asker, collect_seldom, templates
from ..graph.ask.balance import GENERATED, ROW, Keys, apart, balanced, partners
from ..graph.index import load
from ..graph.related import Related
from ..graph.verify import Verifier
from ..question import Question
from ..store.shard import columns_of, reading, write_shard
from ..store.tables import questions_of
from ..store.workers import run_all_with
from ..whole import write_whole
from ._covr_graphs import DONE, SPLITS, Graphs, stage_file
from ._covr_inputs import Inputs
from ._covr_lessons import Taught, taught_seers
from ._covr_verifier import Seeing, verifier_of

BLOCK = 25  # source images
Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Asking:
    """What workers need to ask."""

    graphs: Path
    folder: Path
    inputs: Inputs
    seed: int
    easy: bool
    paraphrased: bool
    subgraphs: int
    most: tuple[tuple[str, int], ...]  # split, source images at most
    seeing: Seeing | None = None  # who checks what graphs may lack

    def keys(self, split: str, k: int) -> Path:
        return self.folder / "keys" / split / f"{k:05d}.npy"

    def checked(self, split: str, k: int) -> Path:
        return self.folder / "checked" / split / f"{k:05d}.json"

    def questions(self, split: str, k: int) -> Path:
        return self.folder / "questions" / split / f"{k:05d}.parquet"


class Block(NamedTuple):
    split: str
    k: int
    made: int = 0  # questions


def is_asked(asking: Asking) -> bool:
    """Whether all blocks are there."""
    return (asking.folder / DONE).exists()


def ask_all(
    asking: Asking, workers: int, tell: Callable[[int, int, str], None], taught: Taught | None = None
) -> None:
    """Make the blocks that are not there yet, with the models that were taught to check them."""
    if is_asked(asking):
        return
    blocks = [Block(split, k) for split in SPLITS for k in _blocks(asking, split)]
    todo = [block for block in blocks if not asking.keys(block.split, block.k).exists()]
    done, made = len(blocks) - len(todo), 0
    tell(done, len(blocks), "")
    with closing(run_all_with(taught, partial(ask_block, asking), todo, workers)) as results:
        for block in results:
            done, made = done + 1, made + block.made
            tell(done, len(blocks), f"{made:,} new questions")
    write_whole(asking.folder / DONE, b"{}")


def ask_block(asking: Asking, taught: Taught | None, block: Block) -> Block:
    """All questions about a block of source images, written down."""
    split, k, _ = block
    graphs, asker, verifier = _asker(asking, taught, split)
    if verifier is not None:
        verifier.begin()
    asked: list[Question] = []
    for number in sources(asking, split)[k * BLOCK : (k + 1) * BLOCK]:
        for q in asker.about(number):
            if len({graphs.picture_of[image] for image in q.scenes}) == len(q.scenes):
                asked.append(_told(q, f"{k}/{len(asked)}", asking.paraphrased))
    write_shard(asking.folder, split, k, (), asked)
    if verifier is not None:
        write_whole(asking.checked(split, k), json.dumps(verifier.tally).encode())
    path = asking.keys(split, k)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, Keys.of(asked).rows.tobytes())  # the last to be written: it says that all is there
    return Block(split, k, len(asked))


def _told(question: Question, name: str, paraphrased: bool) -> Question:
    """The question under a name of its own, in other words if these are asked for."""
    notes = tuple(note for note in question.notes if note[0] != "pair")
    said = question.note("paraphrase")
    if not paraphrased:
        return replace(question, id=name, notes=notes)
    if not said:
        raise UserError(f"question {question.text!r} has no paraphrase")
    kept = tuple(note for note in notes if note[0] != "paraphrase")
    return replace(question, id=name, text=said, notes=(*kept, (GENERATED, question.text)))


@lru_cache(maxsize=1)
def _asker(asking: Asking, taught: Taught | None, split: str) -> tuple[Graphs, Asker, Verifier | None]:
    collect_seldom()
    graphs = Graphs(asking.graphs, split)
    index = load(graphs.index_path)
    related = Related(index, asking.inputs.judges.overlap(index.graphs.schema))
    verifier = None
    if asking.seeing is not None:
        seer = taught_seers(graphs, taught, asking.seed) if taught else asking.seeing.make()
        verifier = verifier_of(asking.inputs, related, graphs, seer, asked=asking.seeing.asked)
    options: dict[str, Any] = {"easy": asking.easy, "verifier": verifier, "most": asking.subgraphs}
    return graphs, Asker(related, asking.seed, **options), verifier


def checked(asking: Asking) -> dict[str, int]:
    """How many images the verifier judged, and dropped, of those that distract and of those counted."""
    found: Counter[str] = Counter()
    for split in SPLITS if asking.seeing is not None else ():
        for k in _blocks(asking, split):
            with stage_file(asking.checked(split, k)) as path:
                found.update(json.loads(path.read_bytes()))
    return dict(sorted(found.items()))


class Chosen(NamedTuple):
    """The questions kept of a split, in the order of their source images, and the images they show."""

    blocks: Numbers
    rows: Numbers  # within a block
    pairs: Numbers  # the number of another with the same words and another answer; −1 where there is none
    images: Numbers  # graph numbers, as first asked about
    first: Numbers  # [image] the number of that question


def choose(asking: Asking, folder: Path, wanted: Mapping[str, int]) -> dict[str, dict[str, int]]:
    """Choose at most so many questions a split and write down which; returns how many each template had."""
    about = folder / DONE
    if about.exists():
        with stage_file(about):
            found: dict[str, dict[str, int]] = json.loads(about.read_bytes())
        return found
    folder.mkdir(parents=True, exist_ok=True)
    blocks = {split: _blocks(asking, split) for split in SPLITS}
    keys = {split: Keys.joined([_keys(asking, split, k) for k in blocks[split]]) for split in SPLITS}
    names = templates()
    counts = {split: {name: keys[split].count(name) for name in names} for split in SPLITS}
    kept = {split: np.ones(len(keys[split]), bool) for split in SPLITS}
    kept["val"], kept["test"] = apart(keys["val"], keys["test"])
    for split in SPLITS:
        numbers = np.flatnonzero(kept[split])
        each = wanted[split] // len(names)
        mine = Keys(keys[split].rows[numbers])
        chosen = balanced(mine, each, asking.seed, split)
        sizes = [len(_keys(asking, split, k)) for k in blocks[split]]
        ends = np.cumsum(sizes, dtype=np.int64)
        at = np.searchsorted(ends, numbers[chosen], side="right")
        rows = numbers[chosen] - (ends - sizes)[at]
        images, first = _images(asking, split, at, rows)
        np.savez(folder / f"{split}.npz", at, rows, partners(mine, chosen), images, first)
    write_whole(about, json.dumps(counts).encode())
    return counts


@lru_cache(maxsize=len(SPLITS))
def sources(asking: Asking, split: str) -> tuple[int, ...]:
    """The graphs whose subgraphs are asked about: all, or as many as are enough, drawn by the seed."""
    count, most = len(Graphs(asking.graphs, split)), dict(asking.most)[split]
    if count <= most:
        return tuple(range(count))
    return tuple(sorted(rng.derive("sources", asking.seed, split).permutation(count)[:most].tolist()))


def _blocks(asking: Asking, split: str) -> range:
    return range(-(-len(sources(asking, split)) // BLOCK))


def _keys(asking: Asking, split: str, k: int) -> Keys:
    with stage_file(asking.keys(split, k)) as path:
        return Keys(np.frombuffer(path.read_bytes(), ROW))


def _images(asking: Asking, split: str, blocks: Numbers, rows: Numbers) -> tuple[Numbers, Numbers]:
    """The images asked about in the order in which they first are, and the questions that do."""
    numbers = Graphs(asking.graphs, split).numbers
    first: dict[int, int] = {}
    at = 0
    for k, mine in _by_block(blocks, rows):
        column = columns_of(asking.questions(split, k), ["image_ids"], _remedy(asking))["image_ids"]
        for images in column.take(mine).to_pylist():
            for image in images:
                first.setdefault(numbers[image], at)
            at += 1
    return np.array(list(first), np.int64), np.array(list(first.values()), np.int64)


def chosen(folder: Path, split: str) -> Chosen:
    with stage_file(folder / f"{split}.npz") as path, np.load(path, allow_pickle=False) as file:
        return Chosen(*(file[name] for name in file.files))


def questions(asking: Asking, split: str, some: Chosen, numbers: Sequence[int]) -> Iterator[Question]:
    """The chosen questions of these numbers, which ascend, as they were asked."""
    picked = np.array(numbers, np.int64)
    for k, mine in _by_block(some.blocks[picked], some.rows[picked]):
        with reading(asking.questions(split, k), _remedy(asking)) as file:
            table = file.read(use_threads=False).take(mine)
        yield from questions_of(table)


def _remedy(asking: Asking) -> str:
    return f"delete {asking.folder} and run the same command again"


def _by_block(blocks: Numbers, rows: Numbers) -> Iterator[tuple[int, list[int]]]:
    pairs: Any = zip(blocks.tolist(), rows.tolist(), strict=True)
    for k, group in groupby(pairs, key=lambda pair: pair[0]):
        yield k, [row for _, row in group]
