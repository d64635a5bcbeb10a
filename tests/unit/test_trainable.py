"""A model of one's own that `train` can train: a few lines, on a processor."""

import json
from collections import namedtuple
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from lazy import lazy
from shiftscope.folder import open_folder
from shiftscope.model import ModelTraits
from shiftscope.run.make import make
from shiftscope.suites.clevr import suite as clevr
from shiftscope.train import train as training
from shiftscope.train.checkpoint import read_state, write_state
from shiftscope.train.loop import TrainingPaused
from shiftscope.train.train import TrainSpec, train
from shiftscope.trainable import ANSWERS, Trainable, TrainRecipe, TrainStage, shuffle_batches
from shiftscope.trained_folder import TRAINING_FOLDER, TrainedFolder

torch = lazy("torch")

Batch = namedtuple("Batch", ["words", "targets"])


@dataclass(frozen=True)
class Config:
    words: tuple[str, ...]

    def to_json(self):
        return {"words": list(self.words)}


class Examples:
    def __init__(self, pairs, config):
        rows = [[word in text for word in config.words] for text, _ in pairs]
        self.words = torch.tensor(rows, dtype=torch.float32)
        self.targets = torch.tensor([int(yes) for _, yes in pairs])

    def __len__(self):
        return len(self.words)

    def epoch(self, batch, random):
        return shuffle_batches(len(self), batch, random)

    def batch(self, rows):
        return Batch(self.words[rows], self.targets[rows])


class WordStage(TrainStage):
    """Whether the answer is a number, from the words of the question."""

    name = "words"
    supervision = frozenset((ANSWERS,))
    recipe = TrainRecipe(epochs=2, batch=4, lr=0.1)
    learns_vocabulary = True

    def collect(self, scenes, questions):
        return [(q.text, isinstance(q.answer, int) and not isinstance(q.answer, bool)) for q in questions]

    def fit_vocabulary(self, schema, train):
        return Config(tuple(sorted({word for text, _ in train.supervision[self.name] for word in text.split()})))

    def read_config(self, data):
        return Config(tuple(data["words"]))

    def build(self, config, parts):
        return torch.nn.Linear(len(config.words), 2)

    def make_examples(self, data, config, device):
        return Examples(data.supervision[self.name], config)

    def logits(self, module, batch):
        return module(batch.words)


class TrainedWords(TrainedFolder):
    KIND, PARTS = "words", {"words": "words"}


class Words(Trainable):
    stages = (WordStage(),)
    folder = TrainedWords


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    out = tmp_path_factory.mktemp("words") / "data"
    make("clevr", clevr.ClevrSpec(images=12, size=(96, 64), questions=4), out, workers=1)
    return out


def test_a_model_of_a_few_lines_is_trained(data, tmp_path, monkeypatch):
    monkeypatch.setattr(training, "find_trainable", lambda model: Words())
    spec = TrainSpec("words", str(data), device="cpu")
    made = train(spec, tmp_path / "model")
    assert isinstance(made, TrainedWords) and made.new and made.parts == ("words",)
    stage = WordStage()
    module = made.load("words", stage.build(stage.read_config(made.config("words")), {}))
    assert module.weight.shape == (2, len(made.config("words")["words"]))
    again = train(spec, tmp_path / "again")
    assert again.id() == made.id()  # the same seed gives the same weights
    assert not train(spec, tmp_path / "model").new
    assert json.loads((tmp_path / "model" / "model.json").read_text())["kind"] == "words"
    assert sorted(p.name for p in Path(tmp_path / "model").iterdir()) == [
        "model.json", "training.jsonl", "words.safetensors"
    ]  # fmt: skip


def test_a_training_that_was_paused_tells_the_seconds_of_all_its_starts(data, tmp_path, monkeypatch):
    monkeypatch.setattr(training, "find_trainable", lambda model: Words())
    spec = TrainSpec("words", str(data), device="cpu")
    with pytest.raises(TrainingPaused):
        train(replace(spec, minutes=1e-9), tmp_path)
    checkpoints = open_folder(tmp_path / TRAINING_FOLDER)
    write_state(checkpoints, "words", replace(read_state(checkpoints, "words"), seconds=1000.0))
    seconds = train(spec, tmp_path).about["seconds"]
    assert 1000 < seconds["words"] < seconds["all"] < 1100


def test_an_unknown_part_is_refused(data, monkeypatch, refuses):
    monkeypatch.setattr(training, "find_trainable", lambda model: Words())
    with refuses("no part 'wrods'; did you mean 'words'?"):
        TrainSpec("words", str(data), only="wrods")


def test_a_model_that_cannot_be_trained_is_refused(refuses):
    with refuses("no trainable model 'oracle'"):
        TrainSpec("oracle", "data")
    assert ModelTraits().trainable is None


class TrainedThree(TrainedFolder):
    KIND, PARTS = "three", {name: name for name in ("one", "two", "three")}


class Three(Trainable):
    """A model of three parts that makes its stages anew each time, as one with settings does."""

    folder = TrainedThree

    def __init__(self):
        self.stages = tuple(type(name, (WordStage,), {"name": name})() for name in TrainedThree.PARTS)

    def configure(self, settings):
        return Three()


def test_several_parts_are_trained_and_the_others_taken(data, tmp_path, monkeypatch, refuses):
    monkeypatch.setattr(training, "find_trainable", lambda model: Three())
    first = train(TrainSpec("three", str(data), device="cpu"), tmp_path / "first")
    spec = TrainSpec("three", str(data), device="cpu", seed=1, only="one,three", other=tmp_path / "first")
    made = train(spec, tmp_path / "second")
    assert {part: made.about[part]["seed"] for part in made.parts} == {"one": 1, "two": 0, "three": 1}
    same = {part: made.read_bytes(part) == first.read_bytes(part) for part in made.parts}
    assert same == {"one": False, "two": True, "three": False}  # what was trained is not replaced by what it began from
    with refuses("no part 'four'"):
        TrainSpec("three", str(data), only="one,four")
