"""A real image-text-to-text model, tiny and untrained, made from its configuration and loaded like any other."""

import pytest

from asked import dataset
from shiftscope.models._model import Options, Prompt, Setting
from shiftscope.models._name import build
from shiftscope.question import Question
from shiftscope.run.evaluate import Order, evaluate
from shiftscope.store.runlog import read_rows

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")

WORDS = "yes no red gray blue cube sphere how many cubes are there ? is anything what color it answer with one word or number and nothing else . 0 1 2 3"
CHAT = "{% for m in messages %}{% for c in m['content'] %}{% if c['type'] == 'image' %}<image>{% else %}{{ c['text'] }}{% endif %} {% endfor %}{% endfor %}"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A Llava of a few thousand weights: CLIP's eye on 16×16 pixels, one layer of Llama, a vocabulary of words."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers
    from transformers import (
        CLIPImageProcessorPil,
        CLIPVisionConfig,
        LlamaConfig,
        LlavaConfig,
        LlavaForConditionalGeneration,
        LlavaProcessor,
        PreTrainedTokenizerFast,
    )

    words = Tokenizer(models.WordLevel(unk_token="<unk>"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    special = ["<unk>", "<pad>", "<s>", "</s>", "<image>"]
    words.train_from_iterator([WORDS], trainers.WordLevelTrainer(special_tokens=special))
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=words, unk_token="<unk>", pad_token="<pad>", bos_token="<s>", eos_token="</s>",
        additional_special_tokens=["<image>"],
    )  # fmt: skip
    eye = CLIPImageProcessorPil(size={"shortest_edge": 16}, crop_size={"height": 16, "width": 16})
    processor = LlavaProcessor(
        image_processor=eye, tokenizer=tokenizer, patch_size=8, chat_template=CHAT,
        vision_feature_select_strategy="default", num_additional_image_tokens=1,
    )  # fmt: skip
    small = {"hidden_size": 16, "intermediate_size": 16, "num_attention_heads": 2}
    config = LlavaConfig(
        vision_config=CLIPVisionConfig(**small, num_hidden_layers=2, image_size=16, patch_size=8, projection_dim=16),
        text_config=LlamaConfig(
            **small, vocab_size=len(tokenizer), num_hidden_layers=1, num_key_value_heads=2, pad_token_id=1, bos_token_id=2, eos_token_id=3
        ),
        image_token_index=tokenizer.convert_tokens_to_ids("<image>"),
    )  # fmt: skip
    torch.manual_seed(0)
    made = tmp_path_factory.mktemp("tiny")
    LlavaForConditionalGeneration(config).save_pretrained(made)
    processor.save_pretrained(made)
    return made


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return dataset(tmp_path_factory.mktemp("hf") / "data").folder


def test_a_run_keeps_what_it_wrote(folder, data, tmp_path):
    options = Options(max_tokens=4, batch=3)
    log = evaluate(Order(f"hf:{folder}", data, limit=7, options=options), tmp_path / "run")
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
    model = build(str(folder), Setting(options=Options(max_tokens=6)))

    def asked(text, *images):
        return Prompt(Question("q", text, ("s",)), text, images)

    one, two, blind = asked("how many", png), asked("is anything red or blue ?", png), asked("what color")
    alone = [model.predict([p])[0].raw for p in (one, two, blind)]
    assert [r.raw for r in model.predict([one, blind, two])] == [alone[0], alone[2], alone[1]]
    both = asked("how many", png, png)
    assert model.predict([both])[0].tokens > model.predict([one])[0].tokens


@pytest.mark.filterwarnings("ignore::UserWarning")  # of a CPU without bfloat16
def test_a_dtype_of_ones_choice(folder, data, tmp_path):
    options = Options(max_tokens=2, dtype="bfloat16", device="cpu")
    assert len(evaluate(Order(f"hf:{folder}", data, limit=2, options=options), tmp_path / "run").records) == 2


def test_what_can_not_be_loaded(tmp_path, refuses):
    (tmp_path / "config.json").write_text("{}")
    with refuses(f"model hf:{tmp_path} can not be loaded"):
        build(str(tmp_path), Setting())


def test_an_unknown_dtype(folder, refuses):
    with refuses("no dtype 'float31'; write float32, bfloat16, float16 or auto"):
        build(str(folder), Setting(options=Options(dtype="float31")))


@pytest.mark.parametrize("target", ["/nope", "./nope", "a/b/c", "~/nope"])
def test_a_folder_that_is_not_there(target, refuses):
    with refuses(f"model hf:{target}: no such folder"):
        build(f"hf:{target}", Setting())


def test_a_hub_that_is_not_there_is_tried_once(refuses, monkeypatch, tmp_path):
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    with refuses("is neither a folder nor downloaded already, and http://127.0.0.1:9 can not be reached"):
        build("hf:nobody-here/nothing-there", Setting())
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with refuses("and HF_HUB_OFFLINE is set"):
        build("hf:nobody-here/nothing-there", Setting())
