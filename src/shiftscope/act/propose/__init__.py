"""Proposing: one file per kind of action; `propose(view, dice, second)` gives an action that may do, or None.

`second` says that another action came before: then objects are pointed out by what they are, not by where
they stand, because where the first action put something is left open.
"""
