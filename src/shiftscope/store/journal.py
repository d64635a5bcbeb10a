"""Journal: the shards finished since the build began, one line each, until the manifest takes them in."""

from __future__ import annotations

import json
import os
from pathlib import Path

from ..whole import writing
from .shard import Shard

NAME = ".journal.jsonl"


def record(folder: Path, shard: Shard) -> None:
    """Add a finished shard; once this returns, a kill does not lose it."""
    path = folder / NAME
    line = json.dumps(shard.to_json(), separators=(",", ":")) + "\n"
    with writing(path), path.open("a", encoding="utf-8") as file:
        file.write(line)
        file.flush()
        os.fsync(file.fileno())


def recorded(folder: Path) -> list[Shard]:
    """The shards of the journal; a line cut short by a kill ends it and is cut off."""
    path = folder / NAME
    if not path.is_file():
        return []
    data = path.read_bytes()
    lines = data[: data.rfind(b"\n") + 1].splitlines(keepends=True)
    shards = []
    for line in lines:
        try:
            shards.append(Shard.from_json(json.loads(line)))
        except (ValueError, KeyError, TypeError):
            break
    good = sum(map(len, lines[: len(shards)]))
    if good < len(data):
        with writing(path):
            os.truncate(path, good)
    return shards


def close(folder: Path) -> None:
    (folder / NAME).unlink(missing_ok=True)
