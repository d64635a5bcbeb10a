"""The training loop on a toy: what it chooses, and that a stop leaves no trace in the weights."""

import json
import os
import pickle
import signal
import time
from dataclasses import replace

import pytest

from lazy import lazy
from shiftscope.folder import open_folder
from shiftscope.train.checkpoint import TrainState, claim_spec, read_state, write_state
from shiftscope.train.loop import (
    TrainingPaused,
    TrainTask,
    WeightAverage,
    _group_parameters,
    compute_shares,
    count_validation,
    fit,
)
from shiftscope.train.schedule import scale_learning_rate
from shiftscope.trainable import TrainRecipe, shuffle_batches

torch = lazy("torch")


class Points:
    """Numbers whose sum is above 0, or not."""

    def __init__(self, size, seed):
        generator = torch.Generator().manual_seed(seed)
        self.x = torch.randn(size, 4, generator=generator)

    def __len__(self):
        return len(self.x)

    def epoch(self, batch, random):
        return shuffle_batches(len(self), batch, random)

    def batch(self, rows):
        return self.x[rows], (self.x[rows].sum(1) > 0).long()


def build_network():
    torch.manual_seed(1)
    return torch.nn.Sequential(
        torch.nn.Linear(4, 8), torch.nn.BatchNorm1d(8), torch.nn.Dropout(0.2), torch.nn.Linear(8, 2)
    )


def loss(module, batch):
    x, y = batch
    found = torch.nn.functional.cross_entropy(module(x), y)
    return found, {"entropy": found}


def measure(module, batch):
    x, y = batch
    return {"right": ((module(x).argmax(1) == y).sum(), len(y))}


def task(**recipe):
    found = TrainTask(
        "toy",
        build_network(),
        loss,
        measure,
        lambda found: found["right"],
        Points(50, 0),
        Points(40, 1),
        TrainRecipe(4, 8, 0.02),
    )
    return replace(found, recipe=replace(found.recipe, **recipe))


@pytest.fixture
def accelerator():
    return lazy("accelerate").Accelerator(cpu=True)


def same(a, b):
    a, b = a.state_dict(), b.state_dict()
    return a.keys() == b.keys() and all(torch.equal(a[k], b[k]) for k in a)


def plain(rows):
    times = ("began", "lasted", "seconds", "examples_per_second")
    return [{k: v for k, v in row.items() if k not in times} for row in rows]


def test_it_learns_and_says_so(accelerator):
    one = task(epochs=12, lr=0.05, warmup=0.2)
    made = fit(one, accelerator)
    counts = count_validation(one, made.module, accelerator)
    assert counts["right"][1] == 40
    assert compute_shares(counts)["right"] > 0.85
    assert [row["epoch"] for row in made.rows] == list(range(1, 13))
    assert min(row["losses"]["loss"] for row in made.rows) < 0.6 * made.rows[0]["losses"]["loss"]
    assert {"part", "losses", "val", "figure", "seconds", "examples_per_second"} <= set(made.rows[0])


def test_each_epoch_of_a_curriculum_has_its_lesson(accelerator):
    class Lessons(Points):
        begun = []

        def lesson(self, done):
            self.begun.append(done)
            return self

    fit(replace(task(), train=Lessons(50, 0)), accelerator)
    assert Lessons.begun == [0.0, 0.25, 0.5, 0.75]


@pytest.mark.parametrize("after", [1, 6, 9, 24])  # the 6 steps of an epoch end with the 6th
def test_a_training_that_was_stopped_ends_as_one_that_was_not(after, accelerator, tmp_path):
    whole = fit(task(), accelerator, seed=3)
    held = open_folder(tmp_path)
    seen = []

    def stopping(module, batch):
        seen.append(1)
        if len(seen) == after:
            os.kill(os.getpid(), signal.SIGINT)
        return loss(module, batch)

    with pytest.raises(KeyboardInterrupt):
        fit(replace(task(), loss=stopping), accelerator, seed=3, checkpoints=held)
    assert len(seen) == after
    assert read_state(held, "toy").step == after
    again = fit(task(), accelerator, seed=3, checkpoints=held)
    assert same(whole.module, again.module)
    assert plain(whole.rows) == plain(again.rows)
    assert read_state(held, "toy").done
    assert same(whole.module, fit(task(), accelerator, seed=3, checkpoints=held).module)  # and is not trained twice


def test_an_epoch_that_was_resumed_counts_only_what_was_learned_since(accelerator, tmp_path):
    held = open_folder(tmp_path)
    seen = []

    def stopping(module, batch):
        seen.append(1)
        if len(seen) == 9:  # three of the second epoch's six steps, of eight examples each
            os.kill(os.getpid(), signal.SIGINT)
        return loss(module, batch)

    with pytest.raises(KeyboardInterrupt):
        fit(replace(task(), loss=stopping), accelerator, checkpoints=held)
    now = time.time()

    def slow(module, batch):
        time.sleep(0.02)  # so that its seconds are more than their rounding
        return loss(module, batch)

    rows = fit(replace(task(), loss=slow), accelerator, checkpoints=held).rows
    learned = [row["lasted"] * row["examples_per_second"] for row in rows[1:3]]
    assert learned == pytest.approx([3 * 8, 6 * 8], rel=0.02)
    assert [row["examples"] for row in rows] == [48] * 4
    assert rows[0]["began"] < now <= rows[1]["began"] < rows[2]["began"]


def test_sums_on_a_processor_are_made_the_same_way_each_time(accelerator):
    ways = set()

    def watched(module, batch):
        ways.add(torch.are_deterministic_algorithms_enabled())
        return loss(module, batch)

    fit(replace(task(), loss=watched), accelerator)
    assert ways == {True} and not torch.are_deterministic_algorithms_enabled()


def test_another_seed_ends_elsewhere(accelerator):
    assert not same(fit(task(), accelerator, seed=0).module, fit(task(), accelerator, seed=1).module)


def test_the_epoch_that_is_best_on_validation_data_is_kept(accelerator):
    shown = []

    def second_is_best(module, batch):
        shown.append({k: v.clone() for k, v in module.state_dict().items()})
        return {"right": ((0.2, 0.9, 0.4, 0.9)[(len(shown) - 1) % 4], 1)}

    made = fit(replace(task(batch=40), measure=second_is_best), accelerator)  # one batch of 40 is all that is looked at
    assert made.epoch == 2
    assert [row["figure"] for row in made.rows] == [0.2, 0.9, 0.4, 0.9]
    assert all(torch.equal(made.module.state_dict()[k], shown[1][k]) for k in shown[1])
    assert not all(torch.equal(shown[3][k], shown[1][k]) for k in shown[1])


def test_a_loss_that_is_no_number_ends_it(accelerator, refuses):
    broken = replace(task(), loss=lambda module, batch: (module(batch[0]).sum() * float("nan"), {}))
    with refuses("the loss of epoch 1 is not a number"):
        fit(broken, accelerator)


def test_the_rate_rises_and_falls():
    assert [round(scale_learning_rate(k, 20, 0.1), 3) for k in (0, 1, 2, 11, 19)] == [0.5, 1.0, 1.0, 0.5, 0.008]


def test_norms_and_biases_do_not_decay():
    module = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4))
    kernels, rest = _group_parameters(module, 0.3)
    assert (kernels["weight_decay"], rest["weight_decay"]) == (0.3, 0.0)
    assert [p.ndim for p in kernels["params"]] == [4]
    assert [p.ndim for p in rest["params"]] == [1, 1, 1]  # a bias, and the norm's scale and offset


def test_another_spec_is_refused(tmp_path, refuses):
    folder = open_folder(tmp_path / "train")
    claim_spec(folder, {"seed": 0, "data": {"suite": "clevr", "size": (4, 3)}})
    claim_spec(folder, {"seed": 0, "data": {"suite": "clevr", "size": (4, 3)}})
    with refuses('holds another training: its data.suite is "clevr", not "superclevr"; name another folder'):
        claim_spec(folder, {"seed": 0, "data": {"suite": "superclevr", "size": (4, 3)}})
    assert json.loads(folder.read("spec.json"))["seed"] == 0


def test_a_damaged_state_is_refused(tmp_path, refuses):
    path = tmp_path / "state.safetensors"
    assert read_state(open_folder(tmp_path), "state") is None
    write_state(open_folder(tmp_path), "state", TrainState(step=3, rows=[{"epoch": 1}]))
    assert read_state(open_folder(tmp_path), "state").step == 3
    path.write_bytes(path.read_bytes()[:100])
    with refuses("state.safetensors is damaged"):
        read_state(open_folder(tmp_path), "state")


def test_a_state_is_kept_as_it_is(tmp_path):
    last = torch.arange(48.0).reshape(2, 3, 2, 4).contiguous(memory_format=torch.channels_last)
    thin = torch.ones(2, 3, 1, 1).to(memory_format=torch.channels_last)
    shared = torch.ones(3, dtype=torch.bfloat16)
    held = {
        "state": {0: {"step": torch.tensor(4.0), "exp_avg": last, "thin": thin}},
        "param_groups": [{"betas": (0.9, 0.98)}],
    }
    before = TrainState(step=3, module={"a": shared, "b": shared}, optimizer=held, sums={"loss": 0.1 + 0.2})
    write_state(open_folder(tmp_path), "state", before)
    after = read_state(open_folder(tmp_path), "state")
    assert after.module["b"].dtype == torch.bfloat16 and after.module["b"].tolist() == [1, 1, 1]
    assert after.optimizer["param_groups"] == [{"betas": (0.9, 0.98)}]
    assert after.optimizer["state"][0]["step"].shape == ()
    again = after.optimizer["state"][0]["exp_avg"]
    assert torch.equal(again, last) and again.stride() == last.stride()
    assert after.optimizer["state"][0]["thin"].stride() == thin.stride()
    assert after.sums == before.sums and after.best_figure == float("-inf") and after.done is False


class Ran:
    """What a pickle runs as it is read."""

    def __init__(self, marker):
        self.marker = str(marker)

    def __reduce__(self):
        return (open, (self.marker, "w"))


@pytest.mark.parametrize("dump", [pickle.dump, lambda *given: torch.save(*given)], ids=["pickle", "torch"])
def test_a_pickle_in_the_place_of_a_state_is_not_read(tmp_path, refuses, dump):
    path = tmp_path / "state.safetensors"
    with path.open("wb") as file:
        dump(Ran(tmp_path / "marker"), file)
    with refuses("state.safetensors is damaged"):
        read_state(open_folder(tmp_path), "state")
    assert not (tmp_path / "marker").exists()


def test_a_training_that_paused_ends_as_one_that_did_not(accelerator, tmp_path):
    held = open_folder(tmp_path)
    starts = 0
    while True:
        starts += 1
        try:
            made = fit(task(), accelerator, seed=3, checkpoints=held, deadline=0.0)  # over after each first step
        except TrainingPaused:
            assert read_state(held, "toy").step == starts
        else:
            break
    assert starts == 4 * 6 + 1
    assert same(fit(task(), accelerator, seed=3).module, made.module)


def test_a_flat_training_ends_early_and_resumes_there(accelerator, tmp_path):
    patient = replace(task(epochs=15, patience=2), better=lambda found: 0.5)  # nothing ever rises
    whole = fit(patient, accelerator, seed=3)
    assert len(whole.rows) == 5  # two after the first bring nothing, in two more the rate falls
    held, seen = open_folder(tmp_path), []

    def stopping(module, batch):
        seen.append(1)
        if len(seen) == 21:  # in the first epoch of the fall
            os.kill(os.getpid(), signal.SIGINT)
        return loss(module, batch)

    with pytest.raises(KeyboardInterrupt):
        fit(replace(patient, module=build_network(), loss=stopping), accelerator, seed=3, checkpoints=held)
    again = fit(replace(patient, module=build_network()), accelerator, seed=3, checkpoints=held)
    assert same(whole.module, again.module) and plain(whole.rows) == plain(again.rows)


def test_a_tail_follows_while_validation_rises_and_resumes_there(accelerator, tmp_path):
    figures = [0.1, 0.2, 0.3, 0.4, 0.41, 0.41, 0.41]  # flat over a quarter of the epochs only after seven

    def tailed():
        rows = iter(figures[len(done) :])
        return replace(task(epochs=4, tail=9), module=build_network(), better=lambda found: next(rows))

    done: list[dict] = []
    whole = fit(tailed(), accelerator, seed=3)
    assert len(whole.rows) == 7
    held, seen = open_folder(tmp_path), []

    def stopping(module, batch):
        seen.append(1)
        if len(seen) == 27:  # in the fifth epoch, the first of the tail
            os.kill(os.getpid(), signal.SIGINT)
        return loss(module, batch)

    with pytest.raises(KeyboardInterrupt):
        fit(replace(tailed(), loss=stopping), accelerator, seed=3, checkpoints=held)
    done = read_state(held, "toy").rows
    assert len(done) == 4
    again = fit(tailed(), accelerator, seed=3, checkpoints=held)
    assert same(whole.module, again.module) and plain(whole.rows) == plain(again.rows)


def test_an_average_moves_with_what_learns_and_counts_what_is_counted():
    module = build_network()
    module[0].requires_grad_(False)
    average = WeightAverage(module)
    before = {name: tensor.clone() for name, tensor in module.state_dict().items()}
    with torch.no_grad():
        for tensor in module.state_dict().values():
            tensor += 2
    average.update(0.5, step=100)
    found = average.module.state_dict()
    assert torch.equal(found["0.weight"], before["0.weight"])  # it is not learned, so it stays
    for name in ("3.weight", "1.running_mean"):
        torch.testing.assert_close(found[name], before[name] + 1)
    assert found["1.num_batches_tracked"] == before["1.num_batches_tracked"] + 2
