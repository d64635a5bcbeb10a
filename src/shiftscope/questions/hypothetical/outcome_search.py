"""The compiled search for questions about what an action leads to: as `clevr/search.py`, and held to more.

An answer must hold wherever a thing that was put somewhere may have come to stand, differ from what would be without
the action, and not be told by the action's words (`told_kernels.py`).
"""

from typing import Any

import numpy as np

from ...kernels import count_bits, exact, exact_inline, find_lowest_bit
from ...scene_table import WORD
from ..clevr.compiled_templates import EMPTY_SLOT
from ..clevr.packed_scenes import ALL_OBJECTS, EXTRA, ROWS
from ..clevr.search import (
    COUNT,
    DESCRIBE,
    EMPTY,
    FIRST,
    ONE,
    OP,
    RELATE,
    RELATION,
    SCENE,
    SINGLE,
    SLOTS,
    ZERO,
    complete_step,
    compute_fingerprint,
    draw_below,
    draw_bits,
    is_degenerate,
    is_overrepresented,
    is_single,
    order_templates,
    pick_member,
    run_step,
    select_related,
)  # fmt: skip
from .told_kernels import compares_nothing, is_told, is_trivial_step

# mypy: allow-untyped-defs, allow-untyped-calls

UNCHANGED, ELSEWHERE = range(2)  # why a question is refused
FEW_TRIES = 4  # descriptions drawn of what an action touched, before the attempt is given up
# Which of four words to add or drop, as bits, the fewest first; in four orders.
NEARBY = np.array(
    [
        sorted(range(16), key=lambda bits: (bits.bit_count(), (bits << turn | bits << turn >> 4) & 15))
        for turn in range(4)
    ]
)


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
    things = np.int64(count_bits(sets[len(value_of) + ALL_OBJECTS]))
    for relation in range(len(numbers)):
        for i in range(WORD * relation, WORD * relation + things):
            unsure[i] = ZERO
            for w in range(s + 1, s + 1 + places):
                unsure[i] |= all_sets[w, rows + i] ^ sets[rows + i]
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
