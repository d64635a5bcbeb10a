"""A real image-text-to-text model, tiny and untrained, made from its configuration and loaded like any other."""

import io
import json
import pickle
import shutil

import pytest

from asked import dataset
from command import here, refused
from shiftscope import trust_remote_code as pretrained
from shiftscope.model import ModelOptions, ModelSetting, Prompt, build_model
from shiftscope.question import Question
from shiftscope.run.evaluate import RunSpec, evaluate
from shiftscope.store.run_log import read_rows
from tiny_llava import WORDS, save_tiny_llava

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("tiny")
    save_tiny_llava(made)
    return made


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return dataset(tmp_path_factory.mktemp("hf") / "data").folder


def test_a_run_keeps_what_it_wrote(folder, data, tmp_path):
    options = ModelOptions(max_tokens=4, batch=3)
    log = evaluate(RunSpec(f"hf:{folder}", data, limit=7, options=options), tmp_path / "run")
    assert len(log.records) == 7
    for _, prediction in read_rows(tmp_path / "run"):
        assert prediction.raw
        assert set(prediction.raw.lower().split()) <= {*WORDS.split(), "<unk>"}
        assert prediction.tokens > 4
        assert prediction.seconds > 0


def test_padding_does_not_change_what_is_written(folder, data):
    """A prompt alone, beside a longer one, and beside one without a picture."""
    from shiftscope.store.dataset import Dataset

    png = Dataset.open(data).example(0, "test").images[0].png
    model = build_model(str(folder), ModelSetting(options=ModelOptions(max_tokens=6)))

    def asked(text, *images):
        return Prompt(Question("q", text, ("s",)), text, images)

    one, two, blind = asked("how many", png), asked("is anything red or blue ?", png), asked("what color")
    alone = [model.predict([p])[0].raw for p in (one, two, blind)]
    assert [r.raw for r in model.predict([one, blind, two])] == [alone[0], alone[2], alone[1]]
    both = asked("how many", png, png)
    assert model.predict([both])[0].tokens > model.predict([one])[0].tokens


@pytest.mark.filterwarnings("ignore::UserWarning")  # of a CPU without bfloat16
def test_a_dtype_of_ones_choice(folder, data, tmp_path):
    options = ModelOptions(max_tokens=2, dtype="bfloat16", device="cpu")
    assert len(evaluate(RunSpec(f"hf:{folder}", data, limit=2, options=options), tmp_path / "run").records) == 2


def test_what_can_not_be_loaded(tmp_path, refuses):
    (tmp_path / "config.json").write_text("{}")
    with refuses(f"model hf:{tmp_path} cannot be loaded"):
        build_model(str(tmp_path), ModelSetting())


def test_an_unknown_dtype(folder, refuses):
    with refuses("no dtype 'float31'; write float32, bfloat16, float16 or auto"):
        build_model(str(folder), ModelSetting(options=ModelOptions(dtype="float31")))


@pytest.mark.parametrize("target", ["/nope", "./nope", "a/b/c", "~/nope"])
def test_a_folder_that_is_not_there(target, refuses):
    with refuses(f"model hf:{target}: no such folder"):
        build_model(f"hf:{target}", ModelSetting())


def test_a_hub_that_is_not_there_is_tried_once(refuses, monkeypatch, tmp_path):
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    with refuses("is neither a folder nor downloaded already, and http://127.0.0.1:9 cannot be reached"):
        build_model("hf:nobody-here/nothing-there", ModelSetting())
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with refuses("and HF_HUB_OFFLINE is set"):
        build_model("hf:nobody-here/nothing-there", ModelSetting())


def test_an_edited_folder_is_no_longer_the_run(folder, data, tmp_path, refuses):
    """By the content of the files that replies depend on; what people read may change."""
    model = tmp_path / "model"
    shutil.copytree(folder, model)
    order = RunSpec(f"hf:{model}", data, limit=2, options=ModelOptions(max_tokens=2))
    evaluate(order, tmp_path / "run")
    (model / "README.md").write_text("A model.")
    (model / "optimizer.pt").write_bytes(b"as it was in training")
    evaluate(order, tmp_path / "run")
    weights = bytearray((model / "model.safetensors").read_bytes())
    weights[-2] ^= 1
    (model / "model.safetensors").write_bytes(weights)
    with refuses(f"model.safetensors changed since {tmp_path / 'run'} was made with model 'hf:{model}'"):
        evaluate(order, tmp_path / "run")


def test_a_model_of_the_hub_is_known_by_its_commit(tmp_path, monkeypatch):
    """As the hub's client keeps what it downloaded; nothing is loaded for it."""
    import huggingface_hub

    from shiftscope.models.hf import _describe_content

    commit = "0123456789abcdef0123456789abcdef01234567"
    kept = tmp_path / "models--org--tiny"
    (kept / "snapshots" / commit).mkdir(parents=True)
    (kept / "snapshots" / commit / "config.json").write_text("{}")
    (kept / "refs").mkdir()
    (kept / "refs" / "main").write_text(commit)
    monkeypatch.chdir(tmp_path)
    load = huggingface_hub.try_to_load_from_cache
    monkeypatch.setattr(huggingface_hub, "try_to_load_from_cache", lambda *a: load(*a, cache_dir=tmp_path))
    assert _describe_content("org/tiny") == {"commit": commit}
    assert _describe_content("org/other") == {}


# --- batches, lengths and what is logged ------------------------------------------------------------------


def ask(text, *images, system="", name="q"):
    return Prompt(Question(name, text, ("s",)), text, images, system=system)


def test_prompts_are_generated_with_others_of_their_length_and_told_in_order(folder, data):
    from shiftscope.models.hf import group_by_length
    from shiftscope.store.dataset import Dataset

    png = Dataset.open(data).example(0, "test").images[0].png
    words = ["red", "red " * 9, "cube", "blue " * 8, "no", "sphere " * 7]
    prompts = [ask(text, png, name=f"q{k}") for k, text in enumerate(words)]
    assert group_by_length(prompts, 3) == [[4, 0, 2], [1, 3, 5]]
    assert group_by_length([prompts[0], ask("no"), prompts[2]], 3) == [[1], [0, 2]]
    model = build_model(str(folder), ModelSetting(options=ModelOptions(max_tokens=3, batch=3)))
    assert model.batch == 12
    alone = [model.predict([p])[0] for p in prompts]
    together = model.predict(prompts)
    assert [r.raw for r in together] == [r.raw for r in alone]
    assert [r.usage for r in together] == [r.usage for r in alone]


def test_tokens_are_counted_and_long_replies_are_truncated(folder, data, tmp_path):
    given = ["--model", f"hf:{folder}", "--data", data, "--limit", 5, "--max-tokens", 2, "--json"]
    told = json.loads(here("run", *given, "--out", tmp_path / "run").stdout)
    rows = [p for _, p in read_rows(tmp_path / "run")]
    assert told["usage"]["completion_tokens"] == sum(p.usage[0].wrote for p in rows) <= 10
    assert sum(p.tokens for p in rows) == told["usage"]["prompt_tokens"] + told["usage"]["completion_tokens"]
    cut = [p for p in rows if p.reason == "cut at max_tokens"]
    assert cut and all(p.usage[0].wrote == 2 for p in cut)
    assert told["images_sent"]["largest"] == [24, 16]
    assert "tokens written per second" in here("score", tmp_path / "run").stdout


def test_the_system_prompt_goes_through_the_chat_template(folder):
    model = build_model(str(folder), ModelSetting(options=ModelOptions(max_tokens=1)))
    plain, told = model.predict([ask("how many"), ask("how many", system="answer with one word")])
    assert told.usage[0].read == plain.usage[0].read + 4


def test_a_template_that_only_the_tokenizer_has_is_used(folder, tmp_path):
    from transformers import AutoProcessor, AutoTokenizer

    made = tmp_path / "model"
    shutil.copytree(folder, made)
    (made / "chat_template.jinja").unlink()
    processor = AutoProcessor.from_pretrained(made)
    assert not getattr(processor, "chat_template", None)
    plain = build_model(f"hf:{made}", ModelSetting(options=ModelOptions(max_tokens=1))).predict([ask("how many")])[0]
    tokenizer = AutoTokenizer.from_pretrained(made)
    tokenizer.chat_template = "{% for m in messages %}is {{ m['content'] }} {% endfor %}answer with"
    model = build_model(f"hf:{made}", ModelSetting(options=ModelOptions(max_tokens=1)))
    model._processor.tokenizer = tokenizer
    told, both = model.predict([ask("how many"), ask("how many", system="one word")])
    assert (told.usage[0].read, both.usage[0].read) == (plain.usage[0].read + 3, plain.usage[0].read + 6)


def test_what_a_model_writes_is_not_cut_where_it_does_not_repeat_the_prompt(folder):
    import torch

    model = build_model(str(folder), ModelSetting(options=ModelOptions(max_tokens=1)))
    read, wrote = torch.tensor([[5, 6], [1, 7]]), torch.tensor([[5, 9, 9], [9, 9, 9]])
    assert model._cut_prompt(torch.cat([read, wrote], 1), read).tolist() == wrote.tolist()
    assert model._cut_prompt(wrote, read).tolist() == wrote.tolist()


def test_samples_of_a_local_model_differ_and_do_not_depend_on_stops(folder, data, tmp_path):
    words = ["run", "--model", f"hf:{folder}", "--data", data, "--max-tokens", 4, "--batch", 4, "--samples", 4]
    words += ["--temperature", 2, "--json"]
    assert not here(*words, "--limit", 4, "--out", tmp_path / "one").returncode
    assert not here(*words, "--limit", 4, "--out", tmp_path / "two").returncode
    one, two = ([[r.raw for r in p.replies] for _, p in read_rows(tmp_path / name)] for name in ("one", "two"))
    assert one == two
    assert any(len(set(replies)) > 1 for replies in one)


def test_attention_falls_back_with_one_sentence(folder, refuses):
    told = []
    options = ModelOptions(max_tokens=1, attention="flash", device="cpu")
    model = build_model(str(folder), ModelSetting(options=options, warn=told.append))
    assert model.predict([ask("how many")])[0].raw is not None
    (sentence,) = told
    assert sentence.startswith(f"model hf:{folder} runs without flash attention: ")
    assert len(sentence.splitlines()) == 1
    for attention in ("eager", "sdpa"):
        build_model(str(folder), ModelSetting(options=ModelOptions(attention=attention), warn=told.append))
    assert len(told) == 1
    with refuses("no attention 'flsh'"):
        build_model(str(folder), ModelSetting(options=ModelOptions(attention="flsh")))


def test_a_model_spread_over_what_there_is(folder):
    model = build_model(str(folder), ModelSetting(options=ModelOptions(max_tokens=2, device="all")))
    alone = build_model(str(folder), ModelSetting(options=ModelOptions(max_tokens=2, device="cpu")))
    assert model.predict([ask("how many")])[0].raw == alone.predict([ask("how many")])[0].raw


# --- code and pickles in a model's folder ---------------------------------------------------------------

CODE = """
from pathlib import Path
Path({marker!r}).write_text("it ran")
from transformers import CLIPImageProcessorPil, LlavaConfig, LlavaForConditionalGeneration, LlavaProcessor
from transformers import PreTrainedTokenizerFast
class Config(LlavaConfig): model_type = "one_of_its_own"
class Model(LlavaForConditionalGeneration): config_class = Config
class Processor(LlavaProcessor): pass
class Eye(CLIPImageProcessorPil): pass
class Tokens(PreTrainedTokenizerFast): pass
def generate(model, **given): return model.generate(**given)
"""
NAMED = {
    "config.json": {"AutoConfig": "own.Config", "AutoModelForImageTextToText": "own.Model"},
    "generation_config.json": {"AutoConfig": "own.Config"},
    "processor_config.json": {"AutoProcessor": "own.Processor", "AutoImageProcessor": "own.Eye"},
    "preprocessor_config.json": {"AutoImageProcessor": "own.Eye", "AutoProcessor": "own.Processor"},
    "tokenizer_config.json": {"AutoTokenizer": ["own.Tokens", "own.Tokens"], "AutoProcessor": "own.Processor"},
}


class Ran:
    """What a pickle runs as it is read."""

    def __init__(self, marker):
        self.marker = str(marker)

    def __reduce__(self):
        return (open, (self.marker, "w"))


def with_code(folder, tmp_path, name):
    """A copy of the folder in which a file names code, which leaves a marker as soon as it is imported."""
    made, marker = tmp_path / "model", tmp_path / "marker"
    shutil.copytree(folder, made)
    (made / "own.py").write_text(CODE.format(marker=str(marker)))
    path = made / name
    known = json.loads(path.read_text()) if path.exists() else {}
    if name == "config.json":
        known["model_type"] = "one_of_its_own"
    path.write_text(json.dumps(known | {"auto_map": NAMED[name]}))
    return made, marker


@pytest.fixture
def yes(monkeypatch):
    """What transformers asks on the terminal is answered with yes."""
    monkeypatch.setattr("builtins.input", lambda *_: "y")
    monkeypatch.setattr("sys.stdin", io.StringIO("y\n" * 100))


@pytest.fixture
def modules(monkeypatch, tmp_path):
    """Where transformers puts the code that it runs."""
    monkeypatch.setattr("transformers.dynamic_module_utils.HF_MODULES_CACHE", str(tmp_path / "modules"))


@pytest.mark.parametrize("name", NAMED)
def test_code_in_a_folder_is_not_run(folder, data, tmp_path, name, yes, modules):
    made, marker = with_code(folder, tmp_path, name)
    sentence = refused(here("run", "--model", f"hf:{made}", "--data", data, "--out", tmp_path / "run"))
    assert f"auto_map in {made / name}" in sentence
    assert "--trust-remote-code" in sentence
    assert not marker.exists()
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("name", NAMED)
def test_nor_is_it_where_transformers_alone_decides(folder, data, tmp_path, name, yes, modules, monkeypatch):
    """As for a name on the hub, whose files are not looked at before."""
    monkeypatch.setattr("shiftscope.models.hf.refuse_untrusted", lambda target, remedy: None)
    made, marker = with_code(folder, tmp_path, name)
    here("run", "--model", f"hf:{made}", "--data", data, "--limit", 1, "--max-tokens", 1, "--out", tmp_path / "run")
    assert not marker.exists()


def test_code_is_run_for_who_trusts_it(folder, data, tmp_path, modules):
    made, marker = with_code(folder, tmp_path, "config.json")
    options = ModelOptions(max_tokens=1, trust_remote_code=True)
    log = evaluate(RunSpec(f"hf:{made}", data, limit=1, options=options), tmp_path / "run")
    assert marker.read_text() == "it ran"
    assert dict(log.spec)["trust_remote_code"] is True


def test_trust_is_in_the_spec_of_a_run_only_when_given(folder, data, tmp_path):
    log = evaluate(RunSpec(f"hf:{folder}", data, limit=1, options=ModelOptions(max_tokens=1)), tmp_path / "run")
    assert "trust_remote_code" not in dict(log.spec)


def test_a_way_of_generating_in_a_folder_is_not_run(folder, tmp_path, refuses, yes, modules):
    made, marker = tmp_path / "model", tmp_path / "marker"
    shutil.copytree(folder, made)
    (made / "custom_generate").mkdir()
    (made / pretrained.GENERATE).write_text(CODE.format(marker=str(marker)))
    with refuses(f"wants to run code of its own ({made / pretrained.GENERATE}); add --trust-remote-code"):
        build_model(f"hf:{made}", ModelSetting())
    assert not marker.exists()


def test_pickled_weights_are_not_read(folder, data, tmp_path):
    import torch
    from safetensors.torch import load_file

    made, marker = tmp_path / "model", tmp_path / "marker"
    shutil.copytree(folder, made)
    weights = load_file(made / "model.safetensors")
    (made / "model.safetensors").unlink()
    (made / "pytorch_model.bin").write_bytes(pickle.dumps(Ran(marker)))
    words = ("run", "--model", f"hf:{made}", "--data", data, "--out", tmp_path / "run", "--limit", 1)
    sentence = refused(here(*words))
    assert f"has pickled weights ({made / 'pytorch_model.bin'})" in sentence
    assert "--trust-remote-code" in sentence
    assert not marker.exists()
    torch.save(weights, made / "pytorch_model.bin")
    assert here(*words, "--max-tokens", 1, "--trust-remote-code").returncode == 0


def test_weights_beside_pickled_ones_are_read(folder, tmp_path):
    made, marker = tmp_path / "model", tmp_path / "marker"
    shutil.copytree(folder, made)
    (made / "pytorch_model.bin").write_bytes(pickle.dumps(Ran(marker)))
    build_model(f"hf:{made}", ModelSetting())
    assert not marker.exists()
