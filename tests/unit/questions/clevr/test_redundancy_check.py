"""The checks of redundancy find what could be dropped, what could be said, and what should not have been."""

from dataclasses import replace

import pytest

from shiftscope.lang.exec.exact import execute
from shiftscope.lang.execution_world import ExecutionWorld
from shiftscope.lang.program import Program
from shiftscope.lang.text import format_program, parse_program
from shiftscope.question import Question
from shiftscope.questions.clevr.generator import generate_questions
from shiftscope.questions.clevr.redundancy.check import check_minimal, check_saturated, check_twin
from shiftscope.questions.clevr.redundancy.modifiers import drop_all, drop_element, list_relations, list_words
from shiftscope.questions.clevr.redundancy.program_run import ProgramRun
from shiftscope.questions.clevr.redundancy.program_tree import (
    TreeStep,
    build_tree,
    gives_itself_away,
    list_steps,
    list_suspects,
    write_program,
)
from shiftscope.questions.clevr.template_sets import builtin_templates
from shiftscope.scene import FREE, Object, Relation, Scene
from shiftscope.schemas import clevr, superclevr
from shiftscope.shift.redundancy import question_breaches
from toy import THREE_AND_ONE, scene, thing
from worlds import random_scene


def read_tree(program: Program, world: ExecutionWorld) -> TreeStep:
    return build_tree(program, execute(program, world).values)


def question(program: str, where: Scene = THREE_AND_ONE, answer: object = None) -> Question:
    found = execute(parse_program(program), where).answer if answer is None else answer
    return Question("q", "?", (where.id,), parse_program(program), found)


BLUE = "filter(scene(), color=blue)"


@pytest.mark.parametrize(
    ("program", "complaints"),
    [
        (f"query(unique({BLUE}), size)", ()),
        (f"query(unique(filter({BLUE}, shape=sphere)), size)", ("node 2 (filter shape sphere) could be dropped",)),
        (  # either will do, but not both at once: minimal is about single elements
            "query(unique(filter(filter(scene(), material=rubber), shape=cube)), size)",
            ("node 1 (filter material rubber) could be dropped",),
        ),
        (
            f"query(unique(filter(relate(unique({BLUE}), left), shape=cube)), size)",
            ("node 3 (relate left) could be dropped", "node 4 (filter shape cube) could be dropped"),
        ),
        (
            f"exist(filter(filter(relate(unique({BLUE}), left), color=red), size=small))",
            ("node 4 (filter color red) could be dropped", "node 5 (filter size small) could be dropped"),
        ),
        ("exist(filter(scene(), color=red))", ()),
        (  # no cubes but the one: "cubes left of the cube" would be none by its words alone
            "count(filter(relate(unique(filter(filter(scene(), color=red), shape=cube)), left), shape=cube))",
            ("node 5 (filter shape cube) could be dropped",),
        ),
        (  # of two spheres the small one is meant
            "query(unique(filter(same(unique(filter(scene(), shape=cube)), size), shape=sphere)), color)",
            ("node 4 (filter shape sphere) could be dropped",),
        ),
        (  # "the green one that is as large as the blue one"
            f"query(unique(filter(same(unique({BLUE}), size), color=green)), shape)",
            ("node 3 (same size) could be dropped", "node 4 (filter color green) could be dropped"),
        ),
        (  # where the question is about it, it is no element
            f"count(filter(same(unique({BLUE}), size), color=green))",
            ("node 4 (filter color green) could be dropped",),
        ),
    ],
)
def test_what_could_be_dropped(program, complaints):
    assert check_minimal(THREE_AND_ONE, question(program)) == complaints


def test_a_word_that_every_thing_fits_is_still_needed_to_say_something():
    where = scene(thing("small red rubber cube", -2), thing("small red metal cube", 2))
    assert check_minimal(where, question("exist(filter(scene(), shape=cube))", where)) == ()
    dropped = ("node 1 (filter shape cube) could be dropped",)
    assert check_minimal(where, question("count(filter(scene(), shape=cube))", where)) == dropped


FULL = "filter(filter(filter(filter(scene(), size=large), color=green), material=rubber), shape=cylinder)"
CUBE = "filter(filter(filter(filter(scene(), size=small), color=red), material=rubber), shape=cube)"
RED_SPHERE = "filter(filter(filter(filter(scene(), size=small), color=red), material=metal), shape=sphere)"


def cross(*relations: tuple[str, str]) -> str:
    """What stands in all of these relations: (description, relation) each."""
    sets = [f"relate(unique({thing}), {relation})" for thing, relation in relations]
    while len(sets) > 1:
        sets[:2] = [f"intersect({sets[0]}, {sets[1]})"]
    return sets[0]


TO_BLUE = ((FULL, "front"), (FULL, "left"), (CUBE, "right"), (RED_SPHERE, "left"))  # all that hold of the blue sphere
ALL_OF_BLUE = cross(*TO_BLUE)


def test_what_could_be_said():
    base = question(f"query(unique({BLUE}), size)")
    found = check_saturated(THREE_AND_ONE, base, base)
    assert found[:2] == ("node 1: material metal could be said", "node 1: shape sphere could be said")
    assert {c for c in found if "object" in c} == {
        *("node 1: right of object 0 could be said", "node 1: left of object 2 could be said"),
        *("node 1: left of object 3 could be said", "node 1: front of object 3 could be said"),
    }
    full = f"filter(filter(filter({ALL_OF_BLUE}, color=blue), material=metal), shape=sphere)"
    assert check_saturated(THREE_AND_ONE, question(f"query(unique({full}), size)"), base) == ()


def test_what_should_not_have_been_said():
    base = question(f"query(unique({BLUE}), size)")
    words = "size=large), color=blue), material=metal), shape=sphere)"
    asked = f"filter(filter(filter(filter({ALL_OF_BLUE}, {words}"
    assert check_saturated(THREE_AND_ONE, question(f"query(unique({asked}), size)"), base) == (
        "size is asked or compared",
    )
    bare = cross(("filter(scene(), color=green)", "front"), *TO_BLUE[1:])
    said = question(f"query(unique(filter(filter(filter({bare}, {words[12:]}), size)")
    (complaint,) = check_saturated(THREE_AND_ONE, said, base)
    assert complaint.endswith("not described in full")
    circle = cross((f"filter({cross((CUBE, 'right'))}, color=green)", "front"), *TO_BLUE[1:])
    said = question(f"query(unique(filter(filter(filter({circle}, {words[12:]}), size)")
    complaints = [c.partition(": ")[2] for c in check_saturated(THREE_AND_ONE, said, base)]
    assert complaints == ["not described in full", "a relation of its own"]


def test_a_relation_to_something_that_is_asked_about():
    green = "query(unique(filter(scene(), color=green)), size)"
    base = question(f"equal(query(unique({BLUE}), size), {green})")
    told = f"equal(query(unique(filter(relate(unique({FULL}), front), color=blue)), size), {green})"
    found = [c.partition(": ")[2] for c in check_saturated(THREE_AND_ONE, question(told), base)]
    assert "a relation to something that the question speaks of" in found


def test_a_relation_to_one_of_what_is_counted():
    """Left of the sphere that is right of the cube is at least the cube."""
    where = scene(thing("small red rubber cube", -2, -2), thing("large blue metal sphere", 0))
    base = question(f"count(relate(unique({BLUE}), left))", where)
    words = "size=large), color=blue), material=metal), shape=sphere)"
    sphere = f"filter(filter(filter(filter(relate(unique({CUBE}), behind), {words}"
    program = (
        "count(filter(filter(filter(filter("
        f"relate(unique({sphere}), left), size=small), color=red), material=rubber), shape=cube))"
    )
    named, related = check_saturated(where, question(program, where), base)
    assert named.endswith("it is something that the question singles out already")
    assert related.endswith("a relation to something that the question speaks of")


def test_anything_else_stays_without_a_description():
    base = question(f"exist(same(unique({BLUE}), material))")
    more = question(f"exist(filter(same(unique({BLUE}), material), shape=sphere))")
    assert "node 4: shape is said where nothing was" in check_saturated(THREE_AND_ONE, more, base)
    assert not any("node 3" in complaint for complaint in check_saturated(THREE_AND_ONE, base, base))


@pytest.mark.parametrize(
    ("words", "fine"),
    [
        ("size=small), color=green), material=rubber), shape=cube)", True),  # like the one left of the blue
        ("size=small), color=green), material=rubber)", False),
        ("size=large), color=green), material=metal), shape=cube)", False),
        ("color=green)", False),
    ],
)
def test_nothing_is_described_like_something(words, fine):
    of_blue = "size=large), color=blue), material=metal), shape=sphere)"
    blue = f"filter(filter(filter(filter({ALL_OF_BLUE}, {of_blue}"
    base = question(f"exist(filter(relate(unique({BLUE}), left), color=green))")
    filters = "filter(" * words.count("=")
    of_cube = cross((blue, "left"), (RED_SPHERE, "left"), (FULL, "left"), (FULL, "front"))
    more = question(f"exist({filters}{of_cube}, {words})")
    said = [c for c in check_saturated(THREE_AND_ONE, more, base) if "like no set" in c]
    assert (said == []) is fine


@pytest.mark.parametrize(
    ("program", "honest"),
    [
        ("exist(filter(relate(unique(filter(relate(unique({}), right), color=blue)), left), shape=cube))", False),
        ("exist(filter(relate(unique(filter(relate(unique({}), behind), color=blue)), left), shape=cube))", True),
        ("exist(filter(relate(unique(filter(relate(unique({}), right), color=blue)), left), size=small))", True),
        ("count(filter(relate(unique(filter(relate(unique({}), right), color=blue)), left), shape=cube))", True),
    ],
)
def test_a_question_whose_thing_is_spoken_of_is_none(program, honest):
    """What the blue one is right of is left of it."""
    where = scene(thing("small red rubber cube", -2, -2), thing("large blue metal sphere", 0))
    parsed = parse_program(program.format("filter(scene(), shape=cube)"))
    assert ProgramRun(parsed, ExecutionWorld((where,))).is_a_question() is honest
    last = read_tree(parsed, ExecutionWorld((where,)))
    assert gives_itself_away(list_suspects(last), where.schema) is not honest


def test_a_twin_is_the_same_question():
    base = question(f"query(unique(filter({BLUE}, shape=sphere)), size)")
    assert check_twin(THREE_AND_ONE, question(f"query(unique({BLUE}), size)"), base) == ()
    other = question(f"query(unique({BLUE}), material)")
    assert check_twin(THREE_AND_ONE, other, base) == (
        "answers 'metal', 'metal' for 'large'",
        "node 4 (query) stands where query did",
    )
    changed = question("query(unique(filter(scene(), color=green)), size)")
    assert check_twin(THREE_AND_ONE, changed, base) == (
        "node 2 does not say all of {'color': 'green'}",
        "node 2 refers to other things",
    )


def test_a_study_finds_a_twin_that_is_another_question_with_the_same_answer():
    base = question(f"query(unique(filter({BLUE}, shape=sphere)), size)")
    twin = replace(question("query(unique(filter(scene(), color=green)), size)"), notes=(("variant", "rd-"),))
    assert question_breaches(base, twin, THREE_AND_ONE) == [
        "node 2 does not say all of {'color': 'green'}",
        "node 2 refers to other things",
    ]


@pytest.mark.parametrize("schema", [clevr.SCHEMA, superclevr.SCHEMA], ids=lambda s: s.name)
def test_a_program_read_and_written_is_the_same(schema):
    scenes = [random_scene(schema, k) for k in range(12)]
    for q in generate_questions(scenes, builtin_templates(schema)):
        last = read_tree(q.program, ExecutionWorld((scenes[int(q.scenes[0])],)))
        assert write_program(last, {}) == q.program.canonicalize()


# A park as a scene graph has it: any words, relations that are written down, sets that are related as they are.
PARK = Scene(
    (
        Object(attributes=(("name", "man"), (FREE, "tall"), (FREE, "young"))),
        Object(attributes=(("name", "man"), (FREE, "tall"))),
        Object(attributes=(("name", "dog"), (FREE, "brown"))),
        Object(attributes=(("name", "hat"), (FREE, "red"))),
    ),
    (Relation.of("with", [(0, 2)], 4), Relation.of("wearing", [(0, 3), (1, 3)], 4)),
    id="park",
)


def test_elements_of_a_scene_graph_are_dropped_all_the_same():
    world = ExecutionWorld((PARK,))
    dog = f"filter(find(dog), {FREE}=brown)"
    program = f"query(unique(filter(filter(related({dog}, with), name=man), {FREE}=tall)), name)"
    last = read_tree(parse_program(program), world)
    relations, words = list_relations(last), list_words(last, PARK.schema)
    assert [step.params[0] for step in relations] == ["with"]
    assert [word.value for _, word in words] == ["tall", "brown", "man"]
    assert not drop_element(relations[0], None, last, world, PARK.schema)
    assert drop_all(last, world, PARK.schema) == 3
    assert format_program(write_program(last, {})) == "query(unique(related(find(dog), with)), name)"


def test_dropping_one_element_leaves_the_others_alone():
    world = ExecutionWorld((PARK,))
    last = read_tree(parse_program(f"count(filter(filter(scene(), name=man), {FREE}=tall))"), world)
    assert drop_element(*list_words(last, PARK.schema)[0], last, world, PARK.schema)
    assert format_program(write_program(last, {})) == "count(filter(scene(), name=man))"
    assert [s.value for s in list_steps(last)] == [2, 0b11]
    assert not drop_element(*list_words(last, PARK.schema)[0], last, world, PARK.schema)
    assert format_program(write_program(last, {})) == "count(filter(scene(), name=man))"
