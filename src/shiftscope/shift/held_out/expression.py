"""Where the guide to splits imported `prop` and `parse` from; they are in `predicates`."""

from ...deprecated import forward_names

PLACE = "shiftscope.shift.held_out.predicates"
__getattr__ = forward_names(__name__, {"prop": f"{PLACE}:get_property", "parse": f"{PLACE}:parse_expression"})
