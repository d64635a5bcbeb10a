"""One spelling per value, so that equal content has an equal id on every machine."""

from __future__ import annotations

import json
from hashlib import blake2b
from typing import Any


def canonical_json(data: Any) -> str:
    """Sorted keys, no spaces, shortest exact numbers (2, not 2.0); NaN and infinity are refused."""
    return json.dumps(
        _plain(data), sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )


def content_id(data: Any) -> str:
    """32 hexadecimal digits that name this content."""
    return blake2b(canonical_json(data).encode(), digest_size=16).hexdigest()


def _plain(data: Any) -> Any:
    """Whole floats as ints: they are equal, so they must read the same."""
    if isinstance(data, float):
        return int(data) if data.is_integer() else data
    if isinstance(data, dict):
        return {key: _plain(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [_plain(value) for value in data]
    return data
