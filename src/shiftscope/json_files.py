"""JSON files: streamed, sniffed, decoded into columns, and refused in one sentence.

Records are read with the standard library, one element of a long list at a time. Columns (`decode_rows`), of
which an audit reads millions of values, are decoded by msgspec.
"""

import gzip
import json
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from operator import attrgetter
from pathlib import Path
from typing import Any, TypeVar

from .errors import UserError
from .files import read_bytes, write_whole
from .records import parse_finite
from .row_texts import locate_rows

T = TypeVar("T")
MAX_COORDINATE = 1e6  # units of a scene, or pixels; anything beyond is a slip
_DATA_ERRORS = (UserError, KeyError, TypeError, ValueError, AttributeError, IndexError, ArithmeticError)


@contextmanager
def explain_json_errors(data: bytes, path: Path) -> Iterator[None]:
    """Say in one sentence why the JSON cannot be read."""
    try:
        yield
    except UserError:
        raise
    except (ValueError, RecursionError) as error:
        text = str(error).removeprefix("JSON is malformed: ")
        unfinished = text.startswith(("Expecting", "Unterminated")) and data.rstrip()[-1:] not in b"]}"
        if isinstance(error, RecursionError) or "nested too deeply" in text:
            why = "it is nested too deeply"
        elif not data.strip():
            why = "the file is empty"
        elif "truncated" in text or unfinished:
            why = f"it ends too early, after {len(data):,} bytes"
        else:
            why = text[0].lower() + text[1:]
        raise UserError(f"{path}: not valid JSON, {why}") from None


@contextmanager
def locate_errors(where: str) -> Iterator[None]:
    """Say where in a file something is not as it should be: `FILE: scene 3`."""
    try:
        yield
    except _DATA_ERRORS as error:
        raise _locate(error, where) from None


def _locate(error: Exception, where: str) -> UserError:
    if isinstance(error, UserError):
        return UserError(f"{where}: {error}")
    return UserError(f"{where} is malformed: {f'there is no {error} in it' if isinstance(error, KeyError) else error}")


def parse_records(
    rows: Iterable[tuple[str, Any]], parse: Callable[..., T], path: Path, what: str, id_field: str = "id"
) -> Iterator[T]:
    """The records of rows (place in the file, arguments to `parse`); two under one id, or none at all, are refused."""
    seen: set[str] = set()
    for place, arguments in rows:
        try:
            record = parse(*arguments)
        except _DATA_ERRORS as error:
            raise _locate(error, f"{path}: {place}") from None
        name = getattr(record, id_field)
        if name in seen:
            raise UserError(f"{path}: question {name} appears twice")
        seen.add(name)
        yield record
    if not seen:
        raise UserError(f"{path}: there are no {what} in it")


def is_number(value: Any) -> bool:
    """Whether it can be a coordinate: a number, and none so far off that sums of such overflow."""
    return type(value) in (int, float) and -MAX_COORDINATE <= value <= MAX_COORDINATE


def is_image_side(value: Any) -> bool:
    """Whether it can be the width or height of an image, in pixels."""
    return type(value) is int and 0 < value <= MAX_COORDINATE


def describe_limit(*values: Any) -> str:
    """What a complaint about these numbers adds where one of them is too large; else nothing."""
    large = any(type(value) in (int, float) and not is_number(value) for value in values)
    return f" ({MAX_COORDINATE:,.0f} at most)" if large else ""


def refuse_repeated_ids(ids: Iterable[str], what: str, path: Path) -> None:
    seen: set[str] = set()
    for one in ids:
        if one in seen:
            raise UserError(f"{path}: {what} {one!r} appears twice")
        seen.add(one)


# Records: the standard library reads JSON value by value.

_skip_blanks = re.compile(r"[ \t\n\r]*").match


class RepeatedKeyError(KeyError):
    """An object has two values under one key."""


def _refuse_repeated_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        raise RepeatedKeyError(next(k for k in keys if keys.count(k) > 1))
    return found


_NUMBERS: Any = {"parse_float": parse_finite, "parse_constant": parse_finite}
_DECODER = json.JSONDecoder(**_NUMBERS)
_CHECKING_DECODER = json.JSONDecoder(**_NUMBERS, object_pairs_hook=_refuse_repeated_keys)


class JsonText:
    """JSON text that is read value by value from the front; ValueError where it is malformed."""

    def __init__(self, data: bytes, decoder: json.JSONDecoder = _DECODER, errors: str = "strict") -> None:
        self.text, self.at = data.decode(errors=errors), 0
        self._scan = decoder.scan_once  # type: ignore[attr-defined]
        self._has_surrogates = b"\\ud" in data or b"\\uD" in data

    def peek(self) -> str:
        """The next character that is not blank."""
        self.at = _skip_blanks(self.text, self.at).end()  # type: ignore[union-attr]
        return self.text[self.at : self.at + 1]

    def take(self, character: str) -> None:
        if self.peek() != character:
            raise json.JSONDecodeError(f"Expecting {character!r}", self.text, self.at)
        self.at += 1

    def read_value(self) -> Any:
        try:
            value, self.at = self._scan(self.text, _skip_blanks(self.text, self.at).end())  # type: ignore[union-attr]
        except StopIteration as error:
            raise json.JSONDecodeError("Expecting value", self.text, error.value) from None
        if self._has_surrogates:
            json.dumps(value, ensure_ascii=False).encode()  # refuses half of a surrogate pair
        return value

    def read_elements(self) -> Iterator[Any]:
        """The elements of the list that comes next."""
        self.take("[")
        if self.peek() != "]":
            yield self.read_value()
            while self.peek() == ",":
                self.at += 1
                yield self.read_value()
        self.take("]")

    def skip_value(self) -> None:
        """Pass over a value; a list element by element, so that it is never held whole."""
        if self.peek() == "[":
            deque(self.read_elements(), maxlen=0)
        else:
            self.read_value()

    def read_keys(self) -> Iterator[str]:
        """The keys of the object that comes next; the caller reads each one's value before the next."""
        self.take("{")
        more = self.peek() != "}"
        while more:
            if self.peek() != '"':
                raise json.JSONDecodeError("Expecting property name enclosed in double quotes", self.text, self.at)
            key = self.read_value()
            self.take(":")
            yield key
            if more := self.peek() == ",":
                self.at += 1
        self.take("}")

    def finish(self) -> None:
        if self.peek():
            raise json.JSONDecodeError("Extra data", self.text, self.at)


def parse_json(data: bytes) -> Any:
    """The JSON value in the bytes, its numbers finite and without half of a surrogate pair, or a ValueError."""
    text = JsonText(data)
    value = text.read_value()
    text.finish()
    return value


def decode_json(data: bytes, path: Path) -> Any:
    """The JSON value in the bytes, or one sentence about what is wrong with it."""
    with explain_json_errors(data, path):
        return parse_json(data)


def load_json(path: Path) -> Any:
    return decode_json(read_bytes(path), path)


def first_byte(data: bytes) -> bytes:
    """The first byte that is not blank."""
    return data[:64].lstrip()[:1] or data.lstrip()[:1]


def iterate_elements(data: bytes, key: str | None, path: Path) -> Iterator[Any]:
    """The elements of the list at top level, or under `key` of the object there, one at a time."""
    with explain_json_errors(data, path):
        text = JsonText(data)
        if (start := text.peek()) == "[":
            yield from text.read_elements()
        elif start == "{" and key is not None:
            found = 0
            for name in text.read_keys():
                found += name == key
                if name != key:
                    text.skip_value()
                elif found > 1:
                    raise UserError(f"{path}: key {key!r} appears twice")
                elif text.peek() != "[":
                    raise UserError(f"{path}: expected a list under {key!r}")
                else:
                    yield from text.read_elements()
            if not found:
                raise UserError(f"{path}: there is no {key!r} in it")
        else:
            text.read_value()
            raise UserError(f"{path}: expected {'a list' if key is None else 'an object or a list'} at top level")
        text.finish()


def iterate_entries(data: bytes, path: Path) -> Iterator[tuple[str, Any]]:
    """The (key, value) entries of the object at top level, one at a time; no key may be used twice."""
    seen: set[str] = set()
    try:
        with explain_json_errors(data, path):
            text = JsonText(data, _CHECKING_DECODER)
            if text.peek() != "{":
                text.read_value()
                raise UserError(f"{path}: expected an object at top level")
            for key in text.read_keys():
                if key in seen:
                    raise RepeatedKeyError(key)
                seen.add(key)
                yield key, text.read_value()
            text.finish()
    except RepeatedKeyError as error:
        raise UserError(f"{path}: key {error} appears twice") from None


def write_json(path: Path, value: Any) -> None:
    """Write JSON whole or not at all; `.gz` is gzipped."""
    write_text(path, json.dumps(value, ensure_ascii=False, allow_nan=False))


def write_text(path: Path, text: str) -> None:
    """Write text whole or not at all; `.gz` is gzipped."""
    data = text.encode()
    write_whole(path, gzip.compress(data, mtime=0) if path.suffix == ".gz" else data)


# Sniffing: what a file begins with tells which official format it is in.

HEAD_BYTES = 4 << 20
OUTLINE_ENTRIES = 50  # entries of an object that an outline keeps
OUTLINE_ELEMENTS = 100  # an outline ends with the first list that is longer


@dataclass(frozen=True)
class InputFile:
    """A file or folder whose format is not known yet; only the beginning of a file is read."""

    path: Path

    @cached_property
    def head(self) -> bytes:
        return b"" if self.path.is_dir() else read_bytes(self.path, HEAD_BYTES)

    @cached_property
    def outline(self) -> Any:
        """Its JSON value as far as the head goes, lists cut to their first element; None if it is no JSON."""
        if b"\0" in self.head:  # Parquet, a tar, a picture
            return None
        with suppress(ValueError, RecursionError):
            return _outline_json(self.head)
        with suppress(ValueError, RecursionError):  # what comes first may be longer than the head
            return _outline_json(read_bytes(self.path)) if len(self.head) >= HEAD_BYTES else None
        return None

    def first_row(self, key: str) -> dict[str, Any]:
        """The first element of the list at top level or under `key`; empty if that is no object."""
        found = self.outline.get(key) if isinstance(self.outline, dict) else self.outline
        return found[0] if isinstance(found, list) and found and isinstance(found[0], dict) else {}

    def first_value(self) -> dict[str, Any]:
        """The first value of the object at top level; empty if that is no object."""
        found = next(iter(self.outline.values()), None) if isinstance(self.outline, dict) else None
        return found if isinstance(found, dict) else {}


def _outline_json(data: bytes) -> Any:
    text = JsonText(data, errors="ignore")  # the last character may be cut
    if text.peek() == "[":
        return list(islice(text.read_elements(), 1))
    if text.peek() != "{":
        return text.read_value()
    cut: dict[str, Any] = {}
    for key in text.read_keys():
        if text.peek() == "[":
            elements = text.read_elements()
            cut[key] = list(islice(elements, 1))
            if next(islice(elements, OUTLINE_ELEMENTS, None), text) is not text:
                return cut
        else:
            cut[key] = text.read_value()
        if len(cut) >= OUTLINE_ENTRIES:
            break
    return cut


# Columns: msgspec decodes some fields of every row, fast.

BLOCK_ROWS = 50  # rows decoded together; more do not stay in the cache
# Field → its type, (type, default), a table of the fields inside it, or a list with the table of its elements.
# What is checked and not kept: lists, and fields with a default that is no None.
FieldTable = dict[str, Any]


@dataclass(frozen=True, slots=True, eq=False)
class JsonRows:
    """The rows of a file: as text, and some of their fields as columns."""

    path: Path
    names: list[str]  # the keys, where the rows are the values of an object
    raw: Sequence[Any]  # [row] bytes-like
    columns: dict[str, list[Any]]  # field → [row]; None in odd rows
    odd: dict[int, Any]  # rows that are not as the table says, as plain JSON
    header: Any  # what stands beside the list under the name given

    def __len__(self) -> int:
        return len(self.raw)

    def fill_odd(self, parsers: Mapping[str, Callable[[Any], Any]], blank: Sequence[str] = ()) -> None:
        """Fill the columns of odd rows with what parses; rows with an empty text in a `blank` column are odd too."""
        for name in blank:
            if "" in self.columns[name]:
                empty = (at for at, value in enumerate(self.columns[name]) if value == "")
                self.odd.update((at, parse_json(bytes(self.raw[at]))) for at in empty)
        for at, row in self.odd.items():
            for name, parse in parsers.items():
                self.columns[name][at] = parse(row.get(name) if isinstance(row, dict) else None)


def require_msgspec() -> Any:
    try:
        import msgspec
    except ImportError:
        raise UserError("an audit of JSON files needs msgspec; install it with: pip install msgspec") from None
    return msgspec


def build_struct(fields: FieldTable) -> Any:
    """The msgspec type of an object with these fields; others are skipped."""
    listed: list[Any] = []
    for name, kind in fields.items():
        if isinstance(kind, dict):
            listed.append((name, build_struct(kind) | None, None))
        elif isinstance(kind, list):
            listed.append((name, list[build_struct(kind[0])]))  # type: ignore[misc]
        else:
            listed.append((name, *kind) if isinstance(kind, tuple) else (name, kind))
    return require_msgspec().defstruct("Row", listed, gc=False, kw_only=True)


def decode_rows(path: Path, key: str | None, fields: FieldTable, header: str = "") -> JsonRows:
    """The rows of a bare list or of the list under `key`; without a key, the values of the object at top level."""
    require_msgspec()
    import msgspec

    data = read_bytes(path)
    rows: Any
    start, beside, names = first_byte(data), None, []
    if start not in ((b"{",) if key is None else (b"[", b"{")):
        decode_json(data, path)
        raise UserError(f"{path}: expected {'an object' if key is None else 'an object or a list'} at top level")
    with explain_json_errors(data, path):
        if key is None:
            found = msgspec.json.decode(data, type=dict[str, msgspec.Raw])
            names, rows = list(found), list(found.values())
            if data.count(f'"{next(iter(fields))}"'.encode()) != len(names):
                deque(iterate_entries(data, path), maxlen=0)  # refuses a key that is used twice
        elif start == b"[":
            rows = msgspec.json.decode(data, type=list[msgspec.Raw])
        else:
            beside_list = [(header, Any, None)] if header else []
            whole = msgspec.defstruct("Whole", [(key, list[msgspec.Raw] | None, None), *beside_list])
            decoded = msgspec.json.decode(data, type=whole)
            rows, beside = getattr(decoded, key), getattr(decoded, header, None)
            if rows is None:
                raise UserError(f"{path}: there is no {key!r} in it")
        columns: dict[str, list[Any]] = {name: [] for name, kind in fields.items() if _is_kept(kind)}
        known: dict[Any, Any] = {}  # equal texts are kept once
        odd: dict[int, Any] = {}
        decode = msgspec.json.Decoder(list[build_struct(fields)]).decode  # type: ignore[misc]
        located = locate_rows(data, rows) if key is not None else None
        rows = located or rows
        for at in range(0, len(rows), BLOCK_ROWS):
            last = min(at + BLOCK_ROWS, len(rows))
            block = located.join_rows(at, last) if located else b"[" + b",".join(rows[at:last]) + b"]"
            try:
                made, usual = decode(block), True
            except msgspec.ValidationError:
                made, usual = [], False
                for row in rows[at:last]:
                    try:
                        made += decode(b"[" + bytes(row) + b"]")
                    except msgspec.ValidationError:
                        odd[at + len(made)] = parse_json(bytes(row))
                        made.append(None)
            for name, column in columns.items():
                values = [*map(attrgetter(name), made)] if usual else [getattr(row, name, None) for row in made]
                column += map(known.setdefault, values, values) if fields[name] is str else values
    return JsonRows(path, names, rows, columns, odd, beside)


def _is_kept(kind: Any) -> bool:
    return not isinstance(kind, list) and not (isinstance(kind, tuple) and kind[1] is not None)
