"""Question indexes: the questions of a dataset or of an audit as rows and columns, read when a page asks for them.

A file that is missing or damaged does not close the dataset: its rows are there, without content, each with the
reason. All methods may be called from several threads.
"""

from __future__ import annotations

import json
import threading
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np

from ..answer import Answer, spell
from ..arrow_array import read_numbers
from ..columns import Column, column_of
from ..errors import UserError
from ..json_files import require_msgspec
from ..question import Question
from ..report.measure import concat_columns
from ..result import NOTE_FACTS, Bools
from ..run.question_source import VqaFiles
from ..scene import Scene
from ..store import shard as shard_files
from ..store.dataset import Dataset, ImageIndex
from ..store.image import StoredImage
from ..store.manifest import read_manifest
from ..store.shard import Shard, open_parquet
from ..store.tables import parse_questions

SPLIT, TYPE, TEMPLATE, ANSWER = "split", "kind", "template", "answer"
STORED_COLUMNS = {TYPE: "question_type", TEMPLATE: "template", ANSWER: "answer"}
TWIN = "twin"  # the id of what a question is a variant of: a column, but nothing to filter by
NOTE_COLUMNS = {"action": "action_kind", TWIN: TWIN} | {name: name for name in NOTE_FACTS}  # as runs name these facts
ROW_COLUMNS = ("question_id", "question", "action", "answer", "question_type", "image_ids")
CACHED_TABLES = 64  # row groups of questions, the columns of a list alone


@dataclass(frozen=True, slots=True)
class ExampleRow:
    """What a list shows of a question; `error` says why there is nothing to show."""

    row: int
    split: str
    id: str = ""
    text: str = ""
    answer: str | None = None
    kind: str = ""
    images: tuple[str, ...] = ()
    error: str = ""


class DatasetQuestions:
    """The questions of a dataset's folder; a row is a question, in the order of the shards."""

    notice = ""  # what a list says of all of its rows

    def __init__(self, folder: Path) -> None:
        import pyarrow.compute  # noqa: F401  now, not while somebody waits for the first page

        manifest = read_manifest(folder)
        if manifest is None or not manifest.complete:
            Dataset.open(folder)  # says what is wrong
            raise AssertionError(folder)
        self.dataset = Dataset(folder, manifest)
        self.damage: dict[str, str] = {}  # file → why it cannot be read
        self._shards = tuple(s for s in manifest.shards if s.questions)
        self._starts = [0, *accumulate(s.questions.rows for s in self._shards if s.questions)]
        self._lock = threading.RLock()
        self._columns: dict[str, Column] = {}
        self._tables: OrderedDict[tuple[int, int], Any] = OrderedDict()
        self._images = ImageIndex(folder, manifest.shards, self.dataset.check_file)

    def __len__(self) -> int:
        return self._starts[-1]

    @property
    def splits(self) -> tuple[str, ...]:
        return self.dataset.splits

    @cached_property
    def note_names(self) -> frozenset[str]:
        """The notes that some question in the first row group of a split has."""
        first = {shard.split: k for k, shard in reversed(list(enumerate(self._shards)))}
        tables = [self._load_table(k, 0, ("notes",)) for k in first.values()]
        texts = (text for table in tables if table is not None for text in table["notes"].to_pylist() if text)
        return frozenset(name for text in texts for name in json.loads(text))

    @cached_property
    def fact_names(self) -> tuple[str, ...]:
        """What rows can be filtered by."""
        noted = (name for name, note in NOTE_COLUMNS.items() if name != TWIN and note in self.note_names)
        return (SPLIT, *STORED_COLUMNS, *noted)

    def column(self, name: str) -> Column:
        """The values of a fact in all rows, nothing where a row cannot be read."""
        with self._lock:
            if name not in self._columns:
                self._columns[name] = self._read_column(name)
            return self._columns[name]

    def _read_column(self, name: str) -> Column:
        if name == SPLIT:
            codes = [self.splits.index(s.split) for s in self._shards]
            return Column(self.splits, np.repeat(np.array(codes, np.int32), np.diff(self._starts)))
        if name in STORED_COLUMNS:  # all of them together: each file is opened once
            tables = [self._read_shard(k, *STORED_COLUMNS.values()) for k in range(len(self._shards))]
            for fact, stored in STORED_COLUMNS.items():
                self._columns[fact] = self._merge([None if t is None else t[stored].combine_chunks() for t in tables])
            return self._columns[name]
        if NOTE_COLUMNS.get(name) not in self.note_names:
            raise UserError(f"the questions have no fact {name!r}")
        self._columns |= self._read_notes()
        return self._columns[name]

    def _read_notes(self) -> dict[str, Column]:
        """All columns of notes at once: the texts are decoded once."""
        msgspec = require_msgspec()
        names = [name for name, note in NOTE_COLUMNS.items() if note in self.note_names]
        kind = str | int | float | bool | None
        fields = [(f"n{k}", kind, msgspec.field(default=None, name=NOTE_COLUMNS[n])) for k, n in enumerate(names)]
        notes_type = msgspec.defstruct("Notes", fields, gc=False)
        decode, blank = msgspec.json.Decoder(notes_type).decode, notes_type()

        def read_notes(text: str | None) -> Any:
            try:
                return decode(text) if text else blank
            except msgspec.DecodeError:  # notes that nobody of ours wrote
                return blank

        shards = [None if t is None else list(map(read_notes, t.to_pylist())) for t in self._read_stored("notes")]
        columns = {}
        for k, name in enumerate(names):
            get = attrgetter(f"n{k}")
            columns[name] = self._join_parts([None if rows is None else column_of(map(get, rows)) for rows in shards])
        return columns

    def _merge(self, arrays: Iterable[Any]) -> Column:
        parts: list[Column | None] = []
        for array in arrays:
            found = None if array is None else array.dictionary_encode()
            values = () if found is None else tuple(found.dictionary.to_pylist())
            parts.append(None if found is None else Column(values, read_numbers(found.indices, -1)))
        whole = self._join_parts(parts)
        return whole if "" not in whole.values else _drop_value(whole, "")

    def _join_parts(self, parts: Sequence[Column | None]) -> Column:
        """The shards' columns one below the other; nothing in the rows of a shard that cannot be read."""
        sizes = np.diff(self._starts).tolist()
        return concat_columns([p or Column((), np.full(n, -1, np.int32)) for p, n in zip(parts, sizes, strict=True)])

    def _read_stored(self, name: str) -> list[Any]:
        """A Parquet column shard by shard; None for a shard that cannot be read."""
        tables = [self._read_shard(k, name) for k in range(len(self._shards))]
        return [None if table is None else table[name].combine_chunks() for table in tables]

    def _read_shard(self, k: int, *columns: str) -> Any:
        """Some columns of a shard's questions; None where it cannot be read."""
        file = self._shards[k].questions
        assert file is not None
        if file.path in self.damage:
            return None
        try:
            self.dataset.check_file(file)
            return shard_files.read_columns(self.dataset.folder / file.path, columns)
        except (UserError, OSError) as error:
            self.damage[file.path] = str(error)
            return None

    @cached_property
    def texts(self) -> list[Any]:
        """The words of all questions, then of their actions where there are any, as Arrow arrays."""
        texts = [self._join_texts(name) for name in ("question", "action")]
        return [one for k, one in enumerate(texts) if not k or len(one.unique()) > 1]

    @cached_property
    def _rows_by_id(self) -> dict[str, int]:
        return {name: row for row, name in enumerate(self._join_texts("question_id").to_pylist()) if name is not None}

    def _join_texts(self, name: str) -> Any:
        import pyarrow as pa

        with self._lock:
            sizes = np.diff(self._starts).tolist()
            arrays = self._read_stored(name)
        blanks = (pa.nulls(n, pa.string()) for n in sizes)
        return pa.chunked_array([b if a is None else a for a, b in zip(arrays, blanks, strict=True)], pa.string())

    def search(self, words: str) -> Bools:
        """The rows whose action or text contains these words, in any case."""
        import pyarrow.compute as pc

        found = [pc.match_substring(texts, words, ignore_case=True).cast("uint8") for texts in self.texts]
        return np.asarray(sum(read_numbers(one.combine_chunks()) for one in found), bool)

    def find(self, question: str) -> int | None:
        """The row of a question by its id."""
        with self._lock:
            return self._rows_by_id.get(question)

    def find_rows(self, questions: Sequence[str]) -> np.typing.NDArray[np.int64]:
        """The rows of many; -1 where there is none of that id."""
        with self._lock:
            known = self._rows_by_id
        return np.array([known.get(name, -1) for name in questions] or [], np.int64)

    def read_rows(self, rows: Sequence[int]) -> list[ExampleRow]:
        """What a list shows of these rows."""
        return [self._read_row(row) for row in rows]

    def _locate(self, row: int) -> tuple[int, int]:
        """The shard of a row, and its place there."""
        if not 0 <= row < len(self):
            raise UserError(f"there is no question {row}; there are {len(self):,}, counted from 0")
        k = bisect_right(self._starts, row) - 1
        return k, row - self._starts[k]

    def _read_row(self, row: int) -> ExampleRow:
        k, place = self._locate(row)
        shard = self._shards[k]
        table = self._load_table(k, place // shard_files.QUESTIONS_IN_GROUP, ROW_COLUMNS)
        if table is None:
            assert shard.questions is not None
            return ExampleRow(row, shard.split, error=self.damage[shard.questions.path])
        at = place % shard_files.QUESTIONS_IN_GROUP
        name, text, action, answer, kind, images = (table[c][at].as_py() for c in ROW_COLUMNS)
        return ExampleRow(row, shard.split, name, f"{action} {text}".strip(), answer, kind, tuple(images))

    def _load_table(self, k: int, group: int, columns: Sequence[str]) -> Any:
        """A row group of a shard's questions; None where it cannot be read."""
        file = self._shards[k].questions
        assert file is not None
        with self._lock:
            if file.path in self.damage:
                return None
            if (k, group) in self._tables and columns is ROW_COLUMNS:
                self._tables.move_to_end((k, group))
                return self._tables[k, group]
            try:
                self.dataset.check_file(file)
                with open_parquet(self.dataset.folder / file.path) as opened:
                    table = opened.read_row_group(group, columns=list(columns), use_threads=False)
            except (UserError, OSError) as error:
                self.damage[file.path] = str(error)
                return None
            if columns is ROW_COLUMNS:
                self._tables[k, group] = table
                while len(self._tables) > CACHED_TABLES:
                    self._tables.popitem(last=False)
            return table

    def read_question(self, row: int) -> Question:
        """One question whole; a UserError where its file cannot be read."""
        k, place = self._locate(row)
        file = self._shards[k].questions
        assert file is not None
        self.dataset.check_file(file)
        with open_parquet(self.dataset.folder / file.path) as opened:
            table = opened.read_row_group(place // shard_files.QUESTIONS_IN_GROUP, use_threads=False)
            return next(parse_questions(table.slice(place % shard_files.QUESTIONS_IN_GROUP, 1)))

    def read_image(self, name: str, row: int) -> StoredImage:
        """An image that the question of a row is about."""
        shard: Shard = self._shards[self._locate(row)[0]]
        with self._lock:
            return self._images.get(name, shard)


class VqaQuestions:
    """The questions of an audit's VQA files; pictures are those of a folder, where one is named.

    Of an audit of a dataset of ours, `source` is that dataset, where it was found: it has the pictures, scenes and
    programs. `lost` says what to open where it was not.
    """

    note_names: frozenset[str] = frozenset()

    def __init__(self, files: VqaFiles, source: DatasetQuestions | None = None, lost: str = "") -> None:
        self.files, self.splits, self.source, self.lost = files, files.splits, source, lost
        self.damage: dict[str, str] = {}  # none: files are read whole, or refused
        listed = [(split, q) for split in files.splits for q in files.questions(split)]
        self._split = column_of(split for split, _ in listed)
        self._questions = [q for _, q in listed]
        self._rows_by_id = {q.id: row for row, q in enumerate(self._questions)}
        self._columns: dict[str, Column] = {}

    def __len__(self) -> int:
        return len(self._questions)

    @property
    def fact_names(self) -> tuple[str, ...]:
        noted = {name for q in self._questions[:1000] for name, _ in q.notes}
        return (SPLIT, TYPE, ANSWER, *(name for name in NOTE_FACTS if name in noted))

    def column(self, name: str) -> Column:
        if name == SPLIT:
            return self._split
        if name not in self._columns:
            if name == ANSWER:
                values = (_spell_answer(q.answer) for q in self._questions)
            elif name == TYPE:
                values = (q.kind or None for q in self._questions)
            else:
                values = (q.note(name) for q in self._questions)
            self._columns[name] = column_of(values)
        return self._columns[name]

    def search(self, words: str) -> Bools:
        wanted = words.lower()
        return np.array([wanted in q.text.lower() for q in self._questions], bool)

    def find(self, question: str) -> int | None:
        return self._rows_by_id.get(question)

    def find_rows(self, questions: Sequence[str]) -> np.typing.NDArray[np.int64]:
        return np.array([self._rows_by_id.get(name, -1) for name in questions] or [], np.int64)

    def read_rows(self, rows: Sequence[int]) -> list[ExampleRow]:
        found = [(row, self._questions[row]) for row in rows]
        return [
            ExampleRow(row, self._split[row], q.id, q.text, _spell_answer(q.answer), q.kind, self._list_pictures(q))
            for row, q in found
        ]

    def _find_source_row(self, question: str) -> int | None:
        return None if self.source is None else self.source.find(question)

    def _list_pictures(self, question: Question) -> tuple[str, ...]:
        at = self._find_source_row(question.id)
        if self.source is not None and at is not None:
            return self.source.read_rows([at])[0].images
        return tuple(name for name in question.scenes if self.files.find_picture(name))

    @property
    def notice(self) -> str:
        if self.files.images or self.source:
            return ""
        return self.lost or "An audit holds no pictures: name their folder with --images."

    def read_question(self, row: int) -> Question:
        """One question; as the dataset has it, in the split of the audit, where that dataset is there."""
        if not 0 <= row < len(self):
            raise UserError(f"there is no question {row}; there are {len(self):,}, counted from 0")
        at = self._find_source_row(self._questions[row].id)
        if self.source is None or at is None:
            return self._questions[row]
        question = self.source.read_question(at)
        return replace(question, provenance=replace(question.provenance, split=self._split[row]))

    def read_image(self, name: str, row: int) -> StoredImage:
        """An image; without a scene, and perhaps without a picture, where the audit is of files."""
        at = self._find_source_row(self._questions[row].id)
        if self.source is not None and at is not None:
            return self.source.read_image(name, at)
        return StoredImage(Scene((), id=name), self.files.read_picture(name) or b"")


QuestionIndex = DatasetQuestions | VqaQuestions


def _spell_answer(answer: Answer | None) -> str | None:
    return None if answer is None else spell(answer)


def _drop_value(column: Column, value: str) -> Column:
    at = column.values.index(value)
    keep = [k for k in range(len(column.values)) if k != at]
    to = np.full(len(column.values) + 1, -1, np.int32)
    to[keep] = np.arange(len(keep))
    return Column(tuple(column.values[k] for k in keep), to[column.codes])
