"""Two real processes train together, on a CPU with gloo: what they learn is what one process learns."""

import os
import time

import pytest

from lazy import lazy
from shiftscope.errors import UserError
from shiftscope.folder import open_folder
from shiftscope.train.checkpoint import read_state
from shiftscope.train.launch import call_in_processes

together = lazy("together")


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """By one process, and by two."""
    one, two = (tmp_path_factory.mktemp(name) for name in ("one", "two"))
    function = together.train_toy
    return function(one), call_in_processes(function, (two,), 2), two


def fail_first():
    if os.environ["RANK"] == "0":
        raise UserError("no more")
    time.sleep(60)  # as one that waits for the first


def near(found, **tolerance):
    """Numbers in lists in dicts, as approximate ones."""
    if isinstance(found, dict):
        return {name: near(value, **tolerance) for name, value in found.items()}
    if isinstance(found, list):
        return [near(value, **tolerance) for value in found]
    return pytest.approx(found, **tolerance)


def test_a_batch_in_two_parts_has_the_loss_and_gradients_of_the_whole(trained):
    one, two, _ = trained
    assert (one["process"], two["process"]) == ((0, 1), (0, 2))
    for what in ("losses", "slopes", "buffers"):
        assert two[what] == near(one[what], abs=1e-5), what
    assert max(abs(x) for row in one["slopes"]["module.0.weight"] for x in row) > 0.01  # which are some
    assert one["buffers"]["module.1.running_mean"] != [0.0] * 8


def test_a_training_by_two_ends_where_that_of_one_does(trained):
    one, two, _ = trained
    figures = [[{k: row[k] for k in ("epoch", "examples")} for row in made["rows"]] for made in (one, two)]
    assert figures[0] == figures[1]
    assert [row["losses"] for row in two["rows"]] == near([row["losses"] for row in one["rows"]], rel=1e-3)
    assert two["weights"] == near(one["weights"], abs=2e-3)


def test_validation_examples_are_counted_once_each(trained):
    one, two, _ = trained
    task = together.make_task()
    assert two["counts"]["right"][1] == one["counts"]["right"][1] == int(task.val.there.sum())
    assert two["few"]["right"][1] == one["few"]["right"][1] == int(task.val.there[:4].sum())
    assert abs(two["counts"]["right"][0] - one["counts"]["right"][0]) <= 1


def test_a_checkpoint_of_two_processes_is_resumed_by_one(trained, tmp_path):
    one, two, folder = trained
    assert one["paused"] and two["paused"]
    state = read_state(open_folder(folder / "paused"), "toy")
    assert state.step == 8  # the first after which they look at the clock together
    made = together.fit(
        together.make_task(), together.make_accelerator("cpu"), seed=3, checkpoints=open_folder(folder / "paused")
    )
    assert together.to_lists(made.module.state_dict().items()) == near(one["weights"], abs=2e-3)
    assert [row["epoch"] for row in made.rows] == [1, 2, 3]


def test_a_process_that_dies_ends_the_others_with_a_sentence(refuses):
    with refuses("of the training ended (exit code 9), perhaps because memory ran out; run the same command again"):
        call_in_processes(os._exit, (9,), 2)
    with refuses("no more"):
        call_in_processes(fail_first, (), 2)


def test_too_few_examples_for_the_processes(refuses, monkeypatch):
    task, accelerator = together.make_task(), together.make_accelerator("cpu")
    monkeypatch.setattr(type(accelerator), "num_processes", 14)
    with refuses("a batch of 13 examples cannot be shared by 14 processes; start fewer"):
        together._TrainingLoop(task, accelerator, 0, None)


def test_processes_do_not_start_processes(refuses, monkeypatch):
    from shiftscope.train.launch import refuse_nested

    monkeypatch.setenv("WORLD_SIZE", "2")
    with refuses("a launcher has started 2 processes already; omit --processes 2"):
        refuse_nested(2)


@pytest.mark.full
@pytest.mark.parametrize("model", ["nsvqa", "lstm", "cnn_lstm", "film", "vit_lm", "mdetr", "nscl"])
def test_every_part_of_every_model_learns_the_same_from_two_halves(model):
    """Gradients, and the statistics of batch norms; of images and tokens in parts of unequal numbers."""
    passes = lazy("trainable_passes").take_passes
    one, two = passes(model, 7), call_in_processes(passes, (model, 7), 2)
    assert one.keys() == two.keys()
    for stage, alone in one.items():
        assert two[stage]["losses"] == near(alone["losses"], abs=1e-5), stage
        assert two[stage]["buffers"] == near(alone["buffers"], abs=1e-5), stage
        pairs = [
            pair
            for name, slope in alone["slopes"].items()
            for pair in zip(flatten(slope), flatten(two[stage]["slopes"][name]), strict=True)
        ]
        off, size = sum((a - b) ** 2 for a, b in pairs), sum(a**2 for a, _ in pairs)
        assert size > 1e-6 and off < 1e-5**2 * size, (stage, off / size)


def flatten(nested):
    if isinstance(nested, list):
        for one in nested:
            yield from flatten(one)
    else:
        yield nested
