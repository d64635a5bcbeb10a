"""How scene_edit is trained: a scene parser, an action parser and a question parser, three stages of one Trainable.

`--set reinforce=FOLDER` goes on from a folder's parsers by REINFORCE instead (see reinforce.py), which is the paper's
second step; a folder trained without it is the first alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ...errors import UserError, unknown
from ...files import digest_of
from ...lang.program import Program
from ...question import Question
from ...scene import Scene
from ...schema import Schema
from ...trainable import ACTIONS, PROGRAMS, Counts, Losses, Rows, SplitData, Trainable, TrainRecipe, TrainStage
from ..nsvqa.question_parser.vocabulary import UNKNOWN, ParserVocabulary, QuestionParserConfig
from ..nsvqa.trained_model import PARSERS, QUESTION_PARSER, SCENE_PARSER, TrainedModel
from ..nsvqa.trained_model import SHIPPED as SCENE_PARSERS
from ..nsvqa.training import MEASURED, NeuroSymbolicTraining, PlainQuestionParserStage, SceneParserStage
from .action_tokens import encode_actions, list_action_tokens
from .one_hop import collect_actions, collect_questions

if TYPE_CHECKING:
    import torch
    from torch import nn

ACTION_PARSER = "action_parser"
REINFORCE = "reinforce"  # the setting that names the folder to go on from
SHIPPED = Path(__file__).parent / "weights"
STEP = 8  # words and tokens: tables of a GPU are as wide as a multiple of it, for each width is captured apart
HIDDEN_WORDS = 0.05  # share of the words that are hidden in training, so that a word never met does no harm
WIDTH, LONGEST_ACTION = 128, 48
CLEVR_QUESTIONS = 10  # per image
RECOMBINED, MOST_RECOMBINED = 0.5, 60_000  # questions put together beside those that are there: a share, and at most
QUESTIONS = "questions"  # the setting that says what a question parser learns from


class ActionParserStage(TrainStage):
    """From the text of one action to its program."""

    name, word = ACTION_PARSER, "actions"
    supervision = frozenset((PROGRAMS, ACTIONS))
    check = 4000
    learns_vocabulary = captured = True
    recipe = TrainRecipe(epochs=24, batch=512, lr=4e-3, weight_decay=0.01, warmup=0.1, ema=0.99, clip=1.0)

    def describe(self, schema: Schema) -> dict[str, Any]:
        sizes = {"width": WIDTH, "longest_program": LONGEST_ACTION, "hidden_words": HIDDEN_WORDS}
        return {"config": QuestionParserConfig.list_default_sizes() | sizes, "checked": self.check}

    def collect(self, scenes: Sequence[Scene], questions: Sequence[Question]) -> Any:
        return [(one.text, one.program) for one in collect_actions(scenes, questions).pairs]

    def fit_vocabulary(self, schema: Schema, train: SplitData | None) -> Any:
        assert train is not None
        texts = sorted({text for text, _ in train.supervision[self.name]})
        if not texts:
            raise UserError("an action parser cannot be trained without texts of actions and their programs")
        vocabulary = ParserVocabulary.from_tokens(texts, list_action_tokens(schema), schema)
        return QuestionParserConfig(
            vocabulary, width=WIDTH, enriched=0.0, stripped=0.0, listed=0.0, longest_program=LONGEST_ACTION
        )

    def read_config(self, data: Mapping[str, Any]) -> Any:
        return QuestionParserConfig.from_json(data)

    def build(self, config: Any, parts: Mapping[str, nn.Module]) -> nn.Module:
        from ..nsvqa.question_parser.network import QuestionParser

        return QuestionParser(config)

    def make_examples(self, data: SplitData, config: Any, device: str) -> Any:
        return ActionExamples(data.supervision[self.name], config, device)

    def loss(self, module: Any, batch: Any) -> tuple[torch.Tensor, Losses]:
        from ..nsvqa.question_parser.loss import compute_loss

        return compute_loss(module, batch)

    def measure(self, module: Any, batch: Any) -> Counts:
        from ..nsvqa.question_parser.decode import measure

        return measure(module, batch)

    def choose_by(self, shares: Mapping[str, float]) -> float:
        return shares["exact"]

    def batch_to_measure(self, device: str) -> int | None:
        return MEASURED if device != "cpu" else None


class OutcomeQuestionStage(PlainQuestionParserStage):
    """From a question to its program about the scene after the action."""

    supervision = frozenset((PROGRAMS,))

    def collect(self, scenes: Sequence[Scene], questions: Sequence[Question]) -> Any:
        return [(one.text, one.program) for one in collect_questions(scenes, questions).pairs]


class ClevrBesideStage(OutcomeQuestionStage):
    """The same, with CLEVR's own questions about the scenes beside them, as the paper's question model learned.

    These have "both … and" and "either … or" in CLEVR's words, and no "not"; none is of a two-hop set.
    """

    def describe(self, schema: Schema) -> dict[str, Any]:
        return super().describe(schema) | {"clevr_beside": CLEVR_QUESTIONS}

    def collect(self, scenes: Sequence[Scene], questions: Sequence[Question]) -> Any:
        from ...questions.clevr.generator import generate_questions
        from ...questions.clevr.template_sets import builtin_templates

        plain = generate_questions(
            scenes, builtin_templates(scenes[0].schema), per_image=CLEVR_QUESTIONS, seed=0, split="beside", shard=0
        )
        beside = [(q.text, q.program.canonicalize()) for q in plain if q.program is not None]
        return [*super().collect(scenes, questions), *beside]


class RecombinedStage(OutcomeQuestionStage):
    """The same, with questions beside them that put together what they say (recombine.py)."""

    def describe(self, schema: Schema) -> dict[str, Any]:
        return super().describe(schema) | {"recombined": [RECOMBINED, MOST_RECOMBINED]}

    def encode(self, data: SplitData, parts: Mapping[str, nn.Module], device: str) -> SplitData:
        from .recombine import recombine

        pairs = data.supervision[self.name]
        made = recombine(pairs, min(round(RECOMBINED * len(pairs)), MOST_RECOMBINED))
        order = np.random.default_rng(0).permutation(len(pairs) + len(made))  # checks look at the first ones
        both = [*pairs, *made]
        return replace(data, supervision={**data.supervision, self.name: [both[k] for k in order]})


class ActionExamples:
    """Action texts as tables of numbers on the device; in the batches of an epoch some words are hidden."""

    def __init__(self, pairs: Sequence[tuple[str, Program]], config: Any, device: str) -> None:
        from ..nsvqa.question_parser.loss import QuestionParserBatch

        words, tokens = encode_actions(config.vocabulary, pairs, lenient=True)
        self.all = QuestionParserBatch.from_encoded(words, tokens, device)
        self.device, self.hides = device, False

    def __len__(self) -> int:
        return len(self.all)

    def epoch(self, batch: int, random: np.random.Generator) -> list[Rows]:
        from ..nsvqa.question_parser.loss import make_batches

        self.hides = True
        return make_batches(self.all.lengths[:, 0].numpy(), batch, random)

    def batch(self, rows: torch.Tensor) -> Any:
        import torch

        taken = self.all.take(rows)
        if self.device != "cpu":
            taken = taken.trim(STEP)
        if self.hides:
            hidden = torch.rand(taken.words.shape, device=taken.words.device) < HIDDEN_WORDS
            taken.words[hidden & (taken.words > UNKNOWN)] = UNKNOWN
        return taken


QUESTION_STAGES: Mapping[str, type[OutcomeQuestionStage]] = {"clevr": ClevrBesideStage, "recombined": RecombinedStage}


class TrainedSceneEditor(TrainedModel):
    """The parsers of a neuro-symbolic model, and one of actions; `--from` takes the scene parser of any such model."""

    KIND: ClassVar[str] = "scene_edit"
    TAKES: ClassVar[tuple[str, ...]] = (TrainedModel.KIND,)
    PARTS: ClassVar[Mapping[str, str]] = {
        SCENE_PARSER: PARSERS[SCENE_PARSER],
        ACTION_PARSER: "actions",
        QUESTION_PARSER: PARSERS[QUESTION_PARSER],
    }
    SHIPPED: ClassVar[Path | None] = SHIPPED

    def read_bytes(self, part: str) -> bytes:
        """As it was written; what ships has its scene parser from the neuro-symbolic models, which ship it too."""
        if part != SCENE_PARSER or self.folder.parent != SHIPPED:
            return super().read_bytes(part)
        data = TrainedModel.read(SCENE_PARSERS / self.folder.name).read_bytes(part)
        if digest_of(data) != self.about[part]["blake2b"]:
            raise UserError(f"{self.folder} belongs to another scene parser than the one shipped; {self.remedy}")
        return data


class SceneEditTraining(Trainable):
    """One folder serves scene_edit, scene_edit_soft and scene_edit_worlds: they differ in how programs are executed."""

    stages: tuple[TrainStage, ...] = (SceneParserStage(), ActionParserStage(), OutcomeQuestionStage())
    folder = TrainedSceneEditor
    requires = NeuroSymbolicTraining.requires

    def configure(self, settings: Mapping[str, str]) -> SceneEditTraining:
        """`reinforce=FOLDER` tunes that folder's action and question parsers by REINFORCE.

        `questions=clevr` teaches the question parser CLEVR's own questions too, `questions=recombined` new ones made of
        those that it learns from.
        """
        if not settings:
            return self
        wrong = next((name for name in settings if name not in (REINFORCE, QUESTIONS)), None)
        if wrong is not None:
            raise unknown("setting", wrong, (REINFORCE, QUESTIONS))
        if QUESTIONS in settings:
            if len(settings) > 1:
                raise UserError(f"{QUESTIONS} and {REINFORCE} are not set together")
            if settings[QUESTIONS] not in QUESTION_STAGES:
                known = ", ".join(f"{QUESTIONS}={name}" for name in QUESTION_STAGES)
                raise UserError(f"no setting {QUESTIONS}={settings[QUESTIONS]}: there is {known}")
            made = SceneEditTraining()
            made.stages = (*self.stages[:2], QUESTION_STAGES[settings[QUESTIONS]]())
            return made
        from .reinforce import ReinforcedActionStage, ReinforcedQuestionStage

        start, made = TrainedSceneEditor.read(Path(settings[REINFORCE])), SceneEditTraining()
        made.stages = (SceneParserStage(), ReinforcedActionStage(start), ReinforcedQuestionStage(start))
        return made
