"""NS-CL (Mao et al., 2019): concepts are embeddings, learned from answers through differentiable programs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...lang.exec.packed import execute_many
from ...lang.program import Program
from ...lang.scene_posterior import ScenePosterior
from ...model import ModelOptions, ModelSetting, ModelTraits, Prompt, Response
from ...schema import Schema
from ..nsvqa import respond
from ..nsvqa.neuro_symbolic import NeuroSymbolicModel, NsvqaParsers, ParserCache, ProgramExecutor, load_parsers
from .training import CONCEPTS, ConceptTraining, TrainedConcepts, give_answer

TRAITS = ModelTraits(
    target="nscl:FOLDER",
    stored=True,
    answers_blind=False,
    most_images=1,
    takes_actions=False,
    trainable=ConceptTraining(),
)


@dataclass(frozen=True, slots=True, eq=False)
class ConceptParsers(NsvqaParsers):
    """The detector of a scene parser, a question parser, and the learned concepts."""

    concepts: Any = None

    def parse_images(self, images: Any) -> ScenePosterior:
        """The posterior of what regions show, with learned relations."""
        from ..nsvqa.scene_parser.regions import find_regions

        found: ScenePosterior = self.apply(
            lambda scene, some: self.concepts(find_regions(scene, some)), images.to(self.device)
        )
        return found


def execute(programs: Sequence[Program], posterior: ScenePosterior, rows: Sequence[int]) -> list[Response]:
    """The likeliest answer, and its probability."""
    import torch

    from .execution import ConceptLowering, schedule_programs
    from .network import answer_programs

    lowered = ConceptLowering(posterior.schema)(programs, rows)
    with torch.inference_mode():
        found = answer_programs(posterior, schedule_programs(lowered).move_to(posterior.exists.device))
        chances, best = (column.tolist() for column in found.max(1))
    schema = posterior.schema
    answers = (give_answer(program, k, schema) for program, k in zip(programs, best, strict=True))
    return [Response(answer=a, confidence=min(1.0, max(0.0, c))) for a, c in zip(answers, chances, strict=True)]


class ConceptModel:
    """Answers by its programs; known scenes are executed exactly."""

    def __init__(self, parsers: ConceptParsers) -> None:
        told: Any = execute  # responses at once, where others give columns
        how = ProgramExecutor(told, execute_many, lambda found: found if isinstance(found, list) else respond(found))
        self._model = NeuroSymbolicModel(parsers, how)
        self.batch, self.largest_batch = self._model.batch, self._model.largest_batch
        self.stage_seconds = self._model.stage_seconds

    def identity(self, before: Mapping[str, Any]) -> dict[str, Any]:
        return self._model.identity(before)

    def predict(self, batch: Sequence[Prompt]) -> list[Response]:
        return self._model.predict(batch)


def describe_run(target: str, options: ModelOptions, schema: Callable[[], Schema]) -> dict[str, Any]:
    return TrainedConcepts.find("nscl", target, schema()).describe_weights()


def build(target: str, setting: ModelSetting) -> ConceptModel:
    trained = TrainedConcepts.find("nscl", target, setting.schema)
    parsers = load_parsers(trained, setting.options.device)
    stage = ConceptTraining.stages[-1]
    concepts = trained.load(CONCEPTS, stage.build(stage.read_config(trained.config(CONCEPTS)), {})).to(parsers.device)
    held = (parsers.trained, parsers.device, parsers.scene, parsers.questions)
    return ConceptModel(ConceptParsers(*held, seen=ParserCache(), read=parsers.read, concepts=concepts))
