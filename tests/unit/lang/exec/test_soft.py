"""Soft execution: the rules on beliefs small enough to work out by hand."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from random_programs import generate_random_program
from shiftscope.lang.exec.exact import Undefined, execute
from shiftscope.lang.exec.packed import PACKED_OPS
from shiftscope.lang.exec.soft import SoftLowering, execute_soft, trace_programs
from shiftscope.lang.execution_world import PAPER, ExecutionWorld, SoftRules
from shiftscope.lang.op import all_ops
from shiftscope.lang.program import ProgramError
from shiftscope.lang.scene_posterior import ScenePosterior, build_certain_posterior
from shiftscope.lang.text import format_program, parse_program
from shiftscope.rng import derive
from shiftscope.scene_table import pack_scenes
from shiftscope.schema import Attribute, Schema
from shiftscope.schemas import clevr, superclevr
from toy import THREE_AND_ONE, TRAFFIC
from worlds import random_scene

COLOR = Attribute("color", ("red", "green", "blue"), (("warm", ("red", "green")),))
SIZE = Attribute("size", ("small", "large"))
PAINT = Attribute("color", ("red", "green", "blue"))
NAME = Attribute("name", ("door", "wheel"))
TINY = Schema("tiny", (SIZE, COLOR), (PAINT, NAME), ("left", "right", "front", "behind"))
SIDEWAYS = 1 / (1 + np.exp(-0.02 * (100 + 20)))  # 100 pixels on the right side: 0.9168
WRONG_WAY = 1 / (1 + np.exp(-0.02 * (-100 + 20)))  # 0.1680


def believed(**changes) -> ScenePosterior:
    """Three objects, 100 pixels from each other, the last not detected; the first has two parts."""
    made = ScenePosterior(
        schema=TINY,
        size=(640, 480),
        exists=np.array([[0.9, 0.6, 0.4]], np.float32),
        attributes=(
            np.array([[[0.8, 0.2], [0.1, 0.9], [1, 0]]], np.float32),
            np.array([[[0.9, 0.1, 0.0], [0.2, 0.3, 0.5], [1, 0, 0]]], np.float32),
        ),
        boxes=np.array([[[90, 100, 20, 20], [180, 100, 40, 20], [10, 10, 5, 5]]], np.float32),
        part_exists=np.array([[0.8, 0.9, 0.3, 1.0]], np.float32),
        part_owner=np.array([[0, 0, 0, 2]]),
        part_attributes=(
            np.array([[[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [1, 0, 0], [1, 0, 0]]], np.float32),
            np.array([[[0.9, 0.1], [0.4, 0.6], [1, 0], [1, 0]]], np.float32),
        ),
    )
    return replace(made, **changes)


def last(text: str, rules: SoftRules = PAPER):
    return trace_programs([parse_program(text)], believed(), [0], rules)[0][-1]


@pytest.mark.parametrize(
    ("text", "members"),
    [
        ("scene()", (1, 1, 0)),
        ("filter(scene(), color=red)", (0.9, 0.2, 0)),
        ("filter(scene(), color=warm)", (1.0, 0.5, 0)),
        ("exclude(scene(), color=red)", (0.1, 0.8, 0)),
        ("filter(filter(scene(), color=red), size=small)", (0.72, 0.02, 0)),
        ("unique(filter(scene(), color=red))", (0.9, 0, 0)),
        ("relate(unique(filter(scene(), color=red)), right)", (0, SIDEWAYS, 0)),
        ("relate(unique(filter(scene(), color=red)), left)", (0, WRONG_WAY, 0)),
        ("relate(unique(filter(scene(), color=red)), front)", (0, 1 / (1 + np.exp(-0.4)), 0)),
        ("related(filter(scene(), color=red), right)", (0.2 * WRONG_WAY, 0.9 * SIDEWAYS, 0)),
        ("related(filter(scene(), color=red), right, object)", (0.2 * SIDEWAYS, 0.9 * WRONG_WAY, 0)),
        ("same(unique(filter(scene(), color=red)), size)", (0, 0.26 / np.sqrt(0.68 * 0.82), 0)),
        ("intersect(filter(scene(), color=red), filter(scene(), size=small))", (0.72, 0.02, 0)),
        ("union(filter(scene(), color=red), filter(scene(), size=small))", (0.98, 0.28, 0)),
        ("parts(filter(scene(), color=red))", (0.9, 0.9, 0, 0)),
        ("filter(parts(scene()), name=door)", (0.9, 0.4, 0, 0)),
        ("owners(filter(parts(scene()), color=green))", (0.8, 0, 0)),
        ("parts(unique(filter(scene(), color=red)))", (0.9, 0.9, 0, 0)),
    ],
)
def test_a_set_by_its_rule(text, members):
    assert last(text).members == pytest.approx(members, abs=1e-6)


@pytest.mark.parametrize(
    ("text", "value", "belief"),
    [
        ("count(scene())", 2, 1.0),
        ("count(filter(scene(), color=red))", 1, 0.9 * 0.8),
        ("exist(filter(scene(), color=blue))", False, 0.5),
        ("exist(filter(scene(), color=red))", True, 1 - 0.1 * 0.8),
        ("query(unique(filter(scene(), color=red)), size)", "small", 0.9 * 0.8),
        ("query(unique(filter(scene(), size=large)), color)", "blue", 0.9 * 0.5),
        ("verify(unique(filter(scene(), size=large)), color=warm)", False, 0.9 * 0.5),
        ("choose(unique(filter(scene(), size=large)), color, red, green)", "green", 0.9 * 0.6),
        ("equal(query(unique(filter(scene(), size=large)), color), query(unique(filter(scene(), size=small)), color))", False, 0.45 * 0.72),
        ("equal(unique(filter(scene(), size=large)), unique(filter(scene(), color=blue)))", True, 0.45),
        ("less(count(filter(scene(), color=red)), count(scene()))", True, 0.72),
        ("greater(count(scene()), 1)", True, 1.0),
        ("at_least(2, count(scene()))", True, 1.0),
        ("at_most(count(scene()), 1)", False, 1.0),
        ("and(exist(scene()), exist(filter(scene(), color=red)))", True, 0.92),
        ("or(exist(filter(scene(), color=blue)), exist(scene()))", True, 0.5),
        ("not(exist(filter(scene(), color=red)))", False, 0.92),
        ("query(unique(filter(parts(scene()), name=wheel)), color)", "green", 0.6 * 0.8),
        ("count(filter(parts(scene()), name=door))", 1, 0.9 * 0.6),
    ],
)  # fmt: skip
def test_an_answer_by_its_rule(text, value, belief):
    found = last(text)
    assert (found.value, type(found.value)) == (value, type(value))
    assert found.confidence == pytest.approx(belief, abs=1e-6)
    answers = execute_soft([parse_program(text)], believed(), [0])
    assert answers[0] == value
    assert answers.confidence[0] == pytest.approx(belief, abs=1e-6)


def test_numbers_of_the_rules_are_chosen():
    text = "relate(unique(filter(scene(), color=red)), right)"
    sharp = 1 / (1 + np.exp(-0.1 * 100))
    assert last(text, SoftRules(a=0, b=0.1)).members[1] == pytest.approx(sharp)
    assert last(text, SoftRules(referent=True)).members[1] == pytest.approx(0.9 * SIDEWAYS)
    alike = "same(unique(filter(scene(), color=red)), size)"
    assert last(alike, SoftRules(referent=True)).members[1] == pytest.approx(0.9 * last(alike).members[1])
    assert last("count(scene())", SoftRules(detected=0.7)).value == 1
    assert last("count(filter(scene(), color=blue))", SoftRules(threshold=0.4)).value == 1


def test_distances_are_those_of_an_image_of_640_by_480():
    half = replace(believed(), size=(320, 240), boxes=believed().boxes / 2)
    text = parse_program("relate(unique(filter(scene(), color=red)), right)")
    assert trace_programs([text], half, [0])[0][-1].members == pytest.approx(
        trace_programs([text], believed(), [0])[0][-1].members
    )


def test_a_set_comes_back_as_the_mask_of_what_counts():
    texts = ["filter(scene(), color=red)", "unique(filter(scene(), color=blue))", "filter(parts(scene()), name=door)"]
    answers = execute_soft([parse_program(t) for t in texts], believed(), [0, 0, 0])
    assert [answers[i] for i in range(3)] == [0b1, 0b10, 0b1]


def test_an_op_without_a_soft_meaning_is_refused_by_name(refuses):
    with refuses("node 0 (find): soft execution does not cover this op; exact does"):
        execute_soft([parse_program("count(find(dog))")], believed(), [0])
    with refuses("node 2 (remove): soft execution does not cover"):
        execute_soft([parse_program("count(remove(scene(), scene()))")], believed(), [0])


def test_a_relation_that_boxes_do_not_tell_is_refused_by_name():
    odd = replace(TINY, relations=("left", "above"))
    with pytest.raises(ProgramError, match="no relation 'above'"):
        SoftLowering(odd)([parse_program("count(relate(unique(scene()), above))")], [0])


def test_relations_need_boxes(refuses):
    blind = replace(believed(), boxes=np.full((1, 3, 4), np.nan, np.float32))
    with refuses("an object has none"):
        execute_soft([parse_program("count(relate(unique(scene()), left))")], blind, [0])


def test_a_scene_that_is_not_there_is_refused():
    with pytest.raises(ValueError, match="not in the posterior"):
        execute_soft([parse_program("count(scene())")], believed(), [1])


SOFT_OPS = tuple(sorted(name for name, op in all_ops().items() if op.soft))
WITHOUT_SIDES = tuple(o for o in SOFT_OPS if o not in ("relate", "related"))


def random_beliefs(scenes: int, seed: int) -> ScenePosterior:
    rng = derive("beliefs", seed)

    def spread(things: int, attributes) -> tuple:
        return tuple(
            rng.dirichlet(np.full(len(a.values), 0.3), (scenes, things)).astype(np.float32) for a in attributes
        )

    return ScenePosterior(
        schema=superclevr.SCHEMA,
        size=(480, 320),
        exists=rng.random((scenes, 6)).astype(np.float32),
        attributes=spread(6, superclevr.SCHEMA.attributes),
        boxes=rng.uniform(20, 200, (scenes, 6, 4)).astype(np.float32),
        part_exists=rng.random((scenes, 9)).astype(np.float32),
        part_owner=rng.integers(0, 6, (scenes, 9)),
        part_attributes=spread(9, superclevr.SCHEMA.part_attributes),
    )


def test_numpy_and_torch_agree():
    pytest.importorskip("torch")
    beliefs, rng = random_beliefs(40, 0), derive("soft programs")
    programs = [generate_random_program(rng, superclevr.SCHEMA, SOFT_OPS) for _ in range(3000)]
    rows = rng.integers(0, 40, 3000)
    ours, theirs = execute_soft(programs, beliefs, rows), execute_soft(programs, beliefs.to("cpu"), rows)
    assert np.mean(ours.value == theirs.value) > 0.999  # a tie of floats may fall either way
    assert np.quantile(np.abs(ours.confidence - theirs.confidence), 0.999) < 1e-5


def test_programs_together_answer_as_each_alone():
    beliefs, rng = random_beliefs(5, 1), derive("soft alone")
    programs = [generate_random_program(rng, superclevr.SCHEMA, SOFT_OPS) for _ in range(150)]
    rows = rng.integers(0, 5, 150)
    together = execute_soft(programs, beliefs, rows)
    for i, (program, row) in enumerate(zip(programs, rows, strict=True)):
        alone = execute_soft([program], beliefs, [row])
        assert alone[0] == together[i], format_program(program)
        assert alone.confidence[0] == pytest.approx(together.confidence[i])
        step = trace_programs([program], beliefs, [row])[0][-1]
        assert step.value == together[i] and step.confidence == pytest.approx(together.confidence[i])


@pytest.mark.parametrize("schema", [clevr.SCHEMA, superclevr.SCHEMA], ids=lambda s: s.name)
def test_certain_beliefs_give_exact_answers_where_no_side_is_asked(schema):
    ops = WITHOUT_SIDES if schema.part_attributes else tuple(o for o in WITHOUT_SIDES if o not in ("parts", "owners"))
    table = pack_scenes([random_scene(schema, k) for k in range(60)])
    worlds = [ExecutionWorld((scene,)) for scene in table]
    rng = derive("certain", schema.name)
    programs = [generate_random_program(rng, schema, ops) for _ in range(2000)]
    rows = rng.integers(0, 60, 2000)
    answers = execute_soft(programs, build_certain_posterior(table), rows)
    compared = 0
    for i, (program, row) in enumerate(zip(programs, rows, strict=True)):
        expected = execute(program, worlds[row]).answer
        if not isinstance(expected, Undefined):
            assert answers[i] == expected and type(answers[i]) is type(expected), (format_program(program), row)
            compared += 1
    assert compared > 400


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(0, 1), min_size=2, max_size=2))
def test_the_chance_of_any_is_exact_for_one_filter(red):
    """Where values are independent, as of one filter, the rule agrees with adding up all possible scenes."""
    colors = believed().attributes[1].copy()
    colors[0, :2] = [[p, 1 - p, 0] for p in red]
    beliefs = replace(believed(), attributes=(believed().attributes[0], colors))
    any_red = sum(
        np.prod([p if is_red else 1 - p for p, is_red in zip(red, scene, strict=True)])
        for scene in product((False, True), repeat=2)
        if any(scene)
    )
    found = execute_soft([parse_program("exist(filter(scene(), color=red))")], beliefs, [0])
    assert found.confidence[0] == pytest.approx(any_red if found[0] else 1 - any_red, abs=1e-5)
    assert found[0] == (max(np.float32(red)) > np.float32(0.7))


def test_soft_covers_what_packed_covers():
    assert set(SOFT_OPS) == set(PACKED_OPS)


def test_toy_scenes_are_believed_as_they_are():
    beliefs = build_certain_posterior(pack_scenes([TRAFFIC]))
    assert beliefs.part_owner.tolist() == [[0, 0, 1]]
    assert beliefs.places.tolist() == [[[-2, 0], [2, 0], [0, -2]]]
    assert beliefs.exists.tolist() == [[1, 1, 1]]
    assert build_certain_posterior(pack_scenes([THREE_AND_ONE])).part_exists.shape == (1, 0)
