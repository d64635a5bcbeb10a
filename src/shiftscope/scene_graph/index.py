"""Index of scene graphs: which graphs hold an atom, as sorted postings of graph numbers; one file, no server.

An atom is an object, an object with an attribute, or a triple with at most one of its three slots left open.
Atoms go by annotated names; searches include the narrower ones, so "dog" finds puppies. The second half
flattens a subgraph and the index into the arrays that the compiled search takes.
"""

import io
import json
import zipfile
from contextlib import suppress
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
from .subgraph import NODE_KINDS, NodeKind, ObjectNode, Subgraph, SubgraphNode

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
GraphWords = NDArray[np.uint16] | NDArray[np.uint32]  # codes, and numbers of objects; never below 0


class GraphIndex:
    """Postings over packed graphs: graph numbers, ascending, each once."""

    def __init__(self, graphs: PackedGraphs, keys: Keys, starts: Starts, postings: Codes) -> None:
        self.graphs = graphs
        self.keys, self.starts, self.postings = keys, starts, postings  # [atom], [atom + 1], [posting]

    def __len__(self) -> int:
        return len(self.keys)

    def content_id(self) -> str:
        return _compute_content_id(_collect_arrays(self))

    def save(self, path: Path) -> None:
        """Write the graphs and their index as one file, whole or not at all."""
        parts: dict[str, Any] = _collect_arrays(self)
        file = io.BytesIO()
        np.savez(file, digest=np.array(_compute_content_id(parts)), **parts)
        write_whole(path, file.getbuffer())


def build_index(graphs: PackedGraphs) -> GraphIndex:
    for words in (graphs.names, graphs.attributes, graphs.relations):
        if len(words) >= ANY:
            raise UserError(f"an index holds up to {ANY:,} different words of a kind; here are {len(words):,}")
    built = [_build_postings(*atoms) for atoms in _list_atoms(graphs)]
    keys, sizes, postings = (np.concatenate(parts) for parts in zip(*built, strict=True))
    return GraphIndex(graphs, keys, np.concatenate(([0], np.cumsum(sizes, dtype=np.int64))), postings)


def _list_atoms(graphs: PackedGraphs) -> list[tuple[Keys, Codes]]:
    """For each kind of atom, (key, graph) of its occurrences, graphs ascending; kinds ascend by key."""
    names, owner = graphs.object_names.astype(np.int64), graphs.attribute_owners
    plain = graphs.triple_modifiers < 0
    relation = graphs.triple_relations[plain].astype(np.int64)
    subject, target = names[graphs.triple_subjects[plain]], names[graphs.triple_objects[plain]]
    slots: list[tuple[Any, Any, Any]] = [(subject, relation, target), (ANY, relation, target)]
    slots += [(subject, ANY, target), (subject, relation, ANY)]
    triples = [TRIPLE | one << (2 * BITS) | how << BITS | other for one, how, other in slots]
    return [
        (THING | names, graphs.graph_of),
        (ATTRIBUTE | names[owner] << BITS | graphs.object_attributes, graphs.graph_of[owner]),
        (np.concatenate(triples), np.tile(graphs.graph_of[graphs.triple_subjects[plain]], 4)),
    ]


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
    graphs, schema = index.graphs, index.graphs.schema
    known = schema.name == OPEN.name
    with suppress(UserError):
        known = known or schema == load_schema(schema.name)
    about = {"version": VERSION, "noun": graphs.noun, "schema": schema.name if known else schema.to_json()}
    about |= {name: getattr(graphs, name) for name in _WORDS}
    return {
        "about": np.frombuffer(json.dumps(about, ensure_ascii=False).encode(), np.uint8),
        **{name: getattr(graphs, name) for name in _ARRAYS},
        **{name: getattr(index, name) for name in ("keys", "starts", "postings")},
    }


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
    schema = load_schema(about["schema"]) if isinstance(about["schema"], str) else Schema.from_json(about["schema"])
    held: dict[str, Any] = {name: tuple(about[name]) for name in _WORDS}
    graphs = PackedGraphs(schema=schema, noun=about["noun"], **held, **{name: parts[name] for name in _ARRAYS})
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
    places: Codes  # [node] which thing, link or modifier it is, or the thing it describes


class GraphColumns(NamedTuple):
    """Packed graphs and their index, as the search reads them: names first, since most graphs are refused by them."""

    object_starts: Starts  # [graph + 1]
    object_names: GraphWords
    fact_starts: Starts  # [graph + 1]
    facts: GraphWords  # what else a graph says, as `_build_facts` lays it out
    widest: int  # the most objects of a graph
    narrower_starts: Starts  # [name + 1]
    narrower: Codes  # the names whose things answer to this one
    keys: Starts  # [atom]
    starts: Starts
    postings: Codes


class SubgraphPattern(NamedTuple):
    tree: PatternTree
    nodes: tuple[SubgraphNode, ...]
    absent: bool  # whether no graph uses one of its words


def build_columns(index: GraphIndex) -> GraphColumns:
    graphs = index.graphs
    widest = int(np.diff(graphs.object_starts).max(initial=0))
    words = (graphs.names, graphs.attributes, graphs.relations, graphs.modifiers)
    largest = max(widest, *map(len, words), int(np.diff(graphs.triple_starts[graphs.object_starts]).max(initial=0)))
    largest = max(largest, int(np.diff(graphs.attribute_starts[graphs.object_starts]).max(initial=0)))
    word = np.uint16 if largest <= np.iinfo(np.uint16).max else np.uint32  # half of it, half the time
    names: Any = graphs.object_names.astype(word)
    return GraphColumns(
        graphs.object_starts,
        names,
        *_build_facts(graphs, word),
        widest,
        np.cumsum([0, *map(len, graphs.narrower)], dtype=np.int64),
        np.concatenate([*graphs.narrower, np.empty(0, np.int32)]),
        index.keys,
        index.starts,
        index.postings,
    )


def _build_facts(graphs: PackedGraphs, word: type[np.uint16 | np.uint32]) -> tuple[Starts, GraphWords]:
    """What each graph says of its objects, in one place of memory, which is what a look at it costs.

    How many attributes and how many relations there are; then (object, attribute), (subject, relation, object) and
    (subject, relation, modifier, object), each by subject. Objects go by their numbers in the graph.
    """
    plain = graphs.triple_modifiers < 0
    subjects, targets = graphs.triple_subjects, graphs.triple_objects
    home = graphs.graph_of[subjects]
    first = graphs.object_starts[home]
    owner_home = graphs.graph_of[graphs.attribute_owners]
    pairs = graphs.attribute_owners - graphs.object_starts[owner_home], graphs.object_attributes
    triples = subjects - first, graphs.triple_relations, targets - first
    modified = subjects - first, graphs.triple_relations, graphs.triple_modifiers, targets - first
    parts = (
        (owner_home, pairs),
        (home[plain], tuple(column[plain] for column in triples)),
        (home[~plain], tuple(column[~plain] for column in modified)),
    )
    counts = [np.bincount(at, minlength=len(graphs)) for at, _ in parts]  # [graph] of each part
    sizes = 2 + sum(len(columns) * count for (_, columns), count in zip(parts, counts, strict=True))
    starts = np.concatenate(([0], np.cumsum(sizes, dtype=np.int64)))
    facts = np.empty(starts[-1], word)
    facts[starts[:-1]], facts[starts[:-1] + 1] = counts[0], counts[1]
    begin = starts[:-1] + 2  # [graph] of the part
    for (at, columns), count in zip(parts, counts, strict=True):
        before = np.cumsum(count) - count
        place = begin[at] + len(columns) * (np.arange(len(at)) - before[at])
        for k, column in enumerate(columns):
            facts[place + k] = column
        begin = begin + len(columns) * count
    return starts, facts


def compile_pattern(subgraph: Subgraph, graphs: PackedGraphs) -> SubgraphPattern:
    tree: Any = PatternTree._make([] for _ in PatternTree._fields)  # lists, until it is whole
    nodes: list[SubgraphNode] = []

    def add_node(kind: NodeKind, word: str, codes: dict[str, int], at: int, into: Any, numbers: Any) -> None:
        into.append(codes.get(word, ABSENT))
        numbers.append(len(nodes))
        tree.kinds.append(NODE_KINDS.index(kind))
        tree.places.append(at)
        nodes.append(SubgraphNode(kind, word))

    def add_thing(thing: ObjectNode) -> int:
        at = len(tree.names)
        add_node("object", thing.name, graphs.name_codes, at, tree.names, tree.name_nodes)
        if thing.attribute:
            codes = graphs.attribute_codes
            add_node("attribute", thing.attribute, codes, at, tree.attributes, tree.attribute_nodes)
        else:
            tree.attributes.append(NONE)
            tree.attribute_nodes.append(NONE)
        for link in thing.relations:
            k = len(tree.link_from)
            tree.link_from.append(at)
            tree.link_to.append(-1)
            add_node("relation", link.relation, graphs.relation_codes, k, tree.link_relations, tree.link_nodes)
            tree.link_to[k] = add_thing(link.thing)
            for modifier in link.modifiers:
                m = len(tree.modifier_links)
                tree.modifier_links.append(k)
                tree.modifier_to.append(-1)
                codes = graphs.modifier_codes
                add_node("modifier", modifier.name, codes, m, tree.modifier_names, tree.modifier_nodes)
                tree.modifier_to[m] = add_thing(modifier.thing)
        return at

    add_thing(subgraph)
    if len(nodes) > MOST_NODES:
        raise ValueError(f"a subgraph has up to {MOST_NODES} nodes, not {len(nodes)}")
    absent = any(ABSENT in codes for codes in (tree.names, tree.attributes, tree.link_relations, tree.modifier_names))
    flat = np.array(list(chain.from_iterable(tree)), np.int32)
    ends = accumulate(map(len, tree), initial=0)
    return SubgraphPattern(PatternTree(*(flat[start:end] for start, end in pairwise(ends))), tuple(nodes), absent)
