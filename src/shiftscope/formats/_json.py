"""JSON files, plain or gzipped, read fast and refused clearly.

msgspec reads where it is installed; the standard library does elsewhere (a bare GPU node). Long lists are
streamed: an element becomes Python objects only when it is looked at.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from ..canonical import read_json
from ..errors import UserError
from ..whole import write_whole
from ._bytes import read_bytes as read_bytes

T = TypeVar("T")
FARTHEST = 1e6  # units of a scene, or pixels; anything beyond is a slip
OUTLINED = 50  # entries of an object that an outline keeps

try:
    import msgspec
except ImportError:
    msgspec = None  # type: ignore[assignment]
_DECODER = msgspec.json.Decoder() if msgspec else None


def decode(data: bytes, path: Path) -> Any:
    """The JSON value in the bytes, or one sentence about what is wrong with it."""
    with reading(data, path):
        return msgspec.json.decode(data) if msgspec else _loads(data)


@contextmanager
def reading(data: bytes, path: Path) -> Iterator[None]:
    """Say in one sentence why the JSON can not be read."""
    try:
        yield
    except UserError:
        raise
    except (ValueError, RecursionError) as error:
        raise UserError(f"{path}: not valid JSON, {_why(error, data)}") from None


@contextmanager
def placed(where: str) -> Iterator[None]:
    """Say where in a file something is not as it should be: `FILE: scene 3`."""
    try:
        yield
    except UserError as error:
        raise UserError(f"{where}: {error}") from None
    except KeyError as error:
        raise UserError(f"{where} is malformed: there is no {error} in it") from None
    except (TypeError, ValueError, AttributeError, IndexError, ArithmeticError) as error:
        raise UserError(f"{where} is malformed: {error}") from None


def is_number(value: Any) -> bool:
    """Whether it can be a coordinate: a number, and none so far off that sums of such overflow."""
    return type(value) in (int, float) and -FARTHEST <= value <= FARTHEST


def is_side(value: Any) -> bool:
    """Whether it can be the width or height of an image, in pixels."""
    return type(value) is int and 0 < value <= FARTHEST


def at_most(*values: Any) -> str:
    """What a complaint about these numbers adds where one of them is too large; else nothing."""
    large = any(type(value) in (int, float) and not is_number(value) for value in values)
    return f" ({FARTHEST:,.0f} at most)" if large else ""


def first_mark(data: bytes) -> bytes:
    """The first byte that is not blank."""
    return data[: len(data) - len(data.lstrip()) + 1][-1:] if data.strip() else b""


def load(path: Path) -> Any:
    return decode(read_bytes(path), path)


def elements(data: bytes, key: str | None, path: Path) -> Iterator[Any]:
    """The elements of the list at top level, or under `key` of the object there, one at a time."""
    if msgspec is None:
        found = decode(data, path)
        found = found.get(key) if key is not None and isinstance(found, dict) else found
        if not isinstance(found, list):
            raise UserError(f"{path}: expected a list{f' under {key!r}' if key else ''}")
        yield from found
        return
    with reading(data, path):
        whole: bytes | msgspec.Raw = data
        if key is not None:
            fields = msgspec.json.decode(data, type=dict[str, msgspec.Raw])
            if key not in fields:
                raise UserError(f"{path}: there is no {key!r} in it")
            whole = fields[key]
        rows = msgspec.json.decode(whole, type=list[msgspec.Raw])
    parse = msgspec.json.Decoder().decode
    for row in rows:
        with reading(data, path):
            value = parse(row)
        yield value


def entries(data: bytes, path: Path) -> Iterator[tuple[str, Any]]:
    """The (key, value) entries of the object at top level, one at a time."""
    if msgspec is None:
        found = decode(data, path)
        if not isinstance(found, dict):
            raise UserError(f"{path}: expected an object at top level")
        _refuse_repeated_keys(data, path)
        yield from found.items()
        return
    if first_mark(data) in (b"[", b'"'):
        raise UserError(f"{path}: expected an object at top level")
    with reading(data, path):
        rows = msgspec.json.decode(data, type=dict[str, msgspec.Raw])
    # What a repeated key said is lost in reading: then what was read is shorter than the file.
    if rows and _marks(data) != 1 + sum(
        4 + _marks(name.encode()) + _marks(bytes(r)) for name, r in rows.items()
    ):
        _refuse_repeated_keys(data, path)
    parse, encode = msgspec.json.Decoder().decode, msgspec.json.Encoder().encode
    for name, row in rows.items():
        with reading(data, path):
            value = parse(row)
        if _marks(bytes(row)) != _marks(encode(value)):
            _refuse_repeated_keys(bytes(row), path)
        yield name, value


def parsed(text: bytes) -> Any:
    """The JSON value in the bytes; a ValueError says what is wrong with it."""
    return _DECODER.decode(text) if _DECODER else _loads(text)


def _loads(data: bytes) -> Any:
    """As strict as msgspec: no number beyond a float's range, no NaN, no half of a letter."""
    value = read_json(data)
    if b"\\u" in data:
        json.dumps(value, ensure_ascii=False).encode()
    return value


def _of_kind(kind: type[T], value: Any) -> T:
    if not isinstance(value, kind):
        raise ValueError(f"expected {kind.__name__}, got {type(value).__name__}")
    return value


def raw_elements(data: bytes, path: Path) -> list[bytes]:
    """The elements of the list at top level, none of them parsed."""
    with reading(data, path):
        if msgspec is None:
            return [json.dumps(row).encode() for row in _of_kind(list, _loads(data))]
        return [bytes(row) for row in msgspec.json.decode(data, type=list[msgspec.Raw])]


def raw_entries(data: bytes, path: Path) -> dict[str, bytes]:
    """The entries of the object at top level, none of their values parsed."""
    with reading(data, path):
        if msgspec is None:
            return {key: json.dumps(value).encode() for key, value in _of_kind(dict, _loads(data)).items()}
        rows = msgspec.json.decode(data, type=dict[str, msgspec.Raw])
        return {key: bytes(row) for key, row in rows.items()}


def _marks(data: bytes) -> int:
    """How many bytes are not blank."""
    return len(data.translate(None, b" \t\r\n"))


def _refuse_repeated_keys(data: bytes, path: Path) -> None:
    """Read slowly but exactly; fine if only spellings (1.0, \\u00e9) made the lengths differ."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        unique_ids((key for key, _ in pairs), "key", path)
        return dict(pairs)

    with reading(data, path):
        json.loads(data, object_pairs_hook=once)


def write(path: Path, value: Any) -> None:
    """Write JSON whole or not at all: to a temporary name beside it, then renamed. `.gz` is gzipped."""
    data = json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    if path.suffix == ".gz":
        data = gzip.compress(data, mtime=0)
    write_whole(path, data)


def unique_ids(ids: Iterable[str], what: str, path: Path) -> None:
    """Refuse a file that uses an id twice."""
    seen: set[str] = set()
    for one in ids:
        if one in seen:
            raise UserError(f"{path}: {what} {one!r} appears twice")
        seen.add(one)


def _why(error: Exception, data: bytes) -> str:
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    text = str(error)
    if not data.strip():
        return "the file is empty"
    if "truncated" in text or ("Expecting" in text and data.rstrip()[-1:] not in b"]}"):
        return f"it ends too early, after {len(data):,} bytes"
    text = text.removeprefix("JSON is malformed: ")
    return text[0].lower() + text[1:]


def outline(data: bytes, path: Path) -> Any:
    """The JSON value with its lists cut to their first element, and a long object to its first entries."""
    start = first_mark(data)
    if msgspec is None or start not in (b"[", b"{"):
        return _cut(decode(data, path))
    if start == b"[":
        return list(islice(elements(data, None, path), 1))
    with reading(data, path):
        whole = msgspec.json.decode(data, type=dict[str, msgspec.Raw])
        cut: dict[str, Any] = {}
        for key, row in list(whole.items())[:OUTLINED]:
            if bytes(row)[:1] == b"[":
                rows = msgspec.json.decode(row, type=list[msgspec.Raw])
                cut[key] = [msgspec.json.decode(rows[0])] if rows else []
            else:
                cut[key] = msgspec.json.decode(row)
        return cut


def _cut(value: Any) -> Any:
    if isinstance(value, list):
        return value[:1]
    if isinstance(value, dict):
        return {k: v[:1] if isinstance(v, list) else v for k, v in list(value.items())[:OUTLINED]}
    return value
