"""What is trained on: a folder or a suite's world, the same examples either way, whoever makes them."""

from dataclasses import replace

import numpy as np
import pytest

from lazy import lazy
from shiftscope.lang.scene_posterior import build_certain_posterior, concatenate_posteriors
from shiftscope.models.nsvqa.training import ImageExamples, NeuroSymbolicTraining
from shiftscope.run.make import make
from shiftscope.scene_table import pack_scenes
from shiftscope.store.question_part import QuestionPart
from shiftscope.store.shard import read_images
from shiftscope.suites.clevr import suite as clevr
from shiftscope.train.data import SuiteTrainingData, gather_split, open_training_data
from shiftscope.train.process_group import ProcessGroup

torch = lazy("torch")

ORDER = clevr.ClevrSpec(images=12, size=(96, 64), questions=2, shard=3)
WORLD = SuiteTrainingData("clevr", ORDER)
SCENES, PAIRS = NeuroSymbolicTraining.stages
ALL = {"stages": (SCENES, PAIRS), "device": "cpu"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    out = tmp_path_factory.mktemp("train") / "data"
    make("clevr", ORDER, out, workers=1)
    return out


def test_a_world_and_the_dataset_made_of_it_are_the_same_to_train_on(folder):
    drawn, stored = (gather_split(WORLD, "train", **ALL), gather_split(open_training_data(str(folder)), "train", **ALL))
    assert len(drawn.pixels) == WORLD.count("train") == 10
    assert torch.equal(drawn.pixels, stored.pixels)
    assert drawn.scenes == stored.scenes == ()  # nobody asks for those of train
    assert drawn.supervision[PAIRS.name] == stored.supervision[PAIRS.name]
    for name in ("boxes", "attributes", "places", "part_boxes", "part_attributes", "owners"):
        ours, theirs = getattr(drawn.supervision[SCENES.name], name), getattr(stored.supervision[SCENES.name], name)
        assert np.array_equal(ours, theirs, equal_nan=name == "places")
    chosen, kept = (gather_split(WORLD, "val", **ALL), gather_split(open_training_data(str(folder)), "val", **ALL))
    assert [s.id for s in chosen.scenes] == [s.id for s in kept.scenes] == ["clevr_val_000000"]
    asked = gather_split(WORLD, "train", [PAIRS], device="cpu")
    assert asked.supervision[PAIRS.name] == drawn.supervision[PAIRS.name]
    assert asked.pixels is None


def test_only_so_many_images_of_a_folder(folder):
    few = gather_split(open_training_data(str(folder), images=4), "train", **ALL)
    assert len(few.pixels) == 4
    assert len(few.supervision[PAIRS.name]) == 8
    assert len(gather_split(open_training_data(str(folder), images=4), "val", **ALL).pixels) == 1


def test_of_a_dataset_all_images_are_learned_from_unless_a_number_is_given(folder, monkeypatch, refuses):
    """A part names questions, and one about several images is lost with the first of them that is left out."""
    there = open_training_data(str(folder)).dataset.count("train")[0]
    monkeypatch.setattr("shiftscope.train.data.USUAL_IMAGES", there - 1)
    assert len(gather_split(open_training_data(str(folder)), "train", **ALL).pixels) == there
    part = QuestionPart("some", frozenset(), "train", "")
    with refuses(f"some are about images that --images {there - 1} leaves out"):
        open_training_data(str(folder), images=there - 1, part=part)


def gather_in_turn(data, split, processes):
    """The split as the last of so many processes has it."""

    class Turn(ProcessGroup):
        def gather(self, mine):
            gathered.extend(mine)
            return list(gathered)

        def exchange_blocks(self, table, block):
            for number, start in enumerate(range(0, len(table), block)):
                if self.owns(number):
                    blocks[start] = table[start : start + block].clone()
                elif start in blocks:
                    table[start : start + block] = blocks[start]

    gathered, blocks = [], {}
    for index in range(processes):
        found = gather_split(data, split, group=Turn(index, processes), **ALL)
    return found


@pytest.mark.parametrize("processes", [2, 3, 5])
def test_what_several_processes_make_is_what_one_makes(processes, folder, monkeypatch):
    monkeypatch.setattr("shiftscope.train.data.DECODED", 3)
    for data in (WORLD, open_training_data(str(folder))):
        for split in ("train", "val"):  # blocks of 3, 3, 3 and 1, and one of 1
            alone, shared = gather_split(data, split, **ALL), gather_in_turn(data, split, processes)
            assert torch.equal(shared.pixels, alone.pixels)
            assert shared.scenes == alone.scenes
            assert shared.supervision[PAIRS.name] == alone.supervision[PAIRS.name]
            ours, theirs = shared.supervision[SCENES.name], alone.supervision[SCENES.name]
            assert np.array_equal(ours.boxes, theirs.boxes)


def test_a_batch_is_picked_by_number():
    found = gather_split(WORLD, "train", **ALL)
    examples = ImageExamples(found, "cpu")
    batch = examples.batch(torch.tensor([7, 2]))
    assert torch.equal(batch.images, found.pixels[[7, 2]])
    assert np.array_equal(batch.labels.boxes.numpy(), found.supervision[SCENES.name].boxes[[7, 2]])
    epoch = examples.epoch(4, np.random.default_rng(0))
    assert [len(rows) for rows in epoch] == [4, 4]
    assert len({int(k) for rows in epoch for k in rows}) == 8


def test_a_picture_that_can_not_be_read_is_named(folder, monkeypatch, refuses):
    def torn(path):
        for image in read_images(path):
            object.__setattr__(image, "png", image.png[:60])
            yield image

    monkeypatch.setattr("shiftscope.train.data.read_images", torn)
    with refuses("image 'clevr_train_000000' cannot be read ("):
        gather_split(open_training_data(str(folder)), "train", **ALL)


def test_beliefs_are_joined_in_numpy_and_in_torch():
    scenes = tuple(scene for k in range(2) for scene, _ in WORLD.source("train", False).block(k))
    whole = build_certain_posterior(pack_scenes(scenes))
    for kind in (whole, whole.to("cpu")):
        again = concatenate_posteriors([kind.take(slice(0, 3)), kind.take(slice(3, 4)), kind.take(slice(4, None))])
        assert type(again.exists) is type(kind.exists) and again.schema == whole.schema
        ours, theirs = again.to_numpy(), whole
        assert np.array_equal(ours.boxes, theirs.boxes) and np.array_equal(ours.part_owner, theirs.part_owner)
        assert np.array_equal(ours.places, theirs.places)
        assert all(map(np.array_equal, ours.attributes, theirs.attributes))


@pytest.mark.parametrize("images", [4, 5, 12, 13, 14, 15, 20_000])
def test_so_many_images_are_for_training(images):
    data = open_training_data("superclevr:hard", images=images)
    assert data.count("train") == images
    assert data.count("val") == pytest.approx(images / 4, abs=1.5)
    assert data.spec.visual == "hard"
    assert (data.name, data.variant, data.schema.name) == ("superclevr:hard", "hard", "superclevr")


def test_what_can_not_be_trained_on_is_refused(refuses, folder, tmp_path):
    for name, sentence in [
        ("superclver", "superclver: no such folder, nor a suite that can be trained on; did you mean 'superclevr'?"),
        ("superclevr:head", "superclevr:head is for testing alone; train on another variant"),
        ("superclevr:lonng", "no variant 'lonng' in superclevr; did you mean 'long'?"),
        ("clevr:hard", "suite 'clevr' has one variant; write --data clevr[:hypothetical]"),
        ("clevr_hyp:hard", "suite 'clevr_hyp' has no variants; write --data clevr_hyp"),
        (str(tmp_path / "none"), "no dataset there"),
    ]:  # fmt: skip
        with refuses(sentence):
            open_training_data(name)
    with refuses("is made already: --visual is for a suite"):
        open_training_data(str(folder), visual="hard")
    with refuses("2 training images leave none to choose by"):
        open_training_data("superclevr", images=2)
    make("clevr", replace(ORDER, images=2), tmp_path / "small", workers=1)
    with refuses("has no images in a split 'val'"):
        open_training_data(str(tmp_path / "small"))
