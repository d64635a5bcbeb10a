import pytest

from shiftscope.rng import derive, seed_of


def test_a_path_gives_the_same_numbers_everywhere():
    assert seed_of("clevr", "train", 17) == 0xB7D4831F4726D2A97CE7E8CAB33FAAA5
    assert derive("clevr", 0).integers(0, 1000, 4).tolist() == [890, 669, 874, 114]


def test_order_and_type_of_the_steps_matter():
    assert len({seed_of("a", "b"), seed_of("b", "a"), seed_of("ab"), seed_of("a", 1), seed_of("a", "1")}) == 5


def test_a_path_is_made_of_words_and_numbers():
    for step in (1.5, True, None):
        with pytest.raises(TypeError):
            derive(step)
