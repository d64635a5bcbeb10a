"""Markup is escaped by construction, and numbers read as one writes them."""

import pytest

from shiftscope.report.markup import Html, tag, text
from shiftscope.report.number import chance, percent, points, seconds, several, spread


def test_text_is_escaped_and_markup_is_kept():
    assert tag("p", "a < b & c", tag("b", ">")) == "<p>a &lt; b &amp; c<b>&gt;</b></p>"


def test_a_hostile_attribute_stays_inside_its_quotes():
    made = tag("a", "x", title='"><script>alert(1)</script>')
    assert made == '<a title="&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;">x</a>'


def test_control_characters_and_lone_surrogates_become_replacement_characters():
    assert text("a\x00b\x1b\ud800") == "a�b��"
    text("\ud800").encode()


def test_attributes_are_spelled_as_html_does():
    assert tag("td", 1, class_="num", aria_label="one", hidden=True, title=None, data_x=False) == (
        '<td class="num" aria-label="one" hidden>1</td>'
    )
    assert tag("rect", x=1.0, y=2.345) == '<rect x="1" y="2.35"/>'


def test_children_may_be_nested_and_absent():
    assert text(["a", None, [Html("<i/>"), 3]]) == "a<i/>3"


@pytest.mark.parametrize(
    ("value", "low", "high", "said"),
    [
        (0.842, 0.829, 0.854, "± 1.3"),
        (1.0, 0.9, 1.0, "90.0–100.0"),
        (0.5, None, None, ""),
        (0.0, 0.0, 0.0, "± 0.0"),
    ],
)
def test_an_interval_is_its_longer_side_or_both_ends(value, low, high, said):
    assert spread(value, low, high) == said


def test_figures_read_as_one_writes_them():
    assert [percent(0.8424), percent(-0.0), percent(None), percent(1, 0)] == ["84.2", "0.0", "–", "100"]
    assert [points(-0.034), points(0.01), points(-0.0001)] == ["−3.4", "+1.0", "0.0"]
    assert [chance(0.0004), chance(0.0312), chance(0.4)] == ["p < 0.001", "p = 0.031", "p = 0.40"]
    assert [seconds(0.0123), seconds(3.456), seconds(600), seconds(9000)] == [
        "12.3 ms",
        "3.46 s",
        "10.0 min",
        "2.5 h",
    ]
    assert [several(1, "model"), several(1200, "question")] == ["1 model", "1,200 questions"]
