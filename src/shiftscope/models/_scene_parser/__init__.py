"""The scene parser: from images to Beliefs. Importing it imports torch."""

from .attune import attuned
from .config import Config
from .decode import decode, parse
from .labels import Batch, Labels, labels_of
from .lesson import lesson
from .loss import loss, weights
from .measure import measure
from .mirror import mirror, names_on
from .network import SceneParser
from .recipe import Recipe

__all__ = [
    "Batch",
    "Config",
    "Labels",
    "Recipe",
    "SceneParser",
    "attuned",
    "build",
    "decode",
    "labels_of",
    "lesson",
    "loss",
    "measure",
    "mirror",
    "names_on",
    "parse",
    "weights",
]


def build(config: Config) -> SceneParser:
    """The network of that config, with random weights from torch's own generator."""
    return SceneParser(config)
