"""GQA: questions about one image, made from any scene graphs, that say more than they must.

For example, of a graph with a black cat on a mat: "Is the cat that is on the mat black?", yes,
verify(unique(filter(related(find(mat), on), name=cat)), color=black); there is no other cat, so "on the mat"
is redundant.

Hudson and Manning, GQA: a new dataset for real-world visual reasoning and compositional question answering,
2019; the forms and words are ours.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from ..errors import UserError
from ..graph.gqa.asker import Asker
from ..graph.gqa.vocabulary import Vocabulary
from ..store.about import About
from ..store.build import Made
from ._again import Again
from ._covr_graphs import SPLITS, Graphs
from ._covr_inputs import Inputs, given_again, stored

VERSION = 1  # of what the spec means: another version makes other data
WORDS = "words.json"

ABOUT = About(
    title="GQA-style questions, made by ShiftScope",
    summary="Questions about one image each, made from scene graphs, with programs and executed answers; "
    "descriptions often say more than is needed to tell what is meant.",
)


@dataclass(frozen=True, slots=True)
class Order:
    """What to make: everything that the data depend on."""

    graphs: tuple[str, ...] = ()  # given files, by name and content
    images: str = ""  # the folder of their pictures, by name and content, if there is one
    questions: int = 4  # of an image, at most
    share: int = 6  # one image in so many is for val, and one for test
    seed: int = 0
    overlap: tuple[str, ...] = ("schema",)  # who says which words exclude which
    shard: int = 1000  # images

    def __post_init__(self) -> None:
        if self.questions < 1 or self.shard < 1 or self.share < len(SPLITS):
            raise UserError(f"questions and shard size are at least 1, the share at least {len(SPLITS)}")

    def spec(self) -> dict[str, Any]:
        return {
            "suite": "gqa",
            "version": VERSION,
            "graphs": list(self.graphs),
            "images": self.images,
            "questions": self.questions,
            "share": self.share,
            "seed": self.seed,
            "overlap": list(self.overlap),
            "shard": self.shard,
        }

    @classmethod
    def of(cls, spec: Mapping[str, Any]) -> Order:
        found = {name: spec[name] for name in cls.__dataclass_fields__}
        return cls(**found | {name: tuple(found[name]) for name in ("graphs", "overlap")})

    def jobs(self, counts: Mapping[str, int] | None = None) -> dict[str, int]:
        """How many shards each split has, once it is known how many graphs are in it."""
        found = dict.fromkeys(SPLITS, 1) if counts is None else counts
        return {split: -(-count // self.shard) for split, count in found.items() if count}


def again(spec: Mapping[str, Any]) -> Again:
    """The command that makes the dataset of a spec; the graphs and pictures must be at hand."""
    given, needs = given_again(spec, ("graphs", "images"))
    return Again(given | {name: spec[name] for name in ("questions", "share", "seed", "shard")}, needs)


def rehearse(order: Order) -> None:
    """It has no world of its own."""
    if not order.graphs:
        raise UserError("gqa is made from scene graphs: shiftscope make gqa --graphs FILE --out DIR")


@dataclass(frozen=True, slots=True)
class Work:
    """Where the graphs were laid out, and what else the user gave."""

    graphs: Path
    inputs: Inputs


def make_shard(work: Work, spec: Mapping[str, Any], split: str, k: int) -> Made:
    """Shard k of a split: the graphs about which there is something to ask, and the questions."""
    order = Order.of(spec)
    graphs, asker = _loaded(work, split, order.seed)
    shown, asked = [], []
    for number in range(k * order.shard, min((k + 1) * order.shard, len(graphs))):
        scene = graphs.scene(number)
        found = asker.about(scene, order.questions, split)
        if found:
            asked += found
            shown.append(stored(scene, work.inputs.files[graphs.sources[number]], work.inputs.images))
    return shown, asked


@lru_cache(maxsize=1)
def _loaded(work: Work, split: str, seed: int) -> tuple[Graphs, Asker]:
    graphs = Graphs(work.graphs, split)
    words = Vocabulary.from_json(json.loads((work.graphs / WORDS).read_bytes()))
    return graphs, Asker(words, work.inputs.judges.overlap(graphs.scene(0).schema), seed)


def lay_out_words(folder: Path) -> None:
    """The words of the training graphs, or of all where none is for training."""
    splits = [s for s in SPLITS if len(Graphs(folder, s))]
    splits = splits[:1] if splits[0] == SPLITS[0] else splits
    words = Vocabulary.of(scene for split in splits for scene in Graphs(folder, split).scenes())
    (folder / WORDS).write_text(json.dumps(words.to_json()), "utf-8")
