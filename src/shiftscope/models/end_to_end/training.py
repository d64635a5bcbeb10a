"""How a model learns from questions and answers: one part, the answerer, whose cross entropy falls."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from ...errors import UserError, unknown
from ...question import Question
from ...scene import Scene
from ...schema import Schema
from ...trainable import (
    ANSWERS,
    IMAGES,
    Counts,
    ExampleSet,
    Losses,
    Rows,
    SplitData,
    Trainable,
    TrainRecipe,
    TrainStage,
    check_heads,
    count_right_answers,
    order_by_image,
)
from .objective import BIAS, HEAD, Objective
from .questions import END, LOSSES, SOFTMAX, AnsweredQuestions, AnswererConfig, list_answers, tell_action

if TYPE_CHECKING:
    import torch
    from torch import nn

ANSWERER = "answerer"
STEP = 4  # lengths of questions are rounded up to a multiple: a GPU meets few shapes
SORTED = 4  # batches that are sorted by length together: each of them has a quarter of all lengths
ENOUGH = 3  # annotators who say the same make an answer wholly right
LEAST = 9  # times that an answer of open vocabulary occurs to be learned: the usual bound of VQA v2
MEASURED = 2048  # questions measured at once
RECIPE = ("batch", "lr", "weight_decay", "patience", "tail")  # what of a recipe is a setting
NOTHING = ""  # the backbone of a model that has none
LOSS = "loss"  # the setting that names the form of the loss
BOTH, LANGUAGE, VISION = "both", "language", "vision"  # what a model reads


class AnswerStage(TrainStage):
    """A network from questions, and images, to answers. A model's own says what it is built of."""

    name = ANSWERER
    supervision = frozenset((IMAGES, ANSWERS))
    check = 20_000
    learns_vocabulary = True
    captured = True  # but where images are seen anew in every step: their number differs, and no shape shows it all
    recipe = TrainRecipe(epochs=40, batch=1024, lr=1e-3, weight_decay=0.1, warmup=0.0125, clip=1.0, patience=3)
    backbone: str = "shipped"  # of image features; NOTHING: the network sees pixels itself, or no image
    sizes: Mapping[str, float] = MappingProxyType({})
    takes_actions: bool = False  # whether it reads an action and a question as one text
    debiasable: bool = False  # whether its network has `read_states`, and it learns from answers alone
    answer_loss: str = SOFTMAX  # the form of the loss of answers
    objective: Objective | None = None  # what it learns from instead of that loss
    mixes_lengths: bool = False  # whether batches hold questions of all lengths, as norms over a batch want it
    works_blind: bool = False  # whether its network also works without any image
    reads: str = BOTH  # or what it is left with, of question and image

    @property
    def sees(self) -> bool:
        return IMAGES in self.supervision

    def build_network(self, config: AnswererConfig) -> nn.Module:
        """An Answerer with random weights."""
        raise NotImplementedError

    def list_settings(self) -> list[str]:
        own = self.objective.settings if self.objective else ()
        backbone = ("backbone",) if self.backbone != NOTHING else ()
        return [*self.sizes, *RECIPE, *backbone, *((LOSS,) if self.debiasable else ()), *own]

    def configure(self, settings: Mapping[str, str]) -> Self:
        """The same with other sizes, backbone, rate and batch, form of the loss or weights of its objective."""
        made = copy.copy(self)
        made.sizes = dict(self.sizes)
        named = self.list_settings()
        for name, value in settings.items():
            if name not in named:
                raise unknown("setting", name, named)
            if made.objective is not None and name in made.objective.settings:
                number = _read_number(name, value, made.objective.settings[name])
                made.objective = made.objective.change(name, number)
                continue
            if name == "backbone":
                made.backbone, made.captured = value, self.captured and value != "scratch"
            elif name == LOSS:
                if value not in LOSSES:
                    raise unknown("loss", value, LOSSES)
                made.answer_loss = value
            elif name in RECIPE:
                changed: dict[str, Any] = {name: _read_number(name, value, getattr(made.recipe, name))}
                made.recipe = replace(made.recipe, **changed)
            else:
                made.sizes[name] = _read_number(name, value, self.sizes[name])
        check_heads(made.sizes)
        return made

    def identify(self) -> dict[str, Any]:
        chosen = {"sizes": dict(self.sizes), "loss": self.answer_loss, "mixes_lengths": self.mixes_lengths}
        return super().identify() | chosen | ({"objective": self.objective.to_json()} if self.objective else {})

    def describe(self, schema: Schema) -> dict[str, Any]:
        own: dict[str, Any] = {"objective": self.objective.to_json()} if self.objective else {}
        own |= {"reads": self.reads} if self.reads != BOTH else {}
        own |= {"loss": self.answer_loss} if self.answer_loss != SOFTMAX else {}
        own |= {"mixes_lengths": True} if self.mixes_lengths else {}
        return {"checked": self.check, "sizes": dict(self.sizes), "features": self._describe_features(schema)} | own

    def collects_like(self, other: TrainStage) -> bool:
        """Another that takes no actions refuses questions with one, so that there are none to be told."""
        if not isinstance(other, AnswerStage) or type(self).collect is not type(other).collect:
            return False
        return self.takes_actions == other.takes_actions or not other.takes_actions

    def collect(self, scenes: Sequence[Scene], questions: Sequence[Question]) -> AnsweredQuestions:
        told = [tell_action(q) for q in questions] if self.takes_actions else questions
        return AnsweredQuestions.collect(scenes, told)

    def join(self, pieces: Sequence[AnsweredQuestions]) -> AnsweredQuestions:
        return AnsweredQuestions.join(pieces)

    def fit_vocabulary(self, schema: Schema, train: SplitData | None) -> AnswererConfig:
        assert train is not None
        questions: AnsweredQuestions = train.supervision[self.name]
        if self.objective is not None:
            self.objective.check(questions)
        words, answers = list(questions.texts.vocabulary), list_common_answers(schema, questions)
        size = (0, 0)
        if IMAGES in self.supervision and train.pixels is not None:
            size = (int(train.pixels.shape[2]), int(train.pixels.shape[1]))
        listed = tuple(sorted(set(words))) if self.reads != VISION else (), list_answers(schema, answers)
        own = {f"{self.objective.name} {k}": v for k, v in self.objective.settings.items()} if self.objective else {}
        return AnswererConfig(*listed, size, self._describe_features(schema), {**self.sizes, **own}, self.answer_loss)

    def read_config(self, data: Mapping[str, Any]) -> AnswererConfig:
        return AnswererConfig.from_json(data)

    def build(self, config: AnswererConfig, parts: Mapping[str, nn.Module]) -> nn.Module:
        module = self.build_network(config)
        if self.objective is not None and (head := self.objective.build_head(module, config)) is not None:
            module.add_module(HEAD, head)
        return module

    def load_pretrained(self, module: Any, config: AnswererConfig) -> None:
        if _is_frozen(config):
            from .image_features import load_features

            module.features = load_features(config.features, self.backbone)

    def encode(self, data: SplitData, parts: Mapping[str, nn.Module], device: str) -> SplitData:
        """With what the part that is the bias says to each question, if the objective has such a part."""
        if self.objective is None or self.objective.branch is None:
            return data
        branch = self.objective.branch
        bias = branch.compute_probabilities(parts[branch.name], data, self.name, device)
        return replace(data, supervision={**data.supervision, BIAS: bias})

    def compute_probabilities(self, module: Any, data: SplitData, name: str, device: str) -> torch.Tensor:
        """[question, answer] of the questions that another stage of that name learns from, in the order they have."""
        import torch

        from .answer_loss import compute_chances

        mine, form = replace(data, supervision={self.name: data.supervision[name]}), module.config.loss
        examples = self.make_questions(mine, module.config, device)
        with torch.no_grad(), torch.autocast("cuda", torch.bfloat16, enabled=device != "cpu"):
            batches = (examples.batch(rows) for rows in torch.split(torch.arange(len(examples)), MEASURED))
            return torch.cat([compute_chances(self.logits(module, batch), form).half() for batch in batches])

    def make_examples(self, data: SplitData, config: AnswererConfig, device: str) -> ExampleSet:
        examples = self.make_questions(data, config, device)
        if self.objective is None:
            return examples
        wrapped: ExampleSet = self.objective.make_examples(examples, data.supervision, self.name, config)
        return wrapped

    def make_questions(self, data: SplitData, config: AnswererConfig, device: str) -> AnswerExamples:
        """The questions, and what is encoded once per image."""
        questions: AnsweredQuestions = data.supervision[self.name]
        images = data.pixels if IMAGES in self.supervision else None
        if images is not None and _is_frozen(config):
            from .image_features import compute_features, load_features

            images = compute_features(load_features(config.features, self.backbone), images, device)
        return AnswerExamples(questions, config, images, device, 1 if self.mixes_lengths else SORTED)

    def logits(self, module: Any, batch: Any) -> torch.Tensor:
        found: torch.Tensor = module(self.hide(batch))
        return found

    def read_states(self, module: Any, batch: Any) -> Any:
        """The AnswerStates of a network that can be debiased."""
        return module.read_states(self.hide(batch))

    def hide(self, batch: Any) -> Any:
        """The batch with only what is left of question and image."""
        if self.reads == BOTH:
            return batch
        if self.reads == LANGUAGE:
            return replace(batch, images=None, rows=None)
        import torch

        return replace(batch, words=torch.full_like(batch.words[:, :1], END), lengths=torch.ones_like(batch.lengths))

    def loss(self, module: Any, batch: Any) -> tuple[torch.Tensor, Losses]:
        """What has no answer in the vocabulary teaches nothing."""
        if self.objective is not None:
            return self.objective.loss(module, batch, lambda some: self.read_states(module, some), self.answer_loss)
        from .answer_loss import average_answer_loss, get_taught

        return average_answer_loss(
            self.logits(module, batch), get_taught(batch, self.answer_loss), self.answer_loss
        ), {}

    def measure(self, module: Any, batch: Any) -> Counts:
        """An answer outside the vocabulary is wrong, whatever is answered."""
        return count_right_answers(self.logits(module, batch).argmax(-1), batch)

    def choose_by(self, shares: Mapping[str, float]) -> float:
        return shares["right"]

    def batch_to_measure(self, device: str) -> int | None:
        return MEASURED

    def find_lookup(self, config: AnswererConfig) -> Callable[[Sequence[str], str], Any] | None:
        """Where a model finds what there is to see of images by their names and the device; None: it sees pictures."""
        return None

    def _describe_features(self, schema: Schema) -> dict[str, Any]:
        if self.backbone == NOTHING:
            return {}
        from .image_features import describe_features

        return describe_features(self.backbone, schema)


class AnswerExamples:
    """Questions as a table of numbers on the device, and what there is to see of each image."""

    step = STEP

    def __init__(
        self,
        questions: AnsweredQuestions,
        config: AnswererConfig,
        images: torch.Tensor | None,
        device: str,
        together: int = SORTED,
    ) -> None:
        """So many batches are sorted by length together."""
        import torch

        self.together = together
        words, lengths = config.encode_words(questions.texts)
        self.words, self.device, self.images = torch.from_numpy(words).to(device), device, images
        self.lengths, self.image_of = torch.from_numpy(lengths), torch.from_numpy(questions.images)
        self.targets = torch.from_numpy(config.encode_answers(questions)).to(device)
        self.about_parts = torch.from_numpy(questions.about_parts).to(device)
        self.votes, self.answers = torch.from_numpy(config.encode_votes(questions)).to(device), len(config.answers)
        self.shared = images is not None and images.dtype == torch.uint8  # an image is seen anew in every step

    def __len__(self) -> int:
        return len(self.lengths)

    def epoch(self, batch: int, random: np.random.Generator) -> list[Rows]:
        """Questions of similar length together, unless they are mixed; of images that are seen anew, all about one."""
        if self.shared:
            return group_by_image(self.image_of.numpy(), batch, random)
        from ..nsvqa.question_parser.loss import make_batches

        return make_batches(self.lengths.numpy(), batch, random, self.together)

    def batch(self, rows: torch.Tensor) -> Any:
        import torch

        from .network import AnswerBatch

        longest = min(-(-int(self.lengths[rows].max()) // self.step) * self.step, self.words.shape[1])
        here = rows.to(self.device, non_blocking=True)
        images, image_rows, most = None, None, 1
        which = self.image_of[rows]
        image_of = which.to(self.device, non_blocking=True)
        if self.images is not None:
            if self.shared:
                which, image_rows, counts = torch.unique(which, return_inverse=True, return_counts=True)
                image_rows, most = image_rows.to(self.device, non_blocking=True), int(counts.max())
            images = self.images[which.to(self.images.device, non_blocking=True)].to(self.device, non_blocking=True)
            images = images.float() if images.dtype == torch.float16 else images  # a processor computes in float32
        return AnswerBatch(
            self.words[here, :longest].long(),
            self.lengths[rows].to(self.device, non_blocking=True),
            images,
            image_rows,
            most,
            self.targets[here],
            self.about_parts[here],
            image_of,
            agreement=measure_agreement(self.votes[here], self.answers) if self.votes.shape[1] else None,
        )

    def grade_answers(self, rows: torch.Tensor) -> torch.Tensor:
        """[question, answer] how right each answer is, from 0 to 1."""
        import torch

        if self.votes.shape[1]:
            return measure_agreement(self.votes[rows], self.answers)
        return (self.targets[rows, None] == torch.arange(self.answers, device=rows.device)).float()


def measure_agreement(votes: torch.Tensor, answers: int) -> torch.Tensor:
    """[question, answer] the score of VQA-VS, min(1, annotators / 3), of the votes [question, annotator]."""
    counts = votes.new_zeros(len(votes), answers + 1, dtype=votes.dtype).float()  # the last column: no known answer
    counts.scatter_add_(1, votes.where(votes >= 0, answers), counts.new_ones(votes.shape))
    return counts[:, :-1].clamp(max=ENOUGH) / ENOUGH


class AnswerTraining(Trainable):
    """A model of one part, the answerer, or of two where another is the bias that it is to do without."""

    requires = ("torch", "transformers", "accelerate", "safetensors")

    def __init__(self, stage: AnswerStage) -> None:
        branch = stage.objective.branch if stage.objective else None
        self.stages = (stage,) if branch is None else (branch, stage)

    def configure(self, settings: Mapping[str, str]) -> Self:
        """A setting changes all stages that have it; the last, which answers, has them all."""
        *before, last = (stage for stage in self.stages if isinstance(stage, AnswerStage))
        last = last.configure(settings)
        known = [{name: value for name, value in settings.items() if name in one.list_settings()} for one in before]
        before = [one.configure(some) for one, some in zip(before, known, strict=True)]
        if before and last.objective is not None:
            last.objective = last.objective.replace_branch(before[0])
        made = copy.copy(self)
        made.stages = (*before, last)
        return made


def list_common_answers(schema: Schema, questions: AnsweredQuestions) -> list[str]:
    """The answers that are learned: all of a closed schema, of any other those that occur often enough."""
    counts = np.bincount(questions.answers, minlength=len(questions.answer_words))
    least = 1 if schema.closed else LEAST
    return [word for word, count in zip(questions.answer_words, counts.tolist(), strict=True) if count >= least]


def group_by_image(image_of: Rows, batch: int, random: np.random.Generator) -> list[Rows]:
    """Images in random order, and their questions cut into batches of one length."""
    rows = order_by_image(image_of, int(image_of.max(initial=0)) + 1, random)
    return list(rows[: len(rows) - len(rows) % batch].reshape(-1, batch))


def sort_batches(batches: Sequence[Rows], lengths: Rows, together: int, random: np.random.Generator) -> list[Rows]:
    """Questions of so many batches shared out anew, those of similar length together; batches in random order."""
    found: list[Rows] = []
    for start in range(0, len(batches), together):
        some = batches[start : start + together]
        rows = np.concatenate(some)
        found += np.split(rows[np.argsort(lengths[rows], kind="stable")], len(some))
    return [found[k] for k in random.permutation(len(found))]


def _is_frozen(config: AnswererConfig) -> bool:
    return bool(config.features) and not config.features["trained"]


def _read_number(name: str, value: str, default: float) -> float:
    """A number of the default's kind: a whole one counts something, and is at least 1."""
    whole = isinstance(default, int)
    try:
        number = int(value) if whole else float(value)
    except ValueError:
        number = -1
    if not int(whole) <= number < 1e6:
        raise UserError(
            f"setting {name} must be a {'whole number from 1' if whole else 'number from 0'} up, not {value!r}"
        )
    return number
