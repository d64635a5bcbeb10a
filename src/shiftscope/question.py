"""Question: its text, its images, the program behind it and the true answer."""

import copyreg
from collections.abc import Sequence
from dataclasses import dataclass, fields
from operator import attrgetter
from typing import Any, NamedTuple, Self

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


class GroundedPhrase(NamedTuple):
    """A noun phrase of a question's text and what it refers to; empty where nothing fits it.

    The phrase is the head alone, with its article: of "the large cars left of the bus" there are two, "the large cars"
    and "the bus". Boxes are those of the image.
    """

    start: int  # characters of the text: text[start:end]
    end: int
    objects: tuple[int, ...] = ()  # numbers in the scene
    parts: tuple[tuple[int, str], ...] = ()  # number of the object, name of the part

    def to_json(self) -> dict[str, Any]:
        data = {"span": [self.start, self.end], "objects": list(self.objects)}
        return data | ({"parts": [list(part) for part in self.parts]} if self.parts else {})

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Self:
        start, end = data["span"]
        return cls(start, end, tuple(data["objects"]), tuple((i, name) for i, name in data.get("parts", ())))


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
    grounding: tuple[GroundedPhrase, ...] = ()  # in the order of the text, about its one image

    def note(self, name: str, default: Any = None) -> Any:
        for key, value in self.notes:
            if key == name:
                return value
        return default

    def content_id(self) -> str:
        """The same for the same question about the same images, wherever it is stored."""
        data = self.to_json()
        for key in ("id", "provenance", "notes", "grounding"):
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
            "grounding": [phrase.to_json() for phrase in self.grounding],
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
            grounding=tuple(GroundedPhrase.from_json(phrase) for phrase in data.get("grounding", ())),
        )


# As `pickle_by_fields`, with phrases as plain tuples, which are four times as quick to pickle.
_read_plain_fields = attrgetter(*(f.name for f in fields(Question) if f.name != "grounding"))


def _restore_question(phrases: tuple[tuple[Any, ...], ...], rest: tuple[Any, ...]) -> Question:
    grounding: Any = tuple(map(GroundedPhrase._make, phrases))
    return Question(*(*rest, grounding))  # its last field


# Many together are pickled by columns: what a record costs is then paid once for all of them.
QuestionColumns = tuple[list[Any], ...]  # one per field; of programs, their nodes
_readers = tuple(attrgetter(f.name) for f in fields(Question))
_PROGRAM = [f.name for f in fields(Question)].index("program")


def split_columns(questions: Sequence[Question]) -> QuestionColumns:
    columns = [[*map(read, questions)] for read in _readers]
    columns[_PROGRAM] = [program and program.nodes for program in columns[_PROGRAM]]
    return tuple(columns)


def join_columns(columns: QuestionColumns) -> list[Question]:
    programs = [nodes and Program(nodes) for nodes in columns[_PROGRAM]]
    return [*map(Question, *columns[:_PROGRAM], programs, *columns[_PROGRAM + 1 :])]


copyreg.pickle(Question, lambda q: (_restore_question, (tuple(map(tuple, q.grounding)), _read_plain_fields(q))))
