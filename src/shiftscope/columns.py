"""Columns: values of many rows as codes into a list of the distinct ones."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Codes = npt.NDArray[np.int32]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """Values as numbers: row i holds `values[codes[i]]`, or nothing where the code is -1."""

    values: tuple[Any, ...]
    codes: Codes  # [row] int32

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, row: int) -> Any:
        code = int(self.codes[row])
        return None if code < 0 else self.values[code]

    def to_list(self) -> list[Any]:
        return [None if c < 0 else self.values[c] for c in self.codes.tolist()]

    def take(self, rows: npt.NDArray[Any]) -> "Column":
        return Column(self.values, self.codes[rows])

    def equals(self, value: Any) -> Bools:
        """Which rows hold the value."""
        code = next((k for k, v in enumerate(self.values) if v == value and type(v) is type(value)), -2)
        return np.equal(self.codes, code)


@dataclass(frozen=True, slots=True, eq=False)
class ListColumn:
    """Several values per row: row i holds the values of `codes[at[i]:at[i + 1]]`."""

    values: tuple[Any, ...]
    codes: Codes  # [entry] int32
    at: npt.NDArray[np.int64]  # [row + 1] where a row's entries begin and end

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        return np.diff(self.at)

    @property
    def rows(self) -> npt.NDArray[np.int64]:
        """The row of each entry."""
        return np.repeat(np.arange(len(self.at) - 1), self.lengths)

    def take(self, rows: npt.NDArray[Any]) -> "ListColumn":
        """The lists of the rows given by their numbers, in that order."""
        lengths = self.lengths[rows]
        ends = np.cumsum(lengths)
        flat = np.arange(ends[-1] if len(ends) else 0) + np.repeat(self.at[:-1][rows] - ends + lengths, lengths)
        return ListColumn(self.values, self.codes[flat], np.concatenate([[0], ends]).astype(np.int64))


class ValueCoder:
    """Gives every distinct value the next number."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[type, Any], int] = {}

    def codes(self, values: Iterable[Any]) -> Codes:
        """The numbers of the values; None gets -1."""
        known = self._numbers
        made = [-1 if v is None else known.setdefault((type(v), v), len(known)) for v in values]
        return np.array(made, np.int32)

    def column(self, codes: Codes) -> Column:
        """With all values that have a number by now."""
        return Column(tuple(value for _, value in self._numbers), codes)


def column_of(values: Iterable[Any]) -> Column:
    coder = ValueCoder()
    return coder.column(coder.codes(values))


def lists_of(rows: Iterable[Sequence[Any]]) -> ListColumn:
    listed = list(rows)
    column = column_of(value for row in listed for value in row)
    return ListColumn(column.values, column.codes, np.cumsum([0, *map(len, listed)], dtype=np.int64))
