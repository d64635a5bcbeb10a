"""Programs of COVR's questions: build the nodes that a subgraph describes, and run them on packed graphs.

    white sink below towel  →  intersect(filter(find(sink), attribute=white), related(find(towel), below))

A modified relation is one more relation of its own, called by both words: "uncorking with". Where a schema
has no names, things are identified by their shape: filter(scene(), shape=sedan). GraphWorld answers as a World of
the graphs' scenes would, without building them.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from ...lang.execution_world import ExecutionWorld, Things
from ...lang.program import ProgramBuilder
from ...scene import FREE
from ...scene_graph.pack import PackedGraphs, get_noun_attribute
from ...scene_graph.subgraph import ObjectNode, RelationModifier, SubgraphLink
from ...schema import Schema


def name_modified_relation(link: SubgraphLink, modifier: RelationModifier) -> str:
    """What scenes call the relation to a modifier's thing."""
    return f"{link.relation} {modifier.name}"


class CovrProgramBuilder(ProgramBuilder):
    """The programs of subgraphs in the words of a schema."""

    def __init__(self, schema: Schema) -> None:
        super().__init__()
        self.schema, self.noun = schema, get_noun_attribute(schema)

    def find_named(self, name: str) -> int:
        """All things of a name."""
        if self.noun == "name":
            return self.put("find", words=(name,))
        return self.put("filter", self.put("scene"), words=(self.noun, name))

    def get_attribute(self, value: str) -> str:
        """The attribute that a value is filtered by; any in an open vocabulary."""
        return FREE if not self.schema.closed else self.schema.attribute_of(value) or FREE

    def find_described(self, thing: ObjectNode) -> int:
        """All things that the subgraph describes."""
        at = self.find_named(thing.name)
        if thing.attribute:
            at = self.put("filter", at, words=(self.get_attribute(thing.attribute), thing.attribute))
        for link in thing.relations:
            at = self.filter_related(at, link)
        return at

    def filter_related(self, among: int, link: SubgraphLink) -> int:
        """Those among a set that are in the relation, and in each of its modified ones."""
        to = self.put("related", self.find_described(link.thing), words=(link.relation, "subject"))
        at = self.put("intersect", among, to)
        for modifier in link.modifiers:
            relation = name_modified_relation(link, modifier)
            to = self.put("related", self.find_described(modifier.thing), words=(relation, "subject"))
            at = self.put("intersect", at, to)
        return at

    def find_unique(self, thing: ObjectNode) -> int:
        return self.put("unique", self.find_described(thing))

    def add_number(self, number: int) -> int:
        return self.put("number", words=(str(number),))


# Packed graphs as what programs run on, read word by word as a program asks.

TABLES = 8192
WORLDS = 512


class GraphTable(NamedTuple):
    """One graph in its codes; objects are numbered from 0, sets of them are bit masks."""

    size: int
    names: list[int]  # [object]
    words: list[int]  # [attribute of an object]
    owners: list[int]
    by_name: dict[int, int]  # name → objects
    by_attribute: dict[int, int]  # attribute → objects
    relations: list[int]  # [triple]
    modifiers: list[int]
    subjects: list[int]
    targets: list[int]


@lru_cache(TABLES)
def read_graph(graphs: PackedGraphs, number: int) -> GraphTable:
    start, end = graphs.object_starts[number : number + 2].tolist()
    rows = slice(graphs.attribute_starts[start], graphs.attribute_starts[end])
    triples = slice(graphs.triple_starts[start], graphs.triple_starts[end])
    names = graphs.object_names[start:end].tolist()
    words = graphs.object_attributes[rows].tolist()
    owners = (graphs.attribute_owners[rows] - start).tolist()
    return GraphTable(
        *(end - start, names, words, owners, _build_masks(names, range(end - start)), _build_masks(words, owners)),
        graphs.triple_relations[triples].tolist(),
        graphs.triple_modifiers[triples].tolist(),
        (graphs.triple_subjects[triples] - start).tolist(),
        (graphs.triple_objects[triples] - start).tolist(),
    )


class GraphWorlds:
    """Worlds over an index's graphs."""

    def __init__(self, graphs: PackedGraphs) -> None:
        self.graphs = graphs
        self.parts = Things((), graphs.schema, part=True)
        self.of = lru_cache(WORLDS)(lambda numbers: GraphWorld(self, numbers))
        self.codes = lru_cache(None)(self._find_codes)
        self.relation = lru_cache(None)(self._find_relation)

    def _find_codes(self, attribute: str, value: str) -> tuple[bool, frozenset[int]]:
        """Whether it is names that have this value of the attribute, and the codes of those that do."""
        graphs, schema = self.graphs, self.graphs.schema
        if attribute == graphs.noun:
            code = graphs.name_codes.get(value)
            return True, frozenset() if code is None else frozenset(graphs.narrower[code].tolist())
        known = schema.attributes if schema.closed else ()
        wider = [a for a in known if a.name == attribute and value in dict(a.kinds)]
        words = {value, *(v for a in wider for v in dict(a.kinds)[value])}
        known_words = graphs.attribute_codes.keys() & words
        fitting = (word for word in known_words if attribute in _list_value_attributes(schema, word))
        return False, frozenset(graphs.attribute_codes[word] for word in fitting)

    def _find_relation(self, relation: str) -> frozenset[tuple[int, int]]:
        """The codes of relation and modifier, −1 for none, that scenes call by this name."""
        graphs = self.graphs
        found = {(graphs.relation_codes[relation], -1)} if relation in graphs.relation_codes else set()
        for modifier, code in graphs.modifier_codes.items():
            plain = relation.removesuffix(f" {modifier}")
            if plain != relation and plain in graphs.relation_codes:
                found.add((graphs.relation_codes[plain], code))
        return frozenset(found)


def _build_masks(codes: Sequence[int], objects: Sequence[int]) -> dict[int, int]:
    """For each code the objects that have it."""
    found: dict[int, int] = {}
    for code, k in zip(codes, objects, strict=True):
        found[code] = found.get(code, 0) | 1 << k
    return found


@lru_cache(maxsize=16384)
def _list_value_attributes(schema: Schema, value: str, declared: bool = False) -> tuple[str, ...]:
    """The attributes that a value may be filtered by, or only those that an open schema lists it in."""
    if schema.closed:
        return (schema.attribute_of(value) or FREE,)
    if declared:
        return tuple(a.name for a in schema.attributes if value in a.values)
    return (FREE, *(a.name for a in schema.attributes))


class GraphMasks(dict[tuple[str, str], int]):
    """The objects of several graphs that have a value, worked out when first asked for."""

    def __init__(self, worlds: GraphWorlds, tables: list[GraphTable]) -> None:
        self.worlds, self.tables = worlds, tables

    def __missing__(self, pair: tuple[str, str]) -> int:
        named, codes = self.worlds.codes(*pair)
        found, start = 0, 0
        for table in self.tables:
            masks = table.by_name if named else table.by_attribute
            for code in codes if len(codes) < len(masks) else masks:
                if code in codes and code in masks:
                    found |= masks[code] << start
            start += table.size
        self[pair] = found
        return found


class GraphThings(Things):
    """The objects of several graphs."""

    __slots__ = ("_tables", "_worlds")

    def __init__(self, worlds: GraphWorlds, tables: list[GraphTable]) -> None:
        self._worlds, self._tables = worlds, tables
        self.masks = GraphMasks(worlds, tables)
        self.schema = worlds.graphs.schema
        self.open = not self.schema.closed
        self.everything = (1 << sum(table.size for table in tables)) - 1

    def values(self, index: int, attribute: str) -> tuple[str, ...]:
        graphs = self._worlds.graphs
        for table in self._tables:
            if index < table.size:
                break
            index -= table.size
        if attribute == graphs.noun:
            return (graphs.names[table.names[index]],)
        pairs = zip(table.words, table.owners, strict=True)
        words = [graphs.attributes[code] for code, owner in pairs if owner == index]
        if attribute == FREE and self.open:
            return tuple(words)
        return tuple(word for word in words if attribute in _list_value_attributes(self.schema, word, True))

    def value(self, index: int, attribute: str) -> str | None:
        found = self.values(index, attribute)
        return found[0] if len(found) == 1 else None


class GraphWorld(ExecutionWorld):
    """Several graphs, one numbering of objects; there are no parts."""

    __slots__ = ("_tables", "_worlds")

    def __init__(self, worlds: GraphWorlds, numbers: tuple[int, ...]) -> None:
        self._worlds = worlds
        self._tables = [read_graph(worlds.graphs, number) for number in numbers]
        self.scenes = ()
        self.objects = GraphThings(worlds, self._tables)
        self.parts = worlds.parts
        self.owner, self.parts_of = [], []
        self.offsets, self.image_masks = [], []
        self._rows = {}
        start = 0
        for table in self._tables:
            self.offsets.append(start)
            self.image_masks.append(((1 << table.size) - 1) << start)
            start += table.size

    def rows(self, relation: str) -> tuple[int, ...] | None:
        if relation in self._rows:
            return self._rows[relation]
        wanted = self._worlds.relation(relation)
        rows = [0] * sum(table.size for table in self._tables)
        known = False
        for table, start in zip(self._tables, self.offsets, strict=True):
            for relation_code, modifier in wanted:
                if relation_code in table.relations:
                    for k, code in enumerate(table.relations):
                        if code == relation_code and table.modifiers[k] == modifier:
                            rows[start + table.targets[k]] |= 1 << start + table.subjects[k]
                            known = True
        self._rows[relation] = tuple(rows) if known else None
        return self._rows[relation]
