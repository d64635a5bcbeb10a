"""Stored records of a study: where they are, and which of them are shown together as one transfer matrix.

Records are a folder with one file each, or one file of JSON lines, which is what travels from another machine;
`merge_records` puts its records into a folder.
"""

import json
import os
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from ...errors import UserError
from ...files import encode_utf8, explain_write_errors, read_whole, write_whole
from ...metrics.transfer_matrix import EntryKey, TransferMatrix
from ...model import NO_ADAPTATION, get_traits
from ...records import content_id, read_json
from ...suites.study import load_study
from ...trainable import Trainable
from .entries import OracleDiagnosis, StudyRecord, TrainingRecord, TransferEntry, parse_record

LINES_SUFFIX = ".jsonl"
TEST = "test"


class StoredRecord(Protocol):
    """What a store keeps: one small JSON object, named by its content."""

    @property
    def name(self) -> str: ...

    def to_json(self) -> dict[str, Any]: ...


R = TypeVar("R", bound=StoredRecord)


@dataclass(frozen=True, slots=True)
class RecordStore(Generic[R]):
    """A place of records; the name decides: FILE.jsonl, else a folder."""

    path: Path
    parse: Callable[[Any], R]

    @property
    def is_lines(self) -> bool:
        return self.path.suffix == LINES_SUFFIX

    def add(self, record: R) -> None:
        """Keep a record; once this returns, a kill does not lose it. The same one again changes nothing."""
        if not self.is_lines:
            text = json.dumps(record.to_json(), indent=1, ensure_ascii=False) + "\n"
            write_whole(self.path / record.name, encode_utf8(text))
            return
        self.path.parent.mkdir(parents=True, exist_ok=True)
        line = json.dumps(record.to_json(), separators=(",", ":")) + "\n"
        with explain_write_errors(self.path), self.path.open("ab") as file:
            if self.is_cut_short():
                os.truncate(self.path, self.path.read_bytes().rfind(b"\n") + 1)
            file.write(line.encode())
            file.flush()
            os.fsync(file.fileno())

    def is_cut_short(self) -> bool:
        """Whether it is a file whose last line a kill cut short."""
        return self.is_lines and read_whole(self.path)[-1:] not in (b"\n", b"")

    def read_records(self) -> list[R]:
        """All of them, in the order of their names; none where there is nothing yet."""
        records: dict[str, R] = {}
        if self.is_lines:
            data = read_whole(self.path) if self.path.exists() else b""
            whole = data[: data.rfind(b"\n") + 1]  # without a last line that a kill cut short
            for number, line in enumerate(whole.splitlines(), 1):
                record = self.parse_bytes(line, f"{self.path}, line {number}")
                records[record.name] = record
        elif self.path.is_file():
            raise UserError(
                f"{self.path} is a file; entries are stored in a folder, or in a file of lines ({LINES_SUFFIX})"
            )
        for path in () if self.is_lines else self.path.glob("*.json"):
            record = records[path.name] = self.parse_bytes(read_whole(path), str(path))
            if record.name != path.name:
                raise UserError(f"{path}: its content is that of {record.name}; it was changed by hand")
        return [records[name] for name in sorted(records)]

    def parse_bytes(self, data: bytes, where: str) -> R:
        """A record from its file's content; a UserError says where there is none."""
        try:
            return self.parse(read_json(data))
        except (ValueError, KeyError, TypeError, UserError) as error:
            raise UserError(f"{where}: not a record of a study ({error})") from None


@dataclass(frozen=True, slots=True)
class EntryStore(RecordStore[StudyRecord]):
    """Where the records of a transfer matrix are kept."""

    parse: Callable[[Any], StudyRecord] = parse_record


class MergeCounts(NamedTuple):
    """How many records there were, new ones and ones of something measured anew, and files cut short in a last line."""

    records: int
    new: int
    replaced: int
    cut_short: tuple[str, ...]


def merge_records(
    files: Iterable[Path], into: Path, open_store: Callable[[Path], RecordStore[Any]] = EntryStore
) -> MergeCounts:
    """Put the records of files or folders into a folder; one with the name of another takes its place."""
    store = open_store(into)
    if store.is_lines:
        raise UserError(f"{into}: records are merged into a folder, not into a file of lines")
    before = {record.name: record for record in store.read_records()}
    there, count, cut_short = dict(before), 0, []
    for path in files:
        if not path.exists():
            raise UserError(f"{path}: no such file")
        source = open_store(path)
        records = source.read_records()
        if not records:
            raise UserError(f"{path}: no record of a study in it")
        if source.is_cut_short():
            cut_short.append(str(path))
        for record in records:
            count += 1
            if there.get(record.name) != record:
                store.add(record)
                there[record.name] = record
    replaced = sum(there[name] != record for name, record in before.items())
    return MergeCounts(count, len(there) - len(before), replaced, tuple(cut_short))


OLD_TRAINING = "it was trained on data that would be made otherwise today"
OLD_PLAN = "it was trained by another recipe, or in other sizes, than today's"
OLD_TEST = "its test would be made otherwise today"
OTHER_TEST = "its test had other questions than those of most entries"
OTHER_PART = "a part of it is of another training than that of most entries which share it"
OTHER_CALIBRATION = "its calibration, relations or adaptation are not those of most entries of its row"
SUPERSEDED = "the same entry was made again later"

K = TypeVar("K", bound=Hashable)
V = TypeVar("V", bound=Hashable)


@lru_cache(maxsize=256)
def hash_test_data(tested: Any, scale: Any, version: int | None = None) -> str:
    """Names the data that today's code makes for a test set, or those of an earlier version with the same options."""
    return content_id(_build_spec(tested, scale, version))


@lru_cache(maxsize=256)
def hash_train_data(suite: str, trained: Any, scale: Any, family: str, version: int | None = None) -> str:
    """Names the data that today's code trains on, part by part, or those of an earlier version."""
    parts = load_study(suite).list_parts(trained, scale, family)
    return content_id([_build_spec(part.domain, scale, version) for part in parts])


@lru_cache(maxsize=256)
def hash_plan(suite: str, trained: Any, scale: Any, family: str) -> str:
    """Names what today's code chooses for the trainings of a row: recipes and sizes."""
    trainables = [_find_trainable(part) for part in load_study(suite).list_parts(trained, scale, family)]
    return content_id([[stage.identify() for stage in one.stages] for one in trainables])


def _find_trainable(part: Any) -> Trainable:
    found = get_traits(part.model).trainable
    assert found is not None
    return found.configure(dict(part.settings))


def _build_spec(domain: Any, scale: Any, version: int | None) -> dict[str, Any]:
    made = domain.build_spec(scale)
    spec: dict[str, Any] = made.spec() | made.identify(version)
    return spec


def build_transfer_matrix(
    records: Iterable[StudyRecord], scale: Any, data_version: int | None = None, split: str = TEST
) -> TransferMatrix:
    """The records of a scale and split that fit together, of today's data or of an earlier version of them.

    Left out are entries of data that today's code would make otherwise, and, where a test set had several forms, or
    a part was trained several times, all but the form or training with the most entries (the latest, where these
    are as many). All rows that share a part must have one training of it, and a row's entries one calibration.
    """
    own = sorted((r for r in records if r.origin.scale == scale), key=lambda r: (r.origin.made, r.name))
    study = load_study(scale.suite)
    left: list[tuple[str, str]] = []
    entries = [r for r in own if isinstance(r, TransferEntry) and r.test.split == split]

    def keep_matching(good: Callable[[TransferEntry], bool], reason: str) -> None:
        nonlocal entries
        left.extend((e.name, reason) for e in entries if not good(e))
        entries = [e for e in entries if good(e)]

    def keep_majority(group: Callable[[TransferEntry], K], by: Callable[[TransferEntry], V], reason: str) -> dict[K, V]:
        chosen = _choose_majority(entries, group, by)
        keep_matching(lambda e: by(e) == chosen[group(e)], reason)
        return chosen

    keep_matching(
        lambda e: (
            e.origin.train_order == hash_train_data(e.origin.suite, e.trained, scale, e.origin.family, data_version)
        ),
        OLD_TRAINING,
    )
    keep_matching(
        lambda e: e.origin.plan in (None, hash_plan(e.origin.suite, e.trained, scale, e.origin.family)), OLD_PLAN
    )
    keep_matching(lambda e: e.test.spec == hash_test_data(e.tested, scale, data_version), OLD_TEST)
    forms = keep_majority(lambda e: e.tested, lambda e: e.test.questions, OTHER_TEST)

    trained_parts = {(e.trained, e.origin.family): study.list_parts(e.trained, scale, e.origin.family) for e in entries}
    for number in range(max(map(len, trained_parts.values()), default=0)):

        def find_part(entry: TransferEntry, number: int = number) -> Any:
            parts = trained_parts[entry.trained, entry.origin.family]
            return parts[number] if number < len(parts) else None

        def hash_part(entry: TransferEntry) -> tuple[str, ...]:
            part = find_part(entry)
            return entry.origin.hash_of(part.stages) if part else ()

        keep_majority(find_part, hash_part, OTHER_PART)
    rows = {_get_row(e): e.origin.weights for e in entries}
    keep_majority(
        lambda e: (*_get_row(e), e.contender.adapt == NO_ADAPTATION), lambda e: e.origin.learned, OTHER_CALIBRATION
    )
    latest: dict[EntryKey, TransferEntry] = {}
    for entry in entries:
        key = (entry.model, entry.trained, entry.tested)
        if key in latest:
            left.append((latest[key].name, SUPERSEDED))
        latest[key] = entry
    for key, entry in latest.items():
        if entry.is_unchanged:
            plain = latest.get((replace(entry.contender, adapt=NO_ADAPTATION).label, *key[1:]))
            latest[key] = replace(entry, outcomes=plain.outcomes if plain else ())
    trainings = {
        _get_row(r): r for r in own if isinstance(r, TrainingRecord) and r.origin.weights == rows.get(_get_row(r))
    }
    diagnoses: dict[tuple[Any, Any], OracleDiagnosis] = {}
    for one in (r for r in own if isinstance(r, OracleDiagnosis)):
        if one.origin.weights == rows.get(_get_row(one)) and one.test.questions == forms.get(one.tested):
            older = diagnoses.get((one.trained, one.tested))
            diagnoses[one.trained, one.tested] = one.merge_older(older) if older else one
    shown = dict(sorted(latest.items()))
    validation = None
    if split == TEST and any(isinstance(r, TransferEntry) and r.test.split != TEST for r in own):
        validation = build_transfer_matrix(own, scale, data_version, "val")
    return TransferMatrix(
        study, scale, shown, trainings, tuple(diagnoses.values()), tuple(sorted(left)), data_version, split, validation
    )


def _get_row(record: StudyRecord) -> tuple[str, Any]:
    """Family and training: what one set of weights is of."""
    return record.origin.family, record.trained


def list_scales(records: Iterable[StudyRecord]) -> list[Any]:
    """The scales that there are records of, the largest first."""
    return sorted({r.origin.scale for r in records}, key=lambda s: (-s.images, s.name))


def _choose_majority(
    entries: Sequence[TransferEntry], group: Callable[[TransferEntry], K], by: Callable[[TransferEntry], V]
) -> dict[K, V]:
    """For each group the value that most entries have, each place counted once; the latest where as many."""
    places: dict[K, dict[V, set[EntryKey]]] = {}
    latest: dict[tuple[K, V], str] = {}
    for entry in entries:
        k, v = group(entry), by(entry)
        places.setdefault(k, {}).setdefault(v, set()).add((entry.model, entry.trained, entry.tested))
        latest[k, v] = max(latest.get((k, v), ""), entry.origin.made)
    return {k: max(values, key=lambda v: (len(values[v]), latest[k, v], str(v))) for k, values in places.items()}
