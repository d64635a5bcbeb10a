"""NLI: how surely two words exclude each other, by a model of natural-language inference the user has.

Asked is whether "There is a cat." contradicts "There is a dog.": the premise is what is there, the hypothesis
what was to be there. Any transformers model with a label called contradiction will do; one trained on word
pairs does better.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from ..ask.english import article
from ..errors import UserError
from ..pretrained import loading, loading_weights, refuse_untrusted
from .subgraph import Kind

BATCH = 64
CONTRADICTION = "contradiction"


def sentence(kind: Kind, word: str) -> str:
    """A short sentence that is true where the word holds."""
    if kind == "object":
        return f"There is {article(word)} {word}."
    if kind == "attribute":
        return f"It is {word}."
    return f"One thing is {word} the other."


class NLI:
    """A model and its tokenizer, from a folder or a name that `from_pretrained` opens."""

    def __init__(self, name: str) -> None:
        try:
            from transformers import AutoModelForSequenceClassification, AutoTokenizer
        except ImportError:
            raise UserError(
                "an NLI model needs torch and transformers: pip install 'shiftscope[models]'"
            ) from None
        refuse_untrusted(name, "name another model")
        try:
            self._tokens: Any = AutoTokenizer.from_pretrained(name, **loading())
            self._model: Any = AutoModelForSequenceClassification.from_pretrained(
                name, **loading_weights()
            ).eval()
        except Exception as error:  # of a library that meets a folder it was not made for
            why = (str(error).strip() or type(error).__name__).splitlines()[0]
            raise UserError(f"{name!r} is no text classifier that opens here ({why})") from None
        labels = {str(label).lower(): int(k) for k, label in self._model.config.id2label.items()}
        if CONTRADICTION not in labels:
            raise UserError(f"{name!r} is no NLI model: none of its labels is {CONTRADICTION!r}")
        self._label = labels[CONTRADICTION]
        self._judge = cache(self._one_batch)

    def judge(self, kind: Kind, first: str, seconds: Sequence[str]) -> list[float | None]:
        verdicts: list[float | None] = []
        for start in range(0, len(seconds), BATCH):
            verdicts += self._judge(kind, first, tuple(seconds[start : start + BATCH]))
        return verdicts

    def _one_batch(self, kind: Kind, first: str, seconds: tuple[str, ...]) -> list[float]:
        import torch

        premises = [sentence(kind, second) for second in seconds]
        given = self._tokens(
            premises,
            [sentence(kind, first)] * len(seconds),
            return_tensors="pt",
            padding=True,
            truncation=True,
        )
        with torch.inference_mode():
            chances = self._model(**given).logits.softmax(-1)[:, self._label]
        found: list[float] = chances.tolist()
        return found
