"""T5, BART and GPT-2 from a configuration: each learns from a handful of questions, in either logical form."""

import pytest

from lazy import lazy
from shiftscope.errors import UserError
from shiftscope.lang.text import parse_program
from shiftscope.models.neuro_symbolic.training import PARSER, QuestionParserTraining, SequenceStage, find_stage
from shiftscope.question import Question
from shiftscope.schemas.superclevr import SCHEMA
from shiftscope.trainable import SplitData
from toy import TRAFFIC
from vehicle_pairs import build_pairs

torch = lazy("torch")

SIZES = {"width": 64, "layers": 1, "heads": 2, "inside": 64}
PAIRS = [(text, parse_program(program).canonicalize()) for text, program in list(build_pairs())[:3]]


@pytest.mark.parametrize(("parser", "form"), [("t5", "compositional"), ("bart", "original"), ("gpt2", "compositional")])
def test_a_network_learns_to_write_programs(parser, form):
    stage = SequenceStage(parser, form, SIZES)
    questions = [Question(str(k), text, ("s",), program, None) for k, (text, program) in enumerate(PAIRS)]
    data = SplitData(None, (), {PARSER: stage.collect([TRAFFIC], questions)})
    config = stage.read_config(stage.fit_vocabulary(SCHEMA, data).to_json())
    torch.manual_seed(0)
    module = stage.build(config, {})
    batch = stage.make_examples(data, config, "cpu").batch(torch.arange(len(PAIRS)))
    optimizer = torch.optim.AdamW(module.parameters(), lr=1e-2)
    losses = []
    for _ in range(60):
        loss, _ = stage.loss(module.eval(), batch)  # without dropout, so that few steps are enough
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(float(loss.detach()))
    right, of = stage.measure(module, batch)["exact"]
    assert losses[-1] < 0.3 * losses[0] and right >= 1 and of == len(PAIRS)
    assert find_stage(config.to_json()).parser == parser


def test_settings_choose_the_parser():
    stage = QuestionParserTraining().configure({"parser": "gpt2", "form": "original", "width": "64"}).stages[0]
    assert (stage.parser, stage.form, stage.sizes) == ("gpt2", "original", {"width": 64})
    assert QuestionParserTraining().configure({}).stages[0].parser == "composing"


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"parser": "t6"}, "t6"),
        ({"form": "lambda", "parser": "t5"}, "lambda"),
        ({"wide": "3"}, "wide"),
        ({"width": "many", "parser": "t5"}, "width=many"),
        ({"parser": "composing", "form": "original"}, "no other setting"),
    ],
)
def test_wrong_settings_are_refused(settings, why):
    with pytest.raises(UserError, match=why):
        QuestionParserTraining().configure(settings)
