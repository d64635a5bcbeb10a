"""neuro_symbolic: a question parser, a scene parser for each image, and an executor over all of them.

    shiftscope run --model neuro_symbolic --data data/covr --out runs/ns  # GenExec
    shiftscope run --model neuro_symbolic --data data/covr --condition scene_text --out runs/gt  # GTExec
    shiftscope run --model neuro_symbolic:@graphs.json --data data/covr --out runs/gen  # with predicted graphs

After Zhu et al. (2022), section 3.3. The shipped question parser is one that composes (docs/decisions/049).
"""

from collections.abc import Callable
from typing import Any

from ...model import ModelOptions, ModelSetting, ModelTraits
from ...schema import Schema
from .answering import ParserTarget, SeveralImagesModel, digest_graphs, load_model
from .training import QuestionParserTraining, TrainedQuestionParser

TRAITS = ModelTraits(
    target="neuro_symbolic or neuro_symbolic:FOLDER or neuro_symbolic:FOLDER@GRAPHS",
    answers_blind=False,
    takes_actions=False,
    trainable=QuestionParserTraining(),
)


def describe_run(target: str, options: ModelOptions, schema: Callable[[], Schema]) -> dict[str, Any]:
    """The weights, and the predicted graphs by their content."""
    named = ParserTarget.parse(target)
    found = TrainedQuestionParser.find("neuro_symbolic", named.folder, schema()).describe_weights()
    return found | ({"graphs": digest_graphs(named.graphs)} if named.graphs else {})


def build(target: str, setting: ModelSetting) -> SeveralImagesModel:
    return load_model("neuro_symbolic", target, setting)
