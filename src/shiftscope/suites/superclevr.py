"""Super-CLEVR: vehicles with parts, and four factors of shift that are told apart by twins.

For example, of a scene with a blue bus, whose door is red, left of a green truck: "What color is the bus to
the left of the truck?", query(unique(filter(relate(unique(filter(scene(), shape=truck)), left), shape=bus)),
color), blue; and of its part "What is the color of the door of the bus?", red. The twin *rd-* asks "What
color is the bus?"; *easy* shows the bus without the red door; *long* shows a jet in its place.

Li et al., Super-CLEVR: a virtual benchmark to diagnose domain robustness in visual reasoning, 2023.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..ask.own import own_part_templates, own_templates
from ..ask.questions import ask
from ..ask.redundancy.levels import ask_levels
from ..ask.subjects import Subjects
from ..errors import UserError
from ..geometry.camera import SIZE, check_size
from ..geometry.vehicles.stored import digest
from ..question import Notes, Question
from ..scene import Scene
from ..schemas.superclevr import SCHEMA
from ..store.about import About
from ..store.build import Made
from ..store.dataset import Dataset
from ..store.shard import Shared, groups
from ..world import superclevr as world
from ..world.concepts import Concepts
from ._again import Again, size_option
from ._concept_counts import (
    Frequency,
    Together,
    Unseen,
    counted,
    counted_together,
    counted_unseen,
    described,
)
from ._pictures import pictures
from ._superclevr_variants import DEFAULT, VARIANTS, Variant, variant_named

VERSION = 2  # of what the spec means: another version makes other data
SHARE = 6  # one image in so many is for validation, and one for testing, as in the release
MOST_QUESTIONS = 1000  # an image; more than its scene could ever give
OWN = "own"  # the variant whose concepts are the user's
GIVEN = "given"  # the split of a user's own scenes, and where the spec tells them apart
PICTURED = "pictured"  # where the spec says whether these were rendered
SHARED_QUESTIONS = ("visual", "redundancy")  # factors whose twins ask the same questions

ABOUT = About(
    title="Super-CLEVR, made by ShiftScope",
    summary="Vehicles with parts, rendered with masks; questions about vehicles and about their parts, with "
    "programs and twice-checked answers. Variants differ from the default in one factor only.",
)


@dataclass(frozen=True, slots=True)
class Order:
    """What to make: everything that the data depend on."""

    variant: str = DEFAULT
    visual: str = "mid"
    images: int = 30_000  # over all splits; a variant for testing only has its test split alone
    seed: int = 0
    size: tuple[int, int] = SIZE
    questions: int = 10  # an image, about whole vehicles
    part_questions: int = 10  # an image; scenes without parts have none
    shard: int = 250  # images; answers are balanced within a shard
    concepts: Concepts | None = None  # the user's own; else the variant's

    def __post_init__(self) -> None:
        least = SHARE if self.kind.test_only else 1
        if self.images < least:
            raise UserError(
                f"{self.images} images are too few for {self.variant}: at least {least}, of which one in "
                f"{SHARE} is for testing"
            )
        if self.shard < 1 or not all(0 <= n <= MOST_QUESTIONS for n in (self.questions, self.part_questions)):
            raise UserError(
                f"shard size must be at least 1, questions an image from 0 to {MOST_QUESTIONS:,} of each sort"
            )
        if self.kind.factor == "visual" and self.visual != self.variant:
            raise UserError(f"variant {self.variant} is {self.variant}; it can not be made {self.visual}")
        if self.kind.concepts != VARIANTS[DEFAULT].concepts and self.concepts is not None:
            raise UserError(f"variant {self.variant} has its own distribution; give yours without --variant")
        check_size(self.size)
        self.rules()

    @classmethod
    def named(cls, variant: str = DEFAULT, visual: str = "", **rest: Any) -> Order:
        """As a user names it: `mid` is the default, and the default at another visual level that level."""
        found = variant_named(variant)
        name = variant_named(visual).name if found.name == DEFAULT and visual else found.name
        return cls(name, visual or found.visual, **rest)

    @property
    def kind(self) -> Variant:
        return variant_named(self.variant)

    @property
    def name(self) -> str:
        """What its examples say they are."""
        return OWN if self.concepts else self.variant

    def rules(self) -> world.Rules:
        return world.Rules(size=self.size, visual=self.visual, concepts=self.concepts or self.kind.concepts)

    def base(self) -> Order:
        """The order of the dataset whose layouts and questions this one shares; itself for the default."""
        if self.kind.factor == "visual":
            return replace(self, variant=DEFAULT, visual="mid")
        at = variant_named(self.visual).name  # the default, at this visual level
        return replace(self, variant=at, concepts=None)

    def spec(self) -> dict[str, Any]:
        plain = {
            "suite": "superclevr",
            "version": VERSION,
            "meshes": digest(),
            "variant": self.variant,
            "visual": self.visual,
            "images": self.images,
            "seed": self.seed,
            "size": list(self.size),
            "questions": self.questions,
            "part_questions": self.part_questions,
            "shard": self.shard,
        }
        return plain | ({"concepts": self.concepts.to_json()} if self.concepts else {})

    @classmethod
    def of(cls, spec: Mapping[str, Any]) -> Order:
        width, height = spec["size"] or SIZE
        names = ("variant", "visual", "images", "seed", "questions", "part_questions", "shard")
        own = Concepts.from_json(spec["concepts"]) if "concepts" in spec else None
        return cls(**{name: spec[name] for name in names}, size=(width, height), concepts=own)

    def splits(self) -> dict[str, int]:
        """How many images each split has; every image is in one."""
        held = self.images // SHARE
        sizes = {"train": self.images - 2 * held, "val": held, "test": held}
        return {n: size for n, size in sizes.items() if size and (n == "test" or not self.kind.test_only)}

    def jobs(self) -> dict[str, int]:
        """How many shards each split has."""
        return {name: -(-size // self.shard) for name, size in self.splits().items()}


def base_spec(spec: Mapping[str, Any]) -> dict[str, Any]:
    """The spec of what a dataset is a variant of; its own for the default and for given scenes."""
    if GIVEN in spec:
        return dict(spec)
    made = {name: spec.get(name) for name in ("version", "meshes")}
    return Order.of(spec).base().spec() | made


def again(spec: Mapping[str, Any]) -> Again:
    """The command that makes the dataset of a spec; a user's own scenes or shares must be at hand."""
    if spec["meshes"] != digest():
        return Again({}, why_not="its vehicles have other meshes than those of this version")
    names = ("variant", "visual", "images", "seed", "size", "questions", "part_questions", "shard")
    options = {name.replace("_", "-"): spec[name] for name in names} | {"size": size_option(spec["size"])}
    needs = []
    if GIVEN in spec:
        options = {name: value for name, value in options.items() if name not in ("visual", "images")}
        options |= {"scenes": "SCENES", "no-images": not spec[PICTURED]}
        needs.append(f"SCENES: the file or folder of scenes that was given (content {spec[GIVEN]})")
    if "concepts" in spec:
        options["distribution"] = "SHARES"
        needs.append("SHARES: the files of shares that were given, each with --distribution (concepts below)")
    return Again(options, tuple(needs))


def rehearse(order: Order) -> None:
    """Make the first scene, so that an order that no scene can meet is refused before anything is written."""
    world.scene(order.seed, next(iter(order.splits())), 0, order.rules())


def make_shard(spec: Mapping[str, Any], split: str, k: int) -> Made:
    """Shard k of a split: a function of the spec alone."""
    order = Order.of(spec)
    first = k * order.shard
    last = min(first + order.shard, order.splits()[split])
    rules = order.rules()
    scenes = [world.scene(order.seed, split, i, rules) for i in range(first, last)]
    return list(pictures(scenes, order.size, parts=True)), questions_of(order, scenes, split, k)


def make_twin_shard(base: Path, spec: Mapping[str, Any], split: str, k: int) -> Made:
    """The same shard, made from that of its base, a dataset that is done: nothing is sampled twice."""
    order = Order.of(spec)
    shard = next(s for s in Dataset.open(base).shards(split) if s.index == k)
    assert shard.images is not None
    stored = read_scenes(base / shard.images.path)
    if order.kind.factor == "redundancy":
        return Shared(base, shard.images), questions_of(order, stored, split, k)
    if order.kind.factor == "visual":
        scenes = [world.visual_twin(s, order.visual, order.seed) for s in stored]
    else:
        scenes = [world.concept_twin(s, order.seed, order.rules()) for s in stored]
    return list(pictures(scenes, order.size, parts=True)), questions_of(order, scenes, split, k)


def read_scenes(path: Path) -> list[Scene]:
    """The scenes of a shard of images, without the pictures."""
    return [
        Scene.from_json(json.loads(text))
        for table in groups(path, ["scene"])
        for text in table["scene"].to_pylist()
    ]


def questions_of(order: Order, scenes: Sequence[Scene], split: str, k: int) -> list[Question]:
    """The questions of a shard, image by image: first about the vehicles, then about their parts."""
    first = k * order.shard
    level = order.kind.redundancy
    subjects = Subjects(scenes)
    asked: list[Question] = []
    if order.questions:
        start = first * order.questions
        asked += ask_levels(
            subjects,
            own_templates(SCHEMA),
            (level,),
            per_image=order.questions,
            seed=order.seed,
            split=split,
            shard=k,
            start=start,
        )[level]
    if order.part_questions and any(o.parts for s in scenes for o in s.objects):
        start = order.images * order.questions + first * order.part_questions  # beyond those about vehicles
        asked += ask(
            subjects,
            own_part_templates(SCHEMA),
            per_image=order.part_questions,
            seed=order.seed,
            split=split,
            shard=k,
            start=start,
        )
    place = {scene.id: i for i, scene in enumerate(scenes)}
    asked.sort(key=lambda q: place[q.scenes[0]])
    return _named(asked, order)


def _named(questions: Sequence[Question], order: Order) -> list[Question]:
    """The questions under names that no other variant has; a twin says of which question it is one.

    Scenes have one name in all variants, so that what is asked about one place is resampled together; but
    where concepts differ, equal places in the list are unrelated questions, and these are nobody's twins.
    """
    kind, base = order.kind, order.base()
    shared = kind.factor in SHARED_QUESTIONS
    level: Notes = (("factor", kind.factor), ("level", kind.level)) if kind.factor else ()
    ending: Notes = (*level, ("variant", order.name))
    made = []
    for q in questions:
        name = q.note("twin", q.id)
        own = [n for n in q.notes if n[0] not in ("twin", "redundancy")]
        if shared:
            own.append(("twin", question_id(name, base)))
        made.append(
            Question(
                id=question_id(name, order),
                text=q.text,
                scenes=q.scenes,
                program=q.program,
                answer=q.answer,
                kind=q.kind,
                provenance=q.provenance,
                notes=(*own, *ending),
            )
        )
    return made


def question_id(name: str, order: Order) -> str:
    """What a question is called in a variant: as in the default, and the variant behind it."""
    return name if order.name == DEFAULT else f"{name}_{order.name}"


def passage(dataset: Dataset) -> str:
    """For the card: how often concepts occur, beside how often they were asked for."""
    return described(frequencies(dataset), together(dataset), unseen(dataset))


def frequencies(dataset: Dataset) -> list[Frequency]:
    """How often each concept occurs, and how often it was asked for unless the scenes were given."""
    asked = _asked(dataset)
    return counted(dataset, asked.asked() if asked else {})


def together(dataset: Dataset) -> list[Together]:
    """How often each shape has each colour, where it was asked which go together."""
    return counted_together(dataset, _asked(dataset))


def unseen(dataset: Dataset) -> Unseen | None:
    """What of given scenes is hardly seen in their pictures; made ones keep the limits."""
    spec = dataset.manifest.spec
    return counted_unseen(dataset) if GIVEN in spec and spec.get(PICTURED) else None


def _asked(dataset: Dataset) -> Concepts | None:
    spec = dataset.manifest.spec
    return None if GIVEN in spec else Order.of(spec).rules().concepts
