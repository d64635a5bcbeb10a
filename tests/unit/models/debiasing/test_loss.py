"""Each loss of debiasing against a computation by hand, in plain Python."""

import math

import pytest

from lazy import lazy

torch = lazy("torch")
losses = lazy("shiftscope.models.debiasing.loss")

SCORES = [[2.0, 0.5, -1.0], [0.0, 1.0, 0.3], [1.0, 1.0, 1.0]]
TARGETS = [0, 2, -1]  # the last is outside the vocabulary: it teaches nothing
BIAS = [[0.7, 0.2, 0.1], [0.1, 0.6, 0.3], [0.5, 0.25, 0.25]]
FACTORS = [0.8, 1.5, 1.0]
PRIOR = [[1.0, 0.0, 0.0], [0.0, 0.0, 2.0], [0.0, 0.0, 0.0]]


def soften(scores):
    powers = [math.exp(score) for score in scores]
    return [power / sum(powers) for power in powers]


def average(values):
    return sum(values) / len(values)


def as_tensors(*listed):
    return [torch.tensor(one) for one in listed]


def test_the_learned_mixin_adds_the_scaled_log_of_the_bias():
    by_hand = []
    for scores, bias, factor, target in zip(SCORES[:2], BIAS, FACTORS, TARGETS, strict=False):
        mixed = soften([math.log(p) + factor * math.log(b) for p, b in zip(soften(scores), bias, strict=True)])
        by_hand.append(-math.log(mixed[target]))
    scores, bias, factors, targets = as_tensors(SCORES, BIAS, FACTORS, TARGETS)
    found = losses.compute_cross_entropy(losses.mix_in_bias(scores, bias, factors), targets)
    assert float(found) == pytest.approx(average(by_hand))


def test_the_entropy_is_that_of_the_scaled_bias():
    by_hand = []
    for bias, factor in zip(BIAS[:2], FACTORS, strict=False):
        scaled = soften([factor * math.log(b) for b in bias])
        by_hand.append(-sum(p * math.log(p) for p in scaled))
    bias, factors, targets = as_tensors(BIAS, FACTORS, TARGETS)
    assert float(losses.compute_bias_entropy(bias, factors, targets)) == pytest.approx(average(by_hand))


def test_a_uniform_bias_leaves_the_cross_entropy_and_its_slopes():
    scores, factors, targets = as_tensors(SCORES, FACTORS, TARGETS)
    scores.requires_grad_(), factors.requires_grad_()
    plain = losses.compute_cross_entropy(scores, targets)
    (wanted,) = torch.autograd.grad(plain, scores)
    uniform = torch.full((3, 3), 1 / 3)
    mixed = losses.compute_cross_entropy(losses.mix_in_bias(scores, uniform, factors), targets)
    entropy = losses.compute_bias_entropy(uniform, factors, targets)
    slopes = torch.autograd.grad(mixed + 0.36 * entropy, (scores, factors))
    assert mixed.item() == pytest.approx(plain.item())
    assert entropy.item() == pytest.approx(math.log(3))  # a constant
    torch.testing.assert_close(slopes[0], wanted)
    torch.testing.assert_close(slopes[1], torch.zeros(3), atol=1e-6, rtol=0)


@pytest.mark.parametrize("gamma", [1.0, 5.0])
def test_the_prior_weighs_each_question(gamma):
    by_hand = []
    for scores, prior, target in zip(SCORES[:2], PRIOR, TARGETS, strict=False):
        by_hand.append(-((1 - soften(prior)[target]) ** gamma) * math.log(soften(scores)[target]))
    scores, prior, targets = as_tensors(SCORES, PRIOR, TARGETS)
    found = losses.weigh_by_prior(scores, prior.requires_grad_(), targets, gamma)
    assert found.item() == pytest.approx(average(by_hand))
    (slope,) = torch.autograd.grad(found, prior)
    assert slope[0, 0] < 0 and slope[1, 2] < 0 and not slope[2].any()  # a surer prior makes it smaller


def test_without_gamma_the_prior_says_nothing():
    scores, prior, targets = as_tensors(SCORES, PRIOR, TARGETS)
    prior[0, 0] = 200.0  # α = 1: 0 to the power of 0
    found = losses.weigh_by_prior(scores, prior, targets, 0.0)
    assert float(found) == pytest.approx(float(losses.compute_cross_entropy(scores, targets)))


def test_the_mask_multiplies_scores():
    scores, mask = as_tensors(SCORES, PRIOR)
    by_hand = [
        [score / (1 + math.exp(-m)) for score, m in zip(row, masks, strict=True)]
        for row, masks in zip(SCORES, PRIOR, strict=True)
    ]
    torch.testing.assert_close(losses.mask_scores(scores, mask), torch.tensor(by_hand))
    assert torch.equal(losses.mask_scores(scores, torch.full_like(mask, 40.0)), scores)  # a mask of ones


def test_irrelevant_pairs_count_what_the_true_answer_is_given():
    scores, targets = as_tensors(SCORES, TARGETS)
    all_of_them = torch.tensor([True, True, True])
    by_hand = [soften(SCORES[0])[0], soften(SCORES[1])[2]]
    assert float(losses.compute_answer_confidence(scores, targets, all_of_them)) == pytest.approx(average(by_hand))
    second = torch.tensor([False, True, True])
    assert float(losses.compute_answer_confidence(scores, targets, second)) == pytest.approx(by_hand[1])


SHARES = [[0.75, 0.25, 0.0], [0.0, 0.4, 0.6], [0.0, 0.0, 0.0]]  # nobody's answer to the last is in the vocabulary


def test_soft_targets_weigh_each_answer_by_its_share():
    logs = [[math.log(p) for p in soften(scores)] for scores in SCORES[:2]]
    by_hand = [-sum(s * log for s, log in zip(*pair, strict=True)) for pair in zip(SHARES, logs, strict=False)]
    scores, prior, shares = as_tensors(SCORES, PRIOR, SHARES)
    assert float(losses.compute_cross_entropy(scores, shares)) == pytest.approx(average(by_hand))
    sure = [sum(s * p for s, p in zip(one, soften(q), strict=True)) for one, q in zip(SHARES[:2], PRIOR, strict=False)]
    weighed = [(1 - alpha) ** 5 * loss for alpha, loss in zip(sure, by_hand, strict=True)]
    assert float(losses.weigh_by_prior(scores, prior, shares, 5.0)) == pytest.approx(average(weighed))


def test_a_share_of_one_is_a_hard_target():
    scores, prior, bias, factors, targets = as_tensors(SCORES, PRIOR, BIAS, FACTORS, TARGETS)
    hard = torch.zeros(3, 3)
    hard[0, 0] = hard[1, 2] = 1.0
    for one, other in (
        (losses.compute_cross_entropy(scores, hard), losses.compute_cross_entropy(scores, targets)),
        (losses.weigh_by_prior(scores, prior, hard, 2.0), losses.weigh_by_prior(scores, prior, targets, 2.0)),
        (losses.compute_bias_entropy(bias, factors, hard), losses.compute_bias_entropy(bias, factors, targets)),
    ):
        assert float(one) == pytest.approx(float(other))
