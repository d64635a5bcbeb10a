"""Paraphrases: each template in other words, made from its slots, and annotated ones first."""

from typing import NamedTuple

import pytest

from shiftscope.catalog import TEMPLATES
from shiftscope.graph.ask.paraphrase import WAYS, annotated, paraphrase, wordings
from shiftscope.graph.subgraph import Link, Modifier, Thing

HAT, BED = Link("wearing", Thing("hat")), Link("on", Thing("bed"))
MAN, DOG = Thing("man", "", (HAT,)), Thing("dog", "", (BED,))


USING = Link("lighting", Thing("cigar"), (Modifier("using", Thing("candle")),))
LIGHTING = Thing("woman", "", (Link("lighting", Thing("cigar")),))


class Filled(NamedTuple):
    """A draft as far as paraphrasing goes."""

    template: str
    slots: tuple = ()
    text: str = "As it was"

    def slot(self, name):
        return dict(self.slots).get(name)


def filled(template, text="As it was", **slots):
    return Filled(template, tuple(slots.items()), text)


@pytest.mark.parametrize(
    ("draft", "said"),
    [
        (filled("verify_attr", thing=DOG, attribute="white"), "Is the dog on a bed white?"),
        (filled("verify_attr", thing=MAN, attribute="sitting"), "The man wearing a hat: is he sitting?"),
        (
            filled("choose_attr", thing=MAN, this="running", that="looking up"),
            "Is the man wearing a hat running, or is he looking up?",
        ),
        (filled("query_attr", thing=DOG, family="color"), "What color is the dog on a bed?"),
        (filled("query_attr", thing=Thing("trees"), family="size"), "Which size do the trees have?"),
        (filled("query_attr", thing=DOG, family="material"), "What is the dog on a bed made of?"),
        (filled("query_attr", thing=DOG, family="pattern"), "Which pattern does the dog on a bed have?"),
        (filled("count", thing=MAN), "How many men are wearing a hat?"),
        (
            filled("verify_count", thing=DOG, test="at least", number=2),
            "Are there two or more dogs on a bed?",
        ),
        (filled("verify_count", thing=DOG, test="at least", number=1), "Is there at least one dog on a bed?"),
        (
            filled("verify_count", thing=DOG, test="at most", number=1),
            "Is there no more than one dog on a bed?",
        ),
        (filled("verify_count", thing=DOG, test="", number=3), "Are there three dogs on a bed?"),
        (
            filled("count_group_by", thing=DOG, test="exactly", number=2),
            "In how many of the images are there exactly two dogs on a bed?",
        ),
        (
            filled("count_group_by", thing=DOG, test="", number=0),
            "How many of the images show a dog on a bed?",
        ),
        (
            filled(
                "verify_count_group_by", thing=DOG, test="exactly", number=2, images_test="at least", images=1
            ),
            "Is there at least one image with exactly two dogs on a bed?",
        ),
        (
            filled("verify_count_group_by", thing=DOG, test="", number=0, images_test="", images=2),
            "Do exactly two of the images show a dog on a bed?",
        ),
        (
            filled("compare_count", thing=DOG, other=MAN, comparative="more"),
            "Do dogs on a bed outnumber men wearing a hat?",
        ),
        (
            filled("compare_count", thing=DOG, other=MAN, comparative="fewer"),
            "Are there fewer dogs on a bed than men wearing a hat?",
        ),
        (
            filled("compare_count", thing=DOG, other=MAN, comparative="same"),
            "Is the number of dogs on a bed the same as the number of men wearing a hat?",
        ),
        (
            filled("compare_count", thing=DOG, other=MAN, comparative="same"),
            "Is the number of dogs on a bed equal to the number of men wearing a hat?",
        ),
        (
            filled("choose_object", thing=LIGHTING, link=USING, other="lighter"),
            "The woman lighting a cigar: is she lighting it using a candle or a lighter?",
        ),
        (
            filled("verify_logic", thing=DOG, other=MAN, logic="both"),
            "Do the images show a dog on a bed as well as a man wearing a hat?",
        ),
        (
            filled("verify_logic", thing=Thing("trees"), other=MAN, logic="either"),
            "Are there trees or a man wearing a hat?",
        ),
        (
            filled("verify_quant", quantifier="all", thing=DOG, attribute="white"),
            "Are all of the dogs on a bed white?",
        ),
        (
            filled("verify_quant", quantifier="some", thing=DOG, link=HAT),
            "Are any of the dogs on a bed wearing a hat?",
        ),
        (
            filled("verify_quant", quantifier="no", thing=DOG, link=HAT),
            "None of the dogs on a bed are wearing a hat.",
        ),
        (
            filled("verify_quant", quantifier="all", thing=DOG, link=Link("has", Thing("collar"))),
            "Do all of the dogs on a bed have a collar?",
        ),
        (
            filled("verify_quant_attr", thing=DOG, family="color"),
            "Are all of the dogs on a bed the same color?",
        ),
        (
            filled("verify_same_attr", thing=DOG, other=Thing("cats"), family="material"),
            "Is the dog on a bed made of the same material as the cats?",
        ),
        (
            filled("choose_object", thing=MAN, link=Link("holding", Thing("cup")), other="plate"),
            "What is the man wearing a hat holding: a cup or a plate?",
        ),
        (filled("query_object", thing=MAN, relation="holding"), "The man wearing a hat: what is he holding?"),
        (filled("query_object", thing=MAN, relation="has"), "What does the man wearing a hat have?"),
        (
            filled(
                "choose_rel",
                thing=Thing("man", "sitting"),
                link=Link("holding", Thing("hat")),
                other="wearing",
            ),
            "Is the sitting man holding a hat or wearing it?",
        ),
    ],
    ids=lambda value: value.template if isinstance(value, Filled) else "",
)
def test_other_words_for_each_template(draft, said):
    assert said in wordings(draft)


def test_every_template_has_other_words():
    assert set(WAYS) == set(TEMPLATES.names())


def test_a_path_chooses_one_of_the_wordings():
    draft = filled("count", thing=MAN)
    chosen = {paraphrase(draft, "covr", k) for k in range(60)}
    assert chosen == set(wordings(draft))
    assert len(chosen) == 4
    assert paraphrase(draft, "covr", 7) == paraphrase(draft, "covr", 7)


def test_a_paraphrase_is_not_the_question_itself():
    text = "Is the dog white?"
    draft = filled("verify_attr", text, thing=Thing("dog"), attribute="white")
    assert text not in wordings(draft)
    assert wordings(draft)


def test_two_places_in_a_row_are_kept_apart():
    asked = filled("query_object", "What is the dog that is on a bed under?", thing=DOG, relation="under")
    assert set(wordings(asked)) == {
        "The dog on a bed: what is it under?",
        "What is it that the dog that is on a bed is under?",
    }
    told = filled("verify_quant", quantifier="all", thing=DOG, link=Link("near", Thing("cat")))
    assert "Are all of the dogs that are on a bed near a cat?" in wordings(told)


def test_an_annotated_paraphrase_goes_first():
    draft = filled("count", thing=MAN)
    assert paraphrase(draft, 1, notes=(("rephrase", " How many hats? "),)) == "How many hats?"
    assert annotated({"paraphrased": "Any dogs?"}) == "Any dogs?"
    assert annotated({"rephrase": None, "paraphrased": ""}) == ""
    assert paraphrase(draft, 1, notes=(("rephrase", ""),)) in wordings(draft)
