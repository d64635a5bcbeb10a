"""T5, BART and GPT-2, new or pretrained: each learns from a handful of questions, in either logical form."""

import json
from dataclasses import replace

import pytest

from lazy import lazy
from shiftscope.errors import UserError
from shiftscope.lang.text import parse_program
from shiftscope.models.neuro_symbolic.network import get_network_class
from shiftscope.models.neuro_symbolic.pretrained import check_length, read_architecture
from shiftscope.models.neuro_symbolic.training import PARSER, QuestionParserTraining, SequenceStage, find_stage
from shiftscope.question import Question
from shiftscope.schemas.superclevr import SCHEMA
from shiftscope.trainable import SplitData
from toy import TRAFFIC
from vehicle_pairs import build_pairs

torch, transformers = lazy("torch"), lazy("transformers")

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
    optimizer = torch.optim.AdamW(module.parameters(), lr=5e-3)
    losses = []
    for _ in range(100):
        loss, _ = stage.loss(module.eval(), batch)  # without dropout, so that few steps are enough
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(module.parameters(), 1.0)
        optimizer.step()
        losses.append(float(loss.detach()))
    right, of = stage.measure(module, batch)["exact"]
    assert losses[-1] < 0.3 * losses[0] and right >= 1 and of == len(PAIRS)
    written = module.parse([text for text, _ in PAIRS])
    assert int(right) == sum(a == module.express(b) for a, (_, b) in zip(written, PAIRS, strict=True))
    other = parse_program("count(same(unique(filter(scene(), shape=bicycle)), material))").canonicalize()  # not of COVR
    assert module.express(other) == other
    assert find_stage(config.to_json()).parser == parser


@pytest.mark.parametrize("parser", ["t5", "bart", "gpt2"])
def test_what_fills_a_batch_up_or_comes_later_is_not_looked_at(parser):
    """Our masks are transformers' own, which a captured step could not have made."""
    from shiftscope.models.neuro_symbolic.network import IGNORED, PAD, UNKNOWN

    stage = SequenceStage(parser, "compositional", SIZES)
    questions = [Question(str(k), text, ("s",), program, None) for k, (text, program) in enumerate(PAIRS)]
    data = SplitData(None, (), {PARSER: stage.collect([TRAFFIC], questions)})
    config = stage.fit_vocabulary(SCHEMA, data)
    torch.manual_seed(0)
    module = stage.build(config, {}).eval()
    examples = stage.make_examples(data, config, "cpu")
    together = examples.batch(torch.arange(len(PAIRS)))
    wide = stage.logits(module, together)
    if parser == "gpt2":
        found = module.network(input_ids=together.words, attention_mask=(together.words != PAD).long())
        theirs = found.logits[:, :-1]
    else:
        found = module.network(
            input_ids=together.words, attention_mask=(together.words != PAD).long(), labels=together.targets
        )
        theirs = found.logits
    learned = (together.targets if parser != "gpt2" else together.targets[:, 1:]) != IGNORED
    assert torch.allclose(wide[learned], theirs[learned], atol=1e-5)
    for k in range(len(PAIRS)):
        alone = stage.logits(module, examples.batch(torch.tensor([k])))[0]
        some = learned[k, : len(alone)]
        assert torch.allclose(alone[some], wide[k, : len(alone)][some], atol=1e-5)
    later = replace(together, targets=together.targets.clone(), words=together.words.clone())
    table = later.words if parser == "gpt2" else later.targets
    place = int(learned[0].nonzero()[2])
    at = place + (parser == "gpt2")
    table[0, at:] = UNKNOWN
    assert torch.allclose(
        stage.logits(module, later)[0, : place + (parser != "gpt2")], wide[0, : place + (parser != "gpt2")], atol=1e-5
    )
    assert not torch.allclose(stage.logits(module, later)[0, place + 1], wide[0, place + 1], atol=1e-5)


def test_fused_norms_are_those_of_transformers():
    from transformers.models.t5.modeling_t5 import T5LayerNorm

    from shiftscope.models.neuro_symbolic.network import FusedNorm, SequenceConfig, build_network

    network = build_network(SequenceConfig("t5", "compositional", ("some", "words"), SCHEMA, 16, 2, 2, 24))
    theirs = {f"{name}.weight" for name, part in network.named_modules() if isinstance(part, FusedNorm)}
    assert len(theirs) == 2 * 2 + 2 * 3 + 2 and theirs <= set(network.state_dict())
    assert not any(isinstance(part, T5LayerNorm) for part in network.modules())
    norms = T5LayerNorm(16, 1e-3), FusedNorm(16, 1e-3)
    found = []
    for norm in norms:
        torch.manual_seed(0)
        torch.nn.init.normal_(norm.weight)
        states = torch.randn(5, 16).requires_grad_()
        made = norm(states * 0.1)
        made.square().sum().backward()
        found.append((made.detach(), states.grad, norm.weight.grad))
    for one, other in zip(*found, strict=True):
        assert torch.allclose(one, other, atol=1e-5)


TINY = {
    "t5": {"d_model": 16, "d_kv": 8, "d_ff": 24, "num_layers": 1, "num_heads": 2, "feed_forward_proj": "gated-gelu",
           "tie_word_embeddings": False},
    "bart": {"d_model": 16, "encoder_layers": 1, "decoder_layers": 1, "encoder_attention_heads": 2,
             "decoder_attention_heads": 2, "encoder_ffn_dim": 24, "decoder_ffn_dim": 24},
    "gpt2": {"n_embd": 16, "n_layer": 1, "n_head": 2},
}  # fmt: skip
PIECES = ["<pad>", "</s>", "<s>", "<unk>", "how", "many", "jet", "red", "choose", "relation", "filter"]


def save_pretrained(parser, folder):
    """A tiny network with random weights, and a tokenizer of a few whole words."""
    from tokenizers import Tokenizer, models, pre_tokenizers

    words = Tokenizer(models.WordLevel({piece: k for k, piece in enumerate(PIECES)}, unk_token="<unk>"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    marks = {"pad_token": "<pad>", "eos_token": "</s>", "bos_token": "<s>", "unk_token": "<unk>"}
    transformers.PreTrainedTokenizerFast(tokenizer_object=words, **marks).save_pretrained(folder)
    made = get_network_class(parser)
    torch.manual_seed(3)
    network = made(made.config_class(vocab_size=len(PIECES), pad_token_id=0, eos_token_id=1, **TINY[parser]))
    network.save_pretrained(folder)
    return network


@pytest.mark.parametrize("parser", TINY)
def test_a_pretrained_network_is_begun_from(parser, tmp_path):
    given = save_pretrained(parser, tmp_path)
    stage = QuestionParserTraining().configure({"parser": parser, "pretrained": str(tmp_path)}).stages[0]
    questions = [Question(str(k), text, ("s",), program, None) for k, (text, program) in enumerate(PAIRS)]
    data = SplitData(None, (), {PARSER: stage.collect([TRAFFIC], questions)})
    config = stage.read_config(json.loads(json.dumps(stage.fit_vocabulary(SCHEMA, data).to_json())))
    module = stage.build(config, {})
    stage.load_pretrained(module, config)
    theirs, mine = given.state_dict(), module.network.state_dict()
    same = [key for key in theirs if mine[key].shape == theirs[key].shape]
    assert len(same) > 8 and all(torch.equal(mine[key], theirs[key]) for key in same)
    row, pieces = module.numbers["how"], torch.tensor([PIECES.index("how")])
    for get in ("get_input_embeddings", "get_output_embeddings"):
        ours, before = getattr(module.network, get)().weight, getattr(given, get)().weight
        assert torch.allclose(ours[row], before[pieces].mean(0))
    batch = stage.make_examples(data, config, "cpu").batch(torch.arange(len(PAIRS)))
    assert torch.isfinite(stage.loss(module, batch)[0])
    assert len(module.parse([PAIRS[0][0]])) == 1
    assert stage.describe(SCHEMA)["pretrained"] == str(tmp_path)
    twin = find_stage(config.to_json()).build(config, {})  # the folder is not needed again
    twin.load_state_dict(module.state_dict())


def test_a_pretrained_network_of_another_kind_is_refused(tmp_path):
    save_pretrained("gpt2", tmp_path)
    with pytest.raises(UserError, match=r"no t5 can be loaded there.*it is a gpt2"):
        QuestionParserTraining().configure({"parser": "t5", "pretrained": str(tmp_path)})
    with pytest.raises(UserError, match="sizes of its own; omit width"):
        QuestionParserTraining().configure({"parser": "gpt2", "pretrained": str(tmp_path), "width": "64"})
    with pytest.raises(UserError, match="the pretrained gpt2 reads 1,024 tokens, and the questions take up to 2,000"):
        check_length("gpt2", read_architecture("gpt2", str(tmp_path)), 2000)


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
        ({"parser": "t5", "pretrained": "/nowhere"}, "no t5 can be loaded there"),
    ],
)
def test_wrong_settings_are_refused(settings, why):
    with pytest.raises(UserError, match=why):
        QuestionParserTraining().configure(settings)
