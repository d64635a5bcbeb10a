"""What an image editor is built from; without torch."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from ..end_to_end.questions import AnswererConfig


@dataclass(frozen=True, slots=True)
class EditorConfig:
    """The words of actions, the sizes of the network, and the model that answers about the picture it draws."""

    words: AnswererConfig  # whose words are those of actions; it knows no answers
    sizes: Mapping[str, float]
    answerer: AnswererConfig | None = None

    def to_json(self) -> dict[str, Any]:
        answerer = None if self.answerer is None else self.answerer.to_json()
        return {"words": self.words.to_json(), "sizes": dict(self.sizes), "answerer": answerer}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        answerer = data["answerer"]
        read = AnswererConfig.from_json
        return cls(read(data["words"]), dict(data["sizes"]), None if answerer is None else read(answerer))
