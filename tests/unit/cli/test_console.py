"""What is printed: tables at any width, and of long work a line now and then where nobody watches."""

from io import StringIO

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from command import ROOT, here
from shiftscope.cli import _console


def test_a_log_gets_a_line_now_and_then(capsys, monkeypatch):
    now = iter([0.0, 29.0, 30.0, 30.0, 31.0, 60.0, 60.0])
    monkeypatch.setattr(_console.time, "monotonic", lambda: next(now))
    with _console.shard_bar("val data") as tell:
        for done, total in ((10, 40), (20, 40), (1_021, 0), (1_030, 0)):
            tell(done, total, "images" if total else "")
    assert capsys.readouterr().err.splitlines() == [
        "shiftscope: val data: 20 of 40, images",
        "shiftscope: val data: 1,030",
    ]


COLUMNS = ("", "size", "color", "material", "position", "in front of it")
ROWS = [("0", "small", "red", "rubber", "-2.00 0.00 0.35", "1 2 3"), ("1", "large", "blue", "metal", "0 0 1", "")]


def printed(capsys, *given):
    _console.print_table(*given)
    return capsys.readouterr().out


def test_a_table_in_a_pipe_has_no_edge(capsys, monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    lines = printed(capsys, COLUMNS, [(*row[:-1], "x" * 200) for row in ROWS]).splitlines()
    assert any(line.split()[:4] == ["0", "small", "red", "rubber"] and "x" * 200 in line for line in lines)


def test_a_narrow_table_tells_each_row_by_itself(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    assert (
        printed(capsys, COLUMNS, ROWS, "a scene with a title that takes two lines")
        == """\
a scene with a title that takes two
lines

0
  size            small
  color           red
  material        rubber
  position        -2.00 0.00 0.35
  in front of it  1 2 3

1
  size            large
  color           blue
  material        metal
  position        0 0 1

"""
    )


def test_one_long_column_is_told_in_several_lines(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    lines = printed(capsys, ("name", "what"), [("one", "words " * 20), ("two", "short")]).splitlines()
    assert max(map(len, lines)) <= 40
    assert sum("words words words" in line for line in lines) > 3
    assert any(line.split() == ["two", "short"] for line in lines)


CELLS = st.one_of(
    st.integers(-99, 10**6), st.floats(0, 100), st.text("ab [=]:1%é日\n", max_size=8), st.just("long " * 40)
)


@given(
    names=st.lists(st.text("ab [:%é", max_size=6), min_size=1, max_size=4),
    rows=st.lists(st.lists(CELLS, min_size=4, max_size=4), max_size=3),
    width=st.sampled_from((None, 24, 40)),
)
@example(names=["% "], rows=[[0, 0, 0, 0]], width=None)  # numbers stand to the right, without spaces behind
def test_a_table_in_a_pipe_is_the_one_that_rich_lays_out(names, rows, width):
    shown = [row[: len(names)] for row in rows]
    found = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", str(width or ""))
        for lay_out in (_console._lay_out_plainly, lambda columns, rows, width: None):
            patch.setattr(_console, "_lay_out_plainly", lay_out)
            patch.setattr(_console.sys, "stdout", StringIO())
            _console.print_table(names, shown)
            found.append(_console.sys.stdout.getvalue())
    assert found[0] == found[1]


@pytest.mark.parametrize("width", [40, 60, 80, 200])
@pytest.mark.parametrize("name", ["clevr_scenes", "superclevr_scenes", "gqa_graphs"])
def test_scenes_fit_and_no_word_of_them_is_broken(name, width, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(width))
    shown = here("show", ROOT / "examples" / "data" / f"{name}.json").stdout
    table = shown.split(";")[0].splitlines()[:-1]  # the relations of a graph follow
    assert table and max(map(len, table)) <= width
    monkeypatch.delenv("COLUMNS")
    whole = here("show", ROOT / "examples" / "data" / f"{name}.json").stdout
    assert {word for word in whole.split() if word.isalpha()} <= {*shown.split()}


@pytest.mark.parametrize("words", [(), ("make",), ("test",), ("study",)])
def test_a_command_alone_prints_its_help(words, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    told = here(*words)
    assert told.returncode == 2
    lines = told.stderr.splitlines()
    assert lines[0].startswith("Usage:") and len(lines) > 8
    assert "Commands:" in lines and max(map(len, lines)) <= 80
