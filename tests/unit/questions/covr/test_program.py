"""Subgraphs as programs, packed graphs as worlds: both say what the scenes say."""

import pytest

from crowd import crowd, crowd_related
from graphs import graph, random_graph
from shiftscope.lang.exec.exact import execute
from shiftscope.lang.execution_world import ExecutionWorld
from shiftscope.lang.notations import covr, covr_compositional
from shiftscope.lang.program import Program, node
from shiftscope.lang.text import format_program
from shiftscope.questions.covr.program import CovrProgramBuilder, GraphWorld, GraphWorlds
from shiftscope.scene import FREE
from shiftscope.scene_graph.extract import extract_subgraphs
from shiftscope.scene_graph.pack import pack_graphs
from shiftscope.scene_graph.subgraph import ObjectNode, RelationModifier, SubgraphLink
from shiftscope.schemas.gqa import SCHEMA
from shiftscope.world import clevr, superclevr


def program_of(subgraph, schema):
    making = CovrProgramBuilder(schema)
    making.find_described(subgraph)
    return making.build()


def test_a_subgraph_is_find_filter_and_related():
    sink = ObjectNode("sink", "white", (SubgraphLink("below", ObjectNode("towel")),))
    assert format_program(program_of(sink, SCHEMA)) == (
        "intersect(filter(find(sink), attribute=white), related(find(towel), below))"
    )


def test_a_modifier_is_one_more_relation_of_its_own():
    opening = SubgraphLink("opening", ObjectNode("bottle"), (RelationModifier("with", ObjectNode("knife")),))
    program = program_of(ObjectNode("man", "", (opening,)), SCHEMA)
    scene = graph(
        "a",
        "man, bottle, knife, man",
        "0 opening 1",
        "0 opening with 2",
        "3 opening 1",
        modifiers={"opening with": ["opening", "with"]},
    )
    assert execute(program, scene).answer == 0b0001
    last = covr.write(program)[-1]
    assert (last["operation"], last["arguments"]) == ("with_relation", ["opening with"])


def test_things_without_names_are_told_by_their_shape():
    schema = clevr.sample_scene(0, "train", 0).schema
    assert (
        format_program(program_of(ObjectNode("cube", "red"), schema))
        == "filter(filter(scene(), shape=cube), color=red)"
    )


@pytest.mark.parametrize("number", range(0, 300, 23))
def test_a_program_finds_what_the_pattern_finds(number):
    related, scenes = crowd_related(), crowd()
    for subgraph in extract_subgraphs(related.graphs, number, "meaning", most=60):
        program = program_of(subgraph, SCHEMA)
        mask = execute(program, scenes[number]).answer
        assert mask == sum(1 << k for k in related.find_roots(subgraph, number))
        for dialect in (covr, covr_compositional):
            again = dialect.read(dialect.write(program), SCHEMA)
            assert execute(again, scenes[number]).answer == mask


def scenes_of(kind: str):
    if kind == "crowd":
        return crowd()[:6]
    if kind == "random":
        return [random_graph(1, k) for k in range(6)]
    return [{"clevr": clevr, "superclevr": superclevr}[kind].sample_scene(0, "train", k) for k in range(3)]


@pytest.mark.parametrize("kind", ["crowd", "random", "clevr", "superclevr"])
def test_packed_graphs_answer_as_their_scenes_do(kind):
    scenes = scenes_of(kind)
    graphs = pack_graphs(scenes, keep_spatial=True)
    schema = graphs.schema
    true, read = ExecutionWorld(scenes), GraphWorld(GraphWorlds(graphs), tuple(range(len(scenes))))
    assert read.image_masks == true.image_masks
    assert read.objects.everything == true.objects.everything
    words = {pair for scene in scenes for thing in scene.objects for pair in thing.attributes}
    families = sorted({a for a, _ in words} | ({"color", "material"} if not schema.closed else set()))
    for family in families:
        for _, value in sorted(words):
            assert read.objects.mask(family, value) == true.objects.mask(family, value), (family, value)
        for k in range(true.objects.everything.bit_length()):
            assert sorted(read.objects.values(k, family)) == sorted(true.objects.values(k, family))
            if len(true.objects.values(k, family)) < 2:
                assert read.objects.value(k, family) == true.objects.value(k, family)
    kinds = [kind for a in schema.attributes if a.name == graphs.noun for kind, _ in a.kinds]
    for name in kinds:
        assert read.objects.mask(graphs.noun, name) == true.objects.mask(graphs.noun, name)
    relations = {r.name for s in scenes for r in s.relations} | set(graphs.relations)
    assert relations
    for relation in [*sorted(relations), "never heard of"]:
        assert (read.rows(relation) or ()) == (true.rows(relation) if any(true.rows(relation) or ()) else ())
        if any(true.rows(relation) or ()):
            assert read.targets(relation) == true.targets(relation)
    assert read.objects.mask(FREE, "never heard of") == 0


def test_a_word_that_no_graph_uses_is_found_nowhere():
    scenes = crowd()[:2]
    world = GraphWorlds(pack_graphs(scenes)).of((0, 1))
    assert execute(Program((node("find", (), ("unicorn",)), node("count", (0,)))), world).answer == 0
