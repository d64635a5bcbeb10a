"""A trained neuro-symbolic model: its two parsers and their calibration; `weights/SCHEMA/` ships with the package."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from ...errors import UserError
from ...geometry.camera import check_size
from ...lang.posterior_calibration import Calibration, SpatialLikelihood
from ...trained_folder import WRONG, TrainedFolder, read_schema

SCENE_PARSER, QUESTION_PARSER = "scene_parser", "question_parser"
PARSERS = {SCENE_PARSER: "scene", QUESTION_PARSER: "questions"}  # and what `train --only` calls each
SHIPPED = Path(__file__).parent / "weights"


@dataclass(frozen=True, slots=True, eq=False)
class TrainedModel(TrainedFolder):
    """Two parsers, or one of them; with the scene parser come its calibration and the likelihood of relations."""

    KIND: ClassVar[str] = "neuro_symbolic"
    PARTS: ClassVar[Mapping[str, str]] = PARSERS
    FIGURES: ClassVar[tuple[str, ...]] = ("calibration", "spatial")

    SHIPPED: ClassVar[Path | None] = SHIPPED

    @classmethod
    def find_misfit(cls, about: Mapping[str, Any]) -> str:
        if not _is_size(about.get("size"), SCENE_PARSER in about):
            return "its size is not the width and height of an image"
        schema, calibration, spatial = read_schema(about["schema"]), about.get("calibration"), about.get("spatial")
        try:
            if calibration is None and SCENE_PARSER in about:
                return "its calibration is missing"
            if calibration is not None and not Calibration.from_json(calibration).matches_schema(schema):
                return (
                    f"its calibration has not one temperature for each attribute of {schema.name}, or not one "
                    "share for each value"
                )
            if spatial is not None:
                SpatialLikelihood.from_json(spatial)
        except UserError as error:
            return str(error)
        except WRONG as error:
            return f"its calibration or spatial likelihood is not whole ({type(error).__name__}: {error})"
        return ""

    @property
    def calibration(self) -> Calibration:
        return Calibration.from_json(self.about["calibration"])

    @property
    def spatial(self) -> SpatialLikelihood | None:
        """Nothing where the validation scenes had no two objects to learn from."""
        kept = self.about.get("spatial")
        return SpatialLikelihood.from_json(kept) if kept else None


def _is_size(size: Any, seen: bool) -> bool:
    """Whether images can be of that size; without a scene parser it may be unknown, 0 by 0."""
    if not (isinstance(size, list) and len(size) == 2 and all(type(side) is int for side in size)):
        return False
    try:
        check_size((size[0], size[1]))
    except UserError:
        return not seen and size == [0, 0]
    return True


find_trained_model, read_trained_model = TrainedModel.find, TrainedModel.read


def write_combined_model(folder: Path, scenes: TrainedModel, questions: TrainedModel) -> TrainedModel:
    """One model of two trainings: the scene parser of the first and the question parser of the second."""
    about = {key: value for key, value in scenes.about.items() if key not in ("seconds", "spec", "command")}
    about[QUESTION_PARSER] = questions.about[QUESTION_PARSER]
    parts = {SCENE_PARSER: scenes, QUESTION_PARSER: questions}
    about["seconds"] = {PARSERS[part]: trained.about["seconds"] for part, trained in parts.items()}
    return TrainedModel.write(folder, about, {part: trained.read_bytes(part) for part, trained in parts.items()})
