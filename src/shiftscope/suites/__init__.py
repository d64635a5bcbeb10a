"""Suites, one file or folder per benchmark: a world, templates, shifts and the numbers reported for it."""
