"""COVR's own files with programs in the compositional operations; else as `covr`."""

from collections.abc import Callable
from pathlib import Path

from ..dataset import Dataset
from . import covr


def write(dataset: Dataset, out: Path, progress: Callable[[int, int, str], None]) -> None:
    covr.write(dataset, out, progress, form="compositional")
