"""One spelling per value, so that equal content has an equal id on every machine."""

from __future__ import annotations

import json
from hashlib import blake2b
from math import isfinite
from typing import Any


def canonical_json(data: Any) -> str:
    """Sorted keys, no spaces, shortest exact numbers (2, not 2.0); NaN and infinity are refused."""
    return json.dumps(
        _plain(data), sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )


def content_id(data: Any) -> str:
    """32 hexadecimal digits that name this content."""
    text = canonical_json(data).encode(errors="surrogatepass")  # the name of a file may be no UTF-8
    return blake2b(text, digest_size=16).hexdigest()


def read_json(data: bytes) -> Any:
    """The JSON value in the bytes, all its numbers finite; a ValueError says what is wrong with it."""

    def number(text: str) -> float:
        value = float(text)
        if not isfinite(value):
            raise ValueError(f"the number {text} is out of range")
        return value

    try:
        return json.loads(data, parse_float=number, parse_constant=number)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _plain(data: Any) -> Any:
    """Whole floats as ints: they are equal, so they must read the same."""
    if isinstance(data, float):
        return int(data) if data.is_integer() else data
    if isinstance(data, dict):
        return {key: _plain(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [_plain(value) for value in data]
    return data
