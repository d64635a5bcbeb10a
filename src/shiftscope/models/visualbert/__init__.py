"""VisualBERT (Li et al., 2019) over several images: words and regions in one stream, per image; then all images."""

from ..several_images.answering import ImageSetEntry
from .training import TrainedVisualBert, VisualBertStage

ENTRY = ImageSetEntry("visualbert", VisualBertStage(), TrainedVisualBert)
TRAITS, describe_run = ENTRY.traits, ENTRY.describe_run
build = ENTRY.build
