"""The compiled search: questions that are valid on their scene, balanced over answers, none twice.

For each scene the templates are taken in ascending use. A template gets a bounded number of attempts; an
attempt fills the slots step by step and is dropped at the first step that makes no sense. Numba's cache
notices changes in a kernel's own file only, hence one long file; its order is: dice, one step with its slots
filled, filling the slots of a step, one attempt, the search. Arrays are passed on as they are, few and flat:
tuples of arrays would be reference-counted at every call.
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

UNCHANGED, ELSEWHERE = range(2)  # why a question about an action's outcome is refused
SURE = 2  # words of an action's thing that make it plain that this one is meant
STACKED = 4  # number of the first relation to an outcome's thing that one other is in at most
# Marks of `hypothetical.hypothesis.list_told_rows`.
TOLD_NAMED, TOLD_GONE, TOLD_ALONE, TOLD_LOST, TOLD_COPIED, TOLD_EVERY = 1, 2, 4, 8, 16, 32

ZERO, ONE = np.uint64(0), np.uint64(1)
TRIES = 10  # descriptions drawn for one step before the attempt is given up
FEW_TRIES = 4  # of what an action touched
# Which of four words to add or drop, as bits, the fewest first; in four orders.
NEARBY = np.array(
    [
        sorted(range(16), key=lambda bits: (bits.bit_count(), (bits << turn | bits << turn >> 4) & 15))
        for turn in range(4)
    ]
)


@exact_inline
def draw_bits(state: Any) -> Any:
    """The next 64 random bits; `state` is an array of one word."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    return mix_bits(state[0])


@exact_inline
def draw_below(state, limit):
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
    longest = np.diff(start).max()
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


@exact_inline
def any_scene_answers(answer, alike, first, count, begin, end, steps, values, register, all_sets, all_codes, value_of):
    """Whether a filled template has this answer, or where not `alike` another or none, on any of some scenes."""
    for w in range(first, first + count):
        out, fine = ZERO, True
        for k in range(begin, end):
            fine, out = run_step(k, steps, values, register, False, all_sets[w], all_codes[w], value_of)
            if not fine:
                break
            register[k - begin] = out
        if (fine and out == answer) == alike:
            return True
    return False


@exact_inline
def is_defined(w, begin, end, steps, values, register, all_sets, all_codes, knows, value_of):
    """Whether a filled template has an answer on a scene, which must know its relations."""
    for k in range(begin, end):
        if steps[k, RELATION] >= 0 and not knows[w, values[steps[k, RELATION]]]:
            return False
        fine, out = run_step(k, steps, values, register, False, all_sets[w], all_codes[w], value_of)
        if not fine:
            return False
        register[k - begin] = out
    return True


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
def is_named(k, column, value, begin, steps, values, told, first, size):
    """Whether the words of an action name what a step gives: its value in `column`, or any for −1, or all its words.

    A thing found over a relation is named where that is the relation of the action, to a thing that is named if there
    may be several; and where it is called by `SURE` words or more that are said of what the action is about, or by
    all but the value. All things of a description have the value that the action gave them.
    """
    columns = steps.shape[1] - SLOTS
    relation = -1 if steps[k, RELATION] < 0 else values[steps[k, RELATION]]
    base = begin + steps[k, FIRST]
    if steps[k, OP] != DESCRIBE or (relation < 0 and steps[base, OP] != SCENE):
        return False
    known = relation < 0 or relation >= STACKED
    if not known and steps[base, OP] == DESCRIBE and steps[base, RELATION] < 0:
        for r in range(first, first + size):
            known = known or (told[r, columns] & TOLD_NAMED != 0 and is_alike(told[r], base, steps, values))
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
    if op == QUERY and is_named(left, column, out, begin, steps, values, told, first, size):
        return True
    if op == EXIST and out == 1:
        if is_named(left, -1, -1, begin, steps, values, told, first, size):
            return True
        if passes_one(begin, left, steps, values, told, first, size):
            return True
        if has_told_twin(begin, end, steps, values, told, first, size):
            return True
    for k in range(begin, end):
        if steps[k, OP] == EXCLUDE:
            for c in range(columns):
                if steps[k, SLOTS + c] >= 0 and is_given(begin + steps[k, FIRST], c, steps, values, told, first, size):
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
                if c == column or (steps[k, OP] == DESCRIBE and slot >= 0 and values[slot] >= 0):
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


@exact_inline
def list_fitting_words(words, fits, among, related, open_to, all_objects, sets):
    """Which choices of these words, each as bits, tell one thing in `among`, some things or none, 16 bits each.

    The last bit is set. One thing is told only where nothing in `open_to` fits as well; where things are `related`,
    the words by themselves fit more.
    """
    fits[0] = all_objects
    for c in range(len(words)):
        for choice in range(1 << c):
            fits[choice + (1 << c)] = fits[choice] & sets[words[c]]
    listed = ONE << np.uint64(63)
    for choice in range(1 << len(words)):
        found = among & fits[choice]
        if related and found == fits[choice]:
            continue
        bit = ONE << np.uint64(choice)
        if found == ZERO:
            listed |= bit << np.uint64(32)
            continue
        listed |= bit << np.uint64(16)
        if is_single(found) and open_to & fits[choice] == ZERO:
            listed |= bit
    return listed


@exact_inline
def draw_outcome_description(
    k, steps, choices, chosen, fits, place, memo, among, open_to, sets, codes, looks, first, size, row, offers,
    all_objects, state, known_before, among_before, sets_before,
):  # fmt: skip
    """As `draw_description`, but three times of four of what an action touched, as it was or as it would be.

    Of the `choices` of words that the step allows and that will do, the one nearest to a random one is taken; those
    that do are kept in `memo` by `place`, if that is not −1, and by thing, the looks from `row` on. Where one thing is
    meant and `known_before`, the words are of one thing in `among_before` as well.
    """
    dice = draw_bits(state)
    columns = steps.shape[1] - SLOTS
    empty = np.int64(dice & np.uint64(7)) < steps[k, EMPTY]
    changed = np.int64(-1)
    touched = size > 0 and dice & np.uint64(48) != ZERO
    if touched:
        thing = draw_below(state, size)
        row += thing
        for c in range(columns):
            chosen[c] = looks[first + thing, c]
    else:
        source = all_objects & ~among if empty else among
        if empty and steps[k, RELATION] < 0 and (source == ZERO or dice & np.uint64(8) != ZERO):
            source = all_objects
            changed = draw_below(state, columns)
        if source == ZERO:
            return False
        row = pick_member(state, source)
        for c in range(columns):
            chosen[c] = codes[row, c]
    if changed >= 0:
        chosen[changed] = offers[changed, 1 + draw_below(state, offers[changed, 0])]
    listed = memo[place, row] if place >= 0 and changed < 0 else ZERO
    if listed == ZERO:
        listed = list_fitting_words(chosen, fits, among, steps[k, RELATION] >= 0, open_to, all_objects, sets)
        if place >= 0 and changed < 0:
            memo[place, row] = listed
    single = steps[k, SINGLE] == 1
    wished, turn = dice >> np.uint64(16) & choices[k] >> np.uint64(48), np.int64(dice >> np.uint64(32) & np.uint64(3))
    listed = choices[k] & (listed if single else listed >> np.uint64(32 if empty else 16))
    if empty:  # the nearest that nothing fits would say much and ask little
        listed &= ONE << wished
    if listed & np.uint64(0xFFFF) == ZERO:
        return False
    for flip in NEARBY[turn]:
        choice = np.int64(wished) ^ flip
        if listed >> np.uint64(choice) & ONE == ZERO:
            continue
        if single and known_before:
            one = among_before
            for c in range(columns):
                if choice >> c & 1 != 0:
                    one &= sets_before[chosen[c]]
            if not is_single(one):
                continue
        for c in range(columns):
            if choice >> c & 1 == 0:
                chosen[c] = EMPTY_SLOT
        return True
    return False


@exact_inline
def fill_outcome_template(
    begin, end, steps, said, rules, rule_start, opposite, can_have, choices, values, chosen, fits, memo, register,
    sets, codes, known, looks, first, mine, others, offers, covers, value_of, state, unsure, before, again, scenes,
    many,
):  # fmt: skip
    """As `fill_template`, with descriptions in turn of what one action touched and another, or of anything.

    Relations are drawn from the `known` ones. None is of one thing by a relation that a free place decides: `unsure`
    are, for each relation to each object, those for which it does. There is an answer in the scene `before`, if not −1.
    """
    terms = len(value_of)
    all_objects = sets[terms + ALL_OBJECTS]
    size = np.int64(count_bits(all_objects))
    second = draw_below(state, 2)
    plain = 0  # relations in which there may be several things to one
    for relation in known:
        plain += relation < many
    sets_before = scenes[0][max(before, 0)]
    for k in range(begin, end):
        op = steps[k, OP]
        slot = steps[k, RELATION]
        if op == DESCRIBE:
            a, among_before = register[steps[k, FIRST]], again[steps[k, FIRST]]
            among, open_to, relation, found = a, ZERO, np.int64(-1), False
            place = np.int64(0 if steps[begin + steps[k, FIRST], OP] == SCENE else -1)
            ways = len(known) if steps[k, SINGLE] == 1 else plain
            turn, touched = draw_below(state, ways), others if second else mine
            for _ in range(FEW_TRIES):
                if slot >= 0:
                    turn = turn + 1 if turn + 1 < ways else 0
                    relation = known[turn]
                    among = select_related(a, relation, sets, terms)
                    if among == ZERO and steps[k, EMPTY] == 0:
                        continue
                    if before >= 0:
                        if not scenes[2][before, relation]:
                            continue
                        among_before = select_related(again[steps[k, FIRST]], relation, sets_before, terms)
                    thing = np.int64(find_lowest_bit(a))
                    open_to = unsure[WORD * relation + thing]
                    place = 1 + size * relation + thing
                found = draw_outcome_description(
                    k, steps, choices, chosen, fits, place, memo, among, open_to, sets, codes, looks,
                    first + mine * second, touched, size + mine * second, offers, all_objects, state, before >= 0,
                    among_before, sets_before,
                )  # fmt: skip
                if found:
                    break
            if not found:
                return False
            second = 1 - second
            if slot >= 0:
                values[slot] = relation
            for c in range(steps.shape[1] - SLOTS):
                if steps[k, SLOTS + c] >= 0:
                    values[steps[k, SLOTS + c]] = chosen[c]
        elif op == RELATE:
            turn = draw_below(state, plain)
            for i in range(begin, k):  # two places are told by two relations
                if steps[i, OP] == RELATE and values[steps[i, RELATION]] == known[turn]:
                    turn = turn + 1 if turn + 1 < plain else 0
            values[slot] = known[turn]
            if before >= 0 and not scenes[2][before, values[slot]]:
                return False
        if is_trivial_step(k, begin, steps, values, many) or not complete_step(
            k, begin, steps, said, rules, rule_start, opposite, can_have, values, register, sets, codes, covers,
            value_of, state,
        ):  # fmt: skip
            return False
        if before >= 0:
            fine, out = run_step(k, steps, values, again, False, sets_before, scenes[1][before], value_of)
            if not fine:
                return False
            again[k - begin] = out
    return True


@exact_inline
def find_emptiest_slot(taken, room):
    """Of the slots that have room, the first that was filled least often; −1 for none."""
    best = -1
    for slot in range(len(room)):
        if room[slot] > 0 and (best < 0 or taken[slot] < taken[best]):
            best = slot
    return best


@exact
def search_outcome_questions(limits: Any, seeds: Any, plan: Any, scenes: Any, words: Any, jobs: Any, looks: Any,
                 told: Any, choices: Any, slot_of: Any, number_of: Any, most_said: Any, wanted: Any, counts: Any,
                 uses: Any, taken: Any, found: Any, refused: Any) -> Any:  # fmt: skip
    """Questions about what each job's action leads to; how many were found.

    A job is a row of `hypothetical.generator.OutcomeJob`; `told` are what the words of actions tell. The answer must
    be the same in its scene and where a free place was taken elsewhere, and another in the scenes that lack an action.
    Up to `per_job` questions are found, up to `per_slot` for a slot (`slot_of` a template), the slot that is
    furthest behind first; with `strict` a job ends at the first slot that cannot be filled. `number_of` is
    what an answer's code counts as, `wanted` how many of each of these are still wanted. `counts`, `uses`
    and `taken` are the balance so far: of answers, of a template's turns, in vain or not, and of slots.
    `found` also tells how many valid questions were refused before each, and which have an answer in the first scene
    that lacks an action: where `defined` is 1 every other one, if any does, where it is 2 all. Of the relations, the
    first `many` are such that several things are in them. A template fills at most as many slots as its row of
    `most_said` says first, of those that the rest of the row counts; `choices` are the words that a step may say
    together, a bit for each choice as bits, and after 48 bits those it may say at all.
    """
    per_job, slots = limits[0], limits[2]
    steps, start, initial = plan[0], plan[2], plan[5]
    templates = len(start) - 1
    longest = 0
    relates = np.zeros(templates, np.bool_)
    for t in range(templates):
        longest = max(longest, start[t + 1] - start[t])
        for k in range(start[t], start[t + 1]):
            relates[t] = relates[t] or steps[k, RELATION] >= 0
    scratch = (
        np.zeros(longest, np.uint64), np.zeros(longest, np.uint64), np.zeros(longest, np.int64),
        np.zeros(steps.shape[1] - SLOTS, np.int64), np.zeros(counts.shape[1], np.int64),
        np.zeros(initial.shape[1], np.int64), np.zeros(templates, np.int64), np.zeros(per_job, np.uint64),
        np.zeros((3, slots), np.int64), refused.copy(), np.zeros(1, np.uint64),
        np.zeros(scenes[2].shape[1] * WORD, np.uint64), np.zeros(scenes[2].shape[1], np.int64),
        np.zeros(NEARBY.shape[1], np.uint64),
        np.zeros((1 + scenes[1].shape[1] * scenes[2].shape[1], scenes[1].shape[1] + len(looks)), np.uint64),
    )  # fmt: skip
    total = np.int64(0)  # a bare 0 has a type of its own: what it is passed to would be compiled for both
    for j in range(len(jobs)):
        total = search_outcome_job(
            j, total, limits, seeds, plan, scenes, words, jobs, looks, told, choices, slot_of, number_of, most_said,
            relates, wanted, counts, uses, taken, found, refused, scratch,
        )  # fmt: skip
    return total


@exact_inline
def search_outcome_job(
    j, total, limits, seeds, plan, scenes, words, jobs, looks, told, choices, slot_of, number_of, most_said, relates,
    wanted, counts, uses, taken, found, refused, scratch,
):  # fmt: skip
    """Questions about one job, after `total` that there are; how many there are then."""
    per_job, per_slot, slots, rounds, attempts, patience, persistence, most_counted, strict, many, defined = limits
    steps, said, start, rules, rule_start, initial, answers, opposite, can_have = plan
    all_sets, all_codes, knows = scenes
    offers, covers, value_of = words
    job_out, template_out, answer_out, values_out, wording_out, refused_out, defined_out = found
    register, again, place, chosen, ordered, values, order, known, of_slots, reported, state = scratch[:11]
    unsure, numbers, fits, memo = scratch[11:]
    room, turns, idle = of_slots
    templates = len(start) - 1
    s, places, without, lacking, placed, by_place, look, mine, others, tells, tell = jobs[j]
    sets, codes = all_sets[s], all_codes[s]
    state[0] = seeds[j]
    size = 0
    for relation in range(len(numbers)):
        numbers[size] = relation
        size += knows[s, relation]
    relations = numbers[:size]
    rows = len(value_of) + EXTRA + ROWS
    for i in range(len(unsure)):
        unsure[i] = ZERO
        for w in range(s + 1, s + 1 + places):
            unsure[i] |= all_sets[w, rows + i] ^ sets[rows + i]
    things = np.int64(count_bits(sets[len(value_of) + ALL_OBJECTS]))
    for i in range(1 + things * len(numbers)):
        for row in range(things + mine + others):
            memo[i, row] = ZERO
    order_templates(order, uses, state)
    made = 0
    for slot in range(slots):
        room[slot], turns[slot], idle[slot] = per_slot, 0, 0
    while made < per_job:
        slot = find_emptiest_slot(taken, room)
        if slot < 0:
            break
        got = False
        preferred = defined == 1 and draw_bits(state) & ONE == ZERO
        while not got and turns[slot] < rounds * templates and idle[slot] <= persistence:
            turn = turns[slot]
            turns[slot] += 1
            t = order[turn % templates]
            if slot_of[t] != slot or (by_place == 1 and not relates[t]):
                continue
            open_answers = 0
            for number in range(number_of[t] + answers[t, 0], number_of[t] + answers[t, 0] + answers[t, 1]):
                open_answers += number < len(wanted) and wanted[number] > 0
            if open_answers == 0:
                continue
            uses[t] += 1
            more = 1 + 3 * (turn // templates)
            before = idle[slot]
            must_be_known = defined == 2 or (preferred and 6 * turn < (3 if strict else 4) * templates)
            scene_before = without if must_be_known else -1
            for _ in range(more * attempts):
                if idle[slot] - before > more * patience:
                    break
                for i in range(len(values)):
                    values[i] = initial[t, i]
                if not fill_outcome_template(
                    start[t], start[t + 1], steps, said, rules, rule_start, opposite, can_have,
                    choices, values, chosen, fits, memo, register, sets, codes, relations, looks, look, mine, others,
                    offers, covers, value_of, state, unsure, scene_before, again, scenes, many,
                ):  # fmt: skip
                    continue
                last = start[t + 1] - 1
                out = register[last - start[t]]
                code = np.int64(out)
                if steps[last, OP] == COUNT and code > most_counted:
                    continue
                said_words = 0
                for i in range(len(values)):
                    said_words += values[i] >= 0 and most_said[t, 1 + i]
                if said_words > most_said[t, 0] or compares_nothing(start[t], start[t + 1], steps, register):
                    continue
                number = number_of[t] + code
                if wanted[number] <= 0:
                    idle[slot] += 1
                    continue
                answer = code - answers[t, 0]
                if any_scene_answers(
                    out, True, without, lacking, start[t], start[t + 1], steps, values, again, all_sets, all_codes,
                    value_of,
                ):  # fmt: skip
                    refused[UNCHANGED] += 1
                    idle[slot] += 1
                    continue
                if is_told(start[t], start[t + 1], steps, values, register, offers, told, tells, tell):
                    idle[slot] += 1
                    continue
                if is_degenerate(start[t], start[t + 1], steps, values, register, again, sets, codes, value_of):
                    continue
                # From the second round on, also answers that already lead.
                if turn < templates and is_overrepresented(t, answer, answers[t, 1], counts, ordered):
                    continue
                known[made] = compute_fingerprint(start[t], start[t + 1], steps, values, place)
                twice = False
                for q in range(made):
                    twice = twice or known[q] == known[made]
                if twice:
                    continue
                if any_scene_answers(
                    out, False, s + 1, places, start[t], start[t + 1], steps, values, again, all_sets, all_codes,
                    value_of,
                ):  # fmt: skip
                    refused[ELSEWHERE] += 1
                    idle[slot] += 1
                    continue
                if any_scene_answers(
                    out, True, without + lacking, placed, start[t], start[t + 1], steps, values, again, all_sets,
                    all_codes, value_of,
                ):  # fmt: skip
                    refused[UNCHANGED] += 1
                    idle[slot] += 1
                    continue
                counts[t, min(answer, counts.shape[1] - 1)] += 1
                wanted[number] -= 1
                job_out[total] = j
                template_out[total] = t
                answer_out[total] = code
                for i in range(len(values)):
                    values_out[total, i] = values[i]
                wording_out[total] = draw_bits(state)
                for i in range(2):
                    refused_out[total, i] = refused[i] - reported[i]
                    reported[i] = refused[i]
                defined_out[total] = must_be_known or is_defined(
                    without, start[t], start[t + 1], steps, values, again, all_sets, all_codes, knows, value_of
                )
                made += 1
                total += 1
                got = True
                break
        if got:
            room[slot] -= 1
            taken[slot] += 1
        else:
            room[slot] = 0
            if strict:
                break
    return total
