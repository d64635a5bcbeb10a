"""The action parser's stage, and REINFORCE on top of it."""

import numpy as np
import pytest

from lazy import lazy
from shiftscope.lang.text import parse_program
from shiftscope.models.nsvqa.question_parser.vocabulary import PAD, SPECIAL_TOKENS, UNKNOWN
from shiftscope.models.scene_edit.action_tokens import encode_actions, read_action
from shiftscope.models.scene_edit.one_hop import TextProgram, TextPrograms
from shiftscope.models.scene_edit.reinforce import RewardedExamples, reinforce, sample_programs
from shiftscope.models.scene_edit.training import ActionParserStage, SceneEditTraining
from shiftscope.schemas.clevr import SCHEMA
from shiftscope.trainable import SplitData
from toy import THREE_AND_ONE

torch = lazy("torch")

PAIRS = tuple(
    (text, parse_program(program).canonicalize())
    for text, program in (
        ("Remove the cube.", "remove(scene(), unique(filter(scene(), shape=cube)))"),
        ("Paint the cube blue.", "change(unique(filter(scene(), shape=cube)), color=blue)"),
        ("Put the cube on the cylinder.", "move(scene(), unique(filter(scene(), shape=cube)), "
         "unique(filter(scene(), shape=cylinder)), on)"),
        ("Remove all red things.", "remove(scene(), filter(scene(), color=red))"),
    )
)  # fmt: skip


@pytest.fixture(scope="module")
def parser():
    stage = ActionParserStage()
    config = stage.fit_vocabulary(SCHEMA, SplitData(None, (), {stage.name: PAIRS}))
    torch.manual_seed(0)
    return stage, config, stage.build(config, {})


def test_some_words_are_hidden_in_training_and_none_in_validation(parser):
    stage, config, _ = parser
    examples = stage.make_examples(SplitData(None, (), {stage.name: PAIRS * 20}), config, "cpu")
    rows = torch.arange(80)
    assert not (examples.batch(rows).words == UNKNOWN).any()
    examples.epoch(8, np.random.default_rng(0))
    torch.manual_seed(0)
    hidden = examples.batch(rows).words == UNKNOWN
    assert 0 < hidden.float().mean() < 0.15
    assert not (examples.all.words == UNKNOWN).any()  # the table itself stays as it is


def make_rewarded(config):
    held = TextPrograms(tuple(TextProgram(text, program, 0) for text, program in PAIRS), (THREE_AND_ONE,))
    encoded = encode_actions(config.vocabulary, PAIRS)
    return RewardedExamples(ActionParserStage.name, held, encoded, config.vocabulary.tokens, "cpu"), held


def encode(config, program):
    _, tokens = encode_actions(config.vocabulary, [("", parse_program(program).canonicalize())])
    return (tokens[0, 1:] - SPECIAL_TOKENS).tolist()


@pytest.mark.parametrize(
    ("program", "reward"),
    [
        ("remove(scene(), unique(filter(scene(), shape=cube)))", 1.0),  # as it was told
        ("remove(scene(), unique(filter(filter(scene(), color=red), material=rubber)))", 1.0),  # the same cube
        ("remove(scene(), unique(filter(scene(), shape=cylinder)))", 0.0),
        ("remove(scene(), unique(filter(scene(), color=red)))", 0.0),  # which of them?
    ],
)
def test_a_program_is_rewarded_for_what_it_leads_to(parser, program, reward):
    _, config, _ = parser
    examples, held = make_rewarded(config)
    assert examples.reward(encode(config, program), held.pairs[0]) == reward


def test_sampled_programs_are_actions_and_the_loss_follows_their_rewards(parser):
    _, config, module = parser
    examples, _ = make_rewarded(config)
    batch = examples.batch(torch.arange(4).repeat(8))
    torch.manual_seed(1)
    made, allowed = sample_programs(module.eval(), batch.encoded.words)
    for row in made.tolist():
        read_action([config.vocabulary.tokens[k - SPECIAL_TOKENS] for k in row if k != PAD])
    assert allowed.gather(2, made[..., None]).all()
    examples.reward = lambda numbers, pair: float(numbers[0] % 2)  # any reward that is not the same for all
    torch.manual_seed(1)
    loss, terms = reinforce(module, batch)
    loss.backward()
    assert 0 < float(terms["reward"]) < 1
    assert float(module.bias.grad.abs().sum()) > 0
    module.zero_grad()


def test_settings_that_are_none_are_refused(refuses, tmp_path):
    with refuses("no setting 'rate'"):
        SceneEditTraining().configure({"rate": "1"})
    with refuses("no such folder"):
        SceneEditTraining().configure({"reinforce": str(tmp_path / "none")})
    with refuses("there is questions=clevr"):
        SceneEditTraining().configure({"questions": "all"})
