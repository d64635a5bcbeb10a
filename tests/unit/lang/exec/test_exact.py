import pytest

from shiftscope.lang.exec.exact import Undefined, answer_after, execute, format_trace
from shiftscope.lang.execution_world import ExecutionWorld
from shiftscope.lang.program import ProgramError, join_action
from shiftscope.lang.text import parse_program
from shiftscope.scene import Object, Relation, Scene
from toy import THREE_AND_ONE, TRAFFIC, objects


def run(text, on=THREE_AND_ONE, references="strict"):
    return execute(parse_program(text), on, references)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("count(scene())", 4),
        ("count(filter(scene(), color=red))", 2),
        ("count(exclude(scene(), color=red))", 2),
        ("exist(filter(scene(), color=cyan))", False),
        ("query(unique(filter(scene(), shape=cube)), color)", "red"),
        ("count(relate(unique(filter(scene(), shape=cube)), right))", 3),
        ("query(unique(filter(relate(unique(filter(scene(), color=blue)), right), shape=sphere)), size)", "small"),
        ("count(same(unique(filter(scene(), shape=cube)), color))", 1),
        ("count(intersect(filter(scene(), color=red), filter(scene(), shape=sphere)))", 1),
        ("count(union(filter(scene(), color=red), filter(scene(), shape=sphere)))", 3),
        ("equal(query(unique(filter(scene(), shape=cube)), color), query(unique(filter(scene(), color=blue)), color))", False),
        ("equal(unique(filter(scene(), shape=cube)), unique(filter(scene(), shape=cube)))", True),
        ("less(count(filter(scene(), color=red)), count(scene()))", True),
        ("greater(count(scene()), 4)", False),
        ("at_least(count(scene()), 4)", True),
        ("at_most(count(scene()), 3)", False),
        ("and(exist(scene()), not(exist(filter(scene(), color=cyan))))", True),
        ("or(exist(filter(scene(), color=cyan)), exist(filter(scene(), color=brown)))", False),
        ("verify(unique(filter(scene(), shape=cube)), color=red)", True),
        ("choose(unique(filter(scene(), shape=cube)), color, red, blue)", "red"),
        ("choose_relation(unique(filter(scene(), shape=cube)), filter(scene(), color=blue), left, right)", "right"),
        ("alike(filter(scene(), shape=cube), filter(scene(), shape=sphere, color=red), color)", True),
        ("differ(filter(scene(), shape=cube), filter(scene(), color=blue), size)", True),
        ("common(filter(scene(), shape=cube), filter(scene(), shape=cylinder))", "material"),
        ("all(filter(scene(), shape=sphere), verify(it(), material=metal))", True),
        ("some(scene(), greater(count(relate(it(), left)), 2))", True),
        ("none(scene(), greater(count(relate(it(), left)), 3))", True),
        ("all(scene(), some(relate(it(), left), verify(it(), color=red)))", False),
    ],
)  # fmt: skip
def test_what_programs_mean(text, answer):
    found = run(text).answer
    assert found == answer and type(found) is type(answer)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("count(filter(scene(), shape=car))", 1),
        ("query(unique(filter(scene(), shape=bus)), shape)", "school"),
        ("count(parts(scene()))", 3),
        ("count(filter(parts(scene()), name=roof))", 2),
        ("query(unique(filter(parts(filter(scene(), shape=sedan)), name=wheel)), color)", "cyan"),
        ("query(unique(owners(filter(parts(scene()), material=metal, name=roof))), shape)", "school"),
        ("count(same(unique(filter(parts(filter(scene(), shape=bus)), color=blue)), color))", 1),
        ("count(parts(filter(scene(), shape=tandem)))", 0),
    ],
)
def test_parts_and_kinds(text, answer):
    assert run(text, TRAFFIC).answer == answer


@pytest.mark.parametrize(
    ("text", "reason", "at"),
    [
        ("query(unique(filter(scene(), color=cyan)), shape)", "none found", 2),
        ("query(unique(filter(scene(), color=red)), shape)", "several found", 2),
        ("query(unique(filter(scene(), shape=cube)), name)", "missing attribute", 3),
        ("choose(unique(filter(scene(), shape=cube)), color, cyan, blue)", "neither choice holds", 3),
        ("count(relate(unique(filter(scene(), shape=cube)), beneath))", "unknown relation", 3),
        ("count(move(scene(), unique(filter(scene(), shape=cube)), unique(filter(scene(), shape=cube)), left))", "impossible edit", 7),
    ],
)  # fmt: skip
def test_what_does_not_refer_is_undefined_and_named(text, reason, at):
    found = run(text)
    assert found.answer == Undefined(reason, at)
    assert not found.is_defined
    assert len(found.values) == at


def test_the_trace_is_every_nodes_value():
    found = run("count(relate(unique(filter(scene(), shape=cube)), right))")
    assert found.values == (objects(0, 1, 2, 3), objects(0), objects(0), objects(1, 2, 3), 3)


def test_the_trace_of_a_sub_program_has_a_value_for_each_member():
    found = run("all(filter(scene(), color=red), verify(it(), shape=cube))")
    assert found.values == (objects(0, 1, 2, 3), objects(0, 2), (objects(0), objects(2)), (True, False), False)


@pytest.mark.parametrize(
    ("text", "answer", "errors"),
    [
        ("query(unique(filter(scene(), color=red)), shape)", "cube", ["several found"]),
        ("count(relate(unique(filter(scene(), color=cyan)), left))", 0, ["none found"]),
        ("exist(relate(unique(filter(scene(), color=cyan)), left))", False, ["none found"]),
        ("verify(unique(filter(scene(), color=cyan)), shape=cube)", False, ["none found"]),
        ("equal(query(unique(filter(scene(), color=cyan)), shape), query(unique(filter(scene(), shape=cube)), shape))", False, ["none found"]),
        ("equal(unique(filter(scene(), color=cyan)), unique(filter(scene(), color=cyan)))", False, ["none found", "none found"]),
        ("query(unique(filter(scene(), color=cyan)), shape)", Undefined("missing object", 2), ["none found"]),
        ("count(filter(remove(scene(), unique(filter(scene(), color=cyan))), color=red))", 2, ["none found"]),
    ],
)  # fmt: skip
def test_default_references_go_on_and_record_the_error(text, answer, errors):
    found = run(text, references="default")
    assert found.answer == answer
    assert [e.reason for e in found.errors] == errors


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("count(filter(change(filter(scene(), shape=sphere), color=red), color=red))", 3),
        ("count(remove(scene(), filter(scene(), color=red)))", 2),
        ("count(filter(add(scene(), thing(size=small, color=cyan, material=metal, shape=cube)), shape=cube))", 2),
        ("exist(filter(relate(unique(filter(add_beside(scene(), thing(size=small, color=cyan, material=metal, shape=cube), unique(filter(scene(), color=blue)), left), color=cyan)), right), color=blue))", True),
        ("a = move(scene(), unique(filter(scene(), shape=cube)), unique(filter(scene(), color=blue)), on); query(unique(relate(unique(filter(a, color=blue)), on)), shape)", "cube"),
        ("a = change(filter(scene(), shape=cube), color=blue); count(change(filter(a, color=blue), shape=cylinder))", 4),
        ("a = change(filter(scene(), shape=cube), color=blue); count(filter(change(filter(a, color=blue), shape=cylinder), shape=cylinder))", 3),
        ("less(count(filter(scene(), color=red)), count(filter(change(scene(), color=red), color=red)))", True),
        ("all(filter(change(scene(), color=gray), shape=sphere), verify(it(), color=gray))", True),
    ],
)  # fmt: skip
def test_questions_about_what_would_be(text, answer):
    before = THREE_AND_ONE.to_json()
    assert run(text).answer == answer
    assert THREE_AND_ONE.to_json() == before


DOG, RED_DOG, CAT = (
    Object((("name", "dog"),)),
    Object((("name", "dog"), ("attribute", "red"))),
    Object((("name", "cat"), ("attribute", "red"))),
)
ALBUM = (
    Scene((DOG, RED_DOG, CAT), relations=(Relation.of("chasing", [(0, 2)], 3),), id="a"),
    Scene((CAT,), id="b"),
    Scene((RED_DOG, CAT), relations=(Relation.of("chasing", [(1, 0)], 2),), id="c"),
)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("count(find(dog))", 3),
        ("count(images(find(dog)))", 2),
        ("count(keep(group(find(dog)), at_least, 2))", 1),
        ("count(keys(keep(group(find(cat)), equal, 1)))", 3),
        ("exist(keep(group(find(dog)), greater, 2))", False),
        ("count(intersect(images(find(dog)), images(filter(find(cat), attribute=red))))", 2),
        ("count(related(find(cat), chasing))", 1),
        ("count(related(find(cat), chasing, object))", 1),
        ("all(find(cat), verify(it(), color=red))", True),
        ("some(find(dog), exist(intersect(related(it(), chasing, object), find(cat))))", True),
        ("none(find(dog), verify(it(), attribute=blue))", True),
    ],
)
def test_several_images(text, answer):
    assert execute(parse_program(text), ALBUM).answer == answer


def test_one_world_serves_many_runs_and_is_left_as_it_was():
    world = ExecutionWorld((THREE_AND_ONE,))
    program = parse_program("count(filter(change(scene(), color=red), color=red))")
    assert [execute(program, world).answer for _ in range(3)] == [4, 4, 4]
    assert execute(parse_program("count(filter(scene(), color=red))"), world).answer == 2


def test_only_a_single_image_can_be_edited():
    found = execute(parse_program("count(remove(scene(), find(dog)))"), ALBUM)
    assert found.answer == Undefined("impossible edit", 2)


def test_a_run_stopped_inside_a_quantifier_tells_what_it_saw():
    text = "all(scene(), equal(query(unique(same(it(), color)), shape), query(it(), shape)))"
    found = run(text)
    assert found.answer.reason == "none found"
    told = {
        line.text: line.value for line in format_trace(parse_program(text), found, ExecutionWorld((THREE_AND_ONE,)))
    }
    assert told["same(color)"] == "1: #2 small red metal sphere; nothing"
    assert told["equal()"] == "no"
    assert told["all()"] == "not reached"


AFTER = parse_program("change(filter(scene(), shape=cube), color=blue)")


@pytest.mark.parametrize(
    "question",
    [
        "count(filter(scene(), color=blue))",
        "query(unique(filter(relate(unique(filter(scene(), shape=cube)), right), color=blue)), shape)",
        "equal(query(unique(filter(scene(), shape=cube)), color), query(unique(filter(scene(), color=red)), color))",
        "exist(related(filter(scene(), shape=cube), right))",
        "query(unique(filter(scene(), color=blue)), shape)",  # several are
    ],
)
def test_a_question_may_be_run_from_the_action_on(question):
    joined = join_action(AFTER.nodes, parse_program(question))
    world = execute(AFTER, THREE_AND_ONE).worlds[-1]
    assert answer_after(joined, len(AFTER), world) == execute(joined, THREE_AND_ONE).answer


@pytest.mark.parametrize(
    ("question", "trouble"),
    [
        ("equal(query(unique(scene()), color), query(unique(scene()), size))", "two values of one attribute"),
        ("exist(related(scene(), right, other))", "expected subject or object as role, got 'other'"),
        ("exist(remove(scene(), scene()))", "without edits"),
        ("count(query(unique(scene()), color))", "expected Objects"),
    ],
)
def test_a_question_run_from_the_action_on_is_checked_too(question, trouble):
    joined = join_action(AFTER.nodes, parse_program(question))
    with pytest.raises(ProgramError, match=trouble):
        answer_after(joined, len(AFTER), ExecutionWorld((THREE_AND_ONE,)))
