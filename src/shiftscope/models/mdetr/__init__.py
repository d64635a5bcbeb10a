"""mDETR (Kamath et al., 2021): a transformer that finds what a question speaks of, and then answers it."""

from dataclasses import replace

from ..end_to_end.answering import AnswererEntry
from .training import GroundedAnswerStage, MdetrTraining, TrainedMdetr

ENTRY = AnswererEntry("mdetr", GroundedAnswerStage(), TrainedMdetr)
TRAITS, describe_run = replace(ENTRY.traits, trainable=MdetrTraining()), ENTRY.describe_run
build = ENTRY.build
