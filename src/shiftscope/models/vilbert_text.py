"""vilbert's text-only twin: the same network, which is shown no image."""

from .several_images.answering import ImageSetEntry
from .vilbert.training import TrainedVilbertText, VilbertTextStage

ENTRY = ImageSetEntry("vilbert_text", VilbertTextStage(), TrainedVilbertText)
TRAITS, describe_run = ENTRY.traits, ENTRY.describe_run
build = ENTRY.build
