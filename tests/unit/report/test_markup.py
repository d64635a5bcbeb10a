"""Markup is escaped by construction, and numbers read as one writes them."""

import pytest

from shiftscope.report.markup import Html, join_markup, tag
from shiftscope.report.number_format import (
    count_noun,
    format_p,
    format_percent,
    format_points,
    format_seconds,
    format_spread,
)
from shiftscope.report.table import Table, TableCell, numeric


def test_text_is_escaped_and_markup_is_kept():
    assert tag("p", "a < b & c", tag("b", ">")) == "<p>a &lt; b &amp; c<b>&gt;</b></p>"


def test_a_hostile_attribute_stays_inside_its_quotes():
    made = tag("a", "x", title='"><script>alert(1)</script>')
    assert made == '<a title="&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;">x</a>'


def test_control_characters_and_lone_surrogates_become_replacement_characters():
    assert join_markup("a\x00b\x1b\ud800") == "a�b��"
    join_markup("\ud800").encode()


def test_attributes_are_spelled_as_html_does():
    assert tag("td", 1, class_="num", aria_label="one", hidden=True, title=None, data_x=False) == (
        '<td class="num" aria-label="one" hidden>1</td>'
    )
    assert tag("rect", x=1.0, y=2.345) == '<rect x="1" y="2.35"/>'


def test_children_may_be_nested_and_absent():
    assert join_markup(["a", None, [Html("<i/>"), 3]]) == "a<i/>3"


@pytest.mark.parametrize(
    ("value", "low", "high", "said"),
    [
        (0.842, 0.829, 0.854, "± 1.3"),
        (1.0, 0.9, 1.0, "90.0–100.0"),
        (0.5, None, None, ""),
        (0.0, 0.0, 0.0, "± 0.0"),
        (0.1, -0.02, 0.11, "−2.0 to 11.0"),
    ],
)
def test_an_interval_is_its_longer_side_or_both_ends(value, low, high, said):
    assert format_spread(value, low, high) == said


def test_figures_read_as_one_writes_them():
    assert [format_percent(0.8424), format_percent(-0.0), format_percent(None), format_percent(1, 0)] == [
        "84.2",
        "0.0",
        "–",
        "100",
    ]
    assert [format_points(-0.034), format_points(0.01), format_points(-0.0001)] == ["−3.4", "+1.0", "0.0"]
    assert [format_p(0.0004), format_p(0.0312), format_p(0.4)] == ["p < 0.001", "p = 0.031", "p = 0.40"]
    assert [format_seconds(0.0123), format_seconds(3.456), format_seconds(600), format_seconds(9000)] == [
        "12.3 ms",
        "3.46 s",
        "10.0 min",
        "2.5 h",
    ]
    assert [count_noun(1, "model"), count_noun(1200, "question")] == ["1 model", "1,200 questions"]


def test_a_table_is_the_same_in_html_markdown_and_on_the_terminal():
    cells = [["a", TableCell(tag("b", "84.2"), 84.2)], ["b|c", TableCell("9 & more")]]
    table = Table("Scores", ("model", numeric("accuracy", "in %")), cells, "A note.")
    assert table.list_text() == [["model", "accuracy"], ["a", "84.2"], ["b|c", "9 & more"]]
    assert table.to_markdown() == (
        "## Scores\n\n| model | accuracy |\n|---|---|\n| a | 84.2 |\n| b\\|c | 9 & more |\n\nA note."
    )
    drawn = join_markup([table])
    assert '<th scope="col" class="num" title="in %">accuracy</th>' in drawn
    assert '<td class="num" data-value="84.2"><b>84.2</b></td>' in drawn
    assert drawn.endswith('<p class="note">A note.</p>')


def test_columns_of_plain_figures_stand_right_and_rows_stay_in_their_groups():
    drawn = join_markup(Table("", ("model", "n"), [("a", "1"), ("b", "2"), ("c", "3")], groups=(1, 2)))
    assert '<th scope="col" class="num" data-sortable>n</th>' in drawn
    assert drawn.count("<tbody>") == 2
