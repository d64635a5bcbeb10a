"""How a model over region features is trained: features found once per image and held on the device as one table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from ...errors import UserError
from ...schema import Schema
from ...trainable import ANSWERS, SplitData, TrainRecipe
from ..end_to_end.questions import AnsweredQuestions, AnswererConfig
from ..end_to_end.training import LANGUAGE, NOTHING, AnswerExamples, AnswerStage
from ..nsvqa.scene_parser.config import SceneParserConfig
from ..nsvqa.trained_model import SCENE_PARSER

if TYPE_CHECKING:
    import torch

FEATURES = "features"  # the setting that names a file of region features
STEP = 2  # words, as in `end_to_end`: these networks read word by word, and each that is padded costs as one more


class RegionStage(AnswerStage):
    """From a question and regions to an answer: those of a scene parser, or of a file."""

    recipe = TrainRecipe(epochs=20, batch=512, lr=1e-3, weight_decay=0.01, clip=1.0)
    debiasable = works_blind = True
    file: str = ""  # of region features, by which no pictures are needed

    def list_settings(self) -> list[str]:
        return [*super().list_settings(), FEATURES]

    def configure(self, settings: Mapping[str, str]) -> Self:
        from ..end_to_end.image_features import HUB, SCRATCH

        backbone = settings.get("backbone", self.backbone)
        if backbone == SCRATCH or backbone.startswith(HUB):
            raise UserError(f"this model looks at a detector's regions; name a trained scene parser, not {backbone!r}")
        made = super().configure({name: value for name, value in settings.items() if name != FEATURES})
        if FEATURES in settings:
            made.file, made.backbone, made.supervision = settings[FEATURES], NOTHING, frozenset((ANSWERS,))
        return made

    def load_pretrained(self, module: Any, config: AnswererConfig) -> None:
        if module.features.parser is not None:
            module.features.parser.load_state_dict(self._load_parser(config).state_dict())

    def make_questions(self, data: SplitData, config: AnswererConfig, device: str) -> AnswerExamples:
        from .network import find_region_table, load_region_table

        questions: AnsweredQuestions = data.supervision[self.name]
        if not config.features:
            return AnswerExamples(questions, config, None, device)
        if "file" in config.features:
            table = load_region_table(config.features, questions.image_ids, device)
        else:
            assert data.pixels is not None
            origin = str(config.features["from"])
            table = find_region_table(self._load_parser(config), origin, data, device)
        return TabledQuestions(questions, config, table, device)

    def find_lookup(self, config: AnswererConfig) -> Callable[[Sequence[str], str], Any] | None:
        if "file" not in config.features:
            return None
        from .network import RegionLookup

        return RegionLookup(config.features)

    def _describe_features(self, schema: Schema) -> dict[str, Any]:
        if self.file and self.reads != LANGUAGE:
            from .feature_files import describe_file

            return describe_file(Path(self.file))
        return super()._describe_features(schema)

    def _load_parser(self, config: AnswererConfig) -> Any:
        from ..end_to_end.image_features import find_scene_parser
        from ..nsvqa.scene_parser.network import SceneParser

        parser = SceneParserConfig.from_json(config.features["scene_parser"])
        return find_scene_parser(self.backbone, parser.schema).load(SCENE_PARSER, SceneParser(parser))


class TabledQuestions(AnswerExamples):
    """Questions, and the regions of all images as a table on the device, of which each batch picks rows."""

    step = STEP

    def __init__(self, questions: AnsweredQuestions, config: AnswererConfig, table: Any, device: str) -> None:
        super().__init__(questions, config, None, device)
        self.table = table

    def batch(self, rows: torch.Tensor) -> Any:
        from .network import PickedRegions

        plain = super().batch(rows)
        return replace(plain, images=PickedRegions(self.table.take, plain.image_of))
