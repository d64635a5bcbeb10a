"""One pass of every stage of a model, by one process or by several that have a part of the batch each."""

from contextlib import contextmanager
from dataclasses import fields, is_dataclass, replace

import torch

from shiftscope.models.nsvqa.trained_model import TrainedModel
from shiftscope.models.nsvqa.training import NeuroSymbolicTraining
from shiftscope.suites.superclevr.suite import SuperclevrSpec
from shiftscope.train.accelerator import make_accelerator
from shiftscope.train.data import SuiteTrainingData, gather_split
from shiftscope.train.loop import TrainTask
from shiftscope.train.process_group import ProcessGroup
from shiftscope.train.train import find_trainable
from together import take_pass

DROPOUTS = torch.nn.Dropout | torch.nn.Dropout1d
WORLD = SuiteTrainingData(
    "superclevr", SuperclevrSpec(images=9, size=(128, 96), questions=4, part_questions=3, shard=3)
)


def take_passes(model, size, device="cpu"):
    """By the name of each stage, what `take_pass` finds on a batch of so many examples."""
    accelerator = make_accelerator(device)
    where = "cpu" if accelerator.device.type == "cpu" else str(accelerator.device)
    group = ProcessGroup(accelerator.process_index, accelerator.num_processes, where)
    stages, found = find_trainable(model).stages, {}
    world = gather_split(WORLD, "train", stages, device=where, group=group)
    for stage in stages:
        config = stage.fit_vocabulary(WORLD.schema, world)
        torch.manual_seed(0)
        parts = find_parsers(stage)
        module = stage.build(config, parts)
        stage.load_pretrained(module, config)
        for part in module.modules():
            if isinstance(part, DROPOUTS | torch.nn.GRU):
                part.__dict__["p" if isinstance(part, DROPOUTS) else "dropout"] = 0.0
        if hasattr(module, "config") and isinstance(getattr(module.config, "sizes", None), dict):
            silence_dropout(module)
        examples = stage.make_examples(stage.encode(world, parts, where), config, where)
        task = TrainTask(
            *(
                stage.name,
                module,
                stage.loss,
                stage.measure,
                stage.choose_by,
                *[WideExamples(examples)] * 2,
                stage.recipe,
            )
        )
        module.double()
        with nothing_random(), double_precision():
            found[stage.name] = take_pass(task, accelerator, min(size, len(examples)))
    return found


class WideExamples:
    """Examples whose batches are in double precision, as the network is."""

    def __init__(self, examples):
        self.examples = examples

    def __len__(self):
        return len(self.examples)

    def epoch(self, batch, random):
        return self.examples.epoch(batch, random)

    def batch(self, rows):
        return widen(self.examples.batch(rows))


def widen(found):
    """With every tensor of single precision as one of double precision."""
    if isinstance(found, torch.Tensor):
        return found.double() if found.dtype == torch.float32 else found
    if is_dataclass(found):
        return replace(found, **{f.name: widen(getattr(found, f.name)) for f in fields(found) if f.init})
    if isinstance(found, tuple):
        made = map(widen, found)
        return type(found)(*made) if hasattr(found, "_fields") else tuple(made)
    return found


def silence_dropout(module):
    for part in module.modules():
        if isinstance(getattr(part, "dropout", None), float):
            part.dropout = 0.0


@contextmanager
def nothing_random():
    """What is drawn for augmentation is drawn alike for every example."""
    before = torch.rand, torch.rand_like
    torch.rand = lambda *size, **how: torch.full(size, 0.75, device=how.get("device"))
    torch.rand_like = lambda like: torch.full_like(like, 0.75)
    try:
        yield
    finally:
        torch.rand, torch.rand_like = before


@contextmanager
def double_precision():
    """Where rounding hides nothing: in single precision, gradients change by 5e-4 with the order of a batch."""
    before, sample = torch.Tensor.float, torch.nn.functional.grid_sample
    torch.set_default_dtype(torch.float64)
    torch.Tensor.float = torch.Tensor.double
    torch.nn.functional.grid_sample = lambda values, grid, **how: sample(values, grid.double(), **how)
    try:
        yield
    finally:
        torch.Tensor.float, torch.nn.functional.grid_sample = before, sample
        torch.set_default_dtype(torch.float32)


def find_parsers(stage):
    """The shipped ones, for a stage that looks through one."""
    shipped = TrainedModel.find("nsvqa", "", WORLD.schema)
    parsers = {one.name: one for one in NeuroSymbolicTraining.stages}
    built = {
        name: parsers[name].build(parsers[name].read_config(shipped.config(name)), {})
        for name in stage.needs
        if name in parsers
    }
    return {name: shipped.load(name, module) for name, module in built.items()}
