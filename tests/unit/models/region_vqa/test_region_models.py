"""Models over regions: trained, run, debiased and chosen by other epochs; also from feature files, and without pictures."""

import json
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from lazy import lazy
from shiftscope.errors import UserError
from shiftscope.formats import vqa
from shiftscope.model import ModelSetting, Prompt, build_model
from shiftscope.picture import Picture
from shiftscope.question import Question
from shiftscope.schema import OPEN
from shiftscope.suites.superclevr.suite import SuperclevrSpec
from shiftscope.train.data import SuiteTrainingData, TrainValData, gather_split, open_training_data
from shiftscope.train.epochs import answer_by_epochs, list_epochs, remove_epochs
from shiftscope.train.train import TrainSpec, find_trainable, train, train_on

torch = lazy("torch")

WORLD = SuiteTrainingData(
    "superclevr", SuperclevrSpec(images=6, size=(128, 96), questions=4, part_questions=2, shard=6)
)
SMALL = (("words", "8"), ("hidden", "16"), ("visual", "16"))
NAMES = ("updn", "updn+lmh_v")


@pytest.fixture(scope="module")
def splits():
    stage = find_trainable("updn").stages[0]
    made = [gather_split(WORLD, split, [stage], device="cpu") for split in ("train", "val")]
    both = [
        replace(one, supervision=dict.fromkeys(("answerer", "vision_branch"), one.supervision["answerer"]))
        for one in made
    ]
    return TrainValData(both[0], both[1], 0.0)


@pytest.fixture(scope="module")
def folder(splits, tmp_path_factory):
    out = tmp_path_factory.mktemp("regions")
    for name in NAMES:
        spec = TrainSpec(name, "superclevr", epochs=2, settings=SMALL, device="cpu", keep_epochs=True)
        train_on(WORLD, spec, out / name, splits=splits)
    return out


@pytest.mark.parametrize("name", NAMES)
def test_a_trained_folder_answers_as_it_was_measured(name, folder, splits):
    """The whole way of a run: pictures, regions, answers; rightly answered as often as training says."""
    made = build_model(f"{name}:{folder / name}", ModelSetting(schema=WORLD.schema))
    questions = splits.val.supervision["answerer"]
    words, at = questions.texts.vocabulary, questions.texts.at
    texts = [" ".join(words[w] for w in questions.texts.codes[a:b]) for a, b in pairwise(at)]
    prompts = [
        Prompt(Question(str(k), text, ("a",)), pictures=(Picture(block=splits.val.pixels, row=int(image)),))
        for k, (text, image) in enumerate(zip(texts, questions.images, strict=True))
    ]
    from shiftscope.answer import spell

    found = [
        spell(r.answer) == questions.answer_words[a]
        for r, a in zip(made.predict(prompts), questions.answers, strict=True)
    ]
    about = json.loads((folder / name / "model.json").read_text())
    assert [sum(found), len(found)] == about["answerer"]["val_counts"]["right"]


@pytest.mark.parametrize("name", NAMES)
def test_every_epoch_is_kept_as_a_trained_folder(name, folder, splits):
    kept = list_epochs(folder / name)
    assert list(kept) == [1, 2]
    chosen = json.loads((folder / name / "model.json").read_text())["answerer"]
    same = kept[chosen["epoch"]]
    assert (same / "answerer.safetensors").read_bytes() == (folder / name / "answerer.safetensors").read_bytes()
    build_model(f"{name}:{kept[1]}", ModelSetting(schema=WORLD.schema))
    trainable = find_trainable(name).configure(dict(SMALL))
    found = list(answer_by_epochs(trainable, folder / name, {"val": splits.val}, "cpu"))
    assert [one.epoch for one in found] == [1, 2]
    right = found[chosen["epoch"] - 1].right["val"]
    assert [int(right.sum()), len(right)] == chosen["val_counts"]["right"]


def test_epochs_can_be_removed_and_are_then_missed(folder, splits, tmp_path):
    spec = TrainSpec("updn", "superclevr", epochs=1, settings=SMALL, device="cpu", keep_epochs=True)
    train_on(WORLD, spec, tmp_path / "one", splits=splits)
    remove_epochs(tmp_path / "one")
    assert list_epochs(tmp_path / "one") == {}
    with pytest.raises(UserError, match="its epochs were not kept"):
        train_on(WORLD, spec, tmp_path / "one", splits=splits)


def write_vqa(folder):
    """Questions whose answer is in the image's features alone: of even images it is yes."""
    answers = ["no" if k % 2 else "yes" for k in range(64)]
    questions = [
        Question(str(k), "is it even", (str(k % 4),), answer=answer, answers=(answer,) * 10, kind="is it")
        for k, answer in enumerate(answers)
    ]
    for name in ("train", "val"):
        vqa.write_questions(folder / f"{name}_questions.json", questions)
        vqa.write_annotations(folder / f"{name}_annotations.json", questions)
    parts = [f"{folder}/{name}_{what}.json" for what in ("questions", "annotations") for name in ("train", "val")]
    return ",".join(parts), questions


def test_files_of_features_teach_and_answer_without_pictures(tmp_path):
    data, questions = write_vqa(tmp_path)
    features = np.zeros((4, 2, 3), np.float32)
    features[::2, 0, 0] = features[1::2, 0, 1] = 1
    np.savez(tmp_path / "f.npz", image_ids=np.arange(4), features=features, boxes=np.zeros((4, 2, 4)))
    settings = (*SMALL, ("features", str(tmp_path / "f.npz")), ("lr", "0.02"))
    spec = TrainSpec("updn", data, epochs=12, settings=settings, device="cpu")
    trained = train(spec, tmp_path / "out")
    assert trained.about["answerer"]["val"]["right"] == 1.0
    made = build_model(f"updn:{trained.folder}", ModelSetting(schema=OPEN))
    assert made.reads == {"text"}
    found = made.predict([Prompt(replace(q, answer=None)) for q in questions[:8]])
    assert [r.answer for r in found] == [True, False] * 4


def test_questions_without_pictures_train_the_language_side_and_say_so(tmp_path):
    data, questions = write_vqa(tmp_path)
    small = (("words", "8"), ("hidden", "16"), ("answers", "16"))
    trained = train(TrainSpec("lstm+lmh", data, epochs=1, settings=small, device="cpu"), tmp_path / "out")
    assert "no pictures: the language side only" in trained.about["answerer"]["trained_on"]
    made = build_model(f"lstm+lmh:{trained.folder}", ModelSetting(schema=OPEN))
    assert made.predict([Prompt(replace(questions[0], answer=None))])[0].answer is not None
    with pytest.raises(UserError, match="has no pictures, and this model looks at them"):
        train(TrainSpec("updn", data, epochs=1, settings=SMALL, device="cpu"), tmp_path / "other")
    train(TrainSpec("updn+language", data, epochs=1, settings=SMALL, device="cpu"), tmp_path / "words")


def test_files_that_do_not_pair_are_refused(tmp_path):
    write_vqa(tmp_path)
    with pytest.raises(UserError, match="expected two files of questions"):
        open_training_data(f"{tmp_path}/train_questions.json,{tmp_path}/train_annotations.json")


def test_rare_answers_of_open_vocabulary_are_not_learned():
    from shiftscope.models.end_to_end.questions import AnsweredQuestions
    from shiftscope.models.end_to_end.training import list_common_answers
    from shiftscope.scene import Scene

    asked = [Question(str(k), "what", ("a",), answer="dog" if k < 9 else "cat") for k in range(17)]
    found = AnsweredQuestions.collect([Scene(objects=(), id="a")], asked)
    assert list_common_answers(OPEN, found) == ["dog"]
    assert list_common_answers(WORLD.schema, found) == ["cat", "dog"]


def test_processes_that_see_the_same_images_find_their_regions_once(splits, tmp_path, monkeypatch):
    from shiftscope.models.region_vqa import network

    stage = find_trainable("updn").stages[0]
    config = stage.fit_vocabulary(WORLD.schema, splits.train)
    alone = stage.make_questions(splits.val, config, "cpu").table
    shared = [replace(splits.val, pixels=splits.val.pixels.clone(), kept=tmp_path) for _ in range(2)]
    tables = [stage.make_questions(shared[0], config, "cpu").table]
    monkeypatch.setattr(network, "find_all_regions", None)  # from here on, to look is to fail
    tables.append(stage.make_questions(shared[1], config, "cpu").table)
    for table in tables:
        for group, other in zip(table.groups, alone.groups, strict=True):
            for name in ("features", "corners", "exists"):
                assert torch.equal(getattr(group, name), getattr(other, name))
