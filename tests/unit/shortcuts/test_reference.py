"""The fast audit and the slow reference agree to the last sample."""

import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import audit_toys
import reference_audit as slow
from hash_seeds import run_under_two_hash_seeds
from shiftscope.formats import read_question_table as read_vqa
from shiftscope.formats.vqa import question_types
from shiftscope.question_table import QuestionTable, encode_column
from shiftscope.shift import gqa_ood
from shiftscope.shortcuts.audit import SPLIT_NAMES, AuditSettings, audit_shortcuts
from shiftscope.shortcuts.concepts import SHORTCUTS, build_labels
from shiftscope.shortcuts.groups import build_groups

COUNT = 3000


@pytest.fixture(scope="module")
def made():
    return audit_toys.dataset(COUNT)


@pytest.fixture(scope="module")
def samples(made, tmp_path_factory):
    questions, annotations, instances = audit_toys.write(tmp_path_factory.mktemp("audit"), made)
    return read_vqa([questions], [annotations], [instances])


def named(labels):
    """The concept of every sample as a tuple of words, None for nothing and for no concept at all."""
    words = [(*vocabulary, None) for vocabulary in labels.words]
    parts = labels.parts.tolist()
    return [
        tuple(w[p] for w, p in zip(words, parts[c], strict=True)) if c >= 0 else None for c in labels.codes.tolist()
    ]


@pytest.mark.parametrize(
    ("statistics", "pairs", "type_words"), [("all", "two", "out"), ("train", "any", "out"), ("all", "two", "in")]
)
def test_every_concept_and_every_set_is_the_reference_s(made, samples, statistics, pairs, type_words):
    chosen = AuditSettings(statistics=statistics, pairs=pairs, type_words=type_words, seed=5)
    found = audit_shortcuts(samples, chosen)
    plain, objects = audit_toys.plain(made)
    train = (found.split.codes == 0).tolist()
    counted = train if statistics == "train" else None
    concepts, unseen = slow.concepts(plain, objects, question_types()[:-1], counted, pairs, type_words)
    answers = [s["answer"] for s in plain]
    assert list(found.labels) == list(SHORTCUTS) == list(concepts)
    assert list(samples.ids) == [s["id"] for s in plain]
    for shortcut in SHORTCUTS:
        assert named(found.labels[shortcut]) == concepts[shortcut]
        assert (None in concepts[shortcut]) is ("KO" in shortcut or (shortcut == "KWP" and pairs == "two"))
        for part, groups in zip(SPLIT_NAMES, (found.train, found.val, found.test), strict=True):
            rows = found.split.rows(part).tolist()
            expected = slow.vqa_vs(concepts[shortcut], answers, rows, Fraction(9, 10), Fraction(6, 5))
            one = groups[shortcut]
            assert one.tail.tolist() == expected["tail"]
            assert one.head.tolist() == expected["head"]
            assert (one.size > 0).sum() == len(expected["groups"])
            assert len(one.tail) > 0 or part == "val"
            assert int(one.imbalanced.sum()) == len(expected["imbalanced"])
            assert one.imbalance_degree() == pytest.approx(expected["degree"], abs=1e-12)
    if statistics == "train":
        assert {k: (u.pairs, u.samples, u.blind) for k, u in found.unseen.items()} == unseen
        assert found.unseen["words"].samples > 0
    else:
        assert found.unseen == {}


def test_other_thresholds_are_the_reference_s_too(made, samples):
    found = audit_shortcuts(samples, AuditSettings(imbalanced=0.75, rare=0.5, shares=(0.5, 0.1)))
    plain, objects = audit_toys.plain(made)
    concepts, _ = slow.concepts(plain, objects, question_types()[:-1])
    answers = [s["answer"] for s in plain]
    assert found.split.counts() == {"train": 1500, "val": 300, "test": 1200}
    for shortcut in SHORTCUTS:
        rows = found.split.rows("test").tolist()
        expected = slow.vqa_vs(concepts[shortcut], answers, rows, Fraction(3, 4), Fraction(1, 2))
        assert found.test[shortcut].tail.tolist() == expected["tail"]
        assert found.test[shortcut].head.tolist() == expected["head"]


@pytest.mark.parametrize("by", ["QT", "KW+KO", "KOP"])
def test_the_sets_of_gqa_ood_are_the_reference_s(made, samples, by):
    plain, objects = audit_toys.plain(made)
    answers = [s["answer"] for s in plain]
    chosen = gqa_ood.GqaOodSettings(by=by)
    concepts, _ = slow.concepts(plain, objects, question_types()[:-1])
    whole = audit_shortcuts(samples, AuditSettings(statistics="train", seed=5))
    learned, _ = slow.concepts(plain, objects, question_types()[:-1], (whole.split.codes == 0).tolist())
    for sets, keys, rows in (
        (gqa_ood.sets(samples, chosen), concepts, range(COUNT)),
        (gqa_ood.sets(samples, chosen, np.arange(500)), concepts, range(500)),
        (gqa_ood.build_audit_sets(whole, chosen), learned, whole.split.rows("test").tolist()),
    ):
        expected = slow.gqa_ood(keys[by], answers, list(rows), Fraction(6, 5))
        found = {s.name: s.rows.tolist() for s in sets}
        assert found["head"] == expected["head"]
        assert found["tail"] == expected["tail"]
        assert len(found["all"]) == len(expected["head"]) + len(expected["tail"]) > 0


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 2)), min_size=1, max_size=24))
def test_gqa_ood_keeps_groups_at_the_limit_however_few_there_are(pairs):
    keys, answers = (
        [f"{letter}{n}" for n in column] for letter, column in zip("ga", zip(*pairs, strict=True), strict=True)
    )
    samples = QuestionTable(
        "gqa",
        tuple(range(len(pairs))),
        *(encode_column(["x"] * len(pairs)),) * 2,
        encode_column(answers),
        local=encode_column(keys),
    )
    found = {s.name: s.rows.tolist() for s in gqa_ood.sets(samples)}
    expected = slow.gqa_ood(keys, answers, list(range(len(pairs))), Fraction(6, 5))
    assert (found["head"], found["tail"]) == (expected["head"], expected["tail"])


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4)), min_size=1, max_size=40),
    st.sampled_from([0.5, 0.9, 0.95, 1.0]),
    st.sampled_from([0.5, 1.0, 1.2, 2.0]),
)
def test_groups_by_any_thresholds(pairs, limit, rare):
    keys, answers = zip(*pairs, strict=True)
    words = tuple(f"k{k}" for k in range(4))
    labels = build_labels("KW", (words,), (np.array(keys, np.int32),))
    rows = np.arange(len(pairs))
    found = build_groups(labels, np.array(answers, np.int32), rows, limit, rare)
    expected = slow.vqa_vs(
        [words[k] for k in keys], list(map(str, answers)), rows.tolist(), Fraction(str(limit)), Fraction(str(rare))
    )
    assert found.tail.tolist() == expected["tail"]
    assert found.head.tolist() == expected["head"]
    for concept in range(len(labels)):
        assert math.isclose(found.entropy[concept], slow.entropy(expected["groups"][labels.name(concept)]))


SCRIPT = """
import sys
from pathlib import Path
sys.path.insert(0, {tests!r})
import audit_toys
from shiftscope.formats import read_question_table as read_vqa
from shiftscope.shift import changing_priors, gqa_ood, vqa_vs
questions, annotations, instances = (Path({folder!r}) / n for n in ("questions.json", "annotations.json", "instances.json"))
samples = read_vqa([questions], [annotations], [instances])
for sets in (vqa_vs.sets(samples), gqa_ood.sets(samples, gqa_ood.GqaOodSettings(by="KW")), changing_priors.sets(samples)):
    for one in sets:
        print(one.name, samples.take_ids(one.rows))
"""


def test_the_same_sets_whatever_the_hash_seed(made, tmp_path):
    audit_toys.write(tmp_path, made)
    script = SCRIPT.format(tests=str(Path(__file__).parents[2]), folder=str(tmp_path))
    first, second = run_under_two_hash_seeds(script)
    assert first == second
    assert len(first.splitlines()) == 3 + 27 + 3 + 2
