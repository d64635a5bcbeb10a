"""The devices that train: one, or those of the processes that `train --processes` or `accelerate launch` started."""

from __future__ import annotations

import os
import platform
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from ..errors import UserError, unknown

if TYPE_CHECKING:
    import torch

DEVICES = ("auto", "cuda", "cpu")
WAIT_HOURS = 6  # for another process, which may have more data to make; one that died is noticed at once


def make_accelerator(device: str) -> Any:
    """An Accelerator for the device; processes that train together find each other through it."""
    import torch
    from accelerate import Accelerator, DistributedDataParallelKwargs, InitProcessGroupKwargs

    if device not in DEVICES:
        raise unknown("device", device, DEVICES)
    if device == "cuda" and not torch.cuda.is_available():
        raise UserError("torch finds no GPU here; train on the processor with --device cpu")
    cpu = device == "cpu" or not torch.cuda.is_available()
    here = int(os.environ.get("LOCAL_WORLD_SIZE", "1"))
    if not cpu and here > torch.cuda.device_count():
        raise UserError(f"{here} processes need as many GPUs, and torch finds {torch.cuda.device_count()}; start fewer")
    if not cpu:
        torch.backends.cudnn.benchmark = True
        torch.set_float32_matmul_precision("high")
    whole = DistributedDataParallelKwargs(find_unused_parameters=True)  # images without parts train no part head
    patient = InitProcessGroupKwargs(timeout=timedelta(hours=WAIT_HOURS))
    return Accelerator(cpu=cpu, mixed_precision="no" if cpu else "bf16", kwargs_handlers=[whole, patient])


def name_device(device: torch.device) -> str:
    """The machine's own name for it."""
    import torch

    if device.type == "cuda":
        return str(torch.cuda.get_device_name(device))
    return f"cpu ({platform.machine()}, {torch.get_num_threads()} threads)"
