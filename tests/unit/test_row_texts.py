"""Rows of JSON lists are found in their file, and copied from it, as they stand there."""

import json

import msgspec
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from shiftscope.row_texts import SEPARATOR, RowTexts, gather_rows, locate_rows

VALUES = st.recursive(
    st.none() | st.integers() | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)
SPACES = st.text(" \t\n\r", max_size=3)


def decode(data):
    return msgspec.json.decode(data, type=dict[str, list[msgspec.Raw]])["rows"]


@st.composite
def files(draw):
    """A list of rows in a file, and the texts of the rows."""
    texts = [json.dumps(v, ensure_ascii=draw(st.booleans())) for v in draw(st.lists(VALUES, min_size=1, max_size=6))]
    between = [f"{draw(SPACES)},{draw(SPACES)}" for _ in texts[1:]] + [draw(SPACES)]
    rows = "".join(text + space for text, space in zip(texts, between, strict=True))
    return f'{{"rows":{draw(SPACES)}[{draw(SPACES)}{rows}]}}'.encode(), [text.encode() for text in texts]


@given(files())
def test_rows_are_found_where_they_stand(file):
    data, texts = file
    found = locate_rows(data, decode(data))
    assert isinstance(found, RowTexts)
    assert [*found] == found[:] == texts and found[-1] == texts[-1]
    assert json.loads(found.join_rows(0, len(found))) == [*map(json.loads, texts)]


@given(st.lists(files(), min_size=1, max_size=3), st.data())
def test_rows_of_several_files_are_copied_in_the_order_asked_for(several, data):
    texts = [locate_rows(file, decode(file)) for file, _ in several]
    pairs = [(k, row) for k, one in enumerate(texts) for row in range(len(one))]
    chosen = data.draw(st.lists(st.sampled_from(pairs), max_size=8))
    places, rows = np.array(chosen, np.int64).reshape(-1, 2).T
    assert bytes(gather_rows(texts, places, rows)) == b"".join(SEPARATOR + several[k][1][row] for k, row in chosen)


def test_rows_that_are_not_pieces_of_one_list_are_not_located():
    data = b'{"rows": [{"a": 1}, {"a": 2}]}'
    assert locate_rows(data, []) is None
    assert locate_rows(data, [bytes(row) for row in decode(data)]) is None
    assert locate_rows(data, decode(data)[::-1]) is None
    apart = b'{"rows": [1], "x": [2]}'
    first, second = (
        row for rows in msgspec.json.decode(apart, type=dict[str, list[msgspec.Raw]]).values() for row in rows
    )
    assert locate_rows(apart, [first, second]) is None
