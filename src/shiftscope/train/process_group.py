"""The processes that train together, and what they tell each other: parts of the data, made once by one of them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ProcessGroup:
    """This process's number, and of how many. Every method must be called by all of them, in the same order."""

    index: int = 0
    of: int = 1
    device: str = "cpu"  # on which they can send

    @property
    def on_machine(self) -> int:
        """How many of them share this machine's memory."""
        return min(self.of, int(os.environ.get("LOCAL_WORLD_SIZE", self.of)))

    def owns(self, block: int) -> bool:
        """Whether this process makes that block of the data; they take turns."""
        return block % self.of == self.index

    def gather(self, mine: list[T]) -> list[T]:
        """The lists of all processes, one after another."""
        if self.of == 1:
            return mine
        from accelerate.utils import gather_object

        found: list[T] = gather_object(mine)
        return found

    def exchange_blocks(self, table: Any, block: int) -> None:
        """Fill a tensor of rows that is the same in all processes: each has the rows of the blocks it owns."""
        if self.of == 1:
            return
        from torch import distributed

        for number, start in enumerate(range(0, len(table), block)):
            rows = slice(start, start + block)
            sent = table[rows].to(self.device)
            distributed.broadcast(sent, number % self.of)
            if not self.owns(number):
                table[rows] = sent.to(table.device)


ALONE = ProcessGroup()
