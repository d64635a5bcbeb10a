"""How a model over region features is trained: features found once per image and held on the device as one table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

from ...errors import UserError
from ...trainable import SplitData, TrainRecipe
from ..end_to_end.questions import AnsweredQuestions, AnswererConfig
from ..end_to_end.training import AnswerExamples, AnswerStage
from ..nsvqa.scene_parser.config import SceneParserConfig
from ..nsvqa.trained_model import SCENE_PARSER

if TYPE_CHECKING:
    import torch


class RegionStage(AnswerStage):
    """From a question and regions to an answer."""

    recipe = TrainRecipe(epochs=20, batch=1024, lr=1e-3, weight_decay=0.01, clip=1.0)
    debiasable = works_blind = True

    def configure(self, settings: Mapping[str, str]) -> Self:
        from ..end_to_end.image_features import HUB, SCRATCH

        backbone = settings.get("backbone", self.backbone)
        if backbone == SCRATCH or backbone.startswith(HUB):
            raise UserError(f"this model looks at a detector's regions; name a trained scene parser, not {backbone!r}")
        return super().configure(settings)

    def load_pretrained(self, module: Any, config: AnswererConfig) -> None:
        if module.features.parser is not None:
            module.features.parser.load_state_dict(self._load_parser(config).state_dict())

    def make_questions(self, data: SplitData, config: AnswererConfig, device: str) -> AnswerExamples:
        from .regions import find_region_table

        questions: AnsweredQuestions = data.supervision[self.name]
        if not self.sees:
            return AnswerExamples(questions, config, None, device)
        assert data.pixels is not None
        origin = str(config.features["from"])
        return RegionExamples(
            questions, config, find_region_table(self._load_parser(config), origin, data.pixels, device), device
        )

    def _load_parser(self, config: AnswererConfig) -> Any:
        from ..end_to_end.image_features import find_scene_parser
        from ..nsvqa.scene_parser.network import SceneParser

        parser = SceneParserConfig.from_json(config.features["scene_parser"])
        return find_scene_parser(self.backbone, parser.schema).load(SCENE_PARSER, SceneParser(parser))


class RegionExamples(AnswerExamples):
    """Questions, and the regions of all images as a table on the device, of which each batch picks rows."""

    def __init__(self, questions: AnsweredQuestions, config: AnswererConfig, table: Any, device: str) -> None:
        super().__init__(questions, config, None, device)
        self.table = table

    def batch(self, rows: torch.Tensor) -> Any:
        plain = super().batch(rows)
        return replace(plain, images=self.table.take(plain.image_of))
