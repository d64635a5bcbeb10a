"""scene_edit by possible worlds (ours): act and ask in each scene that the image may show, and add up.

What the action refers to may be another object in each of them. Scenes in which the action cannot be done, or that the
question does not fit, do not count: the answer is conditioned on what both texts presuppose.
"""

from collections.abc import Callable
from typing import Any

from ..model import ModelOptions, ModelSetting
from ..schema import Schema
from .scene_edit.parsed_scenes import ParsedObjects, WeighedScene, build_possible_scenes
from .scene_edit.scene_editing import SceneEditModel, WorldExecutor, describe_model, load_edit_parsers, make_traits

TRAITS = make_traits("scene_edit_worlds")
WORLDS = (32, 256)  # possible scenes, and as many where the question fits none of them


def describe_run(target: str, options: ModelOptions, schema: Callable[[], Schema]) -> dict[str, Any]:
    return describe_model("scene_edit_worlds", target, options, schema)


def build(target: str, setting: ModelSetting) -> SceneEditModel:
    parsers = load_edit_parsers("scene_edit_worlds", target, setting)
    trained = parsers.trained
    calibration = trained.calibration
    relation = trained.find_relation("predicted") if trained.about.get("spatial") else None

    def build_worlds(found: ParsedObjects, name: str, worlds: int) -> list[WeighedScene]:
        return build_possible_scenes(found.calibrate(calibration), name, worlds, relation)

    return SceneEditModel(parsers, WorldExecutor(build_worlds, WORLDS))
