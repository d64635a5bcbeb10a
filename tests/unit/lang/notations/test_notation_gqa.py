"""GQA's programs read, run and print back, in both notations."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shiftscope.lang.check import check
from shiftscope.lang.exec.exact import execute
from shiftscope.lang.notations import gqa
from shiftscope.lang.program import ProgramError
from shiftscope.lang.text import format_program, parse_program
from shiftscope.scene import Object, Relation, Scene
from shiftscope.schemas.gqa import SCHEMA


def listed(*lines: str) -> list[dict[str, object]]:
    """`relate: man,on,s [0]` → a node of a `semantic` list."""
    nodes = []
    for line in lines:
        operation, _, rest = line.partition(": ")
        argument, bracket, numbers = rest.rpartition(" [")
        if not bracket:
            argument, numbers = rest, "]"
        dependencies = [int(n) for n in numbers[:-1].split(", ") if n]
        nodes.append({"operation": operation, "dependencies": dependencies, "argument": argument})
    return nodes


MEANINGS = {
    ("select: snow (12)", "relate: person,in,s (7) [0]", "relate: _,wearing,o (9) [1]", "query: name [2]"): (
        "query(unique(related(filter(related(find(snow), in), name=person), wearing, object)), name)"
    ),
    ("select: shirt (4)", "filter cleanliness: not(clean) [0]", "choose color: orange|light blue [1]"): (
        'choose(unique(exclude(find(shirt), cleanliness=clean)), color, orange, "light blue")'
    ),
    ("select: cow (-)", "exist: ? [0]", "select: fence (5) ", "exist: ? [2]", "or:  [1, 3]"): (
        "or(exist(find(cow)), exist(find(fence)))"
    ),
    ("select: water (1)", "verify color: dark [0]", "verify size: small  [0]", "and:  [1, 2]"): (
        "a = unique(find(water)); and(verify(a, color=dark), verify(a, size=small))"
    ),
    ("select: sky (1)", "verify weather: not(clear) [0]"): "not(verify(unique(find(sky)), weather=clear))",
    ("select: scene", "query: place [0]"): "query_image(place)",
    ("select: scene", "choose weather: foggy|rainy [0]"): "choose_image(weather, foggy, rainy)",
    ("select: scene", "verify location: indoors [0]", "verify weather: clear [0]", "and:  [1, 2]"): (
        "and(verify_image(location=indoors), verify_image(weather=clear))"
    ),
    ("select: chair (3)", "verify rel: man,behind,o (-) [0]"): (
        "exist(filter(related(find(chair), behind, object), name=man))"
    ),
    ("select: chair (3)", "relate: man,behind,o (-) [0]", "exist: ? [1]"): (
        "exist(filter(related(find(chair), behind, object), name=man))"
    ),
    ("select: man (3)", "choose rel: cup,to the left of|to the right of,s (8) [0]"): (
        'choose_relation(unique(find(man)), find(cup), "to the left of", "to the right of")'
    ),
    ("select: man (1)", "select: boy (2) ", "choose older:  [0, 1]"): (
        "choose_more(unique(find(man)), unique(find(boy)), older)"
    ),
    ("select: pie (1)", "select: apple (2) ", "choose less healthy:  [0, 1]"): (
        'choose_more(unique(find(pie)), unique(find(apple)), "less healthy")'
    ),
    ("select: cup (1)", "select: mug (2)", "same color:  [0, 1]"): "alike(find(cup), find(mug), color)",
    ("select: animal (1,2)", "different: type [0]"): "differ(find(animal), find(animal), name)",
    ("select: cup (1)", "select: mug (2)", "common:  [0, 1]"): "common(find(cup), find(mug))",
    ("select: sofa (1)", "relate: chair,same color,_ (2) [0]", "exist: ? [1]"): (
        "exist(filter(same(unique(find(sofa)), color), name=chair))"
    ),
    ("select: this (1)", "filter: ripe [0]", "query: name [1]"): (
        "query(unique(filter(scene(), attribute=ripe)), name)"
    ),
}


@pytest.mark.parametrize("lines", MEANINGS, ids="->".join)
def test_a_semantic_list_means_what_our_notation_says_and_prints_back(lines):
    program = gqa.read(listed(*lines))
    check(program)
    assert format_program(program) == MEANINGS[lines]
    assert gqa.write(program) == listed(*lines)
    assert gqa.format_line(gqa.write(program)) == "->".join(lines)


def test_a_program_that_was_never_in_a_file_prints_without_ids():
    program = parse_program("choose(unique(filter(related(find(table), on), name=cup)), color, red, blue)")
    assert gqa.format_line(gqa.write(program)) == ("select: table->relate: cup,on,s [0]->choose color: red|blue [1]")
    assert gqa.read(gqa.write(program)) == program


def test_a_filter_of_all_objects_by_name_is_a_select():
    program = parse_program("exist(filter(filter(scene(), name=cow), color=brown))")
    assert gqa.format_line(gqa.write(program)) == "select: cow->filter color: brown [0]->exist: ? [1]"


def test_a_select_of_the_scene_keeps_its_place():
    lines = ("select: scene", "select: car (1)", "exist: ? [1]", "verify weather: rainy [0]", "and:  [2, 3]")
    assert gqa.format_line(gqa.write(gqa.read(listed(*lines)))) == "->".join(lines)


def test_ids_are_notes_and_no_part_of_the_meaning():
    assert gqa.read(listed("select: cow (1)", "exist: ? [0]")) == gqa.read(listed("select: cow (-) ", "exist: ? [0]"))


@pytest.mark.parametrize(
    "text, complaint",
    [
        ("count(find(cow))", "node 1 (count) cannot be said in GQA"),
        ("query(unique(relate(unique(find(cow)), left)), name)", "node 2 (relate: left) cannot be said in GQA"),
        ("exist(related(unique(find(cow)), on))", "node 1 (unique) cannot be said in GQA"),
        ("exist(filter(find(animal), name=cow))", "node 1 (filter: name, cow) cannot be said in GQA"),
        ("exist(find(scene))", "the word 'scene' cannot stand in a GQA select"),
        ('exist(find("a|b"))', "the word 'a|b' cannot stand in a GQA select"),
        ('exist(filter(find(cow), color="not(red)"))', "the word 'not(red)' cannot stand in a GQA filter"),
        ("verify(unique(find(cow)), rel=on)", "the attribute 'rel' cannot stand in a GQA verify"),
    ],
)
def test_what_gqa_can_not_say_is_refused_by_name(text, complaint):
    with pytest.raises(ProgramError) as caught:
        gqa.write(parse_program(text))
    assert str(caught.value) == complaint


@pytest.mark.parametrize(
    "lines, complaint",
    [
        (["fliter: red [0]"], "node 0 (fliter) reads node 0, which does not come before it"),
        (["select: a", "fliter: b [0]"], "node 1: unknown op 'fliter' in GQA; did you mean 'filter'?"),
        (["select: a", "relate: b,on [0]"], "node 1 (relate): expected name,relation,s or name,relation,o, got 'b,on'"),
        (
            ["select: a", "choose color: red [0]"],
            "node 1 (choose color): expected two choices such as red|blue, got 'red'",
        ),
        (["select: a", "exist: ? [0]", "and:  [1]"], "node 2 (and): expected 2 dependencies, got 1"),
        (["select: scene", "exist: ? [0]"], "node 1 (exist) cannot be asked of the whole scene (node 0)"),
        (["select: a", "select: scene"], "node 1 (select: scene) is not read by a query, verify or choose"),
        (["select: a", "and: x [0, 0]"], "node 1 (and): expected no argument, got 'x'"),
    ],
)
def test_a_broken_list_is_refused_with_its_node(lines, complaint):
    with pytest.raises(ProgramError) as caught:
        gqa.read(listed(*lines))
    assert str(caught.value) == complaint


def test_nodes_that_are_no_nodes_are_refused():
    with pytest.raises(ProgramError, match="node 0 must have an operation, an argument and dependencies"):
        gqa.read([{"operation": "select"}])
    with pytest.raises(ProgramError, match="node 0: its operation and argument must be text"):
        gqa.read([{"operation": "select", "argument": 3, "dependencies": []}])
    with pytest.raises(ProgramError, match="a program needs at least one node"):
        gqa.read([])


CALLS = {
    ("[5]=select(sky)", "?=verify([0], dark)"): "verify(unique(find(sky)), attribute=dark)",
    ("[5]=select(wall)", "?=filter([0], white)", "[7]=relate_inv([1], on)", "?=query_n([2])"): (
        "query(unique(related(filter(find(wall), attribute=white), on)), name)"
    ),
    ("[5]=select(man)", "[6]=relate_name([0], holding, cup)", "?=query([1], color)"): (
        "query(unique(filter(related(find(man), holding, object), name=cup)), color)"
    ),
    ("[]=select(cow)", "?=exist([0])", "[]=select(car)", "?=exist([2])", "?=or([1],[3])"): (
        "or(exist(find(cow)), exist(find(car)))"
    ),
    ("[5]=select(cup)", "?=filter_not([0], red)", "?=choose_attr([1], size, large, small)"): (
        "choose(unique(exclude(find(cup), attribute=red)), size, large, small)"
    ),
    ("[5]=select(cup)", "?=filter_h([0], left)", "?=filter_h([1], top)", "?=query_h([2])"): (
        "query(unique(filter(filter(find(cup), hposition=left), vposition=top)), hposition)"
    ),
    ("[5]=select(man)", "[6]=verify_rel_inv([0], near, dog)"): ("exist(filter(related(find(man), near), name=dog))"),
    ("[5]=select(man)", "[6]=choose_rel_inv([0], dog, near, behind)"): (
        "choose_relation(unique(find(man)), find(dog), near, behind)"
    ),
    ("[5]=select(pie)", "[6]=select(pea)", "?=choose_subj([0], [1], less)"): (
        'choose_more(unique(find(pie)), unique(find(pea)), "less healthy")'
    ),
    ("[5]=select(cup)", "[6]=relate_attr([0], same color, mug)", "?=exist([1])"): (
        "exist(filter(same(unique(find(cup)), color), name=mug))"
    ),
    ("[5,6]=select(animal)", "?=same([0])"): "alike(find(animal), find(animal), name)",
    ("[5]=select(cup)", "[6]=select(mug)", "?=different_attr([0], [1], color)"): (
        "differ(find(cup), find(mug), color)"
    ),
    ("?=query_f(weather)",): "query_image(weather)",
    ("?=choose_f(rainy, clear)",): "choose_image(attribute, rainy, clear)",
}


@pytest.mark.parametrize("calls", CALLS, ids=" ".join)
def test_calls_mean_what_our_notation_says_and_print_back(calls):
    program = gqa.read_calls(calls)
    check(program)
    assert format_program(program) == CALLS[calls]
    assert gqa.write_calls(program) == list(calls)


def test_one_notation_prints_as_the_other():
    program = gqa.read(listed("select: cup (5)", "relate: _,on,s (-) [0]", "filter color: red [1]", "exist: ? [2]"))
    assert gqa.write_calls(program) == [
        "[5]=select(cup)",
        "[]=relate_inv([0], on)",
        "?=filter([1], red)",
        "?=exist([2])",
    ]


@pytest.mark.parametrize(
    "calls, complaint",
    [
        (["select(sky)"], "node 0: expected a call such as ?=filter([0], white), got 'select(sky)'"),
        (["?=selct(sky)"], "node 0: unknown op 'selct' in GQA calls; did you mean 'select'?"),
        (["?=filter([0], red)"], "node 0 (filter) reads node 0, which does not come before it"),
        (["?=select(a)", "?=filter([0])"], "node 1: expected a call like ?=filter([0], word), got '?=filter([0])'"),
    ],
)
def test_broken_calls_are_refused_with_their_node(calls, complaint):
    with pytest.raises(ProgramError) as caught:
        gqa.read_calls(calls)
    assert str(caught.value) == complaint


def test_a_denial_has_no_call():
    with pytest.raises(ProgramError, match=r"node 1 \(deny: color, red\) cannot be said as a GQA call"):
        gqa.write_calls(parse_program("not(verify(unique(find(cup)), color=red))"))


PASTURE = Scene(
    objects=(
        Object((("name", "cows"), ("attribute", "brown"), ("attribute", "short"))),
        Object((("name", "calf"), ("attribute", "white"))),
        Object((("name", "fence"), ("attribute", "wood"))),
    ),
    relations=(Relation.of("near", [(1, 2)], 3),),
    attributes=(("weather", "cloudy"),),
    schema=SCHEMA,
)


@pytest.mark.parametrize(
    "lines, answer",
    [
        (["select: fence", "relate: animal,near,s [0]", "query: name [1]"], "calf"),
        (["select: fence", "relate: cow,near,s [0]", "query: color [1]"], "white"),
        (["select: cow", "filter color: not(white) [0]", "query: height [1]"], "short"),
        (["select: cow", "filter color: not(white) [0]", "query: length [1]"], "short"),
        (["select: fence", "query: material [0]"], "wood"),
        (["select: calf", "verify rel: fence,near,o [0]"], True),
        (["select: horse", "exist: ? [0]"], False),
        (["select: animal", "same: color [0]"], False),
        (["select: scene", "choose weather: cloudy|sunny [0]"], "cloudy"),
    ],
)
def test_programs_run_on_a_scene_graph(lines, answer):
    assert execute(gqa.read(listed(*lines)), PASTURE).answer == answer


words = st.sampled_from(["cup", "light blue", "wood", "man", "red"])
attributes = st.sampled_from(["", " color", " face expression", " hposition"])
grounding = st.sampled_from(["", " (12)", " (-)", " (-) ", " (3,4)"])


@st.composite
def chains(draw, start):
    """The nodes of a set of objects, the last of them that set."""
    nodes = [("select", draw(words) + draw(grounding), [])]
    for _ in range(draw(st.integers(0, 3))):
        here = [start + len(nodes) - 1]
        if draw(st.booleans()):
            value = draw(words)
            nodes.append(("filter" + draw(attributes), draw(st.sampled_from([value, f"not({value})"])), here))
        else:
            argument = f"{draw(st.sampled_from(['_', 'dog']))},on top of,{draw(st.sampled_from('so'))}"
            nodes.append(("relate", argument + draw(grounding), here))
    return nodes


@st.composite
def semantic_lists(draw):
    first = draw(chains(0))
    here = [len(first) - 1]
    ends = [
        ("query", "color", here),
        ("verify" + draw(attributes), draw(words), here),
        ("choose" + draw(attributes), "red|light blue", here),
        ("choose rel", f"dog,on|under,{draw(st.sampled_from('so'))}{draw(grounding)}", here),
        ("verify rel", f"dog,on,{draw(st.sampled_from('so'))}{draw(grounding)}", here),
        ("exist", "?", here),
        ("same", "color", here),
    ]
    end = draw(st.sampled_from([*ends, None]))
    if end is None:
        second = draw(chains(len(first)))
        both = [len(first) - 1, len(first) + len(second) - 1]
        operation = draw(st.sampled_from(["same color", "different shape", "common", "choose older"]))
        nodes = [*first, *second, (operation, "", both)]
    else:
        nodes = [*first, end]
    return [dict(zip(("operation", "argument", "dependencies"), n, strict=True)) for n in nodes]


@given(semantic_lists())
def test_any_list_prints_back_as_it_was(semantic):
    program = gqa.read(semantic)
    check(program)
    assert gqa.write(program) == semantic
    plain = parse_program(format_program(program))
    assert gqa.read(gqa.write(plain)).canonicalize() == plain.canonicalize()
