"""Properties of questions that a split holds out, and the expressions they are composed in."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from covr_rows import programs, quantified, rows
from shiftscope.lang.notations import covr, covr_compositional
from shiftscope.lang.text import parse_program as program
from shiftscope.question import Provenance, Question
from shiftscope.shift.held_out import COVR_SPLITS, get_split
from shiftscope.shift.held_out.facts import ProgramFacts
from shiftscope.shift.held_out.predicates import (
    DRAWN_PROPERTIES,
    QuestionCorpus,
    get_property,
    list_property_names,
    parse_expression,
)
from shiftscope.shift.held_out.properties import FAMILIES


def asked(said, answer=None, template="", source="covr", **notes):
    """A question with a program, given as COVR's rows or in our notation."""
    made = covr.read(said) if isinstance(said, list) else program(said)
    return Question(
        "q", "?", ("a",), made, answer, provenance=Provenance(source, "", template), notes=tuple(notes.items())
    )


def true_of(question, *names):
    """Which of the properties are true of a question."""
    return {name for name in names if parse_expression(name)(question)}


HOLDING = ("find hat", "find man", "with_relation wearing [1, 0]")
BLACK = rows("scene", "filter black [0]")
ON_PAD = ("find pad", "find mouse", "with_relation on [1, 0]")

all_birds = asked([*rows("find bird"), *quantified("all", [], BLACK, 0)])
all_mice_on_a_pad = asked([*rows(*ON_PAD), *quantified("all", [], BLACK, 2)])
no_man_by_a_horse = asked(
    [*rows("find horse", "find man", "with_relation near [1, 0]"), *quantified("none", [], BLACK, 2)]
)
same_color = asked(rows("find dog", "filter large [0]", "all_same color [1]"))
one_as_another = asked(
    rows(
        "find bed",
        "unique [0]",
        "query_attr color [1]",
        "find couch",
        "unique [3]",
        "query_attr color [4]",
        "eq [2, 5]",
    )
)
more_men = asked(rows("find man", "count [0]", "find dog", "count [2]", "gt [1, 3]"))
at_least_3 = asked(rows("find cup", "count [0]", "geq 3 [1]"))
images_of_2 = asked(rows(*HOLDING, "group_by_images [2]", "keep_if_values_count_eq 2 [3]", "keys [4]", "count [5]"), 3)
both = asked(rows("find man", "exists [0]", "find dog", "exists [2]", "logic_and [1, 3]"), True)


# --- each property, on programs small enough to read --------------------------------------------------------


def test_a_quantifier_and_its_scope():
    names = ("has_quant", "has_quant_all", "has_quant_some", "has_quant_none", "has_quant_compscope")
    assert true_of(all_birds, *names) == {"has_quant", "has_quant_all"}
    assert true_of(all_mice_on_a_pad, *names) == {"has_quant", "has_quant_all", "has_quant_compscope"}
    assert true_of(no_man_by_a_horse, *names) == {"has_quant", "has_quant_none", "has_quant_compscope"}
    assert true_of(same_color, *names) == {"has_quant", "has_quant_all", "has_quant_compscope"}
    assert true_of(one_as_another, *names) == set()
    assert true_of(asked("alike(find(dog), find(cat), color)"), *names) == set()
    assert true_of(asked("alike(find(dog), find(dog), color)"), *names) == {"has_quant", "has_quant_all"}


def test_comparing_two_counts_is_not_comparing_with_a_number():
    names = (
        "has_compar",
        "has_compar_more",
        "has_compar_fewer",
        "has_compar_same",
        "has_num",
        "has_num_3",
        "has_num_30",
    )
    assert true_of(more_men, *names) == {"has_compar", "has_compar_more"}
    assert true_of(at_least_3, *names) == {"has_num", "has_num_3"}
    fewer = asked("less(count(filter(scene(), color=red)), count(filter(scene(), color=blue)))", source="clevr")
    assert true_of(fewer, *names) == {"has_compar", "has_compar_fewer"}
    assert true_of(one_as_another, *names) == set()


def test_a_number_is_one_that_is_said():
    assert true_of(images_of_2, "has_num_2", "has_num_3", "has_groupby", "has_count") == {
        "has_num_2",
        "has_groupby",
        "has_count",
    }
    left_out = covr_compositional.read(rows("find cup", "count [0]", "compare gt [1]"))
    assert not get_property("has_num")(Question("q", "?", ("a",), left_out))
    assert get_property("has_num_0")(asked(rows("find cup", "count [0]", "gt 0 [1]")))


def test_images_that_are_counted_are_grouped_by():
    some = asked(rows("find cup", "unique_images [0]", "count [1]", "geq 1 [2]"))
    assert get_property("has_groupby")(some)
    assert not get_property("has_groupby")(asked(rows("find cup", "count [0]")))


def test_a_noun_is_the_same_program_whether_it_is_found_or_filtered_by():
    found, filtered, narrowed = (
        ProgramFacts(asked(said)).anonymous_program
        for said in ("count(find(cup))", "count(filter(scene(), shape=cube))", "count(filter(scene(), color=red))")
    )
    assert found == filtered != narrowed


def test_an_attribute_narrows_and_a_name_does_not():
    names = ("has_attr", "has_attr_large", "has_attr_color", "has_attr_red")
    assert true_of(same_color, *names) == {"has_attr", "has_attr_large"}
    assert true_of(asked("count(filter(filter(scene(), shape=cube), color=red))"), *names) == {
        "has_attr",
        "has_attr_color",
        "has_attr_red",
    }
    assert true_of(asked("count(filter(scene(), shape=cube))"), *names) == set()
    assert true_of(all_birds, *names) == set()


def test_sharing_an_attribute():
    assert true_of(same_color, "has_sameattr", "has_sameattr_color", "has_sameattr_material") == {
        "has_sameattr",
        "has_sameattr_color",
    }
    assert get_property("has_sameattr_color")(one_as_another)
    assert get_property("has_sameattr_size")(asked("count(same(unique(filter(scene(), color=red)), size))"))
    assert not get_property("has_sameattr")(more_men)


def test_logic_is_of_truths_or_of_sets_but_not_of_one_things_words():
    assert true_of(both, "has_logic", "has_logic_and", "has_logic_or") == {"has_logic", "has_logic_and"}
    either = "count(union(filter(scene(), color=red), filter(filter(scene(), size=small), shape=cube)))"
    assert true_of(asked(either), "has_logic_and", "has_logic_or") == {"has_logic_or"}
    left, right = (
        "relate(unique(filter(scene(), color=red)), left)",
        "relate(unique(filter(scene(), color=blue)), right)",
    )
    assert true_of(asked(f"count(intersect({left}, {right}))"), "has_logic_and", "has_logic_or") == {"has_logic_and"}
    assert not get_property("has_logic")(images_of_2)  # wearing a hat is a relation
    assert not get_property("has_logic")(asked(rows('find ["cat","dog","cow"]', "count [0]")))
    assert not get_property("has_logic")(asked(rows("find cat", 'filter ["red","blue"] [0]', "count [1]")))


CHAIN = rows("find table", "find cup", "with_relation on [1, 0]", "find man", "with_relation near [3, 2]", "count [4]")
FORK = rows(
    "find table", "find hat", "find man", "with_relation near [2, 0]", "with_relation wearing [3, 1]", "count [4]"
)
MODIFIED = rows("find bottle", "find corkscrew", "find man", "with_relation uncorking [2, 0]", "with_relation uncorking with [3, 1]", "count [4]")  # fmt: skip


@pytest.mark.parametrize(
    ("said", "shapes"),
    [
        (rows(*HOLDING, "count [2]"), set()),
        (CHAIN, {"c"}),
        (FORK, {"v"}),
        (MODIFIED, {"rm"}),
        ("query(unique(related(unique(intersect(find(man), related(find(cup), near))), holding, object)), name)", {"v"}),
        ("all(intersect(find(man), related(find(dog), near)), exist(intersect(it(), related(find(hat), wearing))))", {"v"}),
        ("all(intersect(find(man), related(find(dog), near)), exist(filter(related(it(), holding, object), name=cup)))", {"v"}),
        ("all(find(man), exist(intersect(it(), related(find(hat), wearing))))", set()),
        ("choose_relation(unique(intersect(find(man), related(find(dog), near))), find(hat), holding, wearing, object)", {"v"}),
        ("count(relate(unique(relate(unique(filter(scene(), color=red)), left)), behind))", {"c"}),
        ("count(relate(unique(filter(scene(), color=red)), left))", set()),
        ("greater(count(intersect(find(man), related(find(cup), near))), count(intersect(find(dog), related(find(cup), near))))", set()),
    ],
)  # fmt: skip
def test_how_relations_hang_together(said, shapes):
    question = asked(said)
    assert true_of(question, "rm", "v", "c") == shapes
    assert get_property("rm_v_c")(question) == bool(shapes)


def test_the_structure_that_is_noted_counts_before_the_programs():
    assert true_of(asked(CHAIN, structure=["v", "modifier"]), "rm", "v", "c") == {"rm", "v"}
    assert not get_property("rm_v_c")(asked(CHAIN, structure=[]))


def test_templates_under_our_names_the_papers_and_the_released_ones():
    assert true_of(asked(CHAIN, template="verify_count"), "tpl_verify_count", "TPL-VERIFYCOUNT", "tpl_count") == {
        "tpl_verify_count",
        "TPL-VERIFYCOUNT",
    }
    assert get_property("tpl_verify_quant_attr")(asked(CHAIN, template="quantifier_same_attr"))
    assert get_property("tpl_verify_count_group_by")(asked(CHAIN, template="verify_count_ref_group_by"))
    assert not get_property("tpl_verify_quant")(asked(CHAIN, template="quantifier", source="mine"))
    assert not get_property("tpl_count")(asked(CHAIN))


@pytest.mark.parametrize(
    ("question", "kind", "word"),
    [
        (images_of_2, "ans_num", "ans_3"),
        (both, "ans_bool", "ans_yes"),
        (asked("query(unique(find(dog)), name)", "dog"), "ans_noun", "ans_dog"),
        (asked("query(unique(filter(scene(), color=red)), shape)", "cube"), "ans_noun", "ans_cube"),
        (asked('choose(unique(find(dog)), attribute, "light brown", black)', "light brown"), "ans_attr", "ans_light_brown"),
        (asked("choose_relation(unique(find(man)), find(hat), holding, wearing, object)", "holding"), "ans_rel", "ans_holding"),
        (Question("q", "How many?", ("a",), None, "3"), "ans_num", "ans_3"),
    ],
)  # fmt: skip
def test_what_kind_of_answer_it_is(question, kind, word):
    kinds = ("ans_num", "ans_bool", "ans_noun", "ans_attr", "ans_rel")
    assert true_of(question, *kinds, word) == {kind, word}


def test_names_are_the_subgraphs_or_the_programs():
    names = ("lexical_man", "lexical_hat", "lexical_wearing", "lexical_tennis_racket")
    assert true_of(images_of_2, *names) == {"lexical_man", "lexical_hat", "lexical_wearing"}
    noted = asked(CHAIN, nodes=[["object", "tennis racket"], ["object", "man"]])
    assert true_of(noted, *names) == {"lexical_man", "lexical_tennis_racket"}
    assert get_property("lexical_glove")(asked("query(unique(find(dog)), name)", "glove"))


def test_any_op_can_be_a_property():
    assert true_of(both, "op_exist", "op_count") == {"op_exist"}


def test_a_question_without_a_program_is_not_taken_for_one_without_the_property(refuses):
    with refuses("question 'q' has no program, which the split has to look at"):
        get_property("has_quant")(Question("q", "?", ("a",)))


@given(programs())
def test_any_program_can_be_asked_anything(said):
    """Each family gives an answer; the two spellings of a program have the same properties."""
    question, again = asked(said), covr_compositional.read(covr_compositional.write(covr.read(said)))
    twice = Question("q", "?", ("a",), again)
    for name in FAMILIES:
        if FAMILIES[name].alone:
            assert get_property(name)(question) == get_property(name)(twice), name
    assert ProgramFacts(question).anonymous_program


# --- composed -----------------------------------------------------------------------------------------------


def test_predicates_compose_as_python_objects():
    quant, scope = get_property("has_quant_all"), get_property("has_quant_compscope")
    for one in (all_birds, all_mice_on_a_pad, no_man_by_a_horse, both):
        assert (quant & scope)(one) == (quant(one) and scope(one))
        assert (quant | scope)(one) == (quant(one) or scope(one))
        assert (~quant)(one) != quant(one)
    assert quant & scope == parse_expression("has_quant_all & has_quant_compscope")


LEAVES = st.sampled_from([name for name in list_property_names() if not name.endswith("_X")]).map(get_property)
PREDICATES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.builds(lambda a, b: a & b, inner, inner),
        st.builds(lambda a, b: a | b, inner, inner),
        inner.map(lambda a: ~a),
    ),
    max_leaves=8,
)


@given(PREDICATES)
def test_an_expression_reads_back_as_it_was_written(predicate):
    assert parse_expression(str(predicate)) == predicate


def test_not_binds_before_and_before_or():
    a, b, c = map(get_property, ("has_num", "has_count", "has_attr"))
    assert parse_expression("has_num | ~has_count & has_attr") == a | (~b & c)
    assert parse_expression("(has_num | ~has_count) & has_attr") == (a | ~b) & c
    assert str((a | ~b) & ~(b & c)) == "(has_num | ~has_count) & ~(has_count & has_attr)"


def test_names_may_be_spelled_as_in_the_paper():
    assert parse_expression("HAS-COUNT & RM/V/C") == parse_expression("has_count & rm_v_c")
    assert parse_expression("TPL-VERIFYCOUNT ∪ tpl_verify_count_group_by") == parse_expression(
        "tpl_verifycount | tpl_verify_count_group_by"
    )


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("has_qant", "no property 'has_qant'; did you mean 'has_quant'? (shiftscope split --list)"),
        ("has_num & has_qant_al", "no property 'has_qant_al'; did you mean 'has_quant_all'? at character 11 of 'has_num & has_qant_al'"),
        ("has_num_x", "no property 'has_num_x'"),
        ("tpl", "no property 'tpl'"),
        ("", "the expression is empty"),
        ("  ", "the expression is empty"),
        ("has_num &", "the expression 'has_num &' breaks: expected a property, '~' or '(', got its end"),
        ("& has_num", "expected a property, '~' or '(', got '&' at character 1"),
        ("has_num has_count", "expected '&', '|' or the end, got 'has_count' at character 9"),
        ("(has_num", "expected ')', got its end"),
        ("has_num)", "expected '&', '|' or the end, got ')' at character 8"),
        ("~" * 200 + "has_num", "nests more than 100"),
    ],
)  # fmt: skip
def test_a_broken_expression_says_where(text, sentence, refuses):
    with refuses(sentence):
        parse_expression(text)


# --- the paper's ------------------------------------------------------------------------------------------------


def test_the_papers_splits_are_there():
    few = [s for s in COVR_SPLITS.values() if s.table == 7]
    zero = [s for s in COVR_SPLITS.values() if s.table == 8]
    assert len(few) == 11 and all(s.shots == 250 for s in few)
    assert len(zero) == 8 + 6 and all(s.shots == 0 for s in zero)
    assert get_split("has_num_3_ans_3").hold_out == "has_num_3 | ans_3"
    assert get_split("HAS-COUNT & RM/V/C").hold_out == "has_count & rm_v_c"
    assert get_split("TPL-VERIFYCOUNT ∪ TPL-VERIFYCOUNTGROUPBY").reported == "33.3k"
    assert all(str(parse_expression(s.hold_out)) == s.hold_out for s in COVR_SPLITS.values())


def test_an_unknown_split_is_refused(refuses):
    with refuses("no named split 'has_num_3_ans3x'; did you mean 'has_num_3_ans_3'?"):
        get_split("has_num_3_ans3x")


# --- drawn ------------------------------------------------------------------------------------------------------

NAMES = ("man", "dog", "hat", "cup", "car", "tree")
PAIRED = [asked(f"count(intersect(find({a}), related(find({b}), near)))") for a in NAMES for b in NAMES if a != b]
VARIED = [asked("count(" + "filter(" * k + "find(man)" + ", attribute=red)" * k + ")") for k in range(20)]


def corpus(questions, turned=False):
    """Each question once to train on and once to test on."""
    order = [(training, q) for training in (True, False) for q in questions]
    return QuestionCorpus(lambda: iter(order[::-1] if turned else order))


def held(name, questions, seed=0, turned=False):
    fitted = DRAWN_PROPERTIES[name].fit(corpus(questions, turned), seed)
    return [k for k, q in enumerate(questions) if fitted(q)]


def test_a_fifth_of_the_programs_is_drawn_whatever_their_order():
    assert len(held("program_split_1", VARIED)) == 4
    assert held("program_split_1", VARIED) == held("program_split_1", VARIED, turned=True)
    draws = {tuple(held(f"program_split_{n}", VARIED, seed)) for n in (1, 2, 3) for seed in (0, 1)}
    assert len(draws) == 6


def test_a_program_without_its_words_keeps_what_it_does():
    def anonymous(text):
        return ProgramFacts(asked(text)).anonymous_program

    assert anonymous("at_least(count(find(man)), 2)") == anonymous("at_least(count(find(dog)), 3)")
    assert anonymous("query(unique(find(man)), color)") == anonymous("query(unique(find(man)), size)")
    assert anonymous("query(unique(find(man)), color)") != anonymous("query(unique(find(man)), name)")
    assert anonymous("exist(intersect(scene(), find(man)))") == anonymous("exist(find(dog))")
    assert anonymous("exist(related(find(man), on))") != anonymous("exist(related(find(man), on, object))")
    assert anonymous("count(keep(group(find(man)), equal, 2))") != anonymous(
        "count(keep(group(find(man)), at_least, 2))"
    )


def test_a_fifth_of_the_pairs_of_names_is_drawn_and_never_learned_together():
    fitted = DRAWN_PROPERTIES["lexical_split_2"].fit(corpus(PAIRED), 0)
    # "near" is in every question, and is never learned without: 15 pairs of nouns can be drawn
    assert len(corpus(PAIRED).pairs) == 15
    assert len(fitted.drawn) == 3
    for question in PAIRED:
        names = ProgramFacts(question).names
        assert fitted(question) == any(set(pair) <= names for pair in fitted.drawn)
    assert held("lexical_split_2", PAIRED) == held("lexical_split_2", PAIRED, turned=True)


def test_pairs_that_nearly_every_question_has_leave_most_questions_to_learn_from():
    nouns = [chr(ord("a") + k) for k in range(12)]
    triples = [
        asked(f"and(exist(find({x})), or(exist(find({y})), exist(find({z}))))") for x, y, z in combinations(nouns, 3)
    ]
    for number in (1, 2, 3):
        fitted = DRAWN_PROPERTIES[f"lexical_split_{number}"].fit(corpus(triples), 0)
        gone = sum(map(fitted, triples))
        assert 0.1 * len(triples) < gone <= 0.2 * len(triples)  # a fifth of the 66 pairs is in about half of them


def test_pairs_that_could_not_be_tested_are_not_drawn(refuses):
    only = QuestionCorpus(lambda: iter([(True, PAIRED[0]), (False, PAIRED[0])]))
    with refuses("no pair of names can be held out"):
        DRAWN_PROPERTIES["lexical_split_1"].fit(only, 0)


def test_a_draw_says_nothing_of_a_question_alone(refuses):
    with refuses("program_split_1 is drawn from a dataset"):
        get_property("program_split_1")(both)


def test_a_wording_may_be_held_out():
    question = Question(
        "q", "How many?", ("s",), notes=(("wording", 3), ("action_wording", "remove passive 1 + add person 0"))
    )
    names = ("wording_3", "wording_1", "wording_remove_passive_1", "wording_add_person_0", "wording_add_person_1")
    assert [n for n in names if get_property(n)(question)] == [
        "wording_3",
        "wording_remove_passive_1",
        "wording_add_person_0",
    ]
