"""NSVQA: the likeliest scene is taken for the scene, and the program is run on it exactly."""

from collections.abc import Callable, Sequence
from typing import Any

from ...lang.exec.exact import Undefined
from ...lang.exec.packed import execute_many
from ...lang.exec.possible_worlds import build_most_likely_scenes
from ...lang.program import Program
from ...lang.scene_posterior import ScenePosterior
from ...model import ModelOptions, ModelSetting, Response
from ...scene_table import SceneTable
from ...schema import Schema
from .neuro_symbolic import NeuroSymbolicModel, describe_weights, load_named_parsers, make_traits

TRAITS = make_traits("nsvqa")


def execute(programs: Sequence[Program], posterior: ScenePosterior, rows: Sequence[int]) -> list[Response]:
    """Exact answers in the likeliest scenes; a question that such a scene does not fit has none."""
    return execute_known(programs, build_most_likely_scenes(posterior), rows)


def execute_known(programs: Sequence[Program], table: SceneTable, rows: Sequence[int]) -> list[Response]:
    found = execute_many(programs, table, rows)
    answers = [found[i] for i in range(len(found))]
    return [
        Response(status="undefined", reason=a.reason) if isinstance(a, Undefined) else Response(answer=a)
        for a in answers
    ]


def describe_run(target: str, options: ModelOptions, schema: Callable[[], Schema]) -> dict[str, Any]:
    return describe_weights("nsvqa", target, schema())


def build(target: str, setting: ModelSetting) -> NeuroSymbolicModel:
    return NeuroSymbolicModel(load_named_parsers("nsvqa", target, setting), execute, execute_known)
