"""How question parsers over several images are trained: from the pairs of text and program of the training split.

`--set parser=composing` (the usual one) learns a grammar; `t5`, `bart` and `gpt2` write `--set form=original` or
`compositional` token by token, from nothing or, by `--set pretrained=NAME`, from such a network of transformers. The
scene parser is that of nsvqa, which looks at one image at a time.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ...batch_mean import average_cross_entropy
from ...errors import UserError, unknown
from ...question import Question
from ...rng import derive
from ...scene import Scene
from ...schema import Schema
from ...trainable import PROGRAMS, Counts, Losses, Rows, SplitData, Trainable, TrainRecipe, TrainStage, shuffle_batches
from ...trained_folder import TrainedFolder
from .composing import COMPOSING, RULE, ComposingConfig, TextProgram, learn_composing
from .logical_forms import check_form, write_tokens

if TYPE_CHECKING:
    import torch
    from torch import nn

PARSER = "question_parser"
SHIPPED = Path(__file__).parent / "weights"
PARSERS = (COMPOSING, "t5", "bart", "gpt2")
SIZES = ("width", "layers", "heads", "inside")
PRETRAINED = "pretrained"
MEASURED = 1024  # questions measured at once
SETTINGS = ("parser", "form", PRETRAINED, *SIZES)


class PairStage(TrainStage):
    """From a question's text to its program."""

    name, word = PARSER, "questions"
    supervision = frozenset((PROGRAMS,))
    learns_vocabulary = True
    parser: str

    def collect(self, scenes: Sequence[Scene], questions: Sequence[Question]) -> list[TextProgram]:
        return [(q.text, q.program) for q in questions if q.program is not None]

    def choose_by(self, shares: Mapping[str, float]) -> float:
        return shares["exact"]


class ComposingStage(PairStage):
    """Learns rules and phrases, and then how likely each rule is, beginning from how often it was counted."""

    parser, rule = COMPOSING, RULE
    check = 200
    recipe = TrainRecipe(epochs=4, batch=1024, lr=1e-3, weight_decay=0.0, warmup=0.1, ema=0.9)

    def describe(self, schema: Schema) -> dict[str, Any]:
        return {"config": {"parser": self.parser}, "rule": self.rule, "checked": self.check}

    def fit_vocabulary(self, schema: Schema, train: SplitData | None) -> ComposingConfig:
        assert train is not None
        return learn_composing(train.supervision[self.name], schema)

    def read_config(self, data: Mapping[str, Any]) -> ComposingConfig:
        return ComposingConfig.from_json(data)

    def build(self, config: ComposingConfig, parts: Mapping[str, nn.Module]) -> nn.Module:
        from .network import RuleScores

        return RuleScores(config)

    def load_pretrained(self, module: Any, config: ComposingConfig) -> None:
        module.begin_from_counts()

    def make_examples(self, data: SplitData, config: ComposingConfig, device: str) -> RuleExamples:
        return RuleExamples(data.supervision[self.name], config, device)

    def logits(self, module: Any, batch: RuleBatch) -> torch.Tensor:
        """[use, rule] of the rules of the same category."""
        found: torch.Tensor = module(batch.targets)
        return found

    def measure(self, module: Any, batch: RuleBatch) -> Counts:
        """How many programs are exactly right."""
        right = [module.parse([text])[0] == program.canonicalize() for text, program in batch.pairs]
        return {"exact": (sum(right), len(right))}


@dataclass(frozen=True, slots=True)
class RuleBatch:
    """Uses of rules, and the questions that are parsed to measure."""

    targets: torch.Tensor  # [use] the rule
    pairs: tuple[TextProgram, ...]


class RuleExamples:
    """Each question stands for a use of a rule; rules are used as often as the grammar counted."""

    def __init__(self, pairs: Sequence[TextProgram], config: ComposingConfig, device: str) -> None:
        self.pairs, self.device = pairs, device
        shares = np.asarray(config.counts) / max(sum(config.counts), 1e-9)
        ends = np.cumsum(shares)
        places = (np.arange(len(pairs)) + 0.5) / max(1, len(pairs))
        uses = np.searchsorted(ends, places).clip(0, len(shares) - 1)
        self.uses = uses[derive("neuro_symbolic", "uses", len(pairs)).permutation(len(uses))]

    def __len__(self) -> int:
        return len(self.pairs)

    def epoch(self, batch: int, random: np.random.Generator) -> list[Rows]:
        return shuffle_batches(len(self), batch, random)

    def batch(self, rows: torch.Tensor) -> RuleBatch:
        import torch

        numbers = rows.tolist()
        targets = torch.from_numpy(self.uses[numbers]).to(self.device)
        return RuleBatch(targets, tuple(self.pairs[k] for k in numbers))


class SequenceStage(PairStage):
    """A network of transformers that writes the logical form."""

    check = 6000
    captured = True
    recipe = TrainRecipe(epochs=30, batch=256, lr=5e-4, weight_decay=0.01, warmup=0.03, ema=0.998, clip=1.0, patience=4)

    def __init__(
        self, parser: str, form: str = "compositional", sizes: Mapping[str, int] | None = None, pretrained: str = ""
    ) -> None:
        self.parser, self.form, self.sizes = parser, check_form(form), dict(sizes or {})
        self.pretrained = pretrained  # a folder or name of transformers

    def describe(self, schema: Schema) -> dict[str, Any]:
        known = {"config": {"parser": self.parser, "form": self.form, **self.sizes}, "checked": self.check}
        return known | ({PRETRAINED: self.pretrained} if self.pretrained else {})

    def collect(self, scenes: Sequence[Scene], questions: Sequence[Question]) -> list[Any]:
        schema = scenes[0].schema if scenes else None
        pairs = super().collect(scenes, questions)
        return [(text, program, write_tokens(program, self.form, schema)) for text, program in pairs]

    def fit_vocabulary(self, schema: Schema, train: SplitData | None) -> Any:
        from .lexicon import split_words
        from .network import SequenceConfig

        assert train is not None
        rows = train.supervision[self.name]
        if not rows:
            raise UserError("a question parser cannot be trained without questions that have programs")
        words = {word for text, _, tokens in rows for word in (*split_words(text), *tokens)}
        longest = max(len(split_words(text)) + len(tokens) for text, _, tokens in rows) + 16
        sizes: dict[str, Any] = dict(self.sizes)
        made = SequenceConfig(self.parser, self.form, tuple(sorted(words)), schema, longest=longest, **sizes)
        if not self.pretrained:
            return made
        from .pretrained import check_length, read_architecture

        architecture = read_architecture(self.parser, self.pretrained)
        check_length(self.parser, architecture, longest)
        return replace(made, architecture=architecture)

    def read_config(self, data: Mapping[str, Any]) -> Any:
        from .network import SequenceConfig

        return SequenceConfig.from_json(data)

    def build(self, config: Any, parts: Mapping[str, nn.Module]) -> nn.Module:
        from .network import SequenceParser

        return SequenceParser(config)

    def load_pretrained(self, module: Any, config: Any) -> None:
        if self.pretrained:
            from .pretrained import copy_pretrained

            copy_pretrained(module, self.pretrained)

    def make_examples(self, data: SplitData, config: Any, device: str) -> SequenceExamples:
        return SequenceExamples(data.supervision[self.name], config, device)

    def batch_to_measure(self, device: str) -> int | None:
        return MEASURED

    def logits(self, module: Any, batch: Any) -> torch.Tensor:
        """[question, token, word]"""
        found: torch.Tensor = module(batch)
        return found

    def loss(self, module: Any, batch: Any) -> tuple[torch.Tensor, Losses]:
        from .network import IGNORED

        logits, targets = self.logits(module, batch), self._find_targets(batch)
        return average_cross_entropy(logits.flatten(0, 1).float(), targets.flatten(), IGNORED), {}

    def measure(self, module: Any, batch: Any) -> Counts:
        """How many programs are written exactly so: each token is the likeliest after those before it.

        That is when greedy decoding writes them, and is known without decoding.
        """
        from .network import IGNORED

        targets = self._find_targets(batch)
        right = (self.logits(module, batch).argmax(-1) == targets) | (targets == IGNORED)
        return {"exact": (right.all(1).sum(), len(right))}

    def _find_targets(self, batch: Any) -> torch.Tensor:
        """[question, token] what each of the logits is to tell."""
        from .network import ENCODERS

        found: torch.Tensor = batch.targets if self.parser in ENCODERS else batch.targets[:, 1:]
        return found


class SequenceExamples:
    """Questions and programs as two tables of numbers on the device."""

    def __init__(self, rows: Sequence[Any], config: Any, device: str) -> None:
        import torch

        from .network import IGNORED, PAD, encode_pair, fill_rows

        numbers = config.number_words()
        pairs = [encode_pair(config.parser, numbers, text, tokens) for text, _, tokens in rows]
        words, targets = ([pair[side] for pair in pairs] for side in (0, 1))
        self.words, self.targets = fill_rows(words, PAD).to(device), fill_rows(targets, IGNORED).to(device)
        self.lengths = torch.tensor([[len(one) for one in pair] for pair in pairs], dtype=torch.long).reshape(-1, 2)

    def __len__(self) -> int:
        return len(self.lengths)

    def epoch(self, batch: int, random: np.random.Generator) -> list[Rows]:
        """Questions and programs of similar length together."""
        from ..nsvqa.question_parser.loss import make_batches

        return make_batches(self.lengths.sum(1).numpy(), batch, random)

    def batch(self, rows: torch.Tensor) -> Any:
        from .network import STEP, SequenceBatch

        words, tokens = (-(-wide // STEP) * STEP for wide in self.lengths[rows].amax(0).tolist())
        here = rows.to(self.words.device, non_blocking=True)
        return SequenceBatch(self.words[here, :words], self.targets[here, :tokens])


@dataclass(frozen=True, slots=True, eq=False)
class TrainedQuestionParser(TrainedFolder):
    """A question parser of any kind; its config says which."""

    KIND: ClassVar[str] = "question_parser"
    PARTS: ClassVar[Mapping[str, str]] = {PARSER: "questions"}
    SHIPPED: ClassVar[Path | None] = SHIPPED


class QuestionParserTraining(Trainable):
    """`--set parser=t5 --set form=original`; sizes of a network, or a pretrained one, are settings, too."""

    stages: tuple[TrainStage, ...] = (ComposingStage(),)
    folder = TrainedQuestionParser
    requires = ("torch", "transformers", "accelerate", "safetensors")

    def configure(self, settings: Mapping[str, str]) -> QuestionParserTraining:
        if not settings:
            return self
        wrong = next((name for name in settings if name not in SETTINGS), None)
        if wrong is not None:
            raise unknown("setting", wrong, SETTINGS)
        parser = settings.get("parser", COMPOSING)
        if parser not in PARSERS:
            raise unknown("parser", parser, PARSERS)
        made = copy.copy(self)
        if parser == COMPOSING:
            if len(settings) > 1:
                raise UserError(
                    "parser=composing has no other setting: it learns meanings, in no official logical form"
                )
            return made
        sizes = {name: read_size(name, settings[name]) for name in SIZES if name in settings}
        pretrained = settings.get(PRETRAINED, "")
        if pretrained and sizes:
            raise UserError(f"{PRETRAINED}={pretrained} has sizes of its own; omit {', '.join(sizes)}")
        if PRETRAINED in settings:
            from .pretrained import read_architecture

            read_architecture(parser, pretrained)  # refused before any data are read
        made.stages = (SequenceStage(parser, settings.get("form", "compositional"), sizes, pretrained),)
        return made


def read_size(name: str, text: str) -> int:
    if not text.isdecimal() or not 0 < int(text) <= 4096:
        raise UserError(f"{name}={text}: expected a whole number from 1 to 4096")
    return int(text)


def find_stage(config: Mapping[str, Any]) -> TrainStage:
    """The stage that made a config."""
    parser = config.get("parser")
    if parser not in PARSERS:
        raise UserError(f"its parser is {parser!r}, which is none of {', '.join(PARSERS)}")
    return ComposingStage() if parser == COMPOSING else SequenceStage(parser, str(config.get("form")))
