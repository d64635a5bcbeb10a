"""Every model that can be trained: its loss falls within a few steps on a tiny world, and what it is built of is kept."""

import json
from dataclasses import replace

import pytest

from device_waits import WAITS, list_operations
from lazy import lazy
from shiftscope.models.nsvqa.trained_model import TrainedModel
from shiftscope.models.nsvqa.training import NeuroSymbolicTraining
from shiftscope.registry import MODELS, WRAPPERS
from shiftscope.suites.clevr_hyp.suite import ClevrHypSpec
from shiftscope.suites.superclevr.suite import SuperclevrSpec
from shiftscope.train.data import SuiteTrainingData, gather_split
from shiftscope.train.train import find_trainable
from shiftscope.trainable import ACTIONS

torch = lazy("torch")

WORLD = SuiteTrainingData(
    "superclevr", SuperclevrSpec(images=8, size=(240, 160), questions=4, part_questions=3, shard=8)
)
OUTCOMES = SuiteTrainingData("clevr_hyp", ClevrHypSpec(images=14, size=(240, 160), shard=14))  # where actions are told
STEPS = 5


def list_trainables():
    """One model of each kind of folder: models that share one are trained alike."""
    found = {}
    for name, module in MODELS.load_all():
        traits = getattr(module, "TRAITS", None)
        if traits is not None and traits.trainable is not None:
            found.setdefault(traits.trainable.folder.KIND, name)
    return sorted(found.values())


TRAINABLES = list_trainables()
WRAPPED = [f"updn+{name}" for name in WRAPPERS.names()]
GATHERED = {}


def gather(data, stages):
    """The tiny world; models whose stages learn from the same share one."""
    key = data.name, tuple((stage.supervision, type(stage).collect.__qualname__) for stage in stages)
    if key not in GATHERED:
        GATHERED[key] = gather_split(data, "train", stages, device="cpu")
    held = GATHERED[key]
    return replace(held, supervision=dict(zip([s.name for s in stages], held.supervision.values(), strict=True)))


@pytest.mark.parametrize("model", [*TRAINABLES, *WRAPPED])
def test_the_loss_of_every_part_falls(model):
    stages, parts = find_trainable(model).stages, {}
    data = OUTCOMES if any(ACTIONS in stage.supervision for stage in stages) else WORLD
    world = gather(data, stages)
    for stage in stages:
        config = stage.fit_vocabulary(data.schema, world)
        torch.manual_seed(0)
        module = stage.build(config, {name: parts[name] for name in stage.needs})
        stage.load_pretrained(module, config)
        examples = stage.make_examples(stage.encode(world, parts | find_trained(stage), "cpu"), config, "cpu")
        batch = examples.batch(torch.arange(min(4, len(examples))))
        losses = run_steps(stage, module.train(), batch)
        if stage.captured:
            assert not list_operations(lambda s=stage, m=module, b=batch: s.loss(m, b)[0].backward()) & set(WAITS)
        assert losses[-1] < 0.97 * losses[0], (stage.name, losses)
        parts[stage.name] = module.eval()
        again = stage.read_config(json.loads(json.dumps(config.to_json())))
        twin = stage.build(again, {name: parts[name] for name in stage.needs})
        twin.load_state_dict(module.state_dict())  # the config says all that the weights need
        assert stage.describe(data.schema) == json.loads(json.dumps(stage.describe(data.schema)))


def find_trained(stage):
    """The shipped parsers, for a stage that looks through one: what untrained ones see teaches nothing."""
    shipped = TrainedModel.find("nsvqa", "", WORLD.schema)
    parsers = {one.name: one for one in NeuroSymbolicTraining.stages}
    built = {
        name: parsers[name].build(parsers[name].read_config(shipped.config(name)), {})
        for name in stage.needs
        if name in parsers
    }
    return {name: shipped.load(name, module) for name, module in built.items()}


def run_steps(stage, module, batch):
    """The loss before each step, with what is drawn at random drawn alike."""
    learned = [p for p in module.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(learned, lr=min(1e-3, stage.recipe.lr))
    losses = []
    for _ in range(STEPS):
        torch.manual_seed(1)
        loss, _ = stage.loss(module, batch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(float(loss.detach()))
    return losses
