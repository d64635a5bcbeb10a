"""A dataset of ours as samples for an audit, and what its card says of it."""

from dataclasses import replace

import pytest

import store_toys
from shiftscope.shortcuts.audit import AuditSettings, audit_shortcuts
from shiftscope.store.audit_samples import format_shortcut_section, read_stored_questions
from shiftscope.store.build_dataset import build_dataset
from shiftscope.store.dataset import Dataset


def odd(spec, split, k):
    """The first question is empty, the second has no answer, the third asks about two images."""
    images, questions = store_toys.make(spec, split, k)
    first, second, third, *others = questions
    both = (images[1].id, images[0].id)
    return images, [replace(first, text=""), replace(second, answer=None), replace(third, scenes=both), *others]


def few(spec, split, k):
    images, questions = store_toys.make(spec, split, k)
    return images, questions[:2]


@pytest.fixture
def opened(tmp_path):
    def make(jobs, maker=store_toys.make):
        build_dataset(tmp_path, store_toys.SPEC, jobs, maker)
        return Dataset.open(tmp_path)

    return make


def test_every_answered_question_is_a_sample_and_the_others_are_counted(opened):
    samples = read_stored_questions(opened({"test": 1}, odd))
    assert len(samples) == 8
    assert (samples.ids[0], samples.texts[0], samples.answers[0]) == ("toy_test_000000-0", "", "2")
    assert samples.images.to_list()[:2] == ["toy_test_000000", "toy_test_000001"]
    assert samples.types.to_list()[:2] == ["count", "query_color"]
    assert set(samples.splits.to_list()) == {"test"}
    assert samples.objects.kinds == ("cube",)
    assert [(r.count, r.what, r.examples) for r in samples.remarks] == [
        (1, "questions without an answer", ("toy_test_000000-1",)),
        (1, "questions about several images", ("toy_test_000000-2",)),
        (1, "empty questions", ("toy_test_000000-0",)),
    ]


def test_the_card_splits_as_an_audit_does(opened):
    dataset = opened({"train": 2, "test": 1})
    found = audit_shortcuts(read_stored_questions(dataset), AuditSettings(split="auto"))
    assert found.split.counts() == {"train": 18, "val": 0, "test": 9}
    assert "| QT | 3 |" in format_shortcut_section(dataset)


def test_too_few_questions_for_a_split_have_no_words_on_shortcuts(opened):
    assert format_shortcut_section(opened({"test": 1}, few)) == ""
