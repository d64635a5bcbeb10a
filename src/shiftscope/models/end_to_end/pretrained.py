"""Pretrained: an answerer whose layers may begin as those of a model of transformers, by `--set pretrained=NAME`.

Those that are trained from nothing begin as `--set start=` says.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Self

from ...errors import UserError, unknown
from ...schema import Schema
from ...trained_folder import LONGEST_ERROR
from .questions import FIRST_WORD, AnswererConfig
from .training import AnswerStage

PRETRAINED, START = "pretrained", "start"
BERT, GLOROT, DEEPNET = "bert", "glorot", "deepnet"  # as transformers draws them, and as initial_weights does
WORDS, PLACES = "embeddings.word_embeddings.weight", "embeddings.position_embeddings.weight"


class PretrainedStage(AnswerStage):
    """A stage whose network has a `body` of transformers; a model's own says which, and what its sizes are."""

    pretrained = ""  # a folder or name of such a model, to begin from
    start = BERT  # how its layers begin without one
    starts: tuple[str, ...] = (BERT, GLOROT)  # how they can begin
    architecture: str  # as transformers calls it, and as its paper does
    title: str
    sizes_of: Mapping[str, str] = MappingProxyType({})  # setting → field of the config of transformers
    before_word = ""  # what stands before a word where its tokenizer reads one
    first_place = (0, 0)  # the first position of a text, theirs and ours; theirs is counted from its padding token

    def list_settings(self) -> list[str]:
        return [*super().list_settings(), PRETRAINED, START]

    def configure(self, settings: Mapping[str, str]) -> Self:
        made = super().configure({k: v for k, v in settings.items() if k not in (PRETRAINED, START)})
        if PRETRAINED in settings and START in settings:
            raise UserError(f"{PRETRAINED}={settings[PRETRAINED]} says how it begins; leave {START} out")
        if START in settings:
            if settings[START] not in self.starts:
                raise unknown(START, settings[START], self.starts)
            made.start = settings[START]
        if PRETRAINED in settings:
            made.pretrained, made.start = settings[PRETRAINED], BERT
            config = self._load_config(made.pretrained)
            made.sizes = {**made.sizes, **{name: getattr(config, field) for name, field in self.sizes_of.items()}}
        return made

    def describe(self, schema: Schema) -> dict[str, Any]:
        begins = {PRETRAINED: self.pretrained} if self.pretrained else {START: self.start} if self.start != BERT else {}
        return super().describe(schema) | begins

    def load_pretrained(self, module: Any, config: AnswererConfig) -> None:
        if self.pretrained:
            self._copy_body(module.body, config)
        elif self.start != BERT:
            self.draw_body(module.body)

    def draw_body(self, body: Any) -> None:
        from .initial_weights import draw_weights

        body.apply(draw_weights)

    def _load_config(self, name: str) -> Any:
        from transformers import AutoConfig

        try:
            config = AutoConfig.from_pretrained(name)
            if config.model_type != self.architecture:
                raise ValueError(f"it is a {config.model_type}")
        except Exception as error:  # whatever transformers says of a name, a network or a kind of model
            why = f"{type(error).__name__}: {' '.join(str(error).split())[:LONGEST_ERROR]}"
            raise UserError(f"{PRETRAINED}={name}: no {self.title} can be loaded there ({why})") from None
        return config

    def _copy_body(self, body: Any, config: AnswererConfig) -> None:
        """The layers of the pretrained one; a word begins as the mean of the pieces that its tokenizer makes of it."""
        import torch
        from transformers import AutoTokenizer

        given: Any = type(body).from_pretrained(self.pretrained)
        pieces: Any = AutoTokenizer.from_pretrained(self.pretrained)
        known, mine = given.state_dict(), body.state_dict()
        with torch.no_grad():
            for key, tensor in mine.items():
                if key in known and known[key].shape == tensor.shape:
                    tensor.copy_(known[key])
            for k, word in enumerate(config.words):
                numbers = pieces(f"{self.before_word}{word}", add_special_tokens=False).input_ids
                mine[WORDS][FIRST_WORD + k] = known[WORDS][numbers].mean(0)
            theirs, ours = self.first_place
            theirs += given.config.pad_token_id if theirs else 0
            many = min(len(known[PLACES]) - theirs, len(mine[PLACES]) - ours)
            mine[PLACES][ours : ours + many] = known[PLACES][theirs : theirs + many]
