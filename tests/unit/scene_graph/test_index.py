"""Index look-ups equal a search through all graphs, and an index comes back from its file as it was."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphs import NAMES, RELATIONS, WORDS, containing, graph, random_graph
from shiftscope.errors import UserError
from shiftscope.lang.execution_world import ExecutionWorld
from shiftscope.scene import FREE, Scene
from shiftscope.scene_graph.exclusivity import MutualExclusivity
from shiftscope.scene_graph.index import ANY, ATTRIBUTE, BITS, THING, TRIPLE, build_index, load_index
from shiftscope.scene_graph.pack import pack_graphs
from shiftscope.scene_graph.related_images import RelatedImages
from shiftscope.scene_graph.subgraph import ObjectNode, SubgraphLink
from toy import THREE_AND_ONE


def matches(scene: Scene, tree: ObjectNode) -> int:
    """The objects that are what the tree says, as the ops find them."""
    world = ExecutionWorld([scene])
    found = world.objects.mask("name", tree.name)
    if tree.attribute:
        found &= world.objects.mask(FREE, tree.attribute)
    for link in tree.relations:
        below = matches(scene, link.thing)
        targets = world.targets(link.relation) or (0,) * len(scene.objects)
        found &= sum(1 << i for i, row in enumerate(targets) if row & below)
    return found


NAME = st.sampled_from((*NAMES, "animal", "person", "elephant"))
WORD = st.sampled_from(("", *WORDS))
LINK = st.sampled_from([r for r in RELATIONS if r != "to the left of"])


def trees(depth: int) -> st.SearchStrategy[ObjectNode]:
    if not depth:
        return st.builds(ObjectNode, NAME, WORD)
    links = st.lists(st.builds(SubgraphLink, LINK, trees(depth - 1)), max_size=2)
    return st.builds(ObjectNode, NAME, WORD, links.map(tuple))


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 50), st.lists(trees(2), min_size=5, max_size=5))
def test_containment_is_what_execution_finds(seed, wanted):
    scenes = [random_graph(seed, k) for k in range(25)]
    related = RelatedImages(build_index(pack_graphs(scenes)), MutualExclusivity([]))
    for tree in wanted:
        expected = {k: mask.bit_count() for k, s in enumerate(scenes) if (mask := matches(s, tree))}
        assert containing(related, tree) == expected


def holders(index, *keys) -> list[int]:
    """The graphs in the postings of any of these keys."""
    found = set()
    for key in keys:
        at = int(np.searchsorted(index.keys, key))
        if at < len(index) and index.keys[at] == key:
            found.update(index.postings[index.starts[at] : index.starts[at + 1]].tolist())
    return sorted(found)


def codes(index, name) -> list[int]:
    """The codes of all names that answer to this one; the open slot for None."""
    return [ANY] if name is None else index.graphs.narrower[index.graphs.name_codes[name]].tolist()


def find_thing(index, name, word="") -> list[int]:
    kind = ATTRIBUTE if word else THING
    said = index.graphs.attribute_codes.get(word, ANY)
    return holders(index, *(kind | (code << BITS | said if word else code) for code in codes(index, name)))


def find_triple(index, subject, relation, target) -> list[int]:
    code = ANY if relation is None else index.graphs.relation_codes.get(relation, ANY - 1)
    pairs = product(codes(index, subject), codes(index, target))
    return holders(index, *(TRIPLE | one << 2 * BITS | code << BITS | other for one, other in pairs))


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 50))
def test_every_atom_equals_a_search(seed):
    scenes = [random_graph(seed, k) for k in range(30)]
    index = build_index(pack_graphs(scenes))
    for name, word in product(NAMES[:6], ("", *WORDS[:3])):
        expected = [k for k, s in enumerate(scenes) if matches(s, ObjectNode(name, word))]
        assert find_thing(index, name, word) == expected
    for subject, relation, target in product((None, "man", "dog"), (None, "near", "on"), (None, "cat", "ball")):
        if (subject, relation, target).count(None) > 1:
            continue
        worlds = [ExecutionWorld([s]) for s in scenes]
        expected = [
            k
            for k, (scene, world) in enumerate(zip(scenes, worlds, strict=True))
            if any(
                (subject is None or world.objects.mask("name", subject) >> s & 1)
                and (target is None or world.objects.mask("name", target) >> t & 1)
                for r in scene.relations
                if r.name != "to the left of" and relation in (None, r.name)
                for s, t in r.triples()
            )
        ]
        assert find_triple(index, subject, relation, target) == expected


def test_what_no_graph_has_is_nowhere():
    index = build_index(pack_graphs([graph("a", "dog")]))
    assert find_thing(index, "dog") == [0]
    assert find_thing(index, "dog", "red") == []
    assert find_triple(index, "dog", "near", None) == []


def test_an_index_comes_back_from_its_file(tmp_path):
    for scenes in ([random_graph(0, k) for k in range(20)], [THREE_AND_ONE]):
        index = build_index(pack_graphs(scenes, keep_spatial=True))
        index.save(tmp_path / "index.npz")
        again = load_index(tmp_path / "index.npz")
        assert again.content_id() == index.content_id()
        assert again.graphs.ids == index.graphs.ids
        assert again.graphs.schema == index.graphs.schema
        assert np.array_equal(again.postings, index.postings)
    first = (tmp_path / "index.npz").read_bytes()
    again.save(tmp_path / "index.npz")
    assert (tmp_path / "index.npz").read_bytes() == first
    assert [path.name for path in tmp_path.iterdir()] == ["index.npz"]


def test_another_graph_is_another_index():
    assert (
        build_index(pack_graphs([graph("a", "dog")])).content_id()
        != build_index(pack_graphs([graph("a", "cat")])).content_id()
    )


def test_a_file_that_is_no_index_is_refused(tmp_path):
    path = tmp_path / "index.npz"
    with pytest.raises(UserError, match="no such file"):
        load_index(path)
    path.write_text("not it")
    with pytest.raises(UserError, match="not an index of scene graphs"):
        load_index(path)
    index = build_index(pack_graphs([graph("a", "dog, cat", "0 near 1")]))
    index.postings = index.postings.copy()
    index.save(path)
    data = bytearray(path.read_bytes())
    at = data.index(b"postings.npy") + 12
    data[data.index(b"\x93NUMPY", at) + 128] ^= 1
    path.write_bytes(data)
    with pytest.raises(UserError, match="index"):
        load_index(path)
    path.write_bytes(bytes(data[: len(data) // 2]))
    with pytest.raises(UserError, match="not an index"):
        load_index(path)
