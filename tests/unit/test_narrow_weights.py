"""Weights in int8 with a step per row: how far they are off, how they are read, and what is refused."""

import json

import pytest

from lazy import lazy
from shiftscope.answer import is_same_answer
from shiftscope.files import digest_of
from shiftscope.model import ModelOptions, ModelSetting, Prompt
from shiftscope.models import p_nsvqa
from shiftscope.models.nsvqa.trained_model import QUESTION_PARSER, SHIPPED, TrainedModel
from shiftscope.picture import Picture
from shiftscope.schemas.clevr import SCHEMA
from shiftscope.suites.clevr.suite import SUITE, ClevrSpec
from shiftscope.trained_folder import MODEL_FILE, NARROW, STEP, narrow_weights
from tools import narrow_weights as tool

torch, safetensors = lazy("torch"), lazy("safetensors.torch")

FOLDER = SHIPPED / "clevr"


class Words(TrainedModel):
    """A folder of one part, without a description: only its weights are read."""

    def read_bytes(self, part):
        return (self.folder / f"{part}.safetensors").read_bytes()


@pytest.fixture
def module():
    torch.manual_seed(0)
    made = torch.nn.Sequential(
        torch.nn.Conv2d(16, 32, 3), torch.nn.BatchNorm2d(32), torch.nn.Flatten(), torch.nn.Linear(64, 96)
    )
    with torch.no_grad():
        made[3].weight[0] = 0  # nothing to take a step from
        made[3].weight[1] *= 2e-5  # a float16 step of it would be far too coarse
    return made


def pack(module):
    return safetensors.save({name: tensor.contiguous() for name, tensor in module.state_dict().items()})


def write(folder, held):
    (folder / "words.safetensors").write_bytes(held if isinstance(held, bytes) else safetensors.save(held))
    return Words(folder, {})


def test_entries_are_off_by_half_a_step_at_most(module, tmp_path):
    wide, narrow = pack(module), narrow_weights(pack(module))
    assert len(narrow) < 0.35 * len(wide)  # of float32
    assert narrow_weights(narrow) == narrow
    found = write(tmp_path, narrow).read_tensors("words")
    assert found.keys() == module.state_dict().keys()
    for name, tensor in module.state_dict().items():
        if name in ("0.weight", "3.weight"):
            bound = tensor.flatten(1).abs().amax(1) / 127 / 2
            off = (found[name] - tensor).flatten(1).abs().amax(1)
            assert (off <= bound * (1 + 1e-5)).all() and off.max() > 0
        else:
            assert found[name].equal(tensor) and found[name].dtype == tensor.dtype
    same = write(tmp_path, narrow).load("words", module)
    assert same[3].weight.dtype == torch.float32 and same[3].weight.equal(found["3.weight"])


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda held: held.pop("3.weight" + STEP), "words.safetensors is not a file of weights"),
        (lambda held: held.update({"3.weight" + STEP: torch.ones(1)}), "words.safetensors is not a file of weights"),
        (lambda held: held.pop("3.weight" + NARROW), "words.safetensors does not fit its config"),
        (lambda held: held["3.weight" + STEP].fill_(torch.inf), "words.safetensors holds weights that are not finite"),
    ],
)
def test_a_file_that_lacks_matrices_or_steps_is_refused(change, sentence, module, tmp_path, refuses):
    held = safetensors.load(narrow_weights(pack(module)))
    change(held)
    with refuses(sentence):
        write(tmp_path, held).load("words", module)


def test_what_ships_for_clevr_is_narrow_and_says_so():
    shipped = TrainedModel.read(FOLDER)
    assert sum(len(shipped.read_bytes(part)) for part in shipped.parts) < tool.MOST
    for part in shipped.parts:
        assert any(name.endswith(NARROW) for name in safetensors.load(shipped.read_bytes(part)))
        assert shipped.about[part]["narrowed_from"] != shipped.about[part]["blake2b"]


def test_what_ships_for_clevr_answers():
    images, questions = SUITE.make_shard(ClevrSpec(images=60).spec(), "val", 0)
    shown = {image.id: Picture(image.png) for image in images}
    prompts = [Prompt(q, pictures=(shown[q.scenes[0]],)) for q in questions]
    model = p_nsvqa.build("", ModelSetting(schema=SCHEMA, options=ModelOptions(device="cpu")))
    right = sum(
        is_same_answer(r.answer, p.question.answer) for r, p in zip(model.predict(prompts), prompts, strict=True)
    )
    assert right >= 0.93 * len(prompts)


def test_the_tool_ships_what_a_training_wrote(tmp_path, monkeypatch, refuses):
    shipped, out = TrainedModel.read(FOLDER), tmp_path / "weights"
    monkeypatch.setattr(tool, "SHIPPED", out)
    half = safetensors.save({n: t.half() for n, t in shipped.read_tensors(QUESTION_PARSER).items()})
    entry = {k: v for k, v in shipped.about[QUESTION_PARSER].items() if k != "narrowed_from"}
    about = {k: v for k, v in shipped.about.items() if k != "scene_parser"}
    about[QUESTION_PARSER] = entry | {"blake2b": digest_of(half)}
    TrainedModel.write(tmp_path / "trained", about, {QUESTION_PARSER: half})
    target = tool.ship(tmp_path / "trained")
    made = json.loads((target / MODEL_FILE).read_text())[QUESTION_PARSER]
    assert made["narrowed_from"] == digest_of(half) and made["val"] == entry["val"]
    assert len(TrainedModel.read(target).read_bytes(QUESTION_PARSER)) < 0.55 * len(half)
    before = (target / MODEL_FILE).read_bytes()
    assert tool.ship(target) == target and (target / MODEL_FILE).read_bytes() == before
    monkeypatch.setattr(tool, "MOST", 1000)
    with refuses("bytes of weights, more than 1,000"):
        tool.ship(tmp_path / "trained")
