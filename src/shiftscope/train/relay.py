"""Relay: what processes that train side by side tell of their progress, as one bar and one log."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..folder import Folder, open_folder
from ..trainable import ProgressCallback

LOG = "training.jsonl"
LogRows = dict[str, list[dict[str, Any]]]  # by stage, one an epoch


@dataclass(slots=True)
class StageRelay:
    folder: Folder
    tell: ProgressCallback
    done: dict[str, tuple[int, int, str]]  # by stage: steps, of how many, words
    rows: LogRows


_relays: dict[Path, StageRelay] = {}  # by the folder that is trained in


@contextmanager
def open_relay(relay: StageRelay) -> Iterator[None]:
    _relays[relay.folder.path] = relay
    try:
        yield
    finally:
        del _relays[relay.folder.path]


def relay_progress(folder: Path, stage: str, done: int, total: int, words: str) -> None:
    relay = _relays[folder]
    relay.done[stage] = (done, total, words)
    shares = [steps / max(of, 1) for steps, of, _ in relay.done.values()]
    said = "; ".join(words for *_, words in relay.done.values() if words)
    relay.tell(round(1000 * sum(shares) / len(shares)), 1000, said)


def relay_log(folder: Path, rows: LogRows) -> None:
    """The whole log anew, so that no epoch stands there twice."""
    relay = _relays.get(folder)
    if relay:
        relay.rows |= rows
    lines = [
        f"{json.dumps(row, ensure_ascii=False)}\n" for some in (relay.rows if relay else rows).values() for row in some
    ]
    open_folder(folder).write_whole(LOG, "".join(lines).encode(), durable=False)
