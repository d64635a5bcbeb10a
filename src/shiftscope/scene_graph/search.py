"""The compiled search: where a subgraph is, and where it is with one or two of its nodes replaced.

A match is what executing the description gives: bottom up, a thing is matched by every object that is called
so, is so, and stands in each relation to some object that matches below; two things of a tree may be the same
object. A replaced node matches only what a row of verdicts says excludes its own name, and then no two things
are the same object.

Candidates come from the rarest atom that an edit leaves alone. A look at a graph's names, then one at its facts,
say which atoms are missing there, and so which edits it is worth trying; what is tried is matched with a word of
bits for each object, and only what this lets through is matched in full. Objects go by their numbers in the graph. The
order of this file is: dice, the pattern as bits, matching, atoms, looks, the search.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..kernels import exact, exact_inline, mix_bits
from .index import ABSENT, ANY, ATTRIBUTE, BITS, NONE, THING, TRIPLE, GraphColumns, PatternTree
from .pack import Codes, Starts
from .subgraph import NODE_KINDS

BitWords = NDArray[np.uint64]  # bit k: thing k, or node k
ExclusivityTable = NDArray[np.int8]  # [row, word] 1 where it excludes the row's own, 0 where not, −1 if undecided
ZERO, ONE, TWO, THREE = (np.uint64(k) for k in range(4))
HALF, LOWER = np.uint64(32), np.uint64(0xFFFFFFFF)  # of a word; a tree of 64 nodes has 32 things at most
LINE = np.uint64(32)  # words of two bytes in a line of a cache
SUBJECT_BITS = 2 * BITS
WIDEST = 512  # keys of one atom; wider ones are left to the check on the graph
DEPTH = 128  # candidates looked at for an edit; what has not shown up by then is rare
CHUNK = 8  # candidates drawn at once, so that the memory is asked for them all at once
AHEAD = 8  # graphs of an edit whose words are asked about at once
MOST_UNDECIDED = 1024  # words asked about at once
IS_OBJECT, IS_ATTRIBUTE, IS_RELATION, IS_MODIFIER = range(len(NODE_KINDS))  # as these are ordered
NAMED, OPEN, CLOSED = (np.uint64(k) for k in range(3))  # names are known; facts too; it cannot be a distractor
FLAG, LACKING_THINGS, LACKING_LINKS, LACKING_ENDS = range(4)  # columns of `looks`
ATOM, SIZE, LIMIT, DRAWN, PLACE, STEP = range(6)  # columns of `groups`


class ExclusivityTables(NamedTuple):
    """Which words exclude which, for each kind of node."""

    objects: ExclusivityTable
    attributes: ExclusivityTable
    relations: ExclusivityTable
    modifiers: ExclusivityTable


class PatternBits(NamedTuple):
    """What of the tree has this word, as bits. One for all searches, which leave it empty.

    A link goes by the thing that it leads to.
    """

    of_name: BitWords  # [name] things; in the upper half the links that lead from them
    of_attribute: BitWords  # [attribute] things
    of_relation: BitWords  # [relation] links


class TreeBits(NamedTuple):
    """The tree as bits of things."""

    things: Any  # all
    described: Any  # those with an attribute
    linked: Any  # those that a link leads to
    parents: Any  # those that a link leads from
    children: BitWords  # [thing] what links lead to from there
    height: int  # most links on a path


class SearchArrays(NamedTuple):
    """What every step looks at: the subgraph, which words exclude which, the graphs, and the subgraph as bits."""

    tree: PatternTree
    verdicts: ExclusivityTables
    columns: GraphColumns
    bits: PatternBits
    shape: TreeBits


class FactPlaces(NamedTuple):
    """Where the facts of a graph begin."""

    attributes: int
    relations: int
    modifiers: int
    end: int


class UndecidedWords(NamedTuple):
    """Words that a search cannot do without a verdict on, as codes, each with its node."""

    nodes: Codes
    codes: Codes
    used: Codes  # [1] how many


class TreeAssignment(NamedTuple):
    """What stands for each part of the tree in a graph."""

    things: Codes  # objects
    attributes: Codes  # words
    links: Starts  # where the fact is
    modifiers: Starts  # where the fact is


class DistractorCandidates(NamedTuple):
    """The edits in the order of their turns, and the graphs to try them on, as far as these are drawn."""

    edits: Codes  # [edit, 3] the node to replace, another one or −1, the group of its candidates
    needs: BitWords  # [edit, 3] what a candidate may not lack, as the last columns of `looks`
    groups: Starts  # [group, 6]
    graphs: Codes  # [group * DEPTH]
    looks: BitWords  # [group * DEPTH, 4] what looks at it found


class DistractorArrays(NamedTuple):
    """Distractors: the graph, the nodes replaced (−1 for no second one), the words there, the root."""

    graphs: Codes  # [distractor]
    nodes: Codes  # [distractor, 2]
    words: Codes  # [distractor, 2]
    roots: Codes


@exact_inline
def _draw_below(seed: Any, turn: Any, limit: Any) -> Any:
    bits = mix_bits(seed + np.uint64(turn + 1) * np.uint64(0x9E3779B97F4A7C15))
    return np.int64(((bits >> np.uint64(32)) * np.uint64(limit)) >> np.uint64(32))


@exact_inline
def _choose_stride(seed: Any, size: Any) -> Any:
    """A step by which so many places are each visited once."""
    if size < 3:
        return 1
    step = 1 + _draw_below(seed, 1, size - 1)
    while True:
        a, b = step, size
        while b:
            a, b = b, a % b
        if a == 1:
            return step
        step = step % size + 1


@exact
def _shuffle(items: Codes, seed: Any) -> None:
    for k in range(len(items) - 1, 0, -1):
        other = _draw_below(seed, k, k + 1)
        items[k], items[other] = items[other], items[k]


@exact_inline
def _count_names(name: int, columns: GraphColumns) -> Any:
    return columns.narrower_starts[name + 1] - columns.narrower_starts[name] if name >= 0 else 0


@exact
def _mark_pattern(tree: PatternTree, columns: GraphColumns, bits: PatternBits) -> TreeBits:
    things = len(tree.names)
    described, linked, parents = ZERO, ZERO, ZERO
    children = np.zeros(things, np.uint64)
    heights = np.zeros(things, np.int64)
    for link in range(len(tree.link_from) - 1, -1, -1):  # what hangs on a thing comes after it
        one, other = tree.link_from[link], tree.link_to[link]
        parents |= ONE << np.uint64(one)
        linked |= ONE << np.uint64(other)
        children[one] |= ONE << np.uint64(other)
        heights[one] = max(heights[one], heights[other] + 1)
        if tree.link_relations[link] >= 0:
            bits.of_relation[tree.link_relations[link]] |= ONE << np.uint64(other)
    for thing in range(things):
        name, bit = tree.names[thing], ONE << np.uint64(thing)
        for k in range(_count_names(name, columns)):
            bits.of_name[columns.narrower[columns.narrower_starts[name] + k]] |= bit | children[thing] << HALF
        if tree.attributes[thing] != NONE:
            described |= bit
        if tree.attributes[thing] >= 0:
            bits.of_attribute[tree.attributes[thing]] |= bit
    return TreeBits((ONE << np.uint64(things)) - ONE, described, linked, parents, children, heights.max())


@exact
def _unmark_pattern(tree: PatternTree, columns: GraphColumns, bits: PatternBits) -> None:
    for thing in range(len(tree.names)):
        name = tree.names[thing]
        for k in range(_count_names(name, columns)):
            bits.of_name[columns.narrower[columns.narrower_starts[name] + k]] = ZERO
        if tree.attributes[thing] >= 0:
            bits.of_attribute[tree.attributes[thing]] = ZERO
    for link in range(len(tree.link_from)):
        if tree.link_relations[link] >= 0:
            bits.of_relation[tree.link_relations[link]] = ZERO


@exact_inline
def _place_facts(graph: int, columns: GraphColumns) -> FactPlaces:
    start = columns.fact_starts[graph]
    attributes = start + 2
    relations = attributes + 2 * np.int64(columns.facts[start])
    modifiers = relations + 3 * np.int64(columns.facts[start + 1])
    return FactPlaces(attributes, relations, modifiers, columns.fact_starts[graph + 1])


@exact_inline
def _match_bits(graph: int, can: BitWords, has: BitWords, replaced: Any, rows: Codes, arrays: SearchArrays) -> bool:
    """Which things each object may be, as far as names, attributes and plain relations tell one by one.

    From the leaves up; False if some thing has no object. Where no node is replaced and there is no modifier, this is
    the match. What is undecided counts as a match.
    """
    tree, verdicts, columns, bits, shape = arrays
    names, facts = columns.object_names, columns.facts
    first = columns.object_starts[graph]
    size = columns.object_starts[graph + 1] - first
    kept_names, kept_attributes, kept_links = LOWER, LOWER, LOWER
    for node in replaced:
        if node < 0:
            continue
        kind, place = tree.kinds[node], np.uint64(tree.places[node])
        if kind == IS_OBJECT:
            kept_names &= ~(ONE << place)
        elif kind == IS_ATTRIBUTE:
            kept_attributes &= ~(ONE << place)
        elif kind == IS_RELATION:
            kept_links &= ~(ONE << np.uint64(tree.link_to[tree.places[node]]))
    for o in range(size):
        can[o] = bits.of_name[names[first + o]] & kept_names
    for node in replaced:
        if node >= 0 and tree.kinds[node] == IS_OBJECT:
            row, bit = rows[node], ONE << np.uint64(tree.places[node])
            for o in range(size):
                if verdicts.objects[row, names[first + o]] != 0:
                    can[o] |= bit
    places = _place_facts(graph, columns)
    some = ZERO
    if shape.described:
        for o in range(size):
            has[o] = ~shape.described
        for k in range(places.attributes, places.relations, 2):
            has[facts[k]] |= bits.of_attribute[facts[k + 1]] & kept_attributes
        for node in replaced:
            if node >= 0 and tree.kinds[node] == IS_ATTRIBUTE:
                row, bit = rows[node], ONE << np.uint64(tree.places[node])
                for k in range(places.attributes, places.relations, 2):
                    if verdicts.attributes[row, facts[k + 1]] != 0:
                        has[facts[k]] |= bit
        for o in range(size):
            can[o] &= has[o]
            some |= can[o]
    else:
        for o in range(size):
            some |= can[o]
    for _ in range(shape.height):
        if some != shape.things:
            return False
        for o in range(size):
            has[o] = ZERO
        for k in range(places.relations, places.modifiers, 3):
            has[facts[k]] |= bits.of_relation[facts[k + 1]] & kept_links & can[facts[k + 2]]
        for node in replaced:
            if node >= 0 and tree.kinds[node] == IS_RELATION:
                row, bit = rows[node], ONE << np.uint64(tree.link_to[tree.places[node]])
                for k in range(places.relations, places.modifiers, 3):
                    if can[facts[k + 2]] & bit and verdicts.relations[row, facts[k + 1]] != 0:
                        has[facts[k]] |= bit
        some = ZERO
        for o in range(size):
            if can[o] & shape.parents:
                for thing in range(len(tree.names)):
                    if shape.children[thing] & ~has[o]:
                        can[o] &= ~(ONE << np.uint64(thing))
            some |= can[o]
    return bool(some == shape.things)


@exact_inline
def _match_attribute(thing: int, wanted: int, row: int, places: FactPlaces, arrays: SearchArrays) -> Any:
    """The attribute that makes the object match, −1 if none does."""
    facts, verdicts = arrays.columns.facts, arrays.verdicts.attributes
    chosen: Any = -1
    for k in range(places.attributes, places.relations, 2):
        if facts[k] == thing:
            code = np.int64(facts[k + 1])
            if code == wanted:
                return -1 if row >= 0 else code
            if row >= 0 and chosen < 0 and verdicts[row, code]:
                chosen = code
    return chosen


@exact_inline
def _match_modifier(
    thing: int, relation: Any, m: int, can: BitWords, rows: Codes, places: FactPlaces, arrays: SearchArrays
) -> int:
    """Where the fact is that is this modifier of the object's relation, −1 if there is none."""
    tree, facts = arrays.tree, arrays.columns.facts
    wanted, row, below = tree.modifier_names[m], rows[tree.modifier_nodes[m]], ONE << np.uint64(tree.modifier_to[m])
    for k in range(places.modifiers, places.end, 4):
        modifier = facts[k + 2]
        if (
            facts[k] == thing
            and facts[k + 1] == relation
            and can[facts[k + 3]] & below
            and (modifier == wanted if row < 0 else arrays.verdicts.modifiers[row, modifier] != 0)
        ):
            return k
    return -1


@exact_inline
def _is_related(thing: int, relation: int, target: Any, places: FactPlaces, columns: GraphColumns) -> bool:
    facts = columns.facts
    for k in range(places.relations, places.modifiers, 3):
        if facts[k] == thing and facts[k + 1] == relation and facts[k + 2] == target:
            return True
    return False


@exact_inline
def _match_link(
    thing: int, link: int, can: BitWords, taken: Codes, rows: Codes, places: FactPlaces, arrays: SearchArrays
) -> int:
    """Where the fact is by which the object has the relation and all its modifiers, −1 if there is none.

    It leads to none of the objects taken.
    """
    tree, columns, facts = arrays.tree, arrays.columns, arrays.columns.facts
    wanted, to, row = tree.link_relations[link], ONE << np.uint64(tree.link_to[link]), rows[tree.link_nodes[link]]
    for k in range(places.relations, places.modifiers, 3):
        if facts[k] != thing:
            continue
        relation, target = np.int64(facts[k + 1]), np.int64(facts[k + 2])
        if not can[target] & to:
            continue
        if row < 0:
            if relation != wanted:
                continue
        elif arrays.verdicts.relations[row, relation] == 0 or _is_related(thing, wanted, target, places, columns):
            continue
        good = True
        for t in range(len(taken)):
            good = good and taken[t] != target
        for m in range(len(tree.modifier_links)):
            if good and tree.modifier_links[m] == link:
                good = _match_modifier(thing, relation, m, can, rows, places, arrays) >= 0
        if good:
            return k
    return -1


@exact_inline
def _match_fully(graph: int, can: BitWords, nobody: Codes, rows: Codes, arrays: SearchArrays) -> bool:
    """Strike out what the bits let through in spite of modifiers and of what replaced nodes exclude."""
    tree, columns = arrays.tree, arrays.columns
    size, places = columns.object_starts[graph + 1] - columns.object_starts[graph], _place_facts(graph, columns)
    for thing in range(len(tree.names) - 1, -1, -1):
        some, bit, wanted = False, ONE << np.uint64(thing), tree.attributes[thing]
        row = rows[tree.attribute_nodes[thing]] if wanted != NONE else -1
        for o in range(size):
            if not can[o] & bit:
                continue
            good = row < 0 or _match_attribute(o, wanted, row, places, arrays) >= 0
            for link in range(len(tree.link_from)):
                if good and tree.link_from[link] == thing:
                    good = _match_link(o, link, can, nobody, rows, places, arrays) >= 0
            some = some or good
            if not good:
                can[o] &= ~bit
        if not some:
            return False
    return True


@exact_inline
def _match_pattern(graph: int, can: BitWords, has: BitWords, nothing: Codes, rows: Codes, arrays: SearchArrays) -> bool:
    """Whether the subgraph itself is there; which things each object is."""
    good = _match_bits(graph, can, has, nothing, rows, arrays)
    if good and len(arrays.tree.modifier_links):
        good = _match_fully(graph, can, nothing, rows, arrays)
    return good


@exact
def find_roots(
    graphs: Codes, tree: PatternTree, verdicts: ExclusivityTables, columns: GraphColumns, bits: PatternBits
) -> tuple[Codes, Codes]:
    """For each graph how many objects match the root, and these objects, numbered through all graphs."""
    arrays = SearchArrays(tree, verdicts, columns, bits, _mark_pattern(tree, columns, bits))
    total = 0
    for graph in graphs:
        total += columns.object_starts[graph + 1] - columns.object_starts[graph]
    can, has = np.empty(columns.widest, np.uint64), np.empty(columns.widest, np.uint64)
    rows, nothing = np.full(len(tree.kinds), -1, np.int32), np.zeros(0, np.int32)
    counts = np.zeros(len(graphs), np.int32)
    roots = np.empty(total, np.int32)
    used = 0
    for k in range(len(graphs)):
        base = columns.object_starts[graphs[k]]
        if _match_pattern(graphs[k], can, has, nothing, rows, arrays):
            for o in range(columns.object_starts[graphs[k] + 1] - base):
                if can[o] & ONE:
                    roots[used] = base + o
                    used += 1
                    counts[k] += 1
    _unmark_pattern(tree, columns, bits)
    return counts, roots[:used].copy()


class PatternAtoms(NamedTuple):
    """The parts of a subgraph that the index knows, each with its postings, piece after piece."""

    nodes: BitWords  # [atom]
    piece_starts: Starts  # [atom + 1]
    places: Starts  # [piece] where it begins
    ends: Starts  # [piece] how many postings the atom has up to its end; some graphs may come twice


@exact_inline
def _count_postings(atoms: PatternAtoms, atom: int) -> Any:
    last = atoms.piece_starts[atom + 1]
    return atoms.ends[last - 1] if last > atoms.piece_starts[atom] else 0


@exact_inline
def _find_key(keys: Any, key: Any) -> Any:
    """Where a key is among sorted ones, −1 if it is not there."""
    low, high = 0, len(keys)
    while low < high:
        middle = (low + high) >> 1
        if keys[middle] < key:
            low = middle + 1
        else:
            high = middle
    return low if low < len(keys) and keys[low] == key else -1


@exact
def find_atoms(tree: PatternTree, columns: GraphColumns) -> PatternAtoms:
    things, links = len(tree.names), len(tree.link_from)
    nodes = np.zeros(2 * things + 4 * links, np.uint64)
    subjects, targets = np.zeros(len(nodes), np.int64), np.zeros(len(nodes), np.int64)  # names, −1 for any
    middles, kinds = np.zeros(len(nodes), np.int64), np.zeros(len(nodes), np.int64)
    count, most = 0, 0
    for k in range(len(nodes)):
        if k < 2 * things:
            thing, whole = k >> 1, k & 1 == 0
            if not whole and tree.attributes[thing] == NONE:
                continue
            mask = ONE << np.uint64(tree.name_nodes[thing])
            subject, target, middle = tree.names[thing], -1, 0
            kind = THING if whole else ATTRIBUTE
            if not whole:
                mask |= ONE << np.uint64(tree.attribute_nodes[thing])
                middle = tree.attributes[thing]
        else:
            link, left_out = (k - 2 * things) >> 2, (k - 2 * things) & 3  # 3 leaves out nothing
            kind, mask = TRIPLE, ZERO
            one, other = tree.link_from[link], tree.link_to[link]
            subject, target, middle = -1, -1, ANY
            if left_out != 0:
                subject, mask = tree.names[one], mask | ONE << np.uint64(tree.name_nodes[one])
            if left_out != 1:
                middle, mask = tree.link_relations[link], mask | ONE << np.uint64(tree.link_nodes[link])
            if left_out != 2:
                target, mask = tree.names[other], mask | ONE << np.uint64(tree.name_nodes[other])
        width = 1 if subject == -1 else _count_names(subject, columns)
        width *= 1 if target == -1 else _count_names(target, columns)
        if middle == ABSENT:
            width = 0
        if width > WIDEST:
            continue
        nodes[count], subjects[count], targets[count] = mask, subject, target
        middles[count], kinds[count] = middle, kind
        count += 1
        most += width
    piece_starts = np.zeros(count + 1, np.int64)
    places, ends = np.zeros(most, np.int64), np.zeros(most, np.int64)
    piece = 0
    for k in range(count):
        total = 0
        subject, target, middle, kind = subjects[k], targets[k], middles[k], kinds[k]
        width = 1 if subject == -1 else _count_names(subject, columns)
        across = 1 if target == -1 else _count_names(target, columns)
        if middle == ABSENT:
            width = 0
        for i in range(width):
            one = np.int64(ANY if subject == -1 else columns.narrower[columns.narrower_starts[subject] + i])
            for j in range(across):
                other = np.int64(ANY if target == -1 else columns.narrower[columns.narrower_starts[target] + j])
                if kind == TRIPLE:
                    key = TRIPLE | one << SUBJECT_BITS | middle << BITS | other
                elif kind == ATTRIBUTE:
                    key = ATTRIBUTE | one << BITS | middle
                else:
                    key = THING | one
                at = _find_key(columns.keys, key)
                if at >= 0:
                    total += columns.starts[at + 1] - columns.starts[at]
                    places[piece], ends[piece] = columns.starts[at], total
                    piece += 1
        piece_starts[k + 1] = piece
    return PatternAtoms(nodes[:count], piece_starts, places[:piece], ends[:piece])


@exact_inline
def _begin_group(groups: Starts, group: int, atoms: PatternAtoms, atom: int, seed: Any, columns: GraphColumns) -> None:
    """An atom's graphs, to be drawn in an order of the seed. Atom −1 is that every graph has."""
    size = _count_postings(atoms, atom) if atom >= 0 else len(columns.object_starts) - 1
    groups[group, ATOM], groups[group, SIZE], groups[group, LIMIT] = atom, size, size
    groups[group, DRAWN], groups[group, PLACE], groups[group, STEP] = 0, 0, 0
    if size:
        seed = mix_bits(seed + np.uint64(atom + 2))
        groups[group, STEP] = _choose_stride(seed, size)
        groups[group, PLACE] = _draw_below(seed, 0, size)


@exact_inline
def _draw_chunk(groups: Starts, group: int, atoms: PatternAtoms, graphs: Codes, at: int, columns: GraphColumns) -> Any:
    """Draw on, into `graphs` from a place on; how many there were."""
    atom, size, place, step = groups[group, ATOM], groups[group, SIZE], groups[group, PLACE], groups[group, STEP]
    count = min(groups[group, LIMIT] - groups[group, DRAWN], CHUNK)
    for k in range(count):
        if atom < 0:
            graphs[at + k] = place
        else:
            start, high = atoms.piece_starts[atom], atoms.piece_starts[atom + 1] - 1
            low = start
            while low < high:  # the first piece that ends after the place
                middle = (low + high) >> 1
                if atoms.ends[middle] <= place:
                    low = middle + 1
                else:
                    high = middle
            before = atoms.ends[low - 1] if low > start else 0
            graphs[at + k] = columns.postings[atoms.places[low] + place - before]
        place += step
        if place >= size:
            place -= size
    groups[group, PLACE] = place
    groups[group, DRAWN] += count
    return count


@exact_inline
def _find_names(graph: int, columns: GraphColumns, bits: PatternBits) -> Any:
    """The things that some object is called."""
    found, o, end = ZERO, np.uint64(columns.object_starts[graph]), np.uint64(columns.object_starts[graph + 1])
    while o < end:  # see _look_at_facts
        found |= bits.of_name[columns.object_names[o]]
        o += ONE
    return found & LOWER


@exact_inline
def _look_at_facts(graph: int, c: int, looks: BitWords, called: BitWords, arrays: SearchArrays) -> None:
    """Which attributes and links of the tree a candidate lacks, and of which links it lacks even two parts of three.

    Most of a search is here. As `for` loops, these would become vector gathers, which take four times as long as the
    loads on many processors.
    """
    _, _, columns, bits, shape = arrays
    facts, first = columns.facts, columns.object_starts[graph]
    touched, k, end = ZERO, np.uint64(columns.fact_starts[graph]), np.uint64(columns.fact_starts[graph + 1])
    while k < end:  # ask the memory for all lines at once, not for one after the other
        touched |= np.uint64(facts[k])
        k += LINE
    called[0] = touched  # or the compiler would leave it out
    places = _place_facts(graph, columns)
    for o in range(columns.object_starts[graph + 1] - first):
        called[o] = bits.of_name[columns.object_names[first + o]]
    described, complete, no_target, no_relation, no_subject = ZERO, ZERO, ZERO, ZERO, ZERO
    if shape.described:
        k, end = np.uint64(places.attributes), np.uint64(places.relations)
        while k < end:
            described |= called[facts[k]] & bits.of_attribute[facts[k + ONE]]
            k += TWO
    if shape.linked:
        k, end = np.uint64(places.relations), np.uint64(places.modifiers)
        while k < end:
            subject, relation = called[facts[k]] >> HALF, bits.of_relation[facts[k + ONE]]
            target = called[facts[k + TWO]]
            k += THREE
            both = subject & relation
            no_target |= both
            complete |= both & target
            no_relation |= subject & target
            no_subject |= relation & target
    looks[c, FLAG] = OPEN
    looks[c, LACKING_THINGS] |= (shape.described & ~described) << HALF
    looks[c, LACKING_LINKS] = shape.linked & ~complete | (shape.linked & ~no_subject) << HALF
    looks[c, LACKING_ENDS] = shape.linked & ~no_relation | (shape.linked & ~no_target) << HALF


@exact_inline
def _is_whole(c: int, looks: BitWords) -> bool:
    """Whether the candidate has all parts of the tree somewhere."""
    return bool(looks[c, LACKING_THINGS] == ZERO and looks[c, LACKING_LINKS] & LOWER == ZERO)


@exact_inline
def _list_needs(nodes: Any, edit: int, needs: BitWords, tree: PatternTree) -> None:
    """What a graph may not lack for these nodes to be all that is to be replaced."""
    for thing in range(len(tree.names)):
        bit, touched = ONE << np.uint64(thing), nodes >> np.uint64(tree.name_nodes[thing]) & ONE
        if not touched:
            needs[edit, 0] |= bit
        if tree.attributes[thing] != NONE and not (touched or nodes >> np.uint64(tree.attribute_nodes[thing]) & ONE):
            needs[edit, 0] |= bit << HALF
    for link in range(len(tree.link_from)):
        one = nodes >> np.uint64(tree.name_nodes[tree.link_from[link]]) & ONE
        how = nodes >> np.uint64(tree.link_nodes[link]) & ONE
        other = nodes >> np.uint64(tree.name_nodes[tree.link_to[link]]) & ONE
        bit = ONE << np.uint64(tree.link_to[link])
        if not one + how + other:
            needs[edit, 1] |= bit
        elif one + how + other == ONE:
            if one:
                needs[edit, 1] |= bit << HALF
            else:
                needs[edit, 2] |= bit if how else bit << HALF


@exact_inline
def _note_undecided(node: int, verdict: int, code: int, undecided: UndecidedWords) -> None:
    if verdict < 0 and undecided.used[0] < len(undecided.codes):
        undecided.nodes[undecided.used[0]], undecided.codes[undecided.used[0]] = node, code
        undecided.used[0] += 1


@exact_inline
def _note_all_undecided(
    node: Any, graph: int, can: BitWords, rows: Codes, undecided: UndecidedWords, arrays: SearchArrays
) -> None:
    """Note the undecided words that may replace the node's in what is matched."""
    tree, verdicts, columns, _, _ = arrays
    facts, places, first = columns.facts, _place_facts(graph, columns), columns.object_starts[graph]
    kind, at, row = tree.kinds[node], tree.places[node], rows[node]
    if kind == IS_MODIFIER:
        at = tree.modifier_links[at]
    bit = ONE << np.uint64(at if kind in (IS_OBJECT, IS_ATTRIBUTE) else tree.link_from[at])
    if kind == IS_OBJECT:
        for o in range(columns.object_starts[graph + 1] - first):
            if can[o] & bit:
                code = columns.object_names[first + o]
                _note_undecided(node, verdicts.objects[row, code], code, undecided)
    elif kind == IS_ATTRIBUTE:
        for k in range(places.attributes, places.relations, 2):
            if can[facts[k]] & bit:
                _note_undecided(node, verdicts.attributes[row, facts[k + 1]], facts[k + 1], undecided)
    elif kind == IS_RELATION:
        to = ONE << np.uint64(tree.link_to[at])
        for k in range(places.relations, places.modifiers, 3):
            if can[facts[k]] & bit and can[facts[k + 2]] & to:
                _note_undecided(node, verdicts.relations[row, facts[k + 1]], facts[k + 1], undecided)
    else:
        for k in range(places.modifiers, places.end, 4):
            if can[facts[k]] & bit:
                _note_undecided(node, verdicts.modifiers[row, facts[k + 2]], facts[k + 2], undecided)


@exact_inline
def _assign_objects(
    root: int, graph: int, can: BitWords, to: TreeAssignment, rows: Codes, arrays: SearchArrays
) -> bool:
    """Choose an object for every thing from the root down, none for two; False if that does not work out."""
    tree, columns, facts = arrays.tree, arrays.columns, arrays.columns.facts
    places = _place_facts(graph, columns)
    things, attributes, links, modifiers = to
    for thing in range(len(things)):
        things[thing] = -1
    things[0] = root
    for thing in range(len(tree.names)):  # what hangs on a thing comes after it
        o = things[thing]
        if tree.attributes[thing] != NONE:
            row = rows[tree.attribute_nodes[thing]]
            attributes[thing] = _match_attribute(o, tree.attributes[thing], row, places, arrays)
        for link in range(len(tree.link_from)):
            if tree.link_from[link] != thing:
                continue
            at = _match_link(o, link, can, things, rows, places, arrays)
            if at < 0:
                return False
            links[link] = at
            things[tree.link_to[link]] = facts[at + 2]
            for m in range(len(tree.modifier_links)):
                if tree.modifier_links[m] == link:
                    modifiers[m] = _match_modifier(o, facts[at + 1], m, can, rows, places, arrays)
                    things[tree.modifier_to[m]] = facts[modifiers[m] + 3]
    return True


@exact_inline
def _build_mask(one: int, other: int) -> Any:
    mask = ONE << np.uint64(one)
    return mask | ONE << np.uint64(other) if other >= 0 else mask


@exact_inline
def _is_one_of(graph: int, graphs: Codes, count: int) -> bool:
    """Whether a graph is one of the first so many."""
    there = False
    for k in range(count):
        there = there or graphs[k] == graph
    return there


@exact
def _interleave_edits(first: Codes, second: Codes, seed: Any) -> Codes:
    """The edits in a drawn order, single ones and double ones in turn."""
    single, double = np.flatnonzero(second < 0).astype(np.int32), np.flatnonzero(second >= 0).astype(np.int32)
    _shuffle(single, mix_bits(seed))
    _shuffle(double, mix_bits(seed + ONE))
    order = np.zeros(len(first), np.int32)
    at = 0
    for k in range(max(len(single), len(double))):
        if k < len(single):
            order[at] = single[k]
            at += 1
        if k < len(double):
            order[at] = double[k]
            at += 1
    return order


@exact
def collect_candidates(
    first: Codes, second: Codes, seed: Any, tree: PatternTree, atoms: PatternAtoms, columns: GraphColumns
) -> DistractorCandidates:
    """Where to try the edits, each of which replaces a first node and a second one, or −1."""
    order = _interleave_edits(first, second, seed)
    edits, needs = np.empty((len(order), 3), np.int32), np.zeros((len(order), 3), np.uint64)
    group_of = np.full(len(atoms.nodes) + 1, -1, np.int32)  # of an atom; the last is for all graphs
    groups = np.empty((len(group_of), 6), np.int64)
    used = 0
    for k in range(len(order)):
        one, other = first[order[k]], second[order[k]]
        nodes = _build_mask(one, other)
        _list_needs(nodes, k, needs, tree)
        chosen, least = -1, -1
        for atom in range(len(atoms.nodes)):
            if not atoms.nodes[atom] & nodes:
                size = _count_postings(atoms, atom)
                if chosen < 0 or size < least:
                    chosen, least = atom, size
        if group_of[chosen] < 0:
            group_of[chosen] = used
            _begin_group(groups, used, atoms, chosen, seed, columns)
            groups[used, LIMIT] = min(groups[used, LIMIT], DEPTH)
            used += 1
        edits[k, 0], edits[k, 1], edits[k, 2] = one, other, group_of[chosen]
    graphs, looks = np.empty(used * DEPTH, np.int32), np.empty((used * DEPTH, 4), np.uint64)
    return DistractorCandidates(edits, needs, groups[:used], graphs, looks)


@exact
def search_distractors(
    tried: DistractorCandidates,
    count: int,
    share: int,
    without: Codes,
    rows: Codes,
    atoms: PatternAtoms,
    tree: PatternTree,
    verdicts: ExclusivityTables,
    columns: GraphColumns,
    bits: PatternBits,
) -> tuple[DistractorArrays, Codes, Codes]:
    """Up to so many distractors, none of them in the sorted graphs `without`; nodes and words to decide.

    Edits take turns, and each takes its share in a turn. `rows` says where verdicts about a node's word are.
    Where words are to be decided, the search is to be done again; what it found until then does not count.
    """
    edits, needs, groups, candidates, looks = tried
    shape = _mark_pattern(tree, columns, bits)
    arrays = SearchArrays(tree, verdicts, columns, bits, shape)
    can, has = np.empty(columns.widest, np.uint64), np.empty(columns.widest, np.uint64)
    nothing, replaced, changed = np.zeros(0, np.int32), np.zeros(2, np.int32), np.full(len(tree.kinds), -1, np.int32)
    assignment = TreeAssignment(
        np.zeros(len(tree.names), np.int32),
        np.zeros(len(tree.names), np.int32),
        np.zeros(len(tree.link_from), np.int64),
        np.zeros(len(tree.modifier_links), np.int64),
    )
    position = np.zeros(len(edits), np.int64)
    graphs, roots = np.zeros(count, np.int32), np.zeros(count, np.int32)
    nodes, words = np.zeros((count, 2), np.int32), np.zeros((count, 2), np.int32)
    pair = np.zeros((2, MOST_UNDECIDED), np.int32)
    undecided = UndecidedWords(pair[0], pair[1], np.zeros(1, np.int32))
    found, before, pending = 0, -1, 0  # before: when the round began
    while found + pending < count and found + pending > before:
        before = found + pending
        for k in range(len(edits)):
            one, other, group = edits[k, 0], edits[k, 1], edits[k, 2]
            replaced[0], replaced[1] = one, other
            taken, ahead = 0, 0
            while position[k] < groups[group, LIMIT]:
                if position[k] == groups[group, DRAWN]:
                    start = group * DEPTH + position[k]
                    for c in range(start, start + _draw_chunk(groups, group, atoms, candidates, start, columns)):
                        looks[c, FLAG] = CLOSED if _find_key(without, candidates[c]) >= 0 else NAMED
                        looks[c, LACKING_THINGS] = shape.things & ~_find_names(candidates[c], columns, bits)
                c = group * DEPTH + position[k]
                position[k] += 1
                if looks[c, FLAG] == CLOSED or looks[c, LACKING_THINGS] & needs[k, 0]:
                    continue
                graph = candidates[c]
                if looks[c, FLAG] == NAMED:
                    _look_at_facts(graph, c, looks, can, arrays)
                    if _is_whole(c, looks) and _match_pattern(graph, can, has, nothing, changed, arrays):
                        looks[c, FLAG] = CLOSED
                        continue
                if (
                    looks[c, LACKING_THINGS] & needs[k, 0]
                    | looks[c, LACKING_LINKS] & needs[k, 1]
                    | looks[c, LACKING_ENDS] & needs[k, 2]
                ) or _is_one_of(graph, graphs, found):
                    continue
                changed[one] = rows[one]
                if other >= 0:
                    changed[other] = rows[other]
                good = _match_bits(graph, can, has, replaced, changed, arrays)
                good = good and _match_fully(graph, can, nothing, changed, arrays)
                if good:
                    open_words = undecided.used[0]
                    for node in replaced:
                        if node >= 0:
                            _note_all_undecided(node, graph, can, rows, undecided, arrays)
                    if undecided.used[0] > open_words:
                        good = False
                        ahead += 1
                        pending += ahead == 1
                size = columns.object_starts[graph + 1] - columns.object_starts[graph]
                for root in range(size if good else 0):
                    good = can[root] & ONE and _assign_objects(root, graph, can, assignment, changed, arrays)
                    if good:
                        break
                changed[one] = -1
                if other >= 0:
                    changed[other] = -1
                if good:
                    graphs[found], roots[found] = graph, assignment.things[0]
                    for which in range(2):
                        nodes[found, which] = replaced[which]
                        if replaced[which] >= 0:
                            words[found, which] = _get_word(replaced[which], graph, assignment, arrays)
                    found += 1
                    taken += 1
                if taken == share or ahead == AHEAD or found == count:
                    break
            if found + pending >= count or undecided.used[0] == MOST_UNDECIDED:
                break
        if undecided.used[0] == MOST_UNDECIDED:
            break
    _unmark_pattern(tree, columns, bits)
    made = DistractorArrays(graphs[:found], nodes[:found], words[:found], roots[:found])
    some = undecided.used[0]
    return made, undecided.nodes[:some], undecided.codes[:some]


@exact_inline
def _get_word(node: int, graph: int, assignment: TreeAssignment, arrays: SearchArrays) -> Any:
    """What stands there for a node."""
    columns, place, kind = arrays.columns, arrays.tree.places[node], arrays.tree.kinds[node]
    if kind == IS_OBJECT:
        return np.int64(columns.object_names[columns.object_starts[graph] + assignment.things[place]])
    if kind == IS_ATTRIBUTE:
        return np.int64(assignment.attributes[place])
    if kind == IS_RELATION:
        return np.int64(columns.facts[assignment.links[place] + 1])
    return np.int64(columns.facts[assignment.modifiers[place] + 2])


@exact
def search_containing(
    count: int,
    seed: Any,
    without: Codes,
    atoms: PatternAtoms,
    tree: PatternTree,
    verdicts: ExclusivityTables,
    columns: GraphColumns,
    bits: PatternBits,
) -> tuple[Codes, Codes, Codes]:
    """Up to so many graphs that have the subgraph, how many roots each has, and these; drawn by the seed."""
    rarest = -1
    for atom in range(len(atoms.nodes)):
        if rarest < 0 or _count_postings(atoms, atom) < _count_postings(atoms, rarest):
            rarest = atom
    shape = _mark_pattern(tree, columns, bits)
    arrays = SearchArrays(tree, verdicts, columns, bits, shape)
    can, has = np.empty(columns.widest, np.uint64), np.empty(columns.widest, np.uint64)
    rows, nothing = np.full(len(tree.kinds), -1, np.int32), np.zeros(0, np.int32)
    graphs, counts = np.zeros(count, np.int32), np.zeros(count, np.int32)
    roots = np.empty(count * columns.widest, np.int32)
    groups, candidates, looks = np.empty((1, 6), np.int64), np.empty(CHUNK, np.int32), np.empty((1, 4), np.uint64)
    _begin_group(groups, 0, atoms, rarest, seed, columns)
    found, used = 0, 0
    while found < count and groups[0, DRAWN] < groups[0, LIMIT]:
        for c in range(_draw_chunk(groups, 0, atoms, candidates, 0, columns)):
            graph = candidates[c]
            if _find_names(graph, columns, bits) != shape.things:
                continue
            if _find_key(without, graph) >= 0 or _is_one_of(graph, graphs, found):
                continue
            looks[0, LACKING_THINGS] = ZERO
            _look_at_facts(graph, 0, looks, can, arrays)
            if not _is_whole(0, looks) or not _match_pattern(graph, can, has, nothing, rows, arrays):
                continue
            graphs[found] = graph
            for o in range(columns.object_starts[graph + 1] - columns.object_starts[graph]):
                if can[o] & ONE:
                    roots[used] = o
                    used += 1
                    counts[found] += 1
            found += 1
            if found == count:
                break
    _unmark_pattern(tree, columns, bits)
    return graphs[:found], counts[:found], roots[:used]
