"""Rewording by a model: tiny ones built from configuration; what they garble is not kept."""

import re
from dataclasses import replace

import pytest

from action_reader import ActionReader
from command import make_here
from outcome_reader import OutcomeReader
from shiftscope.lang.exec.exact import execute
from shiftscope.lang.program import Program, node, split_action
from shiftscope.question import Question
from shiftscope.questions.hypothetical import paraphrase_model, partitions
from shiftscope.questions.hypothetical.action import join_question
from shiftscope.questions.hypothetical.paraphrase_model import get_paraphraser, has_same_content, paraphrase_questions
from shiftscope.store.dataset import Dataset
from shiftscope.world import clevr as world

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")

QUESTION = Question("q", "How many red cubes would there be?", ("s",), action="Paint the small ball red.", answer=2)


def test_content_is_what_is_said_of_things():
    before = "Add a small red metal cube to the left of the ball."
    assert has_same_content(before, "Please add a tiny red shiny block to the left of the sphere.")
    assert not has_same_content(before, "Add a small blue metal cube to the left of the ball.")
    assert not has_same_content(before, "Add a small red metal cube to the right of the ball.")
    assert not has_same_content(before, "Add a small red metal cube.")
    assert not has_same_content(before, "Add a small red metal cube to the left of the ball?")
    assert not has_same_content(before, "")
    assert not has_same_content("Are there cubes that are not red?", "Are there cubes that are red?")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast, T5Config, T5ForConditionalGeneration

    words = Tokenizer(models.WordLevel(unk_token="<unk>"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    special = ["<unk>", "<pad>", "</s>"]
    words.train_from_iterator([QUESTION.text, QUESTION.action], trainers.WordLevelTrainer(special_tokens=special))
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=words, unk_token="<unk>", pad_token="<pad>", eos_token="</s>")
    small = {"d_model": 8, "d_kv": 4, "d_ff": 8, "num_layers": 1, "num_heads": 2}
    config = T5Config(vocab_size=len(tokenizer), **small, decoder_start_token_id=1, pad_token_id=1, eos_token_id=2)
    torch.manual_seed(0)
    made = tmp_path_factory.mktemp("paraphraser")
    T5ForConditionalGeneration(config).save_pretrained(made)
    tokenizer.save_pretrained(made)
    return made


def test_a_model_of_the_users_own_is_asked_and_what_it_garbles_is_not_kept(folder):
    said = get_paraphraser(str(folder))([QUESTION.text, QUESTION.action])
    assert len(said) == 2
    assert said == get_paraphraser(str(folder))([QUESTION.text, QUESTION.action])
    assert paraphrase_questions([QUESTION], str(folder)) == [QUESTION]


def test_what_says_the_same_is_kept(monkeypatch):
    known = {QUESTION.text: "What is how many scarlet blocks?", QUESTION.action: "Please paint the tiny sphere red."}
    monkeypatch.setattr(paraphrase_model, "get_paraphraser", lambda name: lambda texts: [known[t] for t in texts])
    (made,) = paraphrase_questions([QUESTION], "mine")
    assert made.action == "Please paint the tiny sphere red."
    assert made.text == QUESTION.text  # red was lost


def test_what_is_no_model_is_refused(refuses, tmp_path):
    with refuses("is no seq2seq model that opens here"):
        get_paraphraser(str(tmp_path))


def test_the_joined_text_has_the_reworded_question(monkeypatch):
    """The clause that the action makes in it stays ours."""
    asked = replace(
        QUESTION,
        notes=(
            ("logic", "and"),
            ("wording", 3),
            ("joined", join_question("I paint the small ball red", QUESTION.text)),
        ),
    )
    known = {
        QUESTION.text: "Tell me how many red blocks there would be?",
        QUESTION.action: "Please paint the tiny sphere red.",
    }
    monkeypatch.setattr(paraphrase_model, "get_paraphraser", lambda name: lambda texts: [known[t] for t in texts])
    (made,) = paraphrase_questions([asked], "mine")
    assert made.text == "Tell me how many red blocks there would be?"
    assert made.notes == (
        ("logic", "and"),
        ("wording", "model"),
        ("joined", "Suppose I paint the small ball red. Tell me how many red blocks there would be?"),
    )


IN_OTHER_WORDS = {"big": "large", "tiny": "small", "thing": "object", "things": "objects", "metallic": "shiny"}
LONGEST_LEARNED = 12  # words; longer texts are garbled, and refused


def list_wording_pairs(scenes):
    """Short texts of ours, each with the same in other words of ours."""
    made = partitions.generate_original(scenes, 0, 9, "words", 1)
    texts = sorted({t for q in made for t in (q.text, q.action) if len(t.split()) <= LONGEST_LEARNED})
    return [(t, re.sub(r"\w+", lambda word: IN_OTHER_WORDS.get(word[0], word[0]), t)) for t in texts]


@pytest.fixture(scope="module")
def trained_folder(tmp_path_factory):
    """A BART of one layer each, trained on pairs of our own wordings."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers
    from transformers import BartConfig, BartForConditionalGeneration, PreTrainedTokenizerFast

    scenes = [world.sample_scene(9, "words", i, world.ClevrRules(objects=(4, 10))) for i in range(60)]
    pairs = list_wording_pairs(scenes)
    words = Tokenizer(models.WordLevel(unk_token="<unk>"))
    words.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    special = ["<s>", "<pad>", "</s>", "<unk>"]
    words.train_from_iterator([t for pair in pairs for t in pair], trainers.WordLevelTrainer(special_tokens=special))
    words.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 2)])
    names = dict(zip(("bos_token", "pad_token", "eos_token", "unk_token"), special, strict=True))
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=words, **names, model_max_length=96)
    torch.manual_seed(0)
    sizes = {f"{side}_{what}": n for side in ("encoder", "decoder") for what, n in SIZES.items()}
    ids = {"bos_token_id": 0, "pad_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 2}
    model = BartForConditionalGeneration(
        BartConfig(vocab_size=len(tokenizer), d_model=64, max_position_embeddings=128, dropout=0.0, **sizes, **ids)
    )
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    rates = torch.optim.lr_scheduler.OneCycleLR(optimizer, 3e-3, total_steps=STEPS)
    dice = torch.Generator().manual_seed(0)
    for _ in range(STEPS):
        some = [pairs[i] for i in torch.randint(len(pairs), (32,), generator=dice).tolist()]
        given, wanted = (
            tokenizer(list(side), return_tensors="pt", padding=True)["input_ids"] for side in zip(*some, strict=True)
        )
        labels = wanted.masked_fill(wanted == 1, -100)
        model(input_ids=given, attention_mask=(given != 1).long(), labels=labels).loss.backward()
        optimizer.step()
        rates.step()
        optimizer.zero_grad()
    folder = tmp_path_factory.mktemp("trained")
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


SIZES = {"layers": 1, "attention_heads": 4, "ffn_dim": 128}
STEPS = 400


@pytest.mark.full
@pytest.mark.filterwarnings("ignore")
def test_a_trained_model_rewords_a_dataset_and_no_rewording_kept_means_something_else(trained_folder, tmp_path):
    """`shiftscope make clevr_hyp --paraphraser FOLDER`: its texts are read back by readers that know no template."""
    options = {"images": 7, "placements": 1, "pictured": False, "workers": 1}
    make_here("clevr_hyp", tmp_path / "plain", **options)
    make_here("clevr_hyp", tmp_path / "reworded", **options, paraphraser=str(trained_folder))
    plain, made = Dataset.open(tmp_path / "plain"), Dataset.open(tmp_path / "reworded")
    reworded = refused = unreadable = 0
    for split in made.splits:
        scenes = {i.scene.id: i.scene for i in made.images(split)}
        for old, q in zip(plain.questions(split), made.questions(split), strict=True):
            assert (old.program, old.answer) == (q.program, q.answer)
            scene = scenes.get(q.scenes[0])
            reworded += (q.text != old.text) + (q.action != old.action)
            refused += q.text == old.text
            if scene is None or (q.text == old.text and q.action == old.action):
                continue
            action, _ = split_action(q.program)
            after = execute(action, scene).worlds[-1].scenes[0]
            try:
                done, asked = ActionReader(scene).read(q.action), OutcomeReader(Program((node("scene"),))).read(q.text)
            except (AssertionError, KeyError):
                unreadable += 1
                continue
            assert done == after, q.action
            assert execute(asked, after).answer == q.answer, q.text
            assert q.note("wording" if q.text != old.text else "action_wording") == "model"
    assert reworded > 20 and refused > 20
    assert unreadable <= reworded / 10
