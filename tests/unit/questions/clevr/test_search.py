"""The search: every question found is well-founded, needs its relations, is asked once and is balanced."""

import re
import statistics
from collections import Counter
from functools import cache
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shiftscope.lang.exec.exact import Undefined, execute
from shiftscope.lang.exec.packed import execute_many
from shiftscope.lang.execution_world import ExecutionWorld
from shiftscope.lang.program import Program, node
from shiftscope.questions.clevr.compiled_templates import derive_known_sets
from shiftscope.questions.clevr.generator import generate_questions
from shiftscope.questions.clevr.template import (
    APART,
    NULL,
    OUT_NEQ,
    Template,
    TemplateConstraint,
    TemplateNode,
    TemplateSet,
    TemplateSlot,
    parse_function,
)
from shiftscope.questions.clevr.template_sets import builtin_templates
from shiftscope.scene_table import pack_scenes
from shiftscope.schemas import clevr, superclevr
from toy import THREE_AND_ONE, TRAFFIC, scene, thing
from worlds import random_scene

OURS = builtin_templates(clevr.SCHEMA)
SCENES = [random_scene(clevr.SCHEMA, k) for k in range(120)]
BY_ID = {s.id: s for s in SCENES}


@cache
def generated():
    return generate_questions(SCENES, OURS, seed=3)


def only(file, family):
    return TemplateSet(tuple(t for t in OURS.templates if (t.file, t.family) == (file, family)))


def texts(questions):
    return {q.text for q in questions}


def without(program, at):
    """The program with one relation dropped: its set is the whole scene."""
    nodes = [node("scene") if i == at else n for i, n in enumerate(program.nodes)]
    return Program(tuple(nodes))


def looked_at(program, values):
    """What the answer rests on: for truths about how many, the set or the numbers."""
    last = program.root
    if last.op == "exist" or (last.op in ("less", "greater", "equal") and type(values[last.inputs[0]]) is int):
        return [values[i] for i in last.inputs]
    return [values[-1]]


def test_every_family_finds_questions():
    assert len(generated()) > 1000
    assert len({(q.provenance.template, q.provenance.family) for q in generated()}) == 90


def test_answers_agree_with_both_executors():
    table = pack_scenes(SCENES)
    rows = [SCENES.index(BY_ID[q.scenes[0]]) for q in generated()]
    packed = execute_many([q.program for q in generated()], table, rows)
    for i, q in enumerate(generated()):
        assert packed[i] == q.answer == execute(q.program, BY_ID[q.scenes[0]]).answer


def test_every_relation_is_needed():
    relations = 0
    for q in generated():
        world = BY_ID[q.scenes[0]]
        real = execute(q.program, world)
        for at, n in enumerate(q.program.nodes):
            if n.op == "relate":
                relations += 1
                dropped = execute(without(q.program, at), world)
                if not isinstance(dropped.answer, Undefined):
                    assert looked_at(q.program, dropped.values) != looked_at(q.program, real.values)
    assert relations > 800


def test_no_question_is_asked_twice_of_an_image():
    for name in BY_ID:
        programs = [q.program for q in generated() if q.scenes[0] == name]
        assert len(set(programs)) == len(programs)


def test_answers_are_balanced_as_the_rule_says():
    """Replay each template: an answer was taken only while it led the others by little."""
    domains = {"count": range(11), "exist": (False, True), "equal": (False, True)}
    for template in OURS.templates:
        made = [
            q for q in generated() if (q.provenance.template, q.provenance.family) == (template.file, template.family)
        ]
        last = parse_function(template.nodes[-1].function)
        domain = domains.get(last.question_type, (False, True))
        if last.op == "query":
            domain = clevr.SCHEMA.attribute(last.attribute).values
        counts = dict.fromkeys(domain, 0)
        for q in made:
            ordered = sorted(counts.values())
            assert counts[q.answer] <= 1.1 * ordered[-2]
            assert counts[q.answer] <= 5 * max(ordered[len(ordered) // 2], 5)
            counts[q.answer] += 1


def test_templates_are_used_alike():
    uses = Counter((q.provenance.template, q.provenance.family) for q in generated())
    assert statistics.median(uses.values()) - 3 <= min(uses.values())
    assert max(uses.values()) <= statistics.median(uses.values()) + 3


def test_constraints_hold():
    by_family = {(t.file, t.family): t for t in OURS.templates}
    for q in generated():
        template = by_family[q.provenance.template, q.provenance.family]
        asked = {n.params[0] for n in q.program.nodes if n.op == "query"}
        never = {template.params[s].attribute for s in template.empty_slots}
        assert asked <= never
        last_filters = {n.params[0] for n in q.program.nodes[-6:] if n.op == "filter"}
        if template.file == "zero_hop.json":
            assert not last_filters & asked


def list_words(program, at):
    """The filters of the set that a node gives, and the node that they start from."""
    found = set()
    while program.nodes[at].op in ("filter", "unique"):
        found |= {program.nodes[at].params} - {()}
        at = program.nodes[at].inputs[0]
    return found, at


def list_singled_out(program):
    """(node, its words) of each thing, and whether it is the only one of its words in the scene."""
    for at, n in enumerate(program.nodes):
        if n.op == "unique":
            words, start = list_words(program, at)
            yield at, words, program.nodes[start].op == "scene"


def test_a_comparison_is_of_different_things_that_stand_beside_different_things():
    looked_at = 0
    for q in generated():
        if q.provenance.template == "comparison.json":
            values = execute(q.program, BY_ID[q.scenes[0]]).values
            things = [values[at] for at, _, _ in list_singled_out(q.program)]
            assert len(set(things)) == len(things), q.text
            looked_at += len(things) == 4
    assert looked_at > 20


def test_nothing_is_counted_that_a_word_before_singled_out():
    """Not "as many cubes left of the red ball as red balls"."""
    looked_at = 0
    for q in generated():
        if q.provenance.template in ("same_relate.json", "single_and.json"):
            continue
        sets = [i for n in q.program.nodes if n.op in ("count", "exist", "union") for i in n.inputs]
        for counted, start in (list_words(q.program, at) for at in sets):
            for _, words, alone in list_singled_out(q.program):
                looked_at += 1
                assert not (alone and words <= counted) or q.program.nodes[start].op == "union", q.text
    assert looked_at > 200


def test_no_two_things_of_a_chain_are_described_alike():
    looked_at = 0
    for q in generated():
        if q.provenance.template in ("two_hop.json", "three_hop.json"):
            described = [frozenset(words) for _, words, _ in list_singled_out(q.program)]
            if q.program.root.op in ("count", "exist"):
                described.append(frozenset(list_words(q.program, q.program.root.inputs[0])[0]))
                assert described[-1] or q.program.root.op == "count", q.text
            assert len(set(described)) == len(described), q.text
            looked_at += 1
    assert looked_at > 100


def test_others_are_called_what_the_thing_is_that_they_are_like():
    """Not "any other cubes of the same color as the small thing"."""
    others = [q.text for q in generated() if re.search(r" other (?:\S+ )*?(?:cube|block|sphere|ball|cylinder)", q.text)]
    assert len(others) > 10
    assert [t for t in others if re.search(r"as the (?:\S+ )*?(?:thing|object)\b", t)] == []


def test_a_scene_of_one_pair_has_one_question_of_a_kind():
    pair = scene(thing("small red rubber cube", -1), thing("small blue rubber sphere", 1))
    found = [q for s in range(40) for q in generate_questions([pair], only("one_hop.json", 3), seed=s, per_image=4)]
    assert {q.answer for q in found} == {"red", "blue"}
    programs = {tuple(n.op for n in q.program.nodes) for q in found}
    assert all(p[-2:] == ("unique", "query") and "relate" in p for p in programs)


def test_missing_things_are_really_missing():
    found = [
        q for s in range(60) for q in generate_questions([THREE_AND_ONE], only("zero_hop.json", 0), seed=s, per_image=3)
    ]
    none = [q for q in found if q.answer == 0]
    assert none
    for q in none:
        mask = execute(q.program, THREE_AND_ONE).values[-2]
        assert mask == 0
    exist = [
        q for s in range(60) for q in generate_questions([THREE_AND_ONE], only("one_hop.json", 1), seed=s, per_image=3)
    ]
    assert {q.answer for q in exist} == {True, False}


def test_a_whole_scene_is_counted_but_never_asked_to_exist():
    asked = [
        q for s in range(80) for q in generate_questions([THREE_AND_ONE], only("zero_hop.json", 1), seed=s, per_image=3)
    ]
    assert all(any(n.op == "filter" for n in q.program.nodes) for q in asked)
    counted = [
        q
        for s in range(200)
        for q in generate_questions([THREE_AND_ONE], only("zero_hop.json", 0), seed=s, per_image=3)
    ]
    assert any(len(q.program) == 2 and q.answer == 4 for q in counted)


def test_descriptions_apart_do_not_contain_each_other():
    found = [
        q
        for s in range(60)
        for q in generate_questions([THREE_AND_ONE, TRAFFIC][:1], only("compare_integer.json", 1), seed=s)
    ]
    assert found
    for q in found:
        split = next(i for i, n in enumerate(q.program.nodes) if i and n.op == "scene")
        left = {n.params for n in q.program.nodes[:split] if n.op == "filter"}
        right = {n.params for n in q.program.nodes[split:] if n.op == "filter"}
        assert not left <= right
        assert not right <= left


TRIO = scene(
    thing("small red rubber cube", -2), thing("small blue rubber cube", 0), thing("small red rubber sphere", 2)
)


def asked_of_trio(file, family):
    return texts(q for s in range(150) for q in generate_questions([TRIO], only(file, family), seed=s, per_image=6))


def test_what_the_words_alone_answer_is_not_asked():
    """Here the red cube is the only red cube, so "other red cubes" are none whatever the picture."""
    asked = asked_of_trio("same_relate.json", 12)
    alike = {t for t in asked if re.search(r"are the same size as the red (cube|block)\?$", t)}
    assert any(re.match("How many other (things|objects) are", t) for t in alike)
    assert any(re.search("other ((rubber|matte) )?(cube|block)s", t) for t in alike)
    assert not {t for t in alike if re.search("red (rubber |matte )?(cube|block)s", t)}
    for file, family in (("one_hop.json", 0), ("one_hop.json", 1)):
        blue = {t for t in asked_of_trio(file, family) if re.search(r"blue[^?]*(cube|block)s", t)}
        assert blue
        assert not {t for t in blue if re.search(r"blue[^?]*(cube|block)s.* the blue (cube|block|thing|object)\b", t)}


def test_nothing_is_compared_with_nothing():
    compared = [q for q in generated() if q.program.root.op in ("less", "greater", "equal")]
    numbers = [q for q in compared if q.program.nodes[q.program.root.inputs[0]].op == "count"]
    assert len(numbers) > 20
    scenes = {s.id: s for s in SCENES}
    for q in numbers:
        values = execute(q.program, scenes[q.scenes[0]]).values
        assert any(values[i] for i in q.program.root.inputs), q.text


def test_nothing_is_described_by_means_of_itself():
    looked_at = 0
    scenes = {s.id: s for s in SCENES}
    for q in generated():
        values = execute(q.program, scenes[q.scenes[0]]).values

        def list_things(at, program=q.program, values=values):
            """The single things that node `at` is found by, nearest first, along each way."""
            n = program.nodes[at]
            below = [way for i in n.inputs for way in list_things(i)] or [()]
            return [(values[at], *way) for way in below] if n.op == "unique" else below

        for way in list_things(len(q.program) - 1):
            looked_at += len(way) > 2
            assert len(set(way)) == len(way), q.text
    assert looked_at > 20


def empty_by_words(program):
    """Whether some counted set repeats the words of the one thing that it leaves out."""

    def back(at, words):
        n = program.nodes[at]
        if n.op == "filter":
            return back(n.inputs[0], words | {n.params})
        return back(n.inputs[0], words) if n.op == "unique" else (at, words)

    def sets(at, words):
        at, words = back(at, words)
        n = program.nodes[at]
        if n.op == "intersect":
            return [s for i in n.inputs for s in sets(i, words)]
        if n.op not in ("relate", "same"):
            return []
        start, reference = back(n.inputs[0], frozenset())
        whole = program.nodes[start].op == "scene"
        shared = {w for w in reference if n.op == "same" and w[0] == n.params[0]}
        return [(words | shared, reference)] if whole else []

    counted = [i for n in program.nodes if n.op in ("count", "exist", "union") for i in n.inputs]
    return any(reference <= words for i in counted for words, reference in sets(i, frozenset()))


def test_no_counted_set_is_empty_by_its_words():
    red_cube = [node("scene"), node("filter", (0,), ("color", "red")), node("unique", (1,))]
    red_too = [node("relate", (2,), ("left",)), node("filter", (3,), ("color", "red")), node("count", (4,))]
    assert empty_by_words(Program((*red_cube, *red_too)))
    assert not [q.text for q in generated() if empty_by_words(q.program)]


OPPOSITE = {"left": "right", "right": "left", "front": "behind", "behind": "front"}


def chain_of(program, at):
    """What stands along the relations that lead to a node: (relation, words of the thing it starts from)."""
    found, words = [], {}
    while program.nodes[at].op != "scene":
        n = program.nodes[at]
        if n.op == "filter":
            words |= [n.params]
        elif n.op == "relate":
            found.append((words, n.params[0]))
            words = {}
        at = n.inputs[0]
    return [*found, (words, "")]


def exists_by_its_words(program):
    """Whether one of the things on the way is what is asked for, since it stands the other way round."""
    (asked, relation), *rest = chain_of(program, program.root.inputs[0])
    for (_, step), (words, _) in pairwise([*rest, ({}, "")]):
        if step != OPPOSITE[relation]:
            return False
        if asked.items() <= words.items():
            return True
    return False


def test_what_a_question_mentions_is_not_asked_to_exist():
    """Left of what is right of the bus, there is the bus."""
    one = [node("scene"), node("filter", (0,), ("color", "red")), node("unique", (1,))]
    two = [node("relate", (2,), ("right",)), node("unique", (3,)), node("relate", (4,), ("left",))]
    assert exists_by_its_words(Program((*one, *two, node("exist", (5,)))))
    blue = node("filter", (5,), ("color", "blue"))
    assert not exists_by_its_words(Program((*one, *two, blue, node("exist", (6,)))))
    found = [
        q
        for f in ("two_hop.json", "three_hop.json")
        for q in generate_questions(SCENES, only(f, 1), seed=1, per_image=4)
    ]
    assert len(found) > 200
    turned = [q for q in found if len({r for _, r in chain_of(q.program, q.program.root.inputs[0])}) > 2]
    assert len(turned) > 50
    assert not [q.text for q in found if exists_by_its_words(q.program)]


def test_what_is_asked_about_is_mentioned_once():
    """Else a second mention may say what is asked, and an asked color read cyan."""
    several = 0
    for q in generated():
        values = execute(q.program, BY_ID[q.scenes[0]]).values
        mentioned = [values[i] for i, n in enumerate(q.program.nodes) if n.op == "unique"]
        if q.program.root.op == "query":
            several += len(mentioned) > 2
            assert mentioned.count(values[q.program.root.inputs[0]]) == 1, q.text
    assert several > 100


def test_an_other_thing_is_like_the_first_in_all_that_is_said():
    """The other red cube that matches the metal thing in size: then the metal thing is a red cube."""
    others = 0
    for q in generated():
        for at, n in enumerate(q.program.nodes):
            if n.op != "same" or not re.search(r"\b(an)?other\b", q.text):
                continue
            others += 1
            values = execute(q.program, BY_ID[q.scenes[0]]).values
            mask = ExecutionWorld((BY_ID[q.scenes[0]],)).objects.mask
            while at + 1 < len(q.program) and q.program.nodes[at + 1].op == "filter":
                at += 1
                assert values[n.inputs[0]] & mask(*q.program.nodes[at].params), q.text
    assert others > 150


def test_words_are_known_along_chains_of_nodes():
    """Single filters, intersections and `same` of a word that was said: slots as the columns see them."""
    slots = tuple(TemplateSlot(f"<{n}>", k) for n, k in (("C", "Color"), ("S", "Shape"), ("R", "Relation")))
    template = Template(
        "chain",
        0,
        (*slots, TemplateSlot("<C2>", "Color")),
        ("How many?",),
        (
            TemplateNode("scene"),
            TemplateNode("filter_color", (0,), ("<C>",)),
            TemplateNode("filter_shape", (1,), ("<S>",)),
            TemplateNode("unique", (2,)),
            TemplateNode("same_color", (3,)),
            TemplateNode("relate", (3,), ("<R>",)),
            TemplateNode("intersect", (4, 5)),
            TemplateNode("filter_color", (6,), ("<C2>",)),
            TemplateNode("union", (4, 7)),
            TemplateNode("count", (8,)),
        ),
    )
    rows = [(-1, -1)] * 10
    rows[1], rows[2], rows[7] = (0, -1), (-1, 1), (3, -1)
    known = derive_known_sets(template, rows, [0] * 10)
    assert known[3] == ((0, 1), True, frozenset())
    assert known[4] == ((0, -1), False, {3})
    assert known[5] == ((-1, -1), False, {3})
    assert known[6] == ((0, -1), False, {3})
    assert known[7] == ((3, -1), False, {3})
    assert known[8] == ((-1, -1), False, {3})


def test_a_slot_used_twice_keeps_its_word():
    """Two counts of one color, of cubes' and of the relation's side: the slot is filled once."""
    c = TemplateSlot("<C>", "Color")
    template = Template(
        "mine",
        0,
        (c, TemplateSlot("<S>", "Shape")),
        ("More <C> things than <C> <S>s?",),
        (
            TemplateNode("scene"),
            TemplateNode("filter_count", (0,), ("<C>",)),
            TemplateNode("filter_count", (0,), ("<C>", "<S>")),
            TemplateNode("greater_than", (1, 2)),
        ),
    )
    found = [q for s in range(30) for q in generate_questions([THREE_AND_ONE], TemplateSet((template,)), seed=s)]
    assert found
    for q in found:
        colors = [n.params[1] for n in q.program.nodes if n.params[:1] == ("color",)]
        assert len(colors) == 2
        assert len(set(colors)) == 1


def test_kinds_are_used_for_vehicles():
    found = [q for s in range(60) for q in generate_questions([TRAFFIC], builtin_templates(superclevr.SCHEMA), seed=s)]
    shapes = {n.params[1] for q in found for n in q.program.nodes if n.params[:1] == ("shape",) and n.op == "filter"}
    assert {"car", "sedan", "bus", "school", "bicycle", "tandem"} <= shapes


PART = Template(
    "part",
    0,
    (TemplateSlot("<C>", "Color"), TemplateSlot("<P>", "Partname"), TemplateSlot("<S>", "Shape")),
    ("What is the color of the <C> <P> of the <S>?",),
    (
        TemplateNode("scene"),
        TemplateNode("filter_unique", (0,), ("<S>",)),
        TemplateNode("object2part", (1,)),
        TemplateNode("partfilter_unique", (2,), ("<C>", "<P>")),
        TemplateNode("partquery_color", (3,)),
    ),
    (TemplateConstraint(NULL, ("<C>",)),),
)


def test_parts_are_found_and_asked_about():
    found = [q for s in range(30) for q in generate_questions([TRAFFIC], TemplateSet((PART,)), seed=s)]
    assert texts(found) <= {
        "What is the color of the roof of the sedan?",
        "What is the color of the roof of the car?",
        "What is the color of the front left wheel of the sedan?",
        "What is the color of the front left wheel of the car?",
        "What is the color of the front wheel of the sedan?",
        "What is the color of the front wheel of the car?",
        "What is the color of the wheel of the sedan?",
        "What is the color of the wheel of the car?",
        "What is the color of the roof of the school bus?",
        "What is the color of the roof of the bus?",
        "What is the color of the part of the school bus?",
        "What is the color of the part of the bus?",
    }
    assert {q.answer for q in found} == {"blue", "cyan"}
    assert {q.provenance.source for q in found} == {"superclevr"}


def test_an_objects_red_is_a_parts_red():
    template = Template(
        "both",
        0,
        (TemplateSlot("<P>", "Partname"), TemplateSlot("<S>", "Shape")),
        ("Same color?",),
        (
            TemplateNode("scene"),
            TemplateNode("filter_unique", (0,), ("<S>",)),
            TemplateNode("query_color", (1,)),
            TemplateNode("object2part", (1,)),
            TemplateNode("partfilter_unique", (3,), ("<P>",)),
            TemplateNode("partquery_color", (4,)),
            TemplateNode("equal_color", (2, 5)),
        ),
    )
    found = [q for s in range(10) for q in generate_questions([TRAFFIC], TemplateSet((template,)), seed=s)]
    assert {q.answer for q in found} == {False}  # no part here has its object's color


def test_outputs_that_must_differ_do():
    template = Template(
        "differ",
        0,
        (TemplateSlot("<C>", "Color"), TemplateSlot("<S>", "Shape")),
        ("Are <C> things more than <S>s?",),
        (
            TemplateNode("scene"),
            TemplateNode("filter_count", (0,), ("<C>",)),
            TemplateNode("filter_count", (0,), ("<S>",)),
            TemplateNode("greater_than", (1, 2)),
        ),
        (TemplateConstraint(OUT_NEQ, (1, 2)), TemplateConstraint(APART, (1, 2))),
    )
    found = [q for s in range(30) for q in generate_questions([THREE_AND_ONE], TemplateSet((template,)), seed=s)]
    assert found
    for q in found:
        values = execute(q.program, THREE_AND_ONE).values
        assert values[q.program.root.inputs[0]] != values[q.program.root.inputs[1]]


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.integers(0, 1 << 40))
def test_any_scene_of_either_schema_can_be_asked_about(k, seed):
    for schema in (clevr.SCHEMA, superclevr.SCHEMA):
        one = random_scene(schema, k)
        for q in generate_questions([one], builtin_templates(schema), seed=seed):
            assert execute(q.program, one).answer == q.answer


@pytest.mark.parametrize("objects", [[], [thing("small red rubber cube")]])
def test_an_empty_or_lonely_scene_gives_few_questions(objects):
    found = generate_questions([scene(*objects)], OURS)
    assert len(found) <= 10
    assert all(q.kind in ("count", "exist") or objects for q in found)
