"""What the networks share: a batch, the encoder of questions, and coordinates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from .image_features import build_features
from .questions import PAD, UNKNOWN, AnswererConfig

LEAST_AGREEMENT = 1 / 3  # one annotator's


@dataclass(frozen=True, slots=True, eq=False)
class AnswerBatch:
    """Questions, and what there is to see; all on the device."""

    words: Tensor  # [question, token] int64, PAD behind
    lengths: Tensor  # [question] int64, of at least 1
    images: Tensor | None = None  # [image, y, x, channel] features, or [image, height, width, 3] pixels of uint8
    rows: Tensor | None = None  # [question] the number of its image; None: each has its own
    most: int = 1  # questions about one image
    targets: Tensor | None = None  # [question] int64, UNSEEN for an answer outside the vocabulary
    about_parts: Tensor | None = None  # [question] bool
    image_of: Tensor | None = None  # [question] the number of its image among all, where a loss wants to know
    bias: Tensor | None = None  # [question, answer] probabilities by something that answers too easily
    agreement: Tensor | None = None  # [question, answer] min(1, annotators who say so / 3), where several were asked

    def __len__(self) -> int:
        return len(self.words)

    @property
    def taught(self) -> Tensor:
        """What is learned: the number of the answer, or [question, answer] each answer's share of the agreement."""
        if self.agreement is None:
            assert self.targets is not None
            return self.targets
        return self.agreement / self.agreement.sum(-1, keepdim=True).clamp(min=LEAST_AGREEMENT)


@dataclass(frozen=True, slots=True, eq=False)
class AnswerStates:
    """What a network makes of a batch: scores of answers, and the states that debiasing looks at."""

    scores: Tensor  # [question, answer]
    joint: Tensor  # [question, number] of question and image, as the classifier reads it
    question: Tensor  # [question, number] of the question alone


class Answerer(nn.Module):
    """A network that gives every answer a score: `forward(batch)` is [question, answer].

    One that can be debiased has `read_states`, and says how long its states are.
    """

    joint_size: int
    question_size: int

    def __init__(self, config: AnswererConfig) -> None:
        super().__init__()
        self.config = config
        self.features: Any = build_features(config.features) if config.features else None
        if self.features is not None and not config.features["trained"]:
            self.features.requires_grad_(False)

    def size(self, name: str) -> int:
        return int(self.config.sizes[name])

    def share(self, name: str) -> float:
        """A setting that is no whole number, as that of a dropout."""
        return float(self.config.sizes[name])

    def read_states(self, batch: AnswerBatch) -> AnswerStates:
        raise NotImplementedError

    def forward(self, batch: AnswerBatch) -> Tensor:
        return self.read_states(batch).scores

    def encode_images(self, images: Tensor) -> Tensor:
        """[image, y, x, channel] what is computed once per image, of pixels or of what it was computed to before."""
        return self.features(images) if images.dtype == torch.uint8 else images

    def train(self, mode: bool = True) -> Answerer:
        """A backbone that is not trained keeps its statistics too."""
        super().train(mode)
        if self.features is not None and not self.config.features["trained"]:
            self.features.eval()
        return self


def pick_rows(images: Tensor, rows: Tensor | None) -> Tensor:
    """[question, …] what belongs to the image of each question."""
    return images if rows is None else images.index_select(0, rows)


class QuestionEncoder(nn.Module):
    """A recurrent network that reads a question and keeps its last state.

    While it learns, dropout takes whole words: most questions are asked once, and would be learned by heart.
    """

    def __init__(self, tokens: int, width: int, hidden: int, kind: type[nn.RNNBase], dropout: float = 0.0) -> None:
        super().__init__()
        self.embed = nn.Embedding(tokens, width, padding_idx=PAD)
        with torch.no_grad():
            self.embed.weight[UNKNOWN].zero_()  # a word that training never showed says nothing
        self.drop = nn.Dropout1d(dropout)
        self.read: Any = kind(width, hidden, batch_first=True)  # type: ignore[call-arg,arg-type]

    def forward(self, words: Tensor, lengths: Tensor) -> Tensor:
        """[question, hidden]. What stands behind a question comes too late to change its state there."""
        return self.pick_last(self.scan(words), lengths)

    def scan(self, words: Tensor) -> Tensor:
        """[question, token, hidden] the state after each token.

        In float32: autocast would make it float16, in which gradients of a large batch underflow.
        """
        with torch.autocast(words.device.type, enabled=False):
            vectors = self.drop(self.embed(words))
            scanned = isinstance(self.read, nn.GRU) and vectors.is_cuda and torch.is_grad_enabled()
            states: Tensor = _scan(self.read, vectors) if scanned else self.read(vectors)[0]
        return states

    def pick_last(self, states: Tensor, lengths: Tensor) -> Tensor:
        """[question, hidden] the state after the last token."""
        last = (lengths - 1)[:, None, None].expand(-1, 1, states.shape[-1])
        return states.gather(1, last)[:, 0]


def _scan(gru: nn.GRU, vectors: Tensor) -> Tensor:
    """[question, token, hidden], faster than cuDNN's where steps are captured."""
    from ..nsvqa.question_parser.gru_scan import scan_layer

    states: Tensor = scan_layer(gru, 0, (vectors,), vectors.new_zeros(1, len(vectors), gru.hidden_size))[0]
    return states


class AnswerHead(nn.Sequential):
    """Scores of answers from what is known of question and image.

    Its norm looks at one question alone: batches hold questions of one length, whose statistics are not those of all.
    """

    def __init__(self, inside: int, hidden: int, answers: int, dropout: float) -> None:
        layers = nn.Linear(inside, hidden), nn.LayerNorm(hidden), nn.ReLU()
        super().__init__(nn.Dropout(dropout), *layers, nn.Dropout(dropout), nn.Linear(hidden, answers))

    def read_states(self, known: Tensor, question: Tensor) -> AnswerStates:
        return AnswerStates(self(known), known, question)


class PlacedConv(nn.Module):
    """A 1×1 convolution over channels and two more, the coordinates of each cell from −1 to 1.

    The two are convolved apart, once for all images: a GPU is slow where channels are not a multiple of eight.
    """

    def __init__(self, inside: int, outside: int, *, even: bool = False) -> None:
        """`even`: it begins as one convolution over all would; else places are seen best at first."""
        super().__init__()
        self.cells, self.place = nn.Conv2d(inside, outside, 1), nn.Conv2d(2, outside, 1, bias=False)
        if even:
            bound = (inside + 2) ** -0.5
            nn.init.uniform_(self.place.weight, -bound, bound)

    def forward(self, cells: Tensor) -> Tensor:
        y, x = (torch.linspace(-1, 1, side, device=cells.device) for side in cells.shape[2:])
        grid = torch.stack([x[None].expand(len(y), -1), y[:, None].expand(-1, len(x))])
        found: Tensor = self.cells(cells) + self.place(grid[None])
        return found
