"""Pattern: a subgraph in the codes of packed graphs, as compiled code takes it."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate, chain, pairwise
from typing import NamedTuple

import numpy as np

from .index import Index
from .pack import Codes, PackedGraphs, Starts
from .subgraph import KINDS, Kind, Link, Node, Subgraph, Thing

ABSENT = -2  # the code of a word that no graph uses
NONE = -1  # where a thing has no attribute
MOST_NODES = 64  # bits of a word, one for each node


class Tree(NamedTuple):
    """The subgraph; a thing stands before what hangs on it. `*_nodes` are the numbers its nodes go by."""

    names: Codes  # [thing]
    name_nodes: Codes
    attributes: Codes
    attribute_nodes: Codes
    link_from: Codes  # [link]
    link_to: Codes
    link_relations: Codes
    link_nodes: Codes
    modifier_links: Codes  # [modifier]
    modifier_to: Codes
    modifier_names: Codes
    modifier_nodes: Codes
    kinds: Codes  # [node] place in KINDS
    places: Codes  # [node] which thing, link or modifier it is, or the thing it is said of


class Columns(NamedTuple):
    """Packed graphs and their index."""

    object_starts: Starts
    object_names: Codes
    attribute_starts: Starts
    object_attributes: Codes
    triple_starts: Starts
    triple_relations: Codes
    triple_modifiers: Codes
    triple_objects: Codes
    narrower_starts: Starts  # [name + 1]
    narrower: Codes  # the names whose things answer to this one
    record_starts: Starts  # [graph + 1]
    records: Codes
    keys: Starts  # [atom]
    starts: Starts
    postings: Codes


@dataclass(frozen=True, eq=False)
class Pattern:
    tree: Tree
    nodes: tuple[Node, ...]
    absent: tuple[int, ...]  # the nodes whose word no graph uses


def columns_of(index: Index) -> Columns:
    graphs = index.graphs
    sizes = [len(found) for found in graphs.narrower]
    record_starts, records = _records(graphs)
    own = {
        "record_starts": record_starts,
        "records": records,
        "narrower_starts": np.concatenate(([0], np.cumsum(sizes, dtype=np.int64))),
        "narrower": np.concatenate([*graphs.narrower, np.empty(0, np.int32)]),
        **{name: getattr(index, name) for name in ("keys", "starts", "postings")},
    }
    return Columns(*(own[name] if name in own else getattr(graphs, name) for name in Columns._fields))


def _records(graphs: PackedGraphs) -> tuple[Starts, Codes]:
    """Each graph in one place of memory, which is what a first look at it costs.

    How many objects there are; their names; then facts, each of three: subject, relation, object, or subject,
    attribute, −1. Objects go by their numbers in the graph, and what modifies a relation is left out.
    """
    plain = graphs.triple_modifiers < 0
    owners = np.repeat(np.arange(len(graphs.object_names)), np.diff(graphs.attribute_starts))
    subjects, targets = graphs.triple_subjects[plain], graphs.triple_objects[plain]
    said = graphs.attribute_starts[graphs.object_starts]  # [graph + 1] attributes before it
    related = np.concatenate(([0], np.cumsum(plain)))[graphs.triple_starts[graphs.object_starts]]
    base, number = graphs.object_starts, np.arange(len(graphs) + 1)
    starts = number + base + 3 * (said + related)
    records = np.empty(starts[-1], np.int32)
    records[starts[:-1]] = np.diff(base)
    at = graphs.graph_of
    records[np.arange(len(at)) + at + 1 + 3 * (said + related)[at]] = graphs.object_names
    none = np.full(len(owners), -1, np.int32)
    for things, before, codes, others in (
        (owners, related[:-1], graphs.object_attributes, none),
        (subjects, said[1:], graphs.triple_relations[plain], targets - base[graphs.graph_of[subjects]]),
    ):
        at = graphs.graph_of[things]
        place = 3 * (np.arange(len(things)) + before[at]) + at + 1 + base[at + 1]
        for k, column in enumerate((things - base[at], codes, others)):
            records[place + k] = column
    return starts, records


def compile_pattern(subgraph: Subgraph, graphs: PackedGraphs) -> Pattern:
    growing = _Growing(graphs)
    growing.thing(subgraph)
    if len(growing.nodes) > MOST_NODES:
        raise ValueError(f"a subgraph has up to {MOST_NODES} nodes, not {len(growing.nodes)}")
    columns = growing.columns.values()
    flat = np.array(list(chain.from_iterable(columns)), np.int32)
    ends = accumulate(map(len, columns), initial=0)
    tree = Tree(*(flat[start:end] for start, end in pairwise(ends)))
    return Pattern(tree, tuple(growing.nodes), tuple(growing.absent))


class _Growing:
    def __init__(self, graphs: PackedGraphs) -> None:
        self.graphs = graphs
        self.columns: dict[str, list[int]] = {name: [] for name in Tree._fields}
        self.nodes: list[Node] = []
        self.absent: list[int] = []

    def node(self, codes: dict[str, int], word: str, kind: Kind, at: int) -> tuple[int, int]:
        """The code of the word, and the number of its node."""
        number = len(self.nodes)
        code = codes.get(word, ABSENT)
        if code == ABSENT:
            self.absent.append(number)
        self.nodes.append(Node(kind, word))
        self.columns["kinds"].append(KINDS.index(kind))
        self.columns["places"].append(at)
        return code, number

    def put(self, codes: str, nodes: str, values: tuple[int, int]) -> None:
        self.columns[codes].append(values[0])
        self.columns[nodes].append(values[1])

    def thing(self, thing: Thing) -> int:
        at = len(self.columns["names"])
        self.put("names", "name_nodes", self.node(self.graphs.name_codes, thing.name, "object", at))
        said = NONE, NONE
        if thing.attribute:
            said = self.node(self.graphs.attribute_codes, thing.attribute, "attribute", at)
        self.put("attributes", "attribute_nodes", said)
        for link in thing.relations:
            self.link(link, at)
        return at

    def link(self, link: Link, owner: int) -> None:
        into = self.columns
        at = len(into["link_from"])
        into["link_from"].append(owner)
        related = self.node(self.graphs.relation_codes, link.relation, "relation", at)
        self.put("link_relations", "link_nodes", related)
        into["link_to"].append(-1)
        into["link_to"][at] = self.thing(link.thing)
        for modifier in link.modifiers:
            k = len(into["modifier_links"])
            into["modifier_links"].append(at)
            extra = self.node(self.graphs.modifier_codes, modifier.name, "modifier", k)
            self.put("modifier_names", "modifier_nodes", extra)
            into["modifier_to"].append(-1)
            into["modifier_to"][k] = self.thing(modifier.thing)
