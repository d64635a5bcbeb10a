"""An answering model: a trained folder with one part, the answerer, and how it answers prompts."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ...model import IMAGES, TEXT, AnswerColumns, ModelOptions, ModelSetting, ModelTraits, Prompt, Response
from ...picture import Picture, stack
from ...schema import Schema
from ...shortcuts.tokens import tokenize_texts
from ...trainable import load_stage
from ...trained_folder import MODEL_FILE, WRONG, TrainedFolder
from .questions import AnswererConfig, tell_action, type_answer
from .training import ANSWERER, AnswerStage, AnswerTraining

CACHED_IMAGES = 512  # whose features are cached: questions about one come one after the other
CPU_IMAGES, GPU_IMAGES = 16, 128  # images looked at together
CPU_QUESTIONS, GPU_QUESTIONS = 64, 2048  # questions answered together


@dataclass(frozen=True, slots=True, eq=False)
class TrainedAnswerer(TrainedFolder):
    """A network that answers; a model's own class says of which kind."""

    PARTS: ClassVar[Mapping[str, str]] = {ANSWERER: ANSWERER}

    @classmethod
    def find_misfit(cls, about: Mapping[str, Any]) -> str:
        if ANSWERER not in about:  # only what comes before it was trained
            return ""
        try:
            config = AnswererConfig.from_json(about[ANSWERER]["config"])
        except WRONG:
            return "the config of its answerer is not whole"
        return "" if config.answers else "its answerer knows no answer"


class AnsweringModel:
    """Answers questions about images by a trained network, in batches."""

    def __init__(
        self,
        trained: TrainedAnswerer,
        module: Any,
        device: str,
        sees: bool,
        takes_actions: bool = False,
        score: Callable[[Any, Any], Any] | None = None,
        lookup: Callable[[Sequence[str], str], Any] | None = None,
    ) -> None:
        gpu = device.startswith("cuda")
        self.trained, self.module, self.device, self.takes_actions = trained, module, device, takes_actions
        self.score = score or (lambda network, batch: network(batch))  # [question, answer]
        self.lookup = lookup  # what there is to see of images by their names, instead of pictures
        self.config: AnswererConfig = module.config
        self.reads = frozenset((TEXT, IMAGES)) if sees else frozenset((TEXT,))
        self.batch = GPU_QUESTIONS if gpu else CPU_QUESTIONS
        self._together = GPU_IMAGES if gpu else CPU_IMAGES
        self._seen: OrderedDict[str, Any] = OrderedDict()  # features by the picture's id

    def identity(self, before: Mapping[str, Any]) -> dict[str, Any]:
        return {"model_id": {MODEL_FILE: self.trained.content()}}

    def predict(self, batch: Sequence[Prompt]) -> list[Response]:
        why = [self._explain_unsupported(prompt) for prompt in batch]
        left = [prompt for prompt, reason in zip(batch, why, strict=True) if not reason]
        answers = iter(self._answer(left) if left else ())
        return [Response(status="undefined", reason=reason) if reason else next(answers) for reason in why]

    def _explain_unsupported(self, prompt: Prompt) -> str:
        if prompt.question.action and not self.takes_actions:
            return "an action is told, and this model sees only what is shown"
        if IMAGES in self.reads and len(prompt.pictures) != 1:
            return f"{len(prompt.pictures)} images; this model looks at one" if prompt.pictures else "no image"
        if self.lookup is not None and len(prompt.question.scenes) != 1:
            return f"{len(prompt.question.scenes)} images; this model looks at one"
        return ""

    def predict_columns(self, batch: Sequence[Prompt]) -> AnswerColumns:
        """The answers that `predict` gives, many at a time and nothing besides."""
        if any(map(self._explain_unsupported, batch)):
            raise ValueError("columns are of questions about one image each, as it is shown")
        found = [self._find_answers(batch[at : at + self.batch]) for at in range(0, len(batch), self.batch)]
        codes, confidence = (np.array([x for some in column for x in some]) for column in zip(*found, strict=True))
        return AnswerColumns(tuple(map(type_answer, self.config.answers)), codes, confidence)

    def _answer(self, prompts: Sequence[Prompt]) -> list[Response]:
        codes, chances = self._find_answers(prompts)
        answers = [type_answer(self.config.answers[k]) for k in codes]
        return [Response(answer=a, confidence=c) for a, c in zip(answers, chances, strict=True)]

    def _find_answers(self, prompts: Sequence[Prompt]) -> tuple[list[int], list[float]]:
        """The number of each answer, and its probability."""
        import torch

        from .answer_loss import compute_chances

        words, lengths = self.config.encode_words(tokenize_texts([tell_action(p.question).text for p in prompts]))
        with torch.inference_mode(), torch.autocast("cuda", torch.bfloat16, enabled=self.device.startswith("cuda")):
            found = self._score(
                prompts, torch.from_numpy(words).long().to(self.device), torch.from_numpy(lengths).to(self.device)
            )
            chances, best = compute_chances(found, self.config.loss).max(-1)
        return best.tolist(), chances.clamp(max=1.0).tolist()

    def _score(self, prompts: Sequence[Prompt], words: Any, lengths: Any) -> Any:
        """[prompt, answer] of the questions as [prompt, token] numbers, and how many tokens each has."""
        import torch

        from .network import AnswerBatch

        if self.lookup is not None:
            names = [p.question.scenes[0] for p in prompts]
            order: Mapping[str, Any] = dict.fromkeys(names)
            images = self.lookup(list(order), self.device)
        elif IMAGES in self.reads:
            names = [p.pictures[0].id for p in prompts]
            order = {p.pictures[0].id: p.pictures[0] for p in prompts}
            images = self._see(order)
        else:
            return self.score(self.module, AnswerBatch(words, lengths))
        place = {name: k for k, name in enumerate(order)}
        rows, most = torch.tensor([place[name] for name in names], device=self.device), max(Counter(names).values())
        return self.score(self.module, AnswerBatch(words, lengths, images, rows, most))

    def _see(self, pictures: Mapping[str, Picture]) -> Any:
        """What the network computes once per image."""
        import torch

        new = [picture for name, picture in pictures.items() if name not in self._seen]
        for start in range(0, len(new), self._together):
            some = new[start : start + self._together]
            found = self.module.encode_images(stack(some, self.device, self.trained.size))
            self._seen |= {picture.id: row for picture, row in zip(some, found, strict=True)}
        for name in pictures:
            self._seen.move_to_end(name)
        stacked = torch.stack([self._seen[name] for name in pictures])
        while len(self._seen) > CACHED_IMAGES:
            self._seen.popitem(last=False)
        return stacked


@dataclass(frozen=True, slots=True)
class AnswererEntry:
    """What a model's file gives the registry: `TRAITS`, `build` and `describe_run`."""

    name: str
    stage: AnswerStage
    folder: type[TrainedAnswerer]

    @property
    def training(self) -> AnswerTraining:
        return AnswerTraining(self.stage)

    @property
    def traits(self) -> ModelTraits:
        training = self.training
        training.folder = self.folder
        sees = self.stage.sees
        return ModelTraits(
            target=f"{self.name}:FOLDER",
            reads=frozenset((TEXT, IMAGES)) if sees else frozenset((TEXT,)),
            stored=True,
            answers_blind=not sees,
            most_images=1,
            takes_actions=self.stage.takes_actions,
            trainable=training,
        )

    def describe_run(self, target: str, options: ModelOptions, schema: Callable[[], Schema]) -> dict[str, Any]:
        return self.folder.find(self.name, target, schema()).describe_weights()

    def build(self, target: str, setting: ModelSetting) -> AnsweringModel:
        """The trained model in a folder, on the device of the options or the best."""
        trained = self.folder.find(self.name, target, setting.schema)
        device = trained.choose_device(setting.options.device)
        module, stage = load_stage(trained, self.stage, device), self.stage
        lookup = stage.find_lookup(module.config)
        sees = stage.sees and lookup is None
        return AnsweringModel(trained, module, device, sees, stage.takes_actions, stage.logits, lookup)
