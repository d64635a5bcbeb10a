"""Sample rows: Parquet, JSON Lines or WebDataset files with one row per sample, in as many files as there are.

For example, a line of `part-00000.jsonl.gz`, a row of `part-00000.parquet`, or a `.json` member of `part-00000.tar`::

    {"question_id": 7, "image_id": 42, "question": "Is the dog white?", "answer": "yes", "objects": ["dog", "person"]}

`question_id` is a number or text (a WebDataset sample's key where there is none), `answer` may be called
`multiple_choice_answer`. A row may have `question_type`, `split`, `answers` (one per annotator, as VQA has them or as
plain text) and `objects`, the kinds of objects in its image: null where they are not known. Rows without an answer are
left out, or have the most frequent of their annotators' answers. An id stands for one row in all the files.

A file is read a few thousand rows at a time (`iterate_rows`), so an audit can stream it.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from glob import glob
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import json_files as _json
from ..answer import spell
from ..arrow_array import build_array, read_numbers, wrap_numbers
from ..errors import UserError
from ..files import file_digest, read_bytes
from ..question_join import build_question_table
from ..question_table import Id, QuestionTable, add_objects, build_image_contents
from ._sample_files import Place, digest_members, explain_file_errors, find_kind, iterate_batches
from .vqa import is_answer_list, parse_answer_list

SOURCE = "samples"
ANSWERS_APART = False
BATCH_ROWS = 1 << 17  # read at once
FIELDS = ("question_id", "image_id", "question", "answer", "multiple_choice_answer", "question_type", "split")
LIST_FIELDS = ("answers", "objects")
SUFFIXES = (".parquet", ".jsonl", ".jsonl.gz", ".ndjson", ".tar", ".tar.gz")
UNANSWERED, VOTED = "questions without an answer", "answers that no row names"
IN_GROUP_NONE = "in the group of none"


def sniff_questions(file: _json.InputFile) -> bool:
    """Whether it is a Parquet file, a tar, or lines that each hold a row."""
    return bool(find_kind(file.head))


def is_sample_file(path: Path) -> bool:
    return path.is_file() and bool(find_kind(read_bytes(path, _json.HEAD_BYTES)))


def expand_paths(paths: Iterable[Path]) -> list[tuple[int, Path]]:
    """The files that paths name, each with the place of its path: all of a folder, all that a pattern fits."""
    found: list[tuple[int, Path]] = []
    for place, path in enumerate(paths):
        listed = [path]
        if path.is_dir():
            names = sorted(one for one in path.rglob("*") if one.is_file() and one.name.endswith(SUFFIXES))
            listed = [one for one in names if not any(p.startswith(".") for p in one.relative_to(path).parts)]
            if not listed:
                raise UserError(f"{path}: there are no files of samples ({', '.join(SUFFIXES)}) in this folder")
        elif not path.exists() and set("*?[") & set(str(path)):
            listed = [Path(name) for name in sorted(glob(str(path), recursive=True)) if Path(name).is_file()]  # noqa: PTH207
            if not listed:
                raise UserError(f"{path}: no file fits this pattern")
        found += [(place, one) for one in listed]
    return found


@dataclass(frozen=True, slots=True, eq=False)
class IdTexts:
    """Ids as text, and which of them the file writes as numbers."""

    texts: Any  # Arrow large_string; missing: none is named
    numeric: npt.NDArray[np.bool_]

    def to_ids(self, rows: Sequence[int] | None = None) -> list[Any]:
        texts = (self.texts if rows is None else self.texts.take(wrap_numbers(np.array(rows, np.int64)))).to_pylist()
        flags = (self.numeric if rows is None else self.numeric[list(rows)]).tolist()
        pairs = zip(texts, flags, strict=True)
        return [int(text) if number and text is not None else text for text, number in pairs]

    def take(self, rows: Any) -> "IdTexts":
        return IdTexts(self.texts.take(wrap_numbers(rows)), self.numeric[rows])


@dataclass(frozen=True, slots=True, eq=False)
class SampleRows:
    """Some rows of a file, one after the other; those that have an answer."""

    ids: IdTexts
    images: IdTexts
    texts: Any  # Arrow large_string; an empty question is ""
    answers: Any  # large_string
    types: Any  # large_string, missing: none is named
    splits: Any
    objects: Any  # list of large_string, missing: they are not known; None: no row says anything about objects
    annotators: Any  # large_string, JSON; missing: one answer is known. None unless asked for
    unanswered: list[Id]  # left out
    voted: list[int]  # rows whose answer is that of most annotators

    def __len__(self) -> int:
        return len(self.texts)


def iterate_rows(path: Path, split: str = "", annotators: bool = False) -> Iterator[SampleRows]:
    """The rows of a file, BATCH_ROWS at a time; `split` is that of the whole file. A bad row is a UserError."""
    kind = find_kind(read_bytes(path, _json.HEAD_BYTES))
    if not kind:
        raise UserError(f"{path}: neither Parquet, nor a tar, nor lines that each hold a row with a question")
    seen = False
    with explain_file_errors(path):
        for columns, place in iterate_batches(path, kind, (*FIELDS, *LIST_FIELDS), BATCH_ROWS):
            seen = True
            yield _build_rows(columns, lambda row, place=place: f"{path}: {place(row)}", split, annotators)  # type: ignore[misc]
    if not seen:
        raise UserError(f"{path}: there are no questions in it")


def digest_rows(path: Path) -> str:
    """Of all that is read of a file: of a tar the rows and the names of the members, not what is in the pictures."""
    return digest_members(path) if find_kind(read_bytes(path, _json.HEAD_BYTES)) == "tar" else file_digest(path)


# Columns of one batch, checked.


def _build_rows(columns: dict[str, Any], place: Place, split: str, annotators: bool) -> SampleRows:
    reader = _ColumnReader(columns, place)
    ids = reader.read_ids("question_id", needed=True)
    answers = reader.read_answers()
    missing = np.flatnonzero(~_find_valid(answers))
    voted: list[int] = []
    if len(missing):
        votes = {int(k): _vote(texts) for k, texts in zip(missing, reader.read_lists("answers", missing), strict=True)}
        answers, voted = _fill_texts(answers, votes), [k for k, answer in votes.items() if answer is not None]
    kept = np.flatnonzero(_find_valid(answers))
    size, there = len(answers), wrap_numbers(kept)
    whole = len(kept) == size
    place_of = {k: at for at, k in enumerate(kept.tolist())} if voted else {}

    def take(array: Any) -> Any:
        return array if whole or array is None else array.take(there)

    images = reader.read_ids("image_id")
    texts = reader.read_texts("question")
    splits = build_array([split] * size, _text_type()) if split else reader.read_texts("split", blank=True)
    return SampleRows(
        ids=ids if whole else ids.take(kept),
        images=images if whole else images.take(kept),
        texts=take(texts.fill_null("") if texts.null_count else texts),
        answers=take(answers),
        types=take(reader.read_texts("question_type", blank=True)),
        splits=take(splits),
        objects=take(reader.read_objects()),
        annotators=_encode_annotators(reader, kept) if annotators else None,
        unanswered=[] if whole else ids.to_ids(np.flatnonzero(~_find_valid(answers)).tolist()),
        voted=[place_of[k] for k in voted],
    )


def _text_type() -> Any:
    import pyarrow as pa

    return pa.large_string()


def _find_valid(array: Any) -> npt.NDArray[np.bool_]:
    return read_numbers(array.is_valid()) if array.null_count else np.ones(len(array), bool)


def _fill_texts(array: Any, values: dict[int, str | None]) -> Any:
    listed = array.to_pylist()
    for k, value in values.items():
        listed[k] = value
    return build_array(listed, _text_type())


def _vote(listed: Any) -> str | None:
    """The most frequent answer, of equals the first by code point."""
    counts = Counter(parse_answer_list(listed))
    counts.pop("", None)
    return min(counts, key=lambda a: (-counts[a], a)) if counts else None


def _encode_annotators(reader: "_ColumnReader", kept: Any) -> Any:
    """The annotators' answers as JSON, as VQA writes them."""
    import pyarrow as pa

    column = reader.columns.get("answers")
    if column is None or (not isinstance(column, list) and column.null_count == len(column)):
        return pa.nulls(len(kept), _text_type())
    found: list[str | None] = []
    for listed in reader.read_lists("answers", kept):
        if not is_answer_list(listed):
            listed = [{"answer": one, "answer_id": n} for n, one in enumerate(parse_answer_list(listed), 1)]
        found.append(json.dumps(listed, ensure_ascii=False) if listed else None)
    return build_array(found, _text_type())


@dataclass(frozen=True, slots=True, eq=False)
class _ColumnReader:
    """The columns of a batch as they were read, lists or Arrow arrays."""

    columns: dict[str, Any]
    place: Place

    @property
    def size(self) -> int:
        return len(self.columns["question_id"])

    def refuse(self, row: int, text: str) -> UserError:
        return UserError(f"{self.place(row)}: {text}")

    def read_ids(self, field: str, needed: bool = False) -> IdTexts:
        import pyarrow as pa

        column = self.columns.get(field)
        if isinstance(column, pa.Array) and (
            pa.types.is_integer(column.type) or pa.types.is_large_string(column.type) or pa.types.is_string(column.type)
        ):
            texts, numeric = column.cast(pa.large_string()), np.full(len(column), pa.types.is_integer(column.type))
        else:
            values = self._list_values(field)
            for row, value in enumerate(values if set(map(type, values)) - {int, str, type(None)} else ()):
                if type(value) not in (int, str, type(None)):
                    raise self.refuse(row, f"its {field} must be a number or text, not {value!r:.80}")
            texts = self._build(field, [None if v is None else str(v) for v in values])
            numeric = np.fromiter((type(v) is int for v in values), bool, len(values))
        if (blank := _find_blank(texts)) is not None:
            texts = blank
        if needed and texts.null_count:
            raise self.refuse(int(np.argmin(_find_valid(texts))), f"it has no {field}")
        return IdTexts(texts, numeric)

    def read_texts(self, field: str, blank: bool = False) -> Any:
        """A column of text; with `blank`, an empty one is as good as none."""
        import pyarrow as pa

        column = self.columns.get(field)
        if isinstance(column, pa.Array) and pa.types.is_dictionary(column.type):
            column = column.dictionary_decode()
        if isinstance(column, pa.Array) and (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
            texts = column.cast(pa.large_string())
        else:
            values = self._list_values(field)
            for row, value in enumerate(values if set(map(type, values)) - {str, type(None)} else ()):
                if not isinstance(value, str | None):
                    raise self.refuse(row, f"its {field} must be text, not {value!r:.80}")
            texts = self._build(field, values)
        return _find_blank(texts) or texts if blank else texts

    def read_answers(self) -> Any:
        """`multiple_choice_answer` or `answer`; numbers and truth values are spelled out."""
        found = None
        for field in ("multiple_choice_answer", "answer"):
            if field not in self.columns:
                continue
            column = self.columns[field]
            if not isinstance(column, list) and not any(w in str(column.type) for w in ("string", "null")):
                column = column.to_pylist()
            if isinstance(column, list):
                for row, value in enumerate(column):
                    if not isinstance(value, str | bool | int | None):
                        raise self.refuse(row, f"its {field} must be text or a whole number, not {value!r:.80}")
                spelled = [v if isinstance(v, str | None) else spell(v) for v in column]
                column = self._build(field, spelled)
            else:
                column = self.read_texts(field)
            column = _find_blank(column) or column
            found = column if found is None else _coalesce(found, column)
        return self._build("answer", [None] * self.size) if found is None else found

    def read_lists(self, field: str, rows: Any) -> list[Any]:
        column = self.columns.get(field)
        if column is None:
            return [None] * len(rows)
        return [column[k] for k in rows] if isinstance(column, list) else column.take(wrap_numbers(rows)).to_pylist()

    def read_objects(self) -> Any:
        """Lists of kinds; None where no row says anything."""
        import pyarrow as pa

        column, kind = self.columns.get("objects"), pa.list_(pa.large_string())
        if column is None:
            return None
        if not isinstance(column, list):
            if column.null_count == len(column):
                return None
            if not (pa.types.is_list(column.type) or pa.types.is_large_list(column.type)):
                raise self.refuse(0, f"its objects must be a list of text, not {column.type}")
            flat = column.cast(kind)
            if not flat.flatten().null_count:
                return flat
            column = column.to_pylist()
        for row, listed in enumerate(column):
            if listed is not None and not (isinstance(listed, list) and all(isinstance(one, str) for one in listed)):
                raise self.refuse(row, f"its objects must be a list of text, not {listed!r:.80}")
        return build_array(column, kind) if any(listed is not None for listed in column) else None

    def _list_values(self, field: str) -> list[Any]:
        column = self.columns.get(field)
        if column is None:
            return [None] * self.size
        return column if isinstance(column, list) else column.to_pylist()

    def _build(self, field: str, values: Sequence[str | None]) -> Any:
        try:
            return build_array(values, _text_type())
        except UnicodeEncodeError:
            row = next(k for k, v in enumerate(values) if v is not None and v.encode(errors="ignore").decode() != v)
            raise self.refuse(row, f"its {field} has half of a surrogate pair, which is no text") from None


def _find_blank(texts: Any) -> Any:
    """The texts with nothing in place of empty ones; None where there are none."""
    import pyarrow as pa
    import pyarrow.compute as pc

    empty = pc.equal(pc.binary_length(texts), 0)
    return pc.if_else(empty, pa.scalar(None, texts.type), texts) if pc.any(empty).as_py() else None


def _coalesce(first: Any, second: Any) -> Any:
    import pyarrow.compute as pc

    return pc.coalesce(first, second)


# All files at once.


def read_question_table(
    questions: Sequence[Path], annotations: Sequence[Path] = (), splits: Sequence[str] = ()
) -> QuestionTable:
    """The samples of all files, in memory; an audit of more than fit there streams them."""
    columns: dict[str, list[Any]] = {name: [] for name in ("ids", "images", "texts", "answers", "types", "splits")}
    annotators: list[str | None] = []
    unanswered: list[Id] = []
    voted: list[int] = []
    objects: dict[Id, tuple[str, ...] | None] = {}
    rows_say_objects = False
    for path, split in zip(questions, splits or [""] * len(questions), strict=True):
        for rows in iterate_rows(path, split, annotators=True):
            voted += [len(annotators) + k for k in rows.voted]
            unanswered += rows.unanswered
            annotators += rows.annotators.to_pylist()
            batch = {"ids": rows.ids.to_ids(), "images": rows.images.to_ids()}
            for name in ("texts", "answers", "types", "splits"):
                batch[name] = getattr(rows, name).to_pylist()
            rows_say_objects |= rows.objects is not None
            listed = [None] * len(rows) if rows.objects is None else rows.objects.to_pylist()
            _add_image_objects(objects, batch["ids"], batch["images"], listed, path)
            for name, values in batch.items():
                columns[name] += values
    refuse_repeated(columns["ids"])
    if not columns["ids"]:
        raise UserError(f"{questions[0]}: there are no questions with an answer in it")
    typed = any(kind is not None for kind in columns["types"])
    table = build_question_table(
        *(SOURCE, columns["ids"], columns["images"], columns["texts"], [(UNANSWERED, "left out", unanswered)]),
        kept=((VOTED, "most annotators'", voted),),
        typed=(("questions without a type", IN_GROUP_NONE, [k for k, t in enumerate(columns["types"]) if t is None]),)
        if typed
        else (),
        answers=columns["answers"],
        types=columns["types"],
        splits=columns["splits"],
        annotators=annotators,
    )
    if not rows_say_objects:
        return table
    known = ((image, kinds) for image, kinds in objects.items() if kinds is not None)
    return add_objects(table, [build_image_contents(known)])


def refuse_repeated(ids: Sequence[Id]) -> None:
    texts = list(map(str, ids))
    if len(set(texts)) < len(texts):
        raise build_repeat_error(next(one for one, n in Counter(texts).items() if n > 1))


def build_repeat_error(name: str, where: Sequence[Path] = ()) -> UserError:
    files = f" ({', '.join(map(str, where))})" if where else ""
    return UserError(f"question_id {name} stands for two rows{files}; an id must be of one row in all the files")


def build_objects_error(image: Id) -> UserError:
    return UserError(f"image {image} has other objects in one row than in another")


def _add_image_objects(
    objects: dict[Id, tuple[str, ...] | None], ids: list[Id], images: list[Id | None], listed: list[Any], path: Path
) -> None:
    for one, image, kinds in zip(ids, images, listed, strict=True):
        if image is None:
            if kinds is not None:
                raise UserError(f"{path}: question {one} names objects, but no image_id")
            continue
        now = None if kinds is None else tuple(sorted(set(kinds)))
        if objects.setdefault(image, now) != now:
            raise build_objects_error(image)
