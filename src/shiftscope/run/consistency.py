"""Consistency of a run: from its first row to its last the same pictures and the same server.

A model that looks is not asked blind in silence: what lacks its picture is refused, or, where that is
allowed, asked without it under the condition `missing_image`. Pictures outside of a dataset are part of a run
by content: `images.json`, beside the run, names each with its digest.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

from ..errors import UserError
from ..json_files import load_json
from ..model import ServedModel, ServerIdentity
from ..records import content_id
from ..result import IMAGE_CONDITIONS, MISSING_IMAGE
from ..server_identity import format_identity, identities_differ
from ..store.run_log import SERVER_FIELD, RunWriter
from .conditions import EvalExample, drop_image
from .question_source import SplitPrompts

NAME = "images.json"  # in a run's folder: image → its file and the digest of that


class MissingPictures(UserError):
    """There is no picture of what a model is to look at; `what` leaves out what can be done about it."""

    def __init__(self, what: str, remedy: str) -> None:
        super().__init__(f"{what}; {remedy}")
        self.what = what


class RunPictures:
    """The pictures of a run's questions, for a model that may or may not look at them."""

    def __init__(
        self, prompts: SplitPrompts, conditions: Sequence[str], limit: int | None = None, *, allow_missing: bool = False
    ) -> None:
        self._prompts, self._limit, self._allowed = prompts, limit, allow_missing
        self._pictured = [c for c in conditions if c in IMAGE_CONDITIONS]
        self._wanted: bool | None = None  # whether the model looks, under a condition that shows something
        self._files: dict[str, str] = {}
        self._missing: set[str] = set()  # questions

    def require_pictures(self, looks: bool | None, model: str) -> None:
        """Once it is known whether the model looks: refuse it if pictures are missing, and may not be."""
        if looks is None or self._wanted is not None:
            return
        self._wanted = looks and bool(self._pictured)
        if not self._wanted:
            return
        lacking = self._prompts.missing_pictures(self._limit)
        if lacking and not self._allowed:
            questions, first = len(self._prompts.ids(self._limit)), next(iter(lacking.values()))
            raise MissingPictures(
                f"model {model!r} looks at pictures, and {len(lacking):,} of the {questions:,} questions have none, "
                f"the first about image {first!r}",
                f"{self._prompts.remedy}, ask all of them blind with --condition blind, or have these asked "
                "without a picture and counted apart with --allow-missing",
            )
        self._missing = set(lacking)
        self._files = self._prompts.pictures(self._limit)

    def spec(self) -> dict[str, Any]:
        """What a run's spec says of pictures outside of its data."""
        return {"images_id": content_id(self._files)} if self._files else {}

    def to_files(self) -> dict[str, bytes]:
        """The file that a run keeps of them."""
        text = json.dumps(self._files, ensure_ascii=False, indent=0)
        return {NAME: f"{text}\n".encode()} if self._files else {}

    def refuse_changed(self, writer: RunWriter, questions: int) -> None:
        """Refuse to go on where an image that was shown already would not be shown as it was.

        Others may have changed, or come only now: what is asked from here on is asked with them.
        """
        self.record_counts(writer, questions)
        path = writer.folder / NAME
        if not self._wanted or not path.is_file():
            return
        before = load_json(path)
        for image in sorted(writer.list_shown_images()):
            if image in before and before[image] != self._files.get(image):
                what = "changed" if image in self._files else "is gone"
                name = str(before[image]).rpartition(" ")[0]
                raise UserError(
                    f"the picture {name} {what} since it was asked about in {writer.folder}; choose another "
                    f"folder for --out, or delete {writer.folder}"
                )

    def record_counts(self, writer: RunWriter, questions: int) -> None:
        """Tell the writer how many of the questions are asked with, and how many without a picture."""
        writer.questions, writer.missing_images = questions - len(self._missing), len(self._missing)

    def count_prompts(self, questions: int, conditions: int) -> int:
        """How many prompts there are: what lacks its picture is asked once, whatever would show it."""
        return questions * conditions - len(self._missing) * max(0, len(self._pictured) - 1)

    def iter_examples(self, items: Iterator[EvalExample], writer: RunWriter, mode: str) -> Iterator[EvalExample]:
        """The items as they are asked; one whose picture turns out to be broken lacks it too."""
        done: set[str] = set()
        for item in items:
            if not self._wanted or not item.lacks:
                yield item
                continue
            if not self._allowed:
                raise MissingPictures(
                    item.lacks,
                    "mend it and run the same command again to go on, or have what lacks its picture asked "
                    "without one and counted apart with --allow-missing",
                )
            name = item.question.id
            self._missing.add(name)
            if name not in done and (name, MISSING_IMAGE) not in writer.done:
                done.add(name)
                yield drop_image(item, mode)


def require_one_server(
    model: ServedModel, identity: ServerIdentity | None, writer: RunWriter, items: Iterator[EvalExample]
) -> Iterator[EvalExample]:
    """The items, unless the rows that are there came from another server.

    A server that cannot be reached is waited for only where there is something to ask.
    """
    before = writer.spec.get(SERVER_FIELD) or {}

    def refuse_another(now: ServerIdentity) -> None:
        if identities_differ(before, now):
            raise UserError(
                f"{writer.folder} holds a run of another server: it was {format_identity(before)}, and the one there "
                f"now says it is {format_identity(now)}; choose another folder for --out"
            )

    refuse_another(identity or {})
    first = next(items, None)
    if first is None:
        return items
    if identity is None:
        found = model.identify(patient=True) or {}
        refuse_another(found)
        writer.spec |= {SERVER_FIELD: before or found} if found else {}
    return chain([first], items)


def warn_of_fingerprints(model: ServedModel, writer: RunWriter, warn: Callable[[str], None]) -> None:
    """Tell what only the responses of this session could show: that others came from another system."""
    now = {name for name in model.fingerprints if name}
    if now and writer.fingerprints and not now & writer.fingerprints:
        warn(
            f"the rows that were there came with system_fingerprint {_format_names(writer.fingerprints)}, those of "
            f"now with {_format_names(now)}: the model may have changed; ask all anew in another --out"
        )
    if now and model.unconfirmed:
        warn(
            f"{model.unconfirmed} replies from the cache came without a system_fingerprint, and the server "
            f"now gives one ({_format_names(now)}): they may be another model's; ask anew in another --out, with "
            "--no-cache"
        )


def _format_names(names: Iterable[str]) -> str:
    first, *rest = sorted(names)
    return f"{first} and {len(rest)} more" if rest else first
