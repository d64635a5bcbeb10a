"""Records of a study of models: what was trained, and what a model scored on a test set. One JSON object each."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, ClassVar

from ...records import content_id
from ...suites.model_study import Figure, ModelScale, ModelStudy, StudyResults
from .entry_store import RecordStore

FORMAT = 1
Figures = Mapping[str, Mapping[str, Figure]]  # by name, then by slice


@dataclass(frozen=True, slots=True)
class ModelOrigin:
    """What a record rests on; records that rest on other data or another scale are never shown together."""

    suite: str
    scale: str  # its name
    data: str  # content id of the dataset's spec, of its version and of how much was trained and asked
    device: str
    version: str  # of shiftscope
    made: str  # when, in UTC


class ModelRecord:
    """What a study of models stores, one file each."""

    __slots__ = ()
    KIND: ClassVar[str]
    origin: ModelOrigin

    @property
    def label(self) -> str:
        """What it is of, in its file's name."""
        raise NotImplementedError

    @property
    def name(self) -> str:
        label = "".join(c if c.isalnum() or c in "-_" else "_" for c in f"{self.origin.scale}-{self.label}")
        return f"{label}-{content_id(self.to_json())[:12]}.json"

    def to_json(self) -> dict[str, Any]:
        own = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "origin"}  # type: ignore[arg-type]
        return json.loads(json.dumps({"format": FORMAT, "kind": self.KIND, **asdict(self.origin), **own}))  # type: ignore[no-any-return]


@dataclass(frozen=True, slots=True)
class ModelTestRecord(ModelRecord):
    """One row of the tables on one test set."""

    KIND: ClassVar[str] = "model_test"
    origin: ModelOrigin
    row: str
    model: str  # and the condition it was run under, as the row had them
    condition: str
    split: str
    weights: str  # id of the trained folder; nothing for a model that is not trained
    figures: Figures
    seconds: float

    @property
    def label(self) -> str:
        return f"{self.row}-{self.split}"


@dataclass(frozen=True, slots=True)
class ModelTrainingRecord(ModelRecord):
    """One training: of each part what it reached, its epochs one by one, and how long it took."""

    KIND: ClassVar[str] = "model_training"
    origin: ModelOrigin
    training: str
    plan: str  # id of how the study trained it: records of other plans are not shown
    weights: str
    parts: Mapping[str, Mapping[str, Any]]  # of each that was trained here: val, epoch, rise, seconds, examples, …
    curves: Mapping[str, list[float]]  # of each: what epochs are chosen by, epoch by epoch
    size: int  # bytes of all files of weights
    seconds: float
    command: str

    @property
    def label(self) -> str:
        return f"training-{self.training}"


MODEL_RECORDS: dict[str, Any] = {one.KIND: one for one in (ModelTestRecord, ModelTrainingRecord)}


def parse_model_record(data: Any) -> ModelRecord:
    """A record from its JSON; ValueError, KeyError or TypeError where it is none."""
    if not isinstance(data, dict) or data.get("format") != FORMAT or data.get("kind") not in MODEL_RECORDS:
        raise ValueError(f"not a record of this format ({FORMAT})")
    kind = MODEL_RECORDS[data["kind"]]
    origin = ModelOrigin(**{f.name: str(data[f.name]) for f in fields(ModelOrigin)})
    own = {f.name: data[f.name] for f in fields(kind) if f.name != "origin"}
    if "figures" in own:
        own["figures"] = _read_figures(own["figures"])
    record: ModelRecord = kind(origin, **own)
    if record.to_json() != data:
        raise ValueError("it has fields that are not known")
    return record


def _read_figures(data: Mapping[str, Any]) -> dict[str, dict[str, Figure]]:
    found: dict[str, dict[str, Figure]] = {}
    for name, slices in data.items():
        for part, (value, low, high, n) in slices.items():
            if value is not None and not 0 <= value <= 1:
                raise ValueError(f"{name} {part}: {value} is no share")
            found.setdefault(name, {})[part] = (value, low, high, int(n))
    return found


@dataclass(frozen=True, slots=True)
class ModelRecordStore(RecordStore[ModelRecord]):
    """Where the records of a study of models are kept."""

    parse: Callable[[Any], ModelRecord] = parse_model_record


def collect_results(study: ModelStudy, records: Sequence[ModelRecord], scale: ModelScale, data: str) -> StudyResults:
    """The newest record of each row and test set, and of each training as it is planned, that rest on these data.

    A test is left out whose row has another model or condition today, or whose training was done again later.
    """
    mine = sorted((r for r in records if r.origin.data == data), key=lambda r: r.origin.made)
    plans = {name: study.identify_training(name) for name in study.trainings}
    done = [r for r in mine if isinstance(r, ModelTrainingRecord)]
    trainings = {r.training: r for r in done if r.plan == plans.get(r.training)}
    weights = {name: trained.weights for name, trained in trainings.items()}
    current = {
        name: (row.model, row.condition, weights.get(row.training) if row.training else "")
        for name, row in study.rows.items()
    }
    tests = (r for r in mine if isinstance(r, ModelTestRecord))
    asked = {(r.row, r.split): r for r in tests if (r.model, r.condition, r.weights) == current.get(r.row)}
    return StudyResults(asked, trainings, scale)
