"""scene_edit: the likeliest scene, edited as the action says and then asked (CLEVR_HYP's scene graph update).

Sampat et al., 2021, section 4.4, baseline 4.
"""

from collections.abc import Callable
from typing import Any

from ...model import ModelOptions, ModelSetting
from ...schema import Schema
from .parsed_scenes import ParsedObjects, WeighedScene, build_likeliest_scene
from .scene_editing import SceneEditModel, WorldExecutor, describe_model, load_edit_parsers, make_traits

TRAITS = make_traits("scene_edit")


def build_one_scene(found: ParsedObjects, name: str, worlds: int) -> list[WeighedScene]:
    return [WeighedScene(1.0, build_likeliest_scene(found, name))]


def describe_run(target: str, options: ModelOptions, schema: Callable[[], Schema]) -> dict[str, Any]:
    return describe_model("scene_edit", target, options, schema)


def build(target: str, setting: ModelSetting) -> SceneEditModel:
    return SceneEditModel(load_edit_parsers("scene_edit", target, setting), WorldExecutor(build_one_scene))
