"""The scene parser: from images to a scene posterior. Importing it imports torch."""

from .adapt import adapt_parser
from .config import SceneParserConfig, SceneParserRecipe
from .decode import decode_posterior, measure, parse
from .loss import (
    SceneLabels,
    SceneParserBatch,
    compute_loss,
    label_scenes,
    list_loss_weights,
    make_mirror_tables,
    make_training_loss,
    mirror_batch,
)
from .network import SceneParser

__all__ = [
    "SceneLabels",
    "SceneParser",
    "SceneParserBatch",
    "SceneParserConfig",
    "SceneParserRecipe",
    "adapt_parser",
    "build",
    "compute_loss",
    "decode_posterior",
    "label_scenes",
    "list_loss_weights",
    "make_mirror_tables",
    "make_training_loss",
    "measure",
    "mirror_batch",
    "parse",
]


def build(config: SceneParserConfig) -> SceneParser:
    """The network of that config, with random weights from torch's own generator."""
    return SceneParser(config)
