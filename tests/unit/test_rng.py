import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shiftscope.kernels import exact
from shiftscope.rng import (
    KernelStream,
    _KernelSeed,
    derive,
    derive_by_kernel,
    draw_double,
    plan_skip,
    seed_of,
    skip_draws,
)


def test_a_path_gives_the_same_numbers_everywhere():
    assert seed_of("clevr", "train", 17) == 0xB7D4831F4726D2A97CE7E8CAB33FAAA5
    assert derive("clevr", 0).integers(0, 1000, 4).tolist() == [890, 669, 874, 114]


@given(st.integers(0, 2**128 - 1))
def test_a_kernel_seeds_as_numpy_does(seed):
    assert np.random.PCG64(_KernelSeed(seed)).state == np.random.PCG64(seed).state
    assert derive_by_kernel("clevr", seed).bit_generator.state == derive("clevr", seed).bit_generator.state


def test_order_and_type_of_the_steps_matter():
    assert len({seed_of("a", "b"), seed_of("b", "a"), seed_of("ab"), seed_of("a", 1), seed_of("a", "1")}) == 5


def test_a_path_is_made_of_words_and_numbers():
    for step in (1.5, True, None):
        with pytest.raises(TypeError):
            derive(step)


SKIPS = [plan_skip(n) for n in (0, 1, 400)]


@exact
def draw_in_kernel(stream, out):
    for i in range(len(out)):
        out[i] = draw_double(stream)


@exact
def skip_in_kernel(stream, plan):
    skip_draws(stream, plan)


@given(
    st.integers(0, 1 << 64),
    st.lists(st.tuples(st.sampled_from(("draw", "skip", "below")), st.integers(0, 2)), max_size=8),
)
def test_kernels_and_python_draw_what_the_generator_would(seed, steps):
    plain, stream = derive(seed), KernelStream(derive(seed))
    for step, n in steps:
        if step == "draw":
            drawn = np.empty(n)
            draw_in_kernel(stream.words, drawn)
            assert drawn.tolist() == plain.random(n).tolist()
        elif step == "skip":
            skip_in_kernel(stream.words, SKIPS[n])
            plain.random((0, 1, 400)[n])
        else:
            assert stream.draw_below(n + 2) == plain.integers(n + 2)
    last = np.empty(1)
    draw_in_kernel(stream.words, last)
    assert last[0] == plain.random()
