"""About: what a dataset's card says that its records do not."""

from __future__ import annotations

from dataclasses import asdict, dataclass


@dataclass(frozen=True, slots=True)
class About:
    """A title, a sentence or two, a licence and a language."""

    title: str = "A ShiftScope dataset"
    summary: str = "Images, scenes, and questions with programs and answers."
    license: str = "cc-by-4.0"  # as Hugging Face spells it
    language: str = "en"

    def to_json(self) -> dict[str, str]:
        return asdict(self)


UNTITLED = About()
