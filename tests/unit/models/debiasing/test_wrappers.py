"""Debiasing around whole networks: it reduces to its backbone where it should, and one name composes the two."""

from dataclasses import replace

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


def build(kind, settings=()):
    stage = load_kind(kind).ENTRY.stage.configure(dict(settings))
    sizes = {name: SMALL[name] for name in stage.sizes}
    config = AnswererConfig(WORDS, ANSWERS, (0, 0), {"numbers": NUMBERS, "trained": False}, sizes, stage.answer_loss)
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


def assert_backbone(backbone, kind, batch, loss, settings=(), prepare=lambda module: None):
    """Without `loss`, the method keeps the form that it was published with, and its backbone takes the same."""
    stage, module = build(kind, [*settings, *([("loss", loss)] if loss else ())])
    plain_stage, plain = build(backbone, [("loss", stage.answer_loss)])
    prepare(module)
    module.load_state_dict(plain.state_dict(), strict=False)
    wanted = slope_of(plain_stage, plain, batch)
    for name, slope in slope_of(stage, module, batch).items():
        torch.testing.assert_close(slope, wanted[name], msg=lambda text, name=name: f"{name}: {text}")


@pytest.mark.parametrize("loss", ["", "softmax"])
@pytest.mark.parametrize("backbone", BACKBONES)
def test_a_uniform_bias_leaves_the_backbone(backbone, loss):
    """Uniform over what is chosen from: all answers of a softmax, yes and no of each sigmoid."""
    uniform = torch.full((5, len(ANSWERS)), 1 / len(ANSWERS) if loss else 1 / 2)
    for method in ("lmh", "lmh_l", "lmh_v"):
        assert_backbone(backbone, f"{backbone}+{method}", make_batch(uniform), loss)


@pytest.mark.parametrize("loss", ["", "sigmoid"])
@pytest.mark.parametrize("backbone", BACKBONES)
def test_a_mask_of_ones_leaves_the_backbone(backbone, loss):
    def open_mask(module):
        torch.nn.init.zeros_(module.objective.scores[-1].weight)
        torch.nn.init.constant_(module.objective.scores[-1].bias, 40.0)

    assert_backbone(backbone, f"{backbone}+rubi", make_batch(), loss, prepare=open_mask)


@pytest.mark.parametrize("loss", ["", "softmax", "sigmoid"])
@pytest.mark.parametrize("backbone", BACKBONES)
def test_no_gamma_and_no_weight_leave_the_backbone(backbone, loss):
    assert_backbone(backbone, f"{backbone}+lpf", make_batch(), loss, [("gamma", "0")])
    assert_backbone(backbone, f"{backbone}+ssl", make_batch(), loss, [("weight", "0")])


@pytest.mark.parametrize("loss", ["softmax", "sigmoid"])
def test_a_bias_changes_what_is_learned(loss):
    """Or else the reductions above would say nothing."""
    skewed = torch.tensor([[0.97, 0.01, 0.01, 0.01]]).expand(5, 4)
    for kind, batch in (("updn+lmh", make_batch(skewed)), ("updn+rubi", make_batch()), ("updn+lpf", make_batch())):
        with pytest.raises(AssertionError, match="not close"):
            assert_backbone("updn", kind, batch, loss)
    with pytest.raises(AssertionError, match="not close"):
        assert_backbone("updn", "updn+ssl", make_batch(), loss)


@pytest.mark.parametrize("backbone", BACKBONES)
def test_a_mixin_reads_what_the_classifier_reads(backbone):
    """As its authors' does, and not the classifier's hidden layer."""
    _, module = build(f"{backbone}+lmh")
    read = []
    module.answer.register_forward_pre_hook(lambda _, given: read.append(given[0]))
    states = module.read_states(make_batch())
    torch.testing.assert_close(states.joint, read[0])
    assert module.objective.factor.in_features == module.joint_size == states.joint.shape[1]


def test_each_has_the_loss_it_was_published_with():
    published = {"s_mrl": "softmax", "updn": "sigmoid", "ban": "sigmoid", "lxmert": "softmax", "lstm": "softmax"}
    published |= {"updn+lmh": "sigmoid", "s_mrl+lmh": "sigmoid", "updn+ssl": "sigmoid", "updn+language": "sigmoid"}
    published |= {"s_mrl+rubi": "softmax", "updn+rubi": "softmax", "updn+lpf": "softmax"}
    assert {kind: find_trainable(kind).stages[-1].answer_loss for kind in published} == published
    assert [stage.answer_loss for stage in find_trainable("s_mrl+lmh_l").stages] == ["sigmoid", "sigmoid"]
    changed = find_trainable("updn+lmh_v").configure({"loss": "softmax"})
    assert [stage.answer_loss for stage in changed.stages] == ["softmax", "softmax"]
    with pytest.raises(UserError, match="sigmoid"):
        find_trainable("updn").configure({"loss": "sigmod"})


def test_a_config_says_what_its_scores_mean():
    plain = AnswererConfig(WORDS, ANSWERS, (0, 0), {}, {})
    assert "loss" not in plain.to_json()  # as before there were two forms
    assert AnswererConfig.from_json(plain.to_json()).loss == "softmax"
    each = replace(plain, loss="sigmoid")
    assert AnswererConfig.from_json(each.to_json()).loss == "sigmoid"


def test_irrelevant_pairs_exclude_the_questions_own_image():
    from shiftscope.models.debiasing.ssl import shuffle_images

    batch = make_batch()
    other, differs = shuffle_images(batch)
    for k in range(5):
        same = [torch.equal(other.images.groups[0].features[k], batch.images.groups[0].features[j]) for j in range(5)]
        assert differs[k] == (batch.image_of[k] != batch.image_of[same.index(True)])


@pytest.mark.parametrize("backbone", BACKBONES)
def test_regions_are_picked_from_a_table_when_they_are_looked_at(backbone):
    """A step that is captured has their rows for input, and no copy of what lies in the table."""
    from shiftscope.models.debiasing.ssl import shuffle_images

    stage, module = build(backbone)
    module.eval()
    batch, rows = make_batch(), torch.tensor([3, 0, 3, 1, 4])
    picked = replace(batch, images=regions.PickedRegions(batch.images.take, rows))
    torch.testing.assert_close(
        stage.logits(module, picked), stage.logits(module, replace(batch, images=batch.images.take(rows)))
    )
    torch.manual_seed(4)
    other, _ = shuffle_images(picked)
    torch.manual_seed(4)
    wanted, _ = shuffle_images(replace(batch, images=batch.images.take(rows)))
    torch.testing.assert_close(stage.logits(module, other), stage.logits(module, wanted))


def test_pairs_begin_after_their_share_of_the_training():
    class Examples:
        def batch(self, rows):
            return make_batch()

    objective = find_trainable("updn+ssl").stages[0].objective
    examples = objective.make_examples(Examples(), {}, "answerer", None)
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


def test_nothing_to_see_leaves_all_of_the_question():
    """A product with what a map makes of zeros would leave half of it out, and little of the rest."""
    stage, module = build("updn+language")
    asked = []
    module.eval().asked.register_forward_hook(lambda part, given, found: asked.append(found))
    joint = stage.read_states(module, make_batch()).joint
    assert (asked[0] > 0).any() and (joint >= asked[0]).all()


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


def average_answers(asked, loss):
    """By question type, of pairs of an answer (or several annotators') and a type."""
    from shiftscope.models.debiasing.lmh import average_by_type
    from shiftscope.models.end_to_end.questions import AnsweredQuestions
    from shiftscope.models.end_to_end.training import AnswerExamples
    from shiftscope.question import Question
    from shiftscope.scene import Scene

    questions = [
        Question(str(k), "is it?", ("a",), answer=votes[0], answers=votes if len(votes) > 1 else (), kind=kind)
        for k, (votes, kind) in enumerate(asked)
    ]
    found = AnsweredQuestions.collect([Scene(id="a", objects=())], questions)
    joined = AnsweredQuestions.join([found, found])
    config = AnswererConfig(WORDS, ANSWERS, (0, 0), {}, {}, loss)
    examples = AnswerExamples(joined, config, None, "cpu")
    table = average_by_type(examples, torch.from_numpy(joined.types), len(joined.type_words), config)
    return {name: row.tolist() for name, row in zip(joined.type_words, table, strict=True)}


@pytest.mark.parametrize("loss", ["softmax", "sigmoid"])
def test_answer_frequencies_are_those_of_the_question_type(loss):
    asked = [("yes",), "is"], [("no",), "is"], [("yes",), "is"], [("2",), "how many"], [("seven",), "how many"]
    found = average_answers(asked, loss)  # the last is outside the vocabulary
    assert found["is"] == pytest.approx([2 / 3, 1 / 3, 0, 0])
    assert found["how many"] == [0, 0, 0, 1]


def test_annotators_answers_are_averaged_as_they_are_scored():
    asked = [("yes", "yes", "yes", "no"), "is"], [("no", "no", "no", "no"), "is"]  # each of both by at least 3: right
    assert average_answers(asked, "sigmoid")["is"] == pytest.approx([1 / 2, 2 / 3, 0, 0])
    assert average_answers(asked, "softmax")["is"] == pytest.approx([3 / 7, 4 / 7, 0, 0])


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


def test_the_attention_of_ban_is_bilinear_over_all_words_and_regions():
    _, module = build("ban")
    torch.manual_seed(3)
    states, seen, known = torch.randn(2, 3, 16), torch.randn(2, 4, module.seen), torch.rand(2, 3, 4) > 0.2
    keys = module.word_keys(states), module.glimpses, module.region_keys(seen)
    asked = torch.einsum("nwd,gd,nrd->ngwr", *keys).masked_fill(~known[:, None], -1e9)
    wanted = asked.flatten(2).softmax(-1).view_as(asked)
    torch.testing.assert_close(module._attend(states, seen, known), wanted)
