"""Networks that answer: what they see is computed once per image, and a trained folder answers like its training."""

import json
from dataclasses import replace

import numpy as np
import pytest

from lazy import lazy
from shiftscope.model import ModelSetting, Prompt, build_model
from shiftscope.models.cnn_lstm import CnnLstmStage
from shiftscope.models.film import FilmStage
from shiftscope.models.lstm import LstmStage
from shiftscope.models.vit_lm import VitLmStage
from shiftscope.picture import Picture
from shiftscope.question import Question
from shiftscope.suites.superclevr.suite import SuperclevrSpec
from shiftscope.train.data import SuiteTrainingData, TrainValData, gather_split
from shiftscope.train.train import TrainSpec, train_on

torch = lazy("torch")
transformers = lazy("transformers")
image_features = lazy("shiftscope.models.end_to_end.image_features")

WORLD = SuiteTrainingData(
    "superclevr", SuperclevrSpec(images=12, size=(64, 48), questions=3, part_questions=2, shard=6)
)
SMALL = {
    "lstm": {"words": 8, "hidden": 16, "answers": 16},
    "cnn_lstm": {"words": 8, "hidden": 16, "image": 16, "answers": 16},
    "film": {"words": 8, "hidden": 16, "width": 16, "blocks": 2, "pooled": 16, "answers": 16},
    "vit_lm": {"width": 32, "heads": 2, "layers": 1, "read_layers": 2},
}
STAGES = {"lstm": LstmStage(), "cnn_lstm": CnnLstmStage(), "film": FilmStage(), "vit_lm": VitLmStage()}


def configure(model, **settings):
    sizes = {name: str(size) for name, size in SMALL[model].items()}
    return STAGES[model].configure(sizes | settings)


@pytest.fixture(scope="module")
def splits():
    train, val = (gather_split(WORLD, split, [FilmStage()], device="cpu") for split in ("train", "val"))
    return TrainValData(train, val, 0.0)


@pytest.fixture(scope="module")
def folder(splits, tmp_path_factory):
    """All four, trained for one epoch each."""
    out = tmp_path_factory.mktemp("answerers")
    for model, sizes in SMALL.items():
        spec = TrainSpec(
            model, "superclevr", epochs=1, settings=tuple((k, str(v)) for k, v in sizes.items()), device="cpu"
        )
        train_on(WORLD, spec, out / model, splits=splits)
    return out


def start(stage, splits):
    """A new module and the examples of the training split."""
    config = stage.fit_vocabulary(WORLD.schema, splits.train)
    torch.manual_seed(0)
    module = stage.build(config, {})
    stage.load_pretrained(module, config)
    return module, stage.make_examples(splits.train, config, "cpu")


@pytest.mark.parametrize("model", SMALL)
def test_a_trained_folder_answers(model, folder, splits):
    about = json.loads((folder / model / "model.json").read_text())
    counts = about["answerer"]["val_counts"]
    assert counts["object_questions"][1] + counts["part_questions"][1] == counts["right"][1] == 10
    assert about["answerer"]["config"]["image_size"] == ([0, 0] if model == "lstm" else [64, 48])
    made = build_model(f"{model}:{folder / model}", ModelSetting(schema=WORLD.schema))
    pictures = [Picture(block=splits.val.pixels, row=k) for k in (1, 0)]
    texts = ["How many cars are there?", "Is there a zeppelin?", "What color is the bus?"]
    prompts = [
        Prompt(Question(id=f"{k} {text}", text=text, scenes=("a",)), pictures=(pictures[k],))
        for k in (0, 1)
        for text in texts
    ]
    found = made.predict(prompts)
    assert all(r.answer is not None and 0 < r.confidence <= 1 for r in found)
    alone = [made.predict([prompt])[0] for prompt in prompts]
    assert [r.answer for r in alone] == [r.answer for r in found]
    assert [r.confidence for r in alone] == pytest.approx([r.confidence for r in found], rel=1e-3)
    columns = made.predict_columns(prompts)
    assert [columns.answers[k] for k in columns.codes] == [r.answer for r in found]
    assert columns.confidence.tolist() == pytest.approx([r.confidence for r in found], rel=1e-3)
    blind = made.predict([replace(prompts[0], pictures=())])[0]
    assert (blind.reason == "no image") == (model != "lstm")


def test_a_folder_of_another_model_is_refused(folder, refuses):
    with refuses("describes another sort of model (film 1, not lstm 1)"):
        build_model(f"lstm:{folder / 'film'}", ModelSetting(schema=WORLD.schema))


def test_a_damaged_config_is_refused(folder, tmp_path, refuses):
    about = json.loads((folder / "film" / "model.json").read_text())
    del about["answerer"]["config"]["answers"]
    (tmp_path / "model.json").write_text(json.dumps(about))
    with refuses("the config of its answerer is not whole"):
        build_model(f"film:{tmp_path}", ModelSetting(schema=WORLD.schema))


@pytest.mark.parametrize("model", ["cnn_lstm", "film"])
def test_features_are_computed_once_and_are_those_of_the_image(model, splits):
    module, examples = start(configure(model), splits)
    rows = torch.tensor([4, 0, 11])
    batch = examples.batch(rows)
    assert batch.rows is None and batch.images.shape == (3, 4, 4, module.features.channels)
    pixels = replace(batch, images=splits.train.pixels[[0, 2]], rows=torch.tensor([0, 0, 1]))
    module.eval()
    with torch.no_grad():
        assert torch.allclose(module(batch), module(pixels), atol=0.02)


def test_a_trained_backbone_stays_as_it_is(splits):
    stage = configure("film")
    module, examples = start(stage, splits)
    before = {name: value.clone() for name, value in module.features.state_dict().items()}
    loss, _ = stage.loss(module.train(), examples.batch(torch.arange(6)))
    loss.backward()
    assert all(p.grad is None for p in module.features.parameters())
    module.encode_images(splits.train.pixels[:2])
    assert all(torch.equal(value, before[name]) for name, value in module.features.state_dict().items())


def test_a_backbone_from_nothing_is_trained_on_whole_images(splits):
    stage = configure("film", backbone="scratch")
    module, examples = start(stage, splits)
    batches = examples.epoch(10, lazy("numpy").random.default_rng(0))
    assert [len(rows) for rows in batches] == [10] * 4  # of 40 questions about 8 images
    assert all(len(set(examples.image_of[torch.from_numpy(rows)].tolist())) == 2 for rows in batches)
    batch = examples.batch(torch.from_numpy(batches[0]))
    assert batch.images.dtype == torch.uint8 and (len(batch.images), batch.most) == (2, 5)
    stage.loss(module.train(), batch)[0].backward()
    assert any(p.grad is not None and p.grad.abs().sum() > 0 for p in module.features.backbone.parameters())


def test_a_backbone_of_transformers(splits, tmp_path, refuses):
    sizes = {"embedding_size": 8, "hidden_sizes": [8, 8, 16, 16], "depths": [1, 1, 1, 1], "layer_type": "basic"}
    transformers.ResNetBackbone(transformers.ResNetConfig(**sizes)).save_pretrained(tmp_path)
    stage = configure("cnn_lstm", backbone=f"hf:{tmp_path}")
    module, examples = start(stage, splits)
    assert examples.images.shape == (8, 3, 4, 16)  # its third stage, at stride 16
    again = stage.build(stage.read_config(json.loads(json.dumps(module.config.to_json()))), {})
    again.load_state_dict(module.state_dict())
    with refuses("backbone 'hf:/nowhere' cannot be loaded"):
        configure("film", backbone="hf:/nowhere").describe(WORLD.schema)


def test_a_schema_without_a_scene_parser_needs_another_backbone(refuses):
    schema = replace(WORLD.schema, name="birds")
    with refuses("no scene parser ships for birds data"):
        FilmStage().describe(schema)
    assert configure("film", backbone="scratch").describe(WORLD.schema)["features"]["trained"]


def test_questions_about_one_image_look_at_it_together(splits):
    module, examples = start(configure("vit_lm"), splits)
    batch = examples.batch(torch.tensor([7, 1, 0, 8, 3]))
    apart = replace(batch, images=splits.train.pixels[[1, 0, 0, 1, 0]], rows=None, most=1)
    module.eval()
    with torch.no_grad():
        assert torch.allclose(module(batch), module(apart), atol=1e-4)


def test_what_stands_behind_a_question_does_not_change_its_answer(splits):
    for model in ("lstm", "vit_lm"):
        module, examples = start(configure(model), splits)
        batch, module = examples.batch(torch.arange(5)), module.eval()
        padded = replace(batch, words=torch.nn.functional.pad(batch.words, (0, 5)))
        with torch.no_grad():
            assert torch.allclose(module(batch), module(padded), atol=1e-4)


@pytest.mark.parametrize("model", ["lstm", "cnn_lstm"])
def test_what_else_is_asked_in_a_batch_does_not_change_an_answer_that_is_learned(model, splits):
    """Batches hold questions of like length, and a test set holds all: norms over a batch would differ."""
    module, examples = start(configure(model, dropout="0", word_dropout="0"), splits)
    one = examples.batch(torch.arange(6))
    other = replace(one, words=one.words[[0, 1, 1, 1, 1, 1]], lengths=one.lengths[[0, 1, 1, 1, 1, 1]])
    module.train()  # the images are the same, and so are the statistics of what sees them
    assert torch.allclose(module(one)[:2], module(other)[:2], atol=1e-5)


def test_batches_of_a_model_with_batch_norms_hold_questions_of_all_lengths(splits):
    for model, mixed in (("film", True), ("lstm", False)):
        _, examples = start(configure(model), splits)
        examples.lengths = torch.arange(len(examples)) + 1
        batches = examples.epoch(4, np.random.default_rng(0))
        widest = max(np.ptp(rows) for rows in batches)
        assert (widest > len(examples) // 2) == mixed


def test_places_do_not_drown_what_is_seen_there():
    network = lazy("shiftscope.models.end_to_end.network")
    torch.manual_seed(0)
    conv = network.PlacedConv(98, 64, even=True)
    assert conv.place.weight.abs().max() <= 0.1  # as of one convolution over 100 channels
    assert conv.place.weight.abs().max() > 0.05


def test_what_differs_between_images_reaches_the_head_of_film():
    """Of what the head reads, an eighth at least differs from image to image before anything is learned."""
    film = lazy("shiftscope.models.film.network")
    torch.manual_seed(0)
    trunk = film.FilmTrunk(64, 4, 128).train()
    cells = torch.randn(64, 64, 6, 8).relu() * (torch.rand(64, 1, 6, 8) < 0.1)  # things in a tenth of the cells
    with torch.no_grad():
        pooled = trunk(cells, torch.ones(64, 4, 64), torch.zeros(64, 4, 64))
    assert (pooled - pooled.mean(0)).norm(dim=1).mean() > 0.125 * pooled.norm(dim=1).mean()


def test_the_head_of_film_can_read_the_question(splits, refuses):
    """Only where it is told to; entries of the published form are still known."""
    for direct, more in ((None, 0), ("0", 0), ("1", 16)):
        stage = configure("film", **({} if direct is None else {"direct": direct}))
        module, examples = start(stage, splits)
        states = stage.read_states(module.eval(), examples.batch(torch.arange(4)))
        assert states.joint.shape[1] == module.joint_size == 2 * 16 + more
        assert ("direct" in stage.identify()["sizes"]) == bool(more)
    with refuses("setting direct must be 0 or 1, not '3'"):
        configure("film", direct="3")


@pytest.mark.parametrize("model", ["lstm", "film"])
def test_dropout_takes_words_while_a_model_learns(model, splits):
    module, examples = start(configure(model, dropout="0", word_dropout="0.9"), splits)
    batch, words = examples.batch(torch.arange(4)), []
    module.question.read.register_forward_pre_hook(lambda part, given: words.append(given[0]))
    module.train()(batch)
    module.eval()(batch)
    gone = (words[0] == 0).all(-1)
    assert 0.5 < gone.float().mean() < 1 and (words[0][~gone] != 0).all()
    assert not (words[1] == 0).all(-1)[batch.words != 0].any()


@pytest.mark.parametrize(
    ("model", "settings", "why"),
    [
        ("film", {"widht": "3"}, "no setting 'widht'; did you mean 'width'?"),
        ("film", {"width": "wide"}, "setting width must be a whole number from 1 up, not 'wide'"),
        ("film", {"batch": "0"}, "setting batch must be a whole number from 1 up, not '0'"),
        ("film", {"lr": "-1"}, "setting lr must be a number from 0 up, not '-1'"),
        ("lstm", {"backbone": "scratch"}, "no setting 'backbone'"),
    ],
)
def test_settings_that_are_none_are_refused(model, settings, why, refuses):
    with refuses(why):
        STAGES[model].configure(settings)


def test_a_patch_that_cannot_be_cut_is_refused(splits, refuses):
    with refuses("a patch of 6 pixels"):
        start(configure("vit_lm", patch="6"), splits)


def test_settings_change_the_recipe_too():
    changed = configure("film", batch="512", lr="0.0005")
    assert (changed.recipe.batch, changed.recipe.lr, changed.sizes["width"]) == (512, 0.0005, 16)
    assert FilmStage().recipe.batch == 1024 and FilmStage().sizes["width"] == 128  # the model's own stay


def test_an_answer_outside_the_vocabulary_counts_as_wrong(splits):
    stage = configure("lstm")
    module, examples = start(stage, splits)
    batch = examples.batch(torch.arange(6))
    counts = stage.measure(module.eval(), replace(batch, targets=torch.full((6,), -1)))
    assert {name: (int(right), int(of)) for name, (right, of) in counts.items()}["right"] == (0, 6)
