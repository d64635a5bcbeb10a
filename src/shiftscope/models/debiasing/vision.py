"""The vision-only branch of a model: the same network, trained and run without the words of the question."""

from ..end_to_end.training import VISION
from .wrapper import SideWrapper

WRAPPER = SideWrapper(VISION)
