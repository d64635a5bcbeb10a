"""A toy that one process trains, or several together: batch norm, and examples that hold more things or fewer."""

import torch

from shiftscope.batch_mean import divide_by_batch
from shiftscope.folder import open_folder
from shiftscope.train.accelerator import make_accelerator
from shiftscope.train.loop import TrainingPaused, TrainTask, _TrainingLoop, count_validation, fit
from shiftscope.trainable import TrainRecipe, shuffle_batches

THINGS = 5


class Crowds:
    """Some things each, up to five, and for each whether its numbers sum to more than 0."""

    def __init__(self, size, seed):
        random = torch.Generator().manual_seed(seed)
        self.x = torch.randn(size, THINGS, 4, generator=random) * 3 + 2
        self.there = torch.arange(THINGS) < torch.randint(0, THINGS + 1, (size, 1), generator=random)

    def __len__(self):
        return len(self.x)

    def epoch(self, batch, random):
        return shuffle_batches(len(self), batch, random)

    def batch(self, rows):
        return self.x[rows], (self.x[rows].sum(-1) > 8).long(), self.there[rows]


def loss(module, batch):
    x, y, there = batch
    each = torch.nn.functional.cross_entropy(module(x.flatten(0, 1)), y.flatten(), reduction="none")
    mean = divide_by_batch((each * there.flatten()).sum(), there.sum())
    return mean, {"entropy": mean}


def measure(module, batch):
    x, y, there = batch
    right = module(x.flatten(0, 1)).argmax(-1).view_as(y) == y
    return {"right": ((right & there).sum(), there.sum())}


def make_task():
    torch.manual_seed(1)
    first = torch.nn.Linear(4, 8, bias=False)  # before a norm, nothing but noise would move a bias
    network = torch.nn.Sequential(first, torch.nn.BatchNorm1d(8), torch.nn.Tanh(), torch.nn.Linear(8, 2))
    recipe = TrainRecipe(3, 13, 0.02)  # a batch that no two processes share evenly
    return TrainTask(
        *("toy", network, loss, measure, lambda shares: shares["right"]),
        *(Crowds(50, 0), Crowds(40, 1), recipe),
        measured=3,  # batches that take turns, and an odd number of them
    )


def to_lists(tensors):
    return {name: tensor.double().tolist() for name, tensor in tensors}


def take_pass(task, accelerator, size=13):
    """Loss, gradients and statistics of one batch, of which each process has its part."""
    loop = _TrainingLoop(task, accelerator, 0, None)
    loop.prepared.train()
    rows = torch.arange(size).tensor_split(accelerator.num_processes)[accelerator.process_index]
    torch.manual_seed(0)
    found, parts = loop.run_pass(task.train.batch(rows))
    losses = {**parts, "loss": found}
    inner = loop.prepared.module if accelerator.num_processes > 1 else loop.prepared
    return {
        "losses": {name: float(accelerator.reduce(value.clone(), "mean")) for name, value in losses.items()},
        "slopes": to_lists((n, p.grad) for n, p in inner.named_parameters() if p.grad is not None),
        "buffers": to_lists(inner.named_buffers()),
    }


def train_toy(folder, deadline=float("inf")):
    """All that a training leaves: one pass, its log, its weights, and what all of the validation data say."""
    accelerator = make_accelerator("cpu")
    made = take_pass(make_task(), accelerator)
    task = make_task()
    fitted = fit(task, accelerator, seed=3, checkpoints=open_folder(folder))
    try:
        fit(make_task(), accelerator, seed=3, checkpoints=open_folder(folder / "paused"), deadline=0.0)
        paused = False
    except TrainingPaused:
        paused = True
    return made | {
        "process": (accelerator.process_index, accelerator.num_processes),
        "rows": fitted.rows,
        "weights": to_lists(fitted.module.state_dict().items()),
        "counts": count_validation(task, fitted.module, accelerator),
        "few": count_validation(task, fitted.module, accelerator, most=4),
        "paused": paused,
    }
