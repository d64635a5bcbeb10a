"""The parts of an audit one by one: words, types, information, labels, groups, splits and tables."""

import numpy as np
import pytest
from hypothesis import given as given_texts
from hypothesis import settings as how
from hypothesis import strategies as st

from shiftscope.formats.vqa import question_types
from shiftscope.question_table import ImageContents, QuestionTable, add_objects, encode_column, number_keys
from shiftscope.shortcuts.audit import AuditSettings, audit_shortcuts, draw_split, read_split
from shiftscope.shortcuts.audit_statistics import (
    compute_audit_statistics,
    compute_distribution,
    find_strongest_groups,
    jaccard_overlap,
    ood_overlap,
)
from shiftscope.shortcuts.concepts import (
    ConceptBags,
    ConceptLabels,
    build_labels,
    find_question_types,
    label_concepts,
    learn_prefixes,
    match_prefixes,
    rank_by_information,
)
from shiftscope.shortcuts.groups import BALANCED, HEAD, TAIL, build_groups
from shiftscope.shortcuts.tokens import tokenize, tokenize_texts

unhurried = how(deadline=None)  # the first call compiles or imports


def samples_with(rows, types=None, splits=None, source="vqa", objects=None):
    """Samples from (question, answer) pairs, each about an image of its own."""
    texts, answers = zip(*rows, strict=True)
    made = QuestionTable(
        source,
        ids=tuple(range(len(rows))),
        images=encode_column(list(range(len(rows)))),
        texts=encode_column(texts),
        answers=encode_column(answers),
        types=None if types is None else encode_column(types),
        splits=None if splits is None else encode_column(splits),
    )
    if objects is None:
        return made
    kinds = sorted({k for one in objects for k in one})
    pairs = [(i, kinds.index(k)) for i, one in enumerate(objects) for k in one]
    image, kind = (np.array(c, np.int64) for c in zip(*pairs, strict=True))
    return add_objects(made, [ImageContents(list(range(len(rows))), kinds, image, kind)])


# Words


def test_words_are_lower_case_without_punctuation():
    assert tokenize("What's on the T-shirt, (really)?!") == ["what's", "on", "the", "t-shirt", "really"]
    assert tokenize("a_b 3.5 -x- 'quoted' né café\n女性?") == ["a", "b", "3", "5", "x", "quoted", "né", "café", "女性"]
    assert tokenize("cafe\u0301") == tokenize("café") == ["café"]
    assert tokenize("the dog’s") == tokenize("The DOG's") == ["the", "dog's"]
    assert tokenize(" ?! ") == []


@unhurried
@given_texts(st.lists(st.text("ab1 '’-_\n\t\u0301İΣ女\x1f\u00a0.", max_size=12), max_size=6))
def test_any_texts_read_as_each_of_them_does(texts):
    words = tokenize_texts(texts)
    found = [[words.vocabulary[c] for c in words.codes[a:b]] for a, b in zip(words.at, words.at[1:], strict=False)]
    assert found == [tokenize(t) for t in texts]


def test_many_texts_read_as_each_of_them_does():
    texts = ("Is it red?", "", "line\nbreak Is", "Straße İstanbul 女", "what's up", "what’s up")
    words = tokenize_texts(texts)
    assert list(words.vocabulary) == sorted(words.vocabulary)
    found = [[words.vocabulary[c] for c in words.codes[a:b]] for a, b in zip(words.at, words.at[1:], strict=False)]
    assert found == [tokenize(t) for t in texts]
    assert tokenize_texts(()).at.tolist() == [0]


# Numbers for combinations


@unhurried
@given_texts(st.lists(st.one_of(st.integers(0, 40), st.integers(0, 2**62)), max_size=40))
def test_numbers_are_found_among_the_distinct_ones(keys):
    found, place, counts = number_keys(np.array(keys, np.int64))
    assert found.tolist() == sorted(set(keys))
    assert [found[p] for p in place] == keys
    assert counts.tolist() == [keys.count(k) for k in found.tolist()]


@unhurried
@given_texts(st.lists(st.one_of(st.none(), st.text("aé女😀\ud800", max_size=3)), min_size=1, max_size=12))
def test_text_is_numbered_in_the_order_of_its_characters(values):
    made = encode_column(values)
    assert list(made.values) == sorted({v for v in values if v is not None})
    assert made.to_list() == values


def test_numbers_come_before_text_and_large_or_negative_ones_are_numbered_too():
    assert encode_column(["b", 10, None, 9]).values == (9, 10, "b")
    assert encode_column([5, -3, 5]).to_list() == [5, -3, 5]
    assert encode_column([2**80, 4]).values == (4, 2**80)
    assert encode_column([7, 3, 7]).codes.tolist() == [1, 0, 1]


# Question types


def test_there_are_65_types():
    assert len(question_types()) == len(set(question_types())) == 65


def test_the_longest_prefix_counts():
    texts = ("What color is the dog?", "What color?", "what COLOR is it", "Colorful", "What", "")
    assert match_prefixes(tokenize_texts(texts), question_types()[:-1]).to_list() == [
        *("what color is the", "what color", "what color is"),
        *("none of the above", "what", "none of the above"),
    ]


def test_a_prefix_ends_with_a_whole_word():
    assert match_prefixes(tokenize_texts(("Is there also", "Is therefore")), question_types()[:-1]).to_list() == [
        "is there",
        "is",
    ]


def test_given_types_come_first_and_gaps_are_filled_by_prefixes():
    made = samples_with([("How many dogs?", "2"), ("How many cats?", "2")], types=["count", None])
    way, found = find_question_types(made, tokenize_texts(made.texts.values))
    assert (way, found.to_list()) == ("given", ["count", "how many"])


def test_types_of_other_datasets_are_learned():
    rows = [("Are there cubes?", "yes")] * 5 + [("Are there red balls?", "no")] * 4 + [("Count them.", "3")]
    made = samples_with(rows, source="shiftscope")
    words = tokenize_texts(made.texts.values)
    way, found = find_question_types(made, words)
    assert way == "learned"
    assert found.to_list() == ["are there cubes"] * 5 + ["are there red balls"] * 4 + ["none of the above"]
    assert learn_prefixes(words, np.array([5, 4, 1])) == ("are there cubes", "are there red balls")


def test_a_learned_prefix_is_as_long_as_enough_questions_have_it_in_common():
    texts = [f"what is the {k}" for k in range(600)] + [f"what {k} is" for k in range(600)]
    words = tokenize_texts(texts)
    assert learn_prefixes(words, np.ones(1200, np.int64)) == ("what", "what is the")


def test_ways_that_the_data_do_not_allow_are_refused(refuses):
    made = samples_with([("Why?", "rain")])
    words = tokenize_texts(made.texts.values)
    with refuses("the files give no question types; take --types prefixes or --types learned"):
        find_question_types(made, words, "given")
    with refuses("no way to find question types 'prefix'; did you mean 'prefixes'?"):
        find_question_types(made, words, "prefix")


# Information


def best(bags, answers, counted=None):
    codes = np.array([c for bag in bags for c in bag], np.int32)
    at = np.cumsum([0, *map(len, bags)])
    found = rank_by_information(ConceptBags(codes, at, np.arange(len(bags))), np.array(answers, np.int32), counted)
    return list(zip(found.first.tolist(), found.second.tolist(), strict=True)), found


def test_the_larger_share_wins():
    # Word 0 goes with answer 0 in 1 of 2 samples, word 1 in 2 of 3, word 2 in 1 of 1.
    bags, answers = [[0, 1, 2], [1], [0, 1]], [0, 0, 1]
    assert best(bags, answers)[0] == [(2, 1), (1, -1), (0, 1)]


def test_equal_shares_go_to_the_more_frequent_pair():
    # 1/2 for word 0 and 2/4 for word 1.
    assert best([[0, 1], [0], [1], [1], [1]], [0, 1, 0, 1, 1])[0][0] == (1, 0)


def test_full_ties_go_by_the_alphabet():
    assert best([[0, 1, 2]], [0])[0] == [(0, 1)]


def test_what_train_never_showed_comes_last_and_is_counted():
    bags, answers = [[0, 2], [0, 1], [1]], [0, 0, 1]
    pairs, found = best(bags, answers, np.array([True, False, False]))
    assert pairs == [(0, 2), (0, 1), (1, -1)]
    assert (found.unseen.pairs, found.unseen.samples, found.unseen.blind) == (2, 2, 1)


# Concepts


def test_the_concepts_of_the_paper_s_kind_of_example():
    rows = [
        ("What color is the banana?", "yellow"),
        ("What color is the banana on the table?", "yellow"),
        ("What color is the dog on the table?", "brown"),
        ("What color is the?", "brown"),
    ]
    made = samples_with(rows, objects=[["banana"], ["banana", "table"], ["dog", "table"], []])
    found = label_concepts(made)
    names = {s: [one.name(c) for c in one.codes] for s, one in found.labels.items()}
    assert names["QT"] == ["what color is the"] * 4
    assert names["KW"] == ["banana", "banana", "dog", "none"]
    assert names["KWP"] == ["", "banana + on", "dog + on", ""]
    loose = label_concepts(made, pairs="any").labels["KWP"]
    assert [loose.name(c) for c in loose.codes] == ["banana + none", "banana + on", "dog + on", "none + none"]
    assert names["KO"] == ["banana", "banana", "dog", "none"]
    assert names["KOP"] == ["banana + none", "banana + table", "dog + table", "none + none"]
    assert names["QT+KW+KO"][2] == "what color is the + dog + dog"


def test_a_type_that_the_question_does_not_begin_with_leaves_all_words():
    made = samples_with([("Say how many", "2")], types=["how many"])
    assert label_concepts(made).labels["KWP"].name(0) == "how + many"


def test_a_kind_that_is_no_prefix_takes_no_word_away():
    # Half of the questions of the kind begin with its name; of `which one` all but one in a hundred.
    rows = [("Count the cubes", "3"), ("How many cubes?", "2")]
    found = label_concepts(samples_with(rows, types=["count"] * 2, source="shiftscope")).labels["KW"]
    assert [found.name(c) for c in found.codes] == ["count", "how"]
    for strays, cut in ((1, True), (2, False)):
        rows = [("Which one rolls?", "ball")] * (100 - strays) + [("Say which", "cube")] * strays
        made = label_concepts(samples_with(rows, types=["which one"] * 100, source="shiftscope")).labels["KW"]
        assert made.name(int(made.codes[0])) == ("rolls" if cut else "one")
        assert made.name(int(made.codes[99])) == "say"


def test_none_of_the_above_is_no_beginning():
    made = label_concepts(samples_with([("None of the above?", "no"), ("Say", "no")])).labels["QT+KW"]
    assert made.name(int(made.codes[0])) == "none of the above + above"


def test_a_word_in_the_type_does_not_count_for_the_word_elsewhere():
    # f(color) is 1: in the first three it stands in the type only. So it tells as much as `sky`, and comes first.
    rows = [("What color is the sea?", "red")] * 3 + [("Is the sky color", "blue")]
    made = label_concepts(samples_with(rows)).labels["KW"]
    assert made.name(int(made.codes[3])) == "color"


def test_words_of_the_type_may_be_keywords_too(refuses):
    # `many` is in all questions, `how` in two of them; outside the type, only `dogs`, `cats` and `birds` are left.
    rows = [("How many dogs?", "2"), ("How many cats?", "2"), ("Many birds?", "no")]
    made = samples_with(rows, types=["how many", "how many", "none of the above"])
    found = label_concepts(made, type_words="in").labels["KWP"]
    assert [found.name(c) for c in found.codes] == ["how + dogs", "how + cats", "birds + many"]
    assert (label_concepts(made).labels["KWP"].codes[:2] == -1).all()
    with refuses("no reading of a type's words 'off'"):
        label_concepts(made, type_words="off")
    with refuses("no reading of keyword pairs 'three'"):
        label_concepts(made, pairs="three")


def test_ties_are_told_apart_by_frequency_and_then_by_the_alphabet():
    # All words of the first are only ever seen with yes: `zoo` twice, `owl` and `cat` once each.
    rows = [
        ("Is it zoo owl cat?", "yes"),
        ("Is it zoo?", "yes"),
        ("Is it ant bee?", "no"),
        ("Is it low bee high?", "no"),
    ]
    found = label_concepts(samples_with(rows))
    names = found.labels["KWP"]
    assert [names.name(c) for c in names.codes] == ["zoo + cat", "", "bee + ant", "bee + high"]
    assert found.words.ties == 2  # cat before owl, high before low


def test_an_image_without_objects_is_not_one_without_annotations():
    rows = [("Is it a?", "yes"), ("Is it b?", "no"), ("Is it c?", "no")]
    plain = samples_with(rows)
    made = add_objects(plain, [ImageContents([0, 1], ["dog"], np.array([0]), np.array([0]))])
    found = label_concepts(made)
    assert {s: [one.name(c) for c in one.codes] for s, one in found.labels.items() if "KO" in s} == {
        "KO": ["dog", "none", ""],
        "KOP": ["dog + none", "none + none", ""],
        "QT+KO": ["is it + dog", "is it + none", ""],
        "KW+KO": ["a + dog", "b + none", ""],
        "QT+KW+KO": ["is it + a + dog", "is it + b + none", ""],
    }
    assert found.labels["KO"].codes.tolist() == [1, 0, -1]
    assert found.labels["QT+KW"].codes.min() >= 0


def test_a_word_of_the_type_that_comes_again_is_a_word():
    made = samples_with([("Is the dog the one?", "no")], types=["is the"])
    found = label_concepts(made).labels["KWP"]
    assert found.name(0) == "dog + one"
    assert found.words[0] == ("dog", "is", "one", "the")


def test_the_word_none_and_no_word_are_two_concepts_of_one_name():
    labels = build_labels("KWP", (("a", "none"), ("a", "none")), (np.array([0, 1, 0]), np.array([1, -1, -1])))
    assert [labels.name(k) for k in range(3)] == ["a + none", "a + none", "none + none"]
    assert [labels.name(c) for c in labels.codes] == ["a + none", "none + none", "a + none"]


# Groups


def groups_of(answers, **limits):
    labels = build_labels("KW", (("a",),), (np.zeros(len(answers), np.int32),))
    return build_groups(labels, np.array(answers, np.int32), np.arange(len(answers)), **limits)


def test_a_sample_without_a_concept_is_in_no_group():
    codes = np.array([0, 0, 0, 0, 0, -1, -1, 1, 1], np.int32)
    labels = ConceptLabels("KO", (("a", "b"),), np.array([[0], [1]], np.int32), codes)
    found = build_groups(labels, np.array([0, 0, 0, 0, 1, 1, 2, 0, 1], np.int32), np.arange(9))
    assert found.part.tolist() == [HEAD] * 4 + [TAIL] + [BALANCED] * 4
    assert (found.size.tolist(), found.sample_count) == ([5, 2], 7)
    # ê of 4 and 1 is 0.7219 in 5 of the 7 samples, 1 in the others.
    assert found.imbalance_degree() == pytest.approx((5 * 0.721928 + 2) / 7, abs=1e-6)
    single = build_groups(labels, np.array([0, 0, 0, 0, 1, 1, 2, 3, 3], np.int32), np.arange(9))
    assert single.imbalance_degree() == found.imbalance_degree()  # one answer counts as even
    assert single.imbalance_degree(2) == pytest.approx(0.721928, abs=1e-6)
    nowhere = build_groups(labels, np.zeros(9, np.int32), np.array([5, 6]))
    assert (nowhere.sample_count, nowhere.imbalance_degree(), nowhere.tail.tolist()) == (0, 1.0, [])


def test_rare_answers_of_an_imbalanced_group_are_the_tail():
    # 6, 2, 1 of 9: entropy 0.8487 / 1.0986 = 0.7725; the mean is 3, so below 3.6 is rare.
    found = groups_of([0] * 6 + [1] * 2 + [2])
    assert found.entropy[0] == pytest.approx(0.772507, abs=1e-6)
    assert found.part.tolist() == [HEAD] * 6 + [TAIL] * 3
    assert found.tail.tolist() == [6, 7, 8]


def test_a_balanced_group_has_neither_head_nor_tail():
    assert groups_of([0, 0, 1, 1]).part.tolist() == [BALANCED] * 4


def test_a_group_with_one_answer_is_never_imbalanced_and_as_even_as_can_be():
    found = groups_of([3, 3, 3])
    assert (found.entropy[0], found.imbalanced[0], found.classes[0]) == (1.0, False, 1)
    assert found.imbalance_degree() == 1.0


def test_an_answer_at_the_limit_is_not_rare():
    # 6, 3 and three times 2, of 15: the mean is 3; with a factor of 1 the count of 3 is not below it.
    answers = [0] * 6 + [1] * 3 + [2] * 2 + [3] * 2 + [4] * 2
    found = groups_of(answers, imbalanced=0.99, rare=1.0)
    assert found.part.tolist() == [HEAD] * 9 + [TAIL] * 6


def test_an_entropy_at_the_limit_is_not_below_it():
    # 4, 2, 1, 1 of 8: 1.75 of 2 bits, whatever a machine's logarithm rounds to.
    answers = [0] * 4 + [1] * 2 + [2, 3]
    assert not groups_of(answers, imbalanced=0.875).imbalanced[0]
    assert groups_of(answers, imbalanced=0.8750000001).imbalanced[0]
    assert not groups_of(answers, imbalanced=0.8749999999).imbalanced[0]


def test_thresholds_that_mean_nothing_are_refused(refuses):
    with refuses("the entropy limit must be above 0 and at most 1, not 1.5"):
        groups_of([0, 1], imbalanced=1.5)
    with refuses("an answer is rare below some times the mean count: above 0, below 1000, not 0"):
        groups_of([0, 1], rare=0)


# Splits


def test_a_drawn_split_has_the_shares_and_does_not_depend_on_the_order():
    made = samples_with([(f"question {k}", "yes") for k in range(200)])
    split = draw_split(made, seed=3)
    assert split.counts() == {"train": 140, "val": 10, "test": 50}
    assert split.made
    turned = QuestionTable(
        "vqa", made.ids[::-1], *(c.take(np.arange(200)[::-1]) for c in (made.images, made.texts, made.answers))
    )
    assert draw_split(turned, seed=3).codes.tolist() == split.codes.tolist()[::-1]
    assert draw_split(made, seed=4).codes.tolist() != split.codes.tolist()


def test_a_split_needs_something_to_test_on(refuses):
    with refuses("the shares of train and val must be above 0 and leave some for the test: (0.9, 0.1)"):
        draw_split(samples_with([("a", "b")]), shares=(0.9, 0.1))


def test_a_given_split_is_taken_by_its_usual_names(refuses):
    rows = [("a", "b")] * 4
    split = read_split(samples_with(rows, splits=["train2014", "valid", "TEST", "extra"]))
    assert split.codes.tolist() == [0, 1, 2, -1]
    assert not split.made
    with refuses("the files name no split"):
        read_split(samples_with(rows))
    with refuses("no sample is of the split 'test'; the files name train, val"):
        read_split(samples_with(rows, splits=["train", "val", "val", "train"]))


def test_too_few_samples_for_a_split_are_refused(refuses):
    with refuses("2 samples are too few to draw a train split and a test from; give both"):
        draw_split(samples_with([("a", "b")] * 2))
    assert draw_split(samples_with([("a", "b")] * 3)).counts() == {"train": 2, "val": 0, "test": 1}


def test_samples_of_another_split_are_in_no_set_and_not_counted():
    # The word w goes with yes in train and test, and with no in the samples of another split.
    rows = [("Is it w x?", "yes")] * 4 + [("Is it w?", "no")] * 9
    splits = ["train", "train", "test", "test", *["extra"] * 8, None]
    found = audit_shortcuts(samples_with(rows, splits=splits), AuditSettings(split="given"))
    assert [str(r) for r in found.samples.remarks] == [
        "samples of a split other than train, val and test (none is named, extra): 9, "
        "in no set, and not counted (4, 5, 6, 7, 8, …)"
    ]
    labels = found.labels["KW"]
    assert [labels.name(int(c)) for c in labels.codes[:4]] == ["w"] * 4  # a tie with x, not 4 of 13
    assert found.unseen == {}


def test_only_a_dataset_of_ours_with_train_and_test_is_split_as_given_unasked():
    rows = [("Is it?", "yes")] * 8
    both, one = ["train"] * 4 + ["test"] * 4, ["test"] * 8
    ways = [
        audit_shortcuts(samples_with(rows, splits=splits, source=source), AuditSettings(split="auto")).settings.split
        for source, splits in (("shiftscope", both), ("shiftscope", one), ("vqa", both), ("vqa", None))
    ]
    assert ways == ["given", "drawn", "drawn", "drawn"]


def test_settings_that_mean_nothing_are_refused(refuses):
    made = samples_with([("Why?", "rain")] * 9)
    with refuses("no statistics 'tran'; did you mean 'train'?"):
        audit_shortcuts(made, AuditSettings(statistics="tran"))
    with refuses("no split 'gven'; did you mean 'given'?"):
        audit_shortcuts(made, AuditSettings(split="gven"))


# Tables


@pytest.fixture(scope="module")
def found():
    """Is the …: train and test alike have yes 8 times, no twice; what …: answers of their own."""
    rows = [("Is the dog here?", "yes")] * 8 + [("Is the cat here?", "no")] * 2 + [("What now?", "go")] * 3
    splits = ["train"] * 13 + ["val"] + ["test"] * 13
    return audit_shortcuts(
        samples_with([*rows, ("Is the dog here?", "no"), *rows], splits=splits), AuditSettings(split="given")
    )


def test_table_1(found):
    lines = {line.shortcut: line for line in compute_audit_statistics(found)}
    assert list(lines) == ["QT", "KW", "KWP", "QT+KW"]
    one = lines["QT"]
    assert (one.train_groups, one.test_groups, one.imbalanced, one.head, one.tail, one.val_tail) == (2, 2, 1, 8, 2, 0)
    assert (one.single_groups, one.single_share, one.outside) == (1, 3 / 13, 0)
    # ê of 8 and 2 is 0.7219 in 10 of 13 samples, 1 in the others.
    assert one.degree == pytest.approx((10 * 0.721928 + 3) / 13, abs=1e-6)


def test_table_1_counts_what_is_in_no_group():
    rows = [("Is it?", "yes")] * 8 + [("Is it?", "no")] * 2
    made = samples_with(rows * 2, splits=["train"] * 10 + ["test"] * 10)
    shown = ImageContents([*range(10), *range(12, 20)], ["dog"], np.arange(18), np.zeros(18, np.int64))
    one = {
        n.shortcut: n
        for n in compute_audit_statistics(audit_shortcuts(add_objects(made, [shown]), AuditSettings(split="given")))
    }
    assert (one["KO"].outside, one["KO"].head, one["KO"].tail, one["KO"].single_share) == (2, 6, 2, 0)
    assert (one["QT"].outside, one["QT"].head, one["QT"].tail) == (0, 8, 2)


def test_the_strongest_groups(found):
    (one,) = find_strongest_groups(found, "QT")
    assert (one.name, one.size, one.classes, one.answer, one.share, one.tail) == ("is the", 10, 2, "yes", 0.8, 2)
    assert find_strongest_groups(found, "KW", part="test") == ()


def test_the_answers_of_a_group_in_every_set(found):
    one = compute_distribution(found, "QT", found.labels["QT"].words[0].index("is the"))
    assert one.answers == ("yes", "no")
    assert (one.train.tolist(), one.val.tolist(), one.test.tolist(), one.ood.tolist()) == (
        [8, 2],
        [0, 1],
        [8, 2],
        [0, 2],
    )
    assert one.parts == ("head", "tail")


def test_jaccard_and_coincidence():
    # Keywords a and b divide the samples; the type is the same for all.
    rows = [("Is the a", "yes")] * 8 + [("Is the a", "no")] * 2 + [("Is the b", "yes")] * 4 + [("Is the b", "no")] * 4
    one = audit_shortcuts(
        samples_with(rows * 2, splits=["train"] * 18 + ["test"] * 18), AuditSettings(split="given", imbalanced=0.95)
    )
    assert {s: (len(one.train[s].head), len(one.test[s].tail)) for s in ("QT", "KW")} == {"QT": (12, 6), "KW": (8, 2)}
    assert jaccard_overlap(one).values[0, 1] == jaccard_overlap(one).values[1, 0] == 8 / 12
    # Both of KW's two are among QT's six.
    assert ood_overlap(one).values[0, 1] == 1.0
    assert ood_overlap(one).values[1, 0] == 2 / 6
