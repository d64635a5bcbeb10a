"""Cell: how one model, trained on one variant, did on one test; and what is kept of trainings and diagnoses.

Each is one small JSON object, named by its content, so that studies only ever add to a folder of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from ...canonical import content_id
from ...errors import unknown
from .matrix import EXACT, MODELS, Domain, Trained
from .outcome import Outcome, Reliability
from .scale import Scale

FORMAT = 1
SORTS = ("object", "part")  # of questions: about whole vehicles, and about their parts
WEIGHTS = ("scene_parser", "question_parser")
NEITHER, SCENE, PROGRAM, BOTH, OBJECTS = ORACLES = (
    "neither",
    "oracle scene",
    "oracle program",
    "both",
    "oracle objects",  # relations by the model's own rule; older diagnoses lack it
)

Share = tuple[int, int]  # right, of how many


@dataclass(frozen=True, slots=True)
class Origin:
    """What a record rests on: it is mixed only with records that rest on the same."""

    scale: Scale
    trained: Trained
    weights: tuple[tuple[str, str], ...]  # name and hash of each file of weights
    train_order: str  # content id of the data's spec
    recipe: str  # content id of how the parsers were built and trained
    device: str
    version: str  # of shiftscope
    made: str  # when, in UTC
    learned: str | None = None  # content id of what exact inference rests on besides; unknown of old records

    def to_json(self) -> dict[str, Any]:
        return {
            "scale": self.scale.to_json(),
            "trained": self.trained.to_json(),
            "weights": dict(self.weights),
            **{n: getattr(self, n) for n in ("train_order", "recipe", "device", "version", "made")},
            **({} if self.learned is None else {"learned": self.learned}),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Origin:
        if set(data["weights"]) != set(WEIGHTS):
            raise ValueError(f"weights of {', '.join(data['weights'])}, not of {', '.join(WEIGHTS)}")
        return cls(
            Scale.from_json(data["scale"]),
            Trained.from_json(data["trained"]),
            tuple((name, str(data["weights"][name])) for name in WEIGHTS),
            **{n: str(data[n]) for n in ("train_order", "recipe", "device", "version", "made")},
            learned=str(data["learned"]) if "learned" in data else None,
        )

    def hash_of(self, part: str) -> str:
        """The hash of a parser's weights."""
        return dict(self.weights)[part]


@dataclass(frozen=True, slots=True)
class Asked:
    """What was asked: the test, and hashes of what it was to be and of what was asked indeed."""

    tested: Domain
    order: str  # content id of the data's spec
    questions: str  # hash of every question with its program and answer, in order

    def to_json(self) -> dict[str, Any]:
        return {"tested": self.tested.to_json(), "test_order": self.order, "questions": self.questions}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Asked:
        return cls(Domain.from_json(data["tested"]), str(data["test_order"]), str(data["questions"]))


@dataclass(frozen=True, slots=True)
class Cell:
    """One model, one training, one test."""

    KIND: ClassVar[str] = "cell"
    model: str
    origin: Origin
    asked: Asked
    outcomes: tuple[tuple[str, Outcome], ...]  # by sort of question; a test may have none of a sort
    seconds: tuple[tuple[str, float], ...] = ()  # by stage; shared stages count in full
    attuned: bool | None = None  # whether the scene parser got used to the images' look; None: not tried

    @property
    def trained(self) -> Trained:
        return self.origin.trained

    @property
    def tested(self) -> Domain:
        return self.asked.tested

    def outcome(self, sort: str) -> Outcome | None:
        return dict(self.outcomes).get(sort)

    @property
    def name(self) -> str:
        """Of its file."""
        label = f"{self.origin.scale.name}-{self.model}-{self.trained.label}-{self.tested.label}"
        return _file_name(label, self.to_json())

    def to_json(self) -> dict[str, Any]:
        return {
            **_head(self.KIND),
            "model": self.model,
            **self.origin.to_json(),
            **self.asked.to_json(),
            "outcomes": {sort: outcome.to_json() for sort, outcome in self.outcomes},
            "seconds": dict(self.seconds),
            **({} if self.attuned is None else {"attuned": self.attuned}),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Cell:
        if data["model"] not in MODELS:
            raise unknown("model", data["model"], MODELS, "a study")
        strange = set(data["outcomes"]) - set(SORTS)
        if strange:
            raise ValueError(f"outcomes of {', '.join(sorted(strange))}")
        made = tuple((s, Outcome.from_json(data["outcomes"][s])) for s in SORTS if s in data["outcomes"])
        origin = Origin.from_json(data)
        for sort, outcome in made:
            if len(outcome.counts()) != origin.scale.tested:
                raise ValueError(
                    f"{sort} questions about {len(outcome.counts())} images, not {origin.scale.tested}"
                )
        attuned = bool(data["attuned"]) if "attuned" in data else None
        return cls(data["model"], origin, Asked.from_json(data), made, _seconds(data), attuned)


@dataclass(frozen=True, slots=True)
class Training:
    """How the parsers of a row came about: time by stage, figures on validation data, commands."""

    KIND: ClassVar[str] = "training"
    origin: Origin
    seconds: tuple[tuple[str, float], ...]
    validation: tuple[tuple[str, float], ...]
    command: str

    @property
    def trained(self) -> Trained:
        return self.origin.trained

    @property
    def name(self) -> str:
        label = f"{self.origin.scale.name}-training-{self.trained.label}"
        return _file_name(label, self.to_json())

    def to_json(self) -> dict[str, Any]:
        return {
            **_head(self.KIND),
            **self.origin.to_json(),
            "seconds": dict(self.seconds),
            "validation": dict(self.validation),
            "command": self.command,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Training:
        found = tuple((str(k), float(v)) for k, v in dict(data["validation"]).items())
        return cls(Origin.from_json(data), _seconds(data), found, str(data["command"]))


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Where the pipeline loses answers: with true scenes or programs in place of parsed ones, bit by bit."""

    KIND: ClassVar[str] = "diagnosis"
    origin: Origin
    asked: Asked
    oracles: tuple[tuple[str, str, str, Share], ...]  # model, sort, one of ORACLES, right of how many
    shares: tuple[tuple[str, Share], ...]  # detection and attributes of the scene parser, exact programs
    reliability: tuple[tuple[str, Reliability], ...] = field(default=())  # of its beliefs

    @property
    def trained(self) -> Trained:
        return self.origin.trained

    @property
    def tested(self) -> Domain:
        return self.asked.tested

    @property
    def models(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(model for model, *_ in self.oracles))

    def beside(self, older: Diagnosis) -> Diagnosis:
        """This one, and of the models it lacks what an older one of the same weights tells."""
        kept = [
            row
            for row in older.oracles
            if row[0] not in self.models and (row[0] != EXACT or older.origin.learned == self.origin.learned)
        ]
        rows = sorted([*kept, *self.oracles], key=lambda row: MODELS.index(row[0]))
        return replace(self, oracles=tuple(rows))

    @property
    def name(self) -> str:
        label = f"{self.origin.scale.name}-diagnosis-{self.trained.label}-{self.tested.label}"
        return _file_name(label, self.to_json())

    def to_json(self) -> dict[str, Any]:
        return {
            **_head(self.KIND),
            **self.origin.to_json(),
            **self.asked.to_json(),
            "oracles": [[model, sort, given, list(share)] for model, sort, given, share in self.oracles],
            "shares": {name: list(share) for name, share in self.shares},
            "reliability": {name: one.to_json() for name, one in self.reliability},
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Diagnosis:
        oracles = tuple((str(m), str(s), str(g), _share(one)) for m, s, g, one in data["oracles"])
        if any(m not in MODELS or s not in SORTS or g not in ORACLES for m, s, g, _ in oracles):
            raise ValueError("an oracle's figure is of no known model, sort or condition")
        return cls(
            Origin.from_json(data),
            Asked.from_json(data),
            oracles,
            tuple((str(name), _share(one)) for name, one in dict(data["shares"]).items()),
            tuple((str(name), Reliability.from_json(one)) for name, one in dict(data["reliability"]).items()),
        )


Record = Cell | Training | Diagnosis
KINDS: dict[str, type[Cell] | type[Training] | type[Diagnosis]] = {
    one.KIND: one for one in (Cell, Training, Diagnosis)
}


def record_of(data: Any) -> Record:
    """A record from its JSON; ValueError, KeyError or TypeError where it is none."""
    if not isinstance(data, dict) or data.get("format") != FORMAT or data.get("suite") != "superclevr":
        raise ValueError(f"not a record of this format ({FORMAT})")
    if data.get("kind") not in KINDS:
        raise ValueError(f"kind {data.get('kind')!r}")
    made = KINDS[data["kind"]].from_json(data)
    if made.to_json() != data:
        raise ValueError("it has fields that are not known")
    return made


def _head(kind: str) -> dict[str, Any]:
    return {"format": FORMAT, "kind": kind, "suite": "superclevr"}


def _seconds(data: Mapping[str, Any]) -> tuple[tuple[str, float], ...]:
    return tuple((str(stage), float(taken)) for stage, taken in dict(data["seconds"]).items())


def _share(pair: Any) -> Share:
    right, of = pair
    if not 0 <= right <= of:
        raise ValueError(f"{right} right of {of}")
    return int(right), int(of)


def _file_name(label: str, data: dict[str, Any]) -> str:
    return f"{label.replace(' ', '_').replace('@', '_')}-{content_id(data)[:12]}.json"
