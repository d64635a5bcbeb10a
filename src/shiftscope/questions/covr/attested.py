"""What graphs attest: that things of a name have an attribute, or are so related to others, once or usually."""

from functools import lru_cache
from typing import Any

import numpy as np

from ...english.inflection import plural
from ...english.nouns import is_kind, is_person
from ...english.relations import parse_relation
from ...english.word_lists import word_list
from ...scene_graph.pack import PackedGraphs
from ...scene_graph.relation_exclusivity import classify_target
from ...scene_graph.subgraph import Subgraph

MANY = 1_000  # graphs, among which what is said
ONCE, RARE = 1, 2  # times, or less often, is often a slip
KINDS = word_list("nouns", "of a kind")
PREPOSITIONS = ("in", "on")
UNLIKELY = 0.01  # of the attributes that things of a name have
SELDOM = 0.2  # of the times that a ground has one of these


def has_attribute(graphs: PackedGraphs, name: str, attribute: str) -> bool:
    codes = graphs.name_codes.get(name, -1), graphs.attribute_codes.get(attribute, -1)
    return codes in _pair_names_with_attributes(graphs)


def has_triple(graphs: PackedGraphs, subject: str, relation: str, target: str) -> bool:
    """Whether the one is so related to the other; of persons, whether any person is."""
    if subject not in graphs.name_codes or target not in graphs.name_codes or relation not in graphs.relation_codes:
        return False
    of = int(_list_kin(graphs)[graphs.name_codes[subject]])
    key = _number_triples(graphs, of, graphs.relation_codes[relation], graphs.name_codes[target])
    known = _list_triples(graphs)
    at = int(np.searchsorted(known, key))
    return at < len(known) and bool(known[at] == key)


def is_usual(graphs: PackedGraphs, subgraph: Subgraph) -> bool:
    """Whether what is said of things is often said: with such an object, and of such a thing more than once.

    No airplane that is driving on a road, no chain against the sky; always where there are few graphs.
    """
    if len(graphs) < MANY:
        return True
    doing, usual, misplaced = _list_usual_acts(graphs), _list_usual_links(graphs), _list_misplaced(graphs)
    repeated, ways = _list_repeated(graphs), _list_ways(graphs)
    codes, names, kin, kinds = graphs.relation_codes, graphs.name_codes, _list_kin(graphs), _list_kinds(graphs)
    for thing in subgraph.things():
        of = names[thing.name]
        for link in thing.relations:
            relation, target = codes[link.relation], names[link.thing.name]
            if (relation, target) not in usual or (relation, target) in misplaced:
                return False
            if int(_number_triples(graphs, kinds[of], ways[relation], kinds[target])) not in repeated:
                return False
            predicate = parse_relation(link.relation)
            if predicate and predicate.manner == 1 and (relation, int(kin[of])) not in doing:
                return False
    return True


@lru_cache(maxsize=1)
def _list_usual_links(graphs: PackedGraphs) -> frozenset[tuple[int, int]]:
    """The codes of relations and of the names that they often lead to."""
    return _list_frequent(graphs, graphs.object_names[graphs.triple_objects], RARE)


@lru_cache(maxsize=1)
def _list_usual_acts(graphs: PackedGraphs) -> frozenset[tuple[int, int]]:
    """The codes of relations and of the names, of people one, that they are said of more than once."""
    return _list_frequent(graphs, _list_kin(graphs)[graphs.object_names[graphs.triple_subjects]], ONCE)


def _list_frequent(graphs: PackedGraphs, names: Any, few: int) -> frozenset[tuple[int, int]]:
    """The pairs of each triple's relation with such a name that there are more than a few of."""
    numbers = graphs.triple_relations.astype(np.int64) * len(graphs.names) + names.astype(np.int64)
    pairs, counts = np.unique(numbers, return_counts=True)
    frequent = np.divmod(pairs[counts > few], len(graphs.names))
    return frozenset(zip(*(part.tolist() for part in frequent), strict=True))


@lru_cache(maxsize=1)
def _list_misplaced(graphs: PackedGraphs) -> frozenset[tuple[int, int]]:
    """The codes of relations "… in" and "… on" and of the grounds that seldom take that of the two: in a road."""
    words = [(predicate.rest if (predicate := parse_relation(r)) else "").rpartition(" ")[2] for r in graphs.relations]
    place = np.array([PREPOSITIONS.index(word) if word in PREPOSITIONS else len(PREPOSITIONS) for word in words])
    counts = np.zeros((len(graphs.names), len(PREPOSITIONS) + 1), np.int64)
    np.add.at(counts, (graphs.object_names[graphs.triple_objects], place[graphs.triple_relations]), 1)
    both = counts[:, : len(PREPOSITIONS)]
    seldom = both < SELDOM * both.sum(axis=1, keepdims=True)
    grounds = [code for code, name in enumerate(graphs.names) if classify_target(name) == "ground"]
    return frozenset(
        (relation, ground)
        for ground in grounds
        for relation, at in enumerate(place.tolist())
        if at < len(PREPOSITIONS) and seldom[ground, at]
    )


@lru_cache(maxsize=1)
def _pair_names_with_attributes(graphs: PackedGraphs) -> frozenset[tuple[int, int]]:
    """The codes of names and attributes that objects have both of; among many graphs not seldom: no blue bear."""
    names = graphs.object_names[graphs.attribute_owners].astype(np.int64)
    numbers = names * len(graphs.attributes) + graphs.object_attributes
    pairs, counts = np.unique(numbers, return_counts=True)
    owners, attributes = np.divmod(pairs, len(graphs.attributes))
    if len(graphs) >= MANY:
        usual = (counts > ONCE) & (counts > UNLIKELY * np.bincount(names, minlength=len(graphs.names))[owners])
        owners, attributes = owners[usual], attributes[usual]
    return frozenset(zip(owners.tolist(), attributes.tolist(), strict=True))


def _number_triples(graphs: PackedGraphs, subjects: Any, relations: Any, targets: Any) -> Any:
    """One number for each triple of codes."""
    return (subjects * len(graphs.relations) + relations) * len(graphs.names) + targets


@lru_cache(maxsize=1)
def _list_triples(graphs: PackedGraphs) -> np.ndarray:
    """The numbers of what is so related in some graph, in order."""
    subjects, targets = (
        graphs.object_names[k].astype(np.int64) for k in (graphs.triple_subjects, graphs.triple_objects)
    )
    relations = graphs.triple_relations.astype(np.int64)
    return np.unique(_number_triples(graphs, _list_kin(graphs)[subjects], relations, targets))


@lru_cache(maxsize=1)
def _list_repeated(graphs: PackedGraphs) -> frozenset[int]:
    """The numbers of what is said more than once, be it of one or several, sitting on it or merely on it."""
    kin, ways = _list_kinds(graphs), _list_ways(graphs)
    subjects, targets = (kin[graphs.object_names[k]] for k in (graphs.triple_subjects, graphs.triple_objects))
    numbers, counts = np.unique(
        _number_triples(graphs, subjects, ways[graphs.triple_relations], targets), return_counts=True
    )
    return frozenset(numbers[counts > ONCE].tolist())


@lru_cache(maxsize=1)
def _list_kin(graphs: PackedGraphs) -> np.ndarray:
    """[name] the code that it is looked up by: one for all persons, who do what others do."""
    people = [code for code, name in enumerate(graphs.names) if is_person(name)]
    found = np.arange(len(graphs.names), dtype=np.int64)
    found[people] = people[:1] * len(people)
    return found


@lru_cache(maxsize=1)
def _list_kinds(graphs: PackedGraphs) -> np.ndarray:
    """[name] the code of the first of its kind: of persons, of cars, or of what the last word names in the singular."""
    singular = {plural(name): name for name in graphs.names}
    first: dict[str, int] = {}
    found = []
    for code, name in enumerate(graphs.names):
        last = name.rpartition(" ")[2]
        last = singular.get(last, last)
        kind = next((kind for kind in KINDS if is_kind(name, kind) or is_kind(last, kind)), last)
        found.append(first.setdefault(kind, code))
    return np.array(found, np.int64)


@lru_cache(maxsize=1)
def _list_ways(graphs: PackedGraphs) -> np.ndarray:
    """[relation] the code of the first that says the same of where something is, or of what it does."""
    first: dict[str, int] = {}
    return np.array([first.setdefault(_name_way(words), code) for code, words in enumerate(graphs.relations)], np.int64)


def _name_way(relation: str) -> str:
    """parked on → on, on the side of → on the side of, wears → wearing."""
    predicate = parse_relation(relation)
    if predicate is None:
        return relation
    if not predicate.is_place or predicate.rest.endswith(" of"):
        return predicate.write_bare()
    return predicate.rest.rpartition(" ")[2]
