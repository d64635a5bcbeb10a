"""Server identity: what an endpoint says of itself, so that responses of two models are never mixed.

`GET /v1/models` lists models; of these, the entry of the model in use counts, or, where none has its
name, the whole list if it is short: a server of one model often takes any name. A server that says nothing,
or answers with an error, has no identity, and nothing is concluded from that.
"""

import json
import math
from collections.abc import Mapping
from typing import Any

from .model import ServerIdentity, replace_surrogates

FIELDS = ("root", "parent", "owned_by", "max_model_len", "created")
WEIGHTS = ("n_params", "n_vocab", "n_embd", "size")  # llama.cpp's `meta`, where an alias hides the file
SHORT_LIST = 8  # models; a longer list without the one in use says nothing of it
LONGEST_FIELD = 200  # characters


def read_listing(data: bytes, model: str) -> ServerIdentity | None:
    """What a listing says of the model; nothing where it is of another form, None where it is no JSON."""
    try:
        listing = json.loads(data)
    except (ValueError, RecursionError):
        return None
    try:
        named = {_keep_scalar(entry["id"]): entry for entry in listing["data"]}
    except (KeyError, TypeError):
        return {}
    if model in named:
        named = {model: named[model]}
    elif len(named) > SHORT_LIST:
        return {}
    return {str(name): _describe_entry(entry) for name, entry in sorted(named.items(), key=str) if name is not None}


def _describe_entry(entry: Mapping[str, Any]) -> dict[str, Any]:
    meta = entry.get("meta")
    weights = {name: meta.get(name) for name in WEIGHTS} if isinstance(meta, dict) else {}
    fields = {name: _keep_scalar(value) for name, value in ({n: entry.get(n) for n in FIELDS} | weights).items()}
    return {name: value for name, value in fields.items() if value is not None}


def _keep_scalar(value: Any) -> str | int | float | None:
    """A name or a number; anything else is nothing."""
    if isinstance(value, str):
        return replace_surrogates(value[:LONGEST_FIELD])
    if type(value) is int:
        return value if abs(value) < 1 << 62 else None
    return value if type(value) is float and math.isfinite(value) else None


def intersect_identities(first: ServerIdentity, second: ServerIdentity) -> ServerIdentity:
    """What two requests say alike: some servers put the current time into `created`."""
    return {
        name: {field: value for field, value in entry.items() if second[name].get(field) == value}
        for name, entry in first.items()
        if name in second
    }


def identities_differ(one: ServerIdentity, other: ServerIdentity) -> bool:
    """Whether two servers cannot be one; a field that only one of them has says nothing."""
    if not one or not other:
        return False
    if one.keys() != other.keys():
        return True
    return any(fields[f] != other[name][f] for name, fields in one.items() for f in fields.keys() & other[name])


def format_identity(identity: ServerIdentity) -> str:
    """For a sentence: `majority (owned_by shiftscope, root 3f2a)`."""
    listed = {name: ", ".join(f"{field} {value}" for field, value in entry.items()) for name, entry in identity.items()}
    return " and ".join(f"{name} ({fields})" if fields else name for name, fields in listed.items()) or "nothing"
