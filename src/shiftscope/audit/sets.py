"""SampleSet: some of a dataset's samples under a name, which is what a shift by whole-corpus counts makes."""

from __future__ import annotations

from dataclasses import dataclass

from .samples import Rows


@dataclass(frozen=True, slots=True, eq=False)
class SampleSet:
    """Samples by their places. Sets may overlap: every OOD-Test set is part of the IID-Test."""

    name: str  # "train", "IID-Test", "OOD-Test/QT+KW", …
    rows: Rows

    def __len__(self) -> int:
        return len(self.rows)
