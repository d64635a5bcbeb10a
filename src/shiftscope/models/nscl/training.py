"""How NS-CL learns concepts: from questions and answers alone, by programs that its question parser reads.

Boxes come from a scene parser's detector. Programs grow longer as the training goes on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from ...batch_mean import divide_by_batch
from ...lang.check import plan_program
from ...lang.exec.packed import PreparedPrograms
from ...lang.op import BOOL, INT
from ...lang.program import Program
from ...question import Question
from ...scene import Scene
from ...schema import Schema
from ...trainable import (
    ANSWERS,
    IMAGES,
    Counts,
    Losses,
    Rows,
    SplitData,
    Trainable,
    TrainRecipe,
    TrainStage,
    count_right_answers,
    order_by_image,
)
from ..nsvqa.scene_parser.config import SceneParserConfig
from ..nsvqa.trained_model import PARSERS, QUESTION_PARSER, SCENE_PARSER, TrainedModel
from ..nsvqa.training import NeuroSymbolicTraining

if TYPE_CHECKING:
    import torch
    from torch import nn

CONCEPTS = "concepts"
PARTS_OP = "parts"  # a program with it asks about parts
NEVER = -1  # the place of an answer that a program cannot give
LESSONS = ((0.05, 0.15), (0.1, 0.35), (0.2, 0.65))  # until that share of the training, that share of shortest programs
MEASURED = 4096  # questions measured at once

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class AnsweredTexts:
    """Questions about some images, by their numbers, with their answers."""

    texts: list[str]
    answers: list[Any]
    images: list[int]
    about_parts: list[bool]  # by their true programs, of which nothing else is known
    image_count: int

    def __len__(self) -> int:
        return len(self.texts)


@dataclass(frozen=True, slots=True, eq=False)
class ProgramData:
    """The same, read by the parsers: regions of all images, and a program for each question."""

    regions: Any
    programs: PreparedPrograms
    targets: Ints  # [question] the place of the true answer among those that its program gives, or NEVER
    images: Ints  # [question]
    about_parts: npt.NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.targets)


class ConceptStage(TrainStage):
    """From regions to what they show."""

    name = CONCEPTS
    supervision = frozenset((IMAGES, ANSWERS))
    needs = (SCENE_PARSER, QUESTION_PARSER)
    check = 20_000
    recipe = TrainRecipe(
        epochs=24, batch=2048, lr=2e-3, weight_decay=0.01, warmup=0.025, ema=0.99, clip=1.0, patience=4
    )

    def identify(self) -> dict[str, Any]:
        return super().identify() | {"lessons": [list(lesson) for lesson in LESSONS]}

    def describe(self, schema: Schema) -> dict[str, Any]:
        return {"checked": self.check, "lessons": [list(lesson) for lesson in LESSONS]}

    def collect(self, scenes: Sequence[Scene], questions: Sequence[Question]) -> AnsweredTexts:
        place = {scene.id: k for k, scene in enumerate(scenes)}
        kept = [q for q in questions if q.answer is not None]
        images = [place[q.scenes[0]] for q in kept]
        parts = [q.program is not None and any(node.op == PARTS_OP for node in q.program.nodes) for q in kept]
        return AnsweredTexts([q.text for q in kept], [q.answer for q in kept], images, parts, len(scenes))

    def join(self, pieces: Sequence[AnsweredTexts]) -> AnsweredTexts:
        past = np.cumsum([0, *(piece.image_count for piece in pieces)]).tolist()
        return AnsweredTexts(
            [text for piece in pieces for text in piece.texts],
            [answer for piece in pieces for answer in piece.answers],
            [image + start for piece, start in zip(pieces, past[:-1], strict=True) for image in piece.images],
            [about for piece in pieces for about in piece.about_parts],
            past[-1],
        )

    def fit_vocabulary(self, schema: Schema, train: SplitData | None) -> Any:
        from ..nsvqa.scene_parser.regions import count_numbers
        from .network import ConceptConfig

        return ConceptConfig(schema, *count_numbers(SceneParserConfig(schema)))

    def read_config(self, data: Mapping[str, Any]) -> Any:
        from .network import ConceptConfig

        return ConceptConfig.from_json(data)

    def build(self, config: Any, parts: Mapping[str, nn.Module]) -> nn.Module:
        from .network import ConceptSpace

        return ConceptSpace(config)

    def encode(self, data: SplitData, parts: Mapping[str, Any], device: str) -> SplitData:
        """Regions are found and questions parsed once."""
        from ..nsvqa.question_parser.decode import parse
        from ..nsvqa.scene_parser.regions import find_all_regions
        from .execution import ConceptLowering

        asked: AnsweredTexts = data.supervision[self.name]
        assert data.pixels is not None
        scene_parser, question_parser = (parts[name].to(device).eval() for name in self.needs)
        schema = scene_parser.config.schema
        texts = list(dict.fromkeys(asked.texts))
        read = dict(zip(texts, parse(question_parser, texts), strict=True))
        programs = [read[text] for text in asked.texts]
        made = ProgramData(
            find_all_regions(scene_parser, data.pixels, device),
            ConceptLowering(schema).prepare(programs),
            np.array([find_place(p, a, schema) for p, a in zip(programs, asked.answers, strict=True)], np.int64),
            np.array(asked.images, np.int64),
            np.array(asked.about_parts, np.bool_),
        )
        return replace(data, supervision={**data.supervision, self.name: made})

    def make_examples(self, data: SplitData, config: Any, device: str) -> ProgramExamples:
        return ProgramExamples(data.supervision[self.name], device)

    def logits(self, module: Any, batch: Any) -> torch.Tensor:
        """[question, place] logarithms of the probabilities of the answers that its program gives."""
        from .network import answer_programs

        return (answer_programs(module(batch.regions), batch.programs) + 1e-8).log()

    def loss(self, module: Any, batch: Any) -> tuple[torch.Tensor, Losses]:
        """What a program cannot answer teaches nothing."""
        from torch.nn.functional import nll_loss

        summed = nll_loss(self.logits(module, batch), batch.targets, ignore_index=NEVER, reduction="sum")
        summed = summed + 0 * module.relations.sum()  # programs that look at nothing teach nothing, and are no error
        return divide_by_batch(summed, (batch.targets != NEVER).sum()), {}

    def measure(self, module: Any, batch: Any) -> Counts:
        return count_right_answers(self.logits(module, batch).argmax(-1), batch)

    def choose_by(self, shares: Mapping[str, float]) -> float:
        return shares["right"]

    def batch_to_measure(self, device: str) -> int | None:
        return MEASURED


def find_place(program: Program, answer: Any, schema: Schema) -> int:
    """Where an answer stands among those that a program gives: false and true, numbers, the values of an attribute."""
    plan = plan_program(program)
    kind = plan.types[-1]
    if kind in (BOOL, INT):
        return int(answer) if isinstance(answer, bool) == (kind == BOOL) and isinstance(answer, int) else NEVER
    values = _list_values(program, plan.steps[-1].on_parts, schema)
    return values.index(answer) if answer in values else NEVER


def give_answer(program: Program, place: int, schema: Schema) -> Any:
    """The answer at a place, where `find_place` would find it; the places behind the last answer stand for it."""
    plan = plan_program(program)
    kind = plan.types[-1]
    if kind in (BOOL, INT):
        return bool(place) if kind == BOOL else place
    values = _list_values(program, plan.steps[-1].on_parts, schema)
    return values[min(place, len(values) - 1)]


def _list_values(program: Program, on_parts: bool, schema: Schema) -> tuple[str, ...]:
    attributes = schema.part_attributes if on_parts else schema.attributes
    return next((a.values for a in attributes if a.name == program.nodes[-1].params[0]), ())


@dataclass(frozen=True, slots=True, eq=False)
class ProgramBatch:
    """Questions as programs about regions; all on the device."""

    regions: Any  # of the images that are asked about, each once
    programs: Any  # their ConceptSchedule
    targets: torch.Tensor
    about_parts: torch.Tensor

    def __len__(self) -> int:
        return len(self.targets)


@dataclass(frozen=True, slots=True, eq=False)
class ProgramExamples:
    """Programs picked by their number; all questions about an image come in one batch, or in two."""

    data: ProgramData
    device: str
    longest: int | None = None  # nodes of the programs that an epoch has; None: any
    long: Ints = field(init=False)  # [question] nodes

    def __post_init__(self) -> None:
        object.__setattr__(self, "long", np.diff(self.data.programs.start))

    def __len__(self) -> int:
        return len(self.data)

    def lesson(self, done: float) -> Self:
        """The shortest programs first."""
        share = next((share for until, share in LESSONS if done < until), 1.0)
        longest = int(np.quantile(self.long, share, method="higher")) if share < 1 and len(self) else None
        return replace(self, longest=longest)

    def epoch(self, batch: int, random: np.random.Generator) -> list[Rows]:
        """As many questions as there are; where only some are short enough, these several times."""
        rows = np.arange(len(self)) if self.longest is None else np.flatnonzero(self.long <= self.longest)
        size = len(self) - len(self) % batch
        shown, images = self.data.images[rows], int(self.data.images.max(initial=0)) + 1
        times = -(-size // max(1, len(rows)))
        orders = [rows[order_by_image(shown, images, random)] for _ in range(times)]
        return list(np.concatenate(orders)[:size].reshape(-1, batch))

    def batch(self, rows: torch.Tensor) -> ProgramBatch:
        import torch

        from .execution import schedule_programs

        chosen = rows.numpy()
        images, scene = np.unique(self.data.images[chosen], return_inverse=True)
        programs = schedule_programs(self.data.programs.take(chosen).assign_scenes(scene))
        regions = self.data.regions.take(torch.from_numpy(images)).to(self.device)
        given = (torch.from_numpy(a[chosen]) for a in (self.data.targets, self.data.about_parts))
        targets, parts = (one.to(self.device, non_blocking=True) for one in given)
        return ProgramBatch(regions, programs.move_to(self.device), targets, parts)


class TrainedConcepts(TrainedModel):
    """The parsers of a neuro-symbolic model, and the concepts; `--from` takes the parsers of any such model."""

    KIND: ClassVar[str] = "nscl"
    TAKES: ClassVar[tuple[str, ...]] = (TrainedModel.KIND,)
    PARTS: ClassVar[Mapping[str, str]] = {**PARSERS, CONCEPTS: CONCEPTS}
    SHIPPED: ClassVar[Any] = None


class ConceptTraining(Trainable):
    stages = (*NeuroSymbolicTraining.stages, ConceptStage())
    folder = TrainedConcepts
    requires = NeuroSymbolicTraining.requires
