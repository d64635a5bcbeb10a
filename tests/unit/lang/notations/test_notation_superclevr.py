"""Super-CLEVR programs with the generator's own names of parts, as its engine reads them."""

import pytest

import reference_parts
from random_programs import generate_random_program
from reference import Invalid
from shiftscope.formats.clevr import format_scene
from shiftscope.lang.exec.exact import execute
from shiftscope.lang.notations import superclevr
from shiftscope.lang.program import ProgramError
from shiftscope.lang.text import format_program, parse_program
from shiftscope.rng import derive
from shiftscope.scene import Relation, Scene
from shiftscope.schemas.superclevr import OFFICIAL_TERMS, PART_NAME, PART_NAMES, SCHEMA, drop_places
from worlds import random_scene

GENERATORS_OWN = [
    "brake_system",
    "bumper",
    "carrier",
    "cover",
    "crank_arm",
    "door",
    "drive_chain",
    "engine",
    "exhaust",
    "fender",
    "fin",
    "footrest",
    "fork",
    "gas_tank",
    "handle",
    "head_light",
    "headlight",
    "hood",
    "license_plate",
    "mirror",
    "panel",
    "pedal",
    "propeller",
    "rearlight",
    "roof",
    "saddle",
    "seat",
    "side_stand",
    "tail_light",
    "taillight",
    "tailplane",
    "trunk",
    "wheel",
    "windscreen",
    "wing",
]
OPS = (
    *("scene", "filter", "unique", "relate", "union", "intersect", "count", "exist"),
    *("query", "same", "equal", "less", "greater", "parts", "owners"),
)


def entry(function, inputs=(), *values):
    return {"function": function, "inputs": list(inputs), "value_inputs": list(values)}


def name_filter(word):
    return [entry("scene"), entry("object2part", [0]), entry("partfilter_partname", [1], word), entry("count", [2])]


def test_the_generator_names_35_kinds_of_parts():
    assert sorted({drop_places(name) for name in PART_NAMES}) == GENERATORS_OWN


@pytest.mark.parametrize("word", [*GENERATORS_OWN, "wheel_front", "wheel_back", "door_mid_left", "left_head_light"])
def test_an_official_name_finds_every_name_that_contains_it(word):
    listed = name_filter(word)
    program = superclevr.read(listed)
    (_, term) = program.nodes[2].params
    assert set(dict(PART_NAME.kinds).get(term, (term,))) == {name for name in PART_NAMES if word in name}
    assert superclevr.write(program) == listed


def test_a_term_of_ours_is_a_union_of_official_names_and_is_read_back():
    program = parse_program('count(filter(parts(scene()), name="headlight"))')
    listed = superclevr.write(program)
    assert [n["value_inputs"] for n in listed if n["value_inputs"]] == [["head_light"], ["headlight"]]
    assert [n["function"] for n in listed][-2:] == ["union", "count"]
    assert superclevr.read(listed) == program


@pytest.mark.parametrize("term", PART_NAME.terms)
def test_every_term_round_trips_or_is_refused(term):
    program = parse_program(f'exist(filter(parts(scene()), name="{term}"))')
    if term in ("engine", "license_plate", "wheel_back", "wheel_front"):  # always found inside longer names too
        with pytest.raises(ProgramError, match=f"no Super-CLEVR name of a part finds '{term}' alone"):
            superclevr.write(program)
    else:
        assert superclevr.read(superclevr.write(program)) == program


def test_a_union_that_is_no_term_stays_a_union():
    text = "count(union(filter(a, name=roof), filter(a, name=trunk)))"
    program = parse_program(f"a = parts(scene()); {text}")
    assert superclevr.read(superclevr.write(program)) == program


def test_a_filter_that_something_else_reads_is_not_folded_away():
    mirrors = "l = filter(a, name=left_mirror); r = filter(a, name=mirror_left)"
    program = parse_program(f"a = parts(scene()); {mirrors}; less(count(l), count(union(l, r)))")
    assert superclevr.read(superclevr.write(program)) == program


def test_one_part_is_found_by_unique_as_the_engine_has_it():
    program = parse_program("query(unique(filter(parts(scene()), name=roof)), color)")
    assert [n["function"] for n in superclevr.write(program)][-2:] == ["unique", "partquery_color"]


@pytest.mark.parametrize(
    ("one", "asked"),
    [("uniquepart", "partquery_color"), ("unique", "query_color"), ("unique", "query_partname"), ("uniquepart", "query_size")],
)  # fmt: skip
def test_other_names_of_a_function_come_back(one, asked):
    listed = [*name_filter("roof")[:3], entry(one, [2]), entry(asked, [3])]
    assert superclevr.write(superclevr.read(listed)) == listed
    turned = [listed[0], entry("object2part", [0]), entry("partfilter_partname", [1], "roof"), *listed[3:]]
    assert superclevr.read(turned) == superclevr.read(listed)


def test_random_programs_answer_as_the_official_engine_does():
    rng = derive("official engine")
    answered = refused = 0
    scenes = [whole(random_scene(SCHEMA, k)) for k in range(200)]
    official = [format_scene(scene) for scene in scenes]
    for k in range(4000):
        scene = scenes[k % 200]
        program = generate_random_program(rng, SCHEMA, OPS)
        try:
            listed = superclevr.write(program)
        except ProgramError:
            refused += 1
            continue
        assert superclevr.read(listed) == program
        try:
            expected = reference_parts.run(listed, official[k % 200])
        except Invalid:
            assert not execute(program, scene).is_defined
            continue
        answered += 1
        assert execute(program, scene).answer == expected, format_program(program)
    assert answered > 300
    assert refused < 2000


def whole(scene: Scene) -> Scene:
    """Official objects and parts have every attribute, and stored relations."""
    attributes = {a.name for a in SCHEMA.attributes}
    full = {a.name for a in SCHEMA.part_attributes} - {"name"}
    kept = tuple(
        o
        for o in scene.objects
        if {a for a, _ in o.attributes} == attributes and all({a for a, _ in p.attributes} == full for p in o.parts)
    )
    bare = Scene(kept, directions=scene.directions, schema=scene.schema, id=scene.id)
    rows = tuple(Relation(name, bare.relation(name)) for name, _ in scene.directions)
    return Scene(kept, rows, scene.directions, schema=scene.schema, id=scene.id)


def test_official_terms_cover_every_name_and_stem():
    assert OFFICIAL_TERMS.keys() == {*PART_NAMES, *GENERATORS_OWN}
