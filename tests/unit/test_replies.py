"""The labelled replies are read, and the page that says how well is fresh."""

from collections import Counter
from pathlib import Path

import pytest

from benchmarks.replies import HAND, PARTS, build_page, is_by_hand, is_right, read_reply, read_rows
from benchmarks.reply_styles import make_replies

PAGE = Path(__file__).parents[2] / "docs/results/replies.md"


@pytest.fixture(scope="module")
def pairs():
    return [(row, read_reply(row)) for row in read_rows()]


@pytest.mark.parametrize("part", PARTS)
def test_replies_are_read_right(pairs, part):
    read = [is_right(row, read) for row, read in pairs if row.part == part]
    assert len(read) > 100
    assert sum(read) >= 0.995 * len(read)


def test_the_set_is_as_large_and_varied_as_it_claims(pairs):
    rows = [row for row, _ in pairs]
    assert len(rows) >= 1500
    assert sum(row.origin == HAND for row in rows) >= 500
    assert len({(row.space, row.reply) for row in rows}) == len(rows)
    assert min(Counter(row.language for row in rows).values()) >= 30
    assert min(Counter(row.style for row in rows).values()) >= 8


def test_replies_by_rule_are_what_the_rules_make(pairs):
    made = {(drawn[0], drawn[-1]): drawn for drawn in make_replies()}
    stored = [tuple(row) for row, _ in pairs if not is_by_hand(row.origin)]
    assert stored == [made[row[0], row[-1]] for row in stored]
    by_hand = {(row.space, row.reply) for row, _ in pairs if is_by_hand(row.origin)}
    assert made.keys() <= by_hand | {(row[0], row[-1]) for row in stored}


def test_the_page_is_fresh(pairs):
    assert PAGE.read_text("utf-8") == build_page(pairs) + "\n", "python -m benchmarks.replies > docs/results/replies.md"
