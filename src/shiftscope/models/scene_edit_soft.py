"""scene_edit by soft rules: the whole scene posterior is edited and asked, as P-NSVQA asks it."""

from collections.abc import Callable
from typing import Any

from ..model import ModelOptions, ModelSetting
from ..schema import Schema
from .scene_edit.scene_editing import SceneEditModel, describe_model, load_edit_parsers, make_traits
from .scene_edit.soft_editing import SoftExecutor

TRAITS = make_traits("scene_edit_soft")


def describe_run(target: str, options: ModelOptions, schema: Callable[[], Schema]) -> dict[str, Any]:
    return describe_model("scene_edit_soft", target, options, schema)


def build(target: str, setting: ModelSetting) -> SceneEditModel:
    parsers = load_edit_parsers("scene_edit_soft", target, setting)
    trained = parsers.trained
    relation = trained.find_relation("predicted") if trained.about.get("spatial") else None
    return SceneEditModel(parsers, SoftExecutor(relation))
