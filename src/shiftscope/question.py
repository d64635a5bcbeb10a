"""Question: its text, its images, the program behind it and the true answer."""

from dataclasses import dataclass
from typing import Any, Self

from .answer import Answer
from .lang.program import Program
from .records import content_id, pickle_by_fields

Notes = tuple[tuple[str, Any], ...]
JOINED = "joined"  # the note of a question whose text includes its action


@pickle_by_fields
@dataclass(frozen=True, slots=True)
class Provenance:
    """Where a question comes from: a file's split, a template and its family."""

    source: str = ""  # the notation or suite: clevr, gqa, …
    split: str = ""
    template: str = ""
    family: int | None = None


@pickle_by_fields
@dataclass(frozen=True, slots=True)
class Question:
    """One question. Several people may have answered it (VQA); `answer` is the one that counts."""

    id: str
    text: str
    scenes: tuple[str, ...]  # ids of the images
    program: Program | None = None
    answer: Answer | None = None
    answers: tuple[str, ...] = ()  # every annotator's, where there were several
    kind: str = ""  # the file's own name for its type: count, "how many", …
    action: str = ""  # what is done to the scene before the question applies
    provenance: Provenance = Provenance()
    notes: Notes = ()

    def note(self, name: str, default: Any = None) -> Any:
        return next((value for key, value in self.notes if key == name), default)

    def content_id(self) -> str:
        """The same for the same question about the same images, wherever it is stored."""
        data = self.to_json()
        for key in ("id", "provenance", "notes"):
            data.pop(key, None)
        return content_id(data)

    def to_json(self) -> dict[str, Any]:
        """Plain JSON data; what is empty is left out."""
        p = self.provenance
        data = {
            "id": self.id,
            "text": self.text,
            "scenes": list(self.scenes),
            "program": self.program.to_json() if self.program else None,
            "answer": self.answer,
            "answers": list(self.answers),
            "kind": self.kind,
            "action": self.action,
            "provenance": {k: v for k in ("source", "split", "template") if (v := getattr(p, k))}
            | ({"family": p.family} if p.family is not None else {}),
            "notes": dict(self.notes),
        }
        keep = ("id", "text", "scenes")
        return {k: v for k, v in data.items() if k in keep or v not in (None, "", [], {})}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Self:
        return cls(
            id=data["id"],
            text=data["text"],
            scenes=tuple(data["scenes"]),
            program=Program.from_json(data["program"]) if "program" in data else None,
            answer=data.get("answer"),
            answers=tuple(data.get("answers", ())),
            kind=data.get("kind", ""),
            action=data.get("action", ""),
            provenance=Provenance(**data.get("provenance", {})),
            notes=tuple(data.get("notes", {}).items()),
        )
