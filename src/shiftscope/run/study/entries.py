"""Records of a study: entries of the transfer matrix, trainings and oracle diagnoses.

Each is one small JSON object, named by its content, so that studies only ever add to a folder of them. An entry
keeps of its run which questions, image by image, are right: enough for paired tests and intervals by scene.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, ClassVar

from ...errors import unknown
from ...metrics.calibration import Reliability
from ...metrics.transfer_matrix import EntryOutcome
from ...records import content_id
from ...suites.study import Contender, list_studies, load_study

FORMAT = 2
ORACLE_NEITHER, ORACLE_SCENE, ORACLE_PROGRAM, ORACLE_BOTH, ORACLE_OBJECTS = ORACLES = (
    "neither",
    "oracle scene",
    "oracle program",
    "both",
    "oracle objects",  # relations by the model's own rule; older diagnoses lack it
)

RightOf = tuple[int, int]  # right, of how many


@dataclass(frozen=True, slots=True)
class EntryOrigin:
    """What a record rests on: it is mixed only with records that rest on the same."""

    suite: str
    family: str  # of models, which share the training
    scale: Any
    trained: Any
    weights: tuple[tuple[str, str], ...]  # name and hash of each file of weights
    train_order: str  # content id of the data's spec
    recipe: str  # content id of how the parsers were built and trained
    device: str
    version: str  # of shiftscope
    made: str  # when, in UTC
    learned: str | None = None  # content id of what answers rest on besides: what was fitted after training
    plan: str | None = None  # content id of what was chosen by hand for the training; older records lack it

    def to_json(self) -> dict[str, Any]:
        return {
            "family": self.family,
            "scale": self.scale.to_json(),
            "trained": self.trained.to_json(),
            "weights": dict(self.weights),
            **{n: getattr(self, n) for n in ("train_order", "recipe", "device", "version", "made")},
            **{n: getattr(self, n) for n in ("learned", "plan") if getattr(self, n) is not None},
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> EntryOrigin:
        study = load_study(data["suite"])
        return cls(
            study.suite,
            str(data["family"]),
            study.scale_type.from_json(data["scale"]),
            study.training_type.from_json(data["trained"]),
            tuple((str(name), str(digest)) for name, digest in data["weights"].items()),
            **{n: str(data[n]) for n in ("train_order", "recipe", "device", "version", "made")},
            **{n: str(data[n]) for n in ("learned", "plan") if n in data},
        )

    def hash_of(self, stages: Sequence[str]) -> tuple[str, ...]:
        return tuple(dict(self.weights)[stage] for stage in stages)


@dataclass(frozen=True, slots=True)
class StudyTestId:
    """A test set by content: its domain, and hashes of the data's spec and of the questions."""

    tested: Any
    spec: str  # content id of the data's spec
    questions: str  # hash of every question with its program and answer, in order
    split: str = "test"

    def to_json(self) -> dict[str, Any]:
        fields = {"test_order": self.spec, "questions": self.questions, "split": self.split}
        return {"tested": self.tested.to_json(), **fields}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> StudyTestId:
        tested = load_study(data["suite"]).domain_type.from_json(data["tested"])
        return cls(tested, *(str(data[name]) for name in ("test_order", "questions", "split")))


class StudyRecord:
    """What a study stores, one file each."""

    __slots__ = ()
    KIND: ClassVar[str]
    origin: EntryOrigin

    @property
    def trained(self) -> Any:
        return self.origin.trained

    @property
    def label(self) -> str:
        """What it is of, in its file's name."""
        raise NotImplementedError

    @property
    def name(self) -> str:
        """Of its file."""
        label = f"{self.origin.scale.name}-{self.label}".replace(" ", "_").replace("@", "_")
        return f"{label}-{content_id(self.to_json())[:12]}.json"

    def to_json(self) -> dict[str, Any]:
        return {"format": FORMAT, "kind": self.KIND, "suite": self.origin.suite, **self.write_fields()}

    def write_fields(self) -> dict[str, Any]:
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class TransferEntry(StudyRecord):
    """One model under its conditions, one training, one test."""

    KIND: ClassVar[str] = "cell"
    contender: Contender
    origin: EntryOrigin
    test: StudyTestId
    outcomes: tuple[tuple[str, EntryOutcome], ...]  # by group of questions; a test set may have none of a group
    seconds: tuple[tuple[str, float], ...] = ()  # by stage; shared stages count in full
    adapted: tuple[str, ...] | None = None  # what was adapted, and kept; None: not tried

    @property
    def tested(self) -> Any:
        return self.test.tested

    @property
    def model(self) -> str:
        """The model as tables name it, with the conditions that are not the usual ones."""
        return self.contender.label

    @property
    def is_unchanged(self) -> bool:
        """Whether nothing that was adapted was kept: its outcomes are those without adaptation, and not stored."""
        return self.adapted == ()

    @property
    def label(self) -> str:
        split = "" if self.test.split == "test" else f"-{self.test.split}"
        return f"{self.model.replace(', ', '+')}-{self.trained.label}-{self.tested.label}{split}"

    def find_outcome(self, group: str) -> EntryOutcome | None:
        return dict(self.outcomes).get(group)

    def write_fields(self) -> dict[str, Any]:
        outcomes = () if self.is_unchanged else self.outcomes
        return {
            **asdict(self.contender),
            **self.origin.to_json(),
            **self.test.to_json(),
            "outcomes": {group: outcome.to_json() for group, outcome in outcomes},
            "seconds": dict(self.seconds),
            **({} if self.adapted is None else {"adapted": list(self.adapted)}),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> TransferEntry:
        study, origin = load_study(data["suite"]), EntryOrigin.from_json(data)
        contender = Contender(*(str(data[name]) for name in ("model", "positions", "adapt")))
        if contender.model not in study.models:
            raise unknown("model", contender.model, study.models, "a study")
        strange = set(data["outcomes"]) - set(study.question_groups)
        if strange:
            raise ValueError(f"outcomes of {', '.join(sorted(strange))}")
        groups = [group for group in study.question_groups if group in data["outcomes"]]
        outcomes = tuple((group, EntryOutcome.from_json(data["outcomes"][group])) for group in groups)
        for group, outcome in outcomes:
            if (images := len(outcome.unpack_counts())) != origin.scale.test_images:
                raise ValueError(f"{group} questions about {images} images, not {origin.scale.test_images}")
        adapted = tuple(map(str, data["adapted"])) if "adapted" in data else None
        return cls(contender, origin, StudyTestId.from_json(data), outcomes, _parse_seconds(data), adapted)


@dataclass(frozen=True, slots=True)
class TrainingRecord(StudyRecord):
    """How the parts of a row were trained: time by stage, figures on validation data, commands."""

    KIND: ClassVar[str] = "training"
    origin: EntryOrigin
    seconds: tuple[tuple[str, float], ...]
    validation: tuple[tuple[str, float], ...]
    command: str

    @property
    def label(self) -> str:
        return f"training-{self.origin.family}-{self.trained.label}"

    def write_fields(self) -> dict[str, Any]:
        return {
            **self.origin.to_json(),
            "seconds": dict(self.seconds),
            "validation": dict(self.validation),
            "command": self.command,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> TrainingRecord:
        validation = tuple((str(k), float(v)) for k, v in dict(data["validation"]).items())
        return cls(EntryOrigin.from_json(data), _parse_seconds(data), validation, str(data["command"]))


@dataclass(frozen=True, slots=True)
class OracleDiagnosis(StudyRecord):
    """Where a model loses answers: true scenes or programs in place of parsed ones, and figures of its parts."""

    KIND: ClassVar[str] = "diagnosis"
    origin: EntryOrigin
    test: StudyTestId
    oracles: tuple[tuple[str, str, str, RightOf], ...]  # model, group, one of ORACLES, right of how many
    shares: tuple[tuple[str, RightOf], ...]  # detection, attributes, exact programs
    reliability: tuple[tuple[str, Reliability], ...] = field(default=())  # of its confidence

    @property
    def tested(self) -> Any:
        return self.test.tested

    @property
    def label(self) -> str:
        return f"diagnosis-{self.trained.label}-{self.tested.label}"

    @property
    def models(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(model for model, *_ in self.oracles))

    def merge_older(self, older: OracleDiagnosis) -> OracleDiagnosis:
        """This one, and for the models it lacks the figures of an older one of the same weights."""
        study = load_study(self.origin.suite)
        same = older.origin.learned == self.origin.learned
        missing = set(older.models) - set(self.models) if same else set()
        kept = [row for row in older.oracles if row[0] in missing]
        rows = sorted([*kept, *self.oracles], key=lambda row: study.models.index(row[0]))
        return replace(self, oracles=tuple(rows))

    def write_fields(self) -> dict[str, Any]:
        return {
            **self.origin.to_json(),
            **self.test.to_json(),
            "oracles": [[*row[:3], list(row[3])] for row in self.oracles],
            "shares": {name: list(share) for name, share in self.shares},
            "reliability": {name: one.to_json() for name, one in self.reliability},
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> OracleDiagnosis:
        study = load_study(data["suite"])
        oracles = tuple((str(m), str(group), str(o), _parse_share(one)) for m, group, o, one in data["oracles"])
        known = study.models, study.question_groups, ORACLES
        if any(name not in names for row in oracles for name, names in zip(row[:3], known, strict=True)):
            raise ValueError("an oracle's figure is of no known model, group of questions or condition")
        return cls(
            EntryOrigin.from_json(data),
            StudyTestId.from_json(data),
            oracles,
            tuple((str(name), _parse_share(one)) for name, one in dict(data["shares"]).items()),
            tuple((str(name), Reliability.from_json(one)) for name, one in dict(data["reliability"]).items()),
        )


RECORD_KINDS: dict[str, Any] = {one.KIND: one for one in (TransferEntry, TrainingRecord, OracleDiagnosis)}


def parse_record(data: Any) -> StudyRecord:
    """A record from its JSON; ValueError, KeyError or TypeError where it is none."""
    if not isinstance(data, dict) or data.get("format") != FORMAT or data.get("suite") not in list_studies():
        raise ValueError(f"not a record of this format ({FORMAT})")
    if data.get("kind") not in RECORD_KINDS:
        raise ValueError(f"kind {data.get('kind')!r}")
    record: StudyRecord = RECORD_KINDS[data["kind"]].from_json(data)
    if record.to_json() != data:
        raise ValueError("it has fields that are not known")
    return record


def _parse_seconds(data: Mapping[str, Any]) -> tuple[tuple[str, float], ...]:
    return tuple((str(stage), float(taken)) for stage, taken in dict(data["seconds"]).items())


def _parse_share(pair: Any) -> RightOf:
    right, of = pair
    if not 0 <= right <= of:
        raise ValueError(f"{right} right of {of}")
    return int(right), int(of)
