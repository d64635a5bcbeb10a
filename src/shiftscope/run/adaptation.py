"""Test-time adaptation as a condition of a run: to which images, and that they are not those that are scored."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, cast

from ..errors import UserError, unknown
from ..model import ADAPTATION_IMAGES, NO_ADAPTATION, Adaptable, Model, ModelTraits
from ..picture import Picture
from ..result import AS_IS
from ..url_path import has_url, parse_path
from .question_source import QuestionSource, open_source

USUAL_SPLIT = "val"


@dataclass(frozen=True, slots=True)
class Adaptation:
    """What of a model is adapted, and to which unlabelled images: the first ones of another split."""

    kind: str = NO_ADAPTATION
    given: str = ""  # DATA, SPLIT or DATA:SPLIT; else the val split of the run's data

    def check(self, model: str, traits: ModelTraits) -> None:
        """Refuse a kind that the model does not know."""
        if self.kind == NO_ADAPTATION:
            if self.given:
                raise UserError("--adapt-from names the images to adapt to; say what is adapted with --adapt")
        elif not traits.adaptations:
            raise UserError(f"model {model!r} does not adapt to images; omit --adapt")
        elif self.kind not in traits.adaptations:
            raise unknown("adaptation", self.kind, (NO_ADAPTATION, *traits.adaptations), model)

    def describe(self, source: QuestionSource, split: str) -> dict[str, Any]:
        """What the run's spec says of it, nothing where nothing is adapted; images that are scored are refused."""
        if self.kind == NO_ADAPTATION:
            return {}
        data, other = self._locate(source)
        if other == split and data.data_id() == source.data_id():
            raise UserError(
                f"split {split!r} is scored, so nothing can be adapted to it; name others with --adapt-from DATA:SPLIT"
            )
        return {"adapt": self.kind, "adapted_to": [data.data_id(), other, ADAPTATION_IMAGES]}

    def apply(self, model: Model, source: QuestionSource) -> tuple[Model, dict[str, Any]]:
        """The adapted model, and what the run's spec says of what was kept."""
        if self.kind == NO_ADAPTATION:
            return model, {}
        data, split = self._locate(source)
        made = cast(Adaptable, model).adapt(list(islice(iter_pictures(data, split), ADAPTATION_IMAGES)), self.kind)
        return made, {"adapted": list(cast(Adaptable, made).adapted or ())}

    def _locate(self, source: QuestionSource) -> tuple[QuestionSource, str]:
        given, split = self.given, USUAL_SPLIT
        if given in source.splits:
            given, split = "", given
        elif ":" in given.partition("://")[2] or (":" in given and not has_url(given)):
            given, _, split = given.rpartition(":")
        data = open_source(parse_path(given)) if given else source
        if split not in data.splits:
            known = ", ".join(data.splits)
            raise UserError(
                f"no split {split!r} to adapt to (there: {known}); name another with --adapt-from DATA:SPLIT"
            )
        return data, split


NOT_ADAPTED = Adaptation()


def iter_pictures(source: QuestionSource, split: str, mode: str = "short") -> Iterator[Picture]:
    """The images that questions of the split are about, each once."""
    seen: set[str] = set()
    for item in source.prompts(split, mode).iter_examples(AS_IS):
        for name, picture in zip(item.question.scenes, item.prompt.pictures, strict=False):
            if name not in seen:
                seen.add(name)
                yield picture
