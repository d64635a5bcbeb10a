"""What graphs attest: that things of a name have an attribute, or are so related to others, once or usually."""

from functools import lru_cache
from typing import Any

import numpy as np

from ...english.nouns import is_person
from ...scene_graph.pack import PackedGraphs
from ...scene_graph.subgraph import Subgraph

MANY = 1_000  # graphs, among which what is said
RARE = 2  # times, or less often, is often a slip


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
    """Whether all that things are related to is what others are so related to; always where there are few graphs."""
    if len(graphs) < MANY:
        return True
    usual, codes, names = _list_usual_links(graphs), graphs.relation_codes, graphs.name_codes
    links = (link for thing in subgraph.things() for link in thing.relations)
    return all((codes[link.relation], names[link.thing.name]) in usual for link in links)


@lru_cache(maxsize=1)
def _list_usual_links(graphs: PackedGraphs) -> frozenset[tuple[int, int]]:
    """The codes of relations and of the names that they often lead to."""
    targets = graphs.object_names[graphs.triple_objects].astype(np.int64)
    pairs, counts = np.unique(
        graphs.triple_relations.astype(np.int64) * len(graphs.names) + targets, return_counts=True
    )
    usual = pairs[counts > RARE]
    return frozenset(zip(*(part.tolist() for part in np.divmod(usual, len(graphs.names))), strict=True))


@lru_cache(maxsize=1)
def _pair_names_with_attributes(graphs: PackedGraphs) -> frozenset[tuple[int, int]]:
    """The codes of names and attributes that some object has both of."""
    names = graphs.object_names[graphs.attribute_owners]
    return frozenset(zip(names.tolist(), graphs.object_attributes.tolist(), strict=True))


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
def _list_kin(graphs: PackedGraphs) -> np.ndarray:
    """[name] the code that it is looked up by: one for all persons, who do what others do."""
    people = [code for code, name in enumerate(graphs.names) if is_person(name)]
    found = np.arange(len(graphs.names), dtype=np.int64)
    found[people] = people[:1] * len(people)
    return found
