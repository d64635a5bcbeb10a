"""Masks come back exactly as they went in."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shiftscope.store.image import RunLengths, decode_mask, encode_mask


def test_a_run_goes_on_over_the_end_of_a_row():
    mask = np.array([[0, 0, 1], [1, 1, 2]], np.uint8)
    runs = encode_mask(mask)
    assert runs == RunLengths(bytes([0, 1, 2]), np.array([2, 3, 1], "<i4").tobytes(), 3)
    assert runs.size == (3, 2)


@given(st.integers(1, 9), st.integers(1, 9), st.randoms(use_true_random=False))
def test_any_mask_survives(width, height, random):
    values = [random.choice((0, 0, 0, 1, 2, 255)) for _ in range(width * height)]
    mask = np.array(values, np.uint8).reshape(height, width)
    np.testing.assert_array_equal(decode_mask(encode_mask(mask)), mask)


def test_a_mask_need_not_be_contiguous():
    mask = np.arange(24, dtype=np.uint8).reshape(4, 6)[::2, ::3]
    np.testing.assert_array_equal(decode_mask(encode_mask(mask)), mask)


@pytest.mark.parametrize("wrong", [np.zeros((2, 2), np.int32), np.zeros(4, np.uint8)])
def test_what_is_no_mask_is_refused(wrong):
    with pytest.raises(ValueError, match="a mask is a uint8 image"):
        encode_mask(wrong)
