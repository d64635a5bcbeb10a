"""Loss of the question parser: batches, their augmentation, and the cross entropy of each program token."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Self

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn import functional

from ....batch_mean import average_cross_entropy, divide_by_batch
from ....trainable import Rows
from .add_lists import ListAdder
from .add_modifiers import ROUNDS, ModifierAdder, Random
from .drop_modifiers import ModifierDropper
from .network import QuestionParser
from .vocabulary import PAD, Ids, QuestionParserConfig


class QuestionAugmenter(nn.Module):
    """The shares of a config, and what enriches and strips questions of its vocabulary."""

    def __init__(self, config: QuestionParserConfig) -> None:
        super().__init__()
        self.enriched, self.stripped = config.enriched, config.stripped
        self.listed = config.listed * config.enriched
        self.enrich, self.strip = ModifierAdder(config.vocabulary), ModifierDropper(config.vocabulary)
        self.list = ListAdder(config.vocabulary, self.strip)

    def forward(self, words: Tensor, tokens: Tensor, random: Random = None) -> tuple[Tensor, Tensor]:
        """Words and tokens; the chance decides for each question."""
        drawn = torch.rand(len(words), device=words.device, generator=random)
        if self.stripped:
            words, tokens = self.strip(words, tokens, drawn >= 1 - self.stripped, random)
        if self.enriched:
            words, tokens = self.enrich(words, tokens, drawn < self.enriched, random)
        if self.listed:
            some = drawn < self.listed
            for _ in range(ROUNDS):  # what has lists has most of its adjectives as well
                words, tokens = self.enrich.add_adjectives(words, tokens, some, random)
            words, tokens = self.list(words, tokens, some, random)
        return words, tokens


@lru_cache(maxsize=2)
def find_augmenter(config: QuestionParserConfig, device: torch.device) -> QuestionAugmenter:
    """The same one each time: what it may add is drawn when it is made."""
    return QuestionAugmenter(config).to(device)


@dataclass(frozen=True, slots=True, eq=False)
class QuestionParserBatch:
    """Questions and their programs, BEGIN first and PAD behind."""

    words: Tensor  # [question, word] int64
    tokens: Tensor  # [question, token] int64
    lengths: Tensor  # [question, 2] of words and tokens; on the host, to choose widths by and nothing else

    @classmethod
    def from_encoded(cls, words: Ids, tokens: Ids, device: str | torch.device = "cpu") -> Self:
        """Everything as one batch, from which `take` makes smaller ones; lies on the device."""
        both = [torch.from_numpy(table) for table in (words, tokens)]
        lengths = torch.stack([(t != PAD).sum(1) for t in both], 1)
        return cls(both[0].to(device), both[1].to(device), lengths)

    def __len__(self) -> int:
        return len(self.words)

    def take(self, rows: Tensor) -> "QuestionParserBatch":
        """Some of the questions, by numbers on the host; without columns that are empty for all of them."""
        here = rows.to(self.words.device, non_blocking=True)
        return QuestionParserBatch(self.words[here], self.tokens[here], self.lengths[rows]).trim()

    def trim(self, step: int = 1) -> "QuestionParserBatch":
        """As narrow as the longest question lets it be, or the next multiple of the step."""
        words, tokens = (-(-wide // step) * step for wide in self.lengths.amax(0).tolist())
        return QuestionParserBatch(_cut(self.words, words), _cut(self.tokens, tokens), self.lengths)

    def cut(self, start: int, size: int, step: int = 1) -> "QuestionParserBatch":
        """So many questions that stand together."""
        tables = (table[start : start + size] for table in (self.words, self.tokens, self.lengths))
        return QuestionParserBatch(*tables).trim(step)

    def split(self, size: int, step: int = 1) -> list["QuestionParserBatch"]:
        """Batches of so many questions each, one after another."""
        tables = (self.words, self.tokens, self.lengths)
        parts = zip(*(torch.split(t, size) for t in tables), strict=True)
        return [QuestionParserBatch(*some).trim(step) for some in parts]

    def sort(self) -> "QuestionParserBatch":
        """By length: questions that have become long stand together."""
        order = self.lengths.sum(1).argsort(stable=True)
        here = order.to(self.words.device)
        return QuestionParserBatch(self.words[here], self.tokens[here], self.lengths[order])

    def augment(self, vary: QuestionAugmenter, random: Random = None) -> "QuestionParserBatch":
        """The same questions, some with more in them and some with less."""
        words, tokens = vary(self.words, self.tokens, random)
        lengths = torch.stack([(t != PAD).sum(1) for t in (words, tokens)], 1).cpu()
        return QuestionParserBatch(words, tokens, lengths).trim()


def _cut(table: Tensor, wide: int) -> Tensor:
    """The table, made as wide as that."""
    return functional.pad(table[:, :wide].long(), (0, max(0, wide - table.shape[1])), value=PAD)


def compute_loss(module: QuestionParser, batch: QuestionParserBatch) -> tuple[Tensor, dict[str, Tensor]]:
    """The mean over tokens, and the share of tokens whose likeliest value is right."""
    scores = module(batch.words, batch.tokens[:, :-1])
    true = batch.tokens[:, 1:]
    mean = average_cross_entropy(scores.flatten(0, 1).float(), true.flatten(), PAD)
    counted = true != PAD
    right = ((scores.detach().argmax(-1) == true) & counted).sum().float()
    return mean, {"token accuracy": divide_by_batch(right, counted.sum())}


# A GPU takes as long to vary a thousand questions as to vary many thousands, so it varies some batches
# together. What a batch holds does not depend on those before it: a training can begin with any of them.

SORTED_BATCHES = 32  # batches that are sorted by length together
TOGETHER = 32  # batches that a GPU varies at once; a processor gains nothing by it
STEP = 8  # words and tokens: tables of a GPU are as wide as a multiple of it, for each width is captured apart
SEEDS = 1 << 62


def make_batches(
    lengths: npt.NDArray[np.integer], batch: int, random: np.random.Generator, together: int = SORTED_BATCHES
) -> list[Rows]:
    """One epoch: the rows of each batch, in random order, texts of like length together.

    So many batches are sorted by length together; with 1, batches are drawn from all lengths alike. The rows that do
    not fill a batch are left out, as others are in the next epoch.
    """
    size = min(batch, len(lengths))
    order = random.permutation(len(lengths))
    found: list[Rows] = []
    for start in range(0, len(order), size * together):
        chunk = order[start : start + size * together]
        chunk = chunk[: len(chunk) - len(chunk) % size]  # before they are sorted, or the longest would never be learned
        chunk = chunk[np.argsort(lengths[chunk], kind="stable")]
        found += np.split(chunk, len(chunk) // size) if len(chunk) else []
    return [found[i] for i in random.permutation(len(found))]


class QuestionEpoch:
    """Some rows of a table of questions for each batch, all of them as many."""

    def __init__(
        self, table: QuestionParserBatch, rows: Sequence[Rows], vary: QuestionAugmenter, random: np.random.Generator
    ) -> None:
        self.table, self.rows, self.vary = table, rows, vary
        self._seeds = random.integers(SEEDS, size=len(rows)).tolist()
        self._number = np.full(len(table), -1)  # [question] of the batch that has it, which is one at most
        for k, some in enumerate(rows):
            self._number[some] = k
        self._together, self._step = (1, 1) if table.words.device.type == "cpu" else (TOGETHER, STEP)
        self._start, self._made = 0, list[QuestionParserBatch]()

    def batch(self, rows: Tensor) -> QuestionParserBatch | None:
        """The batch that has these rows, varied; None if none has. Batches varied together swap questions by length.

        Of several processes each asks for some rows that stand together, and gets what stands there now.
        """
        k, size = int(self._number[int(rows[0])]), len(rows)
        at = int(np.flatnonzero(self.rows[k] == int(rows[0]))[0]) if k >= 0 else 0
        if k < 0 or not np.array_equal(self.rows[k][at : at + size], rows.numpy()):
            return None
        start = k - k % self._together
        if start != self._start or not self._made:
            some = self.rows[start : start + self._together]
            random = torch.Generator(self.table.words.device).manual_seed(self._seeds[start])
            questions = self.table.take(torch.from_numpy(np.concatenate(some)))
            varied = questions.augment(self.vary, random).sort()
            made = varied.split(len(some[0]), self._step)
            order = np.random.default_rng(self._seeds[start]).permutation(len(made))
            self._start, self._made = start, [made[i] for i in order]
        found = self._made[k - start]
        return found if size == len(found) else found.cut(at, size, self._step)
