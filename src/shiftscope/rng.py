"""Randomness is a path, never a default: `derive("clevr", "train", 17, "layout")`."""

from hashlib import blake2b

import numpy as np


def seed_of(*path: str | int) -> int:
    """128 bits that depend on every step of the path, on its order and on each step's type."""
    digest = blake2b(digest_size=16)
    for step in path:
        if isinstance(step, bool) or not isinstance(step, str | int):
            raise TypeError(f"a random path is made of str and int, not {type(step).__name__}")
        text = f"{'s' if isinstance(step, str) else 'i'}{step}".encode()
        digest.update(len(text).to_bytes(4, "little") + text)
    return int.from_bytes(digest.digest(), "little")


def derive(*path: str | int) -> np.random.Generator:
    """A generator that is a function of the path alone: same on every machine, process and run."""
    return np.random.Generator(np.random.PCG64(seed_of(*path)))
