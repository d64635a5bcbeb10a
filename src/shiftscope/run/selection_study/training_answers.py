"""Training answers: which questions every epoch of a training answers rightly, on disk until the training is stored."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import UserError
from ...folder import open_folder
from ...metrics.model_selection import VAL
from ...train.epochs import EpochAnswerer
from ...train.train import EpochWatch
from ...trainable import SplitData

ANSWERS = "answers"  # beside the weights of a training
COMPANY = "together"  # a file there: how many trainings ran at once, if several did
THIRDS = 3  # of the score of an answer, where several annotators answered


class TrainingAnswers:
    """Which questions of each set every epoch of a training answers rightly, on disk until the training is stored.

    Where ten people answered, a question has a score in thirds, kept as three planes of bits: at least one, two, three.
    """

    def __init__(self, folder: Path, counts: Mapping[str, int], together: int = 1) -> None:
        self.folder, self.counts, self.together = folder / ANSWERS, counts, together
        self.planes, self.seconds = 1, 0.0
        self._answer: EpochAnswerer | None = None

    def watch(self, stage: Any, gathered: Mapping[str, SplitData], device: str) -> EpochWatch:
        """What answers everything with the weights of every epoch that it is given."""
        self.planes, self._answer = count_planes(stage, gathered), EpochAnswerer(stage, gathered, device)
        return self._take

    def _take(self, epoch: int, module: Any, config: Any) -> None:
        """Answer everything with the weights of an epoch."""
        start = time.monotonic()
        assert self._answer is not None
        found = self._answer(epoch, module, config).right
        bits = np.concatenate([np.packbits(self._spread(found[split])) for split in self.counts])
        kept = open_folder(self.folder)
        if self.together > self.read_company():
            kept.write_whole(COMPANY, str(self.together).encode(), durable=False)
        kept.write_whole(f"{epoch:03}.bits", bits.tobytes(), durable=False)
        self.seconds += time.monotonic() - start

    def _spread(self, scores: Any) -> Any:
        """[plane, question] of a score from 0 to 1 each, which is the mean over the planes."""
        return np.rint(scores * self.planes)[None] > np.arange(self.planes)[:, None]

    def read(
        self, epochs: int, val_sets: Mapping[str, Any], sets: Mapping[str, Any]
    ) -> tuple[dict[str, list[float]], list[Any]]:
        """[epoch] how many of each set are right, and [epoch, plane, question] which of the test questions."""
        right: dict[str, list[float]] = {}
        hits: list[Any] = []
        for epoch in range(1, epochs + 1):
            found = self._read_epoch(epoch)
            tested = np.concatenate([found[split] for split in self.counts if split != VAL], axis=1)
            for planes, listed in ((found[VAL], val_sets), (tested, sets)):
                for name, mask in listed.items():
                    count = int(planes[:, mask].sum())
                    right.setdefault(name, []).append(count if self.planes == 1 else round(count / self.planes, 4))
            hits.append(tested)
        return right, hits

    def _read_epoch(self, epoch: int) -> dict[str, Any]:
        path = self.folder / f"{epoch:03}.bits"
        counts = {split: self.planes * count for split, count in self.counts.items()}
        sizes = [-(-count // 8) for count in counts.values()]
        data = path.read_bytes() if path.is_file() else b""
        if len(data) != sum(sizes):
            raise UserError(
                f"{path}: what epoch {epoch} answered is missing; delete {self.folder.parent} to train it again"
            )
        parts = np.split(np.frombuffer(data, np.uint8), np.cumsum(sizes)[:-1])
        held = zip(counts.items(), parts, strict=True)
        return {
            split: np.unpackbits(part, count=count).reshape(self.planes, -1).astype(bool)
            for (split, count), part in held
        }

    def read_company(self) -> int:
        """How many trainings ran at once while an epoch of this one was trained, at most, over all its starts."""
        path = self.folder / COMPANY
        return int(path.read_text()) if path.is_file() else 1


def count_planes(stage: Any, gathered: Mapping[str, SplitData]) -> int:
    votes = getattr(gathered[VAL].supervision[stage.name], "votes", None)
    return 1 if votes is None or not votes.shape[1] else THIRDS
