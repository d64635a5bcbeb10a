"""Paraphrases: each template in other words, made from its slots."""

from typing import NamedTuple

import pytest

from shiftscope.questions.covr.questioner import list_paraphrases, load_templates, paraphrase
from shiftscope.scene_graph.subgraph import ObjectNode, RelationModifier, SubgraphLink

HAT, BED = SubgraphLink("wearing", ObjectNode("hat")), SubgraphLink("on", ObjectNode("bed"))
MAN, DOG = ObjectNode("man", "", (HAT,)), ObjectNode("dog", "", (BED,))


USING = SubgraphLink("lighting", ObjectNode("cigar"), (RelationModifier("using", ObjectNode("candle")),))
LIGHTING = ObjectNode("woman", "", (SubgraphLink("lighting", ObjectNode("cigar")),))


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
        (filled("verify_attr", thing=MAN, attribute="sitting"), "Look at the man wearing a hat. Is he sitting?"),
        (
            filled("choose_attr", thing=MAN, this="running", that="looking up"),
            "Is the man wearing a hat running, or is he looking up?",
        ),
        (filled("query_attr", thing=DOG, family="color"), "What color is the dog on a bed?"),
        (filled("query_attr", thing=ObjectNode("trees"), family="size"), "Which size do the trees have?"),
        (filled("query_attr", thing=DOG, family="material"), "What is the dog on a bed made of?"),
        (filled("query_attr", thing=DOG, family="pattern"), "Which pattern does the dog on a bed have?"),
        (filled("count", thing=MAN), "How many men are wearing a hat?"),
        (filled("verify_count", thing=DOG, test="at least", number=2), "Are there two or more dogs on a bed?"),
        (filled("verify_count", thing=DOG, test="at least", number=1), "Is there at least one dog on a bed?"),
        (filled("verify_count", thing=DOG, test="at most", number=1), "Is there no more than one dog on a bed?"),
        (filled("verify_count", thing=DOG, test="exactly", number=3), "Are there exactly three dogs on a bed?"),
        (
            filled("count_group_by", thing=DOG, test="exactly", number=2),
            "In how many of the images are there exactly two dogs on a bed?",
        ),
        (filled("count_group_by", thing=DOG, test="", number=0), "How many of the images show a dog on a bed?"),
        (
            filled("verify_count_group_by", thing=DOG, test="exactly", number=2, images_test="at least", images=1),
            "Is there at least one image with exactly two dogs on a bed?",
        ),
        (
            filled("verify_count_group_by", thing=DOG, test="", number=0, images_test="exactly", images=2),
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
            "Look at the woman lighting a cigar. Is she lighting it using a candle or a lighter?",
        ),
        (
            filled("verify_logic", thing=DOG, other=MAN, logic="both"),
            "Do the images show a dog on a bed as well as a man wearing a hat?",
        ),
        (
            filled("verify_logic", thing=ObjectNode("trees"), other=MAN, logic="either"),
            "Are there trees or a man wearing a hat?",
        ),
        (filled("verify_quant", quantifier="all", thing=DOG, attribute="white"), "Are all of the dogs on a bed white?"),
        (filled("verify_quant", quantifier="some", thing=DOG, link=HAT), "Are any of the dogs on a bed wearing a hat?"),
        (filled("verify_quant", quantifier="no", thing=DOG, link=HAT), "None of the dogs on a bed are wearing a hat."),
        (
            filled("verify_quant", quantifier="all", thing=DOG, link=SubgraphLink("has", ObjectNode("collar"))),
            "Do all of the dogs on a bed have a collar?",
        ),
        (filled("verify_quant_attr", thing=DOG, family="color"), "Are all of the dogs on a bed the same color?"),
        (
            filled("verify_same_attr", thing=DOG, other=ObjectNode("cats"), family="material"),
            "Is the material of the dog on a bed the same as that of the cats?",
        ),
        (
            filled("choose_object", thing=MAN, link=SubgraphLink("holding", ObjectNode("cup")), other="plate"),
            "What is the man wearing a hat holding: a cup or a plate?",
        ),
        (filled("query_object", thing=MAN, relation="holding"), "Look at the man wearing a hat. What is he holding?"),
        (filled("query_object", thing=MAN, relation="has"), "What does the man wearing a hat have?"),
        (
            filled(
                "choose_rel",
                thing=ObjectNode("man", "sitting"),
                link=SubgraphLink("holding", ObjectNode("hat")),
                other="wearing",
            ),
            "Is the sitting man holding a hat or wearing it?",
        ),
    ],
    ids=lambda value: value.template if isinstance(value, Filled) else "",
)
def test_other_words_for_each_template(draft, said):
    assert said in list_paraphrases(draft)


def test_every_template_has_other_words():
    assert all(template.reword for template in load_templates().values())


def test_a_path_chooses_one_of_the_wordings():
    draft = filled("count", thing=MAN)
    chosen = {paraphrase(draft, "covr", k) for k in range(60)}
    assert chosen == set(list_paraphrases(draft))
    assert len(chosen) == 4
    assert paraphrase(draft, "covr", 7) == paraphrase(draft, "covr", 7)


def test_a_paraphrase_is_not_the_question_itself():
    text = "Is the dog white?"
    draft = filled("verify_attr", text, thing=ObjectNode("dog"), attribute="white")
    assert text not in list_paraphrases(draft)
    assert list_paraphrases(draft)


def test_two_places_in_a_row_are_kept_apart():
    asked = filled("query_object", "What is the dog that is on a bed under?", thing=DOG, relation="under")
    assert set(list_paraphrases(asked)) == {
        "Look at the dog on a bed. What is it under?",
        "What is it that the dog that is on a bed is under?",
    }
    told = filled("verify_quant", quantifier="all", thing=DOG, link=SubgraphLink("near", ObjectNode("cat")))
    assert "Are all of the dogs that are on a bed near a cat?" in list_paraphrases(told)
