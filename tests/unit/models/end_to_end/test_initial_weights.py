"""How transformers that are trained from nothing begin, and what that lets them tell apart."""

import pytest

from lazy import lazy
from shiftscope.models.end_to_end.questions import AnswererConfig
from shiftscope.models.lxmert.training import LxmertStage
from shiftscope.models.text_reader.training import ReaderStage

torch = lazy("torch")

LXMERT = {"width": 384, "heads": 6, "inside": 512, "text_layers": 1, "image_layers": 1, "layers": 1, "visual": 16}
READER = {"width": 384, "layers": 1, "heads": 6, "inside": 512}


def begin(stage, sizes, start):
    made = stage.configure({name: str(size) for name, size in sizes.items()} | {"start": start})
    config = AnswererConfig(("red", "blue"), ("yes", "no"), (480, 320), {}, dict(made.sizes))
    torch.manual_seed(0)
    network = made.build_network(config).eval().requires_grad_(False)
    made.load_pretrained(network, config)
    return network


@pytest.mark.parametrize(("stage", "sizes"), [(LxmertStage(), LXMERT), (ReaderStage(), READER)])
def test_maps_keep_the_size_of_what_they_are_given(stage, sizes):
    given, spread = torch.randn(256, 384), {}
    for start in ("bert", "glorot"):
        maps = [m for m in begin(stage, sizes, start).body.modules() if isinstance(m, torch.nn.Linear)]
        spread[start] = [float(m(given).std()) for m in maps if m.weight.shape == (384, 384)]
    assert spread["bert"] and max(spread["bert"]) < 0.5
    assert all(0.9 < one < 1.1 for one in spread["glorot"])


def test_an_lxmert_tells_from_the_start_where_regions_are():
    corners = torch.tensor([[0.1, 0.4, 0.2, 0.5], [0.7, 0.4, 0.8, 0.5]])  # far to the left and to the right
    alike = {}
    for start in ("bert", "glorot"):
        seen = begin(LxmertStage(), LXMERT, start).body.encoder.visn_fc
        left, right = seen.box_layer_norm(seen.box_fc(corners))
        alike[start] = float(torch.cosine_similarity(left, right, dim=0))
    assert alike["glorot"] < 0 < 0.4 < alike["bert"]


def test_tokens_and_regions_that_fill_rows_up_for_a_gpu_change_no_score(monkeypatch):
    from shiftscope.models.end_to_end.network import AnswerBatch
    from shiftscope.models.lxmert import network

    model = begin(LxmertStage(), LXMERT, "glorot")
    seen = torch.cat([torch.randn(2, 3, 16), torch.rand(2, 3, 4), torch.tensor([[1, 1, 0], [1, 0, 0]])[..., None]], -1)
    batch = AnswerBatch(torch.tensor([[3, 4, 2], [4, 2, 0]]), torch.tensor([3, 2]), seen)
    wanted = model.read_states(batch)
    monkeypatch.setattr(network, "align_rows", lambda words: torch.nn.functional.pad(words, (0, 4)))
    monkeypatch.setattr(network, "align_regions", lambda seen: torch.nn.functional.pad(seen, (0, 0, 0, 5)))
    found = model.read_states(batch)
    torch.testing.assert_close(found.scores, wanted.scores)
    torch.testing.assert_close(found.question, wanted.question)


@pytest.mark.parametrize("layers", [1, 3])
def test_an_lxmert_tells_what_transformers_own_model_does(layers):
    model = begin(LxmertStage(), LXMERT | {"layers": layers}, "glorot")
    words = torch.tensor([[2, 3, 4, 2], [2, 4, 2, 0]])
    seen, there = torch.randn(2, 3, 21), torch.tensor([[True, True, False], [True, False, False]])
    pooled, question = model.cross(words, seen, there)
    inputs = {"visual_feats": seen[..., :16], "visual_pos": seen[..., 16:20], "visual_attention_mask": there.float()}
    own = model.body(words, attention_mask=(words != 0).float(), output_hidden_states=True, **inputs)
    torch.testing.assert_close(pooled, own.pooled_output)
    torch.testing.assert_close(question, own.language_hidden_states[0][:, 0])


def test_a_start_is_told_and_a_wrong_one_refused(refuses):
    stage = ReaderStage()
    assert stage.configure({"start": "bert"}).start == stage.start == "bert"
    with refuses("no start 'kaiming'"):
        stage.configure({"start": "kaiming"})
    with refuses("pretrained=roberta-base says how it begins; leave start out"):
        stage.configure({"start": "glorot", "pretrained": "roberta-base"})
