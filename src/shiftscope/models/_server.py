"""Server: what an endpoint says of itself, so that the replies of one model are never taken for another's.

`GET /v1/models` lists models; of these, the entry of the model that is asked counts, or, where none has its
name, the whole list if it is short: a server of one model often takes any name. A server that says nothing,
or answers with an error, is silent: it has no identity, and nothing is concluded from that.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from ._model import whole_text

FIELDS = ("root", "parent", "owned_by", "max_model_len", "created")
WEIGHTS = ("n_params", "n_vocab", "n_embd", "size")  # llama.cpp's `meta`, where an alias hides the file
SHORT_LIST = 8  # models; a longer list without the one that is asked says nothing of it
LONGEST_FIELD = 200  # characters

Identity = dict[str, dict[str, Any]]  # by the model's id, what is said of it; empty where nothing is


def is_json(data: bytes) -> bool:
    try:
        json.loads(data)
    except (ValueError, RecursionError):
        return False
    return True


def read_listing(data: bytes, model: str) -> Identity:
    """What a listing says of the model; nothing where it is of another form."""
    try:
        entries = json.loads(data)["data"]
        named = {_plain(entry["id"]): entry for entry in entries}
    except (ValueError, KeyError, TypeError, RecursionError):
        return {}
    if model in named:
        named = {model: named[model]}
    elif len(named) > SHORT_LIST:
        return {}
    return {str(name): _said_of(entry) for name, entry in sorted(named.items(), key=str) if name is not None}


def _said_of(entry: Mapping[str, Any]) -> dict[str, Any]:
    meta = entry.get("meta")
    weights = {name: meta.get(name) for name in WEIGHTS} if isinstance(meta, dict) else {}
    said = {name: _plain(value) for name, value in ({n: entry.get(n) for n in FIELDS} | weights).items()}
    return {name: value for name, value in said.items() if value is not None}


def _plain(value: Any) -> str | int | float | None:
    """A name or a number; anything else is nothing."""
    if isinstance(value, str):
        return whole_text(value[:LONGEST_FIELD])
    if type(value) is int:
        return value if abs(value) < 1 << 62 else None
    return value if type(value) is float and math.isfinite(value) else None


def common(first: Identity, second: Identity) -> Identity:
    """What two requests say alike: some servers put the current time into `created`."""
    return {
        name: {field: value for field, value in said.items() if second[name].get(field) == value}
        for name, said in first.items()
        if name in second
    }


def differ(one: Identity, other: Identity) -> bool:
    """Whether two servers can not be one; what only one of them tells says nothing."""
    if not one or not other:
        return False
    if one.keys() != other.keys():
        return True
    return any(
        said[field] != other[name][field] for name, said in one.items() for field in said.keys() & other[name]
    )


def show(identity: Identity) -> str:
    """For a sentence: `majority (owned_by shiftscope, root 3f2a)`."""
    told = (
        (name, ", ".join(f"{field} {value}" for field, value in said.items()))
        for name, said in identity.items()
    )
    return " and ".join(f"{name} ({said})" if said else name for name, said in told) or "nothing"
