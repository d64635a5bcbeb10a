"""LMH-V (Si et al., 2022): LMH whose bias is the same network, trained before on images alone."""

from ..end_to_end.training import VISION
from .lmh import LearnedMixin
from .wrapper import ObjectiveWrapper

WRAPPER = ObjectiveWrapper(LearnedMixin(), VISION)
