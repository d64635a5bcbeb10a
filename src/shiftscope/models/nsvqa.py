"""NSVQA: the likeliest scene is taken for the scene, and the program is run on it exactly."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ..lang.beliefs import Beliefs
from ..lang.exec.exact import Undefined
from ..lang.exec.likeliest import likeliest
from ..lang.exec.packed import Answers, Programs, execute_many
from ..lang.program import Program
from ..scenetable import SceneTable
from ._model import Reply, Setting
from ._neuro_symbolic import NeuroSymbolic, load


def execute(programs: Sequence[Program], beliefs: Beliefs, rows: Sequence[int]) -> list[Reply]:
    """Exact answers in the likeliest scenes; a question that such a scene does not fit has none."""
    return execute_known(programs, likeliest(beliefs), rows)


def answers(programs: Programs, beliefs: Beliefs, rows: Iterable[int]) -> Answers:
    """The same, raw, for who asks many."""
    return execute_many(programs, likeliest(beliefs), rows)


def execute_known(programs: Sequence[Program], table: SceneTable, rows: Sequence[int]) -> list[Reply]:
    found = execute_many(programs, table, rows)
    return [_reply(found[i]) for i in range(len(found))]


def _reply(answer: Any) -> Reply:
    if isinstance(answer, Undefined):
        return Reply(status="undefined", reason=answer.reason)
    return Reply(answer=answer)


def build(target: str, setting: Setting) -> NeuroSymbolic:
    return NeuroSymbolic(load("nsvqa", target, setting), execute, execute_known)
