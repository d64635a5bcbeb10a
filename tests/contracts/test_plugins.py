"""An installed package adds a world, a suite, a model, a metric and more, one file each; nothing else is touched."""

import json
import os
import subprocess
import sys

import pytest

WORLD = '''"""Toy world: one to three red or blue cubes in a row."""

from dataclasses import dataclass, replace

from shiftscope.geometry.camera import BASE_POSITION, SIZE, Camera
from shiftscope.geometry.shapes import clevr
from shiftscope.rng import derive
from shiftscope.scene import Object, Scene
from shiftscope.schema import Attribute, Schema
from shiftscope.world import World

SCHEMA = Schema("toy_world", (Attribute("color", ("red", "blue")), Attribute("shape", ("cube",))))


@dataclass(frozen=True)
class ToyRules:
    size: tuple[int, int] = SIZE


def sample_scene(seed, split, index, rules):
    draw = derive("toy_world", seed, split, index)
    colors = [("red", "blue")[k] for k in draw.integers(2, size=1 + draw.integers(3))]
    cubes = tuple(
        Object((("color", color), ("shape", "cube")), position=(2.0 * i - 2.0, 0.0, 0.35))
        for i, color in enumerate(colors)
    )
    where = Camera(BASE_POSITION).directions()
    name, notes = f"toy_{split}_{index}", (("camera", BASE_POSITION),)
    return Scene(cubes, directions=where, schema=SCHEMA, size=rules.size, id=name, notes=notes)


def body(thing):
    rest = (("size", "small"), ("material", "rubber"))
    return clevr.body(replace(thing, attributes=(*thing.attributes, *rest)))


WORLD = World(SCHEMA, ToyRules, sample_scene, body)
'''

SUITE = '''"""Toy suite: how many cubes have a color."""

from dataclasses import dataclass
from typing import ClassVar

from shiftscope.lang.exec.exact import execute
from shiftscope.lang.text import parse_program
from shiftscope.question import Provenance, Question
from shiftscope.store.manifest import DatasetInfo
from shiftscope.suites import Suite, SuiteSpec, option, seed_option, shard_option, size_option
from shiftscope.world import load_world


@dataclass(frozen=True, slots=True)
class ToySpec(SuiteSpec):
    suite: ClassVar[str] = "toy"
    version: ClassVar[int] = 1
    question_fields: ClassVar[tuple[str, ...]] = ()

    images: int = option(9, "How many images, a third for each split.", min=3)
    seed: int = seed_option()
    size: tuple[int, int] = size_option()
    asked_colors: str = option("red,blue", "Which colors to ask about.")
    shard: int = shard_option(2)

    def splits(self):
        return dict.fromkeys(("train", "val", "test"), self.images // 3)


class ToySuite(Suite[ToySpec]):
    spec = ToySpec
    about = DatasetInfo(title="Toy")
    help = "Make a toy dataset."
    world = "toy_world"
    trainable = True

    def sample_scenes(self, spec, split, k, places, inputs=None):
        world = load_world(self.world)
        rules, which = world.rules(size=spec.size), spec.shard_range(split, k)
        return [world.sample(rules, spec.seed, split, which[i]) for i in places]

    def ask(self, spec, split, k, scenes, inputs=None, *, grounding=False):
        return [q for s in scenes for q in self.ask_about(s, spec, split)]

    def ask_about(self, scene, spec, split):
        for color in spec.asked_colors.split(","):
            program = parse_program(f"count(filter(scene(), color={color}))")
            yield Question(
                id=f"{scene.id}_{color}",
                text=f"How many {color} cubes are there?",
                scenes=(scene.id,),
                program=program,
                answer=execute(program, scene).answer,
                kind="count",
                provenance=Provenance("toy", split, color),
            )


SUITE = ToySuite()
'''

MODEL = '''"""Toy model: the answer that fits a question's words best; trained on questions alone."""

from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from shiftscope.model import TEXT, ModelTraits, Response
from shiftscope.trainable import ANSWERS, Trainable, TrainRecipe, TrainStage, shuffle_batches
from shiftscope.trained_folder import TrainedFolder

COLORS = ("red", "blue")


@dataclass(frozen=True)
class ToyConfig:
    answers: int

    def to_json(self):
        return asdict(self)


class ToyBatch(NamedTuple):
    inputs: Any
    targets: Any


class ToyExamples:
    def __init__(self, pairs, device):
        import torch

        self.inputs = encode([text for text, _ in pairs]).to(device)
        self.targets = torch.tensor([answer for _, answer in pairs]).to(device)

    def __len__(self):
        return len(self.targets)

    def epoch(self, batch, random):
        return shuffle_batches(len(self), batch, random)

    def batch(self, rows):
        return ToyBatch(self.inputs[rows], self.targets[rows])


def encode(texts):
    import torch

    return torch.tensor([[float(color in text) for color in COLORS] for text in texts])


class AnswerStage(TrainStage):
    name = "answerer"
    supervision = frozenset((ANSWERS,))
    recipe = TrainRecipe(epochs=1, batch=4, lr=0.1)
    learns_vocabulary = True

    def collect(self, scenes, questions):
        return [(q.text, int(q.answer)) for q in questions]

    def fit_vocabulary(self, schema, train):
        return ToyConfig(1 + max(answer for _, answer in train.supervision[self.name]))

    def read_config(self, data):
        return ToyConfig(**data)

    def build(self, config, parts):
        import torch

        return torch.nn.Linear(len(COLORS), config.answers)

    def make_examples(self, data, config, device):
        kept = [pair for pair in data.supervision[self.name] if pair[1] < config.answers]
        return ToyExamples(kept, device)

    def logits(self, module, batch):
        return module(batch.inputs)


class ToyFolder(TrainedFolder):
    KIND = "toy_model"
    PARTS = {"answerer": "answerer"}


class ToyTrainable(Trainable):
    stages = (AnswerStage(),)
    folder = ToyFolder


class ToyModel:
    def __init__(self, module):
        self.module = module

    def predict(self, batch):
        found = self.module(encode([prompt.question.text for prompt in batch])).argmax(-1)
        return [Response(answer=int(answer)) for answer in found]


TRAITS = ModelTraits(
    target="toy_model:FOLDER", reads=frozenset((TEXT,)), stored=True, trainable=ToyTrainable()
)


def build(target, setting):
    folder, stage = ToyFolder.find("toy_model", target, setting.schema), AnswerStage()
    return ToyModel(folder.load("answerer", stage.build(stage.read_config(folder.config("answerer")), {})))
'''

METRIC = '''"""Toy metric: the share of answers that are the number one."""

from shiftscope.result import Score


def measure(records):
    return (Score("toy_metric", 0.25, len(records)),)
'''

SHIFT = '''"""Toy shift: every question is its own test set."""


def sets(samples, settings=None):
    return ()
'''

FORMAT = '''"""Toy format: CLEVR scenes as a list of colors."""

from shiftscope.geometry.camera import BASE_POSITION, Camera
from shiftscope.json_files import load_json
from shiftscope.scene import Object, Scene
from shiftscope.schemas.clevr import SCHEMA


def sniff_scenes(file):
    return isinstance(file.outline, dict) and "toy_scenes" in file.outline


def read_scenes(path):
    rest = (("size", "small"), ("material", "rubber"), ("shape", "cube"))
    for k, colors in enumerate(load_json(path)["toy_scenes"]):
        cubes = tuple(
            Object((*rest, ("color", color)), position=(2.0 * i - 2.0, 0.0, 0.35)) for i, color in enumerate(colors)
        )
        where = Camera(BASE_POSITION).directions()
        yield Scene(cubes, directions=where, schema=SCHEMA, id=f"s{k}", notes=(("camera", BASE_POSITION),))
'''

SECTION = '''"""Toy section: how many runs there are."""

from shiftscope.report.page import Section

PLACES = {"report": 1}


def section(runs):
    return Section("Toy section", [f"There are {len(runs.runs)} runs."])
'''

FILES = {"world": WORLD, "suite": SUITE, "model": MODEL, "metric": METRIC, "shift": SHIFT, "format": FORMAT}
FILES["section"] = SECTION
GROUPS = {"suite": "toy"}  # names other than toy_KIND


def write_package(folder, files, name="shiftscope-toy", points=None):
    """What `pip install` would leave in a folder of packages: modules, and a dist-info that names them."""
    package = folder / name.replace("-", "_")
    package.mkdir(parents=True)
    (package / "__init__.py").write_text('raise RuntimeError("imported to be listed")\n' if name == "lazy" else "")
    for kind, text in files.items():
        (package / f"toy_{kind}.py").write_text(text)
    info = folder / f"{package.name}-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n")
    listed = points or {f"{kind}s": {GROUPS.get(kind, f"toy_{kind}"): f"{package.name}.toy_{kind}"} for kind in files}
    lines = []
    for group, names in listed.items():
        lines += [f"[shiftscope.{group}]", *(f"{name} = {module}" for name, module in names.items())]
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n")
    return folder


def shiftscope(site, *words):
    path = os.pathsep.join(filter(None, (str(site), os.environ.get("PYTHONPATH", ""))))
    return subprocess.run(
        [sys.executable, "-m", "shiftscope", *map(str, words)],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": path, "COLUMNS": "200"},
        check=False,
    )


def succeed(site, *words):
    ended = shiftscope(site, *words)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    return write_package(tmp_path_factory.mktemp("site"), FILES)


@pytest.fixture(scope="module")
def made(site, tmp_path_factory):
    out = tmp_path_factory.mktemp("made") / "toy"
    told = succeed(site, "make", "toy", "--images", 9, "--size", "96x64", "--workers", 2, "--json", "--out", out)
    return out, json.loads(told)


def test_what_plugins_add_is_listed(site):
    listed = {
        (d["section"], d["name"]): d["summary"] for d in map(json.loads, succeed(site, "list", "--json").splitlines())
    }
    assert listed["worlds", "toy_world"] == "Toy world: one to three red or blue cubes in a row."
    assert listed["suites", "toy"] == "Toy suite: how many cubes have a color."
    for kind in ("model", "metric", "shift", "format", "section"):
        assert listed[f"{kind}s", f"toy_{kind}"]


def test_a_suite_of_a_plugins_world_is_made_by_its_options(made):
    out, told = made
    assert told["splits"] == {s: {"images": 3, "questions": 6} for s in ("train", "val", "test")}
    manifest = json.loads((out / "manifest.json").read_text())
    assert manifest["spec"] == {
        "suite": "toy",
        "version": 1,
        "images": 9,
        "seed": 0,
        "size": [96, 64],
        "asked_colors": "red,blue",
        "shard": 2,
    }


def test_its_options_are_in_the_help(site):
    assert "--asked-colors" in succeed(site, "make", "toy", "--help")
    assert "Toy suite: how many cubes have a color." in succeed(site, "make", "--help")


def test_scenes_of_a_plugins_world_are_made(site, tmp_path):
    told = json.loads(
        succeed(
            site,
            "make",
            "scenes",
            "--world",
            "toy_world",
            "-n",
            3,
            "--size",
            "96x64",
            "--json",
            "--out",
            tmp_path / "s",
        )
    )
    assert told["splits"]["test"] == {"images": 1, "questions": 2}


@pytest.fixture(scope="module")
def run(site, made, tmp_path_factory):
    """A plugin's model, trained on a plugin's data and run on them."""
    pytest.importorskip("torch")
    data, folder = made[0], tmp_path_factory.mktemp("run")
    words = ("--model", "toy_model", "--data", data, "--device", "cpu", "--workers", 1)
    told = json.loads(succeed(site, "train", *words, "--out", folder / "model", "--json"))
    assert told["answerer"]["val_counts"]["right"][1] == 6
    succeed(site, "run", "--model", f"toy_model:{folder / 'model'}", "--data", data, "--out", folder / "run", "--json")
    return folder / "run"


def test_a_plugins_model_is_trained_and_run_and_scored_by_its_metric(site, run):
    (score,) = map(json.loads, succeed(site, "score", run, "--metric", "toy_metric", "--json").splitlines())
    assert (score["metric"], score["value"]) == ("toy_metric", 25.0)


def test_a_plugins_section_is_on_the_page(site, run, tmp_path):
    told = json.loads(succeed(site, "report", run, "--out", tmp_path / "report.html", "--json"))
    assert "toy_section" in told["sections"]
    assert "There are 1 runs." in (tmp_path / "report.html").read_text()


def test_a_plugins_world_feeds_training(site, tmp_path):
    pytest.importorskip("torch")
    words = ("--model", "toy_model", "--data", "toy", "--images", 4, "--device", "cpu", "--workers", 1)
    told = json.loads(succeed(site, "train", *words, "--out", tmp_path / "model", "--json"))
    assert told["answerer"]["trained_on"] == "toy"


def test_files_of_a_plugins_format_are_read(site, tmp_path):
    (tmp_path / "scenes.json").write_text('{"toy_scenes": [["red", "blue"], ["green"]]}')
    told = succeed(site, "render", "--scenes", tmp_path / "scenes.json", "--size", "96x64", "--out", tmp_path / "out")
    assert "rendered 2 of 2 scenes" in told


def test_listing_imports_nothing_of_a_plugin(tmp_path):
    site = write_package(tmp_path, {"model": "import nothing_of_this_name\n" + MODEL}, name="lazy")
    ended = shiftscope(site, "list", "models")
    assert ended.returncode == 0
    assert "toy_model" in ended.stdout
    assert ended.stderr == ""


def test_a_plugin_that_cannot_be_loaded_is_one_sentence(tmp_path):
    site = write_package(tmp_path, {"metric": METRIC, "suite": "import nothing_of_this_name\n"})
    ended = shiftscope(site, "make", "toy", "--out", tmp_path / "out")
    assert ended.returncode == 2
    assert ended.stderr == (
        "shiftscope: plugin shiftscope-toy: suite 'toy' cannot be loaded "
        "(ModuleNotFoundError: No module named 'nothing_of_this_name')\n"
    )
    assert "toy_metric" in succeed(site, "list", "metrics")


def test_a_broken_plugin_hurts_nothing_else(tmp_path):
    points = {"models": {"majority": "shiftscope_toy.toy_model", "ghost": "shiftscope_toy.nowhere"}}
    site = write_package(tmp_path, {"model": MODEL}, points=points)
    ended = shiftscope(site, "list", "models", "--json")
    assert ended.returncode == 0
    listed = {d["name"]: d["summary"] for d in map(json.loads, ended.stdout.splitlines())}
    assert "ghost" not in listed and not listed["majority"].startswith("Toy model")
    assert ended.stderr.splitlines() == [
        "shiftscope: plugin shiftscope-toy: model 'ghost' is left out, there is no module shiftscope_toy.nowhere",
        "shiftscope: plugin shiftscope-toy: model 'majority' is left out, the name is taken by a built-in model",
    ]


def test_a_plugin_without_what_it_must_define_is_one_sentence(tmp_path):
    site = write_package(tmp_path, {"suite": '"""Toy suite without one."""\n'})
    ended = shiftscope(site, "make", "toy", "--out", tmp_path / "out")
    assert ended.stderr == (
        "shiftscope: plugin shiftscope-toy: suite 'toy' cannot be loaded (shiftscope_toy.toy_suite has no SUITE)\n"
    )
