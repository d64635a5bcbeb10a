"""Reading a question with a chart, compiled: from its end to its beginning, all readings that begin at a word.

Words, categories, labels, trees and places in the patterns are numbers here. Whether a program has a node, and how
probable its links are, stands in a table by its label and the kinds of its children. Where a row is missing there, or
room anywhere, reading stops, and goes on when it is called again.
"""

from typing import NamedTuple

import numpy as np

from ...kernels import Doubles, Ints, Longs, exact, exact_inline, mix_bits

BEST = 3  # readings of the same words as the same category
WIDTH = 4  # partial readings of a rule from and to the same places
DONE, FULL, UNKNOWN = 0, 1, 2
START, END, STAGE, WAYS, TODO, TREES = range(6)  # where the reading of a question stands
NEW_START, NEW_END, GOING_ON = range(3)  # stages


class PatternArrays(NamedTuple):
    """The places in the patterns of the rules; what follows place k is in the rows from [k] to [k + 1]."""

    words_from: Longs
    words: Longs  # [row] a word, and the place after it
    holes_from: Longs
    holes: Longs  # [row] a category, and the place after it
    ends_from: Longs
    ends: Longs  # [row] label and category of a rule, and where each child of its node is among those read
    end_scores: Doubles  # [row]
    read: Longs  # [place] how many children are read
    starts_from: Longs  # [category]
    starts: Longs  # [row] a place after a hole that may be the first read, and the edits that this takes
    start_costs: Doubles  # [row]
    drops: Doubles  # [word] what it costs that the question lacks it
    repeats: Longs  # [word] the category of leaves that it stands for, or -1


class QuestionArrays(NamedTuple):
    """What a question's words may say and cost."""

    words: Longs  # [at] its number, or -1 for a word that no rule has
    drops: Doubles  # [at]
    exchanges: Doubles  # [at, word of the rules]; NaN for what it cannot stand for
    starts_from: Longs  # [at]
    starts: Longs  # [row] a place after a word that may be the first read, and the edits that this takes
    start_costs: Doubles  # [row]
    leaves_from: Longs  # [at]
    leaves: Longs  # [row] end, category and tree
    leaf_scores: Doubles  # [row]


class NumberedRows(NamedTuple):
    """Different rows, found by their content."""

    rows: Ints  # [number] a label and the numbers of its children, -1 where there are fewer
    slots: Ints  # numbers of rows by their hash, -1 where free
    kinds: Ints  # [number] of the tree
    scores: Doubles  # [number] of the links; NaN for what no program has


class ChartArrays(NamedTuple):
    """What is read so far."""

    many: Ints  # [start, end, category] readings
    scores: Doubles  # [start, end, category, reading]
    readings: Ints  # [start, end, category, reading] edits and tree
    stamps: Ints  # [at, place, skipped] the start that what is kept there is for
    kept: Ints  # [at, place, skipped] the best ways there, -1 where there are fewer
    heads: Ints  # [at] the way last found, of those to be read on from
    way_scores: Doubles  # [way]
    ways: Ints  # [way] place, whether a word was skipped last, edits, and the way found before
    children: Ints  # [way] the trees read, -1 where there are fewer
    todo_scores: Doubles  # readings that rules may begin with
    todo: Ints  # category, edits, tree


@exact_inline
def find_slot(rows: Ints, slots: Ints, row: Ints) -> int:
    """Where the number of a row is, or would be."""
    mixed = np.uint64(0)
    for item in row:
        mixed = mix_bits(mixed + np.uint64(np.int64(item) + 2))
    last = np.uint64(len(slots) - 1)  # a power of two, less one
    slot = mixed & last
    while slots[slot] >= 0:
        found, same = slots[slot], True
        for k in range(len(row)):
            same &= rows[found, k] == row[k]
        if same:
            break
        slot = (slot + np.uint64(1)) & last
    return np.int64(slot)  # type: ignore[return-value]


@exact
def fill_slots(rows: Ints, slots: Ints, many: int) -> None:
    slots[:] = -1
    for k in range(many):
        slots[find_slot(rows, slots, rows[k])] = k


@exact_inline
def _add(
    chart: ChartArrays,
    state: Longs,
    place: int,
    at: int,
    skipped: int,
    score: float,
    edits: int,
    before: int,
    number: int,
    child: int,
) -> None:
    """Keep one of the best ways to a place, the way before and perhaps one more child, to read on from there.

    Where a word was skipped last, the rule cannot end: what follows a rule's words is skipped by the one around it.
    """
    kept = chart.kept[at, place, skipped]
    if chart.stamps[at, place, skipped] != state[START]:
        chart.stamps[at, place, skipped] = state[START]
        kept[:] = -1
    if kept[WIDTH - 1] >= 0 and score <= chart.way_scores[kept[WIDTH - 1]]:
        return
    new = state[WAYS]
    children = chart.children[new]
    for k in range(len(children)):
        children[k] = chart.children[before, k] if before >= 0 else -1
    if child >= 0:
        children[number] = child
    rank = 0
    while kept[rank] >= 0 and chart.way_scores[kept[rank]] >= score:
        same = True
        for k in range(len(children)):
            same &= chart.children[kept[rank], k] == children[k]
        if same:
            return
        rank += 1
    for k in range(WIDTH - 1, rank, -1):
        kept[k] = kept[k - 1]
    kept[rank] = new
    chart.way_scores[new] = score
    way = chart.ways[new]
    way[0], way[1], way[2], way[3] = place, skipped, edits, chart.heads[at]
    chart.heads[at] = new
    state[WAYS] += 1


@exact_inline
def _keep(chart: ChartArrays, start: int, end: int, category: int, score: float, edits: int, tree: int) -> bool:
    """Keep one of the best readings; whether it is one."""
    scores, readings = chart.scores[start, end, category], chart.readings[start, end, category]
    many, at = chart.many[start, end, category], -1
    for k in range(many):
        if readings[k, 1] == tree:
            at = k
    if at < 0 and many < BEST:
        at = many
        chart.many[start, end, category] += 1
    else:
        if at < 0:
            at = int(np.argmin(scores))
        if scores[at] >= score:
            return False
    scores[at], readings[at, 0], readings[at, 1] = score, edits, tree
    return True


@exact_inline
def _put_todo(chart: ChartArrays, state: Longs, category: int, score: float, edits: int, tree: int) -> None:
    chart.todo_scores[state[TODO]] = score
    row = chart.todo[state[TODO]]
    row[0], row[1], row[2] = category, edits, tree
    state[TODO] += 1


@exact_inline
def _begin(question: QuestionArrays, chart: ChartArrays, state: Longs, most: int) -> None:
    """Begin rules with the word here, or with one that it stands for; and read it as leaves."""
    start = state[START]
    state[WAYS] = 0
    for row in range(question.starts_from[start], question.starts_from[start + 1]):
        place, edits = question.starts[row]
        if edits <= most:
            _add(chart, state, place, start + 1, 0, -question.start_costs[row], edits, -1, 0, -1)
    for row in range(question.leaves_from[start], question.leaves_from[start + 1]):
        end, category, tree = question.leaves[row]
        _keep(chart, start, end, category, question.leaf_scores[row], 0, tree)


@exact_inline
def _list_leaves(question: QuestionArrays, chart: ChartArrays, state: Longs) -> None:
    """What rules may begin with from here to there: at first the leaves, by category, as these are met."""
    start, end = state[START], state[END]
    for row in range(question.leaves_from[start], question.leaves_from[start + 1]):
        category, first = question.leaves[row, 1], question.leaves[row, 0] == end
        for other in range(question.leaves_from[start], row):
            first &= question.leaves[other, 0] != end or question.leaves[other, 1] != category
        for k in range(chart.many[start, end, category] if first else 0):
            edits, tree = chart.readings[start, end, category, k]
            _put_todo(chart, state, category, chart.scores[start, end, category, k], edits, tree)


@exact_inline
def _complete_rules(
    patterns: PatternArrays,
    trees: NumberedRows,
    kinds: NumberedRows,
    chart: ChartArrays,
    state: Longs,
    way: int,
    wanted: Ints,
) -> bool:
    """Keep the nodes of the rules that are complete; False if nothing is known of one, which is then wanted."""
    place = chart.ways[way, 0]
    children, width = chart.children[way], chart.children.shape[1]
    for look in range(2):  # nothing is kept before all are known
        for row in range(patterns.ends_from[place], patterns.ends_from[place + 1]):
            label, category = patterns.ends[row, 0], patterns.ends[row, 1]
            wanted[0] = label
            for k in range(width):
                at = patterns.ends[row, 2 + k]
                wanted[1 + k] = trees.kinds[children[at]] if at >= 0 else -1
            node = kinds.slots[find_slot(kinds.rows, kinds.slots, wanted)]
            if node < 0:
                return False
            if look == 0 or np.isnan(kinds.scores[node]):
                continue  # without a program it would take the place of readings that have one
            for k in range(width):
                at = patterns.ends[row, 2 + k]
                wanted[1 + k] = children[at] if at >= 0 else -1
            slot = find_slot(trees.rows, trees.slots, wanted)
            if trees.slots[slot] < 0:
                trees.slots[slot] = state[TREES]
                for k in range(1 + width):
                    trees.rows[state[TREES], k] = wanted[k]
                trees.kinds[state[TREES]] = kinds.kinds[node]
                state[TREES] += 1
            tree, edits = trees.slots[slot], chart.ways[way, 2]
            score = chart.way_scores[way] + patterns.end_scores[row] + kinds.scores[node]
            if _keep(chart, state[START], state[END], category, score, edits, tree):
                _put_todo(chart, state, category, score, edits, tree)
    return True


@exact_inline
def _step(
    patterns: PatternArrays, question: QuestionArrays, chart: ChartArrays, state: Longs, most: int, way: int
) -> None:
    """Read on from a place: by a word, by a reading that begins here, or by an edit."""
    at, size = state[END], len(question.words)
    place, edits, score = chart.ways[way, 0], chart.ways[way, 2], chart.way_scores[way]
    more = edits < most
    words = range(patterns.words_from[place], patterns.words_from[place + 1])
    if at < size:
        for row in words:
            if patterns.words[row, 0] == question.words[at]:
                _add(chart, state, patterns.words[row, 1], at + 1, 0, score, edits, way, 0, -1)
        for end in range(at + 1, size + 1):
            for row in range(patterns.holes_from[place], patterns.holes_from[place + 1]):
                category, following = patterns.holes[row]
                for k in range(chart.many[at, end, category]):
                    all_edits = edits + chart.readings[at, end, category, k, 0]
                    if all_edits <= most:
                        total, tree = (
                            score + chart.scores[at, end, category, k],
                            chart.readings[at, end, category, k, 1],
                        )
                        _add(chart, state, following, end, 0, total, all_edits, way, patterns.read[place], tree)
        if more:
            _add(chart, state, place, at + 1, 1, score - question.drops[at], edits + 1, way, 0, -1)
    for row in words:
        word, following = patterns.words[row]
        if patterns.repeats[word] >= 0 and at < size:
            for leaf in range(question.leaves_from[at], question.leaves_from[at + 1]):
                if question.leaves[leaf, 1] == patterns.repeats[word]:
                    _add(chart, state, following, question.leaves[leaf, 0], 0, score, edits, way, 0, -1)
        if more:
            _add(chart, state, following, at, 0, score - patterns.drops[word], edits + 1, way, 0, -1)
            if at < size and not np.isnan(question.exchanges[at, word]):
                total = score - question.exchanges[at, word]
                _add(chart, state, following, at + 1, 0, total, edits + 1, way, 0, -1)


@exact
def read_question(
    patterns: PatternArrays,
    question: QuestionArrays,
    trees: NumberedRows,
    kinds: NumberedRows,
    chart: ChartArrays,
    state: Longs,
    most: int,
    room: int,
    wanted: Ints,
) -> int:
    """Read on with at most so many edits; nothing that is done between two looks takes more than this room."""
    while state[START] >= 0:
        if state[STAGE] == NEW_START:
            _begin(question, chart, state, most)
            state[END] = state[START] + 1
            state[STAGE] = NEW_END
        if state[STAGE] == NEW_END:
            _list_leaves(question, chart, state)
            state[STAGE] = GOING_ON
        end = state[END]
        while chart.heads[end] >= 0 or state[TODO] > 0:
            if (
                state[WAYS] + room > len(chart.ways)
                or state[TODO] + room > len(chart.todo)
                or state[TREES] + room > len(trees.rows)
            ):
                return FULL
            way = chart.heads[end]
            if way >= 0:
                if not chart.ways[way, 1] and not _complete_rules(patterns, trees, kinds, chart, state, way, wanted):
                    return UNKNOWN
                chart.heads[end] = chart.ways[way, 3]
                _step(patterns, question, chart, state, most, way)
            else:
                state[TODO] -= 1
                score = chart.todo_scores[state[TODO]]
                category, edits, tree = chart.todo[state[TODO]]
                for row in range(patterns.starts_from[category], patterns.starts_from[category + 1]):
                    place, lacking = patterns.starts[row]
                    if edits + lacking <= most:
                        total = score - patterns.start_costs[row]
                        _add(chart, state, place, end, 0, total, edits + lacking, -1, 0, tree)
        state[STAGE] = NEW_END
        state[END] += 1
        if state[END] > len(question.words):
            state[STAGE] = NEW_START
            state[START] -= 1
    return DONE
