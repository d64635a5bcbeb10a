"""visualbert's text-only twin: the same network, which is shown no image (COVR's lower bound)."""

from .several_images.answering import ImageSetEntry
from .visualbert.training import TrainedVisualBertText, VisualBertTextStage

ENTRY = ImageSetEntry("visualbert_text", VisualBertTextStage(), TrainedVisualBertText)
TRAITS, describe_run = ENTRY.traits, ENTRY.describe_run
build = ENTRY.build
