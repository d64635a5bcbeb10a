"""mDETR: what words speak of, as arrays; the grounding loss by hand; kinds of answers; steps that can be captured."""

from contextlib import nullcontext
from dataclasses import fields, is_dataclass, replace
from types import SimpleNamespace

import numpy as np
import pytest

from device_waits import list_host_operations
from lazy import lazy
from shiftscope.errors import UserError
from shiftscope.models.end_to_end import training
from shiftscope.models.end_to_end.questions import AnswererConfig
from shiftscope.models.mdetr.grounding import GroundedQuestions
from shiftscope.models.mdetr.training import IMAGE_STEP, GroundedAnswerStage, GroundingStage, RegionExamples
from shiftscope.question import GroundedPhrase, Question
from shiftscope.scene import Object, Part, Scene, load_schema
from shiftscope.train.captured_steps import CapturedSteps

answerers = lazy("shiftscope.models.end_to_end.network")
loss = lazy("shiftscope.models.mdetr.loss")
network = lazy("shiftscope.models.mdetr.network")
regions = lazy("shiftscope.models.nsvqa.scene_parser.regions")
torch = lazy("torch")

SCHEMA = load_schema("superclevr")
RED = (("color", "red"), ("material", "metal"))


def car(x, *parts):
    named = (("size", "large"), ("color", "red"), ("material", "metal"), ("shape", "suv"))
    listed = tuple(Part(name, RED, box=(float(x), 5.0, 4.0, 4.0)) for name in parts)
    return Object(named, parts=listed, box=(float(x), 0.0, 20.0, 10.0))


SCENES = [Scene((car(0, "hood"), car(40, "roof", "hood")), schema=SCHEMA, size=(96, 64), id=name) for name in "ab"]
TEXT = "Is the red hood left of any big, shiny SUV?"


def ask(scene, *phrases):
    spans = [(TEXT.index(words), TEXT.index(words) + len(words), *rest) for words, *rest in phrases]
    return Question(f"q{scene}", TEXT, (scene,), answer=True, grounding=tuple(GroundedPhrase(*s) for s in spans))


WORDS = tuple(f"w{k}" for k in range(40))


def build_small(words, **sizes):
    """With random weights, the same each time."""
    parser = lazy("shiftscope.models.nsvqa.scene_parser.config").SceneParserConfig(SCHEMA)
    usual = {"width": 32, "heads": 2, "text_layers": 1, "image_layers": 0, "layers": 1, "align": 8, "dropout": 0.0}
    features = {"scene_parser": parser.to_json(), "trained": False}
    torch.manual_seed(0)
    return network.Mdetr(AnswererConfig(words, ("yes", "no"), (96, 64), features, usual | sizes)).eval()


def test_phrases_become_words_and_masks():
    asked = [ask("b", ("the red hood", (), ((1, "hood"),)), ("any big, shiny SUV", (0, 1))), ask("a")]
    pieces = [
        GroundedQuestions.collect(SCENES, asked),
        GroundedQuestions.collect(SCENES[:1], [ask("a", ("the red hood",))]),
    ]
    whole = GroundedQuestions.join(pieces)
    spans, masks = whole.tabulate()
    assert spans.tolist() == [[[1, 3], [6, 4]], [[0, 0], [0, 0]], [[1, 3], [0, 0]]]
    assert masks.tolist() == [[[0, 0b100], [0b11, 0]], [[0, 0], [0, 0]], [[0, 0], [0, 0]]]
    assert whole.questions.images.tolist() == [1, 0, 2] and len(whole.labels) == 3


def test_boxes_are_paired_best_overlap_first_and_each_once():
    true = torch.tensor([[[0.0, 0, 10, 10], [20, 0, 10, 10], [0, 0, 0, 0]]])
    found = torch.tensor([[[21.0, 0, 10, 10], [20, 0, 10, 10], [1, 0, 10, 10], [50, 50, 9, 9]]])
    assert loss.match_boxes(found, true, 0.5).tolist() == [[-1, 1, 0, -1]]


def test_where_a_region_lies_is_seen_beside_what_it_shows():
    """Before anything is learned, another place changes what stands for a region by a quarter of its length at least."""
    module = build_small(("red",))
    numbers, part_numbers = regions.count_numbers(module.features.config)
    looks, part_looks = torch.randn(1, 1, numbers).expand(1, 2, -1), torch.randn(1, 1, part_numbers)
    boxes = torch.tensor([[[5.0, 5, 20, 10], [65, 40, 20, 10]]])
    there = torch.ones(1, 2)
    found = regions.Regions(
        (96, 64), there, boxes, looks, there[:, :1], boxes[:, :1], part_looks, torch.zeros(1, 1, dtype=torch.int64)
    )
    one, other = module.encode_regions(found)[0, :2, :32]
    assert (one - other).norm() > 0.25 * one.norm()


def make_targets():
    """Two regions of one image: region 0 shows object 1, region 1 shows nothing true."""
    batch = loss.GroundingBatch(
        words=torch.tensor([[5, 6, 7, 2]]),
        lengths=torch.tensor([4]),
        rows=torch.tensor([0]),
        spans=torch.tensor([[[0, 2], [2, 1]]]),  # words 0 and 1 speak of object 1, word 2 of nothing
        masks=torch.tensor([[[0b10, 0], [0, 0]]]),
        truth=torch.tensor([[[1, -1], [-1, -1]]]),
        true_boxes=torch.zeros(1, 2, 4),
    )
    return loss.find_targets(batch, 4)


def test_the_grounding_loss_by_hand():
    targets = make_targets()
    assert targets.aligned.tolist() == [[[True, True, False, False], [False] * 4]]
    assert targets.empty.tolist() == [[False, True]]
    scores = torch.zeros(1, 3, 5)  # regions and nothing × words and nothing
    scores[0, 0, 0] = 2.0
    terms = loss.compute_alignment_loss(
        scores, targets, torch.ones(1, 4, dtype=torch.bool), torch.ones(1, 2, dtype=torch.bool)
    )
    e2 = np.exp(2.0)
    words = (-np.log(e2 / (e2 + 2)) + 2 * np.log(3)) / 3  # word 0 likes its region; words 1 and 2 are undecided
    first = (-np.log(e2 / (e2 + 4)) - np.log(1 / (e2 + 4))) / 2  # half of it on each of its two words
    regions = (first + loss.UNSPOKEN * np.log(5)) / 1.1  # region 1 should like nothing
    assert float(terms["words"]) == pytest.approx(words, rel=1e-5)
    assert float(terms["regions"]) == pytest.approx(regions, rel=1e-5)


def test_boxes_count_where_a_word_speaks_of_them():
    boxes = torch.tensor([[[0.0, 0, 10, 10], [0, 0, 10, 10]]])
    true = torch.tensor([[[10.0, 0, 10, 10], [50, 50, 10, 10]]])
    terms = loss.compute_box_loss(boxes, true, torch.tensor([[True, False]]), (100, 50))
    assert float(terms["edges"]) == pytest.approx(0.1) and float(terms["overlap"]) == pytest.approx(1.0)


def test_answers_are_sorted_by_kind_and_their_chances_sum_to_one():
    answers = ("yes", "no", "0", "1", "red", "metal", "hood", "strange")
    kinds = network.sort_answers(answers, SCHEMA)
    assert kinds == {"truth": [0, 1], "number": [2, 3], "color": [4], "material": [5], "name": [6], "other": [7]}
    heads = [torch.nn.Linear(4, len(numbers)) for numbers in kinds.values()]
    order = torch.tensor([k for numbers in kinds.values() for k in numbers]).argsort()
    module = SimpleNamespace(kind=torch.nn.Linear(4, 6), heads=heads, order=order)
    fused = SimpleNamespace(answers=torch.randn(3, 7, 4))
    found = network.Mdetr.answer(module, fused)
    assert torch.allclose(found.exp().sum(1), torch.ones(3), atol=1e-5)


def test_what_is_compiled_is_there():
    """Two halves of every layer around its attention; together they are the layer."""
    stage = GroundedAnswerStage().configure({"width": "32", "heads": "2", "layers": "1", "align": "8"})
    features = {"scene_parser": lazy("shiftscope.models.nsvqa.scene_parser.config").SceneParserConfig(SCHEMA).to_json()}
    module = network.Mdetr(AnswererConfig(("red",), ("yes", "no"), (96, 64), features, stage.sizes))
    owners = [name.rpartition(".") for name in stage.compiled]
    assert all(callable(getattr(module.get_submodule(owner), method)) for owner, _, method in owners)
    layers = [name for name, part in module.named_modules() if isinstance(part, network.TransformerLayer)]
    assert {owner for owner, _, _ in owners} == set(layers) and len(owners) == 2 * len(layers)


def test_a_backbone_without_a_detector_is_refused():
    with pytest.raises(UserError, match="scene parser's folder, not 'scratch'"):
        GroundedAnswerStage().configure({"backbone": "scratch"})


def test_the_order_of_words_is_seen_from_the_start():
    """Before anything is learned, two words that change places change a text by an eighth of what another word does."""
    module = build_small(WORDS, width=64, text_layers=2)
    asked = torch.randint(3, 43, (32, 12))
    swapped, other = asked.clone(), asked.clone()
    swapped[:, [3, 8]] = asked[:, [8, 3]]
    other[:, 3] = 3 + (asked[:, 3] - 2) % 40

    def read(texts):
        """What the last word knows of those before."""
        with torch.no_grad():
            return module.text(module.embed(texts) + module.places[:12], torch.ones_like(texts, dtype=torch.bool))[
                :, -1
            ]

    plain = read(asked)
    assert (read(swapped) - plain).norm() > 0.125 * (read(other) - plain).norm()


def test_batches_hold_questions_of_like_length_about_the_same_images():
    random, images = np.random.default_rng(0), np.repeat(np.arange(40), 20)
    lengths = random.integers(5, 40, len(images))
    batches = training.sort_batches(training.group_by_image(images, 100, random), lengths, 4, random)
    assert sorted(np.concatenate(batches)) == list(range(800)) and {len(rows) for rows in batches} == {100}
    assert np.mean([np.ptp(lengths[rows]) for rows in batches]) < 12
    assert max(len(set(images[rows])) for rows in batches) <= 20  # of four batches of five images each
    assert [int(lengths[rows].mean()) for rows in batches] != sorted(int(lengths[rows].mean()) for rows in batches)


def test_long_questions_are_read_to_their_end_and_alike_alone_and_among_others():
    module = build_small(WORDS)
    lengths = torch.tensor([4, 90, network.LONGEST])
    asked = torch.randint(3, 43, (3, network.LONGEST)) * (torch.arange(network.LONGEST) < lengths[:, None])
    seen = torch.cat([torch.randn(3, 5, 32 + 4), torch.ones(3, 5, 1)], -1)

    def answer(rows):
        with torch.no_grad():
            return module(answerers.AnswerBatch(asked[rows, : lengths[rows].max()], lengths[rows], seen[rows]))

    together = answer(torch.arange(3))
    for k in range(3):
        torch.testing.assert_close(answer(torch.tensor([k])), together[k : k + 1], atol=1e-5, rtol=0)
        asked[k, lengths[k] - 1] = 3 + asked[k, lengths[k] - 1] % 40  # another last word
    assert (answer(torch.arange(3)) - together).abs().amax(1).min() > 1e-5


def draw_regions(images, numbers, part_numbers):
    """An object where each car of SCENES is and a part on it, and one of each elsewhere or not there."""
    boxes = torch.tensor([[0.0, 0, 20, 10], [40, 0, 20, 10], [70, 40, 20, 10]]).expand(images, -1, -1)
    part_boxes = torch.tensor([[0.0, 5, 4, 4], [40, 5, 4, 4]]).expand(images, -1, -1)
    there, parts_there = torch.ones(images, 3), torch.ones(images, 2)
    there[::2, 2] = parts_there[::3, 1] = 0
    looks, part_looks = torch.randn(images, 3, numbers).half(), torch.randn(images, 2, part_numbers).half()
    owner = torch.tensor([[0, 1]]).expand(images, -1)
    return regions.Regions((96, 64), there, boxes, looks, parts_there, part_boxes, part_looks, owner)


def make_examples(module, pairs, image_step=IMAGE_STEP, device="cpu"):
    """Two questions about each of twice as many images, with regions that have something true about them."""
    asked = [
        ask("b", ("the red hood", (), ((1, "hood"),)), ("any big, shiny SUV", (0, 1))),
        ask("b", ("the red hood", (0,))),
        ask("a", ("any big, shiny SUV", ())),
        replace(ask("a"), answer=False),
    ]
    data = GroundedQuestions.join([GroundedQuestions.collect(SCENES, asked)] * pairs)
    torch.manual_seed(0)
    found = draw_regions(2 * pairs, *regions.count_numbers(module.features.config)).to(device)
    examples = RegionExamples(data, module.config, found, device)
    examples.image_step = image_step
    return examples


def list_shapes(value):
    """The shapes of a batch's tensors, and its numbers."""
    if is_dataclass(value):
        return tuple(list_shapes(getattr(value, field.name)) for field in fields(value))
    return tuple(value.shape) if isinstance(value, torch.Tensor) else value


def move_tensors(value, device):
    if is_dataclass(value):
        return replace(value, **{f.name: move_tensors(getattr(value, f.name), device) for f in fields(value)})
    return value.to(device) if isinstance(value, torch.Tensor) else value


STAGES = pytest.mark.parametrize("stage", [GroundingStage(), GroundedAnswerStage()], ids=lambda stage: stage.name)
READ = ("red", "hood", "shiny", "suv", "left")


def compute_slopes(stage, module, batch):
    """The loss, its terms and the slope of every parameter."""
    module.zero_grad()
    total, terms = stage.loss(module, batch)
    total.backward()
    slopes = {name: p.grad.clone() for name, p in module.named_parameters() if p.grad is not None}
    return total.detach(), dict(terms), slopes


@STAGES
def test_images_that_fill_up_a_batch_teach_nothing(stage):
    module = build_small(READ, image_layers=1).train()
    torch.nn.init.normal_(module.box[2].weight)  # which begins at zero, and would have no slope pass
    rows = torch.tensor([0, 4, 5, 6, 7, 12, 13, 18])
    plain, full = (make_examples(module, 5, step).batch(rows) for step in (1, IMAGE_STEP))
    assert (len(plain.images), len(full.images)) == (5, IMAGE_STEP)
    assert torch.equal(plain.truth[plain.rows], full.truth[full.rows]) and (plain.truth >= 0).any()
    found, wanted = (compute_slopes(stage, module, batch) for batch in (full, plain))
    torch.testing.assert_close(found, wanted, rtol=1e-5, atol=1e-5)
    assert all(value > 0 for value in wanted[1].values()) and wanted[2]["object.0.weight"].abs().max() > 0.1
    module.eval()
    counts = [[list(map(int, pair)) for pair in stage.measure(module, batch).values()] for batch in (full, plain)]
    assert counts[0] == counts[1] and counts[0][0][1] > 0


@STAGES
def test_a_step_looks_at_nothing_but_the_batch_on_the_device(stage, monkeypatch):
    """On `meta` nothing has a value: whatever asked for one, or for a shape that depends on values, would fail."""
    monkeypatch.setattr("torch.autocast", lambda *_, **__: nullcontext())  # which knows no such device
    module = build_small(READ, image_layers=1, dropout=0.1).train()
    batch = move_tensors(make_examples(module, 5).batch(torch.arange(12)), "meta")
    module.to("meta")
    assert not list_host_operations(lambda: stage.loss(module, batch)[0].backward())
    assert module.frame.weight.grad.is_meta


def test_a_watch_sees_tensors_on_the_host():
    rows = torch.zeros(3, device="meta")
    assert list_host_operations(lambda: rows + torch.arange(3).to("meta")) >= {"arange", "_to_copy"}
    assert not list_host_operations(lambda: (rows * 2 + torch.arange(3, device="meta")).clamp(min=1.0))


def test_batches_have_few_shapes():
    """With 20 questions per image, as Super-CLEVR has; four batches share the questions about their images by length."""
    module, random = build_small(READ), np.random.default_rng(0)
    examples = make_examples(module, 2)
    images = 2000
    image_of, lengths = np.repeat(np.arange(images), 20), random.integers(8, 61, 20 * images)
    rows = torch.from_numpy(image_of % len(examples))
    for name in ("words", "spans", "masks", "targets", "about_parts"):
        setattr(examples, name, getattr(examples, name)[rows])
    examples.words = examples.words[:, :1].expand(-1, 60)
    examples.lengths, examples.image_of = torch.from_numpy(lengths), torch.from_numpy(image_of)
    seen = torch.arange(images) % len(examples.truth)
    examples.truth, examples.true_boxes = examples.truth[seen], examples.true_boxes[seen]
    examples.regions = draw_regions(images, 1, 1)
    batches = [examples.batch(torch.from_numpy(rows)) for _ in range(2) for rows in examples.epoch(1024, random)]
    assert len(batches) == 78 and {len(batch) for batch in batches} == {1024}
    assert all(len(batch.images) % IMAGE_STEP == 0 for batch in batches)
    assert len({list_shapes(batch) for batch in batches}) <= 10


@STAGES
def test_a_captured_step_finds_what_a_plain_one_finds(stage):
    if not torch.cuda.is_available():
        pytest.skip("needs a GPU")
    module = build_small(READ, image_layers=1).train().cuda()
    examples = make_examples(module, 5, device="cuda")
    learned = [p for p in module.parameters() if p.requires_grad]

    def run(batch):
        with torch.autocast("cuda", torch.bfloat16):
            total, terms = stage.loss(module, batch)
        total.backward()
        return total.detach(), terms

    captured = CapturedSteps(run, learned)
    for k in range(4):
        batch, found = examples.batch(torch.arange(k, k + 12)), []
        for step in (run, captured):
            module.zero_grad()
            total, terms = step(batch)
            slopes = [p.grad.clone() for p in learned if p.grad is not None]
            found.append((total.clone(), {name: value.clone() for name, value in terms.items()}, slopes))
        torch.testing.assert_close(*found, rtol=2e-2, atol=1e-3)
    assert len(captured._graphs) == 1 and all(captured._graphs.values())
