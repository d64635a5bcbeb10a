"""What a person would count otherwise than a graph does: names of several, and other names for the same."""

import pytest

from graphs import graph
from shiftscope.english.adjectives import count_colors
from shiftscope.questions.covr.ambiguity import is_many, is_quantity
from shiftscope.questions.covr.context_images import CaseSettings, SubgraphCase
from shiftscope.questions.covr.draft import draw_image_condition, list_image_sets, passes_test
from shiftscope.questions.covr.questioner import CovrQuestioner, load_templates
from shiftscope.scene_graph.exclusivity import build_exclusivity
from shiftscope.scene_graph.index import build_index
from shiftscope.scene_graph.pack import pack_graphs
from shiftscope.scene_graph.related_images import RelatedImages
from shiftscope.scene_graph.subgraph import ObjectNode, SubgraphLink
from shiftscope.schemas.gqa import SCHEMA


def case_of(subgraph: ObjectNode, *scenes) -> SubgraphCase:
    numbered = [graph(str(k), *said) for k, said in enumerate(scenes)]
    return SubgraphCase(
        CaseSettings(RelatedImages(build_index(pack_graphs(numbered)), build_exclusivity(SCHEMA)), 0), subgraph, 0
    )


@pytest.mark.parametrize("name", ["cows", "people", "group of cows", "herd", "pair of shoes", "two dogs", "water"])
def test_a_name_may_be_of_many(name):
    assert is_many(name)


@pytest.mark.parametrize("name", ["cow", "bus", "glass", "piece of cake"])
def test_a_name_may_be_of_one(name):
    assert not is_many(name)


@pytest.mark.parametrize("word", ["4", "two", "several", "group of", "pair of", "two large"])
def test_a_quantity_says_that_there_are_several(word):
    assert is_quantity(word)


@pytest.mark.parametrize("word", ["1", "one", "white", "large", "single"])
def test_other_attributes_do_not(word):
    assert not is_quantity(word)


@pytest.mark.parametrize("several", ["cows", "several cow", "4 cow"])
def test_several_things_under_one_name_are_not_counted(several):
    case = case_of(ObjectNode("cow"), ("cow",), (several,), ("cow, cow",), ("dog",), ("cat",))
    drafts = [d for name in ("count", "verify_count", "count_group_by") for d in load_templates()[name].propose(case)]
    assert drafts
    assert all(1 not in context.graphs for draft in drafts for context in draft.contexts)


def test_nor_is_one_of_them_the_cow():
    scenes = ("black cows, field", "0 on 1"), ("white dog, field", "0 on 1"), ("black dog, bed", "0 on 1")
    case = case_of(ObjectNode("cow", "black", (SubgraphLink("on", ObjectNode("field")),)), *scenes)
    described = case.subgraph.drop_attribute()
    assert case.containing_images == (0,)
    assert not case.is_unique_in(described, 0)
    assert case.is_unique_in(ObjectNode("cows", "", described.relations), 0)


def test_one_apple_is_not_the_apples():
    case = case_of(ObjectNode("apples"), ("apple",), ("apples",))
    assert [image for image in (0, 1) if case._note_images((image,)) and case.is_unique_in(case.subgraph, image)] == [1]


def test_what_is_white_and_red_is_not_counted_as_white():
    white = ObjectNode("man", "", (SubgraphLink("wearing", ObjectNode("shirt", "white")),))
    scenes = (("man, white shirt", "0 wearing 1"), ("man, white red shirt", "0 wearing 1"), ("dog",), ("man, hat",))
    case = case_of(white, *scenes)
    assert set(case.containing_images) == {0, 1}
    assert [image for image in sorted(case.containing_images) if case.is_countable_in(white, image)] == [0]


def test_an_image_with_another_name_for_the_same_stays_out():
    on_table = ObjectNode("mug", "", (SubgraphLink("on", ObjectNode("table")),))
    named = ("mug, table", "cup, table", "dog, table", "cat, table", "mug, table, cup")
    case = case_of(on_table, *((said, "0 on 1", *(["2 on 1"] if said.count(",") > 1 else [])) for said in named))
    found = list_image_sets(case)
    assert found
    assert all(not {1, 4} & set(one.graphs) for one in found)


def test_another_name_counts_only_where_the_rest_fits():
    case = case_of(ObjectNode("mug", "", (SubgraphLink("on", ObjectNode("table")),)), ("mug, table, cup", "0 on 1"))
    assert case.containing_images == (0,)
    assert case.is_unique_in(case.subgraph, 0)
    assert not case.is_unique_in(ObjectNode("mug"), 0)


def test_at_most_in_an_image_can_be_wrong_for_some_image_of_every_set():
    case = case_of(
        ObjectNode("dog"), ("dog",), ("dog, dog",), ("dog, dog, dog",), ("dog",), ("dog, dog, dog, dog",), ("cat",)
    )
    seen = []
    for seed in range(60):
        found = draw_image_condition(case, case.make_dice(f"test {seed}"))
        if found is not None and found.test == "at most":
            for images, so_many in found.image_sets:
                counts = [case.count_instances(case.subgraph, image) for image in images]
                assert so_many == sum(0 < count <= found.number for count in counts)
                assert 0 < so_many + sum(count > found.number for count in counts) == len(images)
                assert max(counts) > found.number
                seen.append((found.number, so_many, len(images)))
    assert {number for number, *_ in seen} == {2, 3}  # not 1: nobody counts images with at most 1 dog
    assert len({so_many for _, so_many, _ in seen}) > 2


def test_two_images_with_at_most_so_many_can_be_right_and_wrong():
    scenes = [("dog",), ("dog, dog",), *[("dog, dog, dog",)] * 3, ("dog",), ("dog, dog",), ("cat",), ("cow",)]
    answers = set()
    related = RelatedImages(
        build_index(pack_graphs([graph(str(k), *said) for k, said in enumerate(scenes)])), build_exclusivity(SCHEMA)
    )
    for seed in range(300):
        case = SubgraphCase(CaseSettings(related, seed), ObjectNode("dog"), 0)
        for draft in load_templates()["verify_count_group_by"].propose(case):
            if draft.slot("test") == "at most" and draft.slot("images") > 1:
                answers |= {(draft.slot("images_test"), context.answer) for context in draft.contexts}
                assert all(draft.slot("images") < len(context.graphs) for context in draft.contexts)
    assert {("at least", True), ("at least", False), ("exactly", True), ("exactly", False)} <= answers


def _met(case, draft, context):
    counts = [case.count_instances(case.subgraph, image) for image in context.graphs]
    test, number = draft.slot("test"), draft.slot("number")
    return sum(bool(count) and (not number or passes_test(test, count, number)) for count in counts)


@pytest.mark.parametrize(
    ("word", "many"),
    [
        ("gray", 1),
        ("grey", 1),
        ("dark gray", 1),
        ("burgundy", 1),
        ("black and white", 2),
        ("multicolored", 2),
        ("striped", 2),
        ("large", 0),
        ("dark wooden", 0),
    ],
)
def test_how_many_colors_a_word_tells(word, many):
    assert count_colors(word) == many


@pytest.mark.parametrize("second", ["burgundy", "white", "striped"])
def test_what_has_two_colors_is_asked_for_none(second):
    """Whether or not the schema knows the second."""
    bed, sofa = SubgraphLink("on", ObjectNode("bed")), ("white dog, sofa", "0 on 1")
    for name in ("query_attr", "verify_attr", "choose_attr"):
        plain = case_of(ObjectNode("dog", "black", (bed,)), ("black dog, bed", "0 on 1"), sofa)
        both = case_of(ObjectNode("dog", "black", (bed,)), (f"black {second} dog, bed", "0 on 1"), sofa)
        assert list(load_templates()[name].propose(plain))
        assert not list(load_templates()[name].propose(both))


def test_what_a_question_names_is_no_answer():
    beside = SubgraphLink("next to", ObjectNode("car"))
    scenes = [("red {}, car", "0 next to 1"), ("blue dog, tree", "0 next to 1"), ("blue {}, dog", "0 next to 1")]
    for name, answers in (("truck", {"car"}), ("car", set())):
        case = case_of(ObjectNode(name, "red", (beside,)), *((said.format(name), on) for said, on in scenes))
        found = {c.answer for d in load_templates()["query_object"].propose(case) for c in d.contexts}
        assert found == answers


def test_images_with_the_other_of_two_alike_are_noted_as_distractors():
    scenes = [
        graph("a", "black dog, bed", "0 on 1"),
        graph("b", "white dog, sofa", "0 on 1"),
        graph("c", "black dog, sofa", "0 on 1"),
        graph("d", "brown dog, sofa", "0 on 1"),
    ]
    asker = CovrQuestioner(RelatedImages(build_index(pack_graphs(scenes)), build_exclusivity(SCHEMA)), 0)
    asked = [q for q in asker.generate_questions(0) if q.provenance.template == "verify_same_attr" and "bed" in q.text]
    assert asked
    for question in asked:
        assert len(question.note("distractors")) == len(question.scenes) - 1
