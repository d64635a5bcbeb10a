"""Loop: train a module by its task, on whatever devices there are; the same call again goes on.

It knows nothing of scenes, questions or files of weights. What happens in a step depends on the seed and the
step alone, so that a training that was stopped ends with the same weights as one that was not.
"""

from __future__ import annotations

import math
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...errors import UserError
from ...rng import derive, seed_of
from .average import Average
from .checkpoint import State, read_state, write_state
from .task import Task, shares

if TYPE_CHECKING:
    import torch
    from torch import nn

KEPT_SECONDS = 20.0  # between checkpoints
TOLD_SECONDS = 0.5  # between looks at the loss, each of which waits for the device
SEEDS = 1 << 62
FEWEST = 8  # steps an epoch is to have; with few examples batches are smaller than the recipe's
SMALLEST = 16  # but no smaller than this

Tell = Callable[[int, int, str], None]  # steps done, of how many, and in words how it goes


def _silent(done: int, total: int, words: str) -> None:
    pass


@dataclass(frozen=True, slots=True, eq=False)
class Fitted:
    """A trained module, in the weights of the epoch that was best on validation data."""

    module: nn.Module
    epoch: int
    rows: tuple[dict[str, Any], ...]  # the log, one an epoch
    seconds: float  # over all starts


def fit(
    task: Task,
    accelerator: Any,
    *,
    seed: int = 0,
    path: Path | None = None,
    tell: Tell = _silent,
    log: Callable[[list[dict[str, Any]]], None] = lambda rows: None,
) -> Fitted:
    """Train, or go on from the checkpoint at `path`; an interrupt leaves one that can be gone on from."""
    training = _Training(task, accelerator, seed, path)
    state = training.state
    if not state.done:
        with _stoppable(accelerator.num_processes == 1) as stopped, _repeatable(accelerator.device):
            training.run(stopped, tell, log)
    else:
        log(state.rows)
    return Fitted(training.chosen(), state.best_epoch, tuple(state.rows), state.seconds)


class _Training:
    """One training under way: the module, its average and its optimizer, and where they stand."""

    def __init__(self, task: Task, accelerator: Any, seed: int, path: Path | None) -> None:
        import torch

        self.task, self.accelerator, self.seed, self.path = task, accelerator, seed, path
        self.recipe = task.recipe
        mine = torch.tensor([len(task.train)], device=accelerator.device)
        least = int(accelerator.gather(mine).min())  # processes take their steps together
        few = max(least // FEWEST, min(least, SMALLEST))
        self.batch = min(max(1, self.recipe.batch // accelerator.num_processes), few)
        self.steps = least // self.batch  # in an epoch
        self.state = (read_state(path) if path else None) or State()
        self.names: list[str] = []  # of the losses
        self.summed: torch.Tensor | None = None  # [loss] over the steps of this epoch
        device = accelerator.device
        module = task.module.to(device)
        if device.type == "cuda":
            module = module.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        self.module = module
        if self.state.done:
            self.average = Average(module)
            return
        optimizer = torch.optim.AdamW(
            _groups(module, self.recipe.weight_decay),
            lr=self.recipe.lr,
            betas=(0.9, 0.98),
            fused=device.type == "cuda",
        )
        self.prepared, self.optimizer = accelerator.prepare(_with_loss(module, task.loss), optimizer)
        self.average = Average(module)  # only now: preparing may move weights to another place in memory
        if self.state.step:
            module.load_state_dict(self.state.module)
            self.average.module.load_state_dict(self.state.average)
            self.optimizer.load_state_dict(self.state.optimizer)

    def run(
        self,
        stopped: threading.Event,
        tell: Tell,
        log: Callable[[list[dict[str, Any]]], None],
    ) -> None:
        state, recipe = self.state, self.recipe
        total = self.steps * recipe.epochs
        began = kept = time.monotonic()
        before = state.seconds
        log(state.rows)
        while len(state.rows) < recipe.epochs:
            epoch = len(state.rows)
            start = time.monotonic()
            for _ in self._epoch(epoch, total, tell):
                state.seconds = before + time.monotonic() - began
                if stopped.is_set():
                    self._keep()
                    raise KeyboardInterrupt
                if time.monotonic() - kept > KEPT_SECONDS:
                    self._keep()
                    kept = time.monotonic()
            row = self._judged(epoch, time.monotonic() - start)
            state.seconds = before + time.monotonic() - began
            state.rows.append(row | {"seconds": round(state.seconds, 3)})
            log(state.rows)
        state.done = True
        state.module, state.average, state.optimizer = {}, {}, {}
        self._write()
        if stopped.is_set():
            raise KeyboardInterrupt

    def _epoch(self, epoch: int, total: int, tell: Tell) -> Iterator[None]:
        """The steps of an epoch that are still to do; what is yielded is that one more is done."""
        import torch

        state, accelerator = self.state, self.accelerator
        path = (self.task.name, self.seed, "epoch", epoch)
        order = derive(*path, "order", accelerator.process_index)
        batches = self.task.train.epoch(self.batch, order)
        self.prepared.train()
        told = 0.0
        for k in range(state.step - epoch * self.steps, self.steps):
            torch.manual_seed(seed_of(*path, "step", k, accelerator.process_index) % SEEDS)
            for group in self.optimizer.param_groups:
                group["lr"] = self.recipe.lr * pace(state.step, total, self.recipe.warmup)
            loss, parts = self.prepared(self.task.train.batch(torch.from_numpy(batches[k])))
            accelerator.backward(loss)
            accelerator.clip_grad_norm_(self.prepared.parameters(), self.recipe.clip)
            self.optimizer.step()
            self.optimizer.zero_grad(set_to_none=True)
            self.average.add(self.recipe.ema, state.step)
            self._add({**parts, "loss": loss})
            state.step += 1
            if time.monotonic() - told > TOLD_SECONDS:
                told = time.monotonic()
                tell(state.step, total, f"epoch {epoch + 1}, loss {float(loss.detach()):.3f}")
            yield

    def _add(self, losses: Mapping[str, torch.Tensor]) -> None:
        """To the sums of the epoch, which stay on the device: as one tensor, for many small ones are slow."""
        import torch

        new = torch.stack([value.detach() for value in losses.values()]).double()
        if self.summed is None:
            self.names = list(losses)
            before = [self.state.sums.get(name, 0.0) for name in self.names]
            self.summed = torch.tensor(before, dtype=torch.float64, device=new.device)
        self.summed += new

    def _take_sums(self) -> None:
        if self.summed is not None:
            self.state.sums = dict(zip(self.names, self.summed.tolist(), strict=True))

    def _judged(self, epoch: int, seconds: float) -> dict[str, Any]:
        """Look at the averaged weights on validation data, and keep them if they are the best so far."""
        state, task = self.state, self.task
        self._take_sums()
        losses = {name: value / self.steps for name, value in state.sums.items()}
        state.sums, self.summed = {}, None
        if not math.isfinite(losses["loss"]):
            raise UserError(
                f"training {task.name} failed: the loss of epoch {epoch + 1} is not a number; "
                "train on more images or with another seed"
            )
        module = self.average.module.eval()
        check = self.task.check // self.accelerator.num_processes
        counts = summed(task, module, self.accelerator, check)
        found = shares(counts)
        figure = task.better(dict.fromkeys(counts, 0.0) | found)  # of nothing, nothing is right
        if figure > state.best_figure or not state.best:
            state.best_figure, state.best_epoch = figure, epoch + 1
            state.best = {name: value.clone() for name, value in module.state_dict().items()}
        return {
            "part": task.name,
            "epoch": epoch + 1,
            "losses": {name: round(value, 6) for name, value in sorted(losses.items())},
            "val": {name: round(value, 6) for name, value in sorted(found.items())},
            "figure": round(figure, 6),
            "examples": self.steps * self.batch * self.accelerator.num_processes,
            "examples_per_second": round(
                self.steps * self.batch * self.accelerator.num_processes / max(seconds, 1e-9), 1
            ),
        }

    def chosen(self) -> nn.Module:
        """The module in the averaged weights of the best epoch, to be used and not trained."""
        module = self.average.module
        module.load_state_dict(self.state.best)
        return module.eval()

    def _keep(self) -> None:
        state = self.state
        state.module = self.module.state_dict()
        state.average = self.average.module.state_dict()
        state.optimizer = self.optimizer.state_dict()
        self._take_sums()
        self._write()

    def _write(self) -> None:
        if self.path and self.accelerator.is_main_process:
            write_state(self.path, self.state)


def summed(
    task: Task, module: nn.Module, accelerator: Any, most: int | None = None
) -> dict[str, tuple[float, float]]:
    """The counts over all validation examples of all processes, or over the first so many of each."""
    import torch

    size = len(task.val) if most is None else min(max(1, most), len(task.val))
    batch = task.measured or task.recipe.batch
    sums: dict[str, Any] = {}
    with torch.no_grad(), accelerator.autocast():
        for start in range(0, size, batch):
            rows = torch.arange(start, min(start + batch, size))
            for name, pair in task.measure(module, task.val.batch(rows)).items():
                new = torch.stack([torch.as_tensor(x, device=accelerator.device).double() for x in pair])
                sums[name] = sums[name] + new if name in sums else new
    return {name: tuple(accelerator.reduce(sums[name], "sum").tolist()) for name in sorted(sums)}


def pace(step: int, steps: int, warmup: float) -> float:
    """The learning rate at a step as a share of the highest: up in a line, down as half a cosine."""
    rising = max(1, round(warmup * steps))
    if step < rising:
        return (step + 1) / rising
    return 0.5 * (1 + math.cos(math.pi * (step - rising) / max(1, steps - rising)))


def _groups(module: nn.Module, decay: float) -> list[dict[str, Any]]:
    """Weights decay; biases and the scales of norms do not."""
    learned = [p for p in module.parameters() if p.requires_grad]
    wide = [p for p in learned if p.ndim > 1]
    flat = [p for p in learned if p.ndim <= 1]
    found = ({"params": wide, "weight_decay": decay}, {"params": flat, "weight_decay": 0.0})
    return [group for group in found if group["params"]]


def _with_loss(
    module: nn.Module, loss: Callable[[Any, Any], tuple[torch.Tensor, Mapping[str, torch.Tensor]]]
) -> nn.Module:
    """A module whose forward pass is the loss: what several devices wrap and keep in step."""
    from torch import nn

    class WithLoss(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.module = module

        def forward(self, batch: Any) -> tuple[torch.Tensor, Mapping[str, torch.Tensor]]:
            return loss(self.module, batch)

    return WithLoss()


@contextmanager
def _repeatable(device: torch.device) -> Iterator[None]:
    """Within, a processor gives the same weights each time, though threads share the sums.

    A GPU goes on as it does: not all of its sums can be made so.
    """
    import torch

    before = (
        torch.are_deterministic_algorithms_enabled(),
        torch.is_deterministic_algorithms_warn_only_enabled(),
    )
    if device.type == "cpu":
        torch.use_deterministic_algorithms(True, warn_only=True)
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(before[0], warn_only=before[1])


@contextmanager
def _stoppable(alone: bool) -> Iterator[threading.Event]:
    """Ctrl-C asks for an end after the step; a second one ends at once.

    Where several processes train together they would stop at different steps: there it ends at once, and
    the last checkpoint is gone on from.
    """
    stop = threading.Event()
    if not alone or threading.current_thread() is not threading.main_thread():
        yield stop
        return

    def ask(number: int, frame: Any) -> None:
        stop.set()
        signal.signal(signal.SIGINT, before)

    before = signal.signal(signal.SIGINT, ask)
    try:
        yield stop
    finally:
        signal.signal(signal.SIGINT, before)
