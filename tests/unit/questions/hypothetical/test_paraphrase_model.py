"""Rewording by a model: a tiny untrained T5, loaded like any other; what it garbles is not kept."""

from dataclasses import replace

import pytest

from shiftscope.question import Question
from shiftscope.questions.hypothetical import paraphrase_model
from shiftscope.questions.hypothetical.action import join_question
from shiftscope.questions.hypothetical.paraphrase_model import get_paraphraser, has_same_content, paraphrase_questions

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
