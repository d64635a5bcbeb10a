"""Scenes from nothing: one file per world, each a pure function of (seed, split, index)."""
