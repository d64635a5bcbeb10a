"""What every stored record needs: one JSON spelling per value, an id of its content, and cheap pickling."""

import copyreg
import json
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from functools import cache, partial
from hashlib import blake2b
from math import isfinite
from operator import attrgetter
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Self, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from .errors import UserError, unknown

T = TypeVar("T")


def canonical_json(data: Any) -> str:
    """Sorted keys, no spaces, shortest exact numbers (2, not 2.0); NaN and infinity are refused."""
    exact = _normalize_numbers(data)
    return json.dumps(exact, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def content_id(data: Any) -> str:
    """32 hexadecimal digits that name this content."""
    text = canonical_json(data).encode(errors="surrogatepass")  # the name of a file may be no UTF-8
    return blake2b(text, digest_size=16).hexdigest()


def parse_finite(text: str) -> float:
    """A number as JSON writes it; one beyond a float's range, NaN and infinity are refused."""
    value = float(text)
    if not isfinite(value):
        raise ValueError(f"the number {text} is out of range")
    return value


def read_json(data: bytes) -> Any:
    """The JSON value in the bytes, all its numbers finite; a ValueError says what is wrong with it."""
    try:
        return json.loads(data, parse_float=parse_finite, parse_constant=parse_finite)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _normalize_numbers(data: Any) -> Any:
    """Whole floats as ints: they are equal, so they must read the same."""
    if isinstance(data, float):
        return int(data) if data.is_integer() else data
    if isinstance(data, dict):
        return {key: _normalize_numbers(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [_normalize_numbers(value) for value in data]
    return data


def pickle_by_fields(record: type[T]) -> type[T]:
    """Pickle a record by its constructor; what `dataclass` gives one with slots is nearly twice as slow."""
    names = [f.name for f in fields(record) if f.init]  # type: ignore[arg-type]
    read = attrgetter(*names)
    if len(names) == 1:
        copyreg.pickle(record, lambda one: (record, (read(one),)))
    else:
        copyreg.pickle(record, lambda one: (record, read(one)))
    return record


# Records as JSON: what the fields of a frozen dataclass say, and no more. A field's record is written and read by
# its own `to_json` and `from_json` where it defines them.

AS_OBJECT = "as object"  # Annotated[tuple[tuple[str, T], ...], AS_OBJECT]: pairs that stand in JSON as an object
Convert = Callable[[Any], Any]


# name, whether it is required, encoder (None: the value is its own JSON), decoder
_Field = tuple[str, bool, Convert | None, Convert]


def to_json(record: Any) -> dict[str, Any]:
    """Plain JSON data of a frozen dataclass, in the order of its fields."""
    data = {}
    for name, _, encode, _ in _list_fields(cast(Any, type(record))):
        value = getattr(record, name)
        data[name] = value if encode is None or value is None else encode(value)
    return data


def from_json(record: type[T], data: Any, what: str = "") -> T:
    """The record that `to_json` wrote; a field with a default may be missing, and no other may be there.

    Numbers, words and lists are checked against the types of the fields; `what` names the record in errors.
    """
    what = what or record.__name__
    listed = _list_fields(cast(Any, record))
    if not isinstance(data, Mapping):
        raise UserError(f"{what}: expected an object, got {_shorten(data)}")
    values = {}
    for name, required, _, decode in listed:
        if name in data:
            try:
                values[name] = decode(data[name])
            except UserError as error:
                raise UserError(f"{what}: {name}: {error}") from None
        elif required:
            raise UserError(f"{what}: there is no {name!r} in it")
    if len(values) < len(data):
        raise unknown("field", str(next(key for key in data if key not in values)), [f[0] for f in listed], what)
    return record(**values)


class JsonRecord:
    """A frozen dataclass that is written and read by its fields."""

    __slots__ = ()

    def to_json(self) -> dict[str, Any]:
        return to_json(self)

    @classmethod
    def from_json(cls, data: Any) -> Self:
        return from_json(cls, data)


@cache
def _list_fields(record: Any) -> tuple[_Field, ...]:
    types = get_type_hints(record, include_extras=True)
    listed = []
    for entry in fields(record):
        if entry.init:
            required, kind = entry.default is entry.default_factory is MISSING, types[entry.name]
            listed.append((entry.name, required, _encoder(kind), _decoder(kind)))
    return tuple(listed)


def _encoder(kind: Any) -> Convert | None:
    """What makes JSON of a value of this type; None where the value is JSON already."""
    origin, args = get_origin(kind), get_args(kind)
    if origin is Annotated:
        inner = _encoder(get_args(args[0])[0])
        if AS_OBJECT not in args[1:]:
            return _encoder(args[0])
        return lambda pairs: {str(k): v for k, v in (map(inner, pairs) if inner else pairs)}
    if origin in (Union, UnionType):
        encoders = [e for k in args if (e := _encoder(k)) is not None]
        if len(encoders) > 1:
            raise TypeError(f"{kind}: JSON of a union of records is not defined by its fields")
        if not encoders:
            return None
        encode = encoders[0]
        return lambda v: v if type(v) in _PLAIN else encode(v)
    if origin in (tuple, list, set, frozenset, Sequence):
        each = [_encoder(k) for k in args if k is not ...]
        order: Any = sorted if origin in (set, frozenset) else list
        if not any(each):
            return order  # type: ignore[no-any-return]
        if len(each) == 1:
            return lambda values: [*map(each[0], order(values))]  # type: ignore[arg-type]
        return lambda values: [v if e is None else e(v) for e, v in zip(each, values, strict=True)]
    if origin in (dict, Mapping):
        inner = _encoder(args[1])
        return lambda v: {str(key): inner(one) if inner else one for key, one in v.items()}
    if isinstance(kind, type) and issubclass(kind, Enum | Path):
        return attrgetter("value") if issubclass(kind, Enum) else str
    if is_dataclass(kind):
        return getattr(kind, "to_json", to_json)
    return None


_PLAIN = (str, int, float, bool, type(None))
_NAMES = {str: "text", int: "a whole number", float: "a number", bool: "true or false"}


def _decoder(kind: Any) -> Convert:
    """What makes a value of this type of JSON, or raises a UserError."""
    origin, args = get_origin(kind), get_args(kind)
    if origin is Annotated:
        if AS_OBJECT not in args[1:]:
            return _decoder(args[0])
        pair = _decoder(get_args(args[0])[0])
        return lambda v: tuple(map(pair, _expect(Mapping, "an object", v).items()))
    if origin in (Union, UnionType):
        return _union_decoder(args)
    if origin is Literal:
        return _choice_decoder({value: value for value in args})
    if origin is tuple and ... not in args:
        return _row_decoder(args)
    if origin in (tuple, list, set, frozenset, Sequence):
        inner, build = _decoder(args[0]), tuple if origin is Sequence else origin
        return lambda v: build(map(inner, _expect((list, tuple), "a list", v)))
    if origin in (dict, Mapping):
        key, inner = int if args[0] is int else str, _decoder(args[1])
        return lambda v: {key(k): inner(one) for k, one in _expect(Mapping, "an object", v).items()}
    if kind in _NAMES:
        return _scalar_decoder(kind)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return _choice_decoder({choice.value: choice for choice in kind})
    if isinstance(kind, type) and issubclass(kind, Path):
        return lambda v: Path(_expect(str, "a path", v))
    if is_dataclass(kind):
        return getattr(kind, "from_json", None) or partial(from_json, cast(Any, kind))
    return lambda value: value


def _scalar_decoder(kind: type) -> Convert:
    accepted = (float, int) if kind is float else (kind,)

    def decode(value: Any) -> Any:
        if type(value) not in accepted:
            raise UserError(f"expected {_NAMES[kind]}, got {_shorten(value)}")
        return kind(value)

    return decode


def _row_decoder(kinds: Sequence[Any]) -> Convert:
    decoders = [*map(_decoder, kinds)]

    def decode(values: Any) -> Any:
        if len(_expect((list, tuple), "a list", values)) != len(decoders):
            raise UserError(f"expected {len(decoders)} values, got {_shorten(values)}")
        return tuple(decode(value) for decode, value in zip(decoders, values, strict=True))

    return decode


def _choice_decoder(choices: Mapping[Any, Any]) -> Convert:
    def decode(value: Any) -> Any:
        if not isinstance(value, Hashable) or value not in choices:
            raise UserError(f"expected one of {', '.join(map(repr, choices))}, got {_shorten(value)}")
        return choices[value]

    return decode


def _union_decoder(kinds: Sequence[Any]) -> Convert:
    """The first of the types that fits; a union with None and one other says what that other expects."""
    decoders = [_decoder(kind) for kind in kinds if kind is not NoneType]
    optional = NoneType in kinds

    def decode(value: Any) -> Any:
        if value is None and optional:
            return None
        for decode in decoders[:-1]:
            try:
                return decode(value)
            except UserError:
                continue
        return decoders[-1](value)

    return decode


def _expect(kinds: Any, noun: str, value: Any) -> Any:
    if not isinstance(value, kinds):
        raise UserError(f"expected {noun}, got {_shorten(value)}")
    return value


def _shorten(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
