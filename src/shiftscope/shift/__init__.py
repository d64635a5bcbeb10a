"""Shifts, one file each: which examples are held out, or how a twin differs from its base."""
