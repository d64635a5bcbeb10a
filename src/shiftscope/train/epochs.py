"""Epochs: the weights of every epoch of a training, each a trained folder, kept until one of them is selected.

`DIR/epochs/003` is what the training in DIR would have left had it chosen its third epoch, so that
`run --model NAME:DIR/epochs/003` runs it. Selection by other data than the validation split starts here.
"""

from __future__ import annotations

import copy
import shutil
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import UserError
from ..files import digest_of, read_whole
from ..folder import open_folder
from ..trainable import SplitData, Trainable, TrainStage, load_stage, score_answers
from ..trained_folder import MODEL_FILE, TrainedFolder, pack_weights

EPOCHS_FOLDER = "epochs"
ASKED = 2048  # questions answered together


def write_epoch(folder: Path, part: str, epoch: int, module: Any) -> None:
    """Keep the weights of an epoch while the training goes on."""
    _open_epoch(folder, epoch).write_whole(f"{part}.safetensors", pack_weights(module), durable=False)


def finish_epochs(
    kind: type[TrainedFolder],
    folder: Path,
    about: Mapping[str, Any],
    files: Mapping[str, bytes],
    rows: Sequence[Mapping[str, Any]],
) -> None:
    """Make of each epoch's weights a trained folder; `rows` is the log of the part that they are of."""
    part = rows[-1]["part"]
    for row in rows:
        target = _open_epoch(folder, row["epoch"])
        try:
            data = read_whole(target.path / f"{part}.safetensors")
        except OSError:
            raise UserError(
                f"{folder}: epoch {row['epoch']} was trained without keeping it; train in another folder with --out"
            ) from None
        figures = {key: row[key] for key in ("epoch", "val", "val_counts")}
        entry = {**about[part], **figures, "blake2b": digest_of(data)}
        kind.write(target.path, {**about, part: entry}, {**files, part: data})


def list_epochs(folder: Path) -> dict[int, Path]:
    """The trained folder of each epoch that was kept, in their order."""
    found = sorted((folder / EPOCHS_FOLDER).glob(f"*/{MODEL_FILE}"))
    return {int(path.parent.name): path.parent for path in found}


def remove_epochs(folder: Path, but: Collection[int] = ()) -> None:
    """All but some, and the epoch that the training chose, which is the folder itself."""
    kept = {f"{epoch:03}" for epoch in but}
    for path in (folder / EPOCHS_FOLDER).glob("*"):
        if path.name not in kept:
            shutil.rmtree(path, ignore_errors=True)
    with suppress(OSError):  # some are left, or none were there
        (folder / EPOCHS_FOLDER).rmdir()


@dataclass(frozen=True, slots=True, eq=False)
class EpochAnswers:
    """What the weights of one epoch answer, by the name of each set: in the order of its questions with an answer."""

    epoch: int
    answers: Mapping[str, npt.NDArray[np.int64]]  # [question] number of the answer that scores most
    right: Mapping[str, npt.NDArray[Any]]  # [question] bool; from 0 to 1 where several annotators answered


def copy_module(module: Any) -> Any:
    """A copy to answer with, whose tensors stay where they are."""
    from torch import nn

    found = copy.deepcopy(module).requires_grad_(False).eval()
    for part in found.modules():
        if isinstance(part, nn.RNNBase):
            part.flatten_parameters()  # a copy's lie apart, which a GPU does not like
    return found


class EpochAnswerer:
    """Answers sets of questions with a stage's module, epoch after epoch; images are encoded once for all epochs."""

    def __init__(self, stage: TrainStage, sets: Mapping[str, SplitData], device: str) -> None:
        self.stage, self.sets, self.device = stage, sets, device
        self._examples: dict[str, Any] = {}
        self._rows: dict[str, Any] = {}

    def __call__(self, epoch: int, module: Any, config: Any) -> EpochAnswers:
        import torch

        if not self._examples:
            self._examples = {k: self.stage.make_examples(d, config, self.device) for k, d in self.sets.items()}
            self._rows = {name: _order_rows(some) for name, some in self._examples.items()}
        answers: dict[str, Any] = {}
        right: dict[str, Any] = {}
        with torch.no_grad(), torch.autocast("cuda", torch.bfloat16, enabled=self.device.startswith("cuda")):
            for name, some in self._examples.items():
                order = self._rows[name]
                batches = (some.batch(rows) for rows in torch.split(order, ASKED))
                said = ((batch, self.stage.logits(module, batch).argmax(-1)) for batch in batches)
                pairs = [(one, score_answers(one, batch)) for batch, one in said]
                found, scored = (torch.cat(tensors).cpu().numpy() for tensors in zip(*pairs, strict=True))
                answers[name], right[name] = np.empty_like(found), np.empty_like(scored)
                answers[name][order.numpy()], right[name][order.numpy()] = found, scored
        return EpochAnswers(epoch, answers, right)


def _order_rows(examples: Any) -> Any:
    """Questions of one length together, where lengths are known: a batch is as wide as its longest."""
    import torch

    lengths = getattr(examples, "lengths", None)
    return torch.arange(len(examples)) if lengths is None else torch.argsort(lengths, stable=True)


def answer_by_epochs(
    trainable: Trainable, folder: Path, sets: Mapping[str, SplitData], device: str
) -> Iterator[EpochAnswers]:
    """What each epoch that was kept answers."""
    stage, kept = trainable.stages[-1], list_epochs(folder)
    if not kept:
        raise UserError(f"{folder} has no epochs that were kept; train it with --keep-epochs")
    answer = EpochAnswerer(stage, sets, device)
    for epoch, path in kept.items():
        trained = trainable.folder.read(path)
        config = stage.read_config(trained.config(stage.name))
        yield answer(epoch, load_stage(trained, stage, device), config)


def _open_epoch(folder: Path, epoch: int) -> Any:
    return open_folder(folder / EPOCHS_FOLDER / f"{epoch:03}")
