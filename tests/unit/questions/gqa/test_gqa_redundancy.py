"""Operations that a question over one image does without: found, taken out level by level, nothing else changed."""

from collections import Counter
from pathlib import Path

import pytest

from graphs import graph, random_graph
from hash_seeds import run_under_two_hash_seeds
from shiftscope.lang.exec.exact import execute
from shiftscope.lang.execution_world import ExecutionWorld
from shiftscope.lang.notations import gqa
from shiftscope.question import Question
from shiftscope.questions.gqa.redundancy import (
    LEVELS,
    build_level,
    count_removals,
    list_removable,
    remove_if_redundant,
    trim_question,
)
from shiftscope.questions.gqa.scene_view import GqaVocabulary
from shiftscope.questions.gqa.templates import GqaQuestioner
from shiftscope.questions.gqa.wording import question_text
from shiftscope.scene_graph.exclusivity import build_exclusivity


def program_of(line):
    """`select: cat->filter: black [0]->query: color [1]`, as the official files write it."""
    listed = []
    for step in line.split("->"):
        said, _, inside = step.partition(" [")
        operation, _, argument = said.partition(":")
        dependencies = [int(word) for word in inside.rstrip("]").split(", ")] if inside else []
        listed.append({"operation": operation, "argument": argument.strip(), "dependencies": dependencies})
    return gqa.read(listed)


def left(line, scene):
    """The question once everything redundant is gone, in words."""
    program = program_of(line)
    done = trim_question(Question("q", "", (scene.id,), program), ExecutionWorld((scene,)), 0)
    return question_text(done.get_program_after(len(done.removals)))


ROOM = graph("room", "black cat, mat, white wall, wall, pipe, man, hat", "0 on 1", "4 on 2", "5 wearing 6")


def test_what_a_name_alone_singles_out_needs_no_more_words():
    line = "select: mat->relate: cat,on,s [0]->filter color: black [1]->query: color [2]"
    assert question_text(program_of(line)) == "What color is the black cat that is on the mat?"
    assert left(line, ROOM) == "What color is the cat?"


def test_a_word_stays_that_tells_two_walls_apart():
    line = "select: wall->filter: white [0]->relate: _,on,s [1]->query: name [2]"
    assert left(line, ROOM) == "What is on the white wall?"


def test_of_two_ways_to_tell_two_apart_one_stays():
    scene = graph("a", "black cat, white cat, mat", "0 on 2")
    line = "select: mat->relate: cat,on,s [0]->filter color: black [1]->verify pose: sitting [2]"
    program = program_of(line)
    found = {
        question_text(trim_question(Question("q", "", ("a",), program), ExecutionWorld((scene,)), seed).removals[-1][1])
        for seed in range(10)
    }
    assert found == {"Is the black cat sitting?", "Is the cat that is on the mat sitting?"}


def test_the_relation_that_is_asked_about_stays():
    assert left("select: man->verify rel: hat,wearing,o [0]", ROOM) == "Is the man wearing a hat?"
    line = "select: mat->relate: cat,on,s [0]->choose rel: man,near|on,s [1]"
    beside = graph("b", "cat, mat, man", "0 on 1", "2 near 0")
    assert left(line, beside) == "Is the man near or on the cat?"


def test_something_is_always_said_of_what_is_sought():
    alone = graph("c", "cat, mat", "0 on 1")
    assert left("select: mat->relate: _,on,s [0]->query: name [1]", alone) == "What is on the mat?"


def test_who_is_asked_for_stays_described():
    assert left("select: hat->relate: person,wearing,s [0]->query: name [1]", ROOM) == "Who is wearing the hat?"


def test_two_that_are_joined_do_not_become_one():
    empty = graph("d", "mat")
    halves = "select: cat->filter: black [0]->exist: ? [1]->select: cat->filter: white [3]->exist: ? [4]"
    line = f"{halves}->or:  [2, 5]"
    said = left(line, empty)
    assert said in ("Is there a cat or a white cat?", "Is there a black cat or a cat?")


def test_sameness_that_only_tells_which_is_meant_goes_too():
    scene = graph("e", "red car, red bus, dog")
    line = "select: car->relate: bus,same color [0]->verify size: large [1]"
    assert question_text(program_of(line)) == "Is the bus that has the same color as the car large?"
    assert left(line, scene) == "Is the bus large?"


def corpus(count=60, seed=3):
    scenes = [random_graph(seed, k) for k in range(count)]
    asker = GqaQuestioner(GqaVocabulary.from_scenes(scenes), build_exclusivity(scenes[0].schema), seed)
    return [(ExecutionWorld((scene,)), question) for scene in scenes for question in asker.generate_questions(scene, 6)]


@pytest.fixture(scope="module")
def levels():
    worlds, questions = zip(*corpus(), strict=True)
    found = [trim_question(q, w, 0) for w, q in zip(worlds, questions, strict=True)]
    assert count_removals(found) > 100
    return worlds, found, {share: build_level(found, share) for share in LEVELS}


def read_sets(program, world):
    """What every node but a filter reads, where that is a set or a thing."""
    run = execute(program, world)
    assert run.is_defined
    return Counter(
        run.values[i]
        for n in program.nodes
        if n.op not in ("filter", "exclude")
        for i in n.inputs
        if type(run.values[i]) is int
    )


def test_every_level_refers_to_the_same_things_and_has_the_same_answer(levels):
    worlds, _, made = levels
    for share in LEVELS:
        for world, base, twin in zip(worlds, made[0], made[share], strict=True):
            assert execute(twin.program, world).answer == base.answer == twin.answer
            assert read_sets(twin.program, world) <= read_sets(base.program, world)
            assert twin.text == question_text(twin.program)


def test_levels_nest_and_take_out_the_share_they_say(levels):
    _, found, made = levels
    total = count_removals(found)
    for share in LEVELS:
        assert sum(q.note("removed") for q in made[share]) == round(total * share / 100)
    for k, one in enumerate(found):
        counts = [made[share][k].note("removed") for share in LEVELS]
        assert counts == sorted(counts)
        for share, count in zip(LEVELS, counts, strict=True):
            assert made[share][k].program == one.get_program_after(count)
        sizes = [len(one.get_program_after(count)) for count in range(len(one.removals) + 1)]
        assert sizes == sorted(sizes, reverse=True)
        assert len(set(sizes)) == len(sizes)


def test_a_twin_names_its_original_and_its_level(levels):
    _, _, made = levels
    base, twin = made[0][0], made[70][0]
    assert twin.id == f"{base.id}_70"
    assert (twin.note("twin"), twin.note("factor"), twin.note("level")) == (base.id, "gqa_redundancy", 70)
    assert (base.note("twin"), base.note("level")) == (None, 0)
    ids = [q.id for questions in made.values() for q in questions]
    assert len(set(ids)) == len(ids)


def test_at_100_nothing_redundant_is_left(levels):
    worlds, _, made = levels
    for world, question in zip(worlds, made[100], strict=True):
        assert not [i for i in list_removable(question.program) if remove_if_redundant(question.program, i, world)]


ASKING_FOR_A_NAME = ("query", "choose name")  # whose relation is what is asked


def shorter(listed):
    """Every semantic list that is one operation shorter, found on the list and not on the program."""
    for k, step in enumerate(listed):
        verb, text = step["operation"].partition(" ")[0], step["argument"]
        if verb == "filter":
            new, instead = None, step["dependencies"][0]
        elif verb == "relate" and not text.startswith("_,") and listed[-1]["operation"] not in ASKING_FOR_A_NAME:
            new, instead = {"operation": "select", "argument": text.split(",")[0], "dependencies": []}, k
        else:
            continue
        steps = [new if i == k and new else s for i, s in enumerate(listed)]
        needed, todo = set(), [len(listed) - 1]
        while todo:
            i = todo.pop()
            i = instead if i == k else i
            needed.add(i)
            todo += steps[i]["dependencies"]
        place = {i: at for at, i in enumerate(sorted(needed))}
        place[k] = place[instead]
        yield [steps[i] | {"dependencies": [place[j] for j in steps[i]["dependencies"]]} for i in sorted(needed)]


def test_no_shorter_semantic_list_says_the_same_at_100(levels):
    worlds, _, made = levels
    tried = 0
    for world, question in zip(worlds, made[100], strict=True):
        listed = gqa.write(question.program)
        if listed[-1]["operation"] in ("and", "or") or listed[-1]["operation"].startswith("same"):
            continue  # both halves may not become one
        for less in shorter(listed):
            run = execute(gqa.read(less), world)
            tried += 1
            if run.is_defined and run.answer == question.answer:
                assert not read_sets(gqa.read(less), world) <= read_sets(question.program, world), question.text
    assert tried > 20


SCRIPT = """
import sys
sys.path[:0] = [{tests!r}, {unit!r}]
from test_gqa_redundancy import corpus
from shiftscope.questions.gqa.redundancy import build_level, trim_question
found = [trim_question(q, w, 0) for w, q in corpus(15)]
for share in (0, 32, 100):
    for q in build_level(found, share):
        print(q.content_id(), q.id, q.text, q.answer)
"""


def test_the_same_whatever_the_hash_seed():
    unit = Path(__file__).parent
    script = SCRIPT.format(tests=str(unit.parents[2]), unit=str(unit))
    made = run_under_two_hash_seeds(script)
    assert made[0] == made[1]
    assert len(made[0].splitlines()) > 60
