"""Programs as the CLEVR family of files lists them: function, inputs, value_inputs.

The generator writes `type` where the release writes `function`, and leaks `_output`; both are read, and
notes keep which it was, so that writing gives back what was read.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from ..program import Notes, ProgramError


class Entry(NamedTuple):
    """One listed node."""

    function: str
    inputs: tuple[int, ...]
    values: tuple[str, ...]
    notes: Notes = ()


RELEASED: Notes = ()  # a node with exactly function, inputs and value_inputs
_RELEASED_KEYS = {"function", "inputs", "value_inputs"}
_KEYS = {"function", "type", "inputs", "value_inputs", "side_inputs", "_output"}


def read_entry(raw: Any, at: int) -> Entry:
    """One node of a file, its shape checked."""
    try:
        notes = RELEASED if raw.keys() == _RELEASED_KEYS else _notes(raw, at)
        function = raw.get("function") or raw["type"]
        inputs = tuple(raw.get("inputs", ()))
        values = tuple(raw.get("value_inputs") or raw.get("side_inputs") or ())
    except (AttributeError, KeyError, TypeError):
        raise ProgramError(f"node {at} must have a function (or type), inputs and value_inputs") from None
    if not isinstance(raw.get("inputs", []), list):
        raise ProgramError(f"node {at} ({function}): its inputs must be a list of node numbers")
    if not isinstance(function, str) or not all(isinstance(v, str) for v in values):
        raise ProgramError(f"node {at}: its function and value_inputs must be text")
    if not all(type(i) is int for i in inputs):
        raise ProgramError(f"node {at} ({function}): its inputs must be node numbers")
    return Entry(function, inputs, values, notes)


def write_entry(entry: Entry) -> dict[str, Any]:
    """The node as the file had it; in the released form if it never was in a file."""
    notes = dict(entry.notes)
    made: dict[str, Any] = {}
    for key in notes.get("keys", "function inputs value_inputs").split():
        match key:
            case "function" | "type":
                made[key] = entry.function
            case "inputs":
                made[key] = list(entry.inputs)
            case "value_inputs" | "side_inputs":
                made[key] = list(entry.values)
            case "_output":
                made[key] = json.loads(notes["output"])
    return made


def _notes(raw: dict[str, Any], at: int) -> Notes:
    strange = sorted(raw.keys() - _KEYS)
    if strange:
        raise ProgramError(f"node {at} has an unknown field {strange[0]!r}")
    notes: Notes = (("keys", " ".join(raw)),)
    if "_output" in raw:
        notes += (("output", json.dumps(raw["_output"])),)
    return notes


def in_order(entries: list[Entry]) -> list[int]:
    """The listed nodes' numbers so that inputs come first; as listed whenever that already holds."""
    size = len(entries)
    for at, entry in enumerate(entries):
        for i in entry.inputs:
            if not 0 <= i < size:
                raise ProgramError(
                    f"node {at} ({entry.function}) reads node {i}; there are only {size} nodes"
                )
    if all(i < at for at, entry in enumerate(entries) for i in entry.inputs):
        return list(range(size))
    order: list[int] = []
    state = [0] * size  # 0 not seen, 1 under way, 2 done
    for start in (*range(size - 1), size - 1):
        stack = [start]
        while stack:
            at = stack[-1]
            if state[at] == 0:
                state[at] = 1
                for i in reversed(entries[at].inputs):
                    if state[i] == 1:
                        raise ProgramError(f"the program is cyclic at node {i} ({entries[i].function})")
                    if state[i] == 0:
                        stack.append(i)
            else:
                stack.pop()
                if state[at] == 1:
                    state[at] = 2
                    order.append(at)
    if order[-1] != size - 1:
        raise ProgramError(f"the last node ({entries[-1].function}) is read by another; which is the answer?")
    return order
