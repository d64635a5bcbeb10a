"""ViLBERT (Lu et al., 2019) over several images: per image two streams, words and regions, attend to each other."""

from ..several_images.answering import ImageSetEntry
from .training import TrainedVilbert, VilbertStage

ENTRY = ImageSetEntry("vilbert", VilbertStage(), TrainedVilbert)
TRAITS, describe_run = ENTRY.traits, ENTRY.describe_run
build = ENTRY.build
