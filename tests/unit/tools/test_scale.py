"""Cost against size: the exponent is that of the law behind the times, and what is too large is skipped with a reason."""

from xml.etree import ElementTree

import pytest

from benchmarks.scale import VERBS, _describe_exponent, _find_reason, fit_exponent
from benchmarks.scale_picture import draw_panels

SIZES = (1_000, 3_000, 10_000, 30_000, 100_000)


@pytest.mark.parametrize("power", [0.5, 1, 2])
def test_the_exponent_of_a_power_law_is_found(power):
    slope, half = fit_exponent([(size, 1e-6 * size**power) for size in SIZES])
    assert slope == pytest.approx(power)
    assert half == pytest.approx(0, abs=1e-6)


def test_growth_faster_than_linear_is_called_out():
    assert "Above" in _describe_exponent([(size, 1e-9 * size**2) for size in SIZES], True)
    assert "Above" not in _describe_exponent([(size, 1e-6 * size) for size in SIZES], True)


def test_a_size_that_takes_too_long_is_skipped_with_its_reason():
    cells = {"1000": {"wall": 1, "total": 2.0, "peak": 0.1}, "3000": {"wall": 3, "total": 4.0, "peak": 0.1}}
    assert _find_reason(VERBS["ask"], cells, 10_000, 300) == ""
    assert "about 101 s" in _find_reason(VERBS["ask"], cells, 100_000, 60)
    assert _find_reason(VERBS["ask"], cells, 10**7, 1e9) == VERBS["ask"].why


def test_the_picture_is_well_formed():
    picture = draw_panels([("a < b", "questions", [(1_000, 0.1), (10_000, 1.2)]), ("empty", "images", [])])
    assert len(list(ElementTree.fromstring(picture).iter("{http://www.w3.org/2000/svg}circle"))) == 2
