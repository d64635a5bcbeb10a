"""Spool: scenes on their way to other processes, a file a shard, as plain JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from ..scene import Scene


def write_spool(path: Path, scenes: Sequence[Scene]) -> None:
    path.write_text(json.dumps([scene.to_json() for scene in scenes]), "utf-8")


def read_spool(path: Path) -> list[Scene]:
    return [Scene.from_json(one) for one in json.loads(path.read_bytes())]
