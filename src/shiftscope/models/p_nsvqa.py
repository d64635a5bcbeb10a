"""P-NSVQA: the program is run on the whole scene posterior, by the soft rules of the paper's appendix E."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ..answer import spell
from ..lang.exec.packed import Programs
from ..lang.exec.soft import SoftAnswers, SoftTraceStep, execute_soft, trace_programs
from ..lang.execution_world import SoftRules
from ..lang.program import Program
from ..lang.scene_posterior import ScenePosterior
from ..lang.text import format_call
from ..model import ModelOptions, ModelSetting
from ..schema import Schema
from .nsvqa.neuro_symbolic import NeuroSymbolicModel, ProgramExecutor, describe_model, load_named_parsers, make_traits
from .nsvqa.trained_model import TrainedModel

TRAITS = make_traits("p_nsvqa")
LEAST_SHOWN = 0.05  # things that are in a set less surely are left out of a trace
MOST_SHOWN = 6  # things of a set, the surest


def make_executor(
    trained: TrainedModel, positions: str = TRAITS.positions[0], *, referent: bool = False, trace: bool = False
) -> ProgramExecutor:
    """Always an answer, by the rules of appendix E; with `referent`, relate and same count their referent too."""
    rules = SoftRules(referent=referent, spatial=trained.find_relation(positions))

    def answer(programs: Programs, posterior: ScenePosterior, rows: Iterable[int]) -> SoftAnswers:
        return execute_soft(programs, posterior, rows, rules)

    def tell(programs: Sequence[Program], posterior: ScenePosterior, rows: Sequence[int]) -> list[str]:
        traces = trace_programs(programs, posterior, rows, rules)
        return [format_trace(program, steps) for program, steps in zip(programs, traces, strict=True)]

    return ProgramExecutor(answer, trace=tell if trace else None)


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
    return describe_model("p_nsvqa", target, options, schema())


def build(target: str, setting: ModelSetting) -> NeuroSymbolicModel:
    parsers, options = load_named_parsers("p_nsvqa", target, setting), setting.options
    return NeuroSymbolicModel(parsers, make_executor(parsers.trained, options.positions, trace=options.trace))
