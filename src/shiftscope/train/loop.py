"""Loop: train a module by its task, on whatever devices there are; the same call again resumes.

It knows nothing of scenes, questions or files of weights. What happens in a step depends on the seed and the
step alone, so that a training that was stopped ends with the same weights as one that was not.

Several processes learn from the same batches as one would: each takes its part of every batch, and gradients,
losses and batch norms are those of the whole. Only what is drawn within a step (dropout, augmentation of images)
differs with their number. A checkpoint is the same for any number of them.
"""

from __future__ import annotations

import math
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import UserError
from ..folder import Folder
from ..rng import derive, seed_of
from ..trainable import Counts, Curriculum, ExampleSet, Losses, ProgressCallback, TrainRecipe
from .captured_steps import CapturedSteps
from .checkpoint import TrainState, read_state, write_state
from .compile_methods import compile_methods
from .epochs import copy_module
from .schedule import is_over, scale_rate

if TYPE_CHECKING:
    import torch
    from torch import nn


@dataclass(frozen=True, slots=True, eq=False)
class TrainTask:
    """A module to train; `better` makes of validation counts the one figure that epochs are chosen by."""

    name: str
    module: nn.Module
    loss: Callable[[Any, Any], tuple[torch.Tensor, Losses]]  # of module and batch
    measure: Callable[[Any, Any], Counts]
    better: Callable[[Mapping[str, float]], float]  # of the shares that are right
    train: ExampleSet | None  # None: a training that is done needs none
    val: ExampleSet
    recipe: TrainRecipe
    check: int = 1000  # of the validation examples, by which an epoch is judged
    measured: int | None = None  # examples measured at once; else as many as a batch has
    captured: bool = False  # whether a GPU may take its steps as graphs, one for each shape of batch
    compiled: tuple[str, ...] = ()  # methods of the module that a GPU runs compiled


def compute_shares(counts: Mapping[str, tuple[float, float]]) -> dict[str, float]:
    """What share is right, where there is any."""
    return {name: right / of for name, (right, of) in counts.items() if of}


class TrainingPaused(Exception):
    """The time given is over; all is in a checkpoint, and the same call again resumes."""


class WeightAverage:
    """An exponential moving average of a module, which stays where it is: its tensors are held."""

    def __init__(self, module: nn.Module) -> None:
        self.module = copy_module(module)
        mine, theirs = self.module.state_dict(), module.state_dict()
        fixed = {name for name, parameter in module.named_parameters() if not parameter.requires_grad}
        floats = [name for name in mine if mine[name].is_floating_point() and name not in fixed]
        counts = [name for name in mine if not mine[name].is_floating_point()]
        self._smooth = [mine[n] for n in floats], [theirs[n] for n in floats]
        self._counts = [mine[n] for n in counts], [theirs[n] for n in counts]

    def update(self, keep: float, step: int) -> None:
        """Take in the weights after a step. At first it forgets faster, not to drag its beginning along.

        Statistics of the data (batch norm) are averaged like weights; counts are copied.
        """
        import torch

        keep = min(keep, (1 + step) / (10 + step))
        with torch.no_grad():
            torch._foreach_lerp_(*self._smooth, 1 - keep)
            if self._counts[0]:
                torch._foreach_copy_(*self._counts)


CHECKPOINT_SECONDS = 60.0  # between checkpoints, each of which takes half a second
PROGRESS_SECONDS = 0.5  # between looks at the loss, each of which waits for the device
SEEDS = 1 << 62
FEWEST = 8  # steps an epoch is to have; with few examples batches are smaller than the recipe's
SMALLEST = 16  # but no smaller than this
AGREED = 8  # steps between those after which several processes may stop, for they stop together


@dataclass(frozen=True, slots=True, eq=False)
class FittedModule:
    """A trained module, in the weights of the epoch that was best on validation data."""

    module: nn.Module
    epoch: int
    rows: tuple[dict[str, Any], ...]  # the log, one an epoch
    seconds: float  # over all starts


def fit(
    task: TrainTask,
    accelerator: Any,
    *,
    seed: int = 0,
    checkpoints: Folder | None = None,
    deadline: float = math.inf,
    tell: ProgressCallback = lambda done, total, words: None,
    log: Callable[[list[dict[str, Any]]], None] = lambda rows: None,
    keep: Callable[[int, nn.Module], None] | None = None,
) -> FittedModule:
    """Train, or resume from the task's checkpoint in that folder; an interrupt leaves one.

    `deadline`, as time.monotonic counts, leaves one too and raises TrainingPaused. `keep` gets the averaged weights
    of every epoch.
    """
    training = _TrainingLoop(task, accelerator, seed, checkpoints)
    training.keep = keep
    state = training.state
    if state.done:
        log(state.rows)
    else:
        with _catch_interrupt() as stopped, _use_deterministic(accelerator.device):
            training.run(stopped, deadline, tell, log)
    best = training.average.module
    best.load_state_dict(state.best)
    return FittedModule(best.eval(), state.best_epoch, tuple(state.rows), state.seconds)


class _TrainingLoop:
    """One training under way: the module, its average and its optimizer, and where they stand."""

    def __init__(self, task: TrainTask, accelerator: Any, seed: int, checkpoints: Folder | None) -> None:
        import torch

        self.task, self.accelerator, self.seed, self.checkpoints = task, accelerator, seed, checkpoints
        self.recipe = task.recipe
        self.keep: Callable[[int, nn.Module], None] | None = None
        size, several = 1 if task.train is None else len(task.train), accelerator.num_processes > 1
        self.batch = min(self.recipe.batch, max(size // FEWEST, min(size, SMALLEST)))  # over all processes
        self.steps = size // self.batch  # in an epoch
        self.state = (read_state(checkpoints, task.name) if checkpoints else None) or TrainState()
        self.names: list[str] = []  # of the losses
        self.summed: torch.Tensor | None = None  # [loss] over the steps of this epoch
        device = accelerator.device
        module = task.module.to(device)
        if several:
            from .shared_batch_norm import share_batch_norms

            module = share_batch_norms(module, device)
        if device.type == "cuda":
            module = module.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        self.module = module
        if self.state.done:
            self.average = WeightAverage(module)
            return
        if self.batch < accelerator.num_processes:
            raise UserError(
                f"a batch of {self.batch} examples cannot be shared by {accelerator.num_processes} processes; "
                "start fewer"
            )
        groups = _group_parameters(module, self.recipe.weight_decay)
        # In bfloat16 there is nothing to scale, and accelerate's own steps and clipping cost more than a step's launch.
        self.optimizer = torch.optim.AdamW(groups, lr=self.recipe.lr, betas=(0.9, 0.98), fused=device.type == "cuda")
        self.prepared = accelerator.prepare(_wrap_loss(module, task.loss))
        self.learned = [parameter for parameter in self.prepared.parameters() if parameter.requires_grad]
        self.average = WeightAverage(module)  # only now: preparing may move weights to another place in memory
        if device.type == "cuda":
            # But not those of the average, which is seldom asked.
            compile_methods(module, task.compiled)
        self.run_pass: Callable[[Any], tuple[torch.Tensor, Losses]] = self._run_pass
        if task.captured and device.type == "cuda" and not several:  # a graph would hold what processes send
            self.run_pass = CapturedSteps(self._run_pass, self.learned)
        if self.state.step:
            module.load_state_dict(self.state.module)
            self.average.module.load_state_dict(self.state.average)
            self.optimizer.load_state_dict(self.state.optimizer)

    def run(
        self,
        stopped: threading.Event,
        deadline: float,
        tell: ProgressCallback,
        log: Callable[[list[dict[str, Any]]], None],
    ) -> None:
        state, recipe = self.state, self.recipe
        began = kept = time.monotonic()
        before = state.seconds
        log(state.rows)
        while not is_over(recipe, state.figures):
            epoch = len(state.rows)
            total = self.steps * max(recipe.epochs, epoch + 1)  # a tail's epochs are not known beforehand
            start, at, first = time.monotonic(), time.time(), state.step
            for _ in self._run_epoch(epoch, total, tell):
                state.seconds = before + time.monotonic() - began
                over, interrupted = self._agree(time.monotonic() > deadline, stopped.is_set())
                if over or interrupted:
                    self._save_checkpoint()
                    raise KeyboardInterrupt if interrupted else TrainingPaused
                if time.monotonic() - kept > CHECKPOINT_SECONDS:
                    self._save_checkpoint()
                    kept = time.monotonic()
            lasted, examples = time.monotonic() - start, (state.step - first) * self.batch  # since this start
            speed = {"began": round(at, 3), "lasted": round(lasted, 3)}
            speed |= {"examples_per_second": round(examples / max(lasted, 1e-9), 1)}
            row = self._validate_epoch(epoch)
            state.seconds = before + time.monotonic() - began
            state.rows.append(row | speed | {"seconds": round(state.seconds, 3)})
            log(state.rows)
        state.done = True
        state.module, state.average, state.optimizer = {}, {}, {}
        self._write_checkpoint()
        if any(self._agree(stopped.is_set(), now=True)):
            raise KeyboardInterrupt

    def _agree(self, *flags: bool, now: bool = False) -> Sequence[bool]:
        """Which flags any process has set, the same in all of them; where there are several, now or now and then."""
        import torch

        if self.accelerator.num_processes == 1:
            return flags
        if self.state.step % AGREED and not now:
            return [False for _ in flags]
        counts = torch.tensor(flags, dtype=torch.float32, device=self.accelerator.device)
        return [n > 0 for n in self.accelerator.reduce(counts, "sum").tolist()]

    def _run_epoch(self, epoch: int, total: int, tell: ProgressCallback) -> Iterator[None]:
        """The steps of an epoch that are still to do; what is yielded is that one more is done."""
        import torch

        state, accelerator = self.state, self.accelerator
        path = (self.task.name, self.seed, "epoch", epoch)
        examples = self.task.train
        assert examples is not None
        if isinstance(examples, Curriculum):
            examples = examples.lesson(epoch / self.recipe.epochs)
        batches = examples.epoch(self.batch, derive(*path, "order", 0))  # the same in all processes
        self.prepared.train()
        reported = 0.0
        for k in range(state.step - epoch * self.steps, self.steps):
            _seed_generators(seed_of(*path, "step", k, accelerator.process_index) % SEEDS, accelerator.device)
            rate = self.recipe.lr * scale_rate(self.recipe, state.step, self.steps, state.figures)
            for group in self.optimizer.param_groups:
                group["lr"] = rate
            mine = np.array_split(batches[k], accelerator.num_processes)[accelerator.process_index]
            loss, parts = self.run_pass(examples.batch(torch.from_numpy(mine)))
            torch.nn.utils.clip_grad_norm_(self.learned, self.recipe.clip)
            self.optimizer.step()
            self.optimizer.zero_grad(set_to_none=True)
            self.average.update(self.recipe.ema, state.step)
            losses = {**parts, "loss": loss}  # summed on the device, as one tensor, for many small ones are slow
            new = torch.stack(list(losses.values())).double()
            if accelerator.num_processes > 1:
                new = accelerator.reduce(new, "mean")
            if self.summed is None:
                self.names = list(losses)
                before = [state.sums.get(name, 0.0) for name in self.names]
                self.summed = torch.tensor(before, dtype=torch.float64, device=new.device)
            self.summed += new
            state.step += 1
            if time.monotonic() - reported > PROGRESS_SECONDS:
                reported = time.monotonic()
                tell(state.step, total, f"epoch {epoch + 1}, loss {float(new[-1]):.3f}")
            yield

    def _run_pass(self, batch: Any) -> tuple[torch.Tensor, Losses]:
        """Forward and backward: the loss and its terms; the slopes are left in the parameters."""
        loss, parts = self.prepared(batch)
        self.accelerator.backward(loss)
        return loss.detach(), {name: value.detach() for name, value in parts.items()}

    def _store_sums(self) -> None:
        if self.summed is not None:
            self.state.sums = dict(zip(self.names, self.summed.tolist(), strict=True))

    def _validate_epoch(self, epoch: int) -> dict[str, Any]:
        """Look at the averaged weights on validation data, and keep them if they are the best so far."""
        state, task = self.state, self.task
        self._store_sums()
        losses = {name: value / self.steps for name, value in state.sums.items()}
        state.sums, self.summed = {}, None
        if not math.isfinite(losses["loss"]):
            raise UserError(
                f"training {task.name} failed: the loss of epoch {epoch + 1} is not a number; "
                "train on more images or with another seed"
            )
        module = self.average.module.eval()
        counts = count_validation(task, module, self.accelerator, task.check)
        shares = compute_shares(counts)
        figure = task.better(dict.fromkeys(counts, 0.0) | shares)  # of nothing, nothing is right
        if figure > state.best_figure or not state.best:
            state.best_figure, state.best_epoch = figure, epoch + 1
            state.best = {name: value.clone() for name, value in module.state_dict().items()}
        if self.keep is not None and self.accelerator.is_main_process:
            self.keep(epoch + 1, module)
        return {
            "part": task.name,
            "epoch": epoch + 1,
            "losses": {name: round(value, 6) for name, value in sorted(losses.items())},
            "val": {name: round(value, 6) for name, value in sorted(shares.items())},
            "val_counts": {name: [int(right), int(of)] for name, (right, of) in sorted(counts.items())},
            "figure": round(figure, 6),
            "examples": self.steps * self.batch,
        }

    def _save_checkpoint(self) -> None:
        self.state.module, self.state.average = self.module.state_dict(), self.average.module.state_dict()
        self.state.optimizer = self.optimizer.state_dict()
        self._store_sums()
        self._write_checkpoint()

    def _write_checkpoint(self) -> None:
        if self.checkpoints and self.accelerator.is_main_process:
            write_state(self.checkpoints, self.task.name, self.state)


def count_validation(
    task: TrainTask, module: nn.Module, accelerator: Any, most: int | None = None
) -> dict[str, tuple[float, float]]:
    """The counts over all validation examples, or over the first so many; several processes take turns with batches."""
    import torch

    size = len(task.val) if most is None else min(max(1, most), len(task.val))
    batch = task.measured or task.recipe.batch
    sums: dict[str, Any] = {}
    with torch.no_grad(), accelerator.autocast():
        for start in range(accelerator.process_index * batch, size, accelerator.num_processes * batch):
            rows = torch.arange(start, min(start + batch, size))
            for name, pair in task.measure(module, task.val.batch(rows)).items():
                new = torch.stack([torch.as_tensor(x, device=accelerator.device).double() for x in pair])
                sums[name] = sums[name] + new if name in sums else new
    found = [{name: pair.tolist() for name, pair in sums.items()}]  # of none, where there are fewer batches
    if accelerator.num_processes > 1:
        from accelerate.utils import gather_object

        found = gather_object(found)
    names = sorted({name for one in found for name in one})
    zero = (0.0, 0.0)
    return {n: (sum(one.get(n, zero)[0] for one in found), sum(one.get(n, zero)[1] for one in found)) for n in names}


def _group_parameters(module: nn.Module, decay: float) -> list[dict[str, Any]]:
    """Weights decay; biases and the scales of norms do not."""
    learned = [p for p in module.parameters() if p.requires_grad]
    wide, flat = [p for p in learned if p.ndim > 1], [p for p in learned if p.ndim <= 1]
    return [{"params": params, "weight_decay": rate} for params, rate in ((wide, decay), (flat, 0.0)) if params]


def _seed_generators(seed: int, device: torch.device) -> None:
    """Seed what a step draws from; torch.manual_seed also looks for all devices that are not here, in every step."""
    import torch

    torch.default_generator.manual_seed(seed)
    if device.type == "cuda":
        torch.cuda.manual_seed_all(seed)


def _wrap_loss(module: nn.Module, loss: Callable[[Any, Any], tuple[torch.Tensor, Losses]]) -> nn.Module:
    """A module whose forward pass is the loss: what several devices wrap and keep in step."""
    from torch import nn

    class WithLoss(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.module = module

        def forward(self, batch: Any) -> tuple[torch.Tensor, Losses]:
            return loss(self.module, batch)

    return WithLoss()


@contextmanager
def _use_deterministic(device: torch.device) -> Iterator[None]:
    """Within, a processor gives the same weights each time; not all sums of a GPU can be made to."""
    import torch

    before = (torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled())
    if device.type == "cpu":
        torch.use_deterministic_algorithms(True, warn_only=True)
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(before[0], warn_only=before[1])


@contextmanager
def _catch_interrupt() -> Iterator[threading.Event]:
    """Ctrl-C asks for an end after the step; a second one ends at once."""
    stop = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return

    def request_stop(number: int, frame: Any) -> None:
        stop.set()
        signal.signal(signal.SIGINT, before)

    before = signal.signal(signal.SIGINT, request_stop)
    try:
        yield stop
    finally:
        signal.signal(signal.SIGINT, before)
