"""P-NSVQA: the program is run on the whole scene posterior, by the paper's soft rules."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from ..answer import spell
from ..lang.exec.soft import SoftTraceStep, execute_soft, trace_programs
from ..lang.program import Program
from ..lang.scene_posterior import ScenePosterior
from ..lang.text import format_call
from ..model import ModelOptions, ModelSetting, Response
from ..schema import Schema
from .nsvqa.neuro_symbolic import NeuroSymbolicModel, describe_weights, load_named_parsers, make_response, make_traits

TRAITS = make_traits("p_nsvqa")
LEAST_SHOWN = 0.05  # things that are in a set less surely are left out of a trace
MOST_SHOWN = 6  # things of a set, the surest


def execute(programs: Sequence[Program], posterior: ScenePosterior, rows: Sequence[int]) -> list[Response]:
    """Always an answer, and the product of the probabilities on the way to it as its confidence."""
    found = execute_soft(programs, posterior, rows)
    return [make_response(found[i], float(found.confidence[i])) for i in range(len(found))]


def execute_with_trace(programs: Sequence[Program], posterior: ScenePosterior, rows: Sequence[int]) -> list[Response]:
    """The same, each with what its nodes came to, for a person to read."""
    responses, traces = execute(programs, posterior, rows), trace_programs(programs, posterior, rows)
    steps = zip(responses, programs, traces, strict=True)
    return [replace(response, trace=format_trace(program, trace)) for response, program, trace in steps]


def format_trace(program: Program, steps: Sequence[SoftTraceStep]) -> str:
    """One line a node, the answer's first."""
    lines = [f"{format_call(n, [])}: {_describe_step(step)}" for n, step in zip(program.nodes, steps, strict=True)]
    return "\n".join(reversed(lines))


def _describe_step(step: SoftTraceStep) -> str:
    if step.confidence is not None:
        value = f"#{step.value}" if step.members is not None else spell(step.value)
        return f"{value} ({step.confidence:.2f})"
    surest = sorted(enumerate(step.members or ()), key=lambda pair: (-pair[1], pair[0]))
    named = [f"#{i} {sure:.2f}" for i, sure in surest if sure >= LEAST_SHOWN]
    rest = f" and {len(named) - MOST_SHOWN} more" if len(named) > MOST_SHOWN else ""
    return f"{', '.join(named[:MOST_SHOWN])}{rest}" if named else "nothing"


def describe_run(target: str, options: ModelOptions, schema: Callable[[], Schema]) -> dict[str, Any]:
    return describe_weights("p_nsvqa", target, schema())


def build(target: str, setting: ModelSetting) -> NeuroSymbolicModel:
    run = execute_with_trace if setting.options.trace else execute
    return NeuroSymbolicModel(load_named_parsers("p_nsvqa", target, setting), run)
