"""Redundancy: the same question said with less and with more, on the same scene, with the same answer."""

import re
from pathlib import Path

import pytest

from hash_seeds import run_script
from shiftscope.lang.exec.exact import execute
from shiftscope.lang.execution_world import ExecutionWorld
from shiftscope.lang.text import format_program, parse_program
from shiftscope.question import Provenance, Question
from shiftscope.questions.clevr.generator import generate_questions, get_generator
from shiftscope.questions.clevr.redundancy import LEVELS, build_twin, generate_levels, get_rewording
from shiftscope.questions.clevr.redundancy.check import check_minimal, check_saturated, check_twin
from shiftscope.questions.clevr.redundancy.modifiers import drop_all, may_drop_relation
from shiftscope.questions.clevr.redundancy.program_tree import build_tree
from shiftscope.questions.clevr.redundancy.rewording import TemplateRewording
from shiftscope.questions.clevr.template import TemplateSet
from shiftscope.questions.clevr.template_sets import builtin_part_templates, builtin_templates
from shiftscope.records import content_id
from shiftscope.rng import derive
from shiftscope.scene import Object, Scene
from shiftscope.schema import Schema
from shiftscope.schemas import clevr, superclevr
from shiftscope.world.clevr import sample_scene as clevr_scene
from toy import THREE_AND_ONE, TRAFFIC, scene, thing
from worlds import PLANE


def find_template(words: TemplateRewording, file: str, family: int) -> int:
    return next(n for n, f in enumerate(words.families) if (f.template.file, f.template.family) == (file, family))


def asked(where: Scene, program: str, file: str, family: int) -> Question:
    """The program as the template words it, every choice of words the first."""
    words = get_rewording(get_generator(builtin_templates(where.schema), where.schema))
    world = ExecutionWorld((where,))
    parsed = parse_program(program)
    tree = build_tree(parsed, execute(parsed, world).values)
    fitted, codes = words.fit(tree, find_template(words, file, family))
    return Question(
        id="q",
        text=fitted.text(codes, 0),
        scenes=(where.id,),
        program=fitted.program(codes),
        answer=execute(parse_program(program), world).answer,
        provenance=Provenance("clevr", "", file, family),
    )


def build_levels(where: Scene, question: Question, templates: TemplateSet, dice: int = 0) -> dict[str, Question]:
    """The question, worded with these random bits, at every level."""
    words = get_rewording(get_generator(templates, where.schema))
    world = ExecutionWorld((where,))
    number = find_template(words, question.provenance.template, question.provenance.family)
    trace = execute(question.program, world).values
    return {level: build_twin(level, question, world, words, number, dice, trace) for level in LEVELS}


def said(program: str, file: str, family: int, where: Scene = THREE_AND_ONE) -> list[str]:
    """The question as it came, then at each level."""
    question = asked(where, program, file, family)
    made = build_levels(where, question, builtin_templates(where.schema))
    for level in LEVELS:
        assert made[level].answer == question.answer
        assert check_twin(where, made[level], made["rd"]) == ()
    assert check_minimal(where, made["rd-"]) == ()
    assert check_saturated(where, made["rd+"], made["rd"]) == ()
    return [question.text, *(made[level].text for level in LEVELS)]


def test_the_value_that_is_asked_is_never_said():
    program = "query(unique(filter(filter(filter(scene(), size=large), material=metal), shape=sphere)), color)"
    assert said(program, "zero_hop.json", 3) == [
        "What color is the large metal sphere?",
        "What color is the large sphere?",
        "What color is the large metal sphere?",
        "What color is the large metal sphere, which is left of the small red metal sphere, left of and in front of "
        "the large green rubber cylinder, and right of the small red rubber cube?",
    ]


def test_what_is_counted_gets_what_all_of_it_shares():
    program = "count(filter(filter(scene(), size=small), color=red))"
    assert said(program, "zero_hop.json", 0) == [
        "How many small red things are there?",
        "How many red things are there?",
        "How many small red things are there?",
        "How many small red things are there that are in front of the large green rubber cylinder?",
    ]


def test_relations_go_first_and_take_all_that_led_to_them_along():
    program = (
        "query(unique(filter(relate(unique(filter(filter(scene(), color=blue), shape=sphere)), left), "
        "shape=cube)), size)"
    )
    assert said(program, "one_hop.json", 2)[:3] == [
        "How large is the cube to the left of the blue sphere?",
        "How large is the cube?",
        "How large is the cube?",
    ]


def test_a_relation_that_is_needed_stays_and_its_thing_gets_relations_of_its_own():
    program = (
        "query(unique(filter(relate(unique(filter(filter(scene(), color=blue), shape=sphere)), right), "
        "shape=sphere)), size)"
    )
    assert said(program, "one_hop.json", 2) == [
        "How large is the sphere to the right of the blue sphere?",
        "How large is the sphere to the right of the blue thing?",
        "How large is the sphere to the right of the blue sphere?",
        "How large is the red metal sphere (right of the small red rubber cube, and right of and in front of the "
        "large green rubber cylinder) that is to the right of the large blue metal sphere, which is left of and in "
        "front of the large green rubber cylinder, and right of the small red rubber cube?",
    ]


def test_one_of_two_relations_may_go_alone():
    program = (
        "query(unique(filter(intersect(relate(unique(filter(scene(), color=blue)), right), "
        "relate(unique(filter(scene(), color=green)), front)), material=metal)), shape)"
    )
    assert said(program, "single_and.json", 4)[:3] == [
        "What shape is the metal thing that is to the right of the blue thing and also in front of the green thing?",
        "What shape is the metal thing to the right of the blue thing?",
        "What shape is the metal thing to the right of the blue thing?",
    ]


def test_the_first_of_two_relations_goes_though_no_template_has_only_the_second():
    where = scene(
        thing("small red rubber cube", -2),
        thing("large blue metal sphere", 0),
        thing("small red metal sphere", 2),
        thing("large green metal cylinder", 3),
    )
    program = (
        "less(count(filter(relate(unique(filter(scene(), color=blue)), left), shape=cube)), "
        "count(filter(relate(unique(filter(scene(), color=green)), left), material=metal)))"
    )
    assert said(program, "compare_integer.json", 7, where)[:3] == [
        "Are there fewer cubes to the left of the blue thing than metal things to the left of the green thing?",
        "Are there fewer cubes than metal things that are to the left of the green thing?",
        "Are there fewer cubes than metal things that are to the left of the green thing?",
    ]


def test_other_things_that_match_stay_without_a_description():
    """With one it would be another question."""
    program = "count(same(unique(filter(scene(), color=blue)), material))"
    assert said(program, "same_relate.json", 6) == [
        "How many other things are made of the same material as the blue thing?",
        "How many other things are made of the same material as the blue thing?",
        "How many other things are made of the same material as the blue thing?",
        "How many other things are made of the same material as the large blue sphere, which is left of and in front "
        "of the large green rubber cylinder, and right of the small red rubber cube?",
    ]


def test_others_that_have_a_description_get_a_longer_one_but_not_of_what_they_match_in():
    program = "count(filter(same(unique(filter(scene(), color=blue)), material), shape=sphere))"
    assert said(program, "same_relate.json", 14)[2:] == [
        "How many other spheres are made of the same material as the blue thing?",
        "How many small red spheres (right of the small red rubber cube, and right of and in front of the large "
        "green rubber cylinder) are made of the same material as the large blue sphere, which is left of and in "
        "front of the large green rubber cylinder, and right of the small red rubber cube?",
    ]


def test_being_like_a_thing_goes_like_a_relation_where_it_only_says_what_is_meant():
    program = "query(unique(filter(same(unique(filter(scene(), color=blue)), size), shape=cylinder)), color)"
    assert said(program, "same_relate.json", 16)[:3] == [
        "What color is the other cylinder that is the same size as the blue thing?",
        "What color is the cylinder?",
        "What color is the cylinder?",
    ]
    needed = "query(unique(filter(same(unique(filter(scene(), shape=cube)), size), shape=sphere)), material)"
    assert said(needed, "same_relate.json", 17)[2] == "What material is the sphere that is the same size as the cube?"


def test_nothing_is_described_like_something():
    """Like the cube, or what else is green: a short description would mean yes if nothing had a full one."""
    program = "exist(filter(filter(scene(), color=green), shape=cube))"
    assert said(program, "zero_hop.json", 1)[-1] == (
        "Are there any large green rubber cubes that are left of and behind the small red metal sphere, and right of "
        "and behind the small red rubber cube and the large blue metal sphere?"
    )


def test_what_is_counted_is_not_called_what_is_singled_out_already():
    """It is a small red rubber cube like the one that it is right of, but not said to be a cube."""
    where = scene(
        thing("small red rubber cube", -2), thing("large blue metal sphere", -1), thing("small red rubber cube", 0)
    )
    program = (
        "count(filter(relate(unique(filter(relate(unique(filter(scene(), color=blue)), left), "
        "shape=cube)), right), color=red))"
    )
    assert said(program, "two_hop.json", 0, where)[-1] == (
        "How many small red rubber things are to the right of the small red rubber cube that is to the left of the "
        "large blue metal sphere?"
    )


def test_the_sentence_never_goes_on_after_a_list_without_brackets():
    made = generate_levels([vehicles(k) for k in range(60)], builtin_templates(superclevr.SCHEMA), ["rd+"])["rd+"]
    found = [rest for q in made for rest in re.findall(",[^.?]*", re.sub(r"\([^()]*\)", "", q.text))]
    lists = [rest for rest in found if not rest.startswith((", taken together", ", how many"))]
    assert len(lists) > 200
    for rest in lists:
        assert not re.search(r" (?:same|also|or|than|as|have|made|how|what)\b|;", rest), rest


def test_no_relation_leads_to_what_the_question_speaks_of():
    """It would go round in a circle; the three spheres are all alike, so that nothing can be related to them."""
    where = scene(
        thing("large blue metal sphere", -4),
        thing("small red rubber cube", -2),
        thing("large blue metal sphere", 0),
        thing("small gray metal cylinder", 3),
        thing("large blue metal sphere", 5),
    )
    program = (
        "query(unique(filter(intersect(relate(unique(filter(scene(), color=red)), right), "
        "relate(unique(filter(scene(), color=gray)), left)), size=large)), shape)"
    )
    assert said(program, "single_and.json", 4, where)[2:] == [
        "What shape is the large thing that is to the right of the red thing and also to the left of the gray thing?",
        "What shape is the large blue metal thing that is to the right of the small red rubber cube and also to the "
        "left of the small gray metal cylinder?",
    ]


def test_a_category_is_an_element_like_any_other():
    program = "query(unique(filter(filter(scene(), color=red), shape=car)), material)"
    assert said(program, "zero_hop.json", 4, TRAFFIC) == [
        "What material is the red car?",
        "What material is the car?",
        "What material is the red car?",
        "What material is the large red car, which is left of the small gray rubber school bus, and left of and in "
        "front of the small red rubber tandem bike?",
    ]


def test_things_of_several_models_share_their_category():
    where = scene(
        thing("large red metal sedan", -2),
        thing("small red rubber truck", 0),
        thing("small gray metal jet", 2),
        schema=superclevr.SCHEMA,
    )
    more = said("count(filter(scene(), color=red))", "zero_hop.json", 0, where)[-1]
    assert more == "How many red cars are there that are left of the small gray metal jet?"


def test_words_that_keep_the_answer_from_being_given_away_stay():
    """All cubes are small, but "more cubes than red cubes?" needs no picture."""
    where = scene(
        thing("small red rubber cube", -2), thing("small blue rubber cube", 0), thing("large red metal sphere", 2)
    )
    program = (
        "greater(count(filter(filter(scene(), size=small), shape=cube)), "
        "count(filter(filter(scene(), color=red), shape=cube)))"
    )
    assert said(program, "compare_integer.json", 2, where)[:2] == [
        "Are there more small cubes than red cubes?",
        "Are there more small things than red cubes?",
    ]


def test_a_thing_is_not_told_by_the_relation_to_itself_what_is_asked_of_it():
    """The cube comes back as what the sphere is right of: its color must not be added there."""
    where = scene(
        thing("small red rubber cube", -2),
        thing("large blue metal sphere", 0),
        thing("large blue metal sphere", -4),
        thing("small gray metal cylinder", 3),
    )
    program = (
        "query(unique(filter(relate(unique(filter(relate(unique(filter(scene(), shape=cube)), right), "
        "color=blue)), left), size=small)), color)"
    )
    assert said(program, "two_hop.json", 3, where)[-1] == (
        "What color is the small rubber cube (left of the small gray metal cylinder) that is to the left of the large "
        "blue metal sphere (left of the small gray metal cylinder) that is to the right of the small rubber cube?"
    )


def test_a_twin_names_its_base_and_its_level():
    made = build_levels(
        THREE_AND_ONE,
        asked(THREE_AND_ONE, "count(filter(filter(scene(), size=small), color=red))", "zero_hop.json", 0),
        builtin_templates(clevr.SCHEMA),
    )
    less = made["rd-"]
    assert (less.id, less.note("twin"), less.note("redundancy")) == ("q_rd-", "q", "rd-")
    assert format_program(less.program) == "count(filter(scene(), color=red))"
    assert (made["rd"].id, made["rd"].note("twin")) == ("q", None)


def test_questions_about_parts_are_left_as_they_are():
    asked_of_parts = generate_questions([TRAFFIC], builtin_part_templates(superclevr.SCHEMA), per_image=4)
    made = generate_levels([TRAFFIC], builtin_part_templates(superclevr.SCHEMA), per_image=4)
    assert asked_of_parts
    for level in ("rd-", "rd+"):
        assert [q.text for q in made[level]] == [q.text for q in asked_of_parts]
        assert [q.note("twin") for q in made[level]] == [q.id for q in asked_of_parts]


def test_unknown_levels_are_refused(refuses):
    with refuses("no level of redundancy 'rd*'; did you mean 'rd'?"):
        generate_levels([THREE_AND_ONE], builtin_templates(clevr.SCHEMA), ["rd*"])


def vehicles(k: int) -> Scene:
    """3 to 10 vehicles anywhere."""
    return _anything(superclevr.SCHEMA, k)


def _anything(schema: Schema, k: int) -> Scene:
    rng = derive("redundancy", schema.name, k)
    objects = [
        Object(
            attributes=tuple((a.name, a.values[rng.integers(len(a.values))]) for a in schema.attributes),
            position=tuple(rng.uniform(-3, 3, 3).tolist()),
        )
        for _ in range(rng.integers(3, 11))
    ]
    return Scene(tuple(objects), directions=PLANE, schema=schema, id=str(k))


def clevr_scenes(count: int) -> list[Scene]:
    return [clevr_scene(5, "redundancy", i) for i in range(count)]


def proven(scenes: list[Scene], per_image: int = 10) -> int:
    """How many questions there are; each is checked at each level."""
    made = generate_levels(scenes, builtin_templates(scenes[0].schema), per_image=per_image)
    by_id = {s.id: s for s in scenes}
    for less, plain, more in zip(*(made[level] for level in LEVELS), strict=True):
        where = by_id[plain.scenes[0]]
        assert check_minimal(where, less) == (), less.text
        assert check_saturated(where, more, plain) == (), more.text
        assert check_twin(where, less, plain) == check_twin(where, more, plain) == (), (less.text, more.text)
    return len(made["rd"])


def test_every_question_is_minimal_and_saturated():
    assert proven(clevr_scenes(8)) == 80
    assert proven([vehicles(k) for k in range(16)]) == 160


@pytest.mark.full
def test_ten_thousand_questions_are_minimal_and_saturated():
    assert proven(clevr_scenes(500)) + proven([vehicles(k) for k in range(600)]) >= 10_000


def test_our_own_questions_have_no_relation_to_spare_but_that_of_being_alike():
    scenes = [vehicles(k) for k in range(20)]
    templates = builtin_templates(superclevr.SCHEMA)
    came = generate_questions(scenes, templates)
    for question, plain in zip(came, generate_levels(scenes, templates, ["rd"])["rd"], strict=True):
        if plain != question:
            assert "same" in {n.op for n in question.program.nodes} - {n.op for n in plain.program.nodes}
            assert plain.program.nodes[-1].op == "query"


def test_where_no_relation_may_go_none_does():
    """Asked of other scenes, questions have relations to spare."""
    scenes = [vehicles(k) for k in range(40)]
    questions = generate_questions(scenes, builtin_templates(superclevr.SCHEMA))
    worlds = [ExecutionWorld((s,)) for s in scenes]
    gone = {True: 0, False: 0}
    stayed = dict(gone)
    for k, question in enumerate(questions):
        for world in (worlds[k // 10], worlds[(k + 1) % 40]):
            run = execute(question.program, world)
            if run.is_defined:
                may = may_drop_relation(question.program, run.values, world)
                tree = build_tree(question.program, run.values)
                went = drop_all(tree, world, superclevr.SCHEMA, relations_only=True) > 0
                (gone if went else stayed)[may] += 1
    assert gone[False] == 0
    assert gone[True] > 20
    assert stayed[False] > 5 * stayed[True]


def test_more_is_said_in_the_words_of_the_same_template():
    made = generate_levels([vehicles(k) for k in range(20)], builtin_templates(superclevr.SCHEMA), ["rd", "rd+"])
    for plain, more in zip(made["rd"], made["rd+"], strict=True):
        assert more.provenance == plain.provenance


@pytest.fixture(scope="module")
def of_a_hundred_scenes() -> dict[str, list[Question]]:
    scenes = [vehicles(k) for k in range(100)]
    return generate_levels(scenes, builtin_templates(superclevr.SCHEMA), ["rd", "rd+"])


@pytest.mark.parametrize("answers", ["whether there is any", "how many there are"])
def test_how_much_is_said_does_not_tell_the_answer(of_a_hundred_scenes, answers):
    """Guessing by the look of the description is right no more often than in rd, give or take 5 in 100."""
    op = "exist" if answers == "whether there is any" else "count"
    rate = {}
    for level, questions in of_a_hundred_scenes.items():
        looks = [(look(q), bool(q.answer)) for q in questions if q.program.nodes[-1].op == op]
        assert len(looks) > 100
        rate[level] = guessed(looks)
    assert rate["rd+"] <= rate["rd"] + 0.05


def look(question: Question) -> tuple[object, ...]:
    """How many relations there are, how many words the set has that is asked about, and of which sort."""
    nodes = question.program.nodes
    at, words = nodes[-1].inputs[0], {}
    while nodes[at].op == "filter":
        words[nodes[at].params[0]] = nodes[at].params[1]
        at = nodes[at].inputs[0]
    noun = words.get("shape")
    model = noun in superclevr.SCHEMA.attribute("shape").values
    related = sum(n.op == "relate" for n in nodes)
    return nodes[at].op, related, len(words), "model" if model else "category" if noun else "thing"


def guessed(looks: list[tuple[tuple[object, ...], bool]]) -> float:
    """How often the best guess for each look is right; a look seen once tells nothing."""
    by_look: dict[tuple[object, ...], list[bool]] = {}
    for key, answer in looks:
        by_look.setdefault(key, []).append(answer)
    best = [max(sum(a), len(a) - sum(a)) if len(a) > 1 else 0.5 for a in by_look.values()]
    return sum(best) / len(looks)


WORDS = {  # as CLEVR's questions say them
    **{w: ("size", v) for v, ways in (("small", "small tiny"), ("large", "large big")) for w in ways.split()},
    **{
        w: ("material", v)
        for v, ways in (("rubber", "rubber matte"), ("metal", "metal metallic shiny"))
        for w in ways.split()
    },
    **{
        w: ("shape", v)
        for v, ways in (("cube", "cube block"), ("sphere", "sphere ball"), ("cylinder", "cylinder"))
        for w in ways.split()
    },
    **{v: ("color", v) for v in clevr.SCHEMA.attribute("color").values},
    "thing": None,
    "object": None,
    "one": None,
}
NOUN = f"(?:{'|'.join(WORDS)})"
THING = f"the(?: {NOUN}(?![a-z]))+"
SIDE = "(?:left of|right of|in front of|behind)"
GROUP = f"{SIDE}(?: and {SIDE})* {THING}(?:, {THING})*(?: and {THING})?"
CLAUSE = re.compile(rf"((?:{NOUN} )*{NOUN})(s?)(, which is| \()\s?({GROUP}(?:, {GROUP})*(?:, and {GROUP})?)")


def look_up(where: Scene, words: str) -> set[int]:
    """The objects that a description fits."""
    wanted = [pair for word in words.split() if (pair := WORDS[word])]
    return {i for i, o in enumerate(where.objects) if all(dict(o.attributes)[name] == v for name, v in wanted)}


def list_relations(clause: str) -> list[tuple[str, str]]:
    """(side, description) of a clause, read as anyone would: a list of sides and the things it is said of."""
    found = []
    for group in re.findall(GROUP, clause):
        sides = re.match(rf"{SIDE}(?: and {SIDE})*", group)[0].split(" and ")
        things = re.findall(THING, group)
        found += [(side, thing.removeprefix("the ")) for side in sides for thing in things]
    return found


def test_a_clause_is_true_of_the_noun_before_it():
    """Read from the text alone, with the nearest noun as what each clause is about."""
    names = {"left of": "left", "right of": "right", "in front of": "front", "behind": "behind"}
    scenes = {s.id: s for s in clevr_scenes(40)}
    made = generate_levels(list(scenes.values()), builtin_templates(clevr.SCHEMA), ["rd+"])["rd+"]
    clauses = relations = 0
    for q in made:
        where = scenes[q.scenes[0]]
        for head, _, link, clause in CLAUSE.findall(q.text):
            things = look_up(where, head)
            rows = []
            for side, words in list_relations(clause):
                (other,) = look_up(where, words)
                rows.append({i for i in things if where.relation(names[side])[other] >> i & 1})
                relations += 1
            clauses += 1
            if link == ", which is":  # of what the noun alone singles out
                assert all(row == things for row in rows), q.text
            elif type(q.answer) is str:  # no set is empty
                assert set.intersection(*rows), q.text
        assert q.text.count(", which is") + q.text.count("(") == len(CLAUSE.findall(q.text)), q.text
    assert clauses > 400
    assert relations > 4 * clauses


SCRIPT = """
import sys
sys.path[:0] = {path!r}
from test_clevr_redundancy import vehicles
from shiftscope.questions.clevr.template_sets import builtin_templates
from shiftscope.questions.clevr.redundancy import generate_levels
from shiftscope.records import content_id
from shiftscope.schemas.superclevr import SCHEMA
made = generate_levels([vehicles(k) for k in range(4)], builtin_templates(SCHEMA), ["rd+", "rd-"])
print(content_id([q.to_json() for level in made.values() for q in level]))
"""


@pytest.mark.full
def test_the_same_twins_whatever_the_hash_seed():
    here = Path(__file__).parent
    printed = run_script(SCRIPT.format(path=[str(here), str(here.parents[2])]), "4242")
    made = generate_levels([vehicles(k) for k in range(4)], builtin_templates(superclevr.SCHEMA), ["rd+", "rd-"])
    assert printed.strip() == content_id([q.to_json() for level in made.values() for q in level])
