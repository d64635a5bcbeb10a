"""Words of other languages in English, where they tell what a reply answers."""

import pytest

from shiftscope.english.foreign import SPACED, find_language, put_into_english
from shiftscope.english.word_lists import word_set, word_table

LANGUAGES = (*SPACED, "ru", "zh", "ja", "ko")


@pytest.mark.parametrize(
    ("text", "language"),
    [
        *(("Die Antwort ist rot.", "de"), ("Il y a trois cubes.", "fr"), ("Hay cinco cubos.", "es")),
        *(("Ci sono due sfere.", "it"), ("Há dois cubos.", "pt"), ("Ответ: да", "ru"), ("答案是三", "zh")),
        *(("はい、あります。", "ja"), ("정답은 2입니다", "ko"), ("Oui", "fr"), ("Ja.", "de")),
        *(("The ball is red.", ""), ("2, due to the occlusion", ""), ("rubber ball", ""), ("Yes", ""), ("", "")),
        ("The sign says 'rot', which is German.", ""),
    ],
)
def test_the_language_of_a_reply(text, language):
    assert find_language(text) == language


@pytest.mark.parametrize(
    ("text", "english"),
    [
        ("Die Kugel ist rot", "the sphere is red"),
        ("The ball is due in the metal box", "The ball is due in the metal box"),
        ("答案是三个", " answer  is  three   "),
        ("Es gibt ſechs Würfel", "there are ſechs cube"),  # a long s, which Python takes for an s
        ("是", " yes "),  # alone it is an answer
        ("答えはいいえです", " answer  is no   "),  # not はい, which is yes
    ],
)
def test_words_are_put_into_english(text, english):
    assert put_into_english(text) == english


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_word_stands_for_two(language):
    words = [word for listed in word_table("foreign", language).values() for word in listed]
    assert len(set(words)) == len(words)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_has_the_words_that_answers_need(language):
    table = word_table("foreign", language)
    colors = {"red", "blue", "green", "gray", "brown", "purple", "yellow"}
    assert {"yes", "no", "answer", "three", "four", "five", "rubber", "large", "small", *colors} <= table.keys()


def test_words_that_are_english_too_do_not_tell_a_language():
    for word in word_set("foreign", "weak"):
        assert find_language(word) == ""
