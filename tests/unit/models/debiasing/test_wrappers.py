"""Debiasing around whole networks: it reduces to its backbone where it should, and one name composes the two."""

from dataclasses import replace

import numpy as np
import pytest

from lazy import lazy
from shiftscope.errors import UserError
from shiftscope.model import get_traits, load_kind, parse_model_name
from shiftscope.models.end_to_end.questions import AnswererConfig
from shiftscope.train.train import find_trainable

torch = lazy("torch")
network = lazy("shiftscope.models.end_to_end.network")
regions = lazy("shiftscope.models.region_vqa.network")

BACKBONES = ("updn", "s_mrl", "ban")
WORDS, ANSWERS, NUMBERS = ("how", "many", "cars"), ("yes", "no", "1", "2"), 6
SMALL = {"words": 8, "hidden": 16, "visual": 8, "dropout": 0.0, "fusion": 16, "chunks": 4, "rank": 2, "glimpses": 2}


def build(kind):
    stage = load_kind(kind).ENTRY.stage
    sizes = {name: SMALL[name] for name in stage.sizes}
    config = AnswererConfig(WORDS, ANSWERS, (0, 0), {"numbers": NUMBERS, "trained": False}, sizes)
    torch.manual_seed(0)
    return stage, stage.build(config, {}).train()


def make_batch(bias=None):
    torch.manual_seed(1)
    table = regions.RegionTable(
        (regions.RegionGroup(torch.randn(5, 3, NUMBERS), torch.rand(5, 3, 4), torch.rand(5, 3) > 0.2),)
    )
    words = torch.randint(3, 6, (5, 4))
    words[1, 3:] = 0
    return network.AnswerBatch(
        words,
        torch.tensor([4, 3, 4, 4, 4]),
        table,
        targets=torch.tensor([0, 1, 2, 3, -1]),
        image_of=torch.tensor([0, 0, 1, 2, 3]),
        bias=bias,
    )


def slope_of(stage, module, batch, term=""):
    """The slopes of the network's own parameters, what debiasing adds left out."""
    own = {name: p for name, p in module.named_parameters() if not name.startswith("objective")}
    torch.manual_seed(2)
    loss, terms = stage.loss(module, batch)
    return dict(zip(own, torch.autograd.grad(terms[term] if term else loss, list(own.values())), strict=True))


def assert_backbone(backbone, kind, batch, settings=(), prepare=lambda module: None):
    plain_stage, plain = build(backbone)
    stage, module = build(kind)
    stage = stage.configure(dict(settings))
    prepare(module)
    module.load_state_dict(plain.state_dict(), strict=False)
    wanted = slope_of(plain_stage, plain, batch)
    for name, slope in slope_of(stage, module, batch).items():
        torch.testing.assert_close(slope, wanted[name], msg=lambda text, name=name: f"{name}: {text}")


@pytest.mark.parametrize("backbone", BACKBONES)
def test_a_uniform_bias_leaves_the_backbone(backbone):
    uniform = torch.full((5, len(ANSWERS)), 1 / len(ANSWERS))
    for method in ("lmh", "lmh_l", "lmh_v"):
        assert_backbone(backbone, f"{backbone}+{method}", make_batch(uniform))


@pytest.mark.parametrize("backbone", BACKBONES)
def test_a_mask_of_ones_leaves_the_backbone(backbone):
    def open_mask(module):
        torch.nn.init.zeros_(module.objective.scores[-1].weight)
        torch.nn.init.constant_(module.objective.scores[-1].bias, 40.0)

    assert_backbone(backbone, f"{backbone}+rubi", make_batch(), prepare=open_mask)


@pytest.mark.parametrize("backbone", BACKBONES)
def test_no_gamma_and_no_weight_leave_the_backbone(backbone):
    assert_backbone(backbone, f"{backbone}+lpf", make_batch(), [("gamma", "0")])
    assert_backbone(backbone, f"{backbone}+ssl", make_batch(), [("weight", "0")])


def test_a_bias_changes_what_is_learned():
    """Or else the reductions above would say nothing."""
    skewed = torch.tensor([[0.97, 0.01, 0.01, 0.01]]).expand(5, 4)
    for kind, batch in (("updn+lmh", make_batch(skewed)), ("updn+rubi", make_batch()), ("updn+lpf", make_batch())):
        with pytest.raises(AssertionError):
            assert_backbone("updn", kind, batch)
    with pytest.raises(AssertionError):
        assert_backbone("updn", "updn+ssl", make_batch())


def test_irrelevant_pairs_exclude_the_questions_own_image():
    from shiftscope.models.debiasing.ssl import shuffle_images

    batch = make_batch()
    other, differs = shuffle_images(batch)
    for k in range(5):
        same = [torch.equal(other.images.groups[0].features[k], batch.images.groups[0].features[j]) for j in range(5)]
        assert differs[k] == (batch.image_of[k] != batch.image_of[same.index(True)])


def test_pairs_begin_after_their_share_of_the_training():
    from shiftscope.models.debiasing.ssl import PairedExamples

    class Examples:
        def batch(self, rows):
            return make_batch()

    examples = PairedExamples(Examples(), 0.4)
    assert examples.lesson(0.39).batch(None).image_of is None
    assert examples.lesson(0.4).batch(None).image_of is not None


def test_a_side_alone_does_not_depend_on_the_other():
    stage, module = build("updn+vision")
    batch = make_batch()
    blank = make_batch()
    blank.words[:] = 4
    module.eval()
    torch.testing.assert_close(stage.logits(module, batch), stage.logits(module, blank))
    assert not torch.allclose(module(batch), module(blank))
    stage, module = build("updn+language")
    module.eval()
    empty = make_batch()
    empty.images.groups[0].features.zero_()
    assert torch.equal(stage.logits(module, batch), stage.logits(module, empty))
    assert not torch.allclose(module(batch), module(empty))
    assert "images" not in stage.supervision


def test_a_name_composes_a_model_and_a_method():
    assert parse_model_name("updn+lmh:some/folder").kind == "updn+lmh"
    stages = find_trainable("updn+lmh_v").stages
    assert [stage.name for stage in stages] == ["vision_branch", "answerer"]
    assert find_trainable("updn+lpf").configure({"gamma": "5"}).stages[0].objective.settings == {"gamma": 5.0}
    both = find_trainable("updn+lmh_l").configure({"hidden": "64", "penalty": "0.1"})
    assert [stage.sizes["hidden"] for stage in both.stages] == [64, 64]
    assert both.stages[1].objective.branch is both.stages[0]
    assert get_traits("updn+language").answers_blind


@pytest.mark.parametrize(
    "name, words",
    [
        ("updn+lhm", "did you mean 'lmh'"),
        ("nsvqa+lmh", "nothing can wrap it"),
        ("updn+lmh+rubi", "one method at a time"),
        ("film+language", "cannot do without its image"),
        ("lstm+vision", "cannot do without its question"),
        ("updn+language+ssl", "updn.language sees none"),
    ],
)
def test_what_cannot_be_composed_is_refused(name, words):
    with pytest.raises(UserError, match=words):
        find_trainable(name)


def test_answer_frequencies_are_counted_by_question_type():
    from shiftscope.models.end_to_end.questions import AnsweredQuestions
    from shiftscope.question import Question
    from shiftscope.scene import Scene

    asked = [("yes", "is"), ("no", "is"), ("yes", "is"), ("2", "how many")]
    questions = [Question(str(k), "is it?", ("a",), answer=a, kind=kind) for k, (a, kind) in enumerate(asked)]
    found = AnsweredQuestions.collect([Scene(id="a", objects=())], questions)
    joined = AnsweredQuestions.join([found, found])
    config = AnswererConfig(WORDS, ANSWERS, (0, 0), {}, {})
    counts = dict(zip(joined.type_words, config.count_answers_by_type(joined), strict=True))
    assert counts["is"].tolist() == [4, 2, 0, 0]
    assert counts["how many"].tolist() == [0, 0, 0, 2]
    assert np.sum(config.count_answers_by_type(found)) == 4


@pytest.mark.parametrize("backbone", BACKBONES)
def test_rows_that_are_aligned_for_a_gpu_change_no_score(backbone, monkeypatch):
    from shiftscope.models.region_vqa import network

    stage, module = build(backbone)
    module.eval()
    batch = make_batch()
    wanted = stage.logits(module, batch)
    monkeypatch.setattr(network, "align_rows", lambda table: torch.nn.functional.pad(table, (0, 3)))
    groups = tuple(replace(group, features=network.align_rows(group.features)) for group in batch.images.groups)
    found = stage.logits(module, replace(batch, images=network.RegionTable(groups)))
    torch.testing.assert_close(found, wanted)
