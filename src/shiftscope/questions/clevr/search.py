"""The compiled search: questions that are valid on their scene, balanced over answers, none twice.

For each scene the templates are taken in ascending use. A template gets a bounded number of attempts; an
attempt fills the slots step by step and is dropped at the first step that makes no sense. The order of this file
is: dice, one step with its slots filled, filling the slots of a step, one attempt, the search. Arrays are passed on
as they are, few and flat: tuples of arrays would be reference-counted at every call. Questions about the outcome of
an action have a search of their own (`hypothetical/outcome_search.py`), which is made of the same steps.
"""

from typing import Any

import numpy as np

from ...kernels import count_bits, exact, exact_inline, find_lowest_bit, mix_bits
from ...scene_table import WORD
from .compiled_templates import (
    CAN_HAVE,
    DIFFER,
    EMPTY_SLOT,
    FIELDS,
    NO_WAY_BACK,
    NOT_ZERO,
    ONE_OF_THEM,
    OPEN_SLOT,
    OPS,
    PICTURED,
    SAID,
    SEVERAL,
    TWO,
    WORDS_ALIKE,
    WORDS_LEAVE,
)
from .packed_scenes import ALL_OBJECTS, ALL_PARTS, EXTRA, OWNER_OF, PARTS_OF, ROWS

# mypy: allow-untyped-defs, allow-untyped-calls


SCENE, DESCRIBE, UNIQUE, RELATE = (OPS.index(n) for n in ("scene", "describe", "unique", "relate"))
UNION, INTERSECT, COUNT, EXIST = (OPS.index(n) for n in ("union", "intersect", "count", "exist"))
QUERY, SAME, EQUAL, LESS, GREATER = (OPS.index(n) for n in ("query", "same", "equal", "less", "greater"))
PARTS, OWNERS, EXCLUDE = (OPS.index(n) for n in ("parts", "owners", "exclude"))
OP, FIRST, SECOND, COLUMN = (FIELDS.index(n) for n in ("op", "first", "second", "column"))
RELATION, SINGLE, ON_PARTS = (FIELDS.index(n) for n in ("relation", "single", "on_parts"))
NEEDS, EMPTY, DROPS = (FIELDS.index(n) for n in ("needs", "empty", "drops"))
SLOTS = len(FIELDS)

ZERO, ONE = np.uint64(0), np.uint64(1)
TRIES = 10  # descriptions drawn for one step before the attempt is given up


@exact_inline
def draw_bits(state: Any) -> Any:
    """The next 64 random bits; `state` is an array of one word."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    return mix_bits(state[0])


@exact_inline
def draw_below(state: Any, limit: Any) -> Any:
    """A number from 0 to limit − 1."""
    return np.int64(((draw_bits(state) >> np.uint64(32)) * np.uint64(limit)) >> np.uint64(32))


@exact_inline
def pick_member(state, among):
    """The number of a random member of a set that is not empty."""
    left = among
    for _ in range(draw_below(state, np.int64(count_bits(among)))):
        left &= left - ONE
    return np.int64(find_lowest_bit(left))


@exact_inline
def is_single(members):
    """Whether a set has exactly one member."""
    return members != ZERO and members & (members - ONE) == ZERO


@exact_inline
def select_related(one, relation, sets, terms):
    """The objects in that relation to the single one given."""
    return sets[terms + EXTRA + ROWS + WORD * relation + np.int64(find_lowest_bit(one))]


@exact_inline
def run_step(k, steps, values, register, anywhere, sets, codes, value_of):
    """(whether it is well-founded, its outcome); with `anywhere`, what it asks of its things is dropped:

    its relation holds of the whole scene, the parts are those of all objects, the owners need not own.
    """
    terms = len(value_of)
    op = steps[k, OP]
    a = register[steps[k, FIRST]]
    out = ZERO
    if op in (DESCRIBE, RELATE):
        out = a
        if steps[k, RELATION] >= 0:
            if not is_single(a):
                return False, ZERO
            out = sets[terms + ALL_OBJECTS] if anywhere else select_related(a, values[steps[k, RELATION]], sets, terms)
        for c in range(SLOTS, steps.shape[1]):
            slot = steps[k, c]
            if slot >= 0 and values[slot] >= 0:
                out &= sets[values[slot]]
        if steps[k, SINGLE] == 1:
            return is_single(out), out
    elif op == SCENE:
        out = sets[terms + ALL_OBJECTS]
    elif op == EXCLUDE:
        out = a
        for c in range(SLOTS, steps.shape[1]):
            if steps[k, c] >= 0:
                out &= ~sets[values[steps[k, c]]]
    elif op == UNIQUE:
        return is_single(a), a
    elif op == COUNT:
        out = count_bits(a)
    elif op == EXIST:
        out = ONE if a != ZERO else ZERO
    elif op == QUERY:
        code = codes[WORD * steps[k, ON_PARTS] + np.int64(find_lowest_bit(a)), steps[k, COLUMN]]
        if code < 0:
            return False, ZERO
        out = np.uint64(code)
    elif op == SAME:
        code = codes[np.int64(find_lowest_bit(a)), steps[k, COLUMN]]
        if code >= 0:
            out = sets[code] & ~a
    elif op in (PARTS, OWNERS) and anywhere:
        out = sets[terms + ALL_PARTS] if op == PARTS else register[steps[k, SECOND]]
    elif op in (PARTS, OWNERS):
        base = terms + EXTRA + (PARTS_OF if op == PARTS else OWNER_OF)
        while a != ZERO:
            out |= sets[base + np.int64(find_lowest_bit(a))]
            a &= a - ONE
    else:
        b = register[steps[k, SECOND]]
        if op == UNION:
            out = a | b
        elif op == INTERSECT:
            out = a & b
        elif op == LESS:
            out = ONE if a < b else ZERO
        elif op == GREATER:
            out = ONE if a > b else ZERO
        elif steps[k, COLUMN] == 1:  # two values: an object's red is a part's red
            out = ONE if value_of[np.int64(a)] == value_of[np.int64(b)] else ZERO
        else:
            out = ONE if a == b else ZERO
    return True, out


@exact_inline
def is_degenerate(begin, end, steps, values, register, again, sets, codes, value_of):
    """Whether some relation could be dropped, its set taken from the whole scene, with the same answer.

    Having a part, and being part of something that is counted over, are such relations too.

    A truth about how many there are is judged by the things or the numbers it looks at: with more things
    around, `yes, there is one` can only stay true, and would never pass otherwise.
    """
    last = end - 1
    left, right = last - begin, last - begin
    op = steps[last, OP]
    if op == EXIST:
        left = right = steps[last, FIRST]
    elif op in (LESS, GREATER, EQUAL) and steps[begin + steps[last, FIRST], OP] == COUNT:
        left, right = steps[last, FIRST], steps[last, SECOND]
    for dropped in range(begin, end):
        if steps[dropped, DROPS] == 0:
            continue
        for i in range(dropped - begin):
            again[i] = register[i]
        fine = True
        for k in range(dropped, end):
            fine, out = run_step(k, steps, values, again, k == dropped, sets, codes, value_of)
            if not fine:
                break
            again[k - begin] = out
        if fine and again[left] == register[left] and again[right] == register[right]:
            return True
    return False


@exact_inline
def compute_fingerprint(begin, end, steps, values, place):
    """A number for the program that the filled template stands for: equal programs have equal ones."""
    found = ZERO
    size = 0
    for k in range(begin, end):
        op = steps[k, OP]
        a, b = (0, 0) if op == SCENE else (place[steps[k, FIRST]], place[steps[k, SECOND]])
        if steps[k, RELATION] >= 0:
            found = mix_bits(found ^ np.uint64(RELATE << 48 | a << 24 | values[steps[k, RELATION]]))
            size += 1
            a = size
        for c in range(SLOTS, steps.shape[1]):
            slot = steps[k, c]
            if slot >= 0 and values[slot] >= 0:
                found = mix_bits(found ^ np.uint64(DESCRIBE << 48 | a << 24 | values[slot]))
                size += 1
                a = size
        if op == DESCRIBE and steps[k, SINGLE] == 1:
            op = UNIQUE
        if op not in (DESCRIBE, RELATE):
            found = mix_bits(found ^ np.uint64(op << 48 | a << 24 | b << 12 | steps[k, COLUMN]))
            size += 1
            a = size
        place[k - begin] = a
    return found


@exact_inline
def choose_relation(slot, values, knows, s, state):
    """A relation for the slot: the one it holds, or a random one that the scene knows; −1 for none."""
    if values[slot] >= 0:
        return values[slot]
    relation = draw_below(state, knows.shape[1])
    return relation if knows[s, relation] else -1


@exact_inline
def draw_description(k, steps, values, chosen, among, everything, sets, codes, sayings, offers, state):
    """Draw a description of `among` into `chosen`; whether it will do.

    A description is what some of the attributes of a random member are. One that nothing fits is what a
    thing outside is (the relation is all that rules it out), or has one word changed.
    """
    dice = draw_bits(state)
    fits = everything  # what fits the words, wherever it stands
    said = 0
    columns = steps.shape[1] - SLOTS
    for c in range(columns):
        slot = steps[k, SLOTS + c]
        if slot >= 0 and values[slot] >= 0:
            fits &= sets[values[slot]]
            said += 1
    empty = np.int64(dice & np.uint64(7)) < steps[k, EMPTY]
    source = among & fits
    changed = -1
    if empty:
        source = everything & ~among
        if steps[k, RELATION] < 0 and (source == ZERO or dice & np.uint64(8) != ZERO):
            source = everything
            changed = draw_below(state, columns)
    if source == ZERO:
        return False
    thing = WORD * steps[k, ON_PARTS] + pick_member(state, source)
    for c in range(columns):
        chosen[c] = EMPTY_SLOT
        slot = steps[k, SLOTS + c]
        if slot < 0 or values[slot] != OPEN_SLOT or dice >> np.uint64(16 + c) & ONE == ZERO:
            continue
        code = codes[thing, c]
        if c == changed:
            code = offers[c, 1 + draw_below(state, offers[c, 0])]
        elif code >= 0:
            code = sayings[code, 1 + draw_below(state, sayings[code, 0]) if sayings[code, 0] > 1 else 1]
        if code >= 0:
            chosen[c] = code
            fits &= sets[code]
            said += 1
    found = among & fits
    if said < steps[k, NEEDS] or empty != (found == ZERO):
        return False
    if steps[k, RELATION] >= 0 and found == fits:  # the relation rules nothing out
        return False
    return steps[k, SINGLE] == 0 or is_single(found)


@exact_inline
def fill_slots(k, steps, values, chosen, a, sets, codes, knows, s, sayings, offers, state):
    """Fill the open slots of a description; `a` is what it starts from. False where nothing was found."""
    terms = len(sayings)
    among = a
    everything = sets[terms + (ALL_PARTS if steps[k, ON_PARTS] == 1 else ALL_OBJECTS)]
    slot = steps[k, RELATION]
    for _ in range(TRIES):
        relation = np.int64(-1)
        if slot >= 0:
            relation = choose_relation(slot, values, knows, s, state)
            if relation < 0:
                continue
            among = select_related(a, relation, sets, terms)
        if draw_description(k, steps, values, chosen, among, everything, sets, codes, sayings, offers, state):
            if slot >= 0:
                values[slot] = relation
            for c in range(steps.shape[1] - SLOTS):
                if steps[k, SLOTS + c] >= 0 and values[steps[k, SLOTS + c]] == OPEN_SLOT:
                    values[steps[k, SLOTS + c]] = chosen[c]
            return True
    return False


@exact_inline
def words_contain(broad, narrow, said, values, covers):
    """Whether, by the words alone, all that the narrow step gives fits the words of the broad one."""
    for c in range(said.shape[1]):
        slot, other = said[broad, c], said[narrow, c]
        if slot >= 0 and values[slot] >= 0:
            if other < 0 or values[other] < 0:
                return False
            if not covers[values[slot], values[other]]:
                return False
    return True


@exact_inline
def leads_back(k, begin, steps, said, values, covers, opposite):
    """Whether, by the words alone, a thing on the way to a set is in it.

    "Left of the cube that is right of the ball" there is the ball, and whatever the ball itself is right of.
    """
    there = values[steps[k, RELATION]]
    at = begin + steps[k, FIRST]
    while steps[at, RELATION] >= 0 and values[steps[at, RELATION]] == opposite[there]:
        at = begin + steps[at, FIRST]
        if words_contain(k, at, said, values, covers):
            return True
    return False


@exact_inline
def is_one_of_them(i, j, thing, noun, said, values, sets, covers):
    """Whether the thing of step j fits what step i says of others like it, or its words tell it cannot.

    If it does, and `noun` is a column, it is also called what they are: no "other bus" where it is "the red thing".
    """
    named = True
    for c in range(said.shape[1]):
        a, b = said[i, c], said[j, c]
        if a >= 0 and values[a] >= 0 and b >= 0 and values[b] >= 0:
            both = False
            for term in range(len(covers)):
                both = both or (covers[values[a], term] and covers[values[b], term])
            if not both:
                return True
        if a >= 0 and values[a] >= 0:
            thing &= sets[values[a]]
            if c == noun:
                named = b >= 0 and values[b] >= 0 and covers[values[a], values[b]]
    return named and thing != ZERO


@exact_inline
def is_pictured(owners, color, name, can_have, sets, value_of):
    """Whether the words for parts are true of those, too, that have no attributes of their own: in no owner's color,

    or without a color, by a name that one part of one owner has. −1 is for no word.
    """
    if color >= 0:
        return owners & sets[value_of[color]] == ZERO
    return name >= 0 and can_have[name, name]


@exact_inline
def check_rules(k, begin, steps, said, rules, rule_start, opposite, can_have, values, register, sets, covers, value_of):
    """Whether the rules hold that can be judged after step k."""
    for r in range(rule_start[k], rule_start[k + 1]):
        kind, i, j = rules[r, 0], rules[r, 1], rules[r, 2]
        if kind == DIFFER:
            broken = register[i] == register[j]
        elif kind == CAN_HAVE:
            owner, part = values[j], values[rules[r, 3]]
            broken = register[i] == ZERO and owner >= 0 and part >= 0 and not can_have[owner, part]
        elif kind == NO_WAY_BACK:
            broken = leads_back(begin + i, begin, steps, said, values, covers, opposite)
        elif kind == NOT_ZERO:
            broken = register[i] == ZERO and register[j] == ZERO
        elif kind == SEVERAL:
            broken = values[i] >= 0 and can_have[values[i], values[i]]
        elif kind == SAID:
            broken = values[i] < 0
        elif kind == PICTURED:
            color = values[j] if j >= 0 else -1
            name = values[rules[r, 3]] if rules[r, 3] >= 0 else -1
            broken = not is_pictured(register[i], color, name, can_have, sets, value_of)
        elif kind == ONE_OF_THEM:
            broken = not is_one_of_them(begin + i, begin + j, register[j], rules[r, 3], said, values, sets, covers)
        elif kind == TWO:
            broken = register[i] & (register[i] - ONE) == ZERO
        else:
            broken = words_contain(begin + j, begin + i, said, values, covers)
            if broken == (kind == WORDS_ALIKE) and kind != WORDS_LEAVE:
                broken = words_contain(begin + i, begin + j, said, values, covers)
        if broken:
            return False
    return True


@exact_inline
def complete_step(
    k, begin, steps, said, rules, rule_start, opposite, can_have, values, register, sets, codes, covers, value_of,
    state,
):  # fmt: skip
    """Run a step whose slots are filled, or take what is excluded from one of its things; whether it makes sense."""
    if steps[k, OP] == EXCLUDE:
        a = register[steps[k, FIRST]]
        if a == ZERO:
            return False
        thing = pick_member(state, a)
        for c in range(steps.shape[1] - SLOTS):
            if steps[k, SLOTS + c] >= 0:
                values[steps[k, SLOTS + c]] = codes[thing, c]
    fine, out = run_step(k, steps, values, register, False, sets, codes, value_of)
    if not fine:
        return False
    register[k - begin] = out
    return check_rules(
        k, begin, steps, said, rules, rule_start, opposite, can_have, values, register, sets, covers, value_of
    )


@exact_inline
def fill_template(
    begin, end, steps, said, rules, rule_start, opposite, can_have, values, chosen, register, sets, codes, knows, s,
    sayings, offers, covers, value_of, state,
):  # fmt: skip
    """Fill one template once; whether what came out makes sense."""
    for k in range(begin, end):
        op = steps[k, OP]
        if op == DESCRIBE:
            a = register[steps[k, FIRST]]
            if not fill_slots(k, steps, values, chosen, a, sets, codes, knows, s, sayings, offers, state):
                return False
        elif op == RELATE:
            relation = choose_relation(steps[k, RELATION], values, knows, s, state)
            if relation < 0:
                return False
            values[steps[k, RELATION]] = relation
        if not complete_step(
            k, begin, steps, said, rules, rule_start, opposite, can_have, values, register, sets, codes, covers,
            value_of, state,
        ):  # fmt: skip
            return False
    return True


@exact_inline
def is_overrepresented(t, answer, size, counts, ordered):
    """Whether the answer already leads: above 1.1 × the second count, or 5 × the median (at least 5)."""
    if size < 2 or answer >= size:
        return False
    for i in range(size):
        j = i
        while j > 0 and ordered[j - 1] > counts[t, i]:
            ordered[j] = ordered[j - 1]
            j -= 1
        ordered[j] = counts[t, i]
    if 10 * counts[t, answer] > 11 * ordered[size - 2]:
        return True
    return counts[t, answer] > 5 * max(ordered[size // 2], 5)


@exact_inline
def order_templates(order, uses, state):
    """Put the templates in ascending use, equally used ones in random order."""
    for i in range(len(order)):
        j = draw_below(state, i + 1)
        order[i] = order[j]
        order[j] = i
    for i in range(1, len(order)):
        moved = order[i]
        j = i
        while j > 0 and uses[order[j - 1]] > uses[moved]:
            order[j] = order[j - 1]
            j -= 1
        order[j] = moved


@exact
def search_questions(limits: Any, seeds: Any, plan: Any, scenes: Any, words: Any, found: Any) -> Any:
    """Fill `found` scene by scene; the number of questions. The balance of answers starts empty."""
    per_image, attempts = limits
    steps, said, start, rules, rule_start, initial, answers, opposite, can_have = plan
    all_sets, all_codes, knows = scenes
    sayings, offers, covers, value_of, may_answer = words
    scene_out, template_out, answer_out, values_out, wording_out = found
    templates = len(start) - 1
    most = max(2, answers[:, 1].max())
    longest = np.int64(0)
    for t in range(templates):  # np.diff takes Numba seconds to compile
        longest = max(longest, start[t + 1] - start[t])
    register, again = np.zeros(longest, np.uint64), np.zeros(longest, np.uint64)
    place = np.zeros(longest, np.int64)
    chosen = np.zeros(steps.shape[1] - SLOTS, np.int64)
    counts = np.zeros((templates, most + 1), np.int64)  # the balance; the last column is beyond counting
    ordered = np.zeros(most, np.int64)
    values = np.zeros(initial.shape[1], np.int64)
    uses, order = np.zeros(templates, np.int64), np.zeros(templates, np.int64)
    known = np.zeros(per_image, np.uint64)
    state = np.zeros(1, np.uint64)
    total = 0
    for s in range(len(seeds)):
        sets, codes = all_sets[s], all_codes[s]
        state[0] = seeds[s]
        order_templates(order, uses, state)
        made = 0
        before = -1
        while made < per_image and made > before:  # another round where there are few templates
            before = made
            for turn in range(templates):
                if made == per_image:
                    break
                t = order[turn]
                for _ in range(attempts):
                    for i in range(len(values)):
                        values[i] = initial[t, i]
                    if not fill_template(
                        start[t], start[t + 1], steps, said, rules, rule_start, opposite, can_have,
                        values, chosen, register, sets, codes, knows, s, sayings, offers, covers, value_of, state,
                    ) or is_degenerate(
                        start[t], start[t + 1], steps, values, register, again, sets, codes, value_of
                    ):  # fmt: skip
                        continue
                    last = start[t + 1] - 1
                    code = np.int64(register[last - start[t]])
                    if steps[last, OP] == QUERY and not may_answer[code]:
                        continue
                    answer = code - answers[t, 0]
                    if answer > answers[t, 2]:
                        continue
                    if is_overrepresented(t, answer, answers[t, 1], counts, ordered):
                        continue
                    known[made] = compute_fingerprint(start[t], start[t + 1], steps, values, place)
                    twice = False
                    for q in range(made):
                        twice = twice or known[q] == known[made]
                    if twice:
                        continue
                    counts[t, min(answer, most)] += 1
                    uses[t] += 1
                    scene_out[total] = s
                    template_out[total] = t
                    answer_out[total] = code
                    for i in range(len(values)):
                        values_out[total, i] = values[i]
                    wording_out[total] = draw_bits(state)
                    made += 1
                    total += 1
                    break
    return total
