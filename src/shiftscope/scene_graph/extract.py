"""Extract the subgraphs of a scene graph: all of them, or a seeded draw of each form where they explode.

A tree's things are different objects. Forms are drawn apart, so that the many deep trees of a crowded scene do not
drown its simple ones. How often a thing is there ("2", "several", "group of") is no attribute to ask about.

Open vocabularies are normalized first: files write "wear", "wears" and "has on" where a question says "wearing", so
scenes, programs, texts and answers have one word per relation, attribute and name (synonyms, inflections).
"""

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from itertools import accumulate, combinations
from math import prod
from typing import NamedTuple

from .. import rng
from ..english.adjectives import describe_attribute
from ..english.inflection import plural
from ..english.nouns import COUNTS, is_alive
from ..english.relations import parse_relation
from ..english.word_lists import word_table
from ..scene import Object, Relation, Scene
from .pack import PackedGraphs
from .subgraph import DEEPEST, MOST_RELATIONS, ObjectNode, RelationModifier, Subgraph, SubgraphLink

MOST = 1_000  # subgraphs of one graph
FORMS = 5
TRIES = 4  # draws for each subgraph wanted; one in which an object comes twice is thrown away


class _TreeFamily(NamedTuple):
    """So many trees, each by its number."""

    size: int
    tree: Callable[[int], tuple[ObjectNode, tuple[int, ...]]]  # and the objects in it


def extract_subgraphs(
    graphs: PackedGraphs, number: int, *path: str | int, most: int = MOST, forms: int = FORMS
) -> tuple[Subgraph, ...]:
    """The subgraphs of a graph, each once, small ones first; the path seeds the draw where there are many.

    The first form has no relation, the first two have one at most.
    """
    trees = _TreeEnumerator(graphs)
    start, end = int(graphs.object_starts[number]), int(graphs.object_starts[number + 1])
    found: dict[ObjectNode, None] = {}
    for form in range(forms):
        parts = [part for thing in range(start, end) for part in trees.list_form(thing, form)]
        drawn = _draw_trees(parts, most // FORMS, (*path, graphs.ids[number], form))
        found |= {tree: None for tree, objects in drawn if len(set(objects)) == len(objects)}
    return tuple(sorted(found, key=lambda tree: tree.key))


def _draw_trees(
    parts: Sequence[_TreeFamily], wanted: int, path: Sequence[str | int]
) -> Iterator[tuple[ObjectNode, tuple[int, ...]]]:
    """All trees of the parts, or as many as are wanted, in a seeded order."""
    ends = list(accumulate(float(part.size) for part in parts))  # inexact beyond 2**53, only for size
    total = sum(part.size for part in parts)
    if total <= wanted:
        for part in parts:
            yield from map(part.tree, range(part.size))
        return
    draw = rng.derive("subgraphs", *path)
    seen: set[tuple[int, int]] = set()
    good = 0
    for _ in range(TRIES * wanted):
        which = min(bisect_right(ends, draw.random() * ends[-1]), len(parts) - 1)
        one = which, int(draw.random() * parts[which].size)
        if one in seen:
            continue
        seen.add(one)
        tree, objects = parts[one[0]].tree(one[1])
        yield tree, objects
        good += len(set(objects)) == len(objects)
        if good == wanted:
            return


class _TreeEnumerator:
    """Counts the trees under an object and builds the one of a number."""

    def __init__(self, graphs: PackedGraphs) -> None:
        self.graphs = graphs
        self.words = cache(self._list_words)
        self.links = cache(self._list_links)
        self.under = cache(self._build_under)
        self.reached = cache(self._list_reached)

    def list_form(self, thing: int, form: int) -> list[_TreeFamily]:
        """Trees rooted here: without relations; one or two, to leaves; one or two, one of them further."""
        if form == 0:
            return [self._build_with(thing, ())]
        leaves, further = self.reached(thing)
        if form == 1:
            return [self._build_with(thing, (one,)) for one in leaves if one.size]
        if form == 3:
            return [self._build_with(thing, (one,)) for one in further if one.size]
        chosen: list[tuple[_TreeFamily, _TreeFamily]] = []
        for i, j in combinations(range(len(leaves)), MOST_RELATIONS):
            if form == 2:
                chosen.append((leaves[i], leaves[j]))
            else:
                chosen += [(further[i], leaves[j]), (leaves[i], further[j]), (further[i], further[j])]
        return [self._build_with(thing, two) for two in chosen if two[0].size and two[1].size]

    def _list_words(self, thing: int) -> tuple[str, ...]:
        """Nothing, or one of the attributes that are no counts."""
        words = self.graphs.list_attributes(thing)
        firsts = (word.split()[0].lower() for word in words)
        return "", *(w for w, first in zip(words, firsts, strict=True) if not first.isdigit() and first not in COUNTS)

    def _list_links(self, thing: int) -> tuple[tuple[int, tuple[int, ...]], ...]:
        """The plain triples of an object, each with the triples that modify it."""
        graphs, relations = self.graphs, self.graphs.triple_relations
        triples = graphs.list_triples(thing)
        plain = [k for k in triples if graphs.triple_modifiers[k] < 0 and graphs.triple_objects[k] != thing]
        extra = [k for k in triples if graphs.triple_modifiers[k] >= 0]
        return tuple((k, tuple(m for m in extra if relations[m] == relations[k])) for k in plain)

    def _list_reached(self, thing: int) -> tuple[list[_TreeFamily], list[_TreeFamily]]:
        """What each relation of an object leads to: without relations, and with some."""
        links = self.links(thing)
        leaves = [self._build_reach(link, 0) for link in links]
        return leaves, [self._build_reach(link, DEEPEST - 1, inner=True) for link in links]

    def _build_under(self, thing: int, depth: int, inner: bool) -> _TreeFamily:
        """Trees under an object with so many relations left on a path; `inner` ones have at least one."""
        parts = [] if inner else [self._build_with(thing, ())]
        if depth:
            reached = [self._build_reach(link, depth - 1) for link in self.links(thing)]
            parts += [self._build_with(thing, (one,)) for one in reached if one.size]
            parts += [self._build_with(thing, two) for two in combinations(reached, 2) if two[0].size * two[1].size]

        def build_tree(number: int) -> tuple[ObjectNode, tuple[int, ...]]:
            for part in parts:
                if number < part.size:
                    return part.tree(number)
                number -= part.size
            raise IndexError(number)

        return _TreeFamily(sum(part.size for part in parts), build_tree)

    def _build_reach(self, link: tuple[int, tuple[int, ...]], depth: int, inner: bool = False) -> _TreeFamily:
        """What a relation can lead to, with any of its modifiers; the tree only holds the link."""
        triple, extra = link
        graphs = self.graphs
        below = self.under(int(graphs.triple_objects[triple]), depth, inner)
        relation = graphs.relations[graphs.triple_relations[triple]]

        used = [int(graphs.triple_objects[other]) for other in extra]
        ways = [1 + len(self.words(thing)) for thing in used]  # left out, or with none or one of its attributes

        def build_tree(number: int) -> tuple[ObjectNode, tuple[int, ...]]:
            modifiers, things = [], []
            for other, thing, many in zip(extra, used, ways, strict=True):
                number, which = divmod(number, many)
                if which:
                    named = ObjectNode(graphs.names[graphs.object_names[thing]], self.words(thing)[which - 1])
                    modifiers.append(RelationModifier(graphs.modifiers[graphs.triple_modifiers[other]], named))
                    things.append(thing)
            target, objects = below.tree(number)
            return ObjectNode("", "", (SubgraphLink(relation, target, tuple(modifiers)),)), (*objects, *things)

        return _TreeFamily(below.size * prod(ways), build_tree)

    def _build_with(self, thing: int, links: tuple[_TreeFamily, ...]) -> _TreeFamily:
        """The object with none or one of its attributes and each of the relations."""
        words = self.words(thing)
        name = self.graphs.names[self.graphs.object_names[thing]]

        def build_tree(number: int) -> tuple[ObjectNode, tuple[int, ...]]:
            number, word = divmod(number, len(words))
            held: tuple[SubgraphLink, ...] = ()
            objects: tuple[int, ...] = (thing,)
            for part in links:
                number, which = divmod(number, part.size)
                holder, inside = part.tree(which)
                held += holder.relations
                objects += inside
            return ObjectNode(name, words[word], held), objects

        return _TreeFamily(len(words) * prod(part.size for part in links), build_tree)


# Normalize an open-vocabulary scene: names that read alike are one relation, and plain synonyms one name: beside an
# airplane there is no other plane.

WITH, HAVE = "with", "have"


def normalize_scene(scene: Scene) -> Scene:
    """The scene in the words of its questions; one of a closed schema as it is."""
    if scene.schema.closed:
        return scene
    parted: dict[str, Sequence[str]] = dict(scene.note("modifiers", ()))
    renamed = {name: f"{normalize_relation(relation)} {modifier}" for name, (relation, modifier) in parted.items()}
    company = sum(1 << k for k, thing in enumerate(scene.objects) if any(map(is_alive, thing.values("name"))))
    found: dict[str, list[int]] = {}
    for one in scene.relations:
        for name, rows in _normalize_rows(one, renamed.get(one.name, ""), company):
            before = found.setdefault(name, [0] * len(rows))
            found[name] = [a | b for a, b in zip(before, rows, strict=True)]
    modifiers = {renamed[name]: [normalize_relation(relation), word] for name, (relation, word) in parted.items()}
    return replace(
        scene,
        objects=tuple(map(_normalize_object, scene.objects)),
        relations=tuple(Relation(name, tuple(rows)) for name, rows in found.items()),
        notes=tuple((key, modifiers if key == "modifiers" else value) for key, value in scene.notes),
    )


@lru_cache(maxsize=8192)
def normalize_relation(name: str) -> str:
    """The relation as it answers "holding it or wearing it"; as it is where we have no words for it."""
    predicate = parse_relation(name)
    if predicate is None:
        return name
    words = HAVE if predicate.verb == HAVE and not predicate.rest else predicate.write_reduced()
    return words if parse_relation(words) == predicate else name  # what is spread on a bed is not spreading on it


@lru_cache(maxsize=8192)
def normalize_attribute(value: str) -> str:
    """The attribute as it answers "running or looking up"."""
    phrase = describe_attribute(value)
    return value if phrase is None or describe_attribute(phrase.words) != phrase else phrase.words


def normalize_name(name: str) -> str:
    """The one name of a thing that has several: airplane for plane."""
    return _NAMES.get(name, name)


def _normalize_rows(one: Relation, renamed: str, company: int) -> list[tuple[str, tuple[int, ...]]]:
    """The relation under its new name; one is *with* somebody, but *has* something."""
    if renamed or one.name != WITH:
        return [(renamed or normalize_relation(one.name), one.rows)]
    rows = {
        name: tuple(row if (company >> k & 1) == alive else 0 for k, row in enumerate(one.rows))
        for name, alive in ((WITH, 1), (HAVE, 0))
    }
    return [(name, kept) for name, kept in rows.items() if any(kept)]


def _normalize_object(thing: Object) -> Object:
    words = tuple((a, normalize_name(v) if a == "name" else normalize_attribute(v)) for a, v in thing.attributes)
    return thing if words == thing.attributes else replace(thing, attributes=tuple(dict.fromkeys(words)))


_NAMES = {
    form: instead
    for name, others in word_table("synonyms", "open").items()
    for other in others
    for form, instead in ((other, name), (plural(other), plural(name)))
}
