"""Arrays built and read without pandas are those of Arrow itself."""

import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as some

from shiftscope.arrow_array import build_array, nest_array, read_numbers, wrap_numbers

TEXT = some.text(some.characters(exclude_categories=["Cs"]), max_size=5)
KINDS = {
    pa.string(): TEXT,
    pa.large_string(): TEXT,
    pa.binary(): some.binary(max_size=5),
    pa.bool_(): some.booleans(),
    pa.int32(): some.integers(-(2**31), 2**31 - 1),
    pa.int64(): some.integers(-(2**63), 2**63 - 1),
    pa.float64(): some.floats(allow_nan=False),
}
KINDS |= {pa.list_(kind): some.lists(some.none() | values, max_size=3) for kind, values in KINDS.items()}
KINDS[pa.list_(pa.list_(pa.int32()))] = some.lists(some.tuples(some.integers(0, 9)), max_size=3)


@given(some.data(), some.sampled_from(list(KINDS)))
def test_an_array_is_what_arrow_builds(data, kind):
    values = data.draw(some.lists(some.none() | KINDS[kind], max_size=20))
    made = build_array(values, kind)
    made.validate(full=True)
    assert made.equals(pa.array(values, kind))
    assert made.null_count == values.count(None)
    assert str(made.to_pylist()) == str(pa.array(values, kind).to_pylist())  # −0.0 too


@given(some.data(), some.sampled_from([k for k in KINDS if not pa.types.is_list(k)][3:]))
def test_numbers_are_read_wherever_the_array_begins(data, kind):
    values = data.draw(some.lists(some.none() | KINDS[kind], max_size=20))
    first = data.draw(some.integers(0, len(values)))
    found = read_numbers(pa.array(values, kind)[first:], 0)
    assert found.tolist() == [0 if v is None else v for v in values[first:]]
    assert found.dtype == np.dtype(kind.to_pandas_dtype())


def test_numpy_arrays_are_wrapped():
    flat = wrap_numbers(np.arange(12, dtype=np.uint8)[::2])
    assert flat.equals(pa.array([0, 2, 4, 6, 8, 10], pa.uint8()))
    assert nest_array(flat, [2, 0, 0, 4], [False, True, False, False]).to_pylist() == [[0, 2], None, [], [4, 6, 8, 10]]


@pytest.mark.parametrize(
    ("values", "kind"), [([0], pa.string()), (["1"], pa.int32()), ([1.5], pa.int64()), ([2**31], pa.int32())]
)
def test_what_does_not_fit_is_no_number_or_text(values, kind):
    with pytest.raises((TypeError, OverflowError)):
        build_array(values, kind)


def test_pandas_is_not_imported():
    code = """if True:
        import sys
        import pyarrow as pa
        from shiftscope.arrow_array import build_array, read_numbers
        read_numbers(build_array([1, None, 3], pa.int32()))
        assert not {"pandas", "numba"} & set(sys.modules)
    """
    subprocess.run([sys.executable, "-c", code], check=True)
