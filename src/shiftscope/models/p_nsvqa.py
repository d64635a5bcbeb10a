"""P-NSVQA: the program is run on all that the parser believes of the scene, by the paper's soft rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..answer import spell
from ..lang.beliefs import Beliefs
from ..lang.exec.soft import Step, execute_soft, traces
from ..lang.program import Program
from ..lang.text import call
from ._model import Reply, Setting
from ._neuro_symbolic import NeuroSymbolic, answered, load

LEAST = 0.05  # things that are in a set less surely are not told of
TOLD = 6  # things of a set, the surest


def execute(programs: Sequence[Program], beliefs: Beliefs, rows: Sequence[int]) -> list[Reply]:
    """Always an answer, and the product of the probabilities on the way to it as its belief."""
    found = execute_soft(programs, beliefs, rows)
    return [answered(found[i], float(found.belief[i])) for i in range(len(found))]


def execute_told(programs: Sequence[Program], beliefs: Beliefs, rows: Sequence[int]) -> list[Reply]:
    """The same, each with what its nodes came to, for a person to read."""
    made = zip(execute(programs, beliefs, rows), programs, traces(programs, beliefs, rows), strict=True)
    return [replace(reply, trace=told(program, steps)) for reply, program, steps in made]


def told(program: Program, steps: Sequence[Step]) -> str:
    """One line a node, the answer's first."""
    lines = [f"{call(n, [])}: {_in_words(step)}" for n, step in zip(program.nodes, steps, strict=True)]
    return "\n".join(reversed(lines))


def _in_words(step: Step) -> str:
    if step.belief is not None:
        value = f"#{step.value}" if step.members is not None else spell(step.value)
        return f"{value} ({step.belief:.2f})"
    surest = sorted(enumerate(step.members or ()), key=lambda pair: (-pair[1], pair[0]))
    named = [f"#{i} {sure:.2f}" for i, sure in surest if sure >= LEAST]
    rest = f" and {len(named) - TOLD} more" if len(named) > TOLD else ""
    return f"{', '.join(named[:TOLD])}{rest}" if named else "nothing"


def build(target: str, setting: Setting) -> NeuroSymbolic:
    return NeuroSymbolic(load("p_nsvqa", target, setting), execute_told)
