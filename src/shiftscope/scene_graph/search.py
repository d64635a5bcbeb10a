"""The compiled search: where a subgraph is, and where it is with one or two of its nodes replaced.

A match is what executing the description gives: bottom up, a thing is matched by every object that is called
so, is so, and stands in each relation to some object that matches below; two things of a tree may be the same
object. A replaced node matches only what a row of verdicts says excludes its own name, and then no two things
are the same object.

Candidates come from the rarest atom that an edit leaves alone; a first look at a graph says which atoms are
missing there, and so which edits it is worth trying. The order of this file is: dice, matching, atoms, a first look,
the search.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..kernels import exact, exact_inline, mix_bits
from .index import ABSENT, ANY, ATTRIBUTE, BITS, NONE, THING, TRIPLE, GraphColumns, PatternTree
from .pack import Codes, Starts
from .subgraph import NODE_KINDS

BitWords = NDArray[np.uint64]  # bit k: thing, link or node k
ExclusivityTable = NDArray[np.int8]  # [row, word] 1 where it excludes the row's own, 0 where not, −1 if undecided
ZERO, ONE = np.uint64(0), np.uint64(1)
SUBJECT_BITS = 2 * BITS
WIDEST = 512  # keys of one atom; wider ones are left to the check on the graph
DEPTH = 128  # candidates looked at for an edit; what has not shown up by then is rare
FEW = 64  # candidates drawn at once where all may be needed
AHEAD = 8  # graphs of an edit whose words are asked about at once
MOST_UNDECIDED = 1024  # words asked about at once
IS_OBJECT, IS_ATTRIBUTE, IS_RELATION, IS_MODIFIER = range(len(NODE_KINDS))  # as these are ordered
NEW, OPEN, CLOSED = range(3)  # a candidate not looked at; one that may be a distractor; one that cannot
FLAG, MISSING, COMPLETE, NO_TARGET, NO_RELATION, NO_SUBJECT, DESCRIBED = range(7)  # columns of `seen`


class ExclusivityTables(NamedTuple):
    """Which words exclude which, for each kind of node."""

    objects: ExclusivityTable
    attributes: ExclusivityTable
    relations: ExclusivityTable
    modifiers: ExclusivityTable


class PatternBits(NamedTuple):
    """What of the tree has this word: things and links, as bits. One for all searches, which leave it empty."""

    of_name: BitWords  # [name, 3] things, links from these, links to these
    of_attribute: BitWords  # [attribute] things
    of_relation: BitWords  # [relation] links


class SearchArrays(NamedTuple):
    """What every step looks at: the subgraph, which words exclude which, the graphs, and the subgraph's words."""

    tree: PatternTree
    verdicts: ExclusivityTables
    columns: GraphColumns
    bits: PatternBits


class UndecidedWords(NamedTuple):
    """Words that a search cannot do without a verdict on, as codes, each with its node."""

    nodes: Codes
    codes: Codes
    used: Codes  # [1] how many


class TreeAssignment(NamedTuple):
    """What stands for each part of the tree in a graph."""

    things: Codes  # objects
    attributes: Codes  # words
    links: Codes  # triples
    modifiers: Codes  # triples


class DistractorCandidates(NamedTuple):
    """The edits in the order of their turns, and the graphs to try them on."""

    first: Codes  # [edit] the node to replace
    second: Codes  # [edit] another one, −1 if there is none
    group: Codes  # [edit] which candidates it has
    starts: Starts  # [group + 1]
    graphs: Codes
    seen: BitWords  # [graph, column] what a first look at it found


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
def _match_attribute(thing: int, wanted: int, row: int, verdicts: ExclusivityTables, columns: GraphColumns) -> int:
    """The attribute that makes the object match, −1 if none does."""
    chosen = -1
    for k in range(columns.attribute_starts[thing], columns.attribute_starts[thing + 1]):
        code = columns.object_attributes[k]
        if code == wanted:
            return -1 if row >= 0 else code
        if row >= 0 and chosen < 0 and verdicts.attributes[row, code]:
            chosen = code
    return chosen


@exact_inline
def _match_modifier(thing: int, relation: int, m: int, ok: Any, base: int, rows: Codes, arrays: SearchArrays) -> int:
    """The triple that is this modifier of the object's relation, −1 if there is none."""
    tree, verdicts, columns, _ = arrays
    wanted, below, row = tree.modifier_names[m], tree.modifier_to[m], rows[tree.modifier_nodes[m]]
    for k in range(columns.triple_starts[thing], columns.triple_starts[thing + 1]):
        modifier = columns.triple_modifiers[k]
        if (
            modifier >= 0
            and columns.triple_relations[k] == relation
            and ok[below, columns.triple_objects[k] - base]
            and (modifier == wanted if row < 0 else verdicts.modifiers[row, modifier] != 0)
        ):
            return k
    return -1


@exact_inline
def _is_related(thing: int, relation: int, target: int, columns: GraphColumns) -> bool:
    for k in range(columns.triple_starts[thing], columns.triple_starts[thing + 1]):
        if (
            columns.triple_relations[k] == relation
            and columns.triple_modifiers[k] < 0
            and columns.triple_objects[k] == target
        ):
            return True
    return False


@exact_inline
def _match_link(thing: int, link: int, ok: Any, base: int, taken: Codes, rows: Codes, arrays: SearchArrays) -> int:
    """The triple by which the object has the relation and all its modifiers, −1 if there is none.

    It leads to none of the objects taken.
    """
    tree, verdicts, columns, _ = arrays
    wanted, to, row = tree.link_relations[link], tree.link_to[link], rows[tree.link_nodes[link]]
    for k in range(columns.triple_starts[thing], columns.triple_starts[thing + 1]):
        relation, target = columns.triple_relations[k], columns.triple_objects[k]
        if columns.triple_modifiers[k] >= 0 or not ok[to, target - base]:
            continue
        if row < 0:
            if relation != wanted:
                continue
        elif verdicts.relations[row, relation] == 0 or _is_related(thing, wanted, target, columns):
            continue
        good = True
        for t in range(len(taken)):
            good = good and taken[t] != target
        for m in range(len(tree.modifier_links)):
            if good and tree.modifier_links[m] == link:
                good = _match_modifier(thing, relation, m, ok, base, rows, arrays) >= 0
        if good:
            return k
    return -1


@exact_inline
def _fill_matches(ok: Any, base: int, end: int, nobody: Codes, rows: Codes, arrays: SearchArrays) -> bool:
    """Which objects match which thing, from the leaves up; False as soon as a thing has no match.

    What is undecided counts as a match.
    """
    tree, verdicts, columns, bits = arrays
    for thing in range(len(tree.names) - 1, -1, -1):
        some = False
        row, wanted, bit = rows[tree.name_nodes[thing]], tree.attributes[thing], np.uint64(thing)
        described = rows[tree.attribute_nodes[thing]] if wanted != NONE else -1
        for o in range(base, end):
            name = columns.object_names[o]
            if row >= 0:
                good = verdicts.objects[row, name] != 0
            else:
                good = bits.of_name[name, 0] >> bit & ONE != ZERO
            if good and wanted != NONE:
                good = _match_attribute(o, wanted, described, verdicts, columns) >= 0
            for link in range(len(tree.link_from)):
                if good and tree.link_from[link] == thing:
                    good = _match_link(o, link, ok, base, nobody, rows, arrays) >= 0
            ok[thing, o - base] = good
            some = some or good
        if not some:
            return False
    return True


@exact_inline
def _count_names(name: int, columns: GraphColumns) -> Any:
    return columns.narrower_starts[name + 1] - columns.narrower_starts[name] if name >= 0 else 0


@exact
def _mark_pattern(tree: PatternTree, columns: GraphColumns, bits: PatternBits) -> None:
    of_name, of_attribute, of_relation = bits
    for thing in range(len(tree.names)):
        leads_from, leads_to = ZERO, ZERO
        for link in range(len(tree.link_from)):
            if tree.link_from[link] == thing:
                leads_from |= ONE << np.uint64(link)
            if tree.link_to[link] == thing:
                leads_to |= ONE << np.uint64(link)
        name = tree.names[thing]
        for k in range(_count_names(name, columns)):
            narrow = columns.narrower[columns.narrower_starts[name] + k]
            of_name[narrow, 0] |= ONE << np.uint64(thing)
            of_name[narrow, 1] |= leads_from
            of_name[narrow, 2] |= leads_to
        if tree.attributes[thing] >= 0:
            of_attribute[tree.attributes[thing]] |= ONE << np.uint64(thing)
    for link in range(len(tree.link_from)):
        if tree.link_relations[link] >= 0:
            of_relation[tree.link_relations[link]] |= ONE << np.uint64(link)


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


@exact
def find_roots(
    graphs: Codes, tree: PatternTree, verdicts: ExclusivityTables, columns: GraphColumns, bits: PatternBits
) -> tuple[Codes, Codes]:
    """For each graph how many objects match the root, and these objects, graph after graph."""
    _mark_pattern(tree, columns, bits)
    found = _find_roots(graphs, SearchArrays(tree, verdicts, columns, bits))
    _unmark_pattern(tree, columns, bits)
    return found


@exact
def _find_roots(graphs: Codes, arrays: SearchArrays) -> tuple[Codes, Codes]:
    tree, _, columns, _ = arrays
    total, widest = 0, 0
    for graph in graphs:
        size = columns.object_starts[graph + 1] - columns.object_starts[graph]
        total, widest = total + size, max(widest, size)
    ok = np.zeros((len(tree.names), widest), np.bool_)
    rows, nobody = np.full(len(tree.kinds), -1, np.int32), np.zeros(0, np.int32)
    counts = np.zeros(len(graphs), np.int32)
    roots = np.zeros(total, np.int32)
    used = 0
    for k in range(len(graphs)):
        base, end = columns.object_starts[graphs[k]], columns.object_starts[graphs[k] + 1]
        if _fill_matches(ok, base, end, nobody, rows, arrays):
            for o in range(base, end):
                if ok[0, o - base]:
                    roots[used] = o
                    used += 1
                    counts[k] += 1
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


@exact
def _draw_graphs(atoms: PatternAtoms, atom: int, seed: Any, first: int, into: Codes, columns: GraphColumns) -> int:
    """An atom's graphs from the first on in an order of the seed, as many as there is room for; how many.

    Atom −1 is that every graph has.
    """
    size = _count_postings(atoms, atom) if atom >= 0 else len(columns.object_starts) - 1
    if first >= size:
        return 0
    seed = mix_bits(seed + np.uint64(atom + 2))
    step = _choose_stride(seed, size)
    place = (_draw_below(seed, 0, size) + first * step) % size
    count = min(size - first, len(into))
    for k in range(count):
        if atom < 0:
            into[k] = place
        else:
            start, high = atoms.piece_starts[atom], atoms.piece_starts[atom + 1]
            low = start
            while low < high:  # the first piece that ends after the place
                middle = (low + high) >> 1
                if atoms.ends[middle] <= place:
                    low = middle + 1
                else:
                    high = middle
            before = atoms.ends[low - 1] if low > start else 0
            into[k] = columns.postings[atoms.places[low] + place - before]
        place = (place + step) % size
    return count


@exact_inline
def _inspect_candidate(graph: int, c: int, most: int, seen: BitWords, called: BitWords, arrays: SearchArrays) -> bool:
    """What of the tree a candidate has; whether it may have all."""
    tree, _, columns, bits = arrays
    base, last = columns.record_starts[graph] + 1, columns.record_starts[graph + 1]
    size = columns.records[base - 1]
    all_called = ZERO
    for o in range(size):
        name = columns.records[base + o]
        called[o, 0], called[o, 1], called[o, 2] = bits.of_name[name, 0], bits.of_name[name, 1], bits.of_name[name, 2]
        all_called |= called[o, 0]
    missing, absent, described = ZERO, 0, ZERO
    for thing in range(len(tree.names)):
        bit = ONE << np.uint64(thing)
        if all_called & bit == ZERO:
            missing |= ONE << np.uint64(tree.name_nodes[thing])
            absent += 1
        if tree.attributes[thing] == NONE:
            described |= bit
    if absent > most:
        seen[c, FLAG] = CLOSED
        return False
    complete, no_target, no_relation, no_subject = ZERO, ZERO, ZERO, ZERO
    for k in range(base + size, last, 3):
        owner, code, other = columns.records[k], columns.records[k + 1], columns.records[k + 2]
        if other < 0:
            described |= called[owner, 0] & bits.of_attribute[code]
        else:
            subject, relation, target = called[owner, 1], bits.of_relation[code], called[other, 2]
            complete |= subject & relation & target
            no_target |= subject & relation
            no_relation |= subject & target
            no_subject |= relation & target
    seen[c, FLAG], seen[c, MISSING], seen[c, DESCRIBED] = OPEN, missing, described
    seen[c, COMPLETE], seen[c, NO_TARGET] = complete, no_target
    seen[c, NO_RELATION], seen[c, NO_SUBJECT] = no_relation, no_subject
    whole = missing == ZERO
    for thing in range(len(tree.names)):
        whole = whole and described >> np.uint64(thing) & ONE != ZERO
    for link in range(len(tree.link_from)):
        whole = whole and complete >> np.uint64(link) & ONE != ZERO
    return bool(whole)


@exact_inline
def _can_match(graph: int, can: BitWords, has: Any, rows: Codes, arrays: SearchArrays) -> bool:
    """Whether the tree may match, as far as attributes and relations tell, one by one, from the leaves up."""
    tree, verdicts, columns, bits = arrays
    base, last = columns.record_starts[graph] + 1, columns.record_starts[graph + 1]
    size = columns.records[base - 1]
    for o in range(size):
        can[o] = ZERO
    for thing in range(len(tree.names) - 1, -1, -1):
        row, bit = rows[tree.name_nodes[thing]], ONE << np.uint64(thing)
        for o in range(size):
            name = columns.records[base + o]
            if row >= 0:
                has[o] = verdicts.objects[row, name] != 0
            else:
                has[o] = bits.of_name[name, 0] & bit != ZERO
        needs, wanted = 1, tree.attributes[thing]
        if wanted != NONE:
            needs, row = 3, rows[tree.attribute_nodes[thing]]
            for k in range(base + size, last, 3):
                code = columns.records[k + 1]
                if columns.records[k + 2] < 0 and (code == wanted if row < 0 else verdicts.attributes[row, code] != 0):
                    has[columns.records[k]] |= 2
        for link in range(len(tree.link_from)):
            if tree.link_from[link] != thing:
                continue
            for o in range(size):
                has[o] = has[o] == needs
            needs, wanted, row = 3, tree.link_relations[link], rows[tree.link_nodes[link]]
            to = ONE << np.uint64(tree.link_to[link])
            for k in range(base + size, last, 3):
                code, other = columns.records[k + 1], columns.records[k + 2]
                if (
                    other >= 0
                    and can[other] & to != ZERO
                    and (code == wanted if row < 0 else verdicts.relations[row, code] != 0)
                ):
                    has[columns.records[k]] |= 2
        some = False
        for o in range(size):
            if has[o] == needs:
                can[o] |= bit
                some = True
        if not some:
            return False
    return True


@exact_inline
def _is_worth_trying(c: int, nodes: Any, seen: BitWords, tree: PatternTree) -> bool:
    """Whether all that the candidate lacks has to do with these nodes."""
    if seen[c, MISSING] & ~nodes:
        return False
    for thing in range(len(tree.names)):
        if not seen[c, DESCRIBED] >> np.uint64(thing) & ONE:
            both = ONE << np.uint64(tree.name_nodes[thing]) | ONE << np.uint64(tree.attribute_nodes[thing])
            if not both & nodes:
                return False
    for link in range(len(tree.link_from)):
        if seen[c, COMPLETE] >> np.uint64(link) & ONE:
            continue
        one = nodes >> np.uint64(tree.name_nodes[tree.link_from[link]]) & ONE
        how = nodes >> np.uint64(tree.link_nodes[link]) & ONE
        other = nodes >> np.uint64(tree.name_nodes[tree.link_to[link]]) & ONE
        changed = one + how + other
        if changed > ONE:
            continue
        which = NO_SUBJECT if one else NO_RELATION if how else NO_TARGET
        if not changed or not seen[c, which] >> np.uint64(link) & ONE:
            return False
    return True


@exact_inline
def _note_undecided(node: int, verdict: int, code: int, undecided: UndecidedWords) -> None:
    if verdict < 0 and undecided.used[0] < len(undecided.codes):
        undecided.nodes[undecided.used[0]], undecided.codes[undecided.used[0]] = node, code
        undecided.used[0] += 1


@exact_inline
def _note_all_undecided(
    node: int, ok: Any, base: int, end: int, rows: Codes, undecided: UndecidedWords, arrays: SearchArrays
) -> None:
    """Note the undecided words that may replace the node's in what is filled."""
    tree, verdicts, columns, _ = arrays
    kind, at, row = tree.kinds[node], tree.places[node], rows[node]
    if kind == IS_MODIFIER:
        at = tree.modifier_links[at]
    thing = at if kind in (IS_OBJECT, IS_ATTRIBUTE) else tree.link_from[at]
    for o in range(base, end):
        if not ok[thing, o - base]:
            continue
        if kind == IS_OBJECT:
            code = columns.object_names[o]
            _note_undecided(node, verdicts.objects[row, code], code, undecided)
        elif kind == IS_ATTRIBUTE:
            for k in range(columns.attribute_starts[o], columns.attribute_starts[o + 1]):
                code = columns.object_attributes[k]
                _note_undecided(node, verdicts.attributes[row, code], code, undecided)
        else:
            for k in range(columns.triple_starts[o], columns.triple_starts[o + 1]):
                code = columns.triple_modifiers[k]
                if kind == IS_MODIFIER and code >= 0:
                    _note_undecided(node, verdicts.modifiers[row, code], code, undecided)
                elif kind == IS_RELATION and code < 0 and ok[tree.link_to[at], columns.triple_objects[k] - base]:
                    code = columns.triple_relations[k]
                    _note_undecided(node, verdicts.relations[row, code], code, undecided)


@exact_inline
def _assign_objects(root: int, ok: Any, base: int, to: TreeAssignment, rows: Codes, arrays: SearchArrays) -> bool:
    """Choose an object for every thing from the root down, none for two; False if that does not work out."""
    tree, verdicts, columns, _ = arrays
    things, attributes, links, modifiers = to
    for thing in range(len(things)):
        things[thing] = -1
    things[0] = root
    for thing in range(len(tree.names)):  # what hangs on a thing comes after it
        o = things[thing]
        if tree.attributes[thing] != NONE:
            row = rows[tree.attribute_nodes[thing]]
            attributes[thing] = _match_attribute(o, tree.attributes[thing], row, verdicts, columns)
        for link in range(len(tree.link_from)):
            if tree.link_from[link] != thing:
                continue
            triple = _match_link(o, link, ok, base, things, rows, arrays)
            if triple < 0:
                return False
            links[link] = triple
            things[tree.link_to[link]] = columns.triple_objects[triple]
            relation = columns.triple_relations[triple]
            for m in range(len(tree.modifier_links)):
                if tree.modifier_links[m] == link:
                    modifiers[m] = _match_modifier(o, relation, m, ok, base, rows, arrays)
                    things[tree.modifier_to[m]] = columns.triple_objects[modifiers[m]]
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
    first: Codes, second: Codes, seed: Any, atoms: PatternAtoms, columns: GraphColumns
) -> DistractorCandidates:
    """Where to try the edits, each of which replaces a first node and a second one, or −1."""
    order = _interleave_edits(first, second, seed)
    first, second = first[order], second[order]
    sizes = np.zeros(len(atoms.nodes), np.int64)
    for atom in range(len(sizes)):
        sizes[atom] = _count_postings(atoms, atom)
    rare_first = np.argsort(sizes, kind="mergesort")
    group_of = np.full(len(atoms.nodes) + 1, -1, np.int32)  # of an atom; the last is for all graphs
    group = np.zeros(len(first), np.int32)
    starts = np.zeros(len(group_of) + 1, np.int64)
    graphs = np.zeros(len(group_of) * DEPTH, np.int32)
    groups = 0
    for k in range(len(first)):
        nodes = _build_mask(first[k], second[k])
        chosen = -1
        for atom in rare_first:
            if not atoms.nodes[atom] & nodes:
                chosen = atom
                break
        if group_of[chosen] < 0:
            at = starts[groups]
            drawn = _draw_graphs(atoms, chosen, seed, 0, graphs[at : at + DEPTH], columns)
            group_of[chosen] = groups
            groups += 1
            starts[groups] = at + drawn
        group[k] = group_of[chosen]
    total = starts[groups]
    seen = np.zeros((total, 7), np.uint64)
    return DistractorCandidates(first, second, group, starts[: groups + 1], graphs[:total], seen)


@exact
def search_distractors(
    tried: DistractorCandidates,
    count: int,
    share: int,
    without: Codes,
    rows: Codes,
    tree: PatternTree,
    verdicts: ExclusivityTables,
    columns: GraphColumns,
    bits: PatternBits,
) -> tuple[DistractorArrays, Codes, Codes]:
    """Up to so many distractors, none of them in the sorted graphs `without`; nodes and words to decide.

    Edits take turns, and each takes its share in a turn. `rows` says where verdicts about a node's word are.
    Where words are to be decided, the search is to be done again; what it found until then does not count.
    """
    first, second, group, starts, candidates, seen = tried
    arrays = SearchArrays(tree, verdicts, columns, bits)
    _mark_pattern(tree, columns, bits)
    widest, things = 1, len(tree.names)
    for graph in candidates:
        widest = max(widest, columns.object_starts[graph + 1] - columns.object_starts[graph])
    ok, nobody = np.zeros((things, widest), np.bool_), np.zeros(0, np.int32)
    called, can = np.zeros((widest, 3), np.uint64), np.zeros(widest, np.uint64)
    has = np.zeros(widest, np.uint8)
    changed = np.full(len(tree.kinds), -1, np.int32)
    objects, attributes = np.zeros(things, np.int32), np.zeros(things, np.int32)
    links, modifiers = np.zeros(len(tree.link_from), np.int32), np.zeros(len(tree.modifier_links), np.int32)
    assignment = TreeAssignment(objects, attributes, links, modifiers)
    position = np.zeros(len(first), np.int64)
    graphs, roots = np.zeros(count, np.int32), np.zeros(count, np.int32)
    nodes, words = np.zeros((count, 2), np.int32), np.zeros((count, 2), np.int32)
    pair = np.zeros((2, MOST_UNDECIDED), np.int32)
    undecided = UndecidedWords(pair[0], pair[1], np.zeros(1, np.int32))
    most = 2 if len(second) and second.max() >= 0 else 1
    found, before, pending = 0, -1, 0  # before: when the round began
    while found + pending < count and found + pending > before:
        before = found + pending
        for k in range(len(first)):
            one, other = first[k], second[k]
            edit = _build_mask(one, other)
            taken, ahead = 0, 0
            while starts[group[k]] + position[k] < starts[group[k] + 1]:
                c = starts[group[k]] + position[k]
                position[k] += 1
                graph = candidates[c]
                base, end = columns.object_starts[graph], columns.object_starts[graph + 1]
                if seen[c, FLAG] == NEW:
                    whole = _inspect_candidate(graph, c, most, seen, called, arrays)
                    whole = whole and _fill_matches(ok, base, end, nobody, changed, arrays)
                    if whole or _find_key(without, graph) >= 0:
                        seen[c, FLAG] = CLOSED
                if (
                    seen[c, FLAG] == CLOSED
                    or not _is_worth_trying(c, edit, seen, tree)
                    or _is_one_of(graph, graphs, found)
                ):
                    continue
                changed[one] = rows[one]
                if other >= 0:
                    changed[other] = rows[other]
                good = _can_match(graph, can, has, changed, arrays)
                good = good and _fill_matches(ok, base, end, nobody, changed, arrays)
                if good:
                    open_words = undecided.used[0]
                    _note_all_undecided(one, ok, base, end, rows, undecided, arrays)
                    if other >= 0:
                        _note_all_undecided(other, ok, base, end, rows, undecided, arrays)
                    if undecided.used[0] > open_words:
                        good = False
                        ahead += 1
                        pending += ahead == 1
                for root in range(base, end if good else base):
                    good = ok[0, root - base] and _assign_objects(root, ok, base, assignment, changed, arrays)
                    if good:
                        break
                changed[one] = -1
                if other >= 0:
                    changed[other] = -1
                if good:
                    graphs[found], roots[found] = graph, objects[0]
                    nodes[found, 0], nodes[found, 1] = one, other
                    for which in range(2 if other >= 0 else 1):
                        node = nodes[found, which]
                        place = tree.places[node]
                        if tree.kinds[node] == IS_OBJECT:
                            words[found, which] = columns.object_names[objects[place]]
                        elif tree.kinds[node] == IS_ATTRIBUTE:
                            words[found, which] = attributes[place]
                        elif tree.kinds[node] == IS_RELATION:
                            words[found, which] = columns.triple_relations[links[place]]
                        else:
                            words[found, which] = columns.triple_modifiers[modifiers[place]]
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
    _mark_pattern(tree, columns, bits)
    arrays = SearchArrays(tree, verdicts, columns, bits)
    everything = ZERO
    for thing in range(len(tree.names)):
        everything |= ONE << np.uint64(thing)
    graphs, counts = np.zeros(count, np.int32), np.zeros(count, np.int32)
    found, at, drawn = 0, 0, 1
    candidates = np.zeros(FEW, np.int32)
    while found < count and drawn:
        drawn = _draw_graphs(atoms, rarest, seed, at, candidates, columns)
        for graph in candidates[:drawn]:
            called = ZERO
            for o in range(columns.object_starts[graph], columns.object_starts[graph + 1]):
                called |= bits.of_name[columns.object_names[o], 0]
            if called != everything or _find_key(without, graph) >= 0 or _is_one_of(graph, graphs, found):
                continue
            graphs[found] = graph
            number, _ = _find_roots(graphs[found : found + 1], arrays)
            counts[found] = number[0]
            found += number[0] > 0
            if found == count:
                break
        at += drawn
    _, roots = _find_roots(graphs[:found], arrays)
    _unmark_pattern(tree, columns, bits)
    return graphs[:found], counts[:found], roots
