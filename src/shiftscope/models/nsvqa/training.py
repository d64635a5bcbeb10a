"""How the neuro-symbolic models are trained: a scene parser and a question parser, two stages of one Trainable."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ... import trainable
from ...errors import UserError
from ...lang.posterior_calibration import CENTRES, Calibration, fit_spatial_likelihood
from ...lang.program import Program
from ...lang.scene_posterior import ScenePosterior, concatenate_posteriors, match_to_truth
from ...question import Question
from ...scene import Scene
from ...scene_table import pack_scenes
from ...schema import Schema
from ...trainable import PROGRAMS, Counts, Losses, ProgressCallback, Rows, SplitData, TrainRecipe, TrainStage
from .labels import SceneLabels, join_labels, label_scenes
from .question_parser.vocabulary import ParserVocabulary, QuestionParserConfig
from .scene_parser.config import SceneParserConfig
from .trained_model import PARSERS, QUESTION_PARSER, SCENE_PARSER, TrainedModel

if TYPE_CHECKING:
    import torch
    from torch import nn

MEASURED = 8192  # questions parsed together on a GPU, where the steps cost the same for one and for many
CPU_IMAGES, GPU_IMAGES = 64, 256  # images parsed together for the calibration

PLAIN = {"questions": "plain"}  # as `train --set` says it

TextProgram = tuple[str, Program]


class SceneParserStage(TrainStage):
    """From images to a scene posterior; calibrated once it is trained."""

    name, word = SCENE_PARSER, PARSERS[SCENE_PARSER]
    supervision = frozenset((trainable.IMAGES, trainable.SCENES))
    figures = ("calibration", "spatial", "centres")
    captured = True
    recipe = TrainRecipe(epochs=20, batch=128, lr=3e-3, weight_decay=0.02, warmup=0.1)  # for some 20,000 images

    def describe(self, schema: Schema) -> dict[str, Any]:
        from .scene_parser.loss import ATTRIBUTES, FLIP, PART_ATTRIBUTES, WEIGHTS

        config = SceneParserConfig(schema).to_json()
        weights = {**WEIGHTS, "attributes": ATTRIBUTES, "part_attributes": PART_ATTRIBUTES}
        return {"loss": weights, "flip": FLIP, "config": config, "checked": self.check}

    def collect(self, scenes: Sequence[Scene], questions: Sequence[Question]) -> SceneLabels:
        return label_scenes(scenes)

    def join(self, pieces: Sequence[SceneLabels]) -> SceneLabels:
        return join_labels(pieces)

    def fit_vocabulary(self, schema: Schema, train: SplitData | None) -> Any:
        return SceneParserConfig(schema)

    def read_config(self, data: Mapping[str, Any]) -> Any:
        return SceneParserConfig.from_json(data)

    def build(self, config: Any, parts: Mapping[str, nn.Module]) -> nn.Module:
        from .scene_parser.network import SceneParser

        return SceneParser(config)

    def make_examples(self, data: SplitData, config: Any, device: str) -> ImageExamples:
        return ImageExamples(data, device)

    def loss(self, module: Any, batch: Any) -> tuple[torch.Tensor, Losses]:
        from .scene_parser.loss import compute_augmented_loss

        return compute_augmented_loss(module, batch)

    def measure(self, module: Any, batch: Any) -> Counts:
        from .scene_parser.decode import measure

        return measure(module, batch)

    def finish(self, module: Any, val: SplitData, device: str, tell: ProgressCallback) -> dict[str, Any]:
        """The stage's `figures` as model.json keeps them; null where the validation split teaches nothing."""
        import torch

        from .scene_parser.decode import parse

        assert val.pixels is not None
        pieces: list[ScenePosterior] = []
        gpu = device.startswith("cuda")
        together = GPU_IMAGES if gpu else CPU_IMAGES
        for start in range(0, len(val.pixels), together):
            some = val.pixels[start : start + together].to(device)
            with torch.autocast("cuda", torch.bfloat16, enabled=gpu):
                pieces.append(parse(module, some))
            tell(min(start + together, len(val.pixels)), len(val.pixels), "images")
        posterior = concatenate_posteriors(pieces).to_numpy()
        truth = pack_scenes(val.scenes)
        found = match_to_truth(posterior, truth)
        calibration = Calibration.fit(posterior, truth, found)
        pairs = bool(((found.objects >= 0).sum(1) > 1).any())
        fit = partial(fit_spatial_likelihood, posterior, truth, found.objects)
        relations = {"spatial": fit().to_json(), "centres": fit(CENTRES).to_json()} if pairs else {}
        return {"calibration": calibration.to_json(), "spatial": None, "centres": None} | relations


class QuestionParserStage(TrainStage):
    """From a question's text to its program."""

    name, word = QUESTION_PARSER, PARSERS[QUESTION_PARSER]
    supervision = frozenset((PROGRAMS,))
    check = 4000
    learns_vocabulary = captured = True
    recipe = TrainRecipe(epochs=10, batch=1024, lr=4e-3, weight_decay=0.01, warmup=0.1, ema=0.995, clip=1.0)

    varied: Mapping[str, Any] = {}  # shares of questions that get more or less in them, where not the usual ones

    def describe(self, schema: Schema) -> dict[str, Any]:
        return {"config": {**QuestionParserConfig.list_default_sizes(), **self.varied}, "checked": self.check}

    def collect(self, scenes: Sequence[Scene], questions: Sequence[Question]) -> list[TextProgram]:
        return [(q.text, q.program) for q in questions if q.program is not None]

    def fit_vocabulary(self, schema: Schema, train: SplitData | None) -> Any:
        assert train is not None
        pairs: Sequence[TextProgram] = train.supervision[self.name]
        return replace(QuestionParserConfig(ParserVocabulary.learn(pairs, schema)), **self.varied)

    def read_config(self, data: Mapping[str, Any]) -> Any:
        return QuestionParserConfig.from_json(data)

    def build(self, config: Any, parts: Mapping[str, nn.Module]) -> nn.Module:
        from .question_parser.network import QuestionParser

        return QuestionParser(config)

    def make_examples(self, data: SplitData, config: Any, device: str) -> QuestionExamples:
        return QuestionExamples(data, config, device)

    def loss(self, module: Any, batch: Any) -> tuple[torch.Tensor, Losses]:
        from .question_parser.loss import compute_loss

        return compute_loss(module, batch)

    def measure(self, module: Any, batch: Any) -> Counts:
        from .question_parser.decode import measure

        return measure(module, batch)

    def choose_by(self, shares: Mapping[str, float]) -> float:
        return (shares["exact"] + shares.get("varied", shares["exact"])) / 2

    def batch_to_measure(self, device: str) -> int | None:
        return MEASURED if device != "cpu" else None


class PlainQuestionParserStage(QuestionParserStage):
    """Learns from the questions as they are: none is enriched or stripped."""

    varied: Mapping[str, Any] = {"enriched": 0.0, "stripped": 0.0}


class NeuroSymbolicTraining(trainable.Trainable):
    """One folder serves nsvqa, p_nsvqa and p_nsvqa_exact: they differ in how programs are executed."""

    stages: tuple[TrainStage, ...] = (SceneParserStage(), QuestionParserStage())
    folder = TrainedModel
    requires = ("torch", "transformers", "accelerate", "safetensors", "scipy")

    def configure(self, settings: Mapping[str, str]) -> NeuroSymbolicTraining:
        """`questions=plain` trains the question parser without the enriched and stripped questions."""
        if not settings:
            return self
        if dict(settings) != PLAIN:
            name, value = next(item for item in settings.items() if item not in PLAIN.items())
            raise UserError(f"no setting {name}={value} of the neuro-symbolic models; there is questions=plain")
        made = NeuroSymbolicTraining()
        made.stages = (SceneParserStage(), PlainQuestionParserStage())
        return made


class ImageExamples:
    """Images with their labels, picked by number where they lie."""

    def __init__(self, data: SplitData, device: str) -> None:
        assert data.pixels is not None
        self.pixels, self.device = data.pixels, device
        self.labels: SceneLabels = data.supervision[SCENE_PARSER].to_tensors(device)

    def __len__(self) -> int:
        return len(self.pixels)

    def epoch(self, batch: int, random: np.random.Generator) -> list[Rows]:
        return trainable.shuffle_batches(len(self), batch, random)

    def batch(self, rows: torch.Tensor) -> Any:
        from .scene_parser.loss import SceneParserBatch

        here = rows.to(self.device, non_blocking=True)  # to wait for it is to wait for the step before
        picked = self.pixels[here if self.pixels.device == here.device else rows]
        return SceneParserBatch(picked.to(self.device, non_blocking=True), self.labels.take(here))


class QuestionExamples:
    """Questions as tables of numbers on the device; the batches of an epoch have more or less in them."""

    def __init__(self, data: SplitData, config: Any, device: str) -> None:
        from .question_parser.loss import QuestionParserBatch

        # A program with a token that no training question has cannot be parsed right.
        pairs = data.supervision[QUESTION_PARSER]
        words, tokens = config.vocabulary.encode(pairs, lenient=True)
        self.all = QuestionParserBatch.from_encoded(words, tokens, device)
        self.config = config
        self.under_way: Any = None  # the epoch

    def __len__(self) -> int:
        return len(self.all)

    def epoch(self, batch: int, random: np.random.Generator) -> list[Rows]:
        """Texts of similar length together."""
        from .question_parser.loss import QuestionEpoch, find_augmenter, make_batches

        rows = make_batches(self.all.lengths[:, 0].numpy(), batch, random)
        vary = find_augmenter(self.config, self.all.words.device)
        self.under_way = QuestionEpoch(self.all, rows, vary, random)
        return rows

    def batch(self, rows: torch.Tensor) -> Any:
        """Augmented, if it is one of the epoch that is under way."""
        varied = self.under_way.batch(rows) if self.under_way else None
        return self.all.take(rows) if varied is None else varied
