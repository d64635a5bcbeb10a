"""Where a training step of a model over several images goes: on the host, and on the device.

`python -m benchmarks.image_sets --model visualbert --device cuda`. Questions and regions are random, as many and as
long as those of `study covr`; the loop is the one that trains. The first two epochs capture the shapes of batches, the
third is timed, and of the fourth a profiler counts what the device does. Host: the time until a call returns, whatever
it has begun; where the device is behind, any of the calls may wait for it.
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from benchmarks.table import table
from shiftscope.models.several_images.questions import NO_IMAGE, ImageSetQuestions
from shiftscope.models.several_images.training import IMAGE_TOKENS
from shiftscope.question import Question
from shiftscope.scene import Scene
from shiftscope.schemas.superclevr import SCHEMA
from shiftscope.train.accelerator import make_accelerator
from shiftscope.train.loop import TrainTask, _TrainingLoop
from shiftscope.train.train import find_trainable
from shiftscope.trainable import IMAGES, SplitData

SEEN, REGIONS, NUMBERS = 2_000, 12, 256 + 5  # images, regions of each, numbers of each
WORDS, SHORTEST, LONGEST, ANSWERS = 300, 12, 36, 60
PLACES = 5
FEWER = 0.08  # share of the questions about fewer images
WARM = 2  # epochs before one is timed
LONGEST_KERNELS, NAMED = 20, 90  # kernels that are shown, and letters of their names


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="visualbert")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--questions", type=int, help="50,000 on a GPU, else 2,560")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE")
    given = parser.parse_args()
    settings = dict(one.partition("=")[::2] for one in given.set)
    accelerator = make_accelerator(given.device)
    spent: defaultdict[str, float] = defaultdict(float)
    questions = given.questions or (50_000 if accelerator.device.type == "cuda" else 2_560)
    loop = build_loop(given.model, settings, questions, accelerator, spent)
    began = time.perf_counter()
    for epoch in range(WARM):
        run_epoch(loop, epoch)
    first = time.perf_counter() - began
    spent.clear()
    began = time.perf_counter()
    run_epoch(loop, WARM)
    wall = time.perf_counter() - began
    shares = [(name, f"{1000 * seconds / loop.steps:.2f}") for name, seconds in spent.items()]
    rows: list[Sequence[object]] = [
        ("all of a step", f"{1000 * wall / loop.steps:.2f}"),
        *((f"host: {name}", share) for name, share in shares),
        ("host: the rest", f"{1000 * (wall - sum(spent.values())) / loop.steps:.2f}"),
    ]
    if accelerator.device.type == "cuda":
        kernels = list_kernels(loop)
        rows.append(("device: kernels", f"{sum(took for _, took in kernels):.2f}"))
        rows += [(f"device: {name[:NAMED]}", f"{took:.2f}") for name, took in kernels[:LONGEST_KERNELS]]
    title = f"{given.model}: {loop.steps * loop.batch / wall:,.0f} questions/s; {WARM} epochs before took {first:.1f} s"
    table(title, ("", "ms"), rows)


def build_loop(
    model: str, settings: dict[str, str], questions: int, accelerator: Any, spent: defaultdict[str, float]
) -> _TrainingLoop:
    """A loop whose parts tell what they spend."""
    import torch

    stage: Any = find_trainable(model).configure(settings).stages[-1]
    device = str(accelerator.device)
    data = make_data(stage, questions, device)
    config = stage.fit_vocabulary(SCHEMA, data)
    examples = stage.make_examples(data, config, device)
    module = stage.build_network(config)
    task = TrainTask(
        stage.name,
        module,
        stage.loss,
        stage.measure,
        stage.choose_by,
        examples,
        examples,
        stage.recipe,
        captured=stage.captured,
        compiled=stage.compiled,
    )
    loop = _TrainingLoop(task, accelerator, 0, None)

    def watch(name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*given: Any, **named: Any) -> Any:
            began = time.perf_counter()
            found = call(*given, **named)
            spent[name] += time.perf_counter() - began
            return found

        return timed

    for owner, method, name in (
        (examples, "batch", "batch"),
        (loop, "run_pass", "pass"),
        (torch.nn.utils, "clip_grad_norm_", "clipping"),
        (loop.optimizer, "step", "optimizer"),
        (loop.average, "update", "average"),
    ):
        setattr(owner, method, watch(name, getattr(owner, method)))
    return loop


def make_data(stage: Any, count: int, device: str) -> SplitData:
    """Random questions about random regions, which lie on the device as those of a training do."""
    import torch

    random = np.random.default_rng(0)
    lengths = random.integers(SHORTEST, LONGEST, count)
    asked = [
        Question(
            id=str(k),
            text=" ".join(f"w{word}" for word in random.integers(WORDS, size=length)),
            scenes=tuple(str(one) for one in random.integers(SEEN, size=PLACES)),
            answer=f"a{random.integers(ANSWERS)}",
        )
        for k, length in enumerate(lengths)
    ]
    questions = ImageSetQuestions.collect([Scene(schema=SCHEMA, objects=(), id=str(k)) for k in range(SEEN)], asked)
    questions.images[random.random(count) < FEWER, -1] = NO_IMAGE
    supervision: dict[str, Any] = {stage.name: questions}
    if IMAGES in stage.supervision:
        tokens = torch.rand(SEEN, REGIONS, NUMBERS, generator=torch.Generator().manual_seed(0))
        tokens[..., -1] = 1.0
        supervision[IMAGE_TOKENS] = tokens.half().to(device)
    return SplitData(None, (), supervision)


def run_epoch(loop: _TrainingLoop, epoch: int) -> None:
    import torch

    for _ in loop._run_epoch(epoch, loop.steps * (epoch + 1), lambda done, total, words: None):
        pass
    if loop.accelerator.device.type == "cuda":
        torch.cuda.synchronize()


def list_kernels(loop: _TrainingLoop) -> list[tuple[str, float]]:
    """What the device computes in a step, each with its milliseconds, the longest first."""
    from torch._C._autograd import DeviceType
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CUDA]) as seen:
        run_epoch(loop, WARM + 1)
    run = [one for one in seen.key_averages() if one.device_type == DeviceType.CUDA and not one.is_user_annotation]
    took = ((str(one.key), float(one.self_device_time_total) / 1000 / loop.steps) for one in run)
    return sorted(took, key=lambda pair: -pair[1])


if __name__ == "__main__":
    main()
