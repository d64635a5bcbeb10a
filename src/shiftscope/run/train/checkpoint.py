"""Checkpoint: where a training stands, in one file, written whole; the same training goes on from it."""

from __future__ import annotations

import io
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...errors import UserError
from ...whole import write_whole

Weights = dict[str, Any]  # a module's state by name


@dataclass(slots=True)
class State:
    """All that a training depends on; randomness is a path of the step, so that there is none to keep."""

    step: int = 0  # done
    module: Weights = field(default_factory=dict)
    average: Weights = field(default_factory=dict)
    optimizer: dict[str, Any] = field(default_factory=dict)
    sums: dict[str, float] = field(default_factory=dict)  # of the losses, in the epoch that is under way
    best: Weights = field(default_factory=dict)  # the averaged weights of the epoch chosen so far
    best_epoch: int = 0
    best_figure: float = float("-inf")
    rows: list[dict[str, Any]] = field(default_factory=list)  # of the log, one an epoch
    seconds: float = 0.0  # of training, over all starts
    done: bool = False


def write_state(path: Path, state: State) -> None:
    import torch

    held = io.BytesIO()
    torch.save({name: getattr(state, name) for name in State.__slots__}, held)
    write_whole(path, held.getbuffer())


def read_state(path: Path) -> State | None:
    """Where the training stands; None where it has not begun."""
    import torch

    if not path.exists():
        return None
    try:
        found = torch.load(path, map_location="cpu", weights_only=True)
        return State(**found)
    except Exception as error:
        raise UserError(
            f"{path} is damaged ({type(error).__name__}); delete it, and training begins anew there"
        ) from None


def hold_to(path: Path, spec: dict[str, Any]) -> None:
    """Keep what is trained here beside it, and refuse to go on with anything else."""
    text = json.dumps(spec, ensure_ascii=False, indent=1, sort_keys=True)
    if path.exists():
        try:
            before = json.loads(path.read_text("utf-8"))
        except ValueError:
            raise UserError(f"{path} is damaged; delete the folder {path.parent} to begin anew") from None
        other = unlike(before, json.loads(text))
        if other:
            raise UserError(
                f"{path.parent.parent} holds another training: {other}; name another folder with --out"
            )
        return
    write_whole(path, f"{text}\n".encode())


def unlike(before: Any, now: Any, name: str = "") -> str:
    """The first thing that differs, in words; nothing where all is alike."""
    if isinstance(before, dict) and isinstance(now, dict):
        for key in sorted({*before, *now}):
            found = unlike(before.get(key), now.get(key), f"{name}.{key}" if name else key)
            if found:
                return found
        return ""
    return "" if before == now else f"its {name} is {_short(before)}, not {_short(now)}"


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:59]}…"
