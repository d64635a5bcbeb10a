"""Checkpoint: where a training stands, in one file, written whole; training resumes from it.

The file is in safetensors: all tensors by number, and how they belong together as JSON in a tensor of bytes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import UserError
from ..files import encode_utf8, read_whole, write_whole

if TYPE_CHECKING:
    import torch

PLAN = "plan"
Weights = dict[str, Any]  # a module's state by name


@dataclass(slots=True)
class TrainState:
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


def write_state(path: Path, state: TrainState) -> None:
    import torch
    from safetensors.torch import save

    tensors: dict[str, torch.Tensor] = {}
    plan = json.dumps({name: _flatten_state(getattr(state, name), tensors) for name in TrainState.__slots__})
    tensors[PLAN] = torch.frombuffer(bytearray(plan.encode()), dtype=torch.uint8)
    write_whole(path, save(tensors))


def read_state(path: Path) -> TrainState | None:
    """Where the training stands; None where it has not begun."""
    from safetensors.torch import load

    if not path.exists():
        return None
    try:
        tensors = load(read_whole(path))
        plan = json.loads(bytes(tensors.pop(PLAN).tolist()))
        return TrainState(**{name: _restore_state(value, tensors) for name, value in plan.items()})
    except Exception as error:
        raise UserError(
            f"{path} is damaged ({type(error).__name__}); delete it, and training begins anew there"
        ) from None


def _flatten_state(value: Any, tensors: dict[str, torch.Tensor]) -> Any:
    """Plain JSON data: a tensor stands as its number, a dict as its entries, whose keys may be numbers."""
    import torch

    if isinstance(value, torch.Tensor):
        name = str(len(tensors))
        tensors[name] = value.detach().to("cpu", copy=True).contiguous()
        return {"tensor": name, "stride": list(value.stride())}
    if isinstance(value, dict):
        return {"dict": [[key, _flatten_state(one, tensors)] for key, one in value.items()]}
    if isinstance(value, list | tuple):
        return {type(value).__name__: [_flatten_state(one, tensors) for one in value]}
    if value is None or isinstance(value, str | int | float):
        return value
    raise TypeError(f"a checkpoint cannot keep a {type(value).__name__}")


def _restore_state(value: Any, tensors: Mapping[str, torch.Tensor]) -> Any:
    import torch

    if not isinstance(value, dict):
        return value
    if "tensor" in value:
        found, stride = tensors[value["tensor"]], value["stride"]
        if list(found.stride()) == stride or 0 in stride:
            return found
        # a fused optimizer wants its sums laid out in memory exactly like the weights
        return torch.empty_strided(found.shape, stride, dtype=found.dtype).copy_(found)
    ((kind, listed),) = value.items()
    if kind == "dict":
        return {key: _restore_state(one, tensors) for key, one in listed}
    made = [_restore_state(one, tensors) for one in listed]
    return tuple(made) if kind == "tuple" else made


def claim_spec(path: Path, spec: dict[str, Any]) -> None:
    """Keep what is trained here beside it, and refuse to go on with anything else."""
    text = json.dumps(spec, ensure_ascii=False, indent=1, sort_keys=True)
    if path.exists():
        try:
            before = json.loads(read_whole(path))
        except ValueError:
            raise UserError(f"{path} is damaged; delete the folder {path.parent} to begin anew") from None
        other = find_difference(before, json.loads(text))
        if other:
            raise UserError(f"{path.parent.parent} holds another training: {other}; name another folder with --out")
        return
    write_whole(path, encode_utf8(f"{text}\n"))


def find_difference(before: Any, now: Any, name: str = "") -> str:
    """The first thing that differs, in words; nothing where all is alike."""
    if isinstance(before, dict) and isinstance(now, dict):
        for key in sorted({*before, *now}):
            found = find_difference(before.get(key), now.get(key), f"{name}.{key}" if name else key)
            if found:
                return found
        return ""
    return "" if before == now else f"its {name} is {_shorten(before)}, not {_shorten(now)}"


def _shorten(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:59]}…"
