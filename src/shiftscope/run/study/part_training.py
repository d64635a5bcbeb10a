"""Training of one part of a study's row: its spec, its data, and what is left of it in a folder."""

import time
from pathlib import Path
from typing import Any

from ...records import content_id
from ...train import train as training
from ...train.data import TRAIN, VAL, SuiteTrainingData, TrainValData, gather_split
from ...trained_folder import MODEL_FILE, TrainedFolder


def open_part_data(suite: str, part: Any) -> SuiteTrainingData:
    return SuiteTrainingData(suite, part.domain.build_spec(part.scale))


def build_train_spec(
    suite: str, part: Any, device: str = "cpu", command: str = "", minutes: float | None = None
) -> training.TrainSpec:
    data = open_part_data(suite, part)
    return training.TrainSpec(
        model=part.model,
        data=data.name,
        visual=part.domain.visual,
        images=data.count(TRAIN),
        seed=part.seed,
        only=part.only,
        epochs=part.epochs,
        settings=part.settings,
        device=device,
        minutes=minutes,
        command=command,
    )


def find_finished(suite: str, part: Any, folder: Path) -> TrainedFolder | None:
    """The part as it was trained before, if it was to the end; another one's folder is refused."""
    if not (folder / part.name / MODEL_FILE).exists():
        return None
    spec = build_train_spec(suite, part)
    trained = spec.trainable.folder.read(folder / part.name)
    wanted = content_id(spec.to_json(open_part_data(suite, part), None))
    return trained if content_id(trained.about.get("spec")) == wanted else None


def make_training_data(suite: str, part: Any, *, device: str, workers: int) -> TrainValData:
    """Make the images or questions that a part learns from."""
    start = time.perf_counter()
    data, stages = open_part_data(suite, part), build_train_spec(suite, part).stages
    train, val = (gather_split(data, split, stages, device=device, workers=workers) for split in (TRAIN, VAL))
    return TrainValData(train, val, time.perf_counter() - start)


def train_part(
    suite: str,
    part: Any,
    data: TrainValData,
    folder: Path,
    *,
    device: str,
    command: str,
    minutes: float | None,
    bar: training.ProgressBar,
) -> TrainedFolder:
    """Train it on what was made ahead; one that was stopped resumes, and one whose minutes are over is paused."""
    spec = build_train_spec(suite, part, device, command, minutes)
    return training.train_on(open_part_data(suite, part), spec, folder / part.name, splits=data, bar=bar)
