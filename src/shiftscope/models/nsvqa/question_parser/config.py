"""Config: the vocabulary and sizes of the question parser."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from ....errors import UserError
from .vocabulary import ParserVocabulary


@dataclass(frozen=True, slots=True)
class QuestionParserConfig:
    """Everything that `build` needs."""

    vocabulary: ParserVocabulary
    width: int = 192  # of words, tokens and states
    heads: int = 4
    dropout: float = 0.1
    forget: float = 0.1  # share of the words that are known by their schema terms alone, in training
    enriched: float = 0.5  # share of the questions that get more adjectives and relations, in training
    stripped: float = 0.25  # share of the questions that lose some, in training
    longest_program: int = 80  # tokens; the generated programs stay below 40

    def __post_init__(self) -> None:
        if min(self.width, self.heads, self.longest_program) < 1 or self.width % self.heads:
            raise UserError("a question parser has sizes from 1 up, and its heads share the width evenly")
        if not all(0 <= share <= 1 for share in (self.dropout, self.forget, self.enriched, self.stripped)):
            raise UserError("dropout, forget, enriched and stripped are shares from 0 to 1")
        if self.enriched + self.stripped > 1:
            raise UserError("a question is enriched or stripped: both shares together are 1 at most")

    @classmethod
    def list_default_sizes(cls) -> dict[str, Any]:
        """The sizes where nothing else is asked for: all but the vocabulary."""
        return {f.name: f.default for f in fields(cls) if f.name != "vocabulary"}

    def to_json(self) -> dict[str, Any]:
        plain = {f.name: getattr(self, f.name) for f in fields(self)}
        return plain | {"vocabulary": self.vocabulary.to_json()}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> QuestionParserConfig:
        """From what `to_json` made; a parser from before questions were stripped saw none that was."""
        return cls(**{"stripped": 0.0, **data, "vocabulary": ParserVocabulary.from_json(data["vocabulary"])})
