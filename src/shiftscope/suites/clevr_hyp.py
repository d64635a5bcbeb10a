"""CLEVR_HYP: questions about what would be true of a picture's scene after an action told in words.

For example, of a scene with a small red cube and two blue balls: "Paint the small cube blue." and "How many
blue objects would there be?", count(filter(change(unique(filter(filter(scene(), size=small), shape=cube)),
color=blue), color=blue)), 3.

Sampat et al., CLEVR_HYP: a challenge dataset and baselines for visual question answering with hypothetical
actions over images, 2021.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..act.examples import MOST_PLACEMENTS, PLACEMENTS
from ..errors import UserError
from ..geometry.camera import SIZE, check_size
from ..question import Question
from ..scene import Scene
from ..schemas.clevr import SCHEMA
from ..store.about import About
from ..store.dataset import Dataset
from ..store.image import StoredImage
from ..world import clevr as world
from ._again import Again, size_option
from ._hyp_splits import SHARE, SPLITS
from ._hyp_statistics import described
from ._pictures import pictures
from ._spool import read_spool, write_spool

VERSION = 3  # of what the spec means: another version makes other data
OBJECTS = (4, 10)
GIVEN = "scenes"  # names, in a spec, the user's own scenes by their content

ABOUT = About(
    title="CLEVR_HYP, made by ShiftScope",
    summary="Solids on a plane, an action told in words, and a question about what would be true after it; "
    "with programs for both, and answers that the action changes.",
)

Made = tuple[Sequence[StoredImage], Sequence[Question]]


@dataclass(frozen=True, slots=True)
class Order:
    """What to make: everything that the data depend on."""

    images: int = 7000
    seed: int = 0
    size: tuple[int, int] = SIZE
    placements: int = PLACEMENTS  # of a free place, whose answers must agree; 1 for the paper's own rule
    pictured: bool = True
    paraphraser: str = ""  # a model that rewords the texts
    shard: int = 250  # images; answers are balanced within a shard

    def __post_init__(self) -> None:
        if self.images < 1 or self.shard < 1:
            raise UserError("images and shard size must be at least 1")
        if not 1 <= self.placements <= MOST_PLACEMENTS:
            raise UserError(f"placements go from 1 to {MOST_PLACEMENTS:,}, not {self.placements:,}")
        check_size(self.size)

    def spec(self) -> dict[str, Any]:
        return {
            "suite": "clevr_hyp",
            "version": VERSION,
            "images": self.images,
            "seed": self.seed,
            "size": list(self.size),
            "placements": self.placements,
            "pictured": self.pictured,
            "paraphraser": self.paraphraser,
            "shard": self.shard,
        }

    @classmethod
    def of(cls, spec: Mapping[str, Any]) -> Order:
        names = ("images", "seed", "placements", "pictured", "paraphraser", "shard")
        width, height = spec["size"]
        return cls(**{name: spec[name] for name in names}, size=(width, height))

    def pools(self) -> dict[str, int]:
        """How many images are for train, val and test."""
        held = self.images // SHARE
        return {"train": self.images - 2 * held, "val": held, "test": held}

    def jobs(self) -> dict[str, int]:
        """How many shards each split has."""
        pools = self.pools()
        sizes = {split: pools[pool] for split, (pool, *_) in SPLITS.items()}
        return {split: -(-size // self.shard) for split, size in sizes.items() if size}


def again(spec: Mapping[str, Any]) -> Again:
    """The command that makes the dataset of a spec; a user's own scenes must be at hand."""
    options = {name: spec[name] for name in ("images", "seed", "placements", "paraphraser", "shard")}
    options |= {"size": size_option(spec["size"]), "no-images": not spec["pictured"]}
    if GIVEN not in spec:
        return Again(options)
    needs = f"SCENES: the file or folder of scenes that was given (content {spec[GIVEN]})"
    return Again(options | {"scenes": "SCENES"}, (needs,))


def make_shard(spec: Mapping[str, Any], split: str, k: int) -> Made:
    """Shard k of a split: a function of the spec alone. Images are in train, val and test."""
    order = Order.of(spec)
    pool = SPLITS[split].pool
    first = k * order.shard
    last = min(first + order.shard, order.pools()[pool])
    rules = world.Rules(objects=OBJECTS, size=order.size)
    scenes = [world.scene(order.seed, f"hyp_{pool}", i, rules) for i in range(first, last)]
    return _made(order, scenes, split, first)


def make_given_shard(spool: Path, spec: Mapping[str, Any], split: str, k: int) -> Made:
    """The same for a user's own scenes, as `lay_out` left them."""
    order = Order.of(spec)
    pool = SPLITS[split].pool
    scenes = read_spool(spool / f"{pool}{k}")
    return _made(order, scenes, split, k * order.shard)


def _made(order: Order, scenes: list[Scene], split: str, first: int) -> Made:
    pool, ask, _ = SPLITS[split]
    asked = list(ask(scenes, first, order.seed, split, order.placements))
    if order.paraphraser:
        from ..act.paraphrase_model import reworded

        asked = reworded(asked, order.paraphraser)
    shown: list[StoredImage] = []
    if split == pool:
        shown = list(pictures(scenes, order.size)) if order.pictured else [StoredImage(s) for s in scenes]
    return shown, asked


def rehearse(order: Order) -> None:
    """Find out before anything is written whether there is a model where one is to reword."""
    if order.paraphraser:
        from ..act.paraphrase_model import Paraphraser

        Paraphraser(order.paraphraser)


def lay_out(path: Path, spool: Path, order: Order, most: int | None = None) -> tuple[int, int]:
    """Put a user's own scenes, the first `most` that do, where other processes find them.

    How many these are, and how many of all do not do.
    """
    from ..act.stage import check_scene
    from ..formats.clevr import read_scenes

    found = read_scenes(path)
    for scene in found:
        if scene.schema != SCHEMA:
            raise UserError(f"{path}: scene {scene.id!r} is no CLEVR scene but of {scene.schema.name}")
    fit = [s for s in found if OBJECTS[0] <= len(s.objects) <= OBJECTS[1]]
    if not fit:
        raise UserError(f"{path}: no scene has {OBJECTS[0]} to {OBJECTS[1]} objects")
    left_out = len(found) - len(fit)
    fit = fit[:most]
    for scene in fit:
        try:
            check_scene(scene)
        except UserError as error:
            raise UserError(f"{path}: {error}") from None
    begin = 0
    for pool, size in replace(order, images=len(fit)).pools().items():
        mine = fit[begin : begin + size]
        begin += size
        for k in range(0, size, order.shard):
            write_spool(spool / f"{pool}{k // order.shard}", mine[k : k + order.shard])
    return len(fit), left_out


def passage(dataset: Dataset) -> str:
    """For the card: the statistics of the paper's Table 2 and Figure 5."""
    return described(dataset)
