"""COVR: questions over several images, from any scene graphs, with distractors that are nearly right.

For example, of five images, two of which show a man catching a frisbee and one a woman catching one: "How
many images contain a man that is catching a frisbee?", 2; a distractor differs from what is asked about in
one or two words.

Bogin et al., COVR: a test-bed for visually grounded compositional generalization with real images, 2021.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from ..errors import UserError, unknown
from ..geometry.camera import SIZE, check_size
from ..question import Question
from ..store.about import About
from ..store.build import Made
from ..world import superclevr as world
from ._again import Again, size_option
from ._covr_candidates import Asking, Chosen, chosen, questions
from ._covr_graphs import SPLITS, Graphs
from ._covr_inputs import given_again, stored
from ._pictures import pictures

VERSION = 1  # of what the spec means: another version makes other data
WORLDS = ("superclevr",)
LEAST = 15  # questions a split: one of each template
SHARE = 6

ABOUT = About(
    title="COVR, made by ShiftScope",
    summary="Questions over up to five images each, made from scene graphs by 15 templates, with programs "
    "and executed answers; the images that distract differ from what is asked about in a word or two.",
)


@dataclass(frozen=True, slots=True)
class Order:
    """What to make: everything that the data depend on."""

    world: str = WORLDS[0]  # empty where scene graphs are given
    n: int = 3000  # scenes of the world, over all splits
    size: tuple[int, int] = SIZE  # of their pictures
    graphs: tuple[str, ...] = ()  # given files, by name and content
    val: tuple[str, ...] = ()  # of these, the ones for val and test
    images: str = ""  # the folder of their pictures, by name and content, if there is one
    questions: tuple[int, ...] = (9000, 1500, 1500)  # at most, for train, val and test
    sources: int = 0  # images a split that are asked about, at most; 0: as many as questions are wanted
    subgraphs: int = 8  # of one image, at most, that are asked about
    share: int = SHARE  # one image in so many is for val, and one for test
    seed: int = 0
    easy_distractors: bool = False  # random images instead of near ones
    paraphrased: bool = False
    overlap: tuple[str, ...] = ("schema",)  # who says which words exclude which
    keep_spatial: bool = False  # of open graphs; closed ones always do
    verify: str = ""  # what checked that graphs lack nothing; empty: nothing did
    trust_remote_code: bool = False  # that model may run code of its own
    shard: int = 500  # questions

    def __post_init__(self) -> None:
        if bool(self.world) == bool(self.graphs):
            raise UserError("COVR is made either from scene graphs or from a world: give one of the two")
        if self.world and self.world not in WORLDS:
            raise unknown("world", self.world, WORLDS)
        if len(self.questions) != len(SPLITS) or min(self.questions) < LEAST:
            raise UserError(f"questions are one number a split, {LEAST} at least: one of each template")
        if self.shard < 1 or self.subgraphs < 1 or self.sources < 0 or self.share < len(SPLITS):
            raise UserError(f"shard size and subgraphs must be at least 1, the share at least {len(SPLITS)}")
        if self.world and self.n < self.share:
            raise UserError(f"{self.n} scenes are too few; one in {self.share} is for testing")
        check_size(self.size)

    def spec(self) -> dict[str, Any]:
        common = {
            "questions": ",".join(map(str, self.questions)),
            "sources": self.sources,
            "subgraphs": self.subgraphs,
            "share": self.share,
            "seed": self.seed,
            "easy_distractors": self.easy_distractors,
            "paraphrased": self.paraphrased,
            "shard": self.shard,
        }
        made: dict[str, Any] = {"suite": "covr", "version": VERSION}
        if self.world:
            made |= {"world": self.world, "n": self.n, "size": list(self.size)}
        else:
            made |= {"graphs": list(self.graphs), "val": list(self.val), "images": self.images}
            made |= {"overlap": list(self.overlap), "keep_spatial": self.keep_spatial, "verify": self.verify}
            made |= {"trust_remote_code": True} if self.trust_remote_code else {}
        return made | common

    @classmethod
    def of(cls, spec: Mapping[str, Any]) -> Order:
        names = [name for name in cls.__dataclass_fields__ if name in spec]
        found: dict[str, Any] = {name: tuple(v) if isinstance(v := spec[name], list) else v for name in names}
        found["questions"] = tuple(map(int, spec["questions"].split(",")))
        return cls(**{"world": "", **found})

    def wanted(self) -> dict[str, int]:
        """How many questions each split is to have."""
        return dict(zip(SPLITS, self.questions, strict=True))

    def asked_about(self) -> dict[str, int]:
        """Of how many images in each split subgraphs are asked about, at most."""
        return {split: self.sources or count for split, count in self.wanted().items()}

    def jobs(self, counts: Mapping[str, int] | None = None) -> dict[str, int]:
        """How many shards each split has, once it is known how many questions came out."""
        found = self.wanted() if counts is None else counts
        return {split: -(-count // self.shard) for split, count in found.items() if count}

    def scene_counts(self) -> dict[str, int]:
        """How many scenes of the world each split has."""
        held = self.n // self.share
        return {"train": self.n - 2 * held, "val": held, "test": held}


def again(spec: Mapping[str, Any]) -> Again:
    """The command that makes the dataset of a spec; given graphs and pictures must be at hand."""
    names = ("questions", "sources", "subgraphs", "share", "seed", "easy_distractors", "paraphrased", "shard")
    common = {name.replace("_", "-"): spec[name] for name in names}
    if spec.get("world"):
        own = {"world": spec["world"], "n": spec["n"], "size": size_option(spec["size"])}
        return Again(own | common)
    given, needs = given_again(spec, ("graphs", "val", "images"))
    return Again(given | {"keep-spatial": spec["keep_spatial"], "verify": spec["verify"]} | common, needs)


@dataclass(frozen=True, slots=True)
class Work:
    """Where the stages before the last left what they made."""

    asking: Asking
    chosen: Path


def make_shard(work: Work, spec: Mapping[str, Any], split: str, k: int) -> Made:
    """Shard k of a split: its questions, and the images that none before asked about."""
    order = Order.of(spec)
    graphs, some = _loaded(work, split)
    first, last = k * order.shard, min((k + 1) * order.shard, len(some.rows))
    asked = [
        _final(q, number, some, split)
        for number, q in enumerate(questions(work.asking, split, some, range(first, last)), first)
    ]
    mine = some.images[(some.first >= first) & (some.first < last)].tolist()
    scenes = [graphs.scene(number) for number in mine]
    if order.world:
        return list(pictures(scenes, order.size, parts=True)), asked
    inputs = work.asking.inputs
    files = [inputs.files[graphs.sources[number]] for number in mine]
    return [stored(s, f, inputs.images) for s, f in zip(scenes, files, strict=True)], asked


@lru_cache(maxsize=1)
def _loaded(work: Work, split: str) -> tuple[Graphs, Chosen]:
    return Graphs(work.asking.graphs, split), chosen(work.chosen, split)


def _final(question: Question, number: int, some: Chosen, split: str) -> Question:
    pair = int(some.pairs[number])
    notes = (*question.notes, *((("pair", question_id(split, pair)),) if pair >= 0 else ()))
    provenance = replace(question.provenance, split=split)
    return replace(question, id=question_id(split, number), provenance=provenance, notes=notes)


def question_id(split: str, number: int) -> str:
    return f"covr_{split}_{number:06d}"


def world_scene(order: Order, split: str, index: int) -> Any:
    """A scene of the world."""
    return world.scene(order.seed, f"covr_{split}", index, world.Rules(size=order.size))


def kept(work: Work, split: str) -> int:
    """How many questions a split will have."""
    return len(chosen(work.chosen, split).rows)
