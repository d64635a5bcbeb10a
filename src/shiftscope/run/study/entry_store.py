"""Where a study's records are stored: a folder with one file each, or one file of JSON lines.

A file of lines is what travels from another machine; `merge_records` puts its records into a folder.
"""

import json
import os
from collections.abc import Iterable, Iterator
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
        if self.is_lines:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            line = json.dumps(record.to_json(), separators=(",", ":")) + "\n"
            with explain_write_errors(self.path), self.path.open("ab") as file:
                self._truncate_partial_line(file.tell())
                file.write(line.encode())
                file.flush()
                os.fsync(file.fileno())
            return
        text = json.dumps(record.to_json(), indent=1, ensure_ascii=False) + "\n"
        write_whole(self.path / record.name, encode_utf8(text))

    def _truncate_partial_line(self, size: int) -> None:
        """Cut off what a kill left of a last line, so that the next one begins a line."""
        if size:
            data = self.path.read_bytes()
            if not data.endswith(b"\n"):
                os.truncate(self.path, data.rfind(b"\n") + 1)

    def read_records(self) -> list[StudyRecord]:
        """All of them, in the order of their names; none where there is nothing yet."""
        if self.is_lines:
            found = {record.name: record for record in self._read_lines()} if self.path.exists() else {}
        elif self.path.is_file():
            raise UserError(
                f"{self.path} is a file; entries are stored in a folder, or in a file of lines ({LINES_SUFFIX})"
            )
        else:
            found = {path.name: self._read(path) for path in self.path.glob("*.json")}
        return [found[name] for name in sorted(found)]

    def _read_lines(self) -> Iterator[StudyRecord]:
        """A last line that a kill cut short is left out."""
        data = read_whole(self.path)
        whole = data[: data.rfind(b"\n") + 1]
        for number, line in enumerate(whole.splitlines(), 1):
            yield _parse_line(line, f"{self.path}, line {number}")

    def is_cut_short(self) -> bool:
        """Whether it is a file whose last line a kill cut short."""
        return self.is_lines and read_whole(self.path)[-1:] not in (b"\n", b"")

    def _read(self, path: Path) -> StudyRecord:
        record = _parse_line(read_whole(path), str(path))
        if record.name != path.name:
            raise UserError(f"{path}: its content is that of {record.name}; it was changed by hand")
        return record


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
    seen = 0
    added: set[str] = set()
    cut = []
    for path in files:
        if not path.exists():
            raise UserError(f"{path}: no such file")
        one = EntryStore(path)
        found = one.read_records()
        if not found:
            raise UserError(f"{path}: no record of a study in it")
        if one.is_cut_short():
            cut.append(str(path))
        for record in found:
            seen += 1
            if record.name not in there:
                store.add(record)
                added.add(record.name)
    return MergeCounts(seen, len(added), tuple(cut))
