"""The second and third stage of a COVR dataset: all questions that can be asked, and those that are kept.

Candidates are made in blocks of source images, each a function of the index, the seed and the block; a block
that is on disk is not made again. Choosing looks at a few bytes of each.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ... import rng
from ...errors import UserError
from ...executor import Executor, Progress
from ...files import write_whole
from ...question import Question
from ...questions.covr.balance import GENERATED, ROW, CandidateKeys, balance_candidates, find_partners, separate_texts
from ...questions.covr.questioner import CovrQuestioner, load_templates, reduce_garbage_collection
from ...scene_graph.index import load_index
from ...scene_graph.related_images import RelatedImages
from ...scene_graph.subgraph_classifier import RelatedImageChecker
from ...store.shard import open_parquet, read_columns, write_shard
from ...store.tables import parse_questions
from ..graph_inputs import GraphInputs
from ..split_graphs import DONE, SPLITS, SplitGraphs, open_stage_file
from .train_classifier import TrainedClassifiers, assign_classifiers, build_verifier
from .verify import NamedClassifier

BLOCK = 25  # source images
Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class CandidateSpec:
    """What workers need to generate questions."""

    graphs: Path
    folder: Path
    inputs: GraphInputs
    seed: int
    easy: bool
    paraphrased: bool
    subgraphs: int
    most: tuple[tuple[str, int], ...]  # split, source images at most
    classifier: NamedClassifier | None = None  # checks what graphs may lack

    def keys_path(self, split: str, k: int) -> Path:
        return self.folder / "keys" / split / f"{k:05d}.npy"

    def verdicts_path(self, split: str, k: int) -> Path:
        return self.folder / "checked" / split / f"{k:05d}.json"

    def questions_path(self, split: str, k: int) -> Path:
        return self.folder / "questions" / split / f"{k:05d}.parquet"

    @property
    def remedy(self) -> str:
        return f"delete {self.folder} and run the same command again"

    @property
    def is_done(self) -> bool:
        return (self.folder / DONE).exists()


def make_candidates(
    asking: CandidateSpec, executor: Executor, tell: Progress, trained: TrainedClassifiers | None = None
) -> None:
    """Make the blocks that are not there yet, with the models trained to check them."""
    if asking.is_done:
        return
    blocks = [(split, k) for split in SPLITS for k in _list_blocks(asking, split)]
    todo = [block for block in blocks if not asking.keys_path(*block).exists()]
    done, questions = len(blocks) - len(todo), 0
    tell(done, len(blocks), "")
    with closing(executor.map_unordered_with(trained, partial(make_candidate_block, asking), todo)) as counts:
        for count in counts:
            done, questions = done + 1, questions + count
            tell(done, len(blocks), f"{questions:,} new questions")
    write_whole(asking.folder / DONE, b"{}")


def make_candidate_block(asking: CandidateSpec, trained: TrainedClassifiers | None, block: tuple[str, int]) -> int:
    """Write all questions about a block of source images; returns how many."""
    split, k = block
    graphs, questioner, verifier = _build_questioner(asking, trained, split)
    if verifier is not None:
        verifier.reset()
    questions: list[Question] = []
    for number in select_sources(asking, split)[k * BLOCK : (k + 1) * BLOCK]:
        for q in questioner.generate_questions(number):
            if len({graphs.picture_of[image] for image in q.scenes}) == len(q.scenes):
                questions.append(_phrase_candidate(q, f"{k}/{len(questions)}", asking.paraphrased))
    write_shard(asking.folder, split, k, (), questions)
    if verifier is not None:
        write_whole(asking.verdicts_path(split, k), json.dumps(verifier.counts).encode())
    keys = CandidateKeys.from_questions(questions)
    write_whole(asking.keys_path(split, k), keys.rows.tobytes())  # the last to be written: all is there
    return len(questions)


def _phrase_candidate(question: Question, name: str, paraphrased: bool) -> Question:
    """The question under a name of its own, paraphrased if wanted."""
    notes = tuple(note for note in question.notes if note[0] != "pair")
    paraphrase = question.note("paraphrase")
    if not paraphrased:
        return replace(question, id=name, notes=notes)
    if not paraphrase:
        raise UserError(f"question {question.text!r} has no paraphrase")
    kept = tuple(note for note in notes if note[0] != "paraphrase")
    return replace(question, id=name, text=paraphrase, notes=(*kept, (GENERATED, question.text)))


@lru_cache(maxsize=1)
def _build_questioner(
    asking: CandidateSpec, trained: TrainedClassifiers | None, split: str
) -> tuple[SplitGraphs, CovrQuestioner, RelatedImageChecker | None]:
    reduce_garbage_collection()
    graphs = SplitGraphs(asking.graphs, split)
    index = load_index(graphs.index_path)
    related = RelatedImages(index, asking.inputs.overlap_sources.build_overlap(index.graphs.schema))
    verifier = None
    if asking.classifier is not None:
        classifier = assign_classifiers(graphs, trained, asking.seed) if trained else asking.classifier.make()
        prompted = asking.classifier.is_prompted
        verifier = build_verifier(asking.inputs, related, graphs, classifier, prompted=prompted)
    questioner = CovrQuestioner(related, asking.seed, easy=asking.easy, verifier=verifier, most=asking.subgraphs)
    return graphs, questioner, verifier


def count_checked_images(asking: CandidateSpec) -> dict[str, int]:
    """How many images the verifier judged, and dropped, of those that distract and of those counted."""
    found: Counter[str] = Counter()
    for split in SPLITS if asking.classifier is not None else ():
        for k in _list_blocks(asking, split):
            with open_stage_file(asking.verdicts_path(split, k)) as path:
                found.update(json.loads(path.read_bytes()))
    return dict(sorted(found.items()))


class SelectedQuestions(NamedTuple):
    """The questions kept of a split, in the order of their source images, and the images they show."""

    blocks: Numbers
    rows: Numbers  # within a block
    pairs: Numbers  # the number of another with the same words and another answer; −1 where there is none
    images: Numbers  # graph numbers, as first asked about
    first: Numbers  # [image] the number of that question


def select_questions(asking: CandidateSpec, folder: Path, wanted: Mapping[str, int]) -> dict[str, dict[str, int]]:
    """Choose at most so many questions a split and write down which; returns how many each template had."""
    about = folder / DONE
    if about.exists():
        with open_stage_file(about):
            found: dict[str, dict[str, int]] = json.loads(about.read_bytes())
        return found
    folder.mkdir(parents=True, exist_ok=True)
    blocks = {split: _list_blocks(asking, split) for split in SPLITS}
    keys = {split: CandidateKeys.concatenate([_read_keys(asking, split, k) for k in blocks[split]]) for split in SPLITS}
    names = load_templates()
    counts = {split: {name: keys[split].count_template(name) for name in names} for split in SPLITS}
    kept = {split: np.ones(len(keys[split]), bool) for split in SPLITS}
    kept["val"], kept["test"] = separate_texts(keys["val"], keys["test"])
    for split in SPLITS:
        numbers = np.flatnonzero(kept[split])
        mine = CandidateKeys(keys[split].rows[numbers])
        chosen = balance_candidates(mine, wanted[split] // len(names), asking.seed, split)
        sizes = [len(_read_keys(asking, split, k)) for k in blocks[split]]
        ends = np.cumsum(sizes, dtype=np.int64)
        at = np.searchsorted(ends, numbers[chosen], side="right")
        rows = numbers[chosen] - (ends - sizes)[at]
        images, first = _list_images(asking, split, at, rows)
        np.savez(folder / f"{split}.npz", at, rows, find_partners(mine, chosen), images, first)
    write_whole(about, json.dumps(counts).encode())
    return counts


@lru_cache(maxsize=len(SPLITS))
def select_sources(asking: CandidateSpec, split: str) -> tuple[int, ...]:
    """The graphs whose subgraphs are asked about: all, or as many as are enough, drawn by the seed."""
    count, most = len(SplitGraphs(asking.graphs, split)), dict(asking.most)[split]
    if count <= most:
        return tuple(range(count))
    return tuple(sorted(rng.derive("sources", asking.seed, split).permutation(count)[:most].tolist()))


def _list_blocks(asking: CandidateSpec, split: str) -> range:
    return range(-(-len(select_sources(asking, split)) // BLOCK))


def _read_keys(asking: CandidateSpec, split: str, k: int) -> CandidateKeys:
    with open_stage_file(asking.keys_path(split, k)) as path:
        return CandidateKeys(np.frombuffer(path.read_bytes(), ROW))


def _list_images(asking: CandidateSpec, split: str, blocks: Numbers, rows: Numbers) -> tuple[Numbers, Numbers]:
    """The images asked about in the order in which they first are, and the questions that do."""
    numbers = SplitGraphs(asking.graphs, split).numbers
    first: dict[int, int] = {}
    at = 0
    for k, mine in _group_by_block(blocks, rows):
        column = read_columns(asking.questions_path(split, k), ["image_ids"], asking.remedy)["image_ids"]
        for images in column.take(mine).to_pylist():
            for image in images:
                first.setdefault(numbers[image], at)
            at += 1
    return np.array(list(first), np.int64), np.array(list(first.values()), np.int64)


def read_selection(folder: Path, split: str) -> SelectedQuestions:
    with open_stage_file(folder / f"{split}.npz") as path, np.load(path, allow_pickle=False) as file:
        return SelectedQuestions(*(file[name] for name in file.files))


def read_candidates(
    asking: CandidateSpec, split: str, some: SelectedQuestions, numbers: Sequence[int]
) -> Iterator[Question]:
    """The chosen questions of these numbers, which ascend, as they were asked."""
    picked = np.array(numbers, np.int64)
    for k, mine in _group_by_block(some.blocks[picked], some.rows[picked]):
        with open_parquet(asking.questions_path(split, k), asking.remedy) as file:
            table = file.read(use_threads=False).take(mine)
        yield from parse_questions(table)


def _group_by_block(blocks: Numbers, rows: Numbers) -> Iterator[tuple[int, list[int]]]:
    pairs: Any = zip(blocks.tolist(), rows.tolist(), strict=True)
    for k, group in groupby(pairs, key=lambda pair: pair[0]):
        yield k, [row for _, row in group]
