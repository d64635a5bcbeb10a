"""Raw rows: the elements of a JSON file's list as they are written, to be copied without being understood."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..errors import UserError
from ..formats import _json

QUESTIONS, ANNOTATIONS = "questions", "annotations"


def raw_rows(path: Path, key: str | None = None) -> Sequence[Any]:
    """The rows of a bare list, or of the list under `key` of an object: questions or annotations.

    Without a key it is the one of the two that the file has.

    Each is bytes-like (a view into the file where msgspec is installed), in the order `Origin` counts.
    """
    data = _json.read_bytes(path)
    bare = _json.first_mark(data[:64]) == b"["
    try:
        import msgspec
    except ImportError:
        return _plain(data, path, None if bare else key)
    with _json.reading(data, path):
        if bare:
            return msgspec.json.decode(data, type=list[msgspec.Raw])
        if key is not None:  # in one pass; where the file has no such list, the two passes below say so
            whole = msgspec.defstruct("Whole", [(key, list[msgspec.Raw] | None, None)])
            rows: Sequence[Any] | None = getattr(msgspec.json.decode(data, type=whole), key)
            if rows is not None:
                return rows
        fields = msgspec.json.decode(data, type=dict[str, msgspec.Raw])
        return msgspec.json.decode(fields[_key(fields, key, path)], type=list[msgspec.Raw])


def _plain(data: bytes, path: Path, key: str | None) -> list[bytes]:
    import json

    whole = _json.decode(data, path)
    rows = whole if isinstance(whole, list) else whole[_key(whole, key, path)]
    return [json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode() for row in rows]


def _key(fields: dict[str, Any], key: str | None, path: Path) -> str:
    found = [name for name in ((key,) if key else (QUESTIONS, ANNOTATIONS)) if name in fields]
    if len(found) == 1:
        return found[0]
    if found:
        raise UserError(f"{path}: it has both questions and annotations; say which are meant")
    raise UserError(f"{path}: there is no {key or QUESTIONS!r} in it")
