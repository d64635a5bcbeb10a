"""LXMERT (Tan and Bansal, 2019): words and regions, crossed; an action is read with its question."""

from ..end_to_end.answering import AnswererEntry
from .training import LxmertStage, TrainedLxmert

ENTRY = AnswererEntry("lxmert", LxmertStage(), TrainedLxmert)
TRAITS, describe_run = ENTRY.traits, ENTRY.describe_run
build = ENTRY.build
