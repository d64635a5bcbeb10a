"""The two parsers of a neuro-symbolic model as tasks for the loop."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ...models._weights import QUESTIONS, SCENE
from ...rng import seed_of
from .examples import Gathered, Pair, PictureExamples
from .loop import SEEDS
from .task import Recipe, Rows, Task

if TYPE_CHECKING:
    import torch
    from torch import nn

    from ...schema import Schema

QUESTION_AVERAGE = 0.995  # what a step leaves of the average of the question parser's weights
MEASURED = 8192  # questions read together on a GPU, where the steps cost the same for one and for many
CHECKED = {SCENE: 1000, QUESTIONS: 4000}  # validation examples that an epoch is judged by


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """What a parser's training is made of, before there are examples."""

    part: str
    recipe: Recipe
    seed: int

    def seeded(self, build: Callable[[Any], nn.Module], config: Any) -> nn.Module:
        """A module whose first weights depend on the seed alone."""
        import torch

        torch.manual_seed(seed_of(self.part, self.seed, "weights") % SEEDS)
        return build(config)


def recipe_of(part: str, epochs: int | None) -> Recipe:
    """How that parser is trained; `epochs` takes the place of its own number."""
    if part == SCENE:
        from ...models._scene_parser import Recipe as SceneRecipe

        own = SceneRecipe()
        found = Recipe(own.epochs, own.batch, own.lr, own.weight_decay, own.warmup, own.ema, own.clip)
    else:
        from ...models._question_parser import Recipe as QuestionRecipe

        its = QuestionRecipe()
        found = Recipe(its.epochs, its.batch, its.rate, its.decay, its.warm_up, QUESTION_AVERAGE, its.clip)
    return replace(found, epochs=epochs) if epochs else found


def parser_spec(part: str, schema: Schema) -> dict[str, Any]:
    """What a parser's weights depend on besides its recipe, its seed and its data."""
    if part == SCENE:
        from ...models import _scene_parser as scene

        found: dict[str, Any] = {"loss": scene.weights(), "flip": scene.Recipe().flip}
        config = scene_config(schema).to_json()
    else:
        from ...models import _question_parser as questions

        found, config = {}, questions.Config.usual()
    return found | {"config": config, "checked": CHECKED[part]}


def scene_task(plan: Plan, config: Any, train: Gathered | None, val: Gathered, device: str) -> Task:
    from ...models import _scene_parser as parser

    return Task(
        SCENE,
        plan.seeded(parser.build, config),
        parser.lesson(config, parser.Recipe()),
        parser.measure,
        mean,
        PictureExamples(train, device) if train else _Nothing(),
        PictureExamples(val, device),
        plan.recipe,
        CHECKED[SCENE],
    )


def question_task(plan: Plan, config: Any, train: Gathered | None, val: Gathered, device: str) -> Task:
    from ...models import _question_parser as parser

    return Task(
        QUESTIONS,
        plan.seeded(parser.build, config),
        parser.loss,
        parser.measure,
        lambda found: found["exact"],
        QuestionExamples(train, config, device) if train else _Nothing(),
        QuestionExamples(val, config, device),
        plan.recipe,
        CHECKED[QUESTIONS],
        MEASURED if device != "cpu" else None,
    )


def mean(found: Mapping[str, float]) -> float:
    """What is found, and what is known of it, counted alike."""
    return sum(found.values()) / len(found)


class QuestionExamples:
    """Questions as tables of numbers on the device; the batches of an epoch have more or less in them."""

    def __init__(self, found: Gathered, config: Any, device: str) -> None:
        from ...models._question_parser import Batch

        # A program that needs a token no training question has can not be got right.
        self.all = Batch.of(config.vocabulary.encode(found.questions, lenient=True), device)
        self.config = config
        self.under_way: Any = None  # the epoch

    def __len__(self) -> int:
        return len(self.all)

    def epoch(self, batch: int, random: np.random.Generator) -> list[Rows]:
        """Texts of like length together."""
        from ...models import _question_parser as parser

        rows = parser.batches(self.all.lengths[:, 0].numpy(), parser.Recipe(batch=batch), random)
        self.under_way = parser.Epoch(self.all, rows, self.vary, random)
        return rows

    @cached_property
    def vary(self) -> Any:
        from ...models._question_parser import Vary

        return Vary(self.config).to(self.all.words.device)

    def batch(self, rows: torch.Tensor) -> Any:
        """Varied, if it is one of the epoch that is under way."""
        varied = self.under_way.batch(rows) if self.under_way else None
        return self.all.take(rows) if varied is None else varied


class _Nothing:
    """The examples of a training that is done."""

    def __len__(self) -> int:
        return 1

    def epoch(self, batch: int, random: np.random.Generator) -> list[Rows]:
        return []

    def batch(self, rows: torch.Tensor) -> Any:
        raise AssertionError("a finished training needs no examples")


def scene_config(schema: Schema) -> Any:
    from ...models._scene_parser import Config

    return Config(schema)


def question_config(schema: Schema, train: Gathered, processes: int = 1) -> Any:
    """With a vocabulary of all questions; where several processes have a share each, they tell each other."""
    from ...models._question_parser import Config, Vocabulary

    pairs: Sequence[Pair] = train.questions
    if processes > 1:
        from accelerate.utils import gather_object

        pairs = gather_object(_telling(pairs))
    return Config(Vocabulary.learn(pairs, schema))


def _telling(pairs: Sequence[Pair]) -> list[Pair]:
    """Some of the questions, in which every word and every token of all of them occurs."""
    from ...models._question_parser.tokens import order_of

    plans: dict[tuple[int, ...], list[tuple[int, int]]] = {}  # skeleton → its nodes and their kinds
    kinds: dict[object, int] = {}
    seen: set[object] = set()
    kept = []
    for text, program in pairs:
        skeleton = program.skeleton()
        if skeleton not in plans:
            steps = (step.alike() for step in order_of(program))
            plans[skeleton] = [(at, kinds.setdefault(step, len(kinds))) for at, step in steps]
        new = {*text.split(), *((kind, program.nodes[at].params) for at, kind in plans[skeleton])}
        if not new <= seen:
            seen |= new
            kept.append((text, program))
    return kept
