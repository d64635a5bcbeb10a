"""Glance: what a stored scene says of its objects, read without making a Scene of it."""

from __future__ import annotations

import json
from functools import cache
from typing import Any, NamedTuple

from ..scene import Pairs


class Glance(NamedTuple):
    """As much as counting needs."""

    id: str
    objects: list[Pairs]  # the attributes of each
    parts: int  # that the objects list, all together


def glance(text: str) -> Glance:
    """The scene in a row of an images file, looked at in passing."""
    decoder = _decoder()
    if decoder is None:
        scene = json.loads(text)
        objects = [tuple((a, v) for a, v in o["attributes"]) for o in scene["objects"]]
        return Glance(scene.get("id", ""), objects, sum(len(o.get("parts", ())) for o in scene["objects"]))
    seen = decoder.decode(text)
    return Glance(seen.id, [o.attributes for o in seen.objects], sum([len(o.parts) for o in seen.objects]))


@cache
def _decoder() -> Any:
    """Skips all else; None where msgspec is not installed."""
    try:
        import msgspec
    except ImportError:
        return None
    pairs = tuple[tuple[str, str], ...]
    thing = msgspec.defstruct("Thing", [("attributes", pairs), ("parts", list[msgspec.Raw], [])])
    scene = msgspec.defstruct("Scene", [("objects", list[thing]), ("id", str, "")])  # type: ignore[valid-type]
    return msgspec.json.Decoder(scene)
