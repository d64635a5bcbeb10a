"""Compiled kernels of possible-worlds inference: most likely worlds, sampled worlds, weighted answers.

A program sees only part of a scene, so its worlds differ only in what it mentions: the attributes it filters
by, down to whether a term holds, those it reads, parts and sides only if it uses them. Each object and each
part is one variable (absent, or a combination of values), each pair of objects one on each axis. All are
independent, so the K most likely worlds come exactly by merging one variable after the other.
"""

from typing import Any

import numpy as np

from ...kernels import exact, mix_bits
from . import packed as code

PART_TERM_OPS = (code.FILTER_PART, code.EXCLUDE_PART, code.VERIFY_PART, code.CHOOSE_PART)
MAX_LOG_RATIO = 25.0  # an option this much less likely than the best (by its logarithm) is no option
MIN_SHARE = 1e-11  # nor is a value less probable than this
MAX_OPTIONS = 64  # most options of one attribute of one thing
ABSENT = np.int16(-1)
ONE = np.uint64(1)
ZERO = np.uint64(0)


@exact
def fill_array(array: Any, value: Any) -> None:
    for i in range(len(array)):
        array[i] = value


@exact
def copy_array(source: Any, target: Any) -> None:
    for i in range(len(source)):
        target[i] = source[i]


@exact
def allocate_view(vocabulary: Any) -> Any:
    """What a program sees of the objects, or of the parts; an attribute is wanted 1: for its terms, 2: wholly."""
    attribute_of, contains, firsts, counts = vocabulary
    terms, attributes = contains.shape[0], len(firsts)
    named, wanted = np.zeros(terms, np.bool_), np.zeros(attributes, np.int64)
    class_of = np.zeros(terms, np.int64)  # for each value the first one that the program cannot tell it from
    kinds = np.zeros(attributes, np.int64), np.zeros((attributes, terms), np.int64)  # mentioned: how many, which
    return named, wanted, attribute_of, contains, firsts, counts, class_of, kinds


@exact
def collect_mentions(words: Any, view: Any, part_view: Any, axis_of: Any, axes: Any) -> Any:
    """Note what a program looks at in the views and the axes; whether it looks at parts."""
    fill_array(view[0], 0)
    fill_array(view[1], 0)
    fill_array(part_view[0], 0)
    fill_array(part_view[1], 0)
    fill_array(axes, 0)
    parts = False
    for word in words:
        op = np.int64(word & np.uint64(0xFF))
        one = np.int64((word >> np.uint64(32)) & np.uint64(0xFFFF))
        two = np.int64(word >> np.uint64(48))
        named, wanted, attribute_of = part_view[:3] if op >= code.FILTER_PART else view[:3]
        if op in (code.FILTER, code.EXCLUDE, code.VERIFY, code.CHOOSE) or op in PART_TERM_OPS:
            named[one] = True
            wanted[attribute_of[one]] = max(wanted[attribute_of[one]], 1)
            if op in (code.CHOOSE, code.CHOOSE_PART):
                named[two] = True
        elif op in (code.QUERY, code.SAME, code.QUERY_PART, code.SAME_PART):
            wanted[one] = 2
        elif op in (code.RELATE, code.RELATED, code.RELATED_OBJECT):
            axes[axis_of[one]] = True
        elif op in (code.PARTS, code.OWNERS):
            parts = True
    return parts


@exact
def partition_values(view: Any) -> None:
    """For each value the first one that the program cannot tell it from; the kinds that it mentions."""
    named, wanted, _, contains, firsts, counts, class_of, kinds = view
    kind_count, kind_list = kinds
    fill_array(kind_count, 0)
    for a in range(len(firsts)):
        if wanted[a] == 0:
            continue
        first, last = firsts[a], firsts[a] + counts[a]
        end = firsts[a + 1] if a + 1 < len(firsts) else contains.shape[0]
        for t in range(last, end):
            if named[t]:
                kind_list[a, kind_count[a]] = t
                kind_count[a] += 1
        for v in range(first, last):
            class_of[v] = v
            if wanted[a] == 2 or named[v]:
                continue
            for u in range(first, v):
                if class_of[u] != u or named[u]:
                    continue
                same = True
                for i in range(kind_count[a]):
                    if contains[kind_list[a, i], u] != contains[kind_list[a, i], v]:
                        same = False
                        break
                if same:
                    class_of[v] = u
                    break


@exact
def group_values(p: Any, first: Any, count: Any, class_of: Any, top: Any, sums: Any, code: Any, chance: Any) -> Any:
    """Values that the program cannot tell apart, as one option each, the likeliest first; how many."""
    total = 0.0
    for v in range(first, first + count):
        sums[v] = 0.0
        top[v] = v
        if p[v] > 0:
            c = class_of[v]
            sums[c] += p[v]
            total += p[v]
            if p[v] > p[top[c]]:
                top[c] = v
    if total <= 0:  # no value of the attribute at all
        code[0] = ABSENT
        chance[0] = 1.0
        return 1
    found = 0
    least = total * MIN_SHARE
    for v in range(first, first + count):
        x = sums[v]
        if x < least:
            continue
        j = min(found, MAX_OPTIONS - 1) - 1
        if found == MAX_OPTIONS and chance[j + 1] >= x:
            continue
        while j >= 0 and chance[j] < x:
            code[j + 1], chance[j + 1] = code[j], chance[j]
            j -= 1
        code[j + 1], chance[j + 1] = top[v], x
        found = min(found + 1, MAX_OPTIONS)
    for o in range(found):
        chance[o] /= total
    return found


@exact
def merge_costs(costs: Any, n: Any, more: Any, m: Any, most: Any, heap: Any, out: Any) -> Any:
    """The `most` least sums of one of n sorted costs and one of m: (cost, which, which), sorted; how many."""
    heap_cost, heap_i, heap_j = heap
    out_cost, out_i, out_j = out
    size = 1
    heap_cost[0], heap_i[0], heap_j[0] = costs[0] + more[0], 0, 0
    made = 0
    while size > 0 and made < most:
        c, i, j = heap_cost[0], heap_i[0], heap_j[0]
        out_cost[made], out_i[made], out_j[made] = c, i, j
        made += 1
        size -= 1
        if size > 0:  # the last one sinks from the top
            lc, li, lj = heap_cost[size], heap_i[size], heap_j[size]
            at = 0
            while True:
                child = 2 * at + 1
                if child >= size:
                    break
                if child + 1 < size and heap_cost[child + 1] < heap_cost[child]:
                    child += 1
                if heap_cost[child] >= lc:
                    break
                heap_cost[at], heap_i[at], heap_j[at] = heap_cost[child], heap_i[child], heap_j[child]
                at = child
            heap_cost[at], heap_i[at], heap_j[at] = lc, li, lj
        for step in range(2):
            ni, nj = i + step, j + 1 - step
            if ni >= n or nj >= m or (step == 1 and j != 0):
                continue
            x = costs[ni] + more[nj]
            at = size
            size += 1
            while at > 0 and heap_cost[(at - 1) // 2] > x:
                up = (at - 1) // 2
                heap_cost[at], heap_i[at], heap_j[at] = heap_cost[up], heap_i[up], heap_j[up]
                at = up
            heap_cost[at], heap_i[at], heap_j[at] = x, ni, nj
    return made


@exact
def draw_uniform(state: Any) -> Any:
    """The next number from 0 to 1 (splitmix64)."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    return np.float64(mix_bits(state[0]) >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@exact
def write_relation(rows: Any, base: Any, pair: Any, side: Any, axis: Any, sides: Any) -> None:
    """Write that of a pair of objects the second (1), the first (−1) or none (0) is beyond the other."""
    if side == 0:
        return
    low, high = (pair[0], pair[1]) if side > 0 else (pair[1], pair[0])
    if sides[axis, 0] >= 0:
        rows[base + low, sides[axis, 0]] |= ONE << np.uint64(high)
    if sides[axis, 1] >= 0:
        rows[base + high, sides[axis, 1]] |= ONE << np.uint64(low)


@exact
def enumerate_thing(t: Any, p: Any, e: Any, view: Any, options: Any, variables: Any, scratch: Any, most: Any) -> None:
    """Thing t as a variable: what it can be as far as the program can tell, or absent; likeliest first."""
    _, wanted, _, _, firsts, counts, class_of, _ = view
    option_code, option_chance, combos = options
    var_costs, var_count, var_log = variables
    costs, other, raw_code, top, sums, heap, out = scratch
    var_count[t] = 1
    var_log[t] = 0.0
    var_costs[t, 0] = 0.0
    combos[t, 0, 0] = -1
    if e <= 0:
        return
    size = 1
    costs[0] = 0.0
    fill_array(combos[t, 0], 0)
    best = 0.0
    for a in range(len(firsts)):
        if wanted[a] == 0:
            continue
        found = group_values(p, firsts[a], counts[a], class_of, top, sums, raw_code, option_chance[t, a])
        for o in range(found):
            option_code[t, a, o] = raw_code[o]
        best += np.log(option_chance[t, a, 0])
        found = min(found, most)
        for o in range(found):
            var_costs[t, o] = np.log(option_chance[t, a, 0] / option_chance[t, a, o])
        if found > 1:
            size = merge_costs(costs, size, var_costs[t], found, most, heap, out)
            for w in range(size):
                costs[w] = out[0][w]
                copy_array(combos[t, out[1][w]], other[w])
                other[w, a] = out[2][w]
            for w in range(size):
                copy_array(other[w], combos[t, w])
    present = np.log(e) + best
    if e >= 1.0:
        for w in range(size):
            var_costs[t, w] = costs[w]
        var_log[t] = best
        var_count[t] = size
    else:
        gone = np.log(1.0 - e)
        var_log[t] = max(present, gone)
        at = 0  # where absent belongs
        while at < size and present - costs[at] >= gone:
            at += 1
        for w in range(min(size, most - 1), at, -1):
            copy_array(combos[t, w - 1], combos[t, w])
            var_costs[t, w] = var_log[t] - (present - costs[w - 1])
        for w in range(min(at, most)):
            var_costs[t, w] = var_log[t] - (present - costs[w])
        if at < most:
            combos[t, at, 0] = -1
            var_costs[t, at] = var_log[t] - gone
        var_count[t] = min(size + 1, most)
    while var_count[t] > 1 and var_costs[t, var_count[t] - 1] > MAX_LOG_RATIO:
        var_count[t] -= 1


@exact
def enumerate_pair(v: Any, up: Any, down: Any, side_of: Any, variables: Any) -> None:
    """A pair of objects as variable v: the second beyond the first, the first beyond it, or neither."""
    var_costs, var_count, var_log = variables
    between = max(1.0 - up - down, 0.0)
    size = 0
    for _ in range(3):  # the likeliest of those left
        if up >= down and up >= between:
            side, x = 1, up
            up = -1.0
        elif down >= between:
            side, x = -1, down
            down = -1.0
        else:
            side, x = 0, between
            between = -1.0
        if x <= 0:
            break
        if size == 0:
            var_log[v] = np.log(x)
        if var_log[v] - np.log(x) > MAX_LOG_RATIO:
            break
        side_of[size] = side
        var_costs[v, size] = var_log[v] - np.log(x)
        size += 1
    var_count[v] = size


@exact
def rank_worlds(open_ones: Any, open_count: Any, variables: Any, paths: Any, scratch: Any, most: Any) -> Any:
    """The likeliest outcomes of all open variables: costs, and the way back to each choice; how many."""
    var_costs, var_count, _ = variables
    parent, choice = paths
    costs, heap, out = scratch[0], scratch[5], scratch[6]
    size = 1
    costs[0] = 0.0
    for i in range(open_count):
        v = open_ones[i]
        if size == most and var_costs[v, 1] >= costs[most - 1]:
            for w in range(size):
                parent[v, w], choice[v, w] = w, 0
            continue
        size = merge_costs(costs, size, var_costs[v], min(var_count[v], most + 2), most, heap, out)
        for w in range(size):
            costs[w], parent[v, w], choice[v, w] = out[0][w], out[1][w], out[2][w]
    return size


@exact
def pick_world(w: Any, open_ones: Any, open_count: Any, paths: Any, picked: Any) -> None:
    """What each open variable is in the w-th likeliest world."""
    parent, choice = paths
    for i in range(open_count - 1, -1, -1):
        v = open_ones[i]
        picked[v] = choice[v, w]
        w = parent[v, w]


@exact
def sample_world(state: Any, open_ones: Any, open_count: Any, variables: Any, upto: Any, picked: Any) -> Any:
    """Draw what each open variable is; how much less likely that is than the likeliest."""
    var_costs, var_count, _ = variables
    cost = 0.0
    for i in range(open_count):
        v = open_ones[i]
        x = draw_uniform(state) * upto[v, var_count[v] - 1]
        o = 0
        while o < var_count[v] - 1 and x >= upto[v, o]:
            o += 1
        picked[v] = o
        cost += var_costs[v, o]
    return cost


@exact
def write_thing(row: Any, slot: Any, bit: Any, codes_of: Any, combo: Any, view: Any, target: Any) -> None:
    """Write one thing of a world: the codes of its values, and its bit in the masks of their terms."""
    _, wanted, _, contains, _, _, _, kinds = view
    kind_count, kind_list = kinds
    codes, masks = target
    for a in range(len(wanted)):
        if wanted[a] > 0:
            code = codes_of[a, combo[a]]
            codes[slot, a] = code
            if code >= 0:
                masks[row, code] |= bit
                for i in range(kind_count[a]):
                    if contains[kind_list[a, i], code]:
                        masks[row, kind_list[a, i]] |= bit


@exact
def build_worlds(programs: Any, posterior: Any, vocabulary: Any, most: Any, cover: Any, table: Any, made: Any) -> Any:
    """Build the worlds of every program into the rows of the table; see `possible` for what tuples hold."""
    words, start, scenes = programs
    exists, values, part_exists, owner, part_values, beyond = posterior
    axis_of, sign_of = vocabulary[2]
    codes, masks, everything, rows, part_codes, part_masks, owners, parts_of = table
    weight, first_world, mass = made
    n, m = exists.shape[1], part_exists.shape[1]
    view, part_view = allocate_view(vocabulary[0]), allocate_view(vocabulary[1])
    a_most = max(len(view[1]), len(part_view[1]), 1)
    axes = np.zeros(2, np.bool_)
    things = n + m
    pairs = n * (n - 1) // 2
    size_all = things + 2 * pairs
    option_code = np.zeros((things, a_most, MAX_OPTIONS), np.int16)
    combos = np.zeros((things, most, a_most), np.int8)  # which option of each attribute; first −1 is absent
    options = (option_code, np.zeros((things, a_most, MAX_OPTIONS)), combos)
    var_costs, var_count = np.zeros((size_all, most + 2)), np.zeros(size_all, np.int64)
    var_log = np.zeros(size_all)  # chance of the best option
    variables = (var_costs, var_count, var_log)
    most_terms = max(len(view[0]), len(part_view[0]))
    costs = np.zeros(most)
    scratch = (
        costs,
        np.zeros((most, a_most), np.int8),
        np.zeros(MAX_OPTIONS, np.int64),
        np.zeros(most_terms, np.int64),
        np.zeros(most_terms),
        (np.zeros(2 * most + 4), np.zeros(2 * most + 4, np.int64), np.zeros(2 * most + 4, np.int64)),
        (np.zeros(most), np.zeros(most, np.int64), np.zeros(most, np.int64)),
    )
    paths = (np.zeros((size_all, most), np.int64), np.zeros((size_all, most), np.int64))
    upto = np.zeros((size_all, most + 2))  # running sums of chances, to draw by
    picked, open_ones = np.zeros(size_all, np.int64), np.zeros(size_all, np.int64)
    pair_side, pair_of = np.zeros((2 * pairs, 3), np.int8), np.zeros((2 * pairs, 2), np.int64)
    settled = np.zeros((n, len(axis_of)), np.uint64)  # relations that are the same in all worlds
    sides = np.full((2, 2), -1)  # the relations of each axis: rising, falling
    for r in range(len(axis_of)):
        sides[axis_of[r], 0 if sign_of[r] > 0 else 1] = r
    for axis in range(2):
        q = axis * pairs
        for i in range(n):
            for j in range(i + 1, n):
                pair_of[q, 0], pair_of[q, 1] = i, j
                q += 1
    state = np.zeros(1, np.uint64)
    row = 0
    for k in range(len(scenes)):
        s = scenes[k]
        program = words[start[k] : start[k + 1]]
        first_world[k] = row
        looks_at_parts = collect_mentions(program, view, part_view, axis_of, axes)
        partition_values(view)
        for t in range(n):
            enumerate_thing(t, values[s, t], exists[s, t], view, options, variables, scratch, most)
        for t in range(n, things):
            var_count[t], var_log[t] = 1, 0.0
        if looks_at_parts:
            partition_values(part_view)
            for t in range(m):
                e = part_exists[s, t] if exists[s, owner[s, t]] > 0 else 0.0
                enumerate_thing(n + t, part_values[s, t], e, part_view, options, variables, scratch, most)
        for t in range(n):
            fill_array(settled[t], 0)
        for q in range(2 * pairs):
            axis, i, j, v = q // pairs, pair_of[q, 0], pair_of[q, 1], things + q
            var_count[v], var_log[v] = 1, 0.0
            if axes[axis] and exists[s, i] > 0 and exists[s, j] > 0:
                enumerate_pair(v, beyond[s, axis, i, j], beyond[s, axis, j, i], pair_side[q], variables)
                if var_count[v] == 1:
                    write_relation(settled, 0, pair_of[q], pair_side[q, 0], axis, sides)
        open_count = 0
        logs = 0.0
        for v in range(size_all):
            picked[v] = 0
            logs += var_log[v]
            if var_count[v] > 1:
                open_ones[open_count] = v
                open_count += 1
        size = rank_worlds(open_ones, open_count, variables, paths, scratch, most)
        covered = 0.0
        for w in range(size):
            weight[row + w] = np.exp(logs - costs[w])
            covered += weight[row + w]
        mass[k] = covered if size == most else 1.0  # what was left out as too unlikely is not counted
        samples = 0
        if covered < cover and size == most:
            samples = most
            state[0] = np.uint64(1469598103934665603)
            for word in program:  # the draws depend on the program alone, not on the other programs
                state[0] = (state[0] ^ word) * np.uint64(1099511628211)
            for i in range(open_count):
                v = open_ones[i]
                total = 0.0
                for o in range(var_count[v]):
                    total += np.exp(-var_costs[v, o])
                    upto[v, o] = total
        outside = 0
        for w in range(size + samples):
            if w < size:
                pick_world(w, open_ones, open_count, paths, picked)
            elif sample_world(state, open_ones, open_count, variables, upto, picked) <= costs[size - 1]:
                continue  # one of the likeliest, which are all there already
            else:
                outside += 1
            alive = ZERO
            base = row * n
            fill_array(masks[row], 0)
            for t in range(n):
                parts_of[base + t] = ZERO
                fill_array(codes[base + t], ABSENT)
                combo = combos[t, picked[t]]
                if combo[0] >= 0:
                    bit = ONE << np.uint64(t)
                    alive |= bit
                    write_thing(row, base + t, bit, option_code[t], combo, view, (codes, masks))
            everything[row] = alive
            if axes[0] or axes[1]:
                for t in range(n):
                    copy_array(settled[t], rows[base + t])
                for i in range(open_count):
                    q = open_ones[i] - things
                    if q >= 0:
                        write_relation(rows, base, pair_of[q], pair_side[q, picked[things + q]], q // pairs, sides)
                for t in range(n):
                    seen_from = alive if alive >> np.uint64(t) & ONE else ZERO
                    for r in range(len(axis_of)):
                        rows[base + t, r] &= seen_from
            if looks_at_parts:
                fill_array(part_masks[row], 0)
                for t in range(m):
                    slot, o = row * m + t, owner[s, t]
                    owners[slot] = o
                    fill_array(part_codes[slot], ABSENT)
                    combo = combos[n + t, picked[n + t]]
                    if combo[0] >= 0 and alive >> np.uint64(o) & ONE:
                        bit = ONE << np.uint64(t)
                        parts_of[base + o] |= bit
                        write_thing(row, slot, bit, option_code[n + t], combo, part_view, (part_codes, part_masks))
            row += 1
        for w in range(row - outside, row):
            weight[w] = max(1.0 - covered, 0.0) / outside
    first_world[len(scenes)] = row
    return row


@exact
def weigh_answers(first_world: Any, weight: Any, value: Any, reason: Any, results: Any) -> None:
    """The answer with the most weight among the worlds that the question fits, and its share."""
    answer, confidence, settled = results
    longest = 1
    for k in range(len(answer)):
        longest = max(longest, first_world[k + 1] - first_world[k])
    options = np.zeros(longest, np.int64)
    weights = np.zeros(longest, np.float64)
    for k in range(len(answer)):
        found = 0
        total = 0.0
        for w in range(first_world[k], first_world[k + 1]):
            if reason[w] != 0:
                continue
            total += weight[w]
            at = 0
            while at < found and options[at] != value[w]:
                at += 1
            if at == found:
                options[at], weights[at] = value[w], 0.0
                found += 1
            weights[at] += weight[w]
        settled[k] = total > 0
        if total > 0:
            best = 0
            for o in range(1, found):
                if weights[o] > weights[best]:
                    best = o
            answer[k], confidence[k] = options[best], weights[best] / total
