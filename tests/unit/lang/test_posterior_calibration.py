"""Calibration, matching and learned relations, on beliefs whose fault is known."""

import json
from dataclasses import replace

import numpy as np
import pytest

from shiftscope.lang import posterior_calibration as spatial
from shiftscope.lang.exec.packed import execute_many
from shiftscope.lang.exec.possible_worlds import infer_answers
from shiftscope.lang.posterior_calibration import BY_PLACES, Calibration, SpatialLikelihood
from shiftscope.lang.scene_posterior import SceneMatch, ScenePosterior, build_certain_posterior, match_to_truth
from shiftscope.lang.text import parse_program
from shiftscope.rng import derive
from shiftscope.scene_table import SceneTable, pack_scenes
from shiftscope.schemas import superclevr
from toy import TRAFFIC
from worlds import random_scene

SCENES = 150
TABLE: SceneTable = pack_scenes([random_scene(superclevr.SCHEMA, k) for k in range(SCENES)])

NONE = ((1.0, 0.0), (1.0, 0.0))  # existence as the parser says


def seen(temperature: float = 1.0) -> ScenePosterior:
    """Beliefs that are right as often as they say, then made too sure (or too unsure) by a temperature."""
    rng = derive("seen", str(temperature))
    truth = build_certain_posterior(TABLE)

    def observed(p):
        hard = rng.uniform(0.3, 1.0, p.shape[:2])[..., None]
        noise = rng.dirichlet(np.ones(p.shape[-1]), p.shape[:2])
        believed = hard * p + (1 - hard) * noise  # who is believed is drawn from this belief:
        drawn = (believed.cumsum(-1) > rng.random(p.shape[:2])[..., None]).argmax(-1)
        wrong = np.take_along_axis(believed, drawn[..., None], -1)
        right = (believed * p).sum(-1, keepdims=True)
        swapped = believed.copy()
        np.put_along_axis(swapped, drawn[..., None], right, -1)
        np.put_along_axis(swapped, p.argmax(-1)[..., None], wrong, -1)
        sharp = swapped ** (1 / temperature)
        total = sharp.sum(-1, keepdims=True)
        return sharp / np.where(total > 0, total, 1) * (p.sum(-1, keepdims=True) > 0)

    boxes = rng.uniform(20, 300, (*truth.exists.shape, 4))
    return replace(
        truth,
        attributes=tuple(map(observed, truth.attributes)),
        part_attributes=tuple(map(observed, truth.part_attributes)),
        boxes=boxes,
    )


def itself(beliefs: ScenePosterior) -> SceneMatch:
    """Every row is the true thing of its number."""

    def rows(exists):
        return np.where(exists > 0, np.arange(exists.shape[1]), -1)

    return SceneMatch(rows(beliefs.exists), rows(beliefs.part_exists))


@pytest.mark.parametrize("temperature", [0.5, 1.0, 2.0])
def test_a_temperature_is_found_again(temperature):
    beliefs = seen(temperature)
    found = Calibration.fit(beliefs, TABLE, itself(beliefs))
    assert found.temperatures[1] == pytest.approx(1 / temperature, rel=0.3)
    calm = found.apply(beliefs)
    color = build_certain_posterior(TABLE).attributes[1]

    def loss(p):
        chance = (p * color).sum(-1)[color.sum(-1) > 0]
        return -np.log(np.maximum(chance, 1e-9)).mean()

    assert loss(calm.attributes[1]) <= loss(beliefs.attributes[1]) + 1e-9
    there = color.sum(-1) > 0
    assert calm.attributes[1].sum(-1)[there] == pytest.approx(np.ones(there.sum()), abs=1e-5)


def test_what_exists_is_scaled_to_how_often_it_does():
    beliefs = seen()
    rng = derive("exists")
    said = np.where(beliefs.exists > 0, rng.uniform(0.05, 0.95, beliefs.exists.shape), 0)
    odds = np.log(np.maximum(said, 1e-9) / (1 - said))
    true = rng.random(said.shape) < 1 / (1 + np.exp(-(2 * odds - 1)))  # slope 2, offset −1
    match_ = replace(itself(beliefs), objects=np.where((said > 0) & true, itself(beliefs).objects, -1))
    found = Calibration.fit(replace(beliefs, exists=said), TABLE, match_)
    assert found.exists == pytest.approx((2, -1), abs=0.5)
    scaled = found.apply(replace(beliefs, exists=said)).exists
    assert ((scaled > 0) == (said > 0)).all()
    assert (np.argsort(scaled[0][said[0] > 0]) == np.argsort(said[0][said[0] > 0])).all()


def test_a_calibration_that_does_nothing_changes_nothing():
    beliefs = seen()
    same = Calibration.identity(superclevr.SCHEMA).apply(beliefs)
    assert all(a is b for a, b in zip(same.attributes, beliefs.attributes, strict=True))
    assert same.exists is beliefs.exists


def test_too_few_things_teach_nothing():
    table = pack_scenes([TRAFFIC])
    beliefs = build_certain_posterior(table)
    assert Calibration.fit(beliefs, table, itself(beliefs)) == Calibration.identity(superclevr.SCHEMA)


def test_how_often_values_occur_is_counted():
    beliefs = seen()
    found = Calibration.fit(beliefs, TABLE, itself(beliefs))
    color = build_certain_posterior(TABLE).attributes[1].sum((0, 1)) + 0.5
    assert found.shares[1] == pytest.approx(color / color.sum())
    name = build_certain_posterior(TABLE).part_attributes[-1].sum((0, 1)) + 0.5
    assert found.part_shares[-1] == pytest.approx(name / name.sum())
    assert found.matches_schema(superclevr.SCHEMA)
    assert not replace(found, part_shares=found.shares).matches_schema(superclevr.SCHEMA)


def test_calibrations_and_likelihoods_are_written_and_read():
    beliefs = seen()
    fitted = Calibration.fit(beliefs, TABLE, itself(beliefs))
    written = json.loads(json.dumps(fitted.to_json()))
    assert Calibration.from_json(written) == fitted
    del written["shares"], written["part_shares"]  # which older models have not
    assert Calibration.from_json(written) == replace(fitted, shares=(), part_shares=())
    relation = SpatialLikelihood("places", ((1.0, 2.0), (3.0, 4.0)), (0.1, 0.2))
    assert SpatialLikelihood.from_json(json.loads(json.dumps(relation.to_json()))) == relation


def test_numbers_that_can_be_no_calibration_or_likelihood_are_refused(refuses):
    assert Calibration.identity(superclevr.SCHEMA).matches_schema(superclevr.SCHEMA)
    assert not Calibration((1.0,), (), *NONE).matches_schema(superclevr.SCHEMA)
    for wrong in ((0.0,), (float("nan"),), (-1.0,)):
        with refuses("its temperatures are above 0"):
            Calibration(wrong, (), *NONE)
    with refuses("finite numbers"):
        Calibration((1.0,), (), (float("inf"), 0.0), (1.0, 0.0))
    for wrong in ((1.0, 0.0), (0.5, 0.6), (float("nan"), 0.5)):
        with refuses("above 0 and add up to 1"):
            Calibration((1.0,), (), *NONE, shares=(wrong,))
    with refuses("not from 'smell'"):
        SpatialLikelihood("smell", ((1.0, 0.0), (0.0, 1.0)), (0.1, 0.1))
    with refuses("2 margins and 2 × 6 weights"):
        SpatialLikelihood("boxes", ((1.0, 0.0), (0.0, 1.0)), (0.1, 0.1))
    with refuses("finite numbers"):
        SpatialLikelihood("places", ((1.0, float("nan")), (0.0, 1.0)), (0.1, 0.1))


def test_calibration_is_the_same_in_torch():
    pytest.importorskip("torch")
    beliefs = seen(2.0)
    calibration = replace(Calibration.fit(beliefs, TABLE, itself(beliefs)), exists=(1.5, 0.3))
    ours, theirs = calibration.apply(beliefs), calibration.apply(beliefs.to("cpu")).to_numpy()
    for a, b in zip((ours.exists, *ours.attributes), (theirs.exists, *theirs.attributes), strict=True):
        assert a == pytest.approx(b, abs=1e-6)


def test_objects_are_matched_by_boxes_and_parts_by_names():
    truth = pack_scenes([replace(TRAFFIC, objects=tuple(
        replace(o, box=(100.0 * k, 50.0, 40.0, 40.0)) for k, o in enumerate(TRAFFIC.objects)
    ))])  # fmt: skip
    beliefs = build_certain_posterior(truth)
    order = [2, 0, 1]
    shuffled = replace(
        beliefs,
        boxes=beliefs.boxes[:, order] + np.float32(3),
        part_owner=np.array([[1, 1, 2]]),
        part_attributes=tuple(p[:, [1, 0, 2]] for p in beliefs.part_attributes),
    )
    found = match_to_truth(shuffled, truth)
    assert found.objects.tolist() == [order]
    assert found.parts.tolist() == [[1, 0, 2]]
    away = match_to_truth(replace(shuffled, boxes=shuffled.boxes + np.float32(500)), truth)
    assert away.objects.tolist() == [[-1, -1, -1]] and away.parts.tolist() == [[-1, -1, -1]]


@pytest.mark.parametrize("noise", [0.02, 0.3])
def test_relations_are_learned_from_noisy_places(noise):
    truth = build_certain_posterior(TABLE)
    rng = derive("places", str(noise))
    beliefs = replace(truth, places=truth.places + rng.normal(0, noise, truth.places.shape))
    learned = spatial.fit_spatial_likelihood(beliefs, TABLE, itself(beliefs).objects)
    assert learned.source == "places"
    assert abs(learned.weights[0][1] / learned.weights[0][0]) < 0.1
    assert learned.margins[0] / learned.weights[0][0] == pytest.approx(0.2, abs=0.05)

    def loss(likelihood):
        p, true = likelihood.compute_probabilities(beliefs), BY_PLACES.compute_probabilities(truth) > 0.5
        pairs = (truth.exists[:, :, None] * truth.exists[:, None] > 0)[:, None] & ~np.eye(10, dtype=bool)
        pairs = np.broadcast_to(pairs, p.shape)
        return -np.log(np.clip(np.where(true, p, 1 - p)[pairs], 1e-9, 1)).mean()

    assert loss(learned) < loss(BY_PLACES)
    sharper = replace(learned, weights=tuple(tuple(2 * w for w in row) for row in learned.weights), margins=tuple(2 * m for m in learned.margins))  # fmt: skip
    assert loss(learned) < loss(sharper)


def test_relations_are_learned_from_boxes_where_no_place_is_known():
    truth = build_certain_posterior(TABLE)
    x, y = truth.places[..., 0], truth.places[..., 1]
    boxes = np.stack([240 + 30 * x, 160 + 20 * y, np.full_like(x, 20), np.full_like(x, 20)], -1)
    beliefs = replace(truth, places=None, boxes=boxes, size=(480, 320))
    learned = spatial.fit_spatial_likelihood(beliefs, TABLE, itself(beliefs).objects)
    assert learned.source == "boxes"
    p, true = learned.compute_probabilities(beliefs), BY_PLACES.compute_probabilities(truth)
    there = truth.exists[:, :, None] * truth.exists[:, None] > 0
    assert np.mean((p > 0.5)[:, 0][there] == (true > 0.5)[:, 0][there]) > 0.99
    assert np.mean((p > 0.5)[:, 1][there] == (true > 0.5)[:, 1][there]) > 0.99


def test_learned_relations_answer_a_question():
    truth = build_certain_posterior(TABLE)
    beliefs = replace(truth, boxes=np.zeros_like(truth.boxes))
    learned = spatial.fit_spatial_likelihood(beliefs, TABLE, itself(beliefs).objects)
    rows = [k for k in range(SCENES) if TABLE.everything[k]]
    programs = [parse_program("count(related(scene(), right))")] * len(rows)
    found = infer_answers(programs, beliefs, rows, relation=learned)
    expected = execute_many(programs, TABLE, rows)
    assert np.mean([found[i] == expected[i] for i in range(len(rows))]) > 0.97


def test_places_that_are_not_there_are_refused(refuses):
    beliefs = replace(build_certain_posterior(TABLE), places=None)
    with refuses("this posterior has none"):
        BY_PLACES.compute_probabilities(beliefs)
    with refuses("not from 'smell'"):
        spatial.compute_spatial_features(beliefs, "smell")
    with refuses("no two objects were matched"):
        spatial.fit_spatial_likelihood(build_certain_posterior(TABLE), TABLE, np.full(beliefs.exists.shape, -1))
