"""Checkpoint: where a training stands, in one file, written whole; training resumes from it.

The file is in safetensors: all tensors by number, and how they belong together as JSON in a tensor of bytes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..errors import UserError
from ..files import encode_utf8
from ..folder import Folder

if TYPE_CHECKING:
    import torch

PLAN = "plan"
SPEC_FILE = "spec.json"
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

    @property
    def figures(self) -> list[float]:
        """What each epoch was judged by."""
        return [row["figure"] for row in self.rows]


def write_state(folder: Folder, name: str, state: TrainState) -> None:
    import torch
    from safetensors.torch import save

    tensors: dict[str, torch.Tensor] = {}
    plan = json.dumps({name: _flatten_state(getattr(state, name), tensors) for name in TrainState.__slots__})
    tensors[PLAN] = torch.frombuffer(bytearray(plan.encode()), dtype=torch.uint8)
    folder.write_whole(f"{name}.safetensors", save(tensors))


def read_state(folder: Folder, name: str) -> TrainState | None:
    """Where the training of that name stands; None where it has not begun."""
    from safetensors.torch import load

    try:
        tensors = load(folder.read(f"{name}.safetensors"))
        plan = json.loads(bytes(tensors.pop(PLAN).tolist()))
        return TrainState(**{name: _restore_state(value, tensors) for name, value in plan.items()})
    except FileNotFoundError:
        return None
    except Exception as error:
        path, kind = folder.path / f"{name}.safetensors", type(error).__name__
        raise UserError(f"{path} is damaged ({kind}); delete it, and training begins anew there") from None


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
    restored = [_restore_state(one, tensors) for one in listed]
    return tuple(restored) if kind == "tuple" else restored


def claim_spec(folder: Folder, spec: dict[str, Any]) -> None:
    """Keep what is trained beside its checkpoints, and refuse to resume anything else."""
    text = json.dumps(spec, ensure_ascii=False, indent=1, sort_keys=True)
    try:
        before = json.loads(folder.read(SPEC_FILE))
    except FileNotFoundError:
        folder.write_whole(SPEC_FILE, encode_utf8(f"{text}\n"))
        return
    except ValueError:
        path = folder.path
        raise UserError(f"{path / SPEC_FILE} is damaged; delete the folder {path} to begin anew") from None
    other = find_difference(before, json.loads(text))
    if other:
        raise UserError(f"{folder.path.parent} holds another training: {other}; name another folder with --out")


def find_difference(before: Any, now: Any, name: str = "") -> str:
    """The first thing that differs, in words; nothing where all is alike."""
    if isinstance(before, dict) and isinstance(now, dict):
        for key in sorted({*before, *now}):
            found = find_difference(before.get(key), now.get(key), f"{name}.{key}" if name else key)
            if found:
                return found
        return ""
    old, new = (json.dumps(value, ensure_ascii=False) for value in (before, now))
    old, new = (text if len(text) <= 60 else f"{text[:59]}…" for text in (old, new))
    return "" if before == now else f"its {name} is {old}, not {new}"
