"""Pictures: whether there is one for every question that shows one, and whether it is still what it was.

A model that looks is not asked blind in silence: what lacks its picture is refused, or, where that is
allowed, asked without it under the condition `missing_image`. Pictures outside of a dataset are part of a run
by content: `images.json`, beside the run, names each with its digest.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..canonical import content_id
from ..errors import UserError
from ..formats import _json
from ..result import MISSING_IMAGE, PICTURED
from ..store.runlog import RunWriter
from .conditions import Item, without_image
from .source import Prompts

NAME = "images.json"  # in a run's folder: image → its file and the digest of that


class Unseen(UserError):
    """There is no picture of what a model is to look at; `what` leaves out what can be done about it."""

    def __init__(self, what: str, remedy: str) -> None:
        super().__init__(f"{what}; {remedy}")
        self.what = what


class Pictures:
    """The pictures of a run's questions, for a model that may or may not look at them."""

    def __init__(
        self,
        prompts: Prompts,
        conditions: Sequence[str],
        limit: int | None = None,
        *,
        allow_missing: bool = False,
    ) -> None:
        self._prompts, self._limit, self._allowed = prompts, limit, allow_missing
        self._pictured = [c for c in conditions if c in PICTURED]
        self._wanted: bool | None = None  # whether the model looks, under a condition that shows something
        self._files: dict[str, str] = {}
        self._missing: set[str] = set()  # questions

    def settle(self, looks: bool | None, model: str) -> None:
        """Once it is known whether the model looks: refuse it if pictures are missing, and may not be."""
        if looks is None or self._wanted is not None:
            return
        self._wanted = looks and bool(self._pictured)
        if not self._wanted:
            return
        lacking = self._prompts.lacking(self._limit)
        if lacking and not self._allowed:
            raise self._unseen(lacking, model)
        self._missing = set(lacking)
        self._files = self._prompts.pictures(self._limit)

    def spec(self) -> dict[str, Any]:
        """What a run's spec says of pictures outside of its data."""
        return {"images_id": content_id(self._files)} if self._files else {}

    def beside(self) -> dict[str, bytes]:
        """The file that a run keeps of them."""
        text = json.dumps(self._files, ensure_ascii=False, indent=0)
        return {NAME: f"{text}\n".encode()} if self._files else {}

    def resume(self, writer: RunWriter, questions: int) -> None:
        """Refuse to go on where an image that was shown already would not be shown as it was.

        Others may have changed, or come only now: what is asked from here on is asked with them.
        """
        self.count(writer, questions)
        path = writer.folder / NAME
        if not self._wanted or not path.is_file():
            return
        before = _json.load(path)
        for image in sorted(writer.images_shown()):
            if image in before and before[image] != self._files.get(image):
                what = "changed" if image in self._files else "is gone"
                name = str(before[image]).rpartition(" ")[0]
                raise UserError(
                    f"the picture {name} {what} since it was asked about in {writer.folder}; choose another "
                    f"folder for --out, or delete {writer.folder}"
                )

    def count(self, writer: RunWriter, questions: int) -> None:
        """Tell the writer how many of the questions are asked with, and how many without a picture."""
        writer.questions, writer.missing_images = questions - len(self._missing), len(self._missing)

    def total(self, questions: int, conditions: int) -> int:
        """How many prompts there are: what lacks its picture is asked once, whatever would show it."""
        return questions * conditions - len(self._missing) * max(0, len(self._pictured) - 1)

    def items(self, items: Iterator[Item], writer: RunWriter, mode: str) -> Iterator[Item]:
        """The items as they are asked; one whose picture turns out to be broken lacks it too."""
        asked: set[str] = set()
        for item in items:
            if not self._wanted or not item.lacks:
                yield item
                continue
            if not self._allowed:
                raise Unseen(
                    item.lacks,
                    "mend it and run the same command again to go on, or have what lacks its picture asked "
                    "without one and counted apart with --allow-missing",
                )
            name = item.question.id
            self._missing.add(name)
            if name not in asked and (name, MISSING_IMAGE) not in writer.done:
                asked.add(name)
                yield without_image(item, mode)

    def _unseen(self, lacking: Mapping[str, str], model: str) -> Unseen:
        asked, first = len(self._prompts.ids(self._limit)), next(iter(lacking.values()))
        return Unseen(
            f"model {model!r} looks at pictures, and {len(lacking):,} of the {asked:,} questions have none, "
            f"the first about image {first!r}",
            f"{self._prompts.remedy}, ask all of them blind with --condition blind, or have these asked "
            "without a picture and counted apart with --allow-missing",
        )
