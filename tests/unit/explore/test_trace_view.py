"""What the steps of a program light up."""

import pytest

from shiftscope.explore.trace_view import ImageLight, build_trace
from shiftscope.lang.program import ProgramError
from shiftscope.lang.text import parse_program
from toy import THREE_AND_ONE, TRAFFIC, scene, thing


def lights(program, *scenes):
    trace = build_trace(parse_program(program), scenes)
    return trace, {step.text: step for step in trace.steps}


def test_a_set_lights_its_objects_and_a_count_lights_what_it_counts():
    trace, steps = lights("count(filter(filter(scene(), color=red), shape=sphere))", THREE_AND_ONE)
    assert trace.answer == 1
    assert steps["filter(color=red)"].lights == (ImageLight(0, (0, 2)),)
    assert steps["filter(shape=sphere)"].lights == (ImageLight(0, (2,)),)
    assert (steps["count()"].lights, steps["count()"].reads) == ((ImageLight(0, (2,)),), True)
    assert not steps["scene()"].reads


def test_a_comparison_lights_all_that_it_rests_on():
    _, steps = lights("greater(count(filter(scene(), color=red)), count(filter(scene(), color=blue)))", THREE_AND_ONE)
    assert steps["greater()"].lights == (ImageLight(0, (0, 1, 2)),)


def test_nothing_found_is_not_nothing_looked_at():
    _, steps = lights("equal(count(filter(scene(), color=brown)), 2)", THREE_AND_ONE)
    assert steps["count()"].lights == steps["filter(color=brown)"].lights == ()
    assert steps["2"].lights is None


def test_parts_light_by_their_numbers_in_the_scene():
    _, steps = lights("count(filter(parts(scene()), color=blue))", TRAFFIC)
    assert steps["filter(color=blue)"].lights == (ImageLight(0, parts=(1, 3)),)  # both roofs


def test_objects_light_in_their_own_image():
    second = scene(thing("small red rubber cube"), name="second")
    _, steps = lights("count(filter(scene(), color=red))", THREE_AND_ONE, second)
    assert steps["filter(color=red)"].lights == (ImageLight(0, (0, 2)), ImageLight(1, (0,)))


def test_the_outcome_of_an_action_is_a_stage_of_its_own():
    trace, steps = lights("count(filter(change(filter(scene(), shape=cube), color=blue), color=blue))", THREE_AND_ONE)
    assert trace.answer == 2
    assert [len(stage) for stage in trace.stages] == [1, 1]
    assert trace.stages[1][0].objects[0].values("color") == ("blue",)
    assert (steps["filter(shape=cube)"].stage, steps["filter(color=blue)"].stage) == (0, 1)
    assert steps["filter(color=blue)"].lights == (ImageLight(0, (0, 1)),)


def test_a_quantifier_lights_what_each_of_its_members_lights():
    _, steps = lights("all(filter(scene(), color=red), verify(it(), material=rubber))", THREE_AND_ONE)
    assert steps["it()"].lights == (ImageLight(0, (0, 2)),)


def test_an_undefined_answer_says_why():
    trace, _ = lights("query(unique(filter(scene(), color=red)), shape)", THREE_AND_ONE)
    assert trace.answer is None
    assert trace.spelled.startswith("undefined (")
    assert lights("filter(scene(), color=red)", THREE_AND_ONE)[0].undefined == "the program gives Objects, no answer"


def test_a_word_that_the_scene_does_not_know_is_refused():
    with pytest.raises(ProgramError):
        lights("count(filter(scene(), color=mauve))", THREE_AND_ONE)
