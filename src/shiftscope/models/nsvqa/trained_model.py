"""A trained neuro-symbolic model: its two parsers and their calibration; `weights/SCHEMA/` ships with the package."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from ...errors import UserError, unknown
from ...geometry.camera import check_size
from ...lang.posterior_calibration import Calibration, SpatialLikelihood
from ...trained_folder import WRONG, TrainedFolder, read_schema

SCENE_PARSER, QUESTION_PARSER = "scene_parser", "question_parser"
PARSERS = {SCENE_PARSER: "scene", QUESTION_PARSER: "questions"}  # and what `train --only` calls each
SHIPPED = Path(__file__).parent / "weights"
# Where things stand: their box centres, by the paper's constants; box centres, by what was fitted on validation
# scenes; or predicted on the ground, fitted likewise. And the figure in model.json that is used.
POSITIONS = {"boxes": "", "fitted": "centres", "predicted": "spatial"}


@dataclass(frozen=True, slots=True, eq=False)
class TrainedModel(TrainedFolder):
    """Two parsers, or one of them; with the scene parser come its calibration and the likelihood of relations."""

    KIND: ClassVar[str] = "neuro_symbolic"
    PARTS: ClassVar[Mapping[str, str]] = PARSERS
    FIGURES: ClassVar[tuple[str, ...]] = ("calibration", "spatial", "centres")

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
            for learned in filter(None, (spatial, about.get("centres"))):
                SpatialLikelihood.from_json(learned)
        except UserError as error:
            return str(error)
        except WRONG as error:
            return f"its calibration or spatial likelihood is not whole ({type(error).__name__}: {error})"
        return ""

    @property
    def calibration(self) -> Calibration:
        return Calibration.from_json(self.about["calibration"])

    def find_relation(self, positions: str) -> SpatialLikelihood | None:
        """How relations are told from these positions; None: by the paper's rule, from box centres."""
        if positions not in POSITIONS:
            raise unknown("way to tell positions", positions, POSITIONS)
        figure = POSITIONS[positions]
        if not figure:
            return None
        if not self.about.get(figure):  # older, or the validation scenes had no two objects to learn from
            raise UserError(f"{self.folder} has learned no relations from {positions}; train it again, or use boxes")
        return SpatialLikelihood.from_json(self.about[figure])


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
