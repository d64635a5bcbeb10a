"""Pattern: a subgraph in the codes of packed graphs, matched there by compiled loops.

A match is what executing the description gives: bottom up, a thing is matched by every object that is called
so, is so, and stands in each relation to some object that matches below; two things of a tree may be the same
object. Nodes may be marked as changed: they match only what a row of verdicts says excludes their own name.
Then a match's things are different objects, or "in a line and in a line" would be much like "in a line and
in a hall".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..compiled import exact
from .pack import Codes, PackedGraphs, Starts
from .subgraph import Kind, Link, Subgraph, Thing

ABSENT = -2  # the code of a word that no graph uses
NO_ATTRIBUTE = -1
Row = NDArray[np.int8]  # [word] 1 where it excludes the node's own, 0 where not, −1 where nobody asked yet
NO_ROW: Row = np.zeros(0, np.int8)


class Tree(NamedTuple):
    """The subgraph; a thing stands before what hangs on it."""

    names: Codes  # [thing]
    attributes: Codes  # [thing]
    link_from: Codes  # [link]
    link_to: Codes
    link_relations: Codes
    modifier_links: Codes  # [modifier]
    modifier_to: Codes
    modifier_names: Codes


class Marks(NamedTuple):
    """Which nodes are changed: 1 goes by the first row of verdicts, 2 by the second, 0 is not changed."""

    names: Row  # [thing]
    attributes: Row  # [thing]
    links: Row  # [link]
    modifiers: Row  # [modifier]
    first: Row
    second: Row


class Columns(NamedTuple):
    """The packed graphs, as compiled code takes them."""

    object_starts: Starts
    object_names: Codes
    attribute_starts: Starts
    object_attributes: Codes
    triple_starts: Starts
    triple_relations: Codes
    triple_modifiers: Codes
    triple_objects: Codes
    wider_starts: Starts
    wider: Codes


class Place(NamedTuple):
    """Where a node went: which thing, link or modifier of the tree."""

    kind: Kind
    at: int


@dataclass(frozen=True, eq=False)
class Pattern:
    tree: Tree
    places: tuple[Place, ...]  # [node]
    absent: tuple[int, ...]  # the nodes whose word no graph uses


class Found(NamedTuple):
    """One match: a graph, the object at the root, and the code of what stands for each changed node."""

    graph: int
    root: int  # numbered through all graphs
    words: tuple[int, ...]


def columns_of(graphs: PackedGraphs) -> Columns:
    return Columns(*(getattr(graphs, name) for name in Columns._fields))


def compile_pattern(subgraph: Subgraph, graphs: PackedGraphs) -> Pattern:
    growing = _Growing(graphs)
    growing.thing(subgraph)
    tree = Tree(*(np.array(growing.columns[name], np.int32) for name in Tree._fields))
    return Pattern(tree, tuple(growing.places), tuple(growing.absent))


class _Growing:
    def __init__(self, graphs: PackedGraphs) -> None:
        self.graphs = graphs
        self.columns: dict[str, list[int]] = {name: [] for name in Tree._fields}
        self.places: list[Place] = []
        self.absent: list[int] = []

    def code(self, codes: dict[str, int], word: str, kind: Kind, at: int) -> int:
        code = codes.get(word, ABSENT)
        if code == ABSENT:
            self.absent.append(len(self.places))
        self.places.append(Place(kind, at))
        return code

    def thing(self, thing: Thing) -> int:
        names, attributes = self.columns["names"], self.columns["attributes"]
        at = len(names)
        names.append(self.code(self.graphs.name_codes, thing.name, "object", at))
        attributes.append(NO_ATTRIBUTE)
        if thing.attribute:
            attributes[at] = self.code(self.graphs.attribute_codes, thing.attribute, "attribute", at)
        for link in thing.relations:
            self.link(link, at)
        return at

    def link(self, link: Link, owner: int) -> None:
        into = self.columns
        at = len(into["link_from"])
        into["link_from"].append(owner)
        into["link_relations"].append(self.code(self.graphs.relation_codes, link.relation, "relation", at))
        into["link_to"].append(-1)
        into["link_to"][at] = self.thing(link.thing)
        for modifier in link.modifiers:
            k = len(into["modifier_links"])
            into["modifier_links"].append(at)
            into["modifier_names"].append(self.code(self.graphs.modifier_codes, modifier.name, "modifier", k))
            into["modifier_to"].append(-1)
            into["modifier_to"][k] = self.thing(modifier.thing)


def roots_in(pattern: Pattern, columns: Columns, numbers: Codes) -> tuple[Codes, Codes]:
    """For each graph how many objects match the root, and these objects, graph after graph."""
    if pattern.absent or not len(numbers):
        return np.zeros(len(numbers), np.int32), np.zeros(0, np.int32)
    return _roots(np.ascontiguousarray(numbers, np.int32), pattern.tree, _marks(pattern, {}), columns)


def first_matches(
    pattern: Pattern, columns: Columns, numbers: Codes, rows: Mapping[int, Row], most: int
) -> list[Found]:
    """One match in each of the first `most` graphs that have any; `rows` is of one or two changed nodes."""
    changed = sorted(rows)
    marks = _marks(pattern, rows)
    numbers = np.ascontiguousarray(numbers, np.int32)
    graphs, things, attributes, links, modifiers = _first(numbers, most, pattern.tree, marks, columns)

    def word(k: int, node: int) -> int:
        kind, at = pattern.places[node]
        if kind == "object":
            return int(columns.object_names[things[k, at]])
        if kind == "attribute":
            return int(attributes[k, at])
        if kind == "relation":
            return int(columns.triple_relations[links[k, at]])
        return int(columns.triple_modifiers[modifiers[k, at]])

    return [
        Found(graph, int(things[k, 0]), tuple(word(k, node) for node in changed))
        for k, graph in enumerate(graphs.tolist())
    ]


def _marks(pattern: Pattern, rows: Mapping[int, Row]) -> Marks:
    tree = pattern.tree
    marks: dict[Kind, Row] = {
        "object": np.zeros(len(tree.names), np.int8),
        "attribute": np.zeros(len(tree.names), np.int8),
        "relation": np.zeros(len(tree.link_from), np.int8),
        "modifier": np.zeros(len(tree.modifier_links), np.int8),
    }
    used = [NO_ROW, NO_ROW]
    for which, node in enumerate(sorted(rows)):
        kind, at = pattern.places[node]
        marks[kind][at] = which + 1
        used[which] = rows[node]
    return Marks(marks["object"], marks["attribute"], marks["relation"], marks["modifier"], *used)


@exact
def undecided(row: Row, graphs: Codes, object_starts: Starts, member_starts: Starts, codes: Codes) -> Any:
    """The codes of these graphs' objects, or of what those own, that the row has no verdict on, each once."""
    found = []
    for graph in graphs:
        start, end = object_starts[graph], object_starts[graph + 1]
        if len(member_starts):
            start, end = member_starts[start], member_starts[end]
        for k in range(start, end):
            code = codes[k]
            if code >= 0 and row[code] == -1:
                row[code] = 0
                found.append(code)
    return found


@exact
def _row(marks: Marks, which: int) -> Any:
    if which == 0:
        return marks.first[:0]
    return marks.first[:] if which == 1 else marks.second[:]


@exact
def _called(code: int, wanted: int, columns: Columns) -> bool:
    for k in range(columns.wider_starts[code], columns.wider_starts[code + 1]):
        if columns.wider[k] == wanted:
            return True
    return False


@exact
def _attribute(thing: int, wanted: int, row: Row, columns: Columns) -> int:
    """The attribute that makes the object match, −1 if none does."""
    chosen = -1
    for k in range(columns.attribute_starts[thing], columns.attribute_starts[thing + 1]):
        code = columns.object_attributes[k]
        if code == wanted:
            return -1 if len(row) else code
        if len(row) and chosen < 0 and row[code] == 1:
            chosen = code
    return chosen


@exact
def _modifier(thing: int, relation: int, wanted: int, row: Row, ok: Any, base: int, columns: Columns) -> int:
    """The triple that is this modifier of the object's relation, −1 if there is none."""
    chosen = -1
    for k in range(columns.triple_starts[thing], columns.triple_starts[thing + 1]):
        modifier = columns.triple_modifiers[k]
        if (
            modifier < 0
            or columns.triple_relations[k] != relation
            or not ok[columns.triple_objects[k] - base]
        ):
            continue
        if len(row) == 0:
            if modifier == wanted:
                return k
        elif chosen < 0 and row[modifier] == 1:
            chosen = k
    return chosen


@exact
def _related(thing: int, relation: int, target: int, columns: Columns) -> bool:
    for k in range(columns.triple_starts[thing], columns.triple_starts[thing + 1]):
        if (
            columns.triple_relations[k] == relation
            and columns.triple_modifiers[k] < 0
            and columns.triple_objects[k] == target
        ):
            return True
    return False


@exact
def _link(
    thing: int, link: int, ok: Any, base: int, taken: Codes, tree: Tree, marks: Marks, columns: Columns
) -> int:
    """The triple by which the object has the relation and all its modifiers, −1 if there is none.

    It leads to none of the objects taken.
    """
    which = marks.links[link]
    wanted, to = tree.link_relations[link], tree.link_to[link]
    for k in range(columns.triple_starts[thing], columns.triple_starts[thing + 1]):
        relation, target = columns.triple_relations[k], columns.triple_objects[k]
        if columns.triple_modifiers[k] >= 0 or not ok[to, target - base]:
            continue
        if which == 0:
            if relation != wanted:
                continue
        else:
            verdict = marks.first[relation] if which == 1 else marks.second[relation]
            if verdict != 1 or _related(thing, wanted, target, columns):
                continue
        good = True
        for other in taken:
            if other == target:
                good = False
        for m in range(len(tree.modifier_links)):
            if good and tree.modifier_links[m] == link:
                extra = _row(marks, marks.modifiers[m])
                below = ok[tree.modifier_to[m]]
                good = _modifier(thing, relation, tree.modifier_names[m], extra, below, base, columns) >= 0
        if good:
            return k
    return -1


@exact
def _fill(ok: Any, base: int, end: int, tree: Tree, marks: Marks, columns: Columns) -> bool:
    """Which objects match which thing, from the leaves up; False as soon as a thing has no match."""
    nobody = tree.names[:0]
    for thing in range(len(tree.names) - 1, -1, -1):
        some = False
        which, wanted = marks.names[thing], tree.attributes[thing]
        name_row, attribute_row = _row(marks, which), _row(marks, marks.attributes[thing])
        for o in range(base, end):
            name = columns.object_names[o]
            good = name_row[name] == 1 if which else _called(name, tree.names[thing], columns)
            if good and wanted != NO_ATTRIBUTE:
                good = _attribute(o, wanted, attribute_row, columns) >= 0
            if good:
                for link in range(len(tree.link_from)):
                    if good and tree.link_from[link] == thing:
                        good = _link(o, link, ok, base, nobody, tree, marks, columns) >= 0
            ok[thing, o - base] = good
            some = some or good
        if not some:
            return False
    return True


@exact
def _widest(graphs: Codes, columns: Columns) -> int:
    most = 0
    for graph in graphs:
        most = max(most, columns.object_starts[graph + 1] - columns.object_starts[graph])
    return most


@exact
def _roots(graphs: Codes, tree: Tree, marks: Marks, columns: Columns) -> tuple[Codes, Codes]:
    total = 0
    for graph in graphs:
        total += columns.object_starts[graph + 1] - columns.object_starts[graph]
    ok = np.zeros((len(tree.names), _widest(graphs, columns)), np.bool_)
    counts = np.zeros(len(graphs), np.int32)
    roots = np.zeros(total, np.int32)
    used = 0
    for k in range(len(graphs)):
        base, end = columns.object_starts[graphs[k]], columns.object_starts[graphs[k] + 1]
        if _fill(ok, base, end, tree, marks, columns):
            for o in range(base, end):
                if ok[0, o - base]:
                    roots[used] = o
                    used += 1
                    counts[k] += 1
    return counts, roots[:used].copy()


@exact
def _assign(
    root: int,
    ok: Any,
    base: int,
    things: Codes,
    attributes: Codes,
    links: Codes,
    modifiers: Codes,
    tree: Tree,
    marks: Marks,
    columns: Columns,
) -> bool:
    """Choose an object for every thing from the root down, none for two; False if that does not work out."""
    things[:] = -1
    things[0] = root
    for thing in range(len(tree.names)):  # what hangs on a thing comes after it
        o = things[thing]
        if tree.attributes[thing] != NO_ATTRIBUTE:
            row = _row(marks, marks.attributes[thing])
            attributes[thing] = _attribute(o, tree.attributes[thing], row, columns)
        for link in range(len(tree.link_from)):
            if tree.link_from[link] != thing:
                continue
            triple = _link(o, link, ok, base, things, tree, marks, columns)
            if triple < 0:
                return False
            links[link] = triple
            things[tree.link_to[link]] = columns.triple_objects[triple]
            relation = columns.triple_relations[triple]
            for m in range(len(tree.modifier_links)):
                if tree.modifier_links[m] == link:
                    row = _row(marks, marks.modifiers[m])
                    below = ok[tree.modifier_to[m]]
                    extra = _modifier(o, relation, tree.modifier_names[m], row, below, base, columns)
                    modifiers[m] = extra
                    things[tree.modifier_to[m]] = columns.triple_objects[extra]
    return True


@exact
def _first(
    graphs: Codes, most: int, tree: Tree, marks: Marks, columns: Columns
) -> tuple[Codes, Codes, Codes, Codes, Codes]:
    """Graphs, and for each its things, their attributes, the triples of links and of modifiers."""
    ok = np.zeros((len(tree.names), _widest(graphs, columns)), np.bool_)
    found = np.zeros(most, np.int32)
    things = np.zeros((most, len(tree.names)), np.int32)
    attributes = np.full((most, len(tree.names)), -1, np.int32)
    links = np.zeros((most, len(tree.link_from)), np.int32)
    modifiers = np.zeros((most, len(tree.modifier_links)), np.int32)
    n = 0
    for graph in graphs:
        if n == most:
            break
        base, end = columns.object_starts[graph], columns.object_starts[graph + 1]
        if not _fill(ok, base, end, tree, marks, columns):
            continue
        for root in range(base, end):
            if ok[0, root - base] and _assign(
                root, ok, base, things[n], attributes[n], links[n], modifiers[n], tree, marks, columns
            ):
                found[n] = graph
                n += 1
                break
    return found[:n], things[:n], attributes[:n], links[:n], modifiers[:n]
