"""NSVQA: the likeliest scene is taken for the scene, and the program is run on it exactly."""

from collections.abc import Callable
from typing import Any

from ...lang.exec.exact import Undefined
from ...lang.exec.packed import PackedAnswers, execute_many
from ...lang.exec.possible_worlds import build_most_likely_scenes
from ...model import ModelOptions, ModelSetting, Response
from ...schema import Schema
from .neuro_symbolic import NeuroSymbolicModel, ProgramExecutor, describe_model, load_named_parsers, make_traits
from .trained_model import TrainedModel

TRAITS = make_traits("nsvqa")


def make_executor(trained: TrainedModel, positions: str = TRAITS.positions[0]) -> ProgramExecutor:
    """Exact answers in the likeliest scenes; a question that such a scene does not fit has none."""
    relation = trained.find_relation(positions)
    return ProgramExecutor(
        lambda programs, posterior, rows: execute_many(
            programs, build_most_likely_scenes(posterior, relation=relation), rows
        ),
        execute_many,
        respond,
    )


def respond(found: PackedAnswers) -> list[Response]:
    answers = [found[i] for i in range(len(found))]
    return [
        Response(status="undefined", reason=a.reason) if isinstance(a, Undefined) else Response(answer=a)
        for a in answers
    ]


def describe_run(target: str, options: ModelOptions, schema: Callable[[], Schema]) -> dict[str, Any]:
    return describe_model("nsvqa", target, options, schema())


def build(target: str, setting: ModelSetting) -> NeuroSymbolicModel:
    parsers = load_named_parsers("nsvqa", target, setting)
    return NeuroSymbolicModel(parsers, make_executor(parsers.trained, setting.options.positions))
