"""How fast the scene parser learns and parses: `python -m benchmarks.scene_parser [--profile]`.

The pixels are noise, the labels those of real scenes: time does not depend on what an image shows.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from typing import Any

from shiftscope.world import superclevr

SIZE = (480, 320)


def main(argv: Sequence[str] | None = None) -> None:
    """Print images a second, and with --profile where a step's time goes."""
    import torch

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--batch", type=int, default=0, help="images at once; else as in training")
    parser.add_argument("--steps", type=int, default=0, help="that are timed")
    parser.add_argument("--profile", action="store_true")
    args = parser.parse_args(argv)
    batch = args.batch or (128 if args.device != "cpu" else 8)
    learn, parse = _built(args.device, batch)
    steps = args.steps or (20 if args.device != "cpu" else 2)
    _row("training", batch, _seconds(learn, steps, args.device), 0)
    _row("parsing", batch, _seconds(parse, steps, args.device), 3000 if args.device != "cpu" else 8)
    if args.profile:
        _profile(learn, args.device)


def _built(device: str, batch: int) -> tuple[Callable[[], Any], Callable[[], Any]]:
    import torch

    from shiftscope.models.nsvqa.labels import label_scenes
    from shiftscope.models.nsvqa.scene_parser import config as c
    from shiftscope.models.nsvqa.scene_parser import decode, loss, network
    from shiftscope.schemas.superclevr import SCHEMA

    torch.backends.cudnn.benchmark = True
    torch.set_float32_matmul_precision("high")
    rules = superclevr.SuperClevrRules(visual="mid")
    few = [superclevr.sample_scene(0, "bench", i, rules) for i in range(min(batch, 64))]
    labels = label_scenes([few[i % len(few)] for i in range(batch)]).to_tensors(device)
    images = torch.randint(0, 256, (batch, SIZE[1], SIZE[0], 3), dtype=torch.uint8, device=device)
    data = loss.SceneParserBatch(images, labels)
    module: Any = network.SceneParser(c.SceneParserConfig(SCHEMA)).to(device)
    module = module.to(memory_format=torch.channels_last)
    half = torch.autocast(device, torch.bfloat16, enabled=device != "cpu")
    optimizer = torch.optim.AdamW(module.parameters(), lr=1e-6, fused=device != "cpu")

    def learn() -> None:
        module.train()
        with half:
            error, _ = loss.compute_augmented_loss(module, data)
        error.backward()
        torch.nn.utils.clip_grad_norm_(module.parameters(), 5.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    def parse() -> None:
        module.eval()
        with half:
            decode.parse(module, images)

    return learn, parse


def _seconds(step: Callable[[], Any], steps: int, device: str) -> float:
    import torch

    def wait() -> None:
        if device != "cpu":
            torch.cuda.synchronize()

    start = time.perf_counter()
    for _ in range(3 if device != "cpu" else 1):
        step()
    wait()
    print(f"first steps after {time.perf_counter() - start:.1f} s", flush=True)
    start = time.perf_counter()
    for _ in range(steps):
        step()
    wait()
    return (time.perf_counter() - start) / steps


def _row(name: str, batch: int, seconds: float, budget: int) -> None:
    told = f"budget {budget:,} images/s" if budget else ""
    print(f"{name:<10}{batch / seconds:>10,.0f} images/s {1e3 * seconds:8.1f} ms per step   {told}", flush=True)


def _profile(step: Callable[[], Any], device: str) -> None:
    from torch.profiler import ProfilerActivity, profile

    kinds = [ProfilerActivity.CPU] + ([ProfilerActivity.CUDA] if device != "cpu" else [])
    with profile(activities=kinds) as found:
        for _ in range(5):
            step()
    order = "self_cuda_time_total" if device != "cpu" else "self_cpu_time_total"
    print(found.key_averages().table(sort_by=order, row_limit=28, max_name_column_width=60))


if __name__ == "__main__":
    main()
