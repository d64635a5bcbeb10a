"""Models over several images: what they learn needs the images, and a set of images has no order and no padding."""

from dataclasses import replace

import numpy as np
import pytest

from lazy import lazy
from shiftscope.answer import spell
from shiftscope.errors import UserError
from shiftscope.model import ModelSetting, Prompt, build_model
from shiftscope.models.end_to_end.initial_weights import BRANCH
from shiftscope.models.end_to_end.questions import UNKNOWN
from shiftscope.models.several_images.questions import ImageSetQuestions
from shiftscope.models.several_images.training import IMAGE_TOKENS
from shiftscope.picture import Picture
from shiftscope.question import Question
from shiftscope.scene import Scene
from shiftscope.schemas.superclevr import SCHEMA
from shiftscope.suites.superclevr.suite import SuperclevrSpec
from shiftscope.train.data import SuiteTrainingData, TrainValData, gather_split
from shiftscope.train.train import TrainSpec, find_trainable, train_on
from shiftscope.trainable import SplitData

torch = lazy("torch")

SMALL = {"width": "32", "heads": "2", "inside": "64", "layers": "1", "set_layers": "1", "dropout": "0"}
WORDS = ("contain", "show")
PATCH = {"backbone": "scratch", "patch": "2"}  # as of patches of 2×2 pixels, so that no scene parser is built
NUMBERS = 3 * 2 * 2 + 5
MODELS = ("visualbert", "visualbert product=1", "vilbert")


def find_stage(model):
    seen = {} if model.endswith("_text") else PATCH
    own = {"co_layers": "1"} if model.startswith("vilbert") else {}
    return configure(model, SMALL | seen | own)


def configure(model, settings):
    """The stage that answers, of a model by its name, behind which settings of its own may stand."""
    name, *own = model.split()
    return find_trainable(name).configure(settings | dict(one.split("=") for one in own)).stages[-1]


def make_toy(count, seed, images):
    """How many images show something red; an image is one region, red or blue. Without `images`, one to three."""
    random = np.random.default_rng(seed)
    scenes = [Scene(schema=SCHEMA, objects=(), id=str(k)) for k in range(2)]  # the first is red
    tokens = torch.zeros(2, 12, NUMBERS)
    for k in range(2):
        tokens[k, 0, k] = 3.0  # what tells the colors apart
        tokens[k, 0, -1] = 1.0  # it is there
    questions = []
    for k in range(count):
        shown = random.integers(2, size=images or 1 + k % 3)
        text = f"How many images {WORDS[k % 2]} a red car?"
        answer = int((shown == 0).sum())
        questions.append(Question(id=str(k), text=text, scenes=tuple(str(one) for one in shown), answer=answer))
    return scenes, questions, tokens.half()


def collect_toy(count=30, seed=0, images=0):
    scenes, questions, tokens = make_toy(count, seed, images)
    return SplitData(None, (), {"answerer": ImageSetQuestions.collect(scenes, questions), IMAGE_TOKENS: tokens})


def fit(stage, data, steps=60):
    config = stage.fit_vocabulary(SCHEMA, data)
    torch.manual_seed(0)
    module = stage.build(config, {}).train()
    optimizer = torch.optim.AdamW([p for p in module.parameters() if p.requires_grad], lr=3e-3)
    examples = stage.make_examples(data, config, "cpu")
    batch = examples.batch(torch.arange(len(examples)))
    for _ in range(steps):
        loss, _ = stage.loss(module, batch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return module.eval(), config


def share_right(stage, module, config, data):
    examples = stage.make_examples(data, config, "cpu")
    with torch.no_grad():
        right, of = stage.measure(module, examples.batch(torch.arange(len(examples))))["right"]
    return float(right) / of


@pytest.mark.parametrize("model", MODELS)
def test_what_layers_add_begins_small(model):
    stage = find_stage(model)
    stage.needs = ()  # as its captions begin
    module = stage.build(stage.fit_vocabulary(SCHEMA, collect_toy()), {})
    stage.load_pretrained(module, module.config)
    assert not module.word_table[UNKNOWN].any()  # a word that training never showed says nothing
    shares = {
        name: weight.std().item() / (2 / sum(weight.shape)) ** 0.5
        for name, weight in module.named_parameters()
        if name.endswith(("query.weight", "key.weight", "value.weight", "dense.weight"))
    }
    branches = {name for name in shares if not name.endswith(("query.weight", "key.weight"))}
    assert {name.split(".")[0] for name in branches} > {"gather"} and len(branches) < len(shares)
    for name, share in shares.items():
        assert share == pytest.approx(BRANCH if name in branches else 1, rel=0.15), name
    learned = find_stage(model)
    learned.needs = ("captions",)
    untouched = {name: weight.clone() for name, weight in module.named_parameters()}
    learned.load_pretrained(module, module.config)
    assert all(torch.equal(weight, untouched[name]) for name, weight in module.named_parameters())


def test_an_image_may_be_joined_of_its_words_and_regions():
    data = collect_toy()
    config = find_stage("visualbert product=1").fit_vocabulary(SCHEMA, data)
    scores = []
    for sizes in (dict(config.sizes), {**config.sizes, "product": 0}):
        stage = find_stage("visualbert")
        torch.manual_seed(0)
        module = stage.build(replace(config, sizes=sizes), {}).eval()
        examples = stage.make_examples(data, config, "cpu")
        scores.append(module(examples.batch(torch.arange(6))).detach())
    assert not torch.allclose(*scores)
    assert find_stage("visualbert product=0").identify() == find_stage("visualbert").identify()
    with pytest.raises(UserError, match="product must be 0 or 1, not 'yes'"):
        find_stage("visualbert product=yes")


@pytest.mark.parametrize("model", ["visualbert", pytest.param("vilbert", marks=pytest.mark.full)])
def test_counting_over_images_is_learned_from_images_and_not_from_text(model):
    data, unseen = collect_toy(images=2), collect_toy(seed=1, images=2)
    stage, blind = find_stage(model), find_stage(f"{model}_text")
    seeing, reading = fit(stage, data), fit(blind, data)
    assert share_right(stage, *seeing, unseen) > 0.95
    assert share_right(blind, *reading, unseen) < 0.65


@pytest.mark.parametrize("model", MODELS)
def test_neither_order_nor_missing_images_count(model):
    stage, data = find_stage(model), collect_toy(12)
    config = stage.fit_vocabulary(SCHEMA, data)
    module = stage.build(config, {}).eval()
    batch = stage.make_examples(data, config, "cpu").batch(torch.arange(12))
    scores = module(batch)
    turned = replace(batch, images=batch.images.flip(1), present=batch.present.flip(1))
    assert torch.allclose(module(turned), scores, atol=1e-6)
    others = batch.images.clone()
    others[~batch.present] = 7.0  # behind the last image of a question
    assert torch.allclose(module(replace(batch, images=others)), scores, atol=1e-6)
    others[:, 0, 0, :-1] = 5 * torch.randn(NUMBERS - 1).half()  # but the first is looked at
    assert (module(replace(batch, images=others)) - scores).abs().amax(1).min() > 1e-5


def test_only_places_that_no_image_has_are_cut():
    from shiftscope.models.several_images.training import cut_absent

    images = torch.zeros(2, 5, 3)
    images[0, 0, -1] = images[1, 2, -1] = 1.0
    assert torch.equal(cut_absent(images), images[:, :3])
    assert cut_absent(torch.zeros(2, 5, 3)).shape == (2, 1, 3)
    assert cut_absent(torch.zeros(2, 8, 8, 3, dtype=torch.uint8)).shape == (2, 8, 8, 3)


@pytest.mark.parametrize("model", MODELS)
def test_what_a_batch_leaves_out_changes_no_score(model):
    """Batches are as wide as their most images and longest question; regions that no image has are dropped."""
    stage, data = find_stage(model), collect_toy(12)
    config = stage.fit_vocabulary(SCHEMA, data)
    module = stage.build(config, {}).eval()
    examples = stage.make_examples(data, config, "cpu")
    whole = examples.batch(torch.arange(12))
    assert whole.images.shape[1:3] == (3, 1)  # of 12 regions one is there
    wide = torch.nn.functional.pad(whole.images, (0, 0, 0, 11, 0, 2))
    words = torch.nn.functional.pad(whole.words, (0, 8))
    wide = replace(whole, words=words, images=wide, present=torch.nn.functional.pad(whole.present, (0, 2)))
    scores = module(whole)
    assert torch.allclose(module(wide), scores, atol=1e-5)
    for rows in (torch.arange(0, 12, 3), torch.arange(1, 12, 3), torch.arange(2, 12, 3)):  # of one, two, three images
        some = examples.batch(rows)
        assert some.images.shape[1] == 1 + int(rows[0])
        assert torch.allclose(module(some), scores[rows], atol=1e-5)


def test_a_batch_holds_questions_about_as_many_images_and_an_epoch_nearly_all():
    stage, data = find_stage("visualbert"), collect_toy(480)
    examples = stage.make_examples(data, stage.fit_vocabulary(SCHEMA, data), "cpu")
    examples.lengths = torch.arange(480) % 7 + 1
    batches, again = (examples.epoch(32, np.random.default_rng(seed)) for seed in (0, 1))
    assert sorted(np.concatenate(batches).tolist()) == list(range(480))
    widths = [len(set(examples.counts[rows].tolist())) for rows in batches]
    assert widths == [1] * len(widths)
    assert max(len(set(examples.lengths[rows].tolist())) for rows in batches) < 7
    assert [rows.tolist() for rows in batches] != [rows.tolist() for rows in again]


def test_the_questions_that_fill_no_batch_are_other_ones_in_each_epoch():
    """Also those about the most images, in the most words, which are sorted last."""
    stage, data = find_stage("visualbert"), collect_toy(490)
    examples = stage.make_examples(data, stage.fit_vocabulary(SCHEMA, data), "cpu")
    last = np.argmax(examples.counts.numpy() * 1000 + examples.lengths.numpy())
    seen = [np.concatenate(examples.epoch(32, np.random.default_rng(seed))) for seed in range(8)]
    assert {len(rows) for rows in seen} == {480}
    assert sum(last in rows for rows in seen) >= 5


def draw_regions(*shape):
    """Looks as large and as different as the shipped scene parser's, and corners."""
    near = 0.7 * torch.rand(*shape, 2)
    looks = torch.relu(1.3 * torch.randn(*shape, 3 * 9 * 9))
    return torch.cat([looks, near, near + 0.1 + 0.2 * torch.rand(*shape, 2), torch.ones(*shape, 1)], -1)


@pytest.mark.parametrize("model", MODELS)
def test_what_is_seen_and_where_counts_before_anything_is_learned(model):
    """Else a training from nothing stays at what the question alone tells: the toy of docs/log.md, 2026-11-18."""
    from shiftscope.models.several_images.network import ImageSetBatch

    torch.manual_seed(0)
    sizes = {"width": "64", "heads": "4", "inside": "128", "layers": "2", "dropout": "0", "patch": "9"}
    stage = configure(model, {"backbone": "scratch", "captions": "0", **sizes})
    data = collect_toy(12, images=2)
    config = stage.fit_vocabulary(SCHEMA, data)
    module = stage.build(config, {}).eval()
    stage.load_pretrained(module, config)
    words = torch.randint(3, config.tokens, (64, 9))
    seen, others = draw_regions(64, 2, 6), draw_regions(64, 2, 6)
    moved = torch.cat([seen[..., :-5], others[..., -5:]], -1)

    def score(images, words):
        with torch.no_grad():
            return module(ImageSetBatch(words, images, torch.ones(64, 2, dtype=torch.bool)))

    base = score(seen, words)
    by_looks, by_place = ((score(one, words) - base).std() for one in (others, moved))
    by_words = (score(seen, words[torch.randperm(64)]) - base).std()
    assert by_looks > 0.02 * base.std() and by_looks > 0.02 * by_words  # by BERT's spread 0.004
    assert by_place > 0.1 * by_looks


def test_some_of_the_questions_know_only_their_own_words_and_answers():
    whole = collect_toy(9).supervision["answerer"]
    rows = np.array([k for k in range(9) if "contain" in words(whole, k)])[::-1]
    some = whole.take(rows)
    assert "show" not in some.texts.vocabulary and len(some) == len(rows) == 5
    for k, row in enumerate(rows):
        assert words(some, k) == words(whole, row)
        assert some.answer_words[some.answers[k]] == whole.answer_words[whole.answers[row]]
        assert some.images[k].tolist() == whole.images[row].tolist()
    both = ImageSetQuestions.join([some, whole])
    start = len(some)
    assert both.images[start].tolist() == [n + 2 if n >= 0 else n for n in whole.images[0].tolist()]


def words(questions, k):
    at = questions.texts.at
    return [questions.texts.vocabulary[code] for code in questions.texts.codes[at[k] : at[k + 1]]]


def test_a_folder_trained_on_pixels_answers_about_several_pictures(tmp_path, refuses):
    world = SuiteTrainingData(
        "superclevr", SuperclevrSpec(images=12, size=(64, 48), questions=2, part_questions=0, shard=6)
    )
    settings = SMALL | {"backbone": "scratch", "patch": "16", "captions": "2"}
    train, val = (
        gather_split(world, s, find_trainable("visualbert").configure(settings).stages, device="cpu")
        for s in ("train", "val")
    )
    spec = TrainSpec("visualbert", "superclevr", epochs=1, settings=tuple(settings.items()), device="cpu")
    train_on(world, spec, tmp_path / "model", splits=TrainValData(train, val, 0.0))
    model = build_model(f"visualbert:{tmp_path / 'model'}", ModelSetting(schema=world.schema))
    stage = find_trainable("visualbert").stages[-1]
    examples = stage.make_examples(val, model.config, "cpu")
    asked = val.supervision["answerer"]
    with torch.no_grad():  # a study scores these, and `run` what the model predicts
        best = model.module(examples.batch(torch.arange(len(asked)))).argmax(-1).tolist()
    prompts = [
        Prompt(
            Question(id=str(k), text=" ".join(words(asked, k)), scenes=("a",)),
            pictures=(Picture(block=val.pixels, row=int(asked.images[k, 0])),),
        )
        for k in range(len(asked))
    ]
    assert [spell(r.answer) for r in model.predict(prompts)] == [model.config.answers[k] for k in best]
    pictures = [Picture(block=val.pixels, row=k) for k in (0, 1)]
    question = Question(id="q", text="How many images contain a red car?", scenes=("a", "b"))
    both, one, turned, none = model.predict(
        [Prompt(question, pictures=some) for some in (pictures, pictures[:1], pictures[::-1], ())]
    )
    assert both.answer == turned.answer and both.confidence == pytest.approx(turned.confidence, rel=1e-4)
    assert both.confidence != pytest.approx(one.confidence, rel=1e-6)
    assert none.reason == "no image"
    with refuses("look at a scene parser's regions, or at pixels"):
        find_trainable("vilbert").configure({"backbone": "hf:microsoft/resnet-50"})


@pytest.mark.parametrize("model", MODELS)
def test_what_is_not_computed_is_read_by_nobody(model):
    """The last layer makes the first word alone, the same as if it made them all; VisualBERT's are transformers' own."""
    from shiftscope.models.several_images.layers import mask_absent
    from shiftscope.models.several_images.network import pair_up, read_words

    stage = configure(model, SMALL | PATCH | {"layers": "2"})
    data = collect_toy(12)
    module = stage.build(stage.fit_vocabulary(SCHEMA, data), {}).eval()
    batch = stage.make_examples(data, module.config, "cpu").batch(torch.arange(12))
    words, (seen, there) = read_words(batch), module.see_pairs(batch)
    found, first, _ = module.encode_pairs(words, seen, there)
    again, states, regions = module.encode_pairs(words, seen, there, each=True)
    assert states.shape == (len(seen), words.shape[1], 32) and first.shape == (len(seen), 1, 32)
    assert torch.allclose(found, again, atol=1e-6) and torch.allclose(first[:, 0], states[:, 0], atol=1e-6)
    if model.startswith("visualbert"):
        words = pair_up(words, len(seen))
        begun = module.body.embeddings(input_ids=words, visual_embeds=seen)
        whole = module.body.encoder(begun, torch.cat([mask_absent(words != 0), there], -1)).last_hidden_state
        assert torch.allclose(whole, torch.cat([states, regions], 1), atol=1e-5)


def test_layers_of_lxmert_are_as_transformers_runs_them():
    from shiftscope.models.several_images.layers import mask_absent

    stage, data = find_stage("vilbert"), collect_toy(12)
    module = stage.build(stage.fit_vocabulary(SCHEMA, data), {}).eval()
    states, other = torch.randn(5, 7, 32), torch.randn(5, 3, 32)
    absent, missing = mask_absent(torch.rand(5, 7) < 0.7), mask_absent(torch.rand(5, 3) < 0.7)
    half = module.words[0]
    for made, whole in (
        (module.run_layer(half.alone, states, states, absent), half.alone(states, absent)[0]),
        (
            module.attend(half.attend.att, half.attend.output, states, other, missing),
            half.attend(states, other, missing)[0],
        ),
    ):
        assert torch.allclose(made, whole, atol=1e-5)


@pytest.mark.full
@pytest.mark.filterwarnings("ignore")  # what torch says of its own parts
@pytest.mark.parametrize("model", MODELS)
def test_compiled_layers_teach_the_same(model):
    """As a GPU runs it, once for all widths of batch; here by the processor's compiler."""
    from shiftscope.train.compile_methods import compile_methods

    stage, data = find_stage(model), collect_toy(12)
    module = stage.build(stage.fit_vocabulary(SCHEMA, data), {}).train()
    examples = stage.make_examples(data, module.config, "cpu")
    slopes = []
    for compiled in (False, True):
        if compiled:
            compile_methods(module, stage.compiled)
        for rows in (torch.arange(3), torch.arange(12), torch.arange(2, 9)):
            module.zero_grad()
            stage.loss(module, examples.batch(rows))[0].backward()
            slopes.append([p.grad.clone() for p in module.parameters() if p.grad is not None])
    for plain, made in zip(slopes[:3], slopes[3:], strict=True):
        assert all(torch.allclose(a, b, atol=1e-5) for a, b in zip(plain, made, strict=True))
