"""Index: which graphs hold an atom, as sorted postings of graph numbers; embedded, one file, no server.

An atom is a thing, a thing with an attribute, or a triple with at most one of its three slots left open.
Atoms go by annotated names; look-ups take in the narrower ones, so "dog" finds puppies.
"""

from __future__ import annotations

import io
import json
import zipfile
from functools import lru_cache, reduce
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import UserError
from ..scene import schema_named
from ..schema import OPEN, Schema
from ..whole import digest_of, write_whole
from .pack import Codes, PackedGraphs, Starts
from .subgraph import Subgraph

VERSION = 1
BITS = 20  # of a code within a key
ANY = (1 << BITS) - 1  # an open slot
THING, ATTRIBUTE, TRIPLE = (kind << (3 * BITS) for kind in range(3))
WIDEST = 4096  # keys of one look-up; more names than that are left to the check on the graph
CACHED = 2_048  # look-ups kept; one that had to be joined of several takes memory
MARKED = 32  # postings of more than this part of the graphs are joined by marking, not by sorting

_ARRAYS = (
    *("object_starts", "object_names", "attribute_starts", "object_attributes", "triple_starts"),
    *("triple_relations", "triple_modifiers", "triple_objects", "wider_starts", "wider"),
)
_WORDS = ("ids", "names", "attributes", "relations", "modifiers")
Keys = NDArray[np.int64]


class Index:
    """Postings over packed graphs. Every look-up returns graph numbers, ascending, each once."""

    def __init__(self, graphs: PackedGraphs, keys: Keys, starts: Starts, postings: Codes) -> None:
        self.graphs = graphs
        self.keys, self.starts, self.postings = keys, starts, postings  # [atom], [atom + 1], [posting]
        self._thing = lru_cache(CACHED)(self._find_thing)
        self._triple = lru_cache(CACHED)(self._find_triple)

    def __len__(self) -> int:
        return len(self.keys)

    def thing(self, name: str, attribute: str = "") -> Codes:
        """The graphs with a thing of this name, or of a narrower one, that is so."""
        return self._thing(name, attribute)

    def triple(self, subject: str | None, relation: str | None, target: str | None) -> Codes | None:
        """The graphs with this triple, None standing for anything; None where names are too wide to ask."""
        if (subject, relation, target).count(None) > 1:
            raise ValueError("at most one slot of a triple can be left open")
        return self._triple(subject, relation, target)

    def atoms(self, subgraph: Subgraph) -> list[Codes]:
        """The graphs that have each of its atoms."""
        found: list[Codes | None] = []
        for thing in subgraph.things():
            found += [self.thing(thing.name), self.thing(thing.name, thing.attribute)]
            found += [self.triple(thing.name, link.relation, link.thing.name) for link in thing.relations]
        return [postings for postings in found if postings is not None]

    def _find_thing(self, name: str, attribute: str) -> Codes:
        names = self._names(name)
        if not attribute:
            return self._joined(THING | names)
        code = self.graphs.attribute_codes.get(attribute)
        if code is None:
            return _NONE
        return self._joined(ATTRIBUTE | names << BITS | code)

    def _find_triple(self, subject: str | None, relation: str | None, target: str | None) -> Codes | None:
        subjects, targets = self._names(subject), self._names(target)
        code = ANY if relation is None else self.graphs.relation_codes.get(relation)
        if code is None:
            return _NONE
        if len(subjects) * len(targets) > WIDEST:
            return None
        return self._joined((_key(subjects[:, None], code, targets[None, :])).ravel())

    def _names(self, name: str | None) -> Keys:
        """The codes of all names that answer to this one; the open slot for None."""
        if name is None:
            return np.array([ANY], np.int64)
        code = self.graphs.name_codes.get(name)
        if code is None:
            return np.empty(0, np.int64)
        return self.graphs.narrower[code].astype(np.int64)

    def _joined(self, keys: Keys) -> Codes:
        """The postings of these keys, which are different ones, as one."""
        if not len(self.keys):
            return _NONE
        places = np.searchsorted(self.keys, keys)
        places[places == len(self.keys)] = 0
        found = places[self.keys[places] == keys]
        if not len(found):
            return _NONE
        pieces = [self.postings[self.starts[k] : self.starts[k + 1]] for k in found.tolist()]
        if len(pieces) == 1:
            return pieces[0]
        if sum(map(len, pieces)) < len(self.graphs) // MARKED:
            return np.unique(np.concatenate(pieces))
        there = np.zeros(len(self.graphs), bool)
        for piece in pieces:
            there[piece] = True
        return np.flatnonzero(there).astype(np.int32)

    def content_id(self) -> str:
        """The digest of all that the index says."""
        return _content_id(_parts(self))

    def save(self, path: Path) -> None:
        """Write the graphs and their index as one file, whole or not at all."""
        parts = _parts(self)
        file = io.BytesIO()
        arrays: dict[str, Any] = {"digest": np.array(_content_id(parts)), **parts}
        np.savez(file, **arrays)
        write_whole(path, file.getbuffer())


_NONE: Codes = np.empty(0, np.int32)


def build(graphs: PackedGraphs) -> Index:
    """All atoms of the graphs, with their postings."""
    for words in (graphs.names, graphs.attributes, graphs.relations):
        if len(words) >= ANY:
            raise UserError(
                f"an index holds up to {ANY:,} different words of a kind; here are {len(words):,}"
            )
    built = [_postings(*atoms) for atoms in _atoms(graphs)]
    keys = np.concatenate([keys for keys, _, _ in built])
    sizes = np.concatenate([sizes for _, sizes, _ in built])
    postings = np.concatenate([postings for _, _, postings in built])
    return Index(graphs, keys, np.concatenate(([0], np.cumsum(sizes, dtype=np.int64))), postings)


def _atoms(graphs: PackedGraphs) -> list[tuple[Keys, Codes]]:
    """For each kind of atom, (key, graph) of its occurrences, graphs ascending; kinds ascend by key."""
    names = graphs.object_names.astype(np.int64)
    owner = np.repeat(np.arange(len(names)), np.diff(graphs.attribute_starts))
    plain = graphs.triple_modifiers < 0
    subject, target = graphs.triple_subjects[plain], graphs.triple_objects[plain]
    relation = graphs.triple_relations[plain].astype(np.int64)
    ends = names[subject], names[target]
    where = graphs.graph_of[subject]
    triples = [
        _key(ends[0], relation, ends[1]),
        _key(ANY, relation, ends[1]),
        _key(ends[0], ANY, ends[1]),
        _key(ends[0], relation, ANY),
    ]
    return [
        (THING | names, graphs.graph_of),
        (ATTRIBUTE | names[owner] << BITS | graphs.object_attributes, graphs.graph_of[owner]),
        (np.concatenate(triples), np.tile(where, 4)),
    ]


def _key(subject: Any, relation: Any, target: Any) -> Keys:
    return np.asarray(TRIPLE | subject << (2 * BITS) | relation << BITS | target, np.int64)


def _postings(keys: Keys, graphs: Codes) -> tuple[Keys, Starts, Codes]:
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


def intersect(postings: list[Codes]) -> Codes:
    """What is in all of them; the shortest decides how long it takes."""
    found: Codes = reduce(kept, sorted(postings, key=len))
    return found


def kept(graphs: Codes, among: Codes) -> Codes:
    """Those of the graphs that are among the others, which are sorted."""
    if not len(among):
        return _NONE
    places = np.searchsorted(among, graphs)
    places[places == len(among)] = 0
    found: Codes = graphs[among[places] == graphs]
    return found


def _parts(index: Index) -> dict[str, NDArray[Any]]:
    graphs = index.graphs
    known = graphs.schema.name == OPEN.name or graphs.schema == _known(graphs.schema.name)
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


def _known(name: str) -> Schema | None:
    try:
        return schema_named(name)
    except UserError:
        return None


def _content_id(parts: dict[str, NDArray[Any]]) -> str:
    told = [f"{name} {digest_of(np.ascontiguousarray(array))}" for name, array in sorted(parts.items())]
    return digest_of("\n".join(told).encode())


def load(path: Path) -> Index:
    """An index as it was saved; a file that is not one, or is damaged, is refused."""
    try:
        with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as file:
            parts = {name: file[name] for name in file.files}
        digest = str(parts.pop("digest"))
        about = json.loads(parts["about"].tobytes())
        sound = digest == _content_id(parts)
    except FileNotFoundError:
        raise UserError(f"{path}: no such file") from None
    except (OSError, ValueError, KeyError, AttributeError, EOFError, zipfile.BadZipFile) as error:
        raise UserError(
            f"{path}: not an index of scene graphs ({str(error) or type(error).__name__})"
        ) from None
    if not sound:
        raise UserError(f"{path}: the index is damaged, its content is not what was written; build it again")
    if about["version"] != VERSION:
        raise UserError(f"{path}: written by another version of ShiftScope; build the index again")
    schema = about["schema"]
    held: dict[str, Any] = {name: tuple(about[name]) for name in _WORDS}
    held |= {name: parts[name] for name in _ARRAYS}
    graphs = PackedGraphs(
        schema=schema_named(schema) if isinstance(schema, str) else Schema.from_json(schema),
        noun=about["noun"],
        **held,
    )
    return Index(graphs, parts["keys"], parts["starts"], parts["postings"])
