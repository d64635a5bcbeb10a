"""Questions about scenes as they are, in the words of those about outcomes: what looks at edited pictures learns them."""

from collections import Counter
from dataclasses import replace

import pytest

from lazy import lazy
from shiftscope.lang.exec.exact import execute
from shiftscope.lang.op import get_op
from shiftscope.lang.program import split_action
from shiftscope.models.scene_edit.one_hop import combines_logic
from shiftscope.questions.hypothetical.outcome_templates import QUESTION_TYPES
from shiftscope.shortcuts.tokens import tokenize_texts
from shiftscope.suites import load_suite
from shiftscope.suites.clevr.suite import ClevrSpec
from shiftscope.suites.clevr_hyp.study import LOOKER, TRAININGS
from shiftscope.suites.clevr_hyp.suite import ClevrHypSpec
from shiftscope.train.data import gather_split, open_training_data
from shiftscope.train.feed import SuiteSource
from shiftscope.train.train import find_trainable

torch = lazy("torch")
WORLD = TRAININGS[LOOKER].world
STACKED = {"below", "underneath", "top"}  # no plain scene has one thing on another


@pytest.fixture(scope="module")
def block():
    return SuiteSource("clevr", open_training_data(WORLD, images=250).spec).block(0)


@pytest.fixture(scope="module")
def plain(block):
    return [question for _, questions in block for question in questions]


@pytest.fixture(scope="module")
def original():
    return load_suite("clevr_hyp").sample(ClevrHypSpec(images=210, shard=30), "test", 0).questions


def list_words(*questions):
    return set(tokenize_texts([q.text for q in questions]).vocabulary)


def test_the_words_of_original_are_known_but_for_things_on_others(plain, original):
    known = list_words(*plain)
    unknown = [q for q in original if not list_words(q) <= known]
    assert len(plain) > 2400 and len(original) > 600
    assert set().union(*map(list_words, unknown)) - known == STACKED
    for question in unknown:
        assert question.note("action_kind") == "move_on_top"
        assert any({"on", "below"} & set(n.params) for n in question.program.nodes if n.op in ("relate", "related"))
    assert len(unknown) < 0.08 * len(original)


def test_question_types_are_those_of_original_and_answers_are_spread(plain, original):
    kinds = Counter(q.kind for q in plain)
    assert set(kinds) == set(QUESTION_TYPES) == {q.kind for q in original}
    assert min(kinds.values()) > 0.95 * max(kinds.values())
    truths = Counter(q.answer for q in plain if type(q.answer) is bool)
    assert 0.9 < truths[True] / truths[False] < 1.1
    logic, wanted = (sum(bool(q.note("logic")) for q in some) / len(some) for some in (plain, original))
    assert wanted / 2 < logic < 2 * wanted
    assert {q.answer for q in original} - {q.answer for q in plain} <= {8, 9}  # which few scenes allow


def test_nothing_is_done_and_no_two_hops_are_asked(plain):
    assert {q.note("logic") for q in plain} == {None, "and", "or", "not"}
    for question in plain:
        assert not question.action and not any(get_op(n.op).edits for n in question.program.nodes)
        assert not combines_logic(question.program)
        assert split_action(question.program)[0] is None


def test_an_answer_is_that_of_the_scene_shown(block):
    for scene, questions in block[:20]:
        assert len(questions) >= 8 and len({q.id for q in questions}) == len(questions)
        for question in questions:
            assert question.scenes == (scene.id,)
            assert execute(question.program, scene).answer == question.answer


def test_a_shard_is_a_function_of_its_seed_and_number_on_the_scenes_of_plain_clevr():
    suite, spec = load_suite("clevr"), ClevrSpec(images=40, shard=10, wording="hypothetical")
    plan = suite.sample(spec, "train", 1)
    assert plan == suite.sample(spec, "train", 1)
    assert plan.scenes == suite.sample(replace(spec, wording=None), "train", 1).scenes
    for other in (replace(spec, seed=1), spec):
        again = suite.ask(other, "train", 1 if other.seed else 2, plan.scenes)
        assert [q.text for q in again] != [q.text for q in plan.questions]


def test_data_of_clevr_itself_are_named_as_before():
    assert "wording" not in ClevrSpec().spec()
    assert ClevrSpec.of(ClevrSpec().spec()) == ClevrSpec()
    hypothetical = ClevrSpec(wording="hypothetical")
    assert ClevrSpec.of(hypothetical.spec()) == hypothetical
    data = open_training_data(WORLD, images=100)
    assert (data.name, data.variant, data.count("train")) == (WORLD, "hypothetical", 100)
    assert open_training_data("clevr", images=100).variant == "clevr"


def test_other_wordings_are_refused(refuses):
    with refuses("no wording 'hypo'"):
        ClevrSpec(wording="hypo")
    with refuses("omit --wording or --shortcut"):
        ClevrSpec(wording="hypothetical", shortcut="question_type:0.6")
    with refuses("write --data clevr"):
        open_training_data("clevr:plain")


def test_lxmert_can_learn_from_it():
    data = open_training_data(WORLD, images=8)
    data = replace(data, spec=replace(data.spec, size=(240, 160)))
    (stage,) = find_trainable("lxmert").stages
    world = gather_split(data, "train", [stage], device="cpu")
    config = stage.fit_vocabulary(data.schema, world)
    torch.manual_seed(0)
    module = stage.build(config, {})
    stage.load_pretrained(module, config)
    examples = stage.make_examples(stage.encode(world, {}, "cpu"), config, "cpu")
    batch = examples.batch(torch.arange(16))
    loss, _ = stage.loss(module.train(), batch)
    loss.backward()
    assert len(examples) == 80
    assert bool(torch.isfinite(loss)) and any(p.grad is not None and bool(p.grad.any()) for p in module.parameters())
