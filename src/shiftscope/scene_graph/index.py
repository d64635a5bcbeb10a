"""Index of scene graphs: which graphs hold an atom, as sorted postings of graph numbers; one file, no server.

An atom is an object, an object with an attribute, or a triple with at most one of its three slots left open.
Atoms go by annotated names; searches include the narrower ones, so "dog" finds puppies. The second half
flattens a subgraph and the index into the arrays that the compiled search takes.
"""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import dataclass
from itertools import accumulate, chain, pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import UserError
from ..files import digest_of, write_whole
from ..scene import load_schema
from ..schema import OPEN, Schema
from .pack import Codes, PackedGraphs, Starts
from .subgraph import NODE_KINDS, NodeKind, ObjectNode, Subgraph, SubgraphLink, SubgraphNode

VERSION = 1
BITS = 20  # of a code within a key
ANY = (1 << BITS) - 1  # an open slot
THING, ATTRIBUTE, TRIPLE = (kind << (3 * BITS) for kind in range(3))

_ARRAYS = (
    *("object_starts", "object_names", "attribute_starts", "object_attributes", "triple_starts"),
    *("triple_relations", "triple_modifiers", "triple_objects", "wider_starts", "wider"),
)
_WORDS = ("ids", "names", "attributes", "relations", "modifiers")
Keys = NDArray[np.int64]


class GraphIndex:
    """Postings over packed graphs: graph numbers, ascending, each once."""

    def __init__(self, graphs: PackedGraphs, keys: Keys, starts: Starts, postings: Codes) -> None:
        self.graphs = graphs
        self.keys, self.starts, self.postings = keys, starts, postings  # [atom], [atom + 1], [posting]

    def __len__(self) -> int:
        return len(self.keys)

    def content_id(self) -> str:
        """The digest of all that the index says."""
        return _compute_content_id(_collect_arrays(self))

    def save(self, path: Path) -> None:
        """Write the graphs and their index as one file, whole or not at all."""
        parts = _collect_arrays(self)
        file = io.BytesIO()
        arrays: dict[str, Any] = {"digest": np.array(_compute_content_id(parts)), **parts}
        np.savez(file, **arrays)
        write_whole(path, file.getbuffer())


def build_index(graphs: PackedGraphs) -> GraphIndex:
    """All atoms of the graphs, with their postings."""
    for words in (graphs.names, graphs.attributes, graphs.relations):
        if len(words) >= ANY:
            raise UserError(f"an index holds up to {ANY:,} different words of a kind; here are {len(words):,}")
    built = [_build_postings(*atoms) for atoms in _list_atoms(graphs)]
    keys = np.concatenate([keys for keys, _, _ in built])
    sizes = np.concatenate([sizes for _, sizes, _ in built])
    postings = np.concatenate([postings for _, _, postings in built])
    return GraphIndex(graphs, keys, np.concatenate(([0], np.cumsum(sizes, dtype=np.int64))), postings)


def _list_atoms(graphs: PackedGraphs) -> list[tuple[Keys, Codes]]:
    """For each kind of atom, (key, graph) of its occurrences, graphs ascending; kinds ascend by key."""
    names = graphs.object_names.astype(np.int64)
    owner = np.repeat(np.arange(len(names)), np.diff(graphs.attribute_starts))
    plain = graphs.triple_modifiers < 0
    subject, target = graphs.triple_subjects[plain], graphs.triple_objects[plain]
    relation = graphs.triple_relations[plain].astype(np.int64)
    ends = names[subject], names[target]
    where = graphs.graph_of[subject]
    triples = [
        _make_key(ends[0], relation, ends[1]),
        _make_key(ANY, relation, ends[1]),
        _make_key(ends[0], ANY, ends[1]),
        _make_key(ends[0], relation, ANY),
    ]
    return [
        (THING | names, graphs.graph_of),
        (ATTRIBUTE | names[owner] << BITS | graphs.object_attributes, graphs.graph_of[owner]),
        (np.concatenate(triples), np.tile(where, 4)),
    ]


def _make_key(subject: Any, relation: Any, target: Any) -> Keys:
    return np.asarray(TRIPLE | subject << (2 * BITS) | relation << BITS | target, np.int64)


def _build_postings(keys: Keys, graphs: Codes) -> tuple[Keys, Starts, Codes]:
    """The distinct keys, how many graphs each has, and these graphs in order."""
    order = np.lexsort((graphs, keys))
    keys, graphs = keys[order], graphs[order]
    new = np.ones(len(keys), bool)
    new[1:] = (keys[1:] != keys[:-1]) | (graphs[1:] != graphs[:-1])
    keys, graphs = keys[new], graphs[new]
    first = np.ones(len(keys), bool)
    first[1:] = keys[1:] != keys[:-1]
    starts = np.flatnonzero(first)
    return keys[starts], np.diff(starts, append=len(keys)), graphs


def _collect_arrays(index: GraphIndex) -> dict[str, NDArray[Any]]:
    graphs = index.graphs
    known = graphs.schema.name == OPEN.name or graphs.schema == _find_schema(graphs.schema.name)
    about = {
        "version": VERSION,
        "noun": graphs.noun,
        "schema": graphs.schema.name if known else graphs.schema.to_json(),
        **{name: getattr(graphs, name) for name in _WORDS},
    }
    return {
        "about": np.frombuffer(json.dumps(about, ensure_ascii=False).encode(), np.uint8),
        **{name: getattr(graphs, name) for name in _ARRAYS},
        **{name: getattr(index, name) for name in ("keys", "starts", "postings")},
    }


def _find_schema(name: str) -> Schema | None:
    try:
        return load_schema(name)
    except UserError:
        return None


def _compute_content_id(parts: dict[str, NDArray[Any]]) -> str:
    lines = [f"{name} {digest_of(np.ascontiguousarray(array))}" for name, array in sorted(parts.items())]
    return digest_of("\n".join(lines).encode())


def load_index(path: Path) -> GraphIndex:
    """An index as it was saved; a file that is not one, or is damaged, is refused."""
    try:
        with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as file:
            parts = {name: file[name] for name in file.files}
        digest = str(parts.pop("digest"))
        about = json.loads(parts["about"].tobytes())
        sound = digest == _compute_content_id(parts)
    except FileNotFoundError:
        raise UserError(f"{path}: no such file") from None
    except (OSError, ValueError, KeyError, AttributeError, EOFError, zipfile.BadZipFile) as error:
        raise UserError(f"{path}: not an index of scene graphs ({str(error) or type(error).__name__})") from None
    if not sound:
        raise UserError(f"{path}: the index is damaged, its content is not what was written; build it again")
    if about["version"] != VERSION:
        raise UserError(f"{path}: written by another version of ShiftScope; build the index again")
    schema = about["schema"]
    held: dict[str, Any] = {name: tuple(about[name]) for name in _WORDS}
    held |= {name: parts[name] for name in _ARRAYS}
    graphs = PackedGraphs(
        schema=load_schema(schema) if isinstance(schema, str) else Schema.from_json(schema), noun=about["noun"], **held
    )
    return GraphIndex(graphs, parts["keys"], parts["starts"], parts["postings"])


# Pattern: a subgraph in the codes of packed graphs, as compiled code takes it.

ABSENT = -2  # the code of a word that no graph uses
NONE = -1  # where a thing has no attribute
MOST_NODES = 64  # bits of a word, one for each node


class PatternTree(NamedTuple):
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


class GraphColumns(NamedTuple):
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
class SubgraphPattern:
    tree: PatternTree
    nodes: tuple[SubgraphNode, ...]
    absent: tuple[int, ...]  # the nodes whose word no graph uses


def build_columns(index: GraphIndex) -> GraphColumns:
    graphs = index.graphs
    sizes = [len(found) for found in graphs.narrower]
    record_starts, records = _build_records(graphs)
    own = {
        "record_starts": record_starts,
        "records": records,
        "narrower_starts": np.concatenate(([0], np.cumsum(sizes, dtype=np.int64))),
        "narrower": np.concatenate([*graphs.narrower, np.empty(0, np.int32)]),
        **{name: getattr(index, name) for name in ("keys", "starts", "postings")},
    }
    return GraphColumns(*(own[name] if name in own else getattr(graphs, name) for name in GraphColumns._fields))


def _build_records(graphs: PackedGraphs) -> tuple[Starts, Codes]:
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


def compile_pattern(subgraph: Subgraph, graphs: PackedGraphs) -> SubgraphPattern:
    growing = _PatternBuilder(graphs)
    growing.add_thing(subgraph)
    if len(growing.nodes) > MOST_NODES:
        raise ValueError(f"a subgraph has up to {MOST_NODES} nodes, not {len(growing.nodes)}")
    columns = growing.columns.values()
    flat = np.array(list(chain.from_iterable(columns)), np.int32)
    ends = accumulate(map(len, columns), initial=0)
    tree = PatternTree(*(flat[start:end] for start, end in pairwise(ends)))
    return SubgraphPattern(tree, tuple(growing.nodes), tuple(growing.absent))


class _PatternBuilder:
    def __init__(self, graphs: PackedGraphs) -> None:
        self.graphs = graphs
        self.columns: dict[str, list[int]] = {name: [] for name in PatternTree._fields}
        self.nodes: list[SubgraphNode] = []
        self.absent: list[int] = []

    def add_node(self, codes: dict[str, int], word: str, kind: NodeKind, at: int) -> tuple[int, int]:
        """The code of the word, and the number of its node."""
        number = len(self.nodes)
        code = codes.get(word, ABSENT)
        if code == ABSENT:
            self.absent.append(number)
        self.nodes.append(SubgraphNode(kind, word))
        self.columns["kinds"].append(NODE_KINDS.index(kind))
        self.columns["places"].append(at)
        return code, number

    def append_pair(self, codes: str, nodes: str, values: tuple[int, int]) -> None:
        self.columns[codes].append(values[0])
        self.columns[nodes].append(values[1])

    def add_thing(self, thing: ObjectNode) -> int:
        at = len(self.columns["names"])
        self.append_pair("names", "name_nodes", self.add_node(self.graphs.name_codes, thing.name, "object", at))
        said = NONE, NONE
        if thing.attribute:
            said = self.add_node(self.graphs.attribute_codes, thing.attribute, "attribute", at)
        self.append_pair("attributes", "attribute_nodes", said)
        for link in thing.relations:
            self.add_link(link, at)
        return at

    def add_link(self, link: SubgraphLink, owner: int) -> None:
        into = self.columns
        at = len(into["link_from"])
        into["link_from"].append(owner)
        related = self.add_node(self.graphs.relation_codes, link.relation, "relation", at)
        self.append_pair("link_relations", "link_nodes", related)
        into["link_to"].append(-1)
        into["link_to"][at] = self.add_thing(link.thing)
        for modifier in link.modifiers:
            k = len(into["modifier_links"])
            into["modifier_links"].append(at)
            extra = self.add_node(self.graphs.modifier_codes, modifier.name, "modifier", k)
            self.append_pair("modifier_names", "modifier_nodes", extra)
            into["modifier_to"].append(-1)
            into["modifier_to"][k] = self.add_thing(modifier.thing)
