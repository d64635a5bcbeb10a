"""P-NSVQA whose relate and same also multiply in the probability of the thing they start from.

The paper's appendix E leaves that out; its section 4.3, "multiplying the output for all the steps", can be read so.
"""

from collections.abc import Callable
from typing import Any

from ..model import ModelOptions, ModelSetting
from ..schema import Schema
from . import p_nsvqa
from .nsvqa.neuro_symbolic import NeuroSymbolicModel, describe_model, load_named_parsers, make_traits

TRAITS = make_traits("p_nsvqa_referent")


def describe_run(target: str, options: ModelOptions, schema: Callable[[], Schema]) -> dict[str, Any]:
    return describe_model("p_nsvqa_referent", target, options, schema())


def build(target: str, setting: ModelSetting) -> NeuroSymbolicModel:
    parsers, options = load_named_parsers("p_nsvqa_referent", target, setting), setting.options
    executor = p_nsvqa.make_executor(parsers.trained, options.positions, referent=True, trace=options.trace)
    return NeuroSymbolicModel(parsers, executor)
