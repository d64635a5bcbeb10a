"""Which questions a split is about is found once, and found again where the questions are others."""

import pytest

from shiftscope.lang.program import Program, node
from shiftscope.question import Question
from shiftscope.run.held_out_study import split_marks
from shiftscope.run.held_out_study.split_marks import find_marks
from shiftscope.shift import held_out

SPLITS = ("has_count_has_attr", "ans_num")


def make_questions(role, count):
    """Every other one counts red things, the others small ones exist."""
    counts = Program((node("scene"), node("filter", (0,), ("color", "red")), node("count", (1,))))
    exists = Program((node("scene"), node("filter", (0,), ("size", "small")), node("exist", (1,))))
    return [
        Question(f"{role}_{k}", "?", scenes=("a",), program=(exists, counts)[k % 2], answer=(True, 2)[k % 2])
        for k in range(count)
    ]


@pytest.fixture
def roles():
    return {role: make_questions(role, count) for role, count in (("train", 9), ("val", 4), ("test", 5))}


def test_marks_are_found_once(roles, tmp_path, monkeypatch):
    path = tmp_path / "marks.json"
    first = find_marks(SPLITS, roles, "data", path, lambda done: None)
    assert first.marks["ans_num"]["test"].tolist() == [False, True, False, True, False]
    ids = first.find_ids("has_count_has_attr")
    assert ids["train"].held == ("train_1", "train_3", "train_5", "train_7") and len(ids["train"].rest) == 5
    assert first.find_ids("has_quant") == {}
    looked = []
    mark = split_marks.mark_questions
    monkeypatch.setattr(split_marks, "mark_questions", lambda *given, **how: looked.append(1) or mark(*given, **how))
    again = find_marks(SPLITS, roles, "data", path, lambda done: None)
    assert not looked and again.find_ids("ans_num") == first.find_ids("ans_num")
    find_marks(SPLITS, roles, "other data", path, lambda done: None)
    find_marks(SPLITS[:1], roles, "other data", path, lambda done: None)
    assert len(looked) == 2


def test_marks_by_another_rule_or_of_half_a_file_are_found_again(roles, tmp_path, monkeypatch):
    path = tmp_path / "marks.json"
    first = find_marks(SPLITS, roles, "data", path, lambda done: None)
    path.write_bytes(path.read_bytes()[:-9])
    assert find_marks(SPLITS, roles, "data", path, lambda done: None).find_ids("ans_num") == first.find_ids("ans_num")
    looked = []
    mark = split_marks.mark_questions
    monkeypatch.setattr(split_marks, "mark_questions", lambda *given, **how: looked.append(1) or mark(*given, **how))
    drawn = (*SPLITS, "program_split_1")
    for rule in (1, 1, 2):
        monkeypatch.setitem(held_out.DRAW_RULES, "program_split", rule)
        find_marks(drawn, roles, "data", path, lambda done: None)
    assert len(looked) == 2
