"""When the learning rate falls, and when a training is over."""

import pytest

from shiftscope.train.schedule import compute_rise, find_fall, is_over, scale_rate
from shiftscope.trainable import TrainRecipe

PATIENT = TrainRecipe(40, 8, 0.02, warmup=0.025, patience=3)
RISING = [0.30, 0.40, 0.45, 0.47, 0.48, 0.49, 0.50, 0.51]
FLAT = [*RISING, 0.511, 0.512, 0.511]  # the last three brought 0.2 points


def test_the_rate_stays_high_while_validation_rises():
    assert [scale_rate(PATIENT, step, 10, []) for step in (0, 4, 9)] == [0.1, 0.5, 1.0]  # up in one epoch of ten steps
    assert scale_rate(PATIENT, 89, 10, RISING) == 1.0
    assert find_fall(PATIENT, RISING) == (32, 40)  # at the latest, for there are forty epochs at most


def test_the_rate_falls_once_validation_is_flat():
    assert find_fall(PATIENT, FLAT) == (11, 13)
    rates = [scale_rate(PATIENT, 110 + k, 10, FLAT) for k in (0, 10, 19, 20, 50)]
    assert rates == pytest.approx([1.0, 0.51, 0.069, 0.02, 0.02])
    assert find_fall(PATIENT, [*FLAT, 0.6, 0.7]) == (11, 13)  # what the fall brings does not undo it
    assert find_fall(PATIENT, [0.3] * 8) == (8, 10)  # and not before a fifth of the epochs


def test_a_training_is_over_when_its_last_quarter_brought_nothing():
    fallen = [*FLAT, 0.52, 0.53]
    assert not is_over(PATIENT, FLAT) and not is_over(PATIENT, fallen)
    after = [len(figures) for n in range(27) if is_over(PATIENT, figures := [*fallen, *[0.53] * n])]
    assert after[0] == 18 and compute_rise([*fallen, *[0.53] * 5]) < 0.003 < compute_rise([*fallen, *[0.53] * 4])
    assert is_over(PATIENT, [*fallen, *[0.5] * 5])


def test_it_is_over_after_the_most_epochs():
    always = [k / 100 for k in range(40)]
    assert is_over(PATIENT, always) and not is_over(PATIENT, always[:-1])
    assert scale_rate(PATIENT, 399, 10, always[:-1]) < 0.05
    for epochs in (1, 2, 3):
        short = TrainRecipe(epochs, 8, 0.02, warmup=0.0125, patience=3)
        assert is_over(short, [0.1] * epochs) and not is_over(short, [0.1] * (epochs - 1))
        assert 0 < scale_rate(short, 10 * epochs - 1, 10, [0.1] * (epochs - 1)) < 0.2


def test_without_patience_all_epochs_are_trained():
    plain = TrainRecipe(40, 8, 0.02)
    assert not is_over(plain, [0.5] * 39) and is_over(plain, [0.5] * 40)
    assert "patience" not in plain.to_json() and PATIENT.to_json()["patience"] == 3


def test_a_tail_goes_on_at_the_lowest_rate_while_validation_rises():
    tailed = TrainRecipe(8, 8, 0.02, warmup=0.025, tail=4)
    assert tailed.to_json()["tail"] == 4 and "tail" not in PATIENT.to_json()
    assert scale_rate(tailed, 0, 10, []) == 0.5 and scale_rate(tailed, 40, 10, []) == scale_rate(
        TrainRecipe(8, 8, 0.02, warmup=0.025), 40, 10, []
    )
    assert scale_rate(tailed, 79, 10, RISING[:7]) == scale_rate(tailed, 80, 10, RISING) == 0.02
    assert not is_over(tailed, [0.5] * 7) and is_over(tailed, [0.5] * 8)  # the cosine is never cut short
    assert not is_over(tailed, RISING) and not is_over(tailed, [*RISING, 0.51])  # ... until the last quarter is flat
    assert is_over(tailed, [*RISING, *[0.51] * 3]) and is_over(tailed, [k / 10 for k in range(12)])
