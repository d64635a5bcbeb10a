"""What question parsers learn: networks that write a logical form token by token, and the scores of a grammar's rules.

T5, BART and GPT-2 are those of transformers, made from a configuration, ours or a pretrained one's. Words of questions
and tokens of programs are one vocabulary, learned from the training pairs. GPT-2 reads the question and goes on with
the program; the others encode the question first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import torch
from torch import nn

from ...lang.program import Program, ProgramError
from ...schema import Schema
from ...trainable import check_heads
from .composing import ComposingConfig, ComposingParser
from .lexicon import split_words
from .logical_forms import express_program, read_tokens

PAD, END, BEGIN, UNKNOWN = range(4)
MARKS = {"pad": PAD, "eos": END, "bos": BEGIN, "unk": UNKNOWN}  # as transformers calls them
FIRST = 4  # number of the first word
IGNORED = -100  # target that teaches nothing
ENCODERS = ("t5", "bart")
ARCHITECTURES = (*ENCODERS, "gpt2")
TOGETHER, GPU_TOGETHER = 256, 2048  # questions parsed at once
STEP = 16  # widths of batches are multiples of it: a GPU meets few shapes
ABSENT = -10_000.0  # added to the attention to what is not there, or not written yet
SCALE = 100.0  # of scores to the weights that are learned, whose steps are as small as a network's


@dataclass(frozen=True, slots=True)
class SequenceConfig:
    """What a sequence parser is built of."""

    parser: str  # one of ARCHITECTURES
    form: str  # the logical form it writes
    words: tuple[str, ...]  # of questions, and tokens of programs
    schema: Schema
    width: int = 256
    layers: int = 3
    heads: int = 4
    inside: int = 1024
    dropout: float = 0.1
    longest: int = 160  # tokens of a question with its program
    architecture: Mapping[str, Any] = field(default_factory=dict)  # of a pretrained network, instead of these sizes

    def to_json(self) -> dict[str, Any]:
        lists = {"schema": self.schema.to_json(), "words": list(self.words), "architecture": dict(self.architecture)}
        return asdict(self) | lists

    def number_words(self) -> dict[str, int]:
        return {word: FIRST + k for k, word in enumerate(self.words)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> SequenceConfig:
        return cls(**{**data, "schema": Schema.from_json(data["schema"]), "words": tuple(data["words"])})


def get_network_class(parser: str) -> Any:
    import transformers

    hf: Any = transformers
    classes = hf.T5ForConditionalGeneration, hf.BartForConditionalGeneration, hf.GPT2LMHeadModel
    return dict(zip(ARCHITECTURES, classes, strict=True))[parser]


def build_network(config: SequenceConfig) -> Any:
    """The network of that architecture, with random weights."""
    made = get_network_class(config.parser)
    marks: dict[str, int | None] = {f"{mark}_token_id": number for mark, number in MARKS.items() if mark != "unk"}
    starts = {"t5": {"decoder_start_token_id": PAD}, "bart": {"decoder_start_token_id": END}}
    if config.parser == "bart":
        marks["forced_eos_token_id"] = None
    fields = dict(config.architecture) or _list_sizes(config)
    network = made(
        made.config_class(**fields, **marks, **starts.get(config.parser, {}), vocab_size=FIRST + len(config.words))
    )
    if config.parser == "t5":
        fuse_norms(network)
    return network


class FusedNorm(nn.RMSNorm):
    """T5's norm, in few kernels on a GPU where transformers' own takes some twenty."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        normed: torch.Tensor = super().forward(x.to(self.weight.dtype))  # of two widths it would take many again
        return normed


def fuse_norms(network: nn.Module) -> None:
    """Put such norms in the place of all of T5's, under the same names."""
    from transformers.models.t5.modeling_t5 import T5LayerNorm

    for part in list(network.modules()):
        for name, norm in part.named_children():
            if isinstance(norm, T5LayerNorm):
                fused = FusedNorm(len(norm.weight), norm.variance_epsilon)
                fused.weight = norm.weight
                setattr(part, name, fused)


def _list_sizes(config: SequenceConfig) -> dict[str, Any]:
    """Our sizes, as the configuration of each architecture calls them."""
    if config.parser == "t5":
        return {
            "d_model": config.width,
            "d_kv": config.width // config.heads,
            "d_ff": config.inside,
            "num_layers": config.layers,
            "num_decoder_layers": config.layers,
            "num_heads": config.heads,
            "dropout_rate": config.dropout,
        }
    check_heads({"width": config.width, "heads": config.heads})
    if config.parser == "bart":
        both = {"layers": config.layers, "attention_heads": config.heads, "ffn_dim": config.inside}
        return {
            **{f"{side}_{name}": value for side in ("encoder", "decoder") for name, value in both.items()},
            "d_model": config.width,
            "dropout": config.dropout,
            "max_position_embeddings": config.longest,
        }
    return {
        "n_embd": config.width,
        "n_layer": config.layers,
        "n_head": config.heads,
        "n_inner": config.inside,
        "n_positions": config.longest,
        **dict.fromkeys(("resid_pdrop", "embd_pdrop", "attn_pdrop"), config.dropout),
    }


@dataclass(frozen=True, slots=True)
class SequenceBatch:
    """Questions and programs as numbers, filled up with PAD; targets with IGNORED."""

    words: torch.Tensor  # [question, word]; of GPT-2 with the program after it
    targets: torch.Tensor  # [question, token]; of GPT-2 as long as the words


class SequenceParser(nn.Module):
    """A network and its vocabulary."""

    def __init__(self, config: SequenceConfig) -> None:
        super().__init__()
        self.config = config
        self.network = build_network(config)
        self.numbers = config.number_words()

    @property
    def together(self) -> int:
        """How many questions are best parsed at once: a GPU takes as long for many as for few."""
        return GPU_TOGETHER if next(self.parameters()).is_cuda else TOGETHER

    def forward(self, batch: SequenceBatch) -> torch.Tensor:
        """[question, token, word] the logits of each target.

        Masks are given as they are added: transformers would look at others on the host, and such a step could not be
        captured as a CUDA graph. What fills a row up stands behind all that is learned, where nothing looks.
        """
        before = mask_later(batch.targets.shape[1], batch.words.device)
        logits: torch.Tensor
        if self.config.parser not in ENCODERS:
            logits = self.network(input_ids=batch.words, attention_mask=before, use_cache=False).logits
            return logits[:, :-1]
        first = torch.full_like(batch.targets[:, :1], self.network.config.decoder_start_token_id)
        logits = self.network(
            input_ids=batch.words,
            attention_mask=(batch.words == PAD).float()[:, None, None] * ABSENT,
            decoder_input_ids=torch.cat([first, batch.targets[:, :-1].clamp(min=PAD)], 1),
            decoder_attention_mask=before,
            use_cache=False,
        ).logits
        return logits

    @torch.no_grad()
    def parse(self, texts: Sequence[str]) -> list[Program | None]:
        """The program of each question, decoded greedily; None where what is written is none."""
        found: list[Program | None] = [None] * len(texts)
        order = sorted(range(len(texts)), key=lambda k: len(texts[k]))  # short programs do not wait for long ones
        for start in range(0, len(texts), self.together):
            some = order[start : start + self.together]
            for k, program in zip(some, self._parse_batch([texts[k] for k in some]), strict=True):
                found[k] = program
        return found

    def express(self, program: Program) -> Program:
        """The program as the logical form says it: what is right to write; as it is where that form cannot say it."""
        try:
            return express_program(program, self.config.form, self.config.schema)
        except ProgramError:  # one of another benchmark
            return program.canonicalize()

    def _parse_batch(self, texts: Sequence[str]) -> list[Program | None]:
        device = next(self.parameters()).device
        rows = [encode_text(self.config.parser, self.numbers, text) for text in texts]
        left = self.config.parser not in ENCODERS  # what goes on from its own words has them at its end
        words = fill_rows(rows, PAD, left).to(device)
        room = self.config.longest - (words.shape[1] if left else 0)
        if room < 2:
            return [None for _ in texts]
        written = self.network.generate(
            input_ids=words, attention_mask=(words != PAD).long(), do_sample=False, num_beams=1, max_new_tokens=room - 1
        )
        written = written[:, words.shape[1] :] if left else written[:, 1:]
        return [self._read(row) for row in written.tolist()]

    def _read(self, row: Sequence[int]) -> Program | None:
        tokens = []
        for number in row:
            if number == END:
                break
            if number < FIRST:
                return None
            tokens.append(self.config.words[number - FIRST])
        try:
            return read_tokens(tokens, self.config.form, self.config.schema).canonicalize()
        except ProgramError:
            return None


def encode_text(parser: str, numbers: Mapping[str, int], text: str) -> list[int]:
    """A question as numbers, and what ends it."""
    return [*(numbers.get(word, UNKNOWN) for word in split_words(text)), END if parser in ENCODERS else BEGIN]


def encode_pair(
    parser: str, numbers: Mapping[str, int], text: str, tokens: Sequence[str]
) -> tuple[list[int], list[int]]:
    """What is read, and what is to be written."""
    asked, written = encode_text(parser, numbers, text), [*(numbers.get(t, UNKNOWN) for t in tokens), END]
    if parser in ENCODERS:
        return asked, written
    return [*asked, *written], [*[IGNORED] * len(asked), *written]


def mask_later(places: int, device: torch.device) -> torch.Tensor:
    """[1, 1, place, place] what is added to attention scores, so that no place looks at later ones."""
    return torch.full((1, 1, places, places), ABSENT, device=device).triu(1)


def fill_rows(rows: Sequence[Sequence[int]], value: int, left: bool = False) -> torch.Tensor:
    """[row, longest] filled up at the end, or at the beginning."""
    widest = max(map(len, rows), default=0)
    filled = [[*[value] * (widest - len(r)), *r] if left else [*r, *[value] * (widest - len(r))] for r in rows]
    return torch.tensor(filled, dtype=torch.long).reshape(len(rows), widest)


class RuleScores(nn.Module):
    """Scores, and the parser that uses them."""

    together = TOGETHER

    def __init__(self, config: ComposingConfig) -> None:
        super().__init__()
        self.config = config
        self.weights = nn.Parameter(torch.zeros(len(config.rules)))
        numbers = {name: k for k, name in enumerate(sorted({rule.category for rule in config.rules}))}
        self.categories = [numbers[rule.category] for rule in config.rules]
        self._parser: tuple[tuple[float, ...], ComposingParser] | None = None

    def begin_from_counts(self) -> None:
        """Score each rule by how often it was counted, which is where its likelihood is greatest."""
        self.weights.data = torch.tensor(self.config.counts).log() / SCALE

    def forward(self, rules: torch.Tensor) -> torch.Tensor:
        """[use, rule] the score of each rule of the category of a rule that is used."""
        category = torch.tensor(self.categories, device=rules.device)
        apart = category[rules][:, None] != category[None]
        return (SCALE * self.weights)[None].expand(len(rules), -1).masked_fill(apart, float("-inf"))

    def express(self, program: Program) -> Program:
        """Programs are learned as they are."""
        return program.canonicalize()

    def parse(self, texts: Sequence[str]) -> list[Program | None]:
        """The program of each question; None where it cannot be read."""
        weights = tuple((SCALE * self.weights.detach().float().cpu()).exp().tolist())
        if self._parser is None or self._parser[0] != weights:
            self._parser = weights, ComposingParser(self.config, weights)
        return [self._parser[1].parse(text) for text in texts]
