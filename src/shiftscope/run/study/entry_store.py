"""Where a study's records are stored: a folder with one file each, or one file of JSON lines.

A file of lines is what travels from another machine; `merge_records` puts its records into a folder.
"""

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from ...errors import UserError
from ...files import encode_utf8, explain_write_errors, read_whole, write_whole
from ...records import read_json
from .entries import StudyRecord, parse_record

LINES_SUFFIX = ".jsonl"


@dataclass(frozen=True, slots=True)
class EntryStore:
    """A place of records; the name decides: FILE.jsonl, else a folder."""

    path: Path

    @property
    def is_lines(self) -> bool:
        return self.path.suffix == LINES_SUFFIX

    def add(self, record: StudyRecord) -> None:
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

    def read_records(self) -> list[StudyRecord]:
        """All of them, in the order of their names; none where there is nothing yet."""
        records: dict[str, StudyRecord] = {}
        if self.is_lines:
            data = read_whole(self.path) if self.path.exists() else b""
            whole = data[: data.rfind(b"\n") + 1]  # without a last line that a kill cut short
            for number, line in enumerate(whole.splitlines(), 1):
                record = _parse_line(line, f"{self.path}, line {number}")
                records[record.name] = record
        elif self.path.is_file():
            raise UserError(
                f"{self.path} is a file; entries are stored in a folder, or in a file of lines ({LINES_SUFFIX})"
            )
        for path in () if self.is_lines else self.path.glob("*.json"):
            record = records[path.name] = _parse_line(read_whole(path), str(path))
            if record.name != path.name:
                raise UserError(f"{path}: its content is that of {record.name}; it was changed by hand")
        return [records[name] for name in sorted(records)]


def _parse_line(data: bytes, where: str) -> StudyRecord:
    try:
        return parse_record(read_json(data))
    except (ValueError, KeyError, TypeError, UserError) as error:
        raise UserError(f"{where}: not a record of a study ({error})") from None


class MergeCounts(NamedTuple):
    """How many records there were, how many of them were new, and files with a last line cut short."""

    records: int
    new: int
    cut_short: tuple[str, ...]


def merge_records(files: Iterable[Path], into: Path) -> MergeCounts:
    """Put the records of files or folders into a folder."""
    store = EntryStore(into)
    if store.is_lines:
        raise UserError(f"{into}: records are merged into a folder, not into a file of lines")
    there = {record.name for record in store.read_records()}
    count, added, cut_short = 0, set(), []
    for path in files:
        if not path.exists():
            raise UserError(f"{path}: no such file")
        source = EntryStore(path)
        records = source.read_records()
        if not records:
            raise UserError(f"{path}: no record of a study in it")
        if source.is_cut_short():
            cut_short.append(str(path))
        for record in records:
            count += 1
            if record.name not in there:
                store.add(record)
                added.add(record.name)
    return MergeCounts(count, len(added), tuple(cut_short))
