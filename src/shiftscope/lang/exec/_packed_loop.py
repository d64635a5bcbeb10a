"""The compiled loop of packed execution. A register is a uint64: a mask, a number, a truth or a code."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...compiled import exact
from ..program import MAX_NODES
from .packed import OPCODES

SCENE, FILTER, EXCLUDE, UNIQUE = (OPCODES[n] for n in ("scene", "filter", "exclude", "unique"))
RELATE, RELATED, RELATED_OBJECT = (OPCODES[n] for n in ("relate", "related", "related_object"))
SAME, INTERSECT, UNION, QUERY = (OPCODES[n] for n in ("same", "intersect", "union", "query"))
EQUAL, VERIFY, CHOOSE, NUMBER = (OPCODES[n] for n in ("equal", "verify", "choose", "number"))
COUNT, EXIST, LESS, GREATER = (OPCODES[n] for n in ("count", "exist", "less", "greater"))
AT_LEAST, AT_MOST, AND, OR, NOT = (OPCODES[n] for n in ("at_least", "at_most", "and", "or", "not"))
PARTS, OWNERS = OPCODES["parts"], OPCODES["owners"]
FILTER_PART, EXCLUDE_PART, SAME_PART = (OPCODES[f"{n}_part"] for n in ("filter", "exclude", "same"))
QUERY_PART, VERIFY_PART, CHOOSE_PART = (OPCODES[f"{n}_part"] for n in ("query", "verify", "choose"))

ONE = np.uint64(1)
ZERO = np.uint64(0)


@exact
def count_bits(mask: Any) -> Any:
    """Bits set; LLVM turns the classic sum into one instruction where there is one."""
    x = mask - ((mask >> np.uint64(1)) & np.uint64(0x5555555555555555))
    x = (x & np.uint64(0x3333333333333333)) + ((x >> np.uint64(2)) & np.uint64(0x3333333333333333))
    x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (x * np.uint64(0x0101010101010101)) >> np.uint64(56)


@exact
def lowest(mask: Any) -> Any:
    """Number of the lowest bit set; 64 for none."""
    return count_bits((mask & (~mask + ONE)) - ONE)


@exact
def loop(programs: Any, objects: Any, parts: Any, results: Any) -> None:
    """Run every program; see `packed.run` for what the tuples hold."""
    # Unsigned numbers throughout: a signed index would be tested for being negative at each use.
    words, start, scenes, order = programs
    first, codes, masks, everything, rows, knows = objects
    part_first, part_codes, part_masks, owner, parts_of = parts
    value, reason, node = results
    register = np.zeros(MAX_NODES, np.uint64)
    for k in range(len(order)):
        s = scenes[k]
        base = np.uint64(first[s])
        part_base = np.uint64(part_first[s])
        begin = start[k]
        length = start[k + 1] - begin
        trouble = 0
        i = ZERO
        out = ZERO
        while i < length:
            word = words[begin + i]
            op = word & np.uint64(0xFF)
            a = register[(word >> np.uint64(8)) & np.uint64(0xFFF)]
            argument = (word >> np.uint64(32)) & np.uint64(0xFFFF)
            out = ZERO
            if op == FILTER:
                out = a & masks[s, argument]
            elif op == SCENE:
                out = everything[s]
            elif op == UNIQUE:
                if a == ZERO:
                    trouble = 1
                elif a & (a - ONE) != ZERO:
                    trouble = 2
                out = a
            elif op == RELATE:
                if not knows[s, argument]:
                    trouble = 4
                elif a != ZERO:
                    out = rows[base + lowest(a), argument]
            elif op == COUNT:
                out = count_bits(a)
            elif op == EXIST:
                out = np.uint64(a != ZERO)
            elif op == QUERY:
                code = codes[base + lowest(a), argument]
                if code < 0:
                    trouble = 3
                else:
                    out = np.uint64(code)
            elif op == SAME:
                code = codes[base + lowest(a), argument]
                if code >= 0:
                    out = masks[s, code] & ~a
            elif op == PARTS:
                left = a
                while left != ZERO:
                    out |= parts_of[base + lowest(left)]
                    left &= left - ONE
            elif op == OWNERS:
                left = a
                while left != ZERO:
                    out |= ONE << np.uint64(owner[part_base + lowest(left)])
                    left &= left - ONE
            elif op == FILTER_PART:
                out = a & part_masks[s, argument]
            elif op == QUERY_PART:
                code = part_codes[part_base + lowest(a), argument]
                if code < 0:
                    trouble = 3
                else:
                    out = np.uint64(code)
            elif op == NOT:
                out = np.uint64(a == ZERO)
            elif op == NUMBER:
                out = np.uint64(argument)
            elif op == EXCLUDE:
                out = a & ~masks[s, argument]
            elif op == VERIFY:
                out = np.uint64(a & masks[s, argument] != ZERO)
            elif op == EXCLUDE_PART:
                out = a & ~part_masks[s, argument]
            elif op == VERIFY_PART:
                out = np.uint64(a & part_masks[s, argument] != ZERO)
            elif op == SAME_PART:
                code = part_codes[part_base + lowest(a), argument]
                if code >= 0:
                    out = part_masks[s, code] & ~a
            elif op == RELATED:
                left = a
                while left != ZERO:
                    out |= rows[base + lowest(left), argument]
                    left &= left - ONE
            elif op == RELATED_OBJECT:
                for j in range(first[s + ONE] - first[s]):
                    if rows[first[s] + j, argument] & a != ZERO:
                        out |= ONE << np.uint64(j)
            elif op in (CHOOSE, CHOOSE_PART):
                other = word >> np.uint64(48)
                this = a & (masks[s, argument] if op == CHOOSE else part_masks[s, argument]) != ZERO
                that = a & (masks[s, other] if op == CHOOSE else part_masks[s, other]) != ZERO
                if this == that:
                    trouble = 5 if this else 6
                out = argument if this else other
            else:
                b = register[(word >> np.uint64(20)) & np.uint64(0xFFF)]
                if op in (INTERSECT, AND):
                    out = a & b
                elif op in (UNION, OR):
                    out = a | b
                elif op == EQUAL:
                    out = np.uint64(a == b)
                elif op == LESS:
                    out = np.uint64(a < b)
                elif op == GREATER:
                    out = np.uint64(a > b)
                elif op == AT_LEAST:
                    out = np.uint64(a >= b)
                elif op == AT_MOST:
                    out = np.uint64(a <= b)
            if trouble != 0:
                break
            register[i] = out
            i += ONE
        program = order[k]
        if trouble != 0:
            reason[program] = trouble
            node[program] = i
        else:
            value[program] = np.int64(out)
