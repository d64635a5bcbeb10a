"""The compiled search: questions that are valid on their scene, balanced over answers, none twice.

For each scene the templates are taken in ascending use. A template gets a bounded number of attempts; an
attempt fills the slots step by step and is dropped at the first step that makes no sense. Numba's cache
notices changes in a kernel's own file only, hence one long file; its order is: dice, one step with its slots
filled, filling the slots of a step, one attempt, the search. Arrays are passed on as they are, few and flat:
tuples of arrays would be reference-counted at every call.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..compiled import exact
from ..lang.exec._packed_loop import count_bits, lowest
from ..scenetable import WORD
from .layout import ALL_OBJECTS, ALL_PARTS, EXTRA, OWNER_OF, PARTS_OF, ROWS
from .lower import DIFFER, EMPTY_SLOT, FIELDS, OPEN_SLOT, OPS, WORDS_APART

SCENE, DESCRIBE, UNIQUE, RELATE = (OPS.index(n) for n in ("scene", "describe", "unique", "relate"))
UNION, INTERSECT, COUNT, EXIST = (OPS.index(n) for n in ("union", "intersect", "count", "exist"))
QUERY, SAME, EQUAL, LESS, GREATER = (OPS.index(n) for n in ("query", "same", "equal", "less", "greater"))
PARTS, OWNERS = (OPS.index(n) for n in ("parts", "owners"))
OP, FIRST, SECOND, COLUMN = (FIELDS.index(n) for n in ("op", "first", "second", "column"))
RELATION, SINGLE, ON_PARTS = (FIELDS.index(n) for n in ("relation", "single", "on_parts"))
NEEDS, EMPTY = (FIELDS.index(n) for n in ("needs", "empty"))
SLOTS = len(FIELDS)

ZERO, ONE = np.uint64(0), np.uint64(1)
TRIES = 10  # descriptions drawn for one step before the attempt is given up


@exact
def mix(z: Any) -> Any:
    """The bits of a word, well stirred (splitmix64)."""
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@exact
def roll(state: Any) -> Any:
    """The next 64 random bits; `state` is an array of one word."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    return mix(state[0])


@exact
def below(state: Any, limit: Any) -> Any:
    """A number from 0 to limit − 1."""
    return np.int64(((roll(state) >> np.uint64(32)) * np.uint64(limit)) >> np.uint64(32))


@exact
def pick(state: Any, among: Any) -> Any:
    """The number of a random member of a set that is not empty."""
    left = among
    for _ in range(below(state, np.int64(count_bits(among)))):
        left &= left - ONE
    return np.int64(lowest(left))


@exact
def alone(members: Any) -> Any:
    """Whether a set has exactly one member."""
    return members != ZERO and members & (members - ONE) == ZERO


@exact
def related(one: Any, relation: Any, sets: Any, terms: Any) -> Any:
    """The objects in that relation to the single one given."""
    return sets[terms + EXTRA + ROWS + WORD * relation + np.int64(lowest(one))]


@exact
def run_step(
    k: Any, steps: Any, values: Any, register: Any, anywhere: Any, sets: Any, codes: Any, value_of: Any
) -> Any:
    """(whether it is well-founded, its outcome); with `anywhere`, its relation holds of the whole scene."""
    terms = len(value_of)
    op = steps[k, OP]
    a = register[steps[k, FIRST]]
    out = ZERO
    if op in (DESCRIBE, RELATE):
        out = a
        if steps[k, RELATION] >= 0:
            if not alone(a):
                return False, ZERO
            out = (
                sets[terms + ALL_OBJECTS] if anywhere else related(a, values[steps[k, RELATION]], sets, terms)
            )
        for c in range(SLOTS, steps.shape[1]):
            slot = steps[k, c]
            if slot >= 0 and values[slot] >= 0:
                out &= sets[values[slot]]
        if steps[k, SINGLE] == 1:
            return alone(out), out
    elif op == SCENE:
        out = sets[terms + ALL_OBJECTS]
    elif op == UNIQUE:
        return alone(a), a
    elif op == COUNT:
        out = count_bits(a)
    elif op == EXIST:
        out = ONE if a != ZERO else ZERO
    elif op == QUERY:
        code = codes[WORD * steps[k, ON_PARTS] + np.int64(lowest(a)), steps[k, COLUMN]]
        if code < 0:
            return False, ZERO
        out = np.uint64(code)
    elif op == SAME:
        code = codes[np.int64(lowest(a)), steps[k, COLUMN]]
        if code >= 0:
            out = sets[code] & ~a
    elif op in (PARTS, OWNERS):
        base = terms + EXTRA + (PARTS_OF if op == PARTS else OWNER_OF)
        while a != ZERO:
            out |= sets[base + np.int64(lowest(a))]
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


@exact
def degenerate(
    begin: Any,
    end: Any,
    steps: Any,
    values: Any,
    register: Any,
    again: Any,
    sets: Any,
    codes: Any,
    value_of: Any,
) -> Any:
    """Whether some relation could be dropped, its set taken from the whole scene, with the same answer.

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
        if steps[dropped, RELATION] < 0:
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


@exact
def fingerprint(begin: Any, end: Any, steps: Any, values: Any, place: Any) -> Any:
    """A number for the program that the filled template stands for: equal programs have equal ones."""
    found = ZERO
    size = 0
    for k in range(begin, end):
        op = steps[k, OP]
        a, b = (0, 0) if op == SCENE else (place[steps[k, FIRST]], place[steps[k, SECOND]])
        if steps[k, RELATION] >= 0:
            found = mix(found ^ np.uint64(RELATE << 48 | a << 24 | values[steps[k, RELATION]]))
            size += 1
            a = size
        for c in range(SLOTS, steps.shape[1]):
            slot = steps[k, c]
            if slot >= 0 and values[slot] >= 0:
                found = mix(found ^ np.uint64(DESCRIBE << 48 | a << 24 | values[slot]))
                size += 1
                a = size
        if op == DESCRIBE and steps[k, SINGLE] == 1:
            op = UNIQUE
        if op not in (DESCRIBE, RELATE):
            found = mix(found ^ np.uint64(op << 48 | a << 24 | b << 12 | steps[k, COLUMN]))
            size += 1
            a = size
        place[k - begin] = a
    return found


@exact
def choose_relation(slot: Any, values: Any, knows: Any, s: Any, state: Any) -> Any:
    """A relation for the slot: the one it holds, or a random one that the scene knows; −1 for none."""
    if values[slot] >= 0:
        return values[slot]
    relation = below(state, knows.shape[1])
    return relation if knows[s, relation] else -1


@exact
def describe(
    k: Any, steps: Any, values: Any, chosen: Any, among: Any, everything: Any,
    sets: Any, codes: Any, wider: Any, span: Any, state: Any,
) -> Any:  # fmt: skip
    """Draw a description of `among` into `chosen`; whether it will do.

    A description is what some of the attributes of a random member are. One that nothing fits is what a
    thing outside is (the relation is all that rules it out), or has one word changed.
    """
    dice = roll(state)
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
            changed = below(state, columns)
    if source == ZERO:
        return False
    thing = WORD * steps[k, ON_PARTS] + pick(state, source)
    for c in range(columns):
        chosen[c] = EMPTY_SLOT
        slot = steps[k, SLOTS + c]
        if slot < 0 or values[slot] != OPEN_SLOT or dice >> np.uint64(16 + c) & ONE == ZERO:
            continue
        code = codes[thing, c]
        if c == changed:
            code = span[c, 0] + below(state, span[c, 1])
        elif code >= 0 and wider[code, 0] > 0:
            kind = below(state, wider[code, 0] + 1)
            code = code if kind == 0 else wider[code, kind]
        if code >= 0:
            chosen[c] = code
            fits &= sets[code]
            said += 1
    found = among & fits
    if said < steps[k, NEEDS] or empty != (found == ZERO):
        return False
    if steps[k, RELATION] >= 0 and found == fits:  # the relation rules nothing out
        return False
    return steps[k, SINGLE] == 0 or alone(found)


@exact
def fill(
    k: Any, steps: Any, values: Any, chosen: Any, a: Any, sets: Any, codes: Any,
    knows: Any, s: Any, wider: Any, span: Any, state: Any,
) -> Any:  # fmt: skip
    """Fill the open slots of a description; `a` is what it starts from. False where nothing was found."""
    terms = len(wider)
    among = a
    everything = sets[terms + (ALL_PARTS if steps[k, ON_PARTS] == 1 else ALL_OBJECTS)]
    slot = steps[k, RELATION]
    for _ in range(TRIES):
        relation = np.int64(-1)
        if slot >= 0:
            relation = choose_relation(slot, values, knows, s, state)
            if relation < 0:
                continue
            among = related(a, relation, sets, terms)
        if describe(k, steps, values, chosen, among, everything, sets, codes, wider, span, state):
            if slot >= 0:
                values[slot] = relation
            for c in range(steps.shape[1] - SLOTS):
                if steps[k, SLOTS + c] >= 0 and values[steps[k, SLOTS + c]] == OPEN_SLOT:
                    values[steps[k, SLOTS + c]] = chosen[c]
            return True
    return False


@exact
def contains(broad: Any, narrow: Any, said: Any, values: Any, covers: Any) -> Any:
    """Whether, by the words alone, all that the narrow step gives fits the words of the broad one."""
    for c in range(said.shape[1]):
        slot, other = said[broad, c], said[narrow, c]
        if slot >= 0 and values[slot] >= 0:
            if other < 0 or values[other] < 0:
                return False
            if not covers[values[slot], values[other]]:
                return False
    return True


@exact
def allowed(
    k: Any, begin: Any, said: Any, rules: Any, rule_start: Any, values: Any, register: Any, covers: Any
) -> Any:
    """Whether the rules hold that can be judged after step k."""
    for r in range(rule_start[k], rule_start[k + 1]):
        i, j = rules[r, 1], rules[r, 2]
        if rules[r, 0] == DIFFER:
            if register[i] == register[j]:
                return False
            continue
        inside = contains(begin + j, begin + i, said, values, covers)
        around = rules[r, 0] == WORDS_APART and contains(begin + i, begin + j, said, values, covers)
        if inside or around:
            return False
    return True


@exact
def attempt(
    begin: Any, end: Any, steps: Any, said: Any, rules: Any, rule_start: Any, values: Any, chosen: Any,
    register: Any, again: Any, sets: Any, codes: Any, knows: Any, s: Any, wider: Any, span: Any, covers: Any,
    value_of: Any, state: Any,
) -> Any:  # fmt: skip
    """Fill one template once; whether what came out is a valid question."""
    for k in range(begin, end):
        op = steps[k, OP]
        if op == DESCRIBE:
            a = register[steps[k, FIRST]]
            if not fill(k, steps, values, chosen, a, sets, codes, knows, s, wider, span, state):
                return False
        elif op == RELATE:
            relation = choose_relation(steps[k, RELATION], values, knows, s, state)
            if relation < 0:
                return False
            values[steps[k, RELATION]] = relation
        fine, out = run_step(k, steps, values, register, False, sets, codes, value_of)
        if not fine:
            return False
        register[k - begin] = out
        if not allowed(k, begin, said, rules, rule_start, values, register, covers):
            return False
    return not degenerate(begin, end, steps, values, register, again, sets, codes, value_of)


@exact
def too_many(t: Any, answer: Any, size: Any, counts: Any, ordered: Any) -> Any:
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


@exact
def in_turn(order: Any, uses: Any, state: Any) -> None:
    """Put the templates in ascending use, equally used ones in random order."""
    for i in range(len(order)):
        j = below(state, i + 1)
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
def search(limits: Any, seeds: Any, plan: Any, scenes: Any, words: Any, found: Any) -> Any:
    """Fill `found` scene by scene; the number of questions. The balance of answers starts empty."""
    per_image, attempts = limits
    steps, said, start, rules, rule_start, initial, answers = plan
    all_sets, all_codes, knows = scenes
    wider, span, covers, value_of = words
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
        in_turn(order, uses, state)
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
                    if not attempt(
                        start[t], start[t + 1], steps, said, rules, rule_start, values, chosen,
                        register, again, sets, codes, knows, s, wider, span, covers, value_of, state,
                    ):  # fmt: skip
                        continue
                    answer = np.int64(register[start[t + 1] - start[t] - 1]) - answers[t, 0]
                    if too_many(t, answer, answers[t, 1], counts, ordered):
                        continue
                    known[made] = fingerprint(start[t], start[t + 1], steps, values, place)
                    twice = False
                    for q in range(made):
                        twice = twice or known[q] == known[made]
                    if twice:
                        continue
                    counts[t, min(answer, most)] += 1
                    uses[t] += 1
                    scene_out[total] = s
                    template_out[total] = t
                    answer_out[total] = answer + answers[t, 0]
                    for i in range(len(values)):
                        values_out[total, i] = values[i]
                    wording_out[total] = roll(state)
                    made += 1
                    total += 1
                    break
    return total
