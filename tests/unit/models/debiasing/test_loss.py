"""Each loss of debiasing against a computation by hand, in plain Python."""

import math

import pytest

from lazy import lazy

torch = lazy("torch")
losses = lazy("shiftscope.models.debiasing.loss")
answers = lazy("shiftscope.models.end_to_end.answer_loss")

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


def compute_cross_entropy(scores, targets):
    return answers.average_answer_loss(scores, targets, "softmax")


def as_tensors(*listed):
    return [torch.tensor(one) for one in listed]


def test_the_learned_mixin_adds_the_scaled_log_of_the_bias():
    by_hand = []
    for scores, bias, factor, target in zip(SCORES[:2], BIAS, FACTORS, TARGETS, strict=False):
        mixed = soften([math.log(p) + factor * math.log(b) for p, b in zip(soften(scores), bias, strict=True)])
        by_hand.append(-math.log(mixed[target]))
    scores, bias, factors, targets = as_tensors(SCORES, BIAS, FACTORS, TARGETS)
    found = compute_cross_entropy(losses.mix_in_bias(scores, bias, factors), targets)
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
    plain = compute_cross_entropy(scores, targets)
    (wanted,) = torch.autograd.grad(plain, scores)
    uniform = torch.full((3, 3), 1 / 3)
    mixed = compute_cross_entropy(losses.mix_in_bias(scores, uniform, factors), targets)
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
    found = losses.weigh_by_prior(scores, prior.requires_grad_(), targets, gamma, "softmax")
    assert found.item() == pytest.approx(average(by_hand))
    (slope,) = torch.autograd.grad(found, prior)
    assert slope[0, 0] < 0 and slope[1, 2] < 0 and not slope[2].any()  # a surer prior makes it smaller


def test_without_gamma_the_prior_says_nothing():
    scores, prior, targets = as_tensors(SCORES, PRIOR, TARGETS)
    prior[0, 0] = 200.0  # α = 1: 0 to the power of 0
    found = losses.weigh_by_prior(scores, prior, targets, 0.0, "softmax")
    assert float(found) == pytest.approx(float(compute_cross_entropy(scores, targets)))


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
    assert float(compute_cross_entropy(scores, shares)) == pytest.approx(average(by_hand))
    sure = [sum(s * p for s, p in zip(one, soften(q), strict=True)) for one, q in zip(SHARES[:2], PRIOR, strict=False)]
    weighed = [(1 - alpha) ** 5 * loss for alpha, loss in zip(sure, by_hand, strict=True)]
    assert float(losses.weigh_by_prior(scores, prior, shares, 5.0, "softmax")) == pytest.approx(average(weighed))


def test_a_share_of_one_is_a_hard_target():
    scores, prior, bias, factors, targets = as_tensors(SCORES, PRIOR, BIAS, FACTORS, TARGETS)
    hard = torch.zeros(3, 3)
    hard[0, 0] = hard[1, 2] = 1.0
    for one, other in (
        (compute_cross_entropy(scores, hard), compute_cross_entropy(scores, targets)),
        (
            losses.weigh_by_prior(scores, prior, hard, 2.0, "softmax"),
            losses.weigh_by_prior(scores, prior, targets, 2.0, "softmax"),
        ),
        (losses.compute_bias_entropy(bias, factors, hard), losses.compute_bias_entropy(bias, factors, targets)),
    ):
        assert float(one) == pytest.approx(float(other))


def squash(score):
    return 1 / (1 + math.exp(-score))


def judge_each(scores, right):
    """The cross entropies of a sigmoid for each answer, summed."""
    pairs = [(squash(score), value) for score, value in zip(scores, right, strict=True)]
    return -sum(value * math.log(p) + (1 - value) * math.log(1 - p) for p, value in pairs)


HARD = [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]]
AGREED = [[1.0, 1 / 3, 0.0], [0.0, 2 / 3, 1.0], [0.0, 0.0, 0.0]]  # shares of three annotators, not of one


@pytest.mark.parametrize("right", [HARD, AGREED])
def test_a_sigmoid_for_each_answer_sums_their_cross_entropies(right):
    by_hand = [judge_each(*pair) for pair in zip(SCORES[:2], right, strict=False)]
    scores, wanted = as_tensors(SCORES, right)
    assert float(answers.average_answer_loss(scores, wanted, "sigmoid")) == pytest.approx(average(by_hand))
    if right is HARD:
        found = answers.average_answer_loss(scores, torch.tensor(TARGETS), "sigmoid")
        assert float(found) == pytest.approx(average(by_hand))


def test_scores_mean_what_they_were_trained_for():
    (scores,) = as_tensors(SCORES)
    assert answers.compute_chances(scores, "sigmoid")[0, 1].item() == pytest.approx(squash(0.5))
    assert answers.compute_chances(scores, "softmax")[0, 1].item() == pytest.approx(soften(SCORES[0])[1])


def compute_mixin(scores, bias, factors, targets, smoothing):
    """What lmh's loss does with a sigmoid for each answer: the loss of the mixture, and the entropy."""
    from shiftscope.models.debiasing.network import MixinHead

    head = MixinHead(4)
    torch.nn.init.constant_(head.smoothing, smoothing)
    added = factors[:, None] * head.compute_odds(bias)
    loss = answers.average_answer_loss(scores + added, targets, "sigmoid")
    return loss, losses.compute_pair_entropy(added, targets)


def test_the_learned_mixin_of_pairs_multiplies_each_answers_two_probabilities():
    smoothing = squash(-1.0)
    by_hand, entropies = [], []
    for scores, bias, factor, right in zip(SCORES[:2], BIAS, FACTORS, HARD, strict=False):
        loss, entropy = 0.0, []
        for score, b, value in zip(scores, bias, right, strict=True):
            yes, no = (b + smoothing) ** factor, (1 - b + smoothing) ** factor
            mixed = yes * squash(score) / (yes * squash(score) + no * (1 - squash(score)))
            loss -= value * math.log(mixed) + (1 - value) * math.log(1 - mixed)
            alone = yes / (yes + no)
            entropy.append(-alone * math.log(alone) - (1 - alone) * math.log(1 - alone))
        by_hand.append(loss)
        entropies.append(average(entropy))
    loss, entropy = compute_mixin(*as_tensors(SCORES, BIAS, FACTORS, TARGETS), -1.0)
    assert loss.item() == pytest.approx(average(by_hand))
    assert entropy.item() == pytest.approx(average(entropies))


def test_pairs_of_even_bias_leave_the_loss_and_its_slopes():
    scores, factors, targets = as_tensors(SCORES, FACTORS, TARGETS)
    scores.requires_grad_(), factors.requires_grad_()
    plain = answers.average_answer_loss(scores, targets, "sigmoid")
    (wanted,) = torch.autograd.grad(plain, scores)
    mixed, entropy = compute_mixin(scores, torch.full((3, 3), 0.5), factors, targets, -1.0)
    slopes = torch.autograd.grad(mixed + 0.36 * entropy, (scores, factors))
    assert mixed.item() == plain.item()
    assert entropy.item() == pytest.approx(math.log(2))  # a constant
    assert torch.equal(slopes[0], wanted)
    assert not slopes[1].any()


def test_an_answer_that_the_bias_rules_out_is_still_pushed_down():
    """Unlike in one softmax, where the bias alone keeps it away and the model never learns to."""
    scores = torch.zeros(1, 3, requires_grad=True)
    bias, factors, targets = torch.tensor([[0.5, 0.5, 0.0]]), torch.ones(1), torch.tensor([0])
    pairs, _ = compute_mixin(scores, bias, factors, targets, -1.0)
    odds = math.log(squash(-1.0) / (1 + squash(-1.0)))
    (slope,) = torch.autograd.grad(pairs, scores)
    assert slope[0, 2].item() == pytest.approx(squash(odds))


@pytest.mark.parametrize("gamma", [0.0, 2.0])
def test_the_prior_weighs_a_sigmoid_for_each_answer(gamma):
    by_hand = [
        (1 - squash(prior[target])) ** gamma * judge_each(scores, right)
        for scores, prior, target, right in zip(SCORES[:2], PRIOR, TARGETS, HARD, strict=False)
    ]
    scores, prior, targets = as_tensors(SCORES, PRIOR, TARGETS)
    assert float(losses.weigh_by_prior(scores, prior, targets, gamma, "sigmoid")) == pytest.approx(average(by_hand))
    hard = torch.tensor(HARD)
    assert float(losses.weigh_by_prior(scores, prior, hard, gamma, "sigmoid")) == pytest.approx(average(by_hand))


def test_large_scores_stay_finite():
    scores = torch.tensor([[3e4, -3e4, 0.0]], requires_grad=True)
    loss = answers.average_answer_loss(scores, torch.tensor([1]), "sigmoid")
    (slope,) = torch.autograd.grad(loss, scores)
    assert torch.isfinite(loss) and torch.isfinite(slope).all()
