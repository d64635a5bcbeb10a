"""Questions by row and column; a damaged file costs its own rows and nothing else."""

from dataclasses import replace

import numpy as np
import pytest

import store_toys
from shiftscope.explore.question_index import DatasetQuestions
from shiftscope.store.build_dataset import build_dataset


@pytest.fixture
def folder(tmp_path):
    build_dataset(tmp_path / "data", store_toys.SPEC, {"train": 2, "test": 1}, store_toys.make)
    return tmp_path / "data"


def test_rows_are_the_questions_in_the_order_of_the_shards(folder):
    index = DatasetQuestions(folder)
    questions = list(index.dataset.questions())
    assert len(index) == len(questions) == 27
    rows = index.read_rows(range(27))
    assert [(r.id, r.text, r.kind, r.images) for r in rows] == [(q.id, q.text, q.kind, q.scenes) for q in questions]
    assert [r.split for r in rows] == ["train"] * 18 + ["test"] * 9
    assert [index.read_question(row) for row in (0, 13, 26)] == [questions[row] for row in (0, 13, 26)]
    assert [index.find(q.id) for q in questions] == list(range(27))
    assert index.find("nobody") is None


def test_columns_hold_what_the_questions_say(folder):
    index = DatasetQuestions(folder)
    questions = list(index.dataset.questions())
    assert index.fact_names == ("split", "kind", "template", "answer")
    assert index.column("kind").to_list() == [q.kind for q in questions]
    assert index.column("answer").to_list()[:3] == ["2", "yes", "gray"]


def note_second(spec, split, k):
    images, questions = store_toys.make(spec, split, k)
    return images, [replace(q, notes=(*q.notes, ("level", 2))) if n == 1 else q for n, q in enumerate(questions)]


def test_a_fact_that_only_some_questions_have_can_be_filtered_by(tmp_path):
    build_dataset(tmp_path / "data", store_toys.SPEC, {"test": 1}, note_second)
    index = DatasetQuestions(tmp_path / "data")
    assert "level" in index.fact_names
    assert index.column("level").to_list() == [None, 2, *[None] * 7]


def test_a_search_finds_words_in_any_case(folder):
    index = DatasetQuestions(folder)
    assert np.flatnonzero(index.search("ANYTHING red")).tolist() == list(range(1, 27, 3))
    assert not index.search("%_.*").any()


@pytest.mark.parametrize("damage", ["cut", "changed", "gone"])
def test_a_damaged_file_costs_its_own_rows(folder, damage):
    file = folder / "questions/train/00001.parquet"
    file.chmod(0o644)
    data = file.read_bytes()
    match damage:
        case "cut":
            file.write_bytes(data[: len(data) // 2])
        case "changed":  # of the same length, and it may even decode
            file.write_bytes(data[:200] + bytes(b ^ 1 for b in data[200:210]) + data[210:])
        case "gone":
            file.unlink()
    index = DatasetQuestions(folder)
    rows = index.read_rows(range(27))
    assert [bool(r.error) for r in rows] == [False] * 9 + [True] * 9 + [False] * 9
    assert "00001.parquet" in rows[9].error
    kinds = index.column("kind").codes
    assert (kinds[9:18] == -1).all() and (kinds[:9] >= 0).all() and (kinds[18:] >= 0).all()
    assert np.flatnonzero(index.search("red")).tolist() == [1, 4, 7, 19, 22, 25]
    assert list(index.damage) == ["questions/train/00001.parquet"]


def test_a_row_that_is_not_there_is_refused(folder, refuses):
    with refuses("there is no question 27; there are 27, counted from 0"):
        DatasetQuestions(folder).read_rows([27])
