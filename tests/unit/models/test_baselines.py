"""The regression behind blind models: its compiled steps against plain formulas, and when it ends."""

import numpy as np
import pytest

from shiftscope.models import _baselines as _bag
from shiftscope.rng import derive


def example(k):
    """The answer is the first letter; the second says nothing."""
    return f"{'ab'[k % 2]}{'xyz'[k % 3]}", "ab"[k % 2]


MANY = [example(k) for k in range(60)]


def fitted(examples=MANY, choosing=(), seed=0):
    return _bag.fit_bag_regression(examples, choosing, bag=frozenset, name="toy", seed=seed)


def test_it_learns_what_tells_the_answer():
    model = fitted()
    said = model.predict_bags([frozenset("ax"), frozenset("bz"), frozenset("q")])
    assert [r.answer for r in said][:2] == ["a", "b"]
    assert said[0].confidence > 0.9
    assert sorted(model.features) == ["a", "b", "x", "y", "z"]


def test_the_same_seed_gives_the_same_weights_and_another_seed_others():
    first, again, other = fitted(), fitted(), fitted(seed=1)
    assert np.array_equal(first.weights, again.weights)
    assert not np.array_equal(first.weights, other.weights)
    assert first.weights.dtype == first.bias.dtype == np.float32


def test_a_step_is_adagrad_s():
    draw = derive("tests", "bag")
    weights = draw.normal(size=(5, 3)).astype(np.float32)
    heat = np.full((5, 3), 0.5, np.float32)
    bags = [(0, 2), (), (2, 4), (1,)]
    codes = np.array([f for bag in bags for f in bag], np.int32)
    at = np.array([0, 2, 2, 4, 5])
    some, error = np.array([2, 0, 1]), draw.normal(size=(3, 3)).astype(np.float32)
    has = np.array([[f in bags[b] for b in some] for f in range(5)], np.float64)
    scores = has.T @ weights + np.arange(3)
    made = _bag._compute_scores(weights, np.arange(3, dtype=np.float32), codes, at, some)
    assert made == pytest.approx(scores, abs=1e-5)
    touched = has.any(1)
    slope = np.where(touched[:, None], has @ error + _bag.DECAY * weights, 0)
    hot = heat + slope**2
    expected = weights - _bag.RATE * slope / np.sqrt(hot)
    _bag._step_adagrad(weights, heat, codes, at, some, error)
    assert weights == pytest.approx(expected, abs=1e-5)
    assert heat == pytest.approx(hot, abs=1e-5)


def test_it_ends_when_what_it_is_chosen_by_gets_no_better(monkeypatch):
    scores = iter((0.5, 0.7, 0.6, 0.7, 0.9))  # equal is no better: it ends after the fourth
    seen = []

    def right(weights, bias, rows, true):
        seen.append(weights.copy())
        return next(scores)

    monkeypatch.setattr(_bag, "_measure_accuracy", right)
    model = fitted(choosing=MANY[:6])
    assert len(seen) == 4
    assert np.array_equal(model.weights, seen[1])


def test_without_anything_to_choose_by_it_goes_all_epochs(monkeypatch):
    monkeypatch.setattr(_bag, "_measure_accuracy", None)
    assert fitted().weights.any()


def test_only_what_is_learned_from_is_looked_at(monkeypatch):
    monkeypatch.setattr(_bag, "MOST_EXAMPLES", 20)
    looked = []

    def bag(text):
        looked.append(text)
        return frozenset(text)

    _bag.fit_bag_regression(MANY, bag=bag, name="toy", seed=0)
    assert len(looked) == 20


def test_bags_without_a_known_feature_are_answered_by_the_bias():
    model = fitted([("q", "a"), ("r", "a"), ("s", "b")])  # each feature once: none is learned
    assert model.features == {}
    assert [r.answer for r in model.predict_bags([frozenset("q"), frozenset()])] == ["a", "a"]
