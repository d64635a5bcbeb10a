"""CLEVR's spec, and how its shards are made."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, ClassVar, Self

from ...errors import UserError, unknown
from ...geometry.camera import BASE_POSITION, Camera, check_size
from ...geometry.shapes.clevr import SIZES
from ...question import Question
from ...questions.clevr.generator import generate_questions
from ...questions.clevr.template import TemplateSet
from ...questions.clevr.template_sets import builtin_templates
from ...render.image import Picture, draw_grid
from ...render.raster import render
from ...scene import Object, Scene
from ...schema import Schema
from ...schemas.clevr import SCHEMA
from ...store.dataset import Dataset
from ...store.manifest import DatasetInfo
from ...world import Sampling
from ...world import clevr as world
from .. import Suite, SuiteSpec, option, seed_option, shard_option, size_option
from ..planted_shortcuts import (
    add_ood_split,
    ask_planted,
    check_fields,
    check_ties,
    format_ties,
    ood_option,
    shortcut_option,
)

SHARES = (("train", 70), ("val", 15), ("test", 15))  # per cent of the images, as in the release
MOST_QUESTIONS = 1000  # per image; more than its scene could ever give
HYPOTHETICAL = "hypothetical"  # a wording of the questions, and the variant that has it


@dataclass(frozen=True, slots=True)
class ClevrSpec(SuiteSpec):
    suite: ClassVar[str] = "clevr"
    version: ClassVar[int] = 3
    schema: ClassVar[Schema] = SCHEMA

    images: int = option(1000, "How many images, over train, val and test (70/15/15).", min=1)
    seed: int = seed_option()
    size: tuple[int, int] = size_option()
    questions: int = option(10, "Questions per image; 0 for scenes and images alone.", min=0)
    shard: int = shard_option(250)  # answers are balanced within a shard
    shortcut: str | None = shortcut_option()
    ood: str | None = ood_option()
    wording: str | None = option(
        None,
        "hypothetical: the words of questions about what an action would lead to, asked of the scene as it is; "
        "CLEVR's own by default.",
        shown="",
        type=str,
    )

    def __post_init__(self) -> None:
        if self.images < 1 or not 0 <= self.questions <= MOST_QUESTIONS or self.shard < 1:
            raise UserError(
                f"images and shard size must be at least 1, questions per image from 0 to {MOST_QUESTIONS:,}"
            )
        check_size(self.size)
        if self.wording not in (None, HYPOTHETICAL):
            raise unknown("wording", self.wording, (HYPOTHETICAL,))
        if self.wording is not None and self.shortcut is not None:
            raise UserError("shortcuts are planted in CLEVR's own questions; omit --wording or --shortcut")
        check_fields(self)

    @property
    def name(self) -> str:
        """Of the variant."""
        return self.wording or ""

    @classmethod
    def from_variant(cls, variant: str = "", visual: str = "", **rest: Any) -> Self:
        if visual or variant not in ("", HYPOTHETICAL):
            raise UserError(f"suite {cls.suite!r} has one variant; write --data {cls.suite}[:{HYPOTHETICAL}]")
        return cls(wording=variant or None, **rest)

    def list_templates(self) -> tuple[TemplateSet, ...]:
        return (builtin_templates(SCHEMA),)

    def splits(self) -> dict[str, int]:
        sizes = {name: self.images * share // 100 for name, share in SHARES}
        sizes["train"] += self.images - sum(sizes.values())
        return add_ood_split(self, {name: size for name, size in sizes.items() if size})


class ClevrSuite(Suite[ClevrSpec]):
    spec = ClevrSpec
    about = DatasetInfo(
        title="CLEVR, made by ShiftScope",
        summary="Solids on a plane, rendered with masks; questions with programs and twice-checked answers.",
    )
    help = "Make a CLEVR dataset: scenes, images, masks, and questions with programs and answers."
    world = "clevr"
    trainable = True
    has_sheets = True

    def begin_scenes(
        self, spec: ClevrSpec, split: str, k: int, places: range, inputs: Any = None
    ) -> Sequence[Sampling]:
        rules, which = world.ClevrRules(size=spec.size), spec.shard_range(split, k)
        return [world.begin_scene(spec.seed, split, which[i], rules) for i in places]

    def ask(
        self,
        spec: ClevrSpec,
        split: str,
        k: int,
        scenes: Sequence[Scene],
        inputs: Any = None,
        *,
        grounding: bool = False,
    ) -> Sequence[Question]:
        if not spec.questions:
            return []
        if spec.shortcut is not None:
            return ask_planted(self, spec, split, k, scenes, grounding)
        where: dict[str, Any] = {"seed": spec.seed, "split": split, "shard": k, "grounding": grounding}
        start = k * spec.shard * spec.questions
        if spec.wording == HYPOTHETICAL:
            from ...questions.hypothetical.plain import generate_plain

            return generate_plain(scenes, per_image=spec.questions, seed=spec.seed, split=split, shard=k, start=start)
        return generate_questions(scenes, builtin_templates(SCHEMA), per_image=spec.questions, start=start, **where)

    def check(self, spec: ClevrSpec, inputs: Any = None) -> None:
        check_ties(self, spec)

    def summarize(self, notes: Any, dataset: Dataset) -> str:
        return format_ties(dataset, self.spec.of(dataset.manifest.spec))

    def build_sheets(self, seed: int) -> dict[str, Any]:
        return {"clevr_solids.png": draw_solids(), "clevr_scenes.png": draw_scenes(seed)}


SUITE = ClevrSuite()


# CLEVR: each shape in each colour, material and size, all of them; and a page of sampled scenes.

CELL = (130, 130)  # of the sheet of solids, cut from a rendering
SCENES = 12


def draw_solids() -> Any:
    """Rows: shape, material and size; columns: colour."""
    attributes = {a.name: a.values for a in SCHEMA.attributes}
    rows = [(s, m, z) for s in attributes["shape"] for m in attributes["material"] for z in attributes["size"]]
    things = []
    for (shape, material, size), color in product(rows, attributes["color"]):
        words = (("size", size), ("color", color), ("material", material), ("shape", shape))
        thing = Object(words, position=(0.0, 0.0, SIZES[size]), rotation=20.0)
        notes = (("camera", BASE_POSITION),)
        things.append(Scene((thing,), directions=Camera(BASE_POSITION).directions(), schema=SCHEMA, notes=notes))
    images = render(things, layers=("rgb",))
    assert images.rgb is not None
    cells: list[Picture] = []
    for picture, ((left, top, width, height),) in zip(images.rgb, images.boxes, strict=True):
        left, top = left + width // 2 - CELL[0] // 2, top + height // 2 - CELL[1] // 2
        cells.append(picture[top : top + CELL[1], left : left + CELL[0]])
    names = [f"{z} {m} {s}" for s, m, z in rows]
    return draw_grid(cells, len(attributes["color"]), names, attributes["color"])


def draw_scenes(seed: int) -> Any:
    images = render([world.sample_scene(seed, "gallery", i) for i in range(SCENES)], layers=("rgb",))
    assert images.rgb is not None
    return draw_grid(list(images.rgb), 3, [], ())
