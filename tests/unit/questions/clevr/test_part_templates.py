"""Questions about parts: true of what the picture shows, well worded, and apart from those about objects."""

import re
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shiftscope.english.synonyms import Lexicon
from shiftscope.geometry.shapes.superclevr import load_vehicle
from shiftscope.lang.exec.exact import execute
from shiftscope.lang.exec.packed import execute_many
from shiftscope.lang.program import Program
from shiftscope.questions.clevr.generator import generate_questions
from shiftscope.questions.clevr.template import Template, TemplateConstraint, TemplateNode, TemplateSet, TemplateSlot
from shiftscope.questions.clevr.template_sets import builtin_part_templates, builtin_templates
from shiftscope.questions.clevr.vocabulary import SlotVocabulary
from shiftscope.render.raster import render
from shiftscope.rng import derive
from shiftscope.scene import Object, Part, Scene
from shiftscope.scene_table import pack_scenes
from shiftscope.schemas import clevr, superclevr
from shiftscope.world.superclevr import RULES, sample_scene
from toy import scene, thing
from worlds import PLANE, random_scene

SCHEMA = superclevr.SCHEMA
PARTS, OBJECTS = builtin_part_templates(SCHEMA), builtin_templates(SCHEMA)


def part(name, color, material="metal", size="large"):
    return Part(name, (("size", size), ("color", color), ("material", material)))


def traffic_scene(k):
    """Three to ten whole vehicles; up to three parts of each in a colour that its body does not have."""
    rng = derive("part questions", k)

    def one(values):
        return values[rng.integers(len(values))]

    objects = []
    for _ in range(rng.integers(3, 11)):
        own = {a.name: one(a.values) for a in SCHEMA.attributes}
        colors = [c for c in SCHEMA.attribute("color").values if c != own["color"]]
        names = rng.choice(len(superclevr.PART_NAME.values), size=rng.integers(0, 4), replace=False)
        parts = tuple(
            part(superclevr.PART_NAME.values[i], one(colors), one(("rubber", "metal")), own["size"])
            for i in sorted(names)
        )
        where = (*rng.uniform(-3, 3, 2).tolist(), 0.0)
        objects.append(Object(attributes=tuple(own.items()), parts=parts, position=where))
    return Scene(tuple(objects), directions=PLANE, schema=SCHEMA, id=f"t{k}", notes=(("image_index", k),))


SCENES = [traffic_scene(k) for k in range(150)]


@pytest.fixture(scope="module")
def asked():
    return generate_questions(SCENES, PARTS, seed=3)


def texts(found):
    return {q.text for q in found}


def only(file, family):
    return TemplateSet(tuple(t for t in PARTS.templates if (t.file, t.family) == (file, family)))


def everything_asked(one, templates, seeds=40):
    return texts(q for s in range(seeds) for q in generate_questions([one], templates, seed=s))


def test_there_are_33_families_in_four_groups():
    assert Counter(t.file for t in PARTS.templates) == {
        "part_values.json": 9,
        "part_owners.json": 11,
        "part_counts.json": 7,
        "part_comparison.json": 6,
    }
    assert len({(t.file, t.family) for t in PARTS.templates}) == 33
    assert all(len(t.texts) > 1 and len(set(t.texts)) == len(t.texts) for t in PARTS.templates)


def test_a_schema_without_parts_is_refused(refuses):
    with refuses("schema clevr has no closed attributes of parts to ask about"):
        builtin_part_templates(clevr.SCHEMA)


def test_every_scene_gets_its_ten_and_every_family_its_share(asked):
    assert len(asked) == 1500
    shares = Counter((q.provenance.template, q.provenance.family) for q in asked)
    assert len(shares) == 33
    *rest, rarest = sorted(shares.values(), reverse=True)
    assert rest[0] <= rest[-1] + 2
    assert rarest > rest[0] / 2  # the color of a part named outright, on a vehicle found by another part


def test_the_packed_engine_and_the_plain_executor_agree(asked):
    number = {s.id: k for k, s in enumerate(SCENES)}
    packed = execute_many([q.program for q in asked], pack_scenes(SCENES), [number[q.scenes[0]] for q in asked])
    assert list(packed) == [q.answer for q in asked]
    for q in asked[::20]:
        assert execute(q.program, SCENES[number[q.scenes[0]]]).answer == q.answer


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000), st.integers(0, 1 << 40))
def test_any_scene_can_be_asked_about(k, seed):
    one = random_scene(SCHEMA, k)
    for q in generate_questions([one], PARTS, seed=seed):
        assert execute(q.program, one).answer == q.answer


def test_answers_are_balanced(asked):
    found = {}
    for q in asked:
        found.setdefault((q.provenance.template, q.provenance.family), Counter())[q.answer] += 1
    for answers in found.values():
        if set(answers) <= {True, False} or set(answers) <= {"rubber", "metal"}:
            assert max(answers.values()) <= 1.15 * min(answers.values()) + 2, answers
        if all(type(a) is int for a in answers):
            assert max(answers) <= 10  # more parts than that are not counted
            assert len(answers) >= 3


def test_a_part_is_said_by_the_word_that_takes_in_all_it_could_mean(asked):
    said = {n.params[1] for q in asked for n in q.program.nodes if n.params[:1] == ("name",) and n.op == "filter"}
    assert {"wheel", "front wheel", "front left wheel", "roof", "wing_left", "any engine"} <= said
    assert not said & {"wheel_front", "front_left_wheel", "wheel_front_left", "engine", "seat", "left_mirror"}


def test_the_name_of_a_part_is_asked_and_no_two_answers_read_alike(asked):
    named = [q for q in asked if q.kind == "partquery_partname"]
    assert len(named) > 0.08 * len(asked)
    answers = {q.answer for q in named}
    assert answers <= set(superclevr.PART_NAME.values)
    assert len(answers) > 40
    ways = Lexicon(SCHEMA).list_synonyms
    assert len({ways(a) for a in answers}) == len(answers)


def with_all_parts(one):
    """The scene with every part of every vehicle: those it does not list have what their vehicle has."""
    objects = []
    for o in one.objects:
        own, listed = dict(o.attributes), {p.name for p in o.parts}
        rest = [n for n in dict(SCHEMA.parts)[own["shape"]] if n not in listed]
        objects.append(
            replace(o, parts=(*o.parts, *(part(n, own["color"], own["material"], own["size"]) for n in rest)))
        )
    return replace(one, objects=tuple(objects))


def test_answers_are_true_of_the_picture_which_shows_every_part():
    """Scenes of our world, whose vehicles have only parts that they can have."""
    scenes = [sample_scene(7, "parts", k) for k in range(12)]
    whole = {s.id: with_all_parts(s) for s in scenes}
    found = generate_questions(scenes, PARTS)
    assert len(found) == 120
    for q in found:
        assert execute(q.program, whole[q.scenes[0]]).answer == q.answer, q.text


def test_what_is_asked_about_is_seen():
    """At least 50 pixels at 640×480, and so many less in a smaller image."""
    least = RULES.scale_pixels(RULES.part_pixels)
    assert (RULES.part_pixels, least) == (50, 25.0)
    scenes = [sample_scene(7, "parts", k) for k in range(4)]
    planes = render(scenes, layers=("listed",)).listed
    for one, plane in zip(scenes, planes, strict=True):
        count = sum(len(o.parts) for o in one.objects)
        assert count
        assert np.bincount(plane.ravel(), minlength=count + 1)[1 : count + 1].min() >= least


NAME = Template(
    "name",
    0,
    (TemplateSlot("<C>", "Color"), TemplateSlot("<S>", "Shape")),
    ("Which part of the <S> is <C>?",),
    (
        TemplateNode("scene"),
        TemplateNode("filter_unique", (0,), ("<S>",)),
        TemplateNode("object2part", (1,)),
        TemplateNode("partfilter_unique", (2,), ("<C>",)),
        TemplateNode("partquery_partname", (3,)),
    ),
)


def test_where_templates_ask_for_names_one_of_two_that_read_alike_is_an_answer():
    names = {q.answer for q in generate_questions(SCENES[:60], TemplateSet((NAME,)))}
    assert {"roof", "wheel_front"} <= names
    ways = Lexicon(SCHEMA).list_synonyms
    assert len({ways(n) for n in names}) == len(names)
    assert SCHEMA.canonical("front left wheel") == "front_left_wheel"


def models_of(shape):
    return dict(SCHEMA.attribute("shape").kinds).get(shape, (shape,))


def can_have(shape, name):
    parts = {p for model in models_of(shape) for p in dict(SCHEMA.parts)[model]}
    return bool(parts & {*dict(superclevr.PART_KINDS).get(name, (name,))})


def test_a_part_is_not_missed_where_no_such_vehicle_could_have_it(asked):
    """Whether the motorbike has a red hood needs no picture."""
    looked_at = 0
    worlds = {s.id: s for s in SCENES}
    for q in asked:
        values = execute(q.program, worlds[q.scenes[0]]).values
        for at, n in enumerate(q.program.nodes):
            if n.op == "filter" and n.params[0] == "name" and values[at] == 0:
                said = {}
                while q.program.nodes[at].op in ("filter", "unique", "parts"):
                    said |= [q.program.nodes[at].params] if q.program.nodes[at].op == "filter" else []
                    at = q.program.nodes[at].inputs[0]
                if "shape" in said:
                    looked_at += 1
                    assert can_have(said["shape"], said["name"]), q.text
    assert looked_at > 10


def test_the_parts_that_vehicles_can_have_are_those_they_are_built_with():
    for model, parts in SCHEMA.parts:
        assert set(parts) == {p for p in load_vehicle(model).parts if p != "body" and not p.startswith("_")}
    assert tuple(model for model, _ in SCHEMA.parts) == superclevr.SHAPE.values
    assert {p for _, parts in SCHEMA.parts for p in parts} <= set(superclevr.PART_NAME.values)


def test_no_word_of_a_description_has_a_wider_meaning_than_its_term():
    vocabulary = SlotVocabulary.from_schema(SCHEMA)
    ways = Lexicon(SCHEMA).list_synonyms
    for column in range(len(vocabulary.columns)):
        offered = vocabulary.offers[column, 1 : 1 + vocabulary.offers[column, 0]].tolist()
        words = [w for c in offered for w in ways(vocabulary.names[c])]
        assert len(words) == len(set(words))
        assert "addi" not in [vocabulary.names[c] for c in offered]


BUS = thing("large red metal school", 0, 0, part("roof", "blue"), part("wheel_front_left", "cyan", "rubber"))


def test_a_part_whose_color_is_asked_is_named_outright():
    lone = scene(BUS, thing("small gray rubber sedan", 2), schema=SCHEMA)
    found = everything_asked(lone, only("part_values.json", 0))
    assert any(re.match(r"What color is the (metal|metallic|shiny)? ?roof of the ", t) for t in found)
    assert any(" front left wheel of the " in t for t in found)
    assert not any(re.search(r"(rubber|matte|the|metal|metallic|shiny) (front )?(wheel|part) of", t) for t in found)
    found = everything_asked(lone, only("part_values.json", 1))
    assert any(" cyan wheel of the " in t for t in found)


def test_a_part_is_not_found_by_a_color_that_its_vehicle_may_have():
    """Every wheel of the red car is red."""
    two = scene(
        thing("large gray metal sedan", 0, 0, part("front_left_wheel", "red"), part("roof", "green")),
        thing("large red metal truck", 2, 0, part("roof", "green")),
        schema=SCHEMA,
    )
    for file, family in (("part_counts.json", 0), ("part_owners.json", 9)):
        found = everything_asked(two, only(file, family))
        assert any("green" in t for t in found)
        assert not any("red" in t or "gray" in t for t in found)


def test_a_vehicle_is_found_by_its_part_alone_where_it_must_be():
    two = scene(
        thing("large red metal sedan", 0, 0, part("roof", "blue")),
        thing("large gray metal sedan", 2, 0, part("roof", "green")),
        schema=SCHEMA,
    )
    found = everything_asked(two, only("part_owners.json", 1))
    assert found
    assert all(re.search(r"with a (blue|green)", t) for t in found)  # both have a roof
    one = scene(thing("large red metal sedan", 0, 0, part("roof", "blue")), schema=SCHEMA)
    assert everything_asked(one, only("part_owners.json", 1)) == set()  # it is the only vehicle anyway


def test_what_one_vehicle_has_at_most_once_is_not_counted():
    lone = scene(BUS, thing("small gray rubber sedan", 2), schema=SCHEMA)
    found = everything_asked(lone, only("part_counts.json", 2))
    assert any("wheels" in t for t in found)
    assert not any("roofs" in t or "left wheels" in t for t in found)


def without(program, at, source):
    """The program with what node `at` gives replaced by what node `source` gives."""
    nodes = tuple(replace(n, inputs=tuple(source if i == at else i for i in n.inputs)) for n in program.nodes)
    return Program(nodes)


def test_no_part_could_be_left_out_of_a_question(asked):
    looked_at = 0
    number = {s.id: s for s in SCENES}
    for q in asked:
        for at, n in enumerate(q.program.nodes):
            if n.op == "owners":
                source = at
                while q.program.nodes[source].op != "parts":
                    source = q.program.nodes[source].inputs[0]
                shorter = without(q.program, at, q.program.nodes[source].inputs[0])
                assert execute(shorter, number[q.scenes[0]]).answer != q.answer, q.text
                looked_at += 1
    assert looked_at > 300


SLIPS = [
    r"  |\s$|^\s|[<>\[\]{}_]| [?,.;]|[?,;.][?,;.]",
    r"\b[Aa] [aeioAEIO]|\b[Aa]n [^aeioAEIOS]|\b[Aa] SUV|buss\b|suv\b",
    r"\b(\w+) \1\b",
    r"\b(?:the|an?|any) (?:the|an?|any|its)\b",
    r"\b(?:wheel|door|light|mirror|part)s? (?:of|on) (?:the )?(?:wheel|door|light|mirror|part)",
    r"\b(?:any|How many) (?:\w+ )?\w+ (?:wheel|door|part|mirror|wing|roof)\b",
    r"repainted",
]


@pytest.mark.parametrize("slip", SLIPS)
def test_no_slip_of_grammar(asked, slip):
    assert [q.text for q in asked if re.search(slip, q.text)] == []


def test_wordings_vary_and_every_one_is_a_question(asked):
    assert len({q.text.split()[0] for q in asked}) >= 8
    assert len(texts(asked)) > 0.95 * len(asked)
    assert all(q.text[0].isupper() and q.text.endswith("?") for q in asked)


def test_the_two_kinds_of_questions_are_told_apart(asked):
    about_objects = generate_questions(SCENES, OBJECTS, seed=3)
    ids = [q.id for q in asked + about_objects]
    assert len(set(ids)) == len(ids)
    assert {"t0_0", "t0_9", "t0_part0", "t0_part9"} <= set(ids)


def test_a_set_of_templates_by_another_name_asks_other_questions():
    some = SCENES[:20]
    assert texts(generate_questions(some, OBJECTS)) != texts(generate_questions(some, replace(OBJECTS, name="again")))


def test_questions_about_objects_do_not_look_at_parts_or_textures():
    bare = [replace(s, objects=tuple(replace(o, parts=(), texture="striped") for o in s.objects)) for s in SCENES[:60]]
    assert generate_questions(bare, OBJECTS, seed=5, split="val") == generate_questions(
        SCENES[:60], OBJECTS, seed=5, split="val"
    )


def test_questions_about_parts_do_not_look_at_textures():
    painted = [
        replace(
            s, objects=tuple(replace(o, parts=tuple(replace(p, texture="dotted") for p in o.parts)) for o in s.objects)
        )
        for s in SCENES[:60]
    ]
    assert generate_questions(painted, PARTS, seed=5) == generate_questions(SCENES[:60], PARTS, seed=5)


def test_things_of_super_clevr_are_vehicles():
    said = " ".join(q.text for q in generate_questions(SCENES[:100], OBJECTS, seed=1))
    assert " vehicle " in said
    assert " object" not in said
    assert "same model" in said
    assert "shape" not in said


def test_a_part_set_must_be_told_apart_by_words():
    """`APART` works on parts: more red wheels than red front wheels is no question."""
    slots = (
        TemplateSlot("<C>", "Color"),
        TemplateSlot("<P>", "Partname"),
        TemplateSlot("<C2>", "Color"),
        TemplateSlot("<P2>", "Partname"),
    )
    template = Template(
        "apart",
        0,
        slots,
        ("More <C> <P>s than <C2> <P2>s?",),
        (
            TemplateNode("scene"),
            TemplateNode("object2part", (0,)),
            TemplateNode("partfilter_count", (1,), ("<C>", "<P>")),
            TemplateNode("partfilter_count", (1,), ("<C2>", "<P2>")),
            TemplateNode("greater_than", (2, 3)),
        ),
        (TemplateConstraint("APART", (2, 3)),),
    )
    found = generate_questions(SCENES[:40], TemplateSet((template,)))
    assert len(found) > 100
    inside = dict(superclevr.PART_KINDS)
    both_named = 0
    for q in found:
        count = q.program.root.inputs[0]
        left, right = (
            {n.params[0]: n.params[1] for n in nodes if n.op == "filter"}
            for nodes in (q.program.nodes[:count], q.program.nodes[count:])
        )
        if set(left) == set(right) == {"color", "name"} and left["color"] == right["color"]:
            one, other = ({*inside.get(d["name"], (d["name"],))} for d in (left, right))
            assert not one <= other
            assert not other <= one
            both_named += 1
    assert both_named > 10
