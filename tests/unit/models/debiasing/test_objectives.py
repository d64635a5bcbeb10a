"""The whole loss of each method, with its default settings, against the formulas of decision 046 in plain NumPy.

The network is a table: what it says to a question depends on the image beside it, and is known. The parameters that a
method adds are those it builds, with known weights.
"""

import numpy as np
import pytest

from lazy import lazy
from shiftscope.train.train import find_trainable

torch = lazy("torch")
network = lazy("shiftscope.models.end_to_end.network")

IMAGES = [0, 0, 1, 2]  # of the four questions
TARGETS = [0, 2, 1, -1]  # the last is outside the vocabulary: it teaches nothing
SCORES = np.array(  # [question, image, answer]
    [
        [[2.0, 0.5, -1.0], [0.2, 1.1, -0.4], [-0.7, 0.0, 0.9]],
        [[0.0, 1.0, 0.3], [1.3, -0.8, 0.6], [0.4, 0.4, -1.2]],
        [[-0.5, 0.1, 0.8], [0.7, 1.9, -0.3], [1.5, -1.1, 0.0]],
        [[1.0, 1.0, 1.0], [2.5, 0.0, 0.0], [0.0, 3.0, 0.0]],
    ]
)
JOINT = np.array([[0.5, -1.0], [1.5, 0.3], [-0.4, 0.8], [2.0, 2.0]])
QUESTIONS = np.array([[1.0, -0.5], [0.2, 0.9], [-1.1, 0.4], [3.0, 3.0]])
BIAS = np.array([[0.7, 0.2, 0.1], [0.1, 0.6, 0.3], [0.0, 1.0, 0.0], [0.5, 0.25, 0.25]])
HARD = np.array([[1, 0, 0], [0, 0, 1], [0, 1, 0], [0, 0, 0]], float)
AGREED = np.array([[1, 1 / 3, 0], [0, 2 / 3, 1], [0, 2 / 3, 0], [0, 0, 0]])  # min(1, annotators who say so / 3)
FORMS = ("", "softmax", "sigmoid")  # without a setting, the one that a method was published with


def build_answer_table(objective):
    class AnswerTable(torch.nn.Module):
        """What it says is fixed; it keeps which images it was asked about."""

        joint_size = question_size = 2

        def __init__(self):
            super().__init__()
            self.asked = []

        def read_states(self, batch):
            images = batch.images[:, 0]
            self.asked.append(images.tolist())
            states = SCORES[batch.words[:, 0].numpy(), images.numpy()], JOINT, QUESTIONS
            return network.AnswerStates(*(torch.tensor(state, dtype=torch.float32) for state in states))

    class Config:
        answers = ("red", "blue", "green")

    module = AnswerTable()
    if (head := objective.build_head(module, Config)) is not None:
        module.add_module("objective", head)
        for name, weight in head.named_parameters():
            if name != "smoothing":  # which begins where its authors' does
                known = np.cos(1.0 + np.arange(weight.numel()))
                weight.data = torch.tensor(known, dtype=torch.float32).reshape(weight.shape)
    return module


def compute_loss(method, loss="", settings=(), right=HARD, paired=True):
    """The form of the loss, the loss and its terms, and the network, which knows what it was asked."""
    chosen = dict(settings) | ({"loss": loss} if loss else {})
    stage = find_trainable(f"updn+{method}").configure(chosen).stages[-1]
    module = build_answer_table(stage.objective)
    batch = network.AnswerBatch(
        words=torch.arange(4)[:, None],
        lengths=torch.ones(4, dtype=torch.int64),
        images=torch.tensor(IMAGES)[:, None],
        targets=torch.tensor(TARGETS),
        image_of=torch.tensor(IMAGES) if paired else None,
        bias=torch.tensor(BIAS, dtype=torch.float32),
        agreement=None if right is HARD else torch.tensor(right, dtype=torch.float32),
    )
    total, terms = stage.loss(module, batch)
    return stage.answer_loss, total.item(), {name: term.item() for name, term in terms.items()}, module


def squash(scores):
    return 1 / (1 + np.exp(-scores))


def soften(scores):
    powers = np.exp(scores)
    return powers / powers.sum(-1, keepdims=True)


def share(right):
    return right / np.maximum(right.sum(-1, keepdims=True), 1e-9)


def score_each(scores, right, form):
    """[question] its loss L."""
    if form == "softmax":
        return -(share(right) * np.log(soften(scores))).sum(-1)
    chances = squash(scores)
    return -(right * np.log(chances) + (1 - right) * np.log(1 - chances)).sum(-1)


def average(values):
    return values[np.array(TARGETS) >= 0].mean()


def find_scores(images):
    return SCORES[np.arange(4), images]


def apply_layers(linear, numbers):
    """The maps of a head with a ReLU between them."""
    for k, layer in enumerate(linear):
        weight, bias = (one.detach().double().numpy() for one in (layer.weight, layer.bias))
        numbers = np.maximum(numbers, 0) if k else numbers
        numbers = numbers @ weight.T + bias
    return numbers


def read_branch(module):
    """[question, answer] what three layers say to the question's state."""
    layers = [layer for layer in module.objective.scores if isinstance(layer, torch.nn.Linear)]
    assert len(layers) == 3
    return apply_layers(layers, QUESTIONS)


@pytest.mark.parametrize("right", [HARD, AGREED])
@pytest.mark.parametrize("loss", FORMS)
def test_rubi_is_the_loss_of_masked_scores_and_that_of_the_question(loss, right):
    form, found, terms, module = compute_loss("rubi", loss, right=right)
    assert form == (loss or "softmax")
    mask = read_branch(module)
    masked = average(score_each(find_scores(IMAGES) * squash(mask), right, form))
    question = average(score_each(apply_layers([module.objective.answer], mask), right, form))
    assert terms == pytest.approx({"answer": masked, "question": question}, rel=1e-5)
    assert found == pytest.approx(masked + question, rel=1e-5)


@pytest.mark.parametrize("right", [HARD, AGREED])
@pytest.mark.parametrize("loss", FORMS)
@pytest.mark.parametrize("gamma", [1, 5])
def test_lpf_weighs_each_loss_and_adds_that_of_the_question(gamma, loss, right):
    settings = [("gamma", "5")] if gamma == 5 else []  # 1 is the default
    form, found, terms, module = compute_loss("lpf", loss, settings, right)
    assert form == (loss or "softmax")
    prior = read_branch(module)
    alpha = (share(right) * (soften(prior) if form == "softmax" else squash(prior))).sum(-1)
    weighed = average((1 - alpha) ** gamma * score_each(find_scores(IMAGES), right, form))
    question = average(score_each(prior, right, form))
    assert terms == pytest.approx({"answer": weighed, "question": question}, rel=1e-5)
    assert found == pytest.approx(weighed + question, rel=1e-5)


@pytest.mark.parametrize("right", [HARD, AGREED])
@pytest.mark.parametrize("loss", FORMS)
@pytest.mark.parametrize("method", ["lmh", "lmh_l", "lmh_v"])
def test_lmh_is_the_loss_of_the_mixture_and_its_entropy(method, loss, right):
    form, found, terms, module = compute_loss(method, loss, right=right)
    assert form == (loss or "sigmoid")
    factor = np.log(1 + np.exp(apply_layers([module.objective.factor], JOINT)))  # [question, 1] softplus
    added = squash(-1.0)
    if form == "softmax":
        bias = (BIAS + added) / (BIAS + added).sum(-1, keepdims=True)
        mixed = np.log(soften(find_scores(IMAGES))) + factor * np.log(bias)
        alone = soften(factor * np.log(bias))
        entropies = -(alone * np.log(alone)).sum(-1)
    else:
        odds = factor * (np.log(BIAS + added) - np.log(1 - BIAS + added))
        mixed, alone = find_scores(IMAGES) + odds, squash(odds)
        entropies = -(alone * np.log(alone) + (1 - alone) * np.log(1 - alone)).mean(-1)
    answer, entropy = average(score_each(mixed, right, form)), average(entropies)
    assert terms == pytest.approx({"answer": answer, "entropy": entropy}, rel=1e-5)
    assert found == pytest.approx(answer + 0.36 * entropy, rel=1e-5)


@pytest.mark.parametrize("right", [HARD, AGREED])
@pytest.mark.parametrize("loss", FORMS)
def test_ssl_adds_what_the_true_answer_is_given_beside_other_images(loss, right):
    counted = set()
    for seed in range(8):
        torch.manual_seed(seed)
        form, found, terms, module = compute_loss("ssl", loss, right=right)
        assert form == (loss or "sigmoid")
        own, others = module.asked
        assert own == IMAGES and sorted(others) == sorted(IMAGES)  # each image once
        pairs = [k for k in range(4) if TARGETS[k] >= 0 and others[k] != IMAGES[k]]
        given = soften(find_scores(others))
        irrelevant = np.mean([given[k, TARGETS[k]] for k in pairs]) if pairs else 0.0
        answer = average(score_each(find_scores(IMAGES), right, form))
        assert terms == pytest.approx({"answer": answer, "irrelevant": irrelevant}, rel=1e-5)
        assert found == pytest.approx(answer + 3 * irrelevant, rel=1e-5)
        counted.add(len(pairs))
    assert len(counted) > 1 and max(counted) > 1  # some pairs were left out, and not all


@pytest.mark.parametrize("loss", FORMS)
def test_ssl_is_its_backbone_before_pairs_begin(loss):
    form, found, terms, module = compute_loss("ssl", loss, paired=False)
    assert found == pytest.approx(average(score_each(find_scores(IMAGES), HARD, form)), rel=1e-5)
    assert terms["irrelevant"] == 0 and module.asked == [IMAGES]
