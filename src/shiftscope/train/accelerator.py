"""The devices that train: one, or those of the processes that `accelerate launch` started."""

from __future__ import annotations

import platform
from typing import TYPE_CHECKING, Any

from ..errors import UserError, unknown

if TYPE_CHECKING:
    import torch

DEVICES = ("auto", "cuda", "cpu")


def make_accelerator(device: str) -> Any:
    """An Accelerator for the device; processes started by `accelerate launch` find each other through it."""
    import torch
    from accelerate import Accelerator, DistributedDataParallelKwargs

    if device not in DEVICES:
        raise unknown("device", device, DEVICES)
    if device == "cuda" and not torch.cuda.is_available():
        raise UserError("torch finds no GPU here; train on the processor with --device cpu")
    cpu = device == "cpu" or not torch.cuda.is_available()
    if not cpu:
        torch.backends.cudnn.benchmark = True
        torch.set_float32_matmul_precision("high")
    whole = DistributedDataParallelKwargs(find_unused_parameters=True)  # images without parts train no part head
    return Accelerator(cpu=cpu, mixed_precision="no" if cpu else "bf16", kwargs_handlers=[whole])


def name_device(device: torch.device) -> str:
    """The machine's own name for it."""
    import torch

    if device.type == "cuda":
        return str(torch.cuda.get_device_name(device))
    return f"cpu ({platform.machine()}, {torch.get_num_threads()} threads)"
