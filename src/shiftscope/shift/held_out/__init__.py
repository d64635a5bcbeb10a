"""Held out: questions with a property, or a composition of them, are kept from training and tested on.

COVR (Bogin et al., 2021), section 4. For example, `has_quant_all & has_quant_compscope` holds out "All mice
on a mouse pad are black" while "All birds are black" and "No man next to a horse is standing" are learned.
"""

from .predicates import parse_expression as hold_out
from .splits import HeldOutSettings, sets

__all__ = ["HeldOutSettings", "hold_out", "sets"]
