"""LMH-L (Si et al., 2022): LMH whose bias is the same network, trained before on questions alone."""

from ..end_to_end.training import LANGUAGE
from .lmh import LearnedMixin
from .wrapper import ObjectiveWrapper

WRAPPER = ObjectiveWrapper(LearnedMixin(), LANGUAGE)
