"""Training of the parts of a study's rows: their specs, their data, and what is left of them in a folder."""

import copy
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ...records import content_id
from ...suites.study import Study
from ...train import train as training
from ...train.data import TRAIN, VAL, SuiteTrainingData, TrainValData, gather_split
from ...trainable import IMAGES, SplitData, TrainStage
from ...trained_folder import MODEL_FILE, TrainedFolder


def open_part_data(suite: str, part: Any) -> SuiteTrainingData:
    return SuiteTrainingData(suite, part.domain.build_spec(part.scale))


def build_train_spec(
    suite: str,
    part: Any,
    device: str = "cpu",
    command: str = "",
    minutes: float | None = None,
    base: Path | None = None,
) -> training.TrainSpec:
    """`base` is the folder of what the part stands on; without it the spec says which stages there are, no more."""
    data = open_part_data(suite, part)
    given: dict[str, Any] = {"settings": part.settings} | (part.use_base(base) if base else {})
    return training.TrainSpec(
        model=part.model,
        data=data.name,
        visual=part.domain.visual,
        images=data.count(TRAIN),
        seed=part.seed,
        only=part.only,
        epochs=part.epochs,
        device=device,
        minutes=minutes,
        command=command,
        **given,
    )


def find_finished(suite: str, part: Any, folder: Path, base: Path | None = None) -> TrainedFolder | None:
    """The part as it was trained before, if it was to the end, and on this base; another one's folder is refused."""
    if not (folder / part.name / MODEL_FILE).exists() or (part.base and base is None):
        return None
    spec = build_train_spec(suite, part, base=base)
    kind = spec.trainable.folder
    trained, other = kind.read(folder / part.name), kind.read(spec.other) if spec.other else None
    wanted = content_id(spec.to_json(open_part_data(suite, part), other))
    return trained if content_id(trained.about.get("spec")) == wanted else None


def make_training_data(suite: str, parts: Sequence[Any], *, device: str, workers: int) -> list[TrainValData]:
    """Make the images or questions that some parts of one domain learn from: each scene and question once for all."""
    start = time.perf_counter()
    data = open_part_data(suite, parts[0])
    stages = {(k, stage.name): stage for k, part in enumerate(parts) for stage in build_train_spec(suite, part).stages}
    renamed = [_rename(stage, f"{k} {name}") for (k, name), stage in stages.items()]
    made = [gather_split(data, split, renamed, device=device, workers=workers) for split in (TRAIN, VAL)]
    took = time.perf_counter() - start

    def pick(split: SplitData, k: int) -> SplitData:
        mine = [
            (stage, split.supervision[f"{number} {name}"]) for (number, name), stage in stages.items() if number == k
        ]
        pixels = split.pixels if any(IMAGES in stage.supervision for stage, _ in mine) else None
        return replace(split, pixels=pixels, supervision={stage.name: found for stage, found in mine})

    train, val = made
    return [TrainValData(pick(train, k), pick(val, k), took) for k in range(len(parts))]


def _rename(stage: TrainStage, name: str) -> TrainStage:
    """Several models may have a stage of one name, and each collects what it learns from."""
    made = copy.copy(stage)
    made.name = name
    return made


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
    base: Path | None = None,
) -> TrainedFolder:
    """Train it on what was made ahead; one that was stopped resumes, and one whose minutes are over is paused."""
    spec = build_train_spec(suite, part, device, command, minutes, base)
    return training.train_on(open_part_data(suite, part), spec, folder / part.name, splits=data, bar=bar)


@dataclass(slots=True, eq=False)
class StudyParts:
    """The parts of a study's rows: those that are trained, and data for those that are to be."""

    study: Study
    models: Path  # folder of what is combined of several parts
    weights: Path  # folder of the parts
    device: str
    workers: int
    _made: dict[Any, TrainValData] = field(default_factory=dict)  # of parts to come
    _combined: dict[Path, tuple[str, ...]] = field(default_factory=dict)  # what was written, and of which parts

    def find(self, part: Any) -> TrainedFolder | None:
        """The part as it was trained before: here, or as it is shipped where that was trained in the same way."""
        finished = find_finished(self.study.suite, part, self.weights, self.find_base(part))
        return finished or self.study.find_shipped(part)

    def find_base(self, part: Any) -> Path | None:
        """The folder of what a part stands on; None where it stands on nothing, or not all of that is trained."""
        found = [self.find(one) for one in part.base]
        there = [one for one in found if one is not None]
        return self.combine(f"base-of-{part.name}", there) if there and len(there) == len(found) else None

    def combine(self, name: str, parts: Sequence[TrainedFolder]) -> Path:
        """The folder of the whole model: a part's own, if that is all of it."""
        if len(parts) == 1:
            return parts[0].folder
        folder, ids = self.models / name, tuple(part.id() for part in parts)
        if self._combined.get(folder) != ids:
            self.study.combine_parts(folder, parts)
            self._combined[folder] = ids
        return folder

    def make_data(self, part: Any, waiting: Sequence[Any]) -> TrainValData | None:
        """What a part learns from, the first of those that wait; None where it is trained already, or will be by then.

        Models that learn from one domain, each as a whole, get its images and questions at once.
        """
        if not waiting or self.find(part) is not None:
            return None
        if part not in self._made:
            alike = [one for one in dict.fromkeys(waiting) if _learns_alike(one, part) and self.find(one) is None]
            made = make_training_data(self.study.suite, alike or [part], device=self.device, workers=self.workers)
            here = {one: data for one, data in self._made.items() if one.domain == part.domain}  # others are let go
            self._made = here | dict(zip(alike or [part], made, strict=True))
        return self._made.pop(part)


def _learns_alike(one: Any, other: Any) -> bool:
    """Whether two parts are whole models, not parsers that rows share, and learn from one domain."""
    whole = all(part.base or not part.only for part in (one, other))
    return whole and (one.domain, one.scale) == (other.domain, other.scale)
