"""Which questions have the property of each named split; found once, and kept in a file beside the data.

Looking at the programs of 120,000 questions takes as long as some trainings, and a study is done in many pieces.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ... import __version__
from ...files import write_whole
from ...metrics.held_out_records import Bools, pack_bits, unpack_bits
from ...question import Question
from ...records import content_id
from ...shift import held_out
from ...shift.held_out import HeldOutIds
from ...shift.held_out.predicates import parse_expression
from ..split import ListedQuestions, mark_questions

SEED = 0  # of what is drawn from the questions


@dataclass(frozen=True, slots=True, eq=False)
class SplitMarks:
    """By split and role the questions with its property; a split that the data cannot have is not there."""

    ids: Mapping[str, Sequence[str]]  # role → of its questions
    marks: Mapping[str, Mapping[str, Bools]]  # split → role → [question]

    def find_ids(self, split: str) -> dict[str, HeldOutIds]:
        roles = self.marks.get(split, {})
        return {
            role: held_out.divide_ids(list(zip(self.ids[role], bits.tolist(), strict=True)))
            for role, bits in roles.items()
        }


def find_marks(
    splits: Sequence[str], roles: Mapping[str, Sequence[Question]], data: str, path: Path, tell: Callable[[int], None]
) -> SplitMarks:
    """The marks of these questions, whose dataset has that id: from the file, where it is of the same, else anew."""
    wanted = {name: held_out.COVR_SPLITS[name].hold_out for name in splits}
    ids = {role: [q.id for q in some] for role, some in roles.items()}
    rules = [held_out.find_draw_rule(name) for name in wanted]
    key = content_id([__version__, data, SEED, wanted, rules, {role: len(some) for role, some in ids.items()}])
    kept = _read_kept(path)
    if kept.get("of") != key:
        parsed = {name: parse_expression(text) for name, text in wanted.items()}
        found = mark_questions(parsed, ListedQuestions(roles), SEED, tell, strict=False)
        kept = {"of": key, "marks": {name: _pack_roles(ids, some) for name, some in found.items()}}
        write_whole(path, json.dumps(kept).encode())
    marks = {
        name: {role: unpack_bits(bits, len(ids[role])) for role, bits in some.items()}
        for name, some in kept["marks"].items()
    }
    return SplitMarks(ids, marks)


def _read_kept(path: Path) -> dict[str, Any]:
    """Nothing where there is no such file, or only a part of one: then all is found anew."""
    try:
        kept = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return kept if isinstance(kept, dict) else {}


def _pack_roles(ids: Mapping[str, Sequence[str]], found: Mapping[str, HeldOutIds]) -> dict[str, str]:
    held = {role: set(some.held) for role, some in found.items()}
    return {role: pack_bits(np.array([one in held[role] for one in ids[role]], np.bool_)) for role in found}
