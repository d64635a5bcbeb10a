"""The question-only branch of a model: the same network, trained and run without any image."""

from ..end_to_end.training import LANGUAGE
from .wrapper import SideWrapper

WRAPPER = SideWrapper(LANGUAGE)
