"""What distractors have in common with the subgraph, by a search of our own; how large subgraphs and counts are."""

from collections import Counter

import pytest

from covr_rows import answer_of
from crowd import crowd, crowd_related
from graphs import random_graph
from shiftscope.lang.notations import covr
from shiftscope.questions.covr.questioner import CovrQuestioner
from shiftscope.scene import Scene
from shiftscope.scene_graph.exclusivity import build_exclusivity
from shiftscope.scene_graph.index import build_index
from shiftscope.scene_graph.pack import pack_graphs
from shiftscope.scene_graph.related_images import RelatedImages
from shiftscope.scene_graph.subgraph import ObjectNode
from shiftscope.schemas.gqa import SCHEMA

FEWER = {"verify_quant": 2, "verify_quant_attr": 2, "count_group_by": 1, "verify_count_group_by": 1}
MODIFIERS = (" with", " on")
NARROWER = {kind: {kind, *members} for kind, members in SCHEMA.attribute("name").kinds}


def count_kept(tree: ObjectNode, scene: Scene) -> int:
    """The most nodes of the tree that an image has where it has the whole tree with some of its nodes replaced.

    Each thing of the tree is another object, but for those of modifiers; −1 where the image has no such tree at all.
    """
    names = [o.values("name")[0] for o in scene.objects]
    words = [{value for attribute, value in o.attributes if attribute != "name"} for o in scene.objects]
    related: dict[tuple[int, int], set[str]] = {}
    for relation in scene.relations:
        for subject, target in relation.triples():
            related.setdefault((subject, target), set()).add(relation.name)

    def place(parts: list[tuple[int, str, ObjectNode]], used: frozenset[int]) -> int:
        """The best way to place what is left: for each part the object it hangs on, its relation, the thing."""
        if not parts:
            return 0
        (owner, relation, thing), *rest = parts
        best = -1
        for k in range(len(names)):
            between = related.get((owner, k), set())
            taken = k in used and not relation.endswith(MODIFIERS)
            if taken or (owner >= 0 and not between) or (thing.attribute and not words[k]):
                continue
            kept = int(names[k] in NARROWER.get(thing.name, {thing.name})) + int(thing.attribute in words[k])
            kept += int(relation in between)
            below = [
                branch
                for link in thing.relations
                for branch in (
                    (k, link.relation, link.thing),
                    *((k, f"{link.relation} {m.name}", m.thing) for m in link.modifiers),
                )
            ]
            found = place([*below, *rest], used | {k})
            best = max(best, kept + found) if found >= 0 else best
        return best

    return place([(-1, "", tree)], frozenset())


def generate(scenes, graphs, seed=0):
    """The questions about some graphs, each with its subgraph."""
    related = RelatedImages(build_index(pack_graphs(scenes)), build_exclusivity(SCHEMA))
    asker = CovrQuestioner(related, seed)
    found = []
    build = asker._build_questions
    asker._build_questions = lambda case, draft, start: (
        found.append((draft.about[0], q)) or q for q in build(case, draft, start)
    )
    for number in graphs:
        asker.generate_questions(number)
    return found


@pytest.fixture(scope="module")
def asked():
    scenes = {scene.id: scene for scene in crowd()}
    return scenes, generate(crowd(), range(0, 300, 60))


@pytest.fixture(scope="module")
def asked_wide():
    """Of graphs in which a puppy is a dog and a mug is a cup."""
    scenes = [random_graph(7, k) for k in range(250)]
    return {scene.id: scene for scene in scenes}, generate(scenes, range(0, 250, 25))


def test_every_image_shares_a_node_with_the_subgraph_and_lacks_two_at_most(asked):
    scenes, questions = asked
    seen = Counter()
    for tree, question in questions:
        if question.provenance.template == "verify_same_attr":  # whose things may have any value
            tree = tree.drop_attribute()
        for image in question.scenes:
            kept = count_kept(tree, scenes[image])
            seen[kept < tree.size] += 1
            assert kept >= max(1, tree.size - 2), (question.text, image)
    assert seen[True] > 1_000


def test_subgraphs_have_three_nodes_but_in_templates_that_need_fewer(asked):
    smallest: dict[str, int] = {}
    for tree, question in asked[1]:
        name = question.provenance.template
        smallest[name] = min(tree.size, smallest.get(name, tree.size))
        assert question.note("size") == tree.size
    assert len(smallest) == 15
    for name, size in smallest.items():
        assert size >= FEWER.get(name, 3), name
    assert {name: smallest[name] for name in FEWER} == FEWER


def test_a_bare_noun_is_told_apart_by_its_number_in_images_that_all_have_one(asked):
    scenes, questions = asked
    bare = [(tree, q) for tree, q in questions if tree.size == 1]
    assert len(bare) > 20
    for tree, question in bare:
        counts = {sum(o.values("name")[0] == tree.name for o in scenes[image].objects) for image in question.scenes}
        assert min(counts) > 0
        assert any(n.op == "keep" for n in question.program.nodes)


def test_counts_are_between_0_and_5(asked):
    counted = Counter(question.answer for _, question in asked[1] if question.kind == "how many")
    assert set(counted) == set(range(6))


def test_images_are_compared_as_well_as_things(asked):
    compared = [q for _, q in asked[1] if q.provenance.template == "compare_count"]
    of_images = [q for q in compared if sum(n.op == "images" for n in q.program.nodes) == 2]
    assert 0.3 < len(of_images) / len(compared) < 0.7
    for question in compared:
        assert (question.text.count("images with ") == 2) == (question in of_images)


def test_the_object_of_a_modifier_may_have_an_attribute():
    asker = CovrQuestioner(crowd_related(), 0)
    trees = [tree for graph in range(0, 300, 25) for tree in asker.choose_subgraphs(graph)]
    modified = [m.thing for tree in trees for link in tree.relations for m in link.modifiers]
    assert {bool(thing.attribute) for thing in modified} == {True, False}


@pytest.mark.parametrize("which", ["asked", pytest.param("asked_wide", marks=pytest.mark.full)])
def test_exported_programs_mean_the_same_to_an_executor_that_knows_no_kinds(which, request):
    scenes, questions = request.getfixturevalue(which)
    listed = 0
    for _, question in questions:
        rows = covr.write(question.program, SCHEMA)
        listed += any(isinstance(row.get("arguments", [""])[0], list) for row in rows if row["operation"] == "find")
        images = tuple(scenes[image] for image in question.scenes)
        assert answer_of(rows, images) == question.answer, question.text
    assert listed > 100
