"""Balancing: as many of each template, pairs first, then rare answers, then rare structures."""

from collections import Counter
from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from shiftscope.lang.notations import covr
from shiftscope.question import Provenance, Question
from shiftscope.questions.covr.balance import ROW, CandidateKeys, balance_candidates, find_partners, separate_texts
from shiftscope.questions.covr.dataset_statistics import anonymise_program, compute_covr_statistics


def keys(*rows):
    """Each row: template, text, answer, structure; every candidate has images of its own."""
    return CandidateKeys(np.array([(t, x, a, k, s, 1_000_000 + x) for k, (t, x, a, s) in enumerate(rows)], ROW))


def test_all_are_kept_where_there_are_few():
    assert balance_candidates(keys((1, 1, 0, 0), (2, 2, 0, 0)), 5).tolist() == [0, 1]


def test_the_same_question_about_the_same_images_is_asked_once():
    rows = keys((1, 1, 0, 0), (1, 1, 0, 0), (1, 1, 1, 0)).rows
    rows["images"] = [7, 7, 8]
    assert balance_candidates(CandidateKeys(rows), 5).tolist() == [0, 2]


def test_texts_with_two_answers_come_first_and_whole():
    alone = [(1, 100 + k, k % 2, 0) for k in range(50)]
    pairs = [(1, k // 2, k % 2, 0) for k in range(8)]
    found = balance_candidates(keys(*alone, *pairs), 10)
    assert set(range(50, 58)) <= set(found.tolist())
    assert len(found) == 10


def test_more_pairs_than_room_leave_no_half():
    found = balance_candidates(keys(*((1, k // 2, k % 2, 0) for k in range(40))), 12)
    assert set(Counter((found // 2).tolist()).values()) == {2}
    assert len(found) == 12


def test_a_rare_answer_and_a_rare_structure_are_taken_before_more_of_the_common():
    rows = [(1, k, 0 if k < 90 else 1, 0 if k % 10 else 1) for k in range(100)]
    chosen = keys(*rows).rows[balance_candidates(keys(*rows), 20)]
    assert Counter(chosen["answer"].tolist()) == {0: 10, 1: 10}
    assert Counter(chosen["structure"].tolist())[1] >= 8  # of 10, among 90 others


@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 6), st.integers(0, 3), st.integers(0, 2)), max_size=60),
    st.integers(0, 20),
)
def test_no_template_has_more_than_its_share_and_partners_differ_in_their_answer_alone(rows, each):
    found = keys(*((t, 10 * t + x, a, s) for t, x, a, s in rows))
    chosen = balance_candidates(found, each, "test")
    counts = Counter(found.rows["template"].tolist())
    assert Counter(found.rows["template"][chosen].tolist()) == {t: min(n, each) for t, n in counts.items() if each}
    for k, other in enumerate(find_partners(found, chosen).tolist()):
        mine = found.rows[chosen[k]]
        same = [j for j in chosen if found.rows[j]["text"] == mine["text"]]
        if other < 0:
            assert len({int(found.rows[j]["answer"]) for j in same}) == 1
        else:
            assert found.rows[chosen[other]]["text"] == mine["text"]
            assert found.rows[chosen[other]]["answer"] != mine["answer"]


def test_no_text_is_in_two_sets():
    first, second = keys(*((1, k, 0, 0) for k in range(20))), keys(*((1, k, 0, 0) for k in range(10, 40)))
    one, other = separate_texts(first, second)
    left, right = set(first.rows["text"][one].tolist()), set(second.rows["text"][other].tolist())
    assert not left & right
    assert left | right == set(range(40))
    assert set(range(10)) <= left


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 30), st.integers(20, 50)), max_size=40),
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 30), st.integers(20, 50)), max_size=40),
)
def test_no_text_of_one_set_is_in_the_other_in_whatever_words(here, there):
    first, second = (
        CandidateKeys(np.array([(t, x, 0, k, 0, w) for k, (t, x, w) in enumerate(rows)], ROW)) for rows in (here, there)
    )
    one, other = separate_texts(first, second)
    left, right = (
        {int(rows[name][k]) for name in ("text", "rephrased") for k in range(len(rows))}
        for rows in (first.rows[one], second.rows[other])
    )
    assert not left & right


def test_no_template_is_lost_to_one_of_two_sets_where_it_has_two_texts():
    even = keys(*((t, 4 * t + 2 * k, 0, 0) for t in range(20) for k in range(2)))  # digests of one parity
    one, other = separate_texts(even, even)
    for kept in (one, other):
        assert Counter(even.rows["template"][kept].tolist()) == dict.fromkeys(range(20), 1)
    own = keys((1, 6, 0, 0), (1, 8, 0, 0), (2, 7, 0, 0))  # template 1 has a text of its own here, 2 has none
    only = keys((1, 8, 0, 0), (2, 7, 0, 0), (2, 9, 0, 0))
    one, other = separate_texts(own, only)
    assert (own.rows["text"][one].tolist(), only.rows["text"][other].tolist()) == ([6, 7], [8, 9])
    one, other = separate_texts(only, own)
    assert (only.rows["text"][one].tolist(), own.rows["text"][other].tolist()) == ([8, 9], [6, 7])


def question(name, text, answer, rows, images=("a", "b")):
    return Question(
        name,
        text,
        images,
        covr.read(rows),
        answer,
        kind="how many",
        provenance=Provenance("covr", "", "count"),
        notes=(("size", 2), ("depth", 0), ("paraphrase", "Count them.")),
    )


def counting(*words):
    rows = [{"operation": "find", "arguments": [words[0]]}]
    rows += [{"operation": "filter", "arguments": [w], "dependencies": [k]} for k, w in enumerate(words[1:])]
    return [*rows, {"operation": "count", "dependencies": [len(rows) - 1]}]


def test_statistics_count_what_there_is():
    asked = [
        question("1", "How many dogs are there?", 2, counting("dog")),
        question("2", "How many dogs are there?", 3, counting("dog"), ("a",)),
        question("3", "How many black cats are there?", 2, counting("cat", "black"), ("c", "d")),
    ]
    found = compute_covr_statistics("train", asked)
    table = found.table()
    assert (table["questions"], table["unique questions"], table["with several answers"]) == (3, 2, 2)
    assert (table["unique answers"], table["unique images"], table["anonymised programs"]) == (2, 4, 2)
    assert (table["how many"], table["open"]) == (3, 0)
    assert (table["words a question"], table["words a paraphrase"]) == (5.33, 2.0)
    assert table["images a question"] == 1.67
    assert found.top_answers() == [("2", 2), ("3", 1)]
    told = [
        replace(q, text="Count.", notes=(*(n for n in q.notes if n[0] != "paraphrase"), ("generated", q.text)))
        for q in asked
    ]
    other = compute_covr_statistics("train", told).table()
    assert (other["words a question"], other["words a paraphrase"]) == (5.33, 1.0)
    assert found.operations == {"find": {1: 3}, "filter": {0: 2, 1: 1}, "with_relation": {0: 3}}


def test_programs_that_differ_in_words_alone_are_one_program():
    one, other, longer = (covr.read(counting(*w)) for w in (("dog",), ("cat",), ("cat", "black")))
    one, other, longer = (anonymise_program(covr.write(program)) for program in (one, other, longer))
    assert one == other != longer
    at_least = [
        covr.read([*counting("dog"), {"operation": "geq", "arguments": [n], "dependencies": [1]}]) for n in (2, 3)
    ]
    assert len({anonymise_program(covr.write(program)) for program in at_least}) == 2
