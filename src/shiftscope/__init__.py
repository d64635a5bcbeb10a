"""ShiftScope: find where, and why, a visual-reasoning model breaks."""

__version__ = "0.1.0"
