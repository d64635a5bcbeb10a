"""P-NSVQA's operations as the paper's appendix E writes them, worked out here from its text alone.

Three objects k = 0, 1, 2 in an image of 640 by 480. For each operation the expected vector p is the appendix's
formula, in plain numbers; a = 20, b = 0.02, and 0.7 decides what is counted (section 4.4).
"""

import math

import numpy as np
import pytest

from shiftscope.lang.exec.soft import execute_soft, trace_programs
from shiftscope.lang.scene_posterior import ScenePosterior
from shiftscope.lang.text import parse_program
from shiftscope.schema import Attribute, Schema

A, B, THRESHOLD = 20, 0.02, 0.7
CENTRES = ((100, 300), (250, 200), (400, 330))  # x, y of each object, in pixels
RED = (0.90, 0.75, 0.05)  # P_red of each object; blue is the rest
LARGE = (0.80, 0.30, 0.95)  # P_large; small is the rest

SCHEMA = Schema(
    "three", (Attribute("size", ("small", "large")), Attribute("color", ("red", "blue"))), (),
    ("left", "right", "front", "behind"),
)  # fmt: skip
POSTERIOR = ScenePosterior(
    schema=SCHEMA,
    size=(640, 480),
    exists=np.ones((1, 3)),
    attributes=(np.array([[(1 - p, p) for p in LARGE]]), np.array([[(p, 1 - p) for p in RED]])),
    boxes=np.array([[(x - 20, y - 10, 40, 20) for x, y in CENTRES]], float),
    part_exists=np.zeros((1, 0)),
    part_owner=np.zeros((1, 0), np.int64),
    part_attributes=(),
)
REFERENT = "unique(filter(filter(scene(), color=red), size=large))"  # p = 0.72, 0.225, 0.0475: object 0


def probabilities(text):
    return trace_programs([parse_program(text)], POSTERIOR, [0])[0][-1].members


def answer(text):
    return execute_soft([parse_program(text)], POSTERIOR, [0])[0]


def logistic(offset):
    return 1 / (1 + math.exp(-B * (offset + A)))


def cosine(p, q):
    """Of two distributions over two values, given by the probability of the first."""
    return (p * q + (1 - p) * (1 - q)) / math.sqrt((p**2 + (1 - p) ** 2) * (q**2 + (1 - q) ** 2))


def test_scene_is_one_for_every_object():
    assert probabilities("scene()") == (1, 1, 1)


def test_filter_multiplies_with_the_probability_of_the_attribute():
    both = "filter(filter(scene(), color=red), size=large)"
    assert probabilities("filter(scene(), color=red)") == pytest.approx(RED)
    assert probabilities(both) == pytest.approx([0.90 * 0.80, 0.75 * 0.30, 0.05 * 0.95])


# Object 1 stands 150 pixels right of object 0 and 100 above it; object 2 300 right of it and 30 below.
@pytest.mark.parametrize(
    ("side", "one", "two"),
    [
        ("right", logistic(250 - 100), logistic(400 - 100)),  # x_k - x_i
        ("left", logistic(100 - 250), logistic(100 - 400)),  # x_i - x_k
        ("front", logistic(200 - 300), logistic(330 - 300)),  # y_k - y_i
        ("behind", logistic(300 - 200), logistic(300 - 330)),  # y_i - y_k
    ],
)
def test_relate_is_a_logistic_of_the_distance_of_centres(side, one, two):
    """And nothing else: the probability of the object that it starts from, 0.72, is not in it."""
    assert probabilities(f"relate({REFERENT}, {side})") == pytest.approx((0, one, two))


def test_relate_in_numbers():
    """1 / (1 + e^-3.4), 1 / (1 + e^-6.4)."""
    assert probabilities(f"relate({REFERENT}, right)") == pytest.approx((0, 0.967705, 0.998341), abs=1e-6)


@pytest.mark.parametrize(("attribute", "share"), [("color", RED), ("size", LARGE)])
def test_same_is_the_cosine_of_the_distributions(attribute, share):
    expected = (0, cosine(share[1], share[0]), cosine(share[2], share[0]))
    assert probabilities(f"same({REFERENT}, {attribute})") == pytest.approx(expected)


def test_intersection_and_union():
    pair = "filter(scene(), color=red), filter(scene(), size=large)"
    product = [p * q for p, q in zip(RED, LARGE, strict=True)]
    either = [1 - (1 - p) * (1 - q) for p, q in zip(RED, LARGE, strict=True)]
    assert probabilities(f"intersect({pair})") == pytest.approx(product)
    assert probabilities(f"union({pair})") == pytest.approx(either)


def test_what_is_above_the_threshold_is_counted_and_exists():
    assert [p > THRESHOLD for p in RED] == [True, True, False]
    assert answer("count(filter(scene(), color=red))") == 2
    assert answer("exist(filter(scene(), color=red))") is True
    assert answer("exist(filter(filter(scene(), color=blue), size=small))") is False  # 0.02, 0.175, 0.0475
    assert answer("count(filter(filter(scene(), color=red), size=large))") == 1  # 0.72; 0.225 and 0.0475 do not count


def test_counts_are_compared_as_counted():
    red, large = "count(filter(scene(), color=red))", "count(filter(scene(), size=large))"  # 2 and 2
    both = "count(filter(filter(scene(), color=red), size=large))"  # 1
    assert answer(f"equal({red}, {large})") is True
    assert answer(f"greater({red}, {both})") is True
    assert answer(f"less({red}, {both})") is False


def test_a_chain_starts_anew_at_the_object_that_was_found():
    """Right of the large red one, of those that are large: the logistic times P_large, 0.2903 and 0.9484."""
    text = f"filter(relate({REFERENT}, right), size=large)"
    assert probabilities(text) == pytest.approx((0, 0.967705 * 0.30, 0.998341 * 0.95), abs=1e-6)
    assert answer(f"count({text})") == 1
