"""Compiled checks of questions about an outcome: what they would give away, or ask in vain.

The words of an action tell something of the outcome (`hypothesis.list_told_rows`), which no question may ask.
"""

import numpy as np

from ...kernels import exact_inline
from ..clevr.search import (
    COLUMN,
    COUNT,
    DESCRIBE,
    EQUAL,
    EXCLUDE,
    EXIST,
    FIRST,
    GREATER,
    INTERSECT,
    LESS,
    OP,
    QUERY,
    RELATE,
    RELATION,
    SAME,
    SCENE,
    SECOND,
    SINGLE,
    SLOTS,
    UNION,
    UNIQUE,
    ZERO,
)  # fmt: skip

# mypy: allow-untyped-defs, allow-untyped-calls

SURE = 2  # words of an action's thing that make it plain that this one is meant
STACKED = 4  # number of the first relation to an outcome's thing that one other is in at most
# Marks of `hypothesis.list_told_rows`.
TOLD_NAMED, TOLD_GONE, TOLD_ALONE, TOLD_LOST, TOLD_COPIED, TOLD_EVERY = 1, 2, 4, 8, 16, 32


@exact_inline
def compares_nothing(begin, end, steps, register):
    """Whether it compares no things with no things."""
    last = end - 1
    op, first, second = steps[last, OP], steps[last, FIRST], steps[last, SECOND]
    counts = op in (LESS, GREATER, EQUAL) and steps[begin + first, OP] == COUNT
    return counts and register[first] == ZERO and register[second] == ZERO


@exact_inline
def is_trivial_step(k, begin, steps, values, many):
    """Whether a step gives one thing at most where several are meant, or says the same twice.

    Of the relations, the first `many` hold for several things; on and below another there is one at most.
    """
    base = begin + steps[k, FIRST]
    if repeats_itself(k, base, begin, steps, values):
        return True
    if steps[k, RELATION] < 0 or values[steps[k, RELATION]] < many:
        return False
    before = steps[base, RELATION]  # there is no third thing on a second
    return steps[k, SINGLE] == 0 or (before >= 0 and values[before] >= many)


@exact_inline
def repeats_itself(k, base, begin, steps, values):
    """Whether two things of much the same description, or two places of one relation, lead to what a step gives.

    Nor are things called others that a thing was not said to be one of: "the ball; how many other red balls"; nor are
    they "red balls or cubes", which may all be red.
    """
    if steps[k, OP] != DESCRIBE:
        other = begin + steps[k, SECOND]
        if steps[k, OP] not in (UNION, INTERSECT) or steps[base, OP] != steps[other, OP]:
            return False
        if steps[base, OP] == RELATE:
            return values[steps[base, RELATION]] == values[steps[other, RELATION]]
        return count_words(base, steps, values) > 1 and count_words(other, steps, values) == 1
    if steps[base, OP] == SAME:
        one = begin + steps[base, FIRST]
        return not step_includes(k, one, -1, steps, values) and not steps_differ(k, one, steps, values)
    if steps[k, SINGLE] == 0 or steps[base, OP] != DESCRIBE:
        return False
    wider, narrower = step_includes(k, base, -1, steps, values), step_includes(base, k, -1, steps, values)
    few = min(count_words(k, steps, values), count_words(base, steps, values)) < 2
    return (wider and narrower) or ((wider or narrower) and not few)


@exact_inline
def steps_differ(one, two, steps, values):
    """Whether by their words nothing is of both steps."""
    for c in range(steps.shape[1] - SLOTS):
        slot, other = steps[one, SLOTS + c], steps[two, SLOTS + c]
        if slot >= 0 and other >= 0 and values[slot] >= 0 and values[other] >= 0 and values[slot] != values[other]:
            return True
    return False


@exact_inline
def count_words(k, steps, values):
    """How many words a step's description has."""
    said = 0
    for c in range(steps.shape[1] - SLOTS):
        said += steps[k, SLOTS + c] >= 0 and values[steps[k, SLOTS + c]] >= 0
    return said


@exact_inline
def words_include(row, k, but, steps, values):
    """Whether the words of a step say all that a row says but for a column, and more perhaps."""
    for c in range(steps.shape[1] - SLOTS):
        if c != but and row[c] >= 0 and (steps[k, SLOTS + c] < 0 or values[steps[k, SLOTS + c]] != row[c]):
            return False
    return True


@exact_inline
def row_includes(row, k, steps, values):
    """Whether a row says all that the words of a step say."""
    for c in range(steps.shape[1] - SLOTS):
        slot = steps[k, SLOTS + c]
        if slot >= 0 and values[slot] >= 0 and values[slot] != row[c]:
            return False
    return True


@exact_inline
def is_alike(row, k, steps, values):
    """Whether what a row says and the words of a step may be of one thing."""
    for c in range(steps.shape[1] - SLOTS):
        slot = steps[k, SLOTS + c]
        if slot >= 0 and values[slot] >= 0 and row[c] >= 0 and values[slot] != row[c]:
            return False
    return True


@exact_inline
def is_given(k, column, steps, values, told, first, size):
    """Whether an action gave all things of a description, those of a step among them, a value."""
    columns = steps.shape[1] - SLOTS
    for r in range(first, first + size):
        every = told[r, columns] & TOLD_EVERY != 0 and told[r + 1, column] >= 0
        if every and words_include(told[r], k, -1, steps, values):
            return True
    return False


@exact_inline
def is_place_known(k, begin, steps, values, told, first, size):
    """Whether a step looks anywhere, or where the words of an action may have put something."""
    relation = -1 if steps[k, RELATION] < 0 else values[steps[k, RELATION]]
    base = begin + steps[k, FIRST]
    known = (relation < 0 and steps[base, OP] == SCENE) or relation >= STACKED
    if not known and steps[base, OP] == DESCRIBE and steps[base, RELATION] < 0:
        for r in range(first, first + size):
            named = told[r, steps.shape[1] - SLOTS] & TOLD_NAMED != 0
            known = known or (named and is_alike(told[r], base, steps, values))
    return known


@exact_inline
def is_named(k, column, value, begin, steps, values, told, first, size):
    """Whether the words of an action name what a step gives: its value in `column`, or any for −1, or all its words.

    A thing found over a relation is named where that is the relation of the action, to a thing that is named if there
    may be several; and where it is called by `SURE` words or more that are said of what the action is about, or by
    all but the value, also one found in two places. All things of a description have the value that the action gave.
    """
    columns = steps.shape[1] - SLOTS
    relation = -1 if steps[k, RELATION] < 0 else values[steps[k, RELATION]]
    base = begin + steps[k, FIRST]
    if steps[k, OP] != DESCRIBE or (relation < 0 and steps[base, OP] not in (SCENE, INTERSECT)):
        return False
    known = is_place_known(k, begin, steps, values, told, first, size)
    if not known and column < 0:
        return False
    if column >= 0 and is_given(k, column, steps, values, told, first, size):
        return True
    sure = column >= 0 and count_words(k, steps, values) >= SURE
    for r in range(first, first + size):
        if told[r, columns] & TOLD_NAMED == 0 or not is_alike(told[r], k, steps, values):
            continue
        there = known and (relation < 0 or told[r, columns + 1] == relation)
        clear = sure or (column >= 0 and words_include(told[r], k, column, steps, values))
        if not there and not (clear and row_includes(told[r], k, steps, values)):
            continue
        if column < 0 and row_includes(told[r], k, steps, values):
            return True
        if column >= 0 and told[r, column] >= 0 and (value < 0 or told[r, column] == value):
            return True
    return False


@exact_inline
def is_told(begin, end, steps, values, register, offers, told, first, size):
    """Whether the question, or the action's words, tell the answer, or that what is counted is one thing at most.

    Nor is a value asked for or named where the action left no other: rubber, with all metal things gone. And nothing
    is called by words that were true of what the action took away or changed.
    """
    columns = steps.shape[1] - SLOTS
    last = end - 1
    if names_lost_thing(begin, end, steps, values, told, first, size):
        return True
    op, left, right = steps[last, OP], begin + steps[last, FIRST], begin + steps[last, SECOND]
    column = steps[last, COLUMN] if op == QUERY else -1
    if op == EQUAL and steps[left, OP] == QUERY:
        one, two, column = begin + steps[left, FIRST], begin + steps[right, FIRST], steps[left, COLUMN]
        if is_named(one, column, -1, begin, steps, values, told, first, size) and is_named(
            two, column, -1, begin, steps, values, told, first, size
        ):
            return True
        for r in range(first, first + size):  # the row before is of the thing that is like this one
            if told[r, columns] & TOLD_COPIED != 0 and (
                (is_alike(told[r], one, steps, values) and is_alike(told[r - 1], two, steps, values))
                or (is_alike(told[r], two, steps, values) and is_alike(told[r - 1], one, steps, values))
            ):
                return True
    out = np.int64(register[last - begin])
    if op == QUERY:
        asked = left
        while steps[asked, OP] in (UNIQUE, EXCLUDE):  # the ball that is not red is a ball
            asked = begin + steps[asked, FIRST]
        if is_named(asked, column, out, begin, steps, values, told, first, size):
            return True
    if op == EXIST and out == 1:
        if is_named(left, -1, -1, begin, steps, values, told, first, size):
            return True
        if names_one_of(left, begin, steps, values, told, first, size):
            return True
        if passes_one(begin, left, steps, values, told, first, size):
            return True
        if has_told_twin(begin, end, steps, values, told, first, size):
            return True
    for k in range(begin, end):
        base = begin + steps[k, FIRST]
        chosen = steps[k, OP] == DESCRIBE and steps[k, RELATION] < 0 and steps[base, OP] == DESCRIBE
        if steps[k, OP] == EXCLUDE or chosen:  # some of things that have all been given the value
            for c in range(columns):
                if steps[k, SLOTS + c] >= 0 and is_given(base, c, steps, values, told, first, size):
                    return True
        column = steps[k, COLUMN] if steps[k, OP] == SAME else column
        if steps[k, OP] != DESCRIBE or steps[k, SINGLE] == 1:
            continue
        for r in range(first, first + size):
            marks = told[r, columns]
            where = told[r, columns + 1] if marks & TOLD_GONE != 0 else -1
            here = where < 0 or (steps[k, RELATION] >= 0 and values[steps[k, RELATION]] == where)
            if here and marks & (TOLD_GONE | TOLD_ALONE) != 0 and words_include(told[r], k, -1, steps, values):
                return True
            if marks & TOLD_NAMED != 0 and op != EXIST and names_new_thing(told[r], k, begin, steps, values):
                return True
        for i in range(begin, k):
            alone = steps[i, OP] == DESCRIBE and steps[i, SINGLE] == 1 and steps[i, RELATION] < 0
            alone = alone and steps[begin + steps[i, FIRST], OP] == SCENE
            if alone and step_includes(i, k, find_excluded(k, begin, end, steps, offers), steps, values):
                return True
    for c in range(columns):
        if offers[c, 0] == 2 and leaves_one_value(c, told, first, size, columns):
            for k in range(begin, end):
                slot = steps[k, SLOTS + c]
                if c == column or (steps[k, OP] in (DESCRIBE, EXCLUDE) and slot >= 0 and values[slot] >= 0):
                    return True
    return False


@exact_inline
def names_one_of(asked, begin, steps, values, told, first, size):
    """Whether the words of an action name one of the things that are not of a value, or that are of either of two."""
    k = begin + steps[asked, FIRST]
    if steps[asked, OP] == UNION and steps[k, OP] == DESCRIBE:
        k = begin + steps[k, FIRST]
    elif steps[asked, OP] != EXCLUDE:
        return False
    if steps[k, OP] != DESCRIBE or not is_place_known(k, begin, steps, values, told, first, size):
        return False
    columns = steps.shape[1] - SLOTS
    for r in range(first, first + size):
        there = steps[k, RELATION] < 0 or told[r, columns + 1] == values[steps[k, RELATION]]
        named = told[r, columns] & TOLD_NAMED != 0 and row_includes(told[r], k, steps, values)
        if there and named and is_asked_for(k, r, first, begin, asked, steps, values, told):
            return True
    return False


@exact_inline
def names_new_thing(row, k, begin, steps, values):
    """Whether things, wherever they are, are described nearly as in full as the row of an action's words is."""
    bare = steps[k, RELATION] < 0 and steps[begin + steps[k, FIRST], OP] == SCENE
    return bare and count_words(k, steps, values) > SURE and row_includes(row, k, steps, values)


@exact_inline
def is_bare(k, begin, steps):
    """Whether a step gives one thing that is told by no relation."""
    return (
        steps[k, OP] == DESCRIBE and steps[k, RELATION] < 0 and steps[k, SINGLE] == 1
        and steps[begin + steps[k, FIRST], OP] == SCENE
    )  # fmt: skip


@exact_inline
def names_lost_thing(begin, end, steps, values, told, first, size):
    """Whether a thing is called what another one was, in truth or by the action's words, before the action."""
    for r in range(first, first + size):
        if told[r, steps.shape[1] - SLOTS] & TOLD_LOST == 0:
            continue
        for k in range(begin, end):
            if not is_bare(k, begin, steps) or row_includes(told[r + 1], k, steps, values):
                continue
            if row_includes(told[r], k, steps, values):
                return True
            for c in range(steps.shape[1] - SLOTS):
                slot = steps[k, SLOTS + c]
                shared = slot >= 0 and values[slot] >= 0 and values[slot] == told[r + 2, c]
                if shared and is_alike(told[r + 2], k, steps, values):
                    return True
    return False


@exact_inline
def has_told_twin(begin, end, steps, values, told, first, size):
    """Whether the action's words tell that another thing has the value that things are to share with one."""
    columns = steps.shape[1] - SLOTS
    for k in range(begin, end):
        if steps[k, OP] != SAME:
            continue
        one, column = begin + steps[k, FIRST], steps[k, COLUMN]
        if is_given(one, column, steps, values, told, first, size):
            return True
        named = is_named(one, column, -1, begin, steps, values, told, first, size)
        for r in range(first, first + size):
            if not is_alike(told[r], one, steps, values):
                continue
            if told[r, columns] & TOLD_COPIED != 0:
                return True
            for other in range(first, first + size):
                twin = told[other, columns] & told[r, columns] & TOLD_NAMED != 0 and other != r
                if named and twin and told[r, column] >= 0 and told[other, column] == told[r, column]:
                    return True
    return False


@exact_inline
def passes_one(begin, asked, steps, values, told, first, size):
    """Whether, by the words of the question and the action, a thing on the way is one of those asked for.

    As `leads_back`, also over what is on something and what is said in part, of either of two or of what is not.
    """
    k = asked
    if steps[k, OP] == EXCLUDE or (steps[k, OP] == UNION and steps[begin + steps[k, FIRST], OP] == DESCRIBE):
        k = begin + steps[k, FIRST]
    if steps[k, OP] == DESCRIBE and steps[k, RELATION] < 0:
        k = begin + steps[k, FIRST]
    if steps[k, OP] == UNION:
        return passes_from(begin + steps[k, FIRST], begin, asked, steps, values, told, first, size) or passes_from(
            begin + steps[k, SECOND], begin, asked, steps, values, told, first, size
        )
    return passes_from(k, begin, asked, steps, values, told, first, size)


@exact_inline
def passes_from(k, begin, asked, steps, values, told, first, size):
    """Whether a thing that leads to the place of a step is there and one of those asked for."""
    if steps[k, RELATION] < 0 or values[steps[k, RELATION]] >= STACKED:
        return False
    back = values[steps[k, RELATION]] ^ 1
    at = begin + steps[k, FIRST]
    there = False
    while steps[at, RELATION] >= 0 and (values[steps[at, RELATION]] == back or values[steps[at, RELATION]] >= STACKED):
        there = there or values[steps[at, RELATION]] == back
        at = begin + steps[at, FIRST]
        for r in range(first - 1, first + size):  # first by its own words, then with those of the action
            fits = r < first or (is_bare(at, begin, steps) and is_alike(told[r], at, steps, values))
            if r >= first and told[r, steps.shape[1] - SLOTS] & TOLD_NAMED == 0:
                continue
            if there and fits and is_asked_for(at, r, first, begin, asked, steps, values, told):
                return True
    return False


@exact_inline
def is_asked_for(at, r, first, begin, asked, steps, values, told):
    """Whether the thing of a step, of which a row from `first` on may say more, is surely one of those asked for."""
    op = steps[asked, OP]
    if op == EXCLUDE:
        for c in range(steps.shape[1] - SLOTS):
            slot = steps[asked, SLOTS + c]
            if slot >= 0:
                known = find_known_value(c, at, r, first, steps, values, told)
                if known < 0 or known == values[slot]:
                    return False
        return has_known_words(begin + steps[asked, FIRST], at, r, first, steps, values, told)
    if op == UNION:
        one, two = begin + steps[asked, FIRST], begin + steps[asked, SECOND]
        return (
            has_known_words(one, at, r, first, steps, values, told)
            or has_known_words(two, at, r, first, steps, values, told)
        ) and has_known_words(begin + steps[one, FIRST], at, r, first, steps, values, told)  # fmt: skip
    return has_known_words(asked, at, r, first, steps, values, told)


@exact_inline
def has_known_words(k, at, r, first, steps, values, told):
    """Whether all words of a step are known to be true of the thing of another."""
    for c in range(steps.shape[1] - SLOTS):
        slot = steps[k, SLOTS + c]
        said = slot >= 0 and values[slot] >= 0
        if said and find_known_value(c, at, r, first, steps, values, told) != values[slot]:
            return False
    return True


@exact_inline
def find_known_value(c, at, r, first, steps, values, told):
    """What a step's thing is in a column, by its own words or those of a row; −1 where neither tells."""
    slot = steps[at, SLOTS + c]
    if slot >= 0 and values[slot] >= 0:
        return values[slot]
    return told[r, c] if r >= first else -1


@exact_inline
def find_excluded(k, begin, end, steps, offers):
    """The column that the things of a step are then told apart by what they are not, if it has two values; else −1."""
    for i in range(k + 1, end):
        if steps[i, OP] == EXCLUDE and begin + steps[i, FIRST] == k:
            for c in range(steps.shape[1] - SLOTS):
                if steps[i, SLOTS + c] >= 0 and offers[c, 0] == 2:
                    return c
    return -1


@exact_inline
def step_includes(broad, narrow, but, steps, values):
    """Whether the words of a step are all among those of another, but for a column."""
    for c in range(steps.shape[1] - SLOTS):
        slot, other = steps[broad, SLOTS + c], steps[narrow, SLOTS + c]
        if c != but and slot >= 0 and values[slot] >= 0 and (other < 0 or values[other] != values[slot]):
            return False
    return True


@exact_inline
def leaves_one_value(column, told, first, size, columns):
    """Whether everything of one of two values is gone: all rubber things."""
    for r in range(first, first + size):
        rest = 0
        for c in range(columns):
            rest += c != column and told[r, c] >= 0
        everywhere = told[r, columns] & TOLD_GONE != 0 and told[r, columns + 1] < 0
        if everywhere and rest == 0 and told[r, column] >= 0:
            return True
    return False
