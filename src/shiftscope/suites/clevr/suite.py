"""CLEVR's spec, and how its shards are made."""

from dataclasses import dataclass
from typing import Any, ClassVar

from ...errors import UserError
from ...geometry.camera import check_size
from ...question import Question
from ...questions.clevr.generator import generate_questions
from ...questions.clevr.template_sets import builtin_templates
from ...schemas.clevr import SCHEMA
from ...store.manifest import DatasetInfo
from ...world import clevr as world
from .. import ShardPlan, Suite, SuiteSpec, option, seed_option, shard_option, size_option

SHARES = (("train", 70), ("val", 15), ("test", 15))  # per cent of the images, as in the release
MOST_QUESTIONS = 1000  # per image; more than its scene could ever give


@dataclass(frozen=True, slots=True)
class ClevrSpec(SuiteSpec):
    """What to make: everything that the data depend on."""

    suite: ClassVar[str] = "clevr"
    version: ClassVar[int] = 2

    images: int = option(1000, "How many images, over train, val and test (70/15/15).", min=1)
    seed: int = seed_option()
    size: tuple[int, int] = size_option()
    questions: int = option(10, "Questions per image; 0 for scenes and images alone.", min=0)
    shard: int = shard_option(250)  # answers are balanced within a shard

    def __post_init__(self) -> None:
        if self.images < 1 or not 0 <= self.questions <= MOST_QUESTIONS or self.shard < 1:
            raise UserError(
                f"images and shard size must be at least 1, questions per image from 0 to {MOST_QUESTIONS:,}"
            )
        check_size(self.size)

    def splits(self) -> dict[str, int]:
        """How many images each split has; every image is in one."""
        sizes = {name: self.images * share // 100 for name, share in SHARES}
        sizes["train"] += self.images - sum(sizes.values())
        return {name: size for name, size in sizes.items() if size}


class ClevrSuite(Suite[ClevrSpec]):
    """Solids on a plane and questions about them."""

    spec = ClevrSpec
    about = DatasetInfo(
        title="CLEVR, made by ShiftScope",
        summary="Solids on a plane, rendered with masks; questions with programs and twice-checked answers.",
    )
    help = "Make a CLEVR dataset: scenes, images, masks, and questions with programs and answers."
    world = "clevr"
    trainable = True
    has_sheets = True

    def sample(self, spec: ClevrSpec, split: str, k: int, inputs: Any = None) -> ShardPlan:
        rules = world.ClevrRules(size=spec.size)
        which = spec.shard_range(split, k)
        scenes = [world.sample_scene(spec.seed, split, i, rules) for i in which]
        questions: list[Question] = []
        if spec.questions:
            questions = generate_questions(
                scenes,
                builtin_templates(SCHEMA),
                per_image=spec.questions,
                seed=spec.seed,
                split=split,
                shard=k,
                start=which.start * spec.questions,
            )
        return ShardPlan(scenes, questions)

    def build_sheets(self, seed: int) -> dict[str, Any]:
        from .gallery import build_sheets

        return build_sheets(seed)


SUITE = ClevrSuite()
