"""image_edit: pictures a second of a training step, with its drawing as it is and compiled by torch.

`python -m benchmarks.image_edit [--device cuda] [--batch 64] [--steps 10]`, on random pictures of 480×320: forward,
backward and the optimiser's step, in bfloat16 where there is a GPU, as `train` does it.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import torch

from shiftscope.models.end_to_end.questions import AnswererConfig
from shiftscope.models.image_edit.config import EditorConfig
from shiftscope.models.image_edit.network import ImageEditor
from shiftscope.models.image_edit.training import SIZES, EditBatch, EditorStage
from shiftscope.train.compile_methods import compile_methods

WORDS = 100
LENGTH = 16  # words of an action
SIDES = (320, 480)
WARM = 3  # steps before the clock starts; the first compiles


def make_batch(size: int, device: str) -> EditBatch:
    random = torch.Generator().manual_seed(0)
    pictures = torch.randint(0, 256, (2, size, *SIDES, 3), dtype=torch.uint8, generator=random).to(device)
    words = torch.randint(3, WORDS, (size, LENGTH), generator=random).to(device)
    return EditBatch(pictures[0], pictures[1], words, torch.full((size,), LENGTH, device=device))


def measure(compiled: bool, batch: EditBatch, device: str, steps: int) -> tuple[float, float]:
    """Pictures a second, and the seconds of the first steps."""
    torch.manual_seed(0)
    words = AnswererConfig(tuple(f"w{k}" for k in range(WORDS)), (), (0, 0), {}, {})
    module, stage = ImageEditor(EditorConfig(words, dict(SIZES))).to(device).train(), EditorStage()
    on_gpu = device != "cpu"
    if on_gpu:
        module = module.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        torch.backends.cudnn.benchmark = True
        torch.set_float32_matmul_precision("high")
    optimizer = torch.optim.AdamW(module.parameters(), lr=stage.recipe.lr, fused=on_gpu)
    if compiled:
        compile_methods(module, stage.compiled)

    def step(count: int) -> float:
        start = time.perf_counter()
        for _ in range(count):
            with torch.autocast("cuda", torch.bfloat16, enabled=on_gpu):
                loss: Any = stage.loss(module, batch)[0]
            loss.backward()
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
        if on_gpu:
            torch.cuda.synchronize()
        return time.perf_counter() - start

    first = step(WARM if on_gpu else 1)
    return len(batch) * steps / step(steps), first


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--steps", type=int, default=10)
    given = parser.parse_args()
    batch = make_batch(given.batch, given.device)
    for compiled in (False, True) if given.device != "cpu" else (False,):  # `train` compiles for a GPU alone
        speed, first = measure(compiled, batch, given.device, given.steps)
        print(
            f"{'compiled' if compiled else 'plain':<10} {speed:>8,.1f} pictures/s, first steps {first:.1f} s",
            flush=True,
        )


if __name__ == "__main__":
    main()
