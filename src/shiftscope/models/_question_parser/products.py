"""Small matrix products: in float32 on a GPU, too small to gain by less; on a processor without oneDNN.

What oneDNN prepares takes far longer than the product: on ARM one of 64 × 96 by 96 × 288 takes 0.14 ms
without it and 0.78 ms with it. Nor do threads gain anything: on two cores that others use too, waiting for
each other made reading four times slower.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch


@contextmanager
def small_products() -> Iterator[None]:
    """Within, products are made so, whatever precision a training asks for around it."""
    backend: Any = torch.backends.mkldnn
    before = backend.enabled
    backend.enabled = False
    try:
        with torch.autocast("cuda", enabled=False):
            yield
    finally:
        backend.enabled = before


@contextmanager
def one_thread(device: torch.device) -> Iterator[None]:
    """Within, a processor works with one thread; a GPU goes on as it does."""
    before = torch.get_num_threads()
    if device.type == "cpu":
        torch.set_num_threads(1)
    try:
        yield
    finally:
        if device.type == "cpu":
            torch.set_num_threads(before)
