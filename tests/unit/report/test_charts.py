"""Charts are well-formed, to scale, and readable in colour, without it, and aloud."""

import re
from importlib.resources import files
from xml.etree import ElementTree

import pytest

from shiftscope.report.chart.bars import Bar, StackedShare, draw_bars, draw_interval, draw_stacked_bar
from shiftscope.report.chart.frame import (
    SHAPES,
    Axis,
    contrast_ratio,
    draw_mark,
    round_up,
    sequential_color,
    shorten_label,
    text_color_on,
)
from shiftscope.report.chart.lines import LineSeries, draw_lines
from shiftscope.report.table import HeatTile, render_heat_map
from shiftscope.result import Score

HOSTILE = '"><script>alert(1)</script>&'


def svg(markup):
    return ElementTree.fromstring(markup)


def found(element, look):
    return [e for e in element.iter() if look in (e.get("class") or "").split()]


def test_an_axis_has_round_ticks_and_stops_at_its_ends():
    axis = Axis(0, 60, 100, 400)
    assert axis.ticks() == (0, 20, 40, 60)
    assert [axis(0), axis(30), axis(99)] == [100, 250, 400]
    assert [round_up(v) for v in (3, 7, 41, 0)] == [3, 8, 60, 1]


def test_a_bar_is_as_long_as_its_value_and_a_reported_one_is_hollow():
    made = svg(draw_bars("two", [Bar("a", 10, "10"), Bar("b", 20, "20", hollow=True)]))
    (filled,), (hollow,) = found(made, "bar"), found(made, "hollow")
    assert float(hollow.get("width")) == pytest.approx(2 * float(filled.get("width")), abs=0.02)


def test_a_negative_bar_reaches_to_the_left_of_zero():
    made = svg(draw_bars("one", [Bar("loss", -5, "−5"), Bar("gain", 5, "+5")]))
    loss, gain = found(made, "bar")
    assert float(loss.get("x")) + float(loss.get("width")) == pytest.approx(float(gain.get("x")))


def test_a_point_without_an_interval_has_none_and_an_empty_bin_no_point():
    line = LineSeries("m", 0, (Score("", 0.5, 10, 0.4, 0.6), None, Score("", 1.0, 3, None, None)))
    made = svg(draw_lines("chart", ["1", "2", "3"], [line], [10, 0, 3]))
    assert len(found(made, "mark")) == 2
    assert len(found(made, "range")) == 1
    assert found(made, "mark")[0].find("title").text == "m, 1: 50.0 ± 10.0 (n = 10)"


def test_kinds_are_not_joined_by_a_line():
    line = LineSeries("m", 0, (Score("", 0.5, 1, None, None), Score("", 0.6, 1, None, None)))
    assert not found(svg(draw_lines("c", ["a", "b"], [line], [1, 1], joined=False)), "line")


def test_shares_fill_the_stack():
    made = svg(
        draw_stacked_bar(
            "s", [StackedShare("right", 0.75, "75%", "right"), StackedShare("wrong", 0.25, "25%", "wrong")], width=400
        )
    )
    assert [float(e.get("width")) for e in found(made, "share")] == [299, 99]


@pytest.mark.parametrize(
    "markup",
    [
        draw_bars(HOSTILE, [Bar(HOSTILE, 1, HOSTILE)]),
        draw_lines(HOSTILE, [HOSTILE], [LineSeries(HOSTILE, 0, (Score("", 1, 1, 0, 1),))], [1]),
        draw_stacked_bar(HOSTILE, [StackedShare(HOSTILE, 1, HOSTILE, "right")]),
        draw_interval(0.5, 0.4, 0.6, 3),
        *(f"<svg>{draw_mark(k, 5, 5, HOSTILE)}</svg>" for k in range(len(SHAPES))),
    ],
)
def test_a_chart_is_well_formed_whatever_it_is_told(markup):
    assert not [e for e in svg(markup).iter() if e.tag.endswith("script")]


def test_a_chart_can_be_read_aloud():
    made = svg(draw_interval(0.842, 0.829, 0.854, 0))
    assert made.get("role") == "img"
    assert made.get("aria-label") == "84.2 ± 1.3 on a scale of 0 to 100"


def test_series_differ_in_shape_as_well_as_in_colour():
    outlines = {re.sub(r"hue-\d", "", draw_mark(k, 0, 0)) for k in range(len(SHAPES))}
    assert len(outlines) == len(SHAPES)


def test_long_labels_are_cut():
    assert shorten_label("majority_per_template", 60) == "majority…"
    assert shorten_label("rd", 60) == "rd"


def test_figures_on_every_colour_of_a_heat_map_can_be_read():
    assert min(contrast_ratio(c, text_color_on(c)) for c in (sequential_color(k / 50) for k in range(51))) >= 4.5


def test_a_cell_that_was_not_run_does_not_look_like_a_low_value():
    made = render_heat_map(
        "map", [("", "a")], ["a", "b"], lambda r, c: HeatTile("50.0", 0.5, marked=True) if r[1] == c else None
    )
    assert '<td class="void" title="not run">–</td>' in made
    assert 'class="same"' in made


def colours(css):
    return dict(re.findall(r"(--[\w-]+): (#[0-9a-f]{6})", css))


def test_text_and_marks_stand_out_from_the_page_in_light_and_dark():
    css = files("shiftscope.report").joinpath("style.css").read_text("utf-8")
    light = colours(css[: css.index("@media")])
    dark = light | colours(css[css.index("@media (prefers-color-scheme: dark)") : css.index("* { box-sizing")])
    for scheme in (light, dark):
        for ground in ("--page", "--panel"):
            for ink in ("--ink", "--quiet", "--accent", "--good", "--bad"):
                assert contrast_ratio(scheme[ink], scheme[ground]) >= 4.5, (ink, ground)
        for k in range(8):
            assert contrast_ratio(scheme[f"--hue-{k}"], scheme["--page"]) >= 3, k
